"""Compare what smfparse says of simulated days with their answer keys (`make score`).

`check`: of each scenario whose key names something, the first finding has to be the key's diagnosis
(its first row that is one, else its first row), of the right object and job, and begin and end
within one interval of it. `payments` must have no finding of severity 1 or 2. Reports of who talks
to whom: see `traffic.py`. The same of days that tests build without the simulator: see
tests/advice/independent. The exit code is 1 where fewer are right than are wanted: 95 of 100, and
98 of 100 for `payments`.
"""

from __future__ import annotations

import datetime as dt
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import click
import traffic

import smfparse
from smfparse.advice.declaration import diagnoses
from smfparse.advice.findings import Finding
from smfparse.simulating.reading_toml import load_estate, scenario_names
from smfparse.simulating.run import AnswerKey, simulate

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.advice.independent import scoring  # noqa: E402
from tests.advice.independent.cases import cases, healthy  # noqa: E402
from tests.advice.independent.scoring import Verdict  # noqa: E402

HEALTHY = "payments"
WANTED = {HEALTHY: 0.98}
WANTED_OF_OTHERS = 0.95
_HEAD = (
    "| days | right | of | cause first | who | time | beside a larger | false "
    "| severity 4 per day |"
)
_RULE = "|---|---|---|---|---|---|---|---|---|"
_PART = r"(<!-- {} -->\n).*?(<!-- end -->)"


def days(scenario: str, seeds: range, folder: Path) -> Iterator[tuple[int, list[Finding]]]:
    """Yield the seeds with what is found in their days, which one scan checks.

    Each day is of systems of its own: `0010` is the first system of seed 1.
    """
    files = [write_day(scenario, seed, folder / f"{seed}.smf") for seed in seeds]
    findings = smfparse.open(files).check().findings
    for file in files:
        file.unlink()
    for seed in seeds:
        yield seed, [each for each in findings if each.system.startswith(f"{seed:03}")]


def write_day(scenario: str, seed: int, file: Path) -> Path:
    """Simulate a day on systems that no other seed has, nor their queue-sharing group."""
    estate = load_estate(scenario)
    systems = sorted({each.system for each in estate.queue_managers})
    own = [
        replace(each, system=f"{seed:03}{systems.index(each.system)}")
        for each in estate.queue_managers
    ]
    group = estate.group and f"Q{seed:03}"
    simulate(file, replace(estate, queue_managers=tuple(own), group=group), seed)
    return file


def wanted(answers: Sequence[Mapping[str, str]]) -> Mapping[str, str]:
    """Return the row of a key that the first finding has to be."""
    diagnosed = (each for each in answers if each["rule"] in diagnoses())
    return next(diagnosed, answers[0])


def verdict(
    name: str, findings: Sequence[Finding], answers: Sequence[Mapping[str, str]], interval: float
) -> Verdict:
    """Return whether the first finding is what an answer key names."""
    if not findings:
        return Verdict(name, cause=False, first="nothing found")
    first, key = findings[0], wanted(answers)
    ends = (first.start, key["start"]), (first.end, key["end"])
    apart = [abs((at - dt.datetime.fromisoformat(told)).total_seconds()) for at, told in ends]
    jobs = {each["job"] for each in answers if each["rule"] == key["rule"]} - {""}
    return Verdict(
        name,
        cause=all(getattr(first, each) == key[each] for each in ("rule", "qmgr", "object")),
        who=first.job in jobs if jobs else None,
        time=max(apart) <= interval,
        first=repr(first),
    )


def verdicts(scenario: str, seeds: range, folder: Path) -> Iterator[Verdict]:
    """Yield what is said of the days of a scenario."""
    for seed, findings in days(scenario, seeds, folder):
        yield verdict_of(scenario, seed, findings)


def verdict_of(scenario: str, seed: int, findings: Sequence[Finding]) -> Verdict:
    """Return what is said of a day of a scenario."""
    name, estate = f"{scenario} seed {seed}", load_estate(scenario)
    if scenario == HEALTHY:
        return scoring.healthy_verdict(name, findings)
    answers = AnswerKey(estate, seed).answers()
    return verdict(name, findings, answers, estate.interval.total_seconds())


def scored() -> list[str]:
    """Return the scenarios that are scored."""
    return [
        each
        for each in scenario_names()
        if each == HEALTHY or AnswerKey(load_estate(each)).answers()
    ]


def groups(seeds: int) -> Mapping[str, Callable[[Path], Iterable[Verdict]]]:
    """Return what is scored by name: simulated scenarios, and independent days."""
    of_rules = [each for each in cases() if cases()[each].is_of_rule]
    independent = {
        "causes": [each for each in cases() if each not in of_rules],
        "rules": of_rules,
        "healthy": list(healthy()),
    }
    return {
        **{name: partial(verdicts, name, range(1, seeds + 1)) for name in scored()},
        **{f"independent-{e}": partial(scoring.verdicts, n) for e, n in independent.items()},
    }


@click.command()
@click.option("--seeds", default=20, show_default=True, help="Score so many days of a scenario.")
@click.option("--scenario", "names", multiple=True, help="Score only this scenario.")
@click.option("--write", is_flag=True, help="Write the scores into the pages of docs/.")
def main(seeds: int, names: tuple[str, ...], write: bool) -> None:
    """Print how often what is said of days is what was planted in them."""
    chosen = {name: ask for name, ask in groups(seeds).items() if not names or name in names}
    failed, lines = False, [_HEAD, _RULE]
    for name, ask in chosen.items():
        with tempfile.TemporaryDirectory() as folder:
            found = list(ask(Path(folder)))
        right = _told(each.wrong for each in found)
        failed |= right < WANTED.get(name, WANTED_OF_OTHERS) * len(found)
        lines.append(f"| {name} | {right} | {len(found)} | {' | '.join(_cells(found))} |")
        click.echo(lines[-1])
    talks = [each for each in traffic.SCENARIOS if not names or each in names]
    of_traffic = ["| scenario | right | of |", "|---|---|---|"]
    for name in talks:
        with tempfile.TemporaryDirectory() as folder:
            found = traffic.troubles(name, range(1, seeds + 1), Path(folder))
            right = _told(text and f"{name} seed {seed}: {text}" for seed, text in found)
        failed |= right < WANTED_OF_OTHERS * seeds
        of_traffic.append(f"| {name} | {right} | {seeds} |")
        click.echo(f"traffic {of_traffic[-1]}")
    if write:
        _write(ROOT / "docs" / "rules.md", "scores", "\n".join(lines))
        _write(ROOT / "docs" / "traffic.md", "traffic", "\n".join(of_traffic))
    sys.exit(failed)


def _told(troubles: Iterable[str]) -> int:
    """Return how many days are right; print what is wrong with others."""
    right = 0
    for trouble in troubles:
        right += not trouble
        if trouble:
            click.echo(trouble, err=True)
    return right


def _cells(found: Sequence[Verdict]) -> Iterator[str]:
    """Yield the other cells of a row: cause, who, time, false findings, noise."""
    for name in ("cause", "who", "time", "stands"):
        known = [getattr(each, name) for each in found if getattr(each, name) is not None]
        yield f"{sum(known)} of {len(known)}" if known else ""
    healthy = [each for each in found if each.cause is None]
    yield str(sum(len(each.false) for each in healthy)) if healthy else ""
    yield f"{sum(each.to_know for each in healthy) / len(healthy):.1f}" if healthy else ""


def _write(page: Path, part: str, text: str) -> None:
    pattern = re.compile(_PART.format(part), re.DOTALL)
    page.write_text(pattern.sub(rf"\1{text}\n\n\2", page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
