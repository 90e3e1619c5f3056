"""Damage SMF files at random and see what smfparse makes of them (`make corrupt`).

Each input is a small file of one of the framings, damaged, and read through the library. A seed
always makes the same inputs; so do the same real files, those with RDWs in the folder that
SMFPARSE_REAL_DATA names, if it does. What must not be is printed by kind, with the smallest input
that shows it; the exit code is 1 then.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import TypeAlias

import click
from corruption.cases import BATCH, Case, Cases, Manner
from corruption.judging import Finding, Judge
from corruption.reading import Reading, read

ROOT = Path(__file__).resolve().parent.parent
Judged: TypeAlias = tuple[Case, Reading, list[Finding]]
_SECONDS = 0.05, 4e-6
"""Seconds of the processor for an input that is read alone, and for each of its bytes."""
_DAMAGE = 1e-3
"""Seconds for each place of damage that is reported: behind it the next record is looked for."""
_TOGETHER = 0.02
"""Seconds for one that is read with others; if they take longer, each is read alone."""
_MEMORY = 64 << 20, 200
"""Bytes of memory for a batch, and for each byte of its inputs."""
_EVERYTHING = Manner(None, "all", small=False)
_WEIGHED = 50
"""Of so many batches one is weighed: that takes time."""
_TRIES = 3
"""Times that an input is read that seems to take too long."""


class Tally:
    """Counts inputs and findings; keeps of each kind the smallest input."""

    def __init__(self) -> None:
        self._framings = Counter[str]()
        self._mutations = Counter[str]()
        self._found = Counter[str]()
        self._smallest: dict[str, tuple[int, str]] = {}
        self._bytes = 0

    def add(self, case: Case, findings: list[Finding]) -> None:
        """Count an input."""
        self._framings[case.framing] += 1
        self._mutations.update(case.applied)
        size = len(case.file)
        self._bytes += size
        for each in findings:
            what = f"{each.what} ({case.framing})"
            self._found[what] += 1
            text = (
                f"--only {case.number}: {' '.join(case.applied)}; {size} bytes; {': '.join(each)}"
            )
            self._smallest[what] = min(self._smallest.get(what, (size, text)), (size, text))

    def show(self) -> bool:
        """Print counts, and findings by kind; return whether there are any."""
        for what, counts in (("framings", self._framings), ("mutations", self._mutations)):
            click.echo(f"{what}: {', '.join(f'{each} {counts[each]}' for each in sorted(counts))}")
        for what, (_, text) in sorted(self._smallest.items()):
            click.echo(f"{self._found[what]:7}  {what}\n{'':9}{text}")
        click.echo(f"{self._framings.total()} inputs of {self._bytes} bytes")
        return bool(self._found)


class Trial:
    """Reads and judges inputs.

    folder  where their files are written
    """

    def __init__(self, cases: Cases, folder: Path) -> None:
        self._cases, self._folder = cases, folder
        read(folder, [cases.case(0).sound], _EVERYTHING)  # so that all modules are loaded

    def judged(self, number: int, only: int | None = None) -> list[Judged]:
        """Read and judge the inputs of a batch, or one of them."""
        manner = self._cases.manner(number)
        numbers = range(number * BATCH, (number + 1) * BATCH) if only is None else [only]
        drawn = [self._cases.case(each) for each in numbers]
        weighed = number % _WEIGHED == 0
        if weighed:
            tracemalloc.start()
        readings, seconds = read(self._folder, [each.file for each in drawn], manner)
        _, peak = tracemalloc.get_traced_memory()  # before they are judged, which needs its own
        tracemalloc.stop()
        found = [
            (case, reading, [*Judge(case, manner, reading).findings()])
            for case, reading in zip(drawn, readings, strict=True)
        ]
        room = _MEMORY[0] + _MEMORY[1] * sum(len(each.file) + len(each.rope) for each in drawn)
        if weighed and peak > room:
            found[0][2].append(Finding("the batch takes too much memory", f"{peak} bytes"))
        elif not weighed and seconds > _allowed(drawn, _TOGETHER):
            self._time(found, manner)
        return found

    def _time(self, found: list[Judged], manner: Manner) -> None:
        """Note what takes longer than it is worth, alone and more than once."""
        for case, _, findings in found:
            tries = [read(self._folder, [case.file], manner) for _ in range(_TRIES)]
            spent = min(seconds for _, seconds in tries)
            if spent > _allowed([case]) + _DAMAGE * len(tries[0][0][0].damage):
                findings.append(Finding("takes too long", f"{spent:.2f} seconds"))


def _allowed(cases: list[Case], each: float = _SECONDS[0]) -> float:
    return sum(each + _SECONDS[1] * max(len(case.file), len(case.rope)) for case in cases)


@click.command(help=__doc__)
@click.option("--seed", default=1, show_default=True, help="Make the inputs of this seed.")
@click.option("--count", default=100_000, show_default=True, help="Make so many inputs.")
@click.option("--only", type=int, help="Make and show only the input with this number.")
def main(seed: int, count: int, only: int | None) -> None:
    """Damage files, read and judge them, and exit with 1 if something must not be."""
    cases, tally, began = Cases(seed, files()), Tally(), time.process_time()
    memory = Path("/dev/shm")
    place = memory if memory.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="corrupt-", dir=place) as name:
        trial = Trial(cases, Path(name))
        if only is not None:
            show(trial.judged(only // BATCH, only)[0], cases.manner(only // BATCH))
            return
        for number in range(-(-count // BATCH)):
            for case, _, findings in trial.judged(number):
                tally.add(case, findings)
    some = tally.show()
    click.echo(f"{time.process_time() - began:.0f} seconds of the processor")
    sys.exit(1 if some else 0)


def files() -> list[Path]:
    """Return the files whose records are used besides those that are made."""
    real = os.environ.get("SMFPARSE_REAL_DATA")
    found = sorted((ROOT / "fixtures").glob("*.smf"))
    return found + sorted(Path(real).glob("*.dat")) if real else found


def show(judged: Judged, manner: Manner) -> None:
    """Print all that is known of one input."""
    case, reading, findings = judged
    click.echo(f"{case.framing}: {' '.join(case.applied)}; {manner}")
    click.echo(f"{len(case.file)} bytes, read as {reading.framing}")
    click.echo(reading.refused or reading.failed or "")
    for each in case.records:
        click.echo(f"  was  {each.start:6} {each.end:6} type {each.sample.body[1]}, {each.pieces}")
    for left in Judge(case, manner, reading).left:
        click.echo(f"  left {left.start:6} {left.behind:6} {left} {'whole' if left.whole else ''}")
    for row in reading.rows:
        click.echo(f"  row  {row.offset:6} length {row.length} type {row.type}")
    for damage in reading.damage:
        click.echo(f"  reported {damage.offset:6} {damage.length} bytes: {damage.reason}")
    for finding in findings:
        click.echo(": ".join(finding))


if __name__ == "__main__":
    main()
