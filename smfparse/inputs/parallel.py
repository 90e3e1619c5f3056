"""Parts of SMF files decoded by several processes: the same rows in the same order as by one.

A file is cut where a chunk of it starts, and each part is decoded on its own; what a part has to
know of the records before it, it looks back for. A part that turns out not to be as the file was
planned (records lost or skipped) is decoded again together with the rest of its file, by one
process: what is done with damage must not depend on where a file was cut.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from smfparse.decoding import Duplicates, Needs
from smfparse.errors import InputError
from smfparse.inputs.log import Log
from smfparse.inputs.options import ReadOptions
from smfparse.inputs.range import Batches, Range, UnsoundError, gathered_for
from smfparse.interrupts import ENDS, WATCHER, check_interrupt
from smfparse.reading import Input, are_short, plan
from smfparse.tables import Wanted

MOST_PROCESSES = 61
"""Windows cannot wait for more."""

_PATIENCE = 1
"""Seconds between two looks at whether work is wanted; a process has as many to end itself."""

Made = TypeVar("Made")

Unit: TypeAlias = tuple[Range, ...]
"""Ranges that one process decodes one after the other."""
Write: TypeAlias = Callable[[int, Batches], Made]
"""Takes the number of a unit and its batches, and makes something of them that can be sent."""


@dataclass(frozen=True)
class Outcome(Generic[Made]):
    """What was made of a unit, and what there is to report of it.

    unsound  which of its ranges was not as planned; None: all were
    """

    made: Made | None
    log: Log
    unsound: int | None = None


def worth_sharing(wanted: Wanted) -> bool:
    """Whether several processes are faster: not where to find what is wanted is the work."""
    return not are_short(Needs(wanted).kinds)


def units(
    files: Sequence[Input],
    wanted: Wanted,
    options: ReadOptions,
    unit_bytes: int,
    duplicates: Duplicates | None = None,
) -> list[Unit]:
    """Cut SMF files, in order, into units of about `unit_bytes`.

    `duplicates` are looked for here where there may be any, and the tasks of a file that is cut
    where rows are chosen by them: a part alone does not have them.
    """
    parts = [
        (file, part)
        for file in files
        for part in plan(file.path, unit_bytes, framing=file.framing, limits=file.limits)
    ]
    if duplicates is not None and (duplicates.at_once or any(part.dumps for _, part in parts)):
        duplicates.find()
    several = Counter(file for file, _ in parts) if options.selection.by_task(wanted) else Counter()
    tasks = {
        file.path: Range(file, wanted, options=options, duplicates=duplicates).find_tasks()
        for file, count in several.items()
        if count > 1
    }
    found: list[list[Range]] = [[]]
    size = 0
    for file, part in parts:
        each = Range(file, wanted, part, options, duplicates, tasks.get(file.path))
        if found[-1] and size + each.bytes > unit_bytes + unit_bytes // 2:
            found.append([])
            size = 0
        found[-1].append(each)
        size += each.bytes
    return [tuple(each) for each in found]


def run_unit(number: int, unit: Unit, write: Write[Made], like: Log) -> Outcome[Made]:
    """Decode a unit, and write what is decoded.

    like  a log that asks for what the log of the outcome has to hold
    """
    log = like.anew()
    done = 0

    def batches() -> Batches:
        nonlocal done
        gathered = gathered_for(unit[0].wanted, unit[0].options, log) if unit else None
        for each in unit:
            for found in each.batches(log, gathered):
                _go_on()
                yield found
            done += 1
        if gathered is not None:
            yield from gathered.flush()

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
                    future = processes.submit(run_unit, number, unit, write, like)
                running.append((number, unit, future))
            number, unit, future = running.popleft()
            while not wait([future], _PATIENCE).done:
                check_interrupt()
            yield _sound(number, unit, future.result(), lost, write)
    except BrokenProcessPool as error:
        raise InputError(
            "a worker process was killed, perhaps for lack of memory; try jobs=1", "jobs"
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


_stop: Any = None
"""In a process that decodes: true when nobody waits for it any more.

Without a lock: a process that is killed would keep it.
"""


def _begin(stop: Any) -> None:
    """Begin a process: signals are for the one that started it, which then sets `stop`."""
    global _stop
    _stop = stop
    for each in (signal.SIGINT, *ENDS):
        signal.signal(each, signal.SIG_IGN)
    threading.Thread(target=_end_unwanted, daemon=True).start()


def _end_unwanted() -> None:
    """End this process when nobody waits for it: the one that started it ended, or gave it up.

    Where it is given up it has a while to end by itself, which it does between two batches.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    while parent.is_alive() and not _stop.value:
        parent.join(_PATIENCE)
    if parent.is_alive():
        time.sleep(_PATIENCE)
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
