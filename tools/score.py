"""Compare what smfparse says of simulated days with their answer keys (`make score`).

`check`: of each scenario whose key names something, the first finding has to be the key's diagnosis
(its first row that is one, else its first row), of the right object and job, and begin and end
within one interval of it. `payments` must have no finding of class 1 or 2. Reports of who talks to
whom: see `traffic.py`. The exit code is 1 where fewer are right than are wanted: 95 of 100, and 98
of 100 for `payments`.
"""

from __future__ import annotations

import datetime as dt
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import click
import traffic

import smfparse
from smfparse.advice import CONSTRAINT, Finding, diagnoses
from smfparse.simulating import answer_key, load_estate, scenario_names, simulate

ROOT = Path(__file__).resolve().parent.parent
HEALTHY = "payments"
WANTED = {HEALTHY: 0.98}
WANTED_OF_OTHERS = 0.95
Troubles: TypeAlias = Callable[[str, range, Path], Iterator[tuple[int, str]]]
"""Yields the seeds of a scenario with what is wrong; takes a folder for their files."""
_PART = r"(<!-- {} -->\n).*?(<!-- end -->)"


def days(scenario: str, seeds: range, folder: Path) -> Iterator[tuple[int, list[Finding]]]:
    """Yield the seeds with what is found in their days, which one scan checks.

    Each day is of systems of its own: `0010` is the first system of seed 1.
    """
    files = [folder / f"{seed}.smf" for seed in seeds]
    for seed, file in zip(seeds, files, strict=True):
        _write_day(scenario, seed, file)
    findings = smfparse.open(files).check().findings
    for file in files:
        file.unlink()
    for seed in seeds:
        yield seed, [each for each in findings if each.system.startswith(f"{seed:03}")]


def _write_day(scenario: str, seed: int, file: Path) -> None:
    """Simulate a day on systems that no other seed has, nor their queue-sharing group."""
    estate = load_estate(scenario)
    systems = sorted({each.system for each in estate.queue_managers})
    own = [
        replace(each, system=f"{seed:03}{systems.index(each.system)}")
        for each in estate.queue_managers
    ]
    group = estate.group and f"Q{seed:03}"
    simulate(file, replace(estate, queue_managers=tuple(own), group=group), seed)


def wanted(answers: Sequence[Mapping[str, str]]) -> Mapping[str, str]:
    """Return the row of a key that the first finding has to be."""
    diagnosed = (each for each in answers if each["rule"] in diagnoses())
    return next(diagnosed, answers[0])


def wrong(
    findings: Sequence[Finding], answers: Sequence[Mapping[str, str]], interval: float
) -> str:
    """Return what is wrong with the first finding; '': nothing."""
    if not findings:
        return "nothing found"
    first, key = findings[0], wanted(answers)
    ends = (key["start"], first.start), (key["end"], first.end)
    late = [abs((dt.datetime.fromisoformat(a) - b).total_seconds()) > interval for a, b in ends]
    jobs = {each["job"] for each in answers if each["rule"] == key["rule"]}
    names = {"rule": first.rule, "qmgr": first.qmgr, "object": first.object}
    parts = [f"{name} {found}" for name, found in names.items() if found != key[name]]
    parts += [f"job {first.job}"] if jobs - {""} and first.job not in jobs else []
    parts += [f"start {first.start}"] if late[0] else []
    parts += [f"end {first.end}"] if late[1] else []
    return ", ".join(parts)


def troubles(scenario: str, seeds: range, folder: Path) -> Iterator[tuple[int, str]]:
    """Yield the seeds of a scenario with what is wrong; '': nothing."""
    estate = load_estate(scenario)
    for seed, findings in days(scenario, seeds, folder):
        if scenario == HEALTHY:
            serious = [repr(each) for each in findings if each.rank <= CONSTRAINT]
            yield seed, ", ".join(serious)
        else:
            answers = answer_key(estate, seed).answers()
            yield seed, wrong(findings, answers, estate.interval.total_seconds())


def scored() -> list[str]:
    """Return the scenarios that are scored."""
    return [
        each
        for each in scenario_names()
        if each == HEALTHY or answer_key(load_estate(each)).answers()
    ]


SCORES: Mapping[str, tuple[str, Callable[[], Sequence[str]], Troubles]] = {
    "scores": ("rules.md", scored, troubles),
    "traffic": ("traffic.md", lambda: traffic.SCENARIOS, traffic.troubles),
}
"""By name of the part of a page: the page, the scenarios, and what is wrong with their days."""


@click.command()
@click.option("--seeds", default=20, show_default=True, help="Score so many days of a scenario.")
@click.option("--scenario", "names", multiple=True, help="Score only this scenario.")
@click.option("--write", is_flag=True, help="Write the scores into the pages of docs/.")
def main(seeds: int, names: tuple[str, ...], write: bool) -> None:
    """Print how often what is said of simulated days is what their answer keys name."""
    failed = False
    for part, (page, scenarios, of_scenario) in SCORES.items():
        chosen = [each for each in scenarios() if not names or each in names]
        lines = ["| scenario | right | of |", "|---|---|---|"]
        for name in chosen:
            right = _right(of_scenario, name, seeds)
            failed |= right < WANTED.get(name, WANTED_OF_OTHERS) * seeds
            lines.append(f"| {name} | {right} | {seeds} |")
            click.echo(f"{part} {lines[-1]}")
        if write:
            _write(ROOT / "docs" / page, part, "\n".join(lines))
    sys.exit(failed)


def _right(of_scenario: Troubles, name: str, seeds: int) -> int:
    """Return how many days of a scenario are right; print what is wrong with others."""
    right = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed, trouble in of_scenario(name, range(1, seeds + 1), Path(folder)):
            right += not trouble
            if trouble:
                click.echo(f"{name} seed {seed}: {trouble}", err=True)
    return right


def _write(page: Path, part: str, text: str) -> None:
    pattern = re.compile(_PART.format(part), re.DOTALL)
    page.write_text(pattern.sub(rf"\1{text}\n\n\2", page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
