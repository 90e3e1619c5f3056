"""Parts of SMF files decoded by several processes: the same rows and order as by one process.

A file is divided at the starts of chunks, and each part is decoded separately; bytes before its
start are also read, for facts about earlier records. If a part is not as it was planned (records
lost or skipped), one process decodes it again together with the rest of the file: the effect of
damage must not depend on the division. Rows are kept in temporary files until the rows of all
earlier parts are yielded.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

import pyarrow as pa

from smfparse.decoding.arrow import Wanted
from smfparse.decoding.duplicates import Duplicates
from smfparse.decoding.matching import Needs
from smfparse.errors import OutputError
from smfparse.inputs.options import ReadOptions
from smfparse.inputs.others import Others
from smfparse.inputs.range import Batches, Log, Range, UnsoundError, gathered_for
from smfparse.inputs.temporary import TemporaryFolder
from smfparse.inputs.workers import Workers, go_on
from smfparse.progress import PROGRESS
from smfparse.reading.chunks import WHOLE_SOURCE, Part, are_short
from smfparse.reading.places import Place
from smfparse.reading.reader import Input, agree, is_cut, look_through, parts_of, ranges_of, size_of
from smfparse.vectors import Ints

Made = TypeVar("Made")

Unit: TypeAlias = tuple[Range, ...]
"""Ranges that one process decodes in this order."""
Write: TypeAlias = Callable[[int, Batches], Made]
"""A function of the number and the batches of a unit. Its result can be sent to a process."""


@dataclass(frozen=True)
class Outcome(Generic[Made]):
    """The result of a unit, and the damage and counts to report.

    made     result of `Write`
    unsound  index of the range that was not as planned; None: all ranges were as planned
    """

    made: Made | None
    log: Log
    unsound: int | None = None


def worth_sharing(wanted: Wanted) -> bool:
    """Whether several processes are faster. They are not if finding records is most of the work."""
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

    lost  files whose rest was decoded as one range: later ranges of these files are omitted
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


def together(found: Sequence[Unit], workers: Workers, log: Log) -> Batches:
    """Yield the rows of units that `workers` decode, in the order of the units.

    Raises OutputError if rows cannot be kept until all earlier rows are yielded.

    log  receives damage and counts of the units
    """
    try:
        temporary = TemporaryFolder()
    except OSError as error:
        raise _no_room(Path(tempfile.gettempdir()), error) from error
    with temporary as folder, workers:  # workers end before their folder is removed
        outcomes = in_order(found, partial(spill, folder), workers, log)
        with closing(outcomes):
            for outcome in outcomes:
                log.add(outcome.log)
                yield from _spilled(outcome.made or [])


def spill(folder: Path, number: int, found: Batches) -> list[tuple[str, Path]]:
    """Write batches to Arrow streams in `folder`, one per table; return each table and its file.

    Raises OutputError if a stream cannot be written.
    """
    places: dict[str, Path] = {}
    try:
        with ExitStack() as opened:
            streams: dict[str, Any] = {}
            for table, batch in found:
                if table not in streams:
                    places[table] = folder / f"{number}-{table}.arrow"
                    file = opened.enter_context(pa.OSFile(str(places[table]), "wb"))
                    stream = pa.ipc.new_stream(file, batch.schema)
                    streams[table] = opened.enter_context(stream)
                streams[table].write_batch(batch)
    except OSError as error:
        raise _no_room(folder, error) from error
    return list(places.items())


def _no_room(folder: Path, error: OSError) -> OutputError:
    return OutputError(
        f"{folder}: {error.strerror or error}; set TMPDIR to another folder, or use jobs=1",
        "jobs",
    )


def _spilled(places: Iterable[tuple[str, Path]]) -> Batches:
    for table, path in places:
        with _open(str(path)) as file, pa.ipc.open_stream(file) as stream:
            for batch in stream:
                yield table, batch
        path.unlink()


_open = pa.OSFile if sys.platform == "win32" else pa.memory_map
"""Opens a file that is removed while its batches are used; Windows cannot remove a mapped file."""
