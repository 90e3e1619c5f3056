"""Parts of SMF files decoded by several processes: the same rows and order as by one process.

A file is divided at the starts of chunks, and each part is decoded separately; bytes before its
start are also read, for facts about earlier records. If a part is not as it was planned (records
lost or skipped), one process decodes it again together with the rest of the file: the effect of
damage must not depend on the division.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Generic, TypeAlias, TypeVar

from smfparse.decoding.duplicates import Duplicates
from smfparse.decoding.needs import Needs
from smfparse.inputs.log import Log
from smfparse.inputs.options import ReadOptions
from smfparse.inputs.others import Others
from smfparse.inputs.range import Batches, Range, UnsoundError, gathered_for
from smfparse.inputs.workers import Workers, go_on
from smfparse.places.kinds import Place
from smfparse.progress import PROGRESS
from smfparse.reading.chunks import WHOLE_SOURCE, Part, are_short
from smfparse.reading.planning import agree, is_cut, look_through, parts_of, ranges_of, size_of
from smfparse.reading.reader import Input
from smfparse.tables.arrow import Wanted
from smfparse.vectors import Ints

Made = TypeVar("Made")

Unit: TypeAlias = tuple[Range, ...]
"""Ranges that one process decodes in this order."""
Write: TypeAlias = Callable[[int, Batches], Made]
"""Takes the number and batches of a unit; returns a result that can be sent to a process."""


@dataclass(frozen=True)
class Outcome(Generic[Made]):
    """The result of a unit, and the damage and counts to report.

    unsound  index of the range that was not as planned; None: all were as planned
    """

    made: Made | None
    log: Log
    unsound: int | None = None


def worth_sharing(wanted: Wanted) -> bool:
    """Whether several processes are faster: not if finding the records is most of the work."""
    return not are_short(Needs(wanted).kinds)


def units(
    files: Sequence[Input],
    wanted: Wanted,
    options: ReadOptions,
    workers: Workers,
    duplicates: Duplicates | None,
    others: Others | None,
    *,
    ahead: bool,
) -> list[Unit]:
    """Divide SMF files, in order, into units; `workers` scan the files for the division.

    Possible `duplicates` are searched here, and the tasks of a divided file if rows are selected by
    tasks: both need the whole file.

    others  the inputs that are read together; None: only one input
    ahead   whether the results of a unit must be kept until all earlier units are done
    """
    unit_bytes = _unit_bytes(files, options, workers, ahead)
    parts = _parts(files, unit_bytes, workers)
    groups = _grouped(parts, unit_bytes)
    if duplicates is not None and (duplicates.at_once or any(part.dumps for _, part in parts)):
        every = len(duplicates.files) == len(files)
        duplicates.find(groups if every else (), workers.each)
    once = {each.path: duplicates and duplicates.of(each.path) for each in files}
    tasks: dict[Place, Ints] = {}
    if options.selection.by_task(wanted):
        counts = Counter(file for file, _ in parts)
        cut = [file for file, count in counts.items() if count > 1]
        whole = Range(files[0], wanted, options=options, others=others)
        wholes = [(replace(whole, file=each, duplicates=once[each.path]),) for each in cut]
        found = workers.results(Range.find_tasks, wholes)
        tasks = {file.path: each for file, each in zip(cut, found, strict=True)}
    return [
        tuple(
            Range(file, wanted, part, options, once[file.path], tasks.get(file.path), others=others)
            for file, part in group
        )
        for group in groups
    ]


def _unit_bytes(files: Sequence[Input], options: ReadOptions, workers: Workers, ahead: bool) -> int:
    limits = options.limits
    share = -(-sum(size_of(each.path) for each in files) // options.jobs)
    if ahead:
        share = min(share // 2, limits.most_unit)
    elif not workers.are_ours:
        share = min(share, limits.most_task)
    return max(share, limits.least_unit)


def _parts(files: Sequence[Input], part_bytes: int, workers: Workers) -> list[tuple[Input, Part]]:
    ranges = {file: ranges_of(file, part_bytes) for file in files if is_cut(file.path, part_bytes)}
    asked = [(file, part) for file, several in ranges.items() for part in several]
    found = workers.results(look_through, asked)
    looks = {file: [next(found) for _ in several] for file, several in ranges.items()}
    unclear = [(file, WHOLE_SOURCE) for file, several in looks.items() if not agree(several)]
    again = workers.results(look_through, unclear)
    looks |= {file: [each] for (file, _), each in zip(unclear, again, strict=True)}
    return [
        (file, part)
        for file in files
        for part in (
            parts_of(looks[file], part_bytes, file.limits) if file in looks else [WHOLE_SOURCE]
        )
    ]


def _grouped(
    parts: Sequence[tuple[Input, Part]], unit_bytes: int
) -> list[list[tuple[Input, Part]]]:
    found: list[list[tuple[Input, Part]]] = [[]]
    held = 0
    for file, part in parts:
        size = (size_of(file.path) if part.end is None else part.end) - part.start
        if found[-1] and held + size > unit_bytes + unit_bytes // 2:
            found.append([])
            held = 0
        found[-1].append((file, part))
        held += size
    return found


def run_unit(number: int, unit: Unit, write: Write[Made], like: Log) -> Outcome[Made]:
    """Decode a unit, and write its batches.

    like  a log with the settings for the log of the outcome
    """
    log = like.anew()
    PROGRESS.begin_unit(number)
    done = 0

    def batches() -> Batches:
        nonlocal done
        gathered = gathered_for(unit[0].wanted, unit[0].options, log) if unit else None
        for each in unit:
            for found in each.batches(log, gathered):
                go_on()
                yield found
            done += 1
        if gathered is not None:
            yield from gathered.flush()

    try:
        return Outcome(write(number, batches()), log)
    except UnsoundError:
        return Outcome(None, log, done)


def in_order(
    found: Sequence[Unit], write: Write[Made], workers: Workers, like: Log
) -> Generator[Outcome[Made], None, None]:
    """Let `workers` run units; yield the outcomes in the order of the units.

    like  a log with the settings for the logs of the outcomes
    """
    like = like.anew()
    lost: set[Place] = set()
    workers.show()
    calls = [(number, unit, write, like) for number, unit in enumerate(found)]
    with closing(workers.results(run_unit, calls)) as outcomes:
        for (number, unit, *_), outcome in zip(calls, outcomes, strict=True):
            yield _sound(number, unit, outcome, lost, write)


def _sound(
    number: int, unit: Unit, outcome: Outcome[Made], lost: set[Place], write: Write[Made]
) -> Outcome[Made]:
    """Return the outcome of a unit; the unit is run again if one of its ranges was not as planned.

    lost  files whose rest was decoded as one range; later ranges of these files are left out
    """
    like = outcome.log.anew()
    todo = tuple(each for each in unit if each.path not in lost)
    if todo != unit:
        outcome = run_unit(number, todo, write, like)
    while outcome.unsound is not None:
        broken = todo[outcome.unsound]
        lost.add(broken.path)
        later = todo[outcome.unsound + 1 :]
        todo = (
            *todo[: outcome.unsound],
            broken.rest,
            *(each for each in later if each.path not in lost),
        )
        outcome = run_unit(number, todo, write, like)
    return outcome
