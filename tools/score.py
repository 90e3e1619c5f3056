"""Check simulated days and compare what is found with their answer keys (`make score`).

Of each scenario whose key names something, the first finding has to be the key's diagnosis (its
first row that is one, else its first row), of the right object and job, and begin and end within
one interval of it. `payments` must have no finding of class 1 or 2. The exit code is 1 where fewer
are right than are wanted: 95 of 100, and 98 of 100 for `payments`.
"""

from __future__ import annotations

import datetime as dt
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

import smfparse
from smfparse.advice import CONSTRAINT, Finding, diagnoses
from smfparse.simulating import answer_key, load_estate, scenario_names, simulate

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "rules.md"
HEALTHY = "payments"
WANTED = {HEALTHY: 0.98}
WANTED_OF_OTHERS = 0.95
_PART = re.compile(r"(<!-- scores -->\n).*?(<!-- end -->)", re.DOTALL)


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


@click.command()
@click.option("--seeds", default=20, show_default=True, help="Score so many days of a scenario.")
@click.option("--scenario", "names", multiple=True, help="Score only this scenario.")
@click.option("--write", is_flag=True, help="Write the scores into docs/rules.md.")
def main(seeds: int, names: tuple[str, ...], write: bool) -> None:
    """Print how often check finds what the answer keys of the scenarios name."""
    lines, failed = ["| scenario | right | of |", "|---|---|---|"], False
    with tempfile.TemporaryDirectory() as folder:
        for name in names or scored():
            right = 0
            for seed, trouble in troubles(name, range(1, seeds + 1), Path(folder)):
                right += not trouble
                if trouble:
                    click.echo(f"{name} seed {seed}: {trouble}", err=True)
            failed |= right < WANTED.get(name, WANTED_OF_OTHERS) * seeds
            lines.append(f"| {name} | {right} | {seeds} |")
            click.echo(lines[-1])
    if write:
        text = "\n".join(lines)
        page = _PART.sub(rf"\1{text}\n\n\2", PAGE.read_text("utf-8"))
        PAGE.write_text(page, "utf-8")
    sys.exit(failed)


if __name__ == "__main__":
    main()
