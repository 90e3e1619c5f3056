"""Parts of SMF files decoded by several processes: the same rows in the same order as by one.

A file is cut where a chunk of it starts, and each part is decoded on its own; what a part has to
know of the records before it, it looks back for. A part that turns out not to be what the plan of
the file says (records lost or skipped) is decoded again together with the rest of its file, by one
process: what is done with damage must not depend on where a file was cut.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

import pyarrow as pa

from smfparse.decoding.decoder import Decoder
from smfparse.decoding.duplicates import Duplicates, Recorder, fingerprints
from smfparse.decoding.matching import TASK_KINDS, queue_tasks
from smfparse.errors import DamageError, DamageLog, InputError, OutputError
from smfparse.inputs.named import Input
from smfparse.interrupts import WATCHER
from smfparse.reading.reader import WHOLE_SOURCE, Chunk, Part, are_short, plan, size_of
from smfparse.selecting import ALL_RECORDS, Selection
from smfparse.tables import Batch, Wanted
from smfparse.vectors import Ints

LEAST_BYTES = 32 << 20
"""Units are not smaller: each takes some time to set up."""
MOST_BYTES = 256 << 20
"""Nor greater, where their rows are kept until it is their turn."""
MOST_PROCESSES = 61
"""Windows cannot wait for more."""

Made = TypeVar("Made")
Batches: TypeAlias = Iterator[tuple[str, Batch]]


@dataclass
class Log:
    """What there is to say of the inputs besides their rows.

    damage         what could not be used
    unknown        bytes that no column knows, by block or section; counted when asked for
    count_unknown  whether that is asked for
    duplicates     records left out of each file because an earlier dump has them, by its path
    records        takes the fingerprints of all records that are not left out; None: nothing does
    """

    damage: DamageLog = field(default_factory=DamageLog)
    unknown: Counter[str] = field(default_factory=Counter)
    count_unknown: bool = False
    duplicates: dict[Path, int] = field(default_factory=dict)
    records: Recorder | None = None

    def add(self, other: Log) -> None:
        """Take over what `other` says of what came later."""
        self.damage.extend(other.damage)
        self.unknown.update(other.unknown)
        self.duplicates.update(other.duplicates)
        if self.records is not None and other.records is not None:
            self.records.add(other.records.take())

    def anew(self) -> Log:
        """Return a log without entries, of which the same is asked."""
        records = None if self.records is None else Recorder()
        damage = DamageLog(strict=self.damage.strict)
        return Log(damage, count_unknown=self.count_unknown, records=records)


@dataclass(frozen=True)
class Range:
    """A part of an SMF file, and what is wanted of it; `duplicates`, if given, are left out.

    tasks   what `queue_tasks` returns for the file; None: it is asked for where it is needed
    prompt  whether every table gives a batch behind each chunk
    """

    file: Input
    wanted: Wanted
    part: Part = WHOLE_SOURCE
    selection: Selection = ALL_RECORDS
    duplicates: Duplicates | None = field(default=None, compare=False)
    tasks: Ints | None = field(default=None, compare=False, repr=False)
    prompt: bool = False

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self.file.path

    @property
    def rest(self) -> Range:
        """The range from here to the end of the file."""
        return replace(self, part=self.part.rest)

    @property
    def bytes(self) -> int:
        """How many bytes of the file it is."""
        end = size_of(self.path) if self.part.end is None else self.part.end
        return end - self.part.start

    def batches(self, log: Log) -> Batches:
        """Decode the part; yield the wanted tables and columns, each table's in record order.

        Raises UnsoundError, at the end, where the part is not what the plan of the file says.
        """
        part = self.part
        damage = DamageLog() if part.is_planned else log.damage
        decoder = self._decoder(log)
        kinds = decoder.kinds if log.records is None else None
        read = _Counted(self.file.chunks(damage, part, kinds))
        try:
            yield from decoder.decode(_recorded(self._once(read), log.records))
        except DamageError as error:
            if not part.is_planned:
                raise
            raise UnsoundError from error  # the file may have damage before this
        if self.duplicates is not None and (count := self.duplicates.count(self.path)):
            log.duplicates[self.path] = count
        if part.is_planned and (damage or read.records != part.records):
            raise UnsoundError

    def _decoder(self, log: Log) -> Decoder:
        earlier = Part(0, self.part.start, 1)
        return Decoder(
            self.wanted,
            log.damage,
            again=lambda: self._again(self.part.rest),
            before=(lambda: self._again(earlier)) if earlier.end else None,
            unknown=log.unknown if log.count_unknown else None,
            selection=self.selection,
            tasks=self.find_tasks,
            prompt=self.prompt,
        )

    def find_tasks(self) -> Ints:
        """Return the tasks of the whole file that have a queue that is asked for."""
        if self.tasks is not None:
            return self.tasks
        return queue_tasks(self._again(WHOLE_SOURCE, TASK_KINDS), self.selection.queues)

    def _again(self, part: Part, kinds: Ints | None = None) -> Iterator[Chunk]:
        """Read a part of the file of which the damage is known, or will be."""
        return self._once(self.file.chunks(DamageLog(), part, kinds))

    def _once(self, found: Iterable[Chunk]) -> Iterator[Chunk]:
        """Leave out of chunks of the file what is not to be counted twice."""
        return (
            iter(found) if self.duplicates is None else self.duplicates.left_out(self.path, found)
        )


def _recorded(found: Iterator[Chunk], records: Recorder | None) -> Iterator[Chunk]:
    """Yield chunks; `records`, if given, takes the fingerprints of what is in them."""
    for chunk in found:
        if records is not None:
            records.add(fingerprints(chunk))
        yield chunk


class UnsoundError(Exception):
    """A part is not what the plan of its file says."""


class _Counted:
    """Chunks, counting their records."""

    def __init__(self, found: Iterable[Chunk]) -> None:
        self._found = found
        self.records = 0

    def __iter__(self) -> Iterator[Chunk]:
        for chunk in self._found:
            self.records += len(chunk.start)
            yield chunk


Unit: TypeAlias = tuple[Range, ...]
"""Ranges that one process decodes one after the other."""
Write: TypeAlias = Callable[[int, Batches], Made]
"""Takes the number of a unit and its batches, and makes something of them that can be sent."""


@dataclass(frozen=True)
class Outcome(Generic[Made]):
    """What was made of a unit, and what there is to say of it.

    unsound  which of its ranges was not as planned; None: all were
    """

    made: Made | None
    log: Log
    unsound: int | None = None


def worth_sharing(wanted: Wanted) -> bool:
    """Whether several processes are faster: not where to find what is wanted is the work."""
    return not are_short(Decoder(wanted, DamageLog()).kinds)


def units(
    files: Sequence[Input],
    wanted: Wanted,
    selection: Selection,
    unit_bytes: int,
    duplicates: Duplicates | None = None,
) -> list[Unit]:
    """Cut SMF files, in order, into units of about `unit_bytes`.

    `duplicates` are looked for here where there may be any, and the tasks of a file that is cut
    where rows are chosen by them: a part alone cannot tell.
    """
    parts = [
        (file, part) for file in files for part in plan(file.path, unit_bytes, framing=file.framing)
    ]
    if duplicates is not None and (duplicates.at_once or any(part.dumps for _, part in parts)):
        duplicates.find()
    several = Counter(file for file, _ in parts) if selection.by_task(wanted) else Counter()
    tasks = {
        file.path: Range(file, wanted, selection=selection, duplicates=duplicates).find_tasks()
        for file, count in several.items()
        if count > 1
    }
    found: list[list[Range]] = [[]]
    size = 0
    for file, part in parts:
        each = Range(file, wanted, part, selection, duplicates, tasks.get(file.path))
        if found[-1] and size + each.bytes > unit_bytes + unit_bytes // 2:
            found.append([])
            size = 0
        found[-1].append(each)
        size += each.bytes
    return [tuple(each) for each in found]


def run(number: int, unit: Unit, write: Write[Made], like: Log) -> Outcome[Made]:
    """Decode a unit, and write what is decoded.

    like  a log that asks for what the log of the outcome has to hold
    """
    log = like.anew()
    done = 0

    def batches() -> Batches:
        nonlocal done
        for each in unit:
            for found in each.batches(log):
                _go_on()
                yield found
            done += 1

    try:
        return Outcome(write(number, batches()), log)
    except UnsoundError:
        return Outcome(None, log, done)


def in_order(
    found: Sequence[Unit], write: Write[Made], jobs: int, like: Log
) -> Generator[Outcome[Made], None, None]:
    """Run units in `jobs` processes; yield what they made, in the order of the units.

    No more than one unit is made ahead of each process. Raises InputError where a process ends.

    like  a log that asks for what the logs of the outcomes have to hold
    """
    like = like.anew()
    lost: set[Path] = set()
    context = _context()
    stop = context.RawValue(ctypes.c_bool, False)
    processes = ProcessPoolExecutor(
        min(jobs, len(found), MOST_PROCESSES), context, initializer=_begin, initargs=(stop,)
    )
    waiting = deque(enumerate(found))
    running: deque[tuple[int, Unit, Future[Outcome[Made]]]] = deque()
    try:
        while waiting or running:
            while waiting and len(running) <= jobs:
                number, unit = waiting.popleft()
                with _main_unknown():  # submitting starts processes
                    future = processes.submit(run, number, unit, write, like)
                running.append((number, unit, future))
            number, unit, future = running.popleft()
            yield _sound(number, unit, future.result(), lost, write)
    except BrokenProcessPool as error:
        raise InputError(
            "a process that decoded the input was ended, by lack of memory perhaps; try --jobs 1"
        ) from error
    finally:
        stop.value = True
        processes.shutdown(cancel_futures=True)


def _sound(
    number: int, unit: Unit, outcome: Outcome[Made], lost: set[Path], write: Write[Made]
) -> Outcome[Made]:
    """Return the outcome of a unit, run again here where a range of it was not as planned.

    lost  files of which the rest was decoded as one range; their later ranges are left out
    """
    like = outcome.log.anew()
    todo = tuple(each for each in unit if each.path not in lost)
    if todo != unit:
        outcome = run(number, todo, write, like)
    while outcome.unsound is not None:
        broken = todo[outcome.unsound]
        lost.add(broken.path)
        later = todo[outcome.unsound + 1 :]
        todo = (
            *todo[: outcome.unsound],
            broken.rest,
            *(each for each in later if each.path not in lost),
        )
        outcome = run(number, todo, write, like)
    return outcome


_stop: Any = None
"""In a process that decodes: true when nobody waits for it any more.

Without a lock: a process that is killed would keep it.
"""


def _begin(stop: Any) -> None:
    """Begin a process: interrupts are for the one that started it, which then sets `stop`."""
    global _stop
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Wait until the process that started this one ends, however it does; nobody waits then."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _go_on() -> None:
    if _stop is not None and _stop.value:
        raise SystemExit


def _context() -> Any:
    """Return how processes are made: as copies of this one where that is safe, as it is faster."""
    others = [each for each in threading.enumerate() if each.name != WATCHER]
    copies = sys.platform == "linux" and len(others) == 1
    return multiprocessing.get_context("fork" if copies else "spawn")


_hiding = threading.Lock()


@contextmanager
def _main_unknown() -> Iterator[None]:
    """Let no process that is started meanwhile run the user's script, which may have no guard.

    Where a process is no copy, `multiprocessing` runs `__main__` again in it, by its `__spec__` or
    `__file__`; nothing of ours is in there.
    """
    facts = vars(sys.modules["__main__"])
    with _hiding:
        hidden: dict[str, Any] = {
            name: facts[name] for name in ("__spec__", "__file__") if name in facts
        }
        facts.update(dict.fromkeys(hidden))
        try:
            yield
        finally:
            facts.update(hidden)


def spill(folder: Path, number: int, found: Batches) -> list[tuple[str, Path]]:
    """Write batches to Arrow streams in `folder`, one a table; return table and file of each.

    Raises OutputError where they cannot be written.
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
        raise no_room(folder, error) from error
    return list(places.items())


def no_room(folder: Path, error: OSError) -> OutputError:
    """Return the error of rows that cannot be kept until it is their turn."""
    return OutputError(
        f"{folder}: {error.strerror or error}; have TMPDIR name another folder, or use --jobs 1"
    )


def spilled(places: Iterable[tuple[str, Path]]) -> Batches:
    """Yield what `spill` wrote, and remove it."""
    for table, path in places:
        with _open(str(path)) as file, pa.ipc.open_stream(file) as stream:
            for batch in stream:
                yield table, batch
        path.unlink()


_open = pa.OSFile if sys.platform == "win32" else pa.memory_map
"""Opens a file that is removed while its batches are used; Windows keeps one that is mapped."""
