"""The workers that share the work: our own processes, or an executor of the caller.

Both are a `concurrent.futures.Executor`. Our processes end when this process ends, even if this
process is killed. At the end, calls in an executor of the caller that have not begun are cancelled,
and running calls are awaited.
"""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

from smfparse.errors import InputError, SmfError
from smfparse.interrupts import ENDS, WATCHER, check_interrupt
from smfparse.progress import PROGRESS, SHOWER
from smfparse.reading.objects import are_open

MOST_PROCESSES = 61
"""Maximum number of processes: Windows cannot wait for more."""

_PATIENCE = 1
"""Seconds between two checks whether results are still needed, and seconds for a process to end."""

Result = TypeVar("Result")


class Workers:
    """Does work in other processes, within a `with` statement.

    jobs        number of our processes
    executor    executor of the caller, which replaces our processes
    most_units  maximum number of units for which the progress display counts the bytes read
    """

    def __init__(self, jobs: int, executor: Executor | None = None, *, most_units: int = 1) -> None:
        self.jobs = min(jobs, MOST_PROCESSES)
        self.are_ours = executor is None
        self._most_units = most_units
        self._stop: Any = None
        self._read: Any = None
        self._executor = self._processes() if executor is None else executor

    def _processes(self) -> Executor:
        context = _context()
        self._stop = context.RawValue(ctypes.c_bool, False)
        self._read = context.RawArray(ctypes.c_longlong, self._most_units)
        asked = (self._stop, self._read)
        return ProcessPoolExecutor(self.jobs, context, initializer=_begin, initargs=asked)

    def show(self) -> None:
        """Pass the counts of our processes to the progress display."""
        if self._read is not None:
            PROGRESS.use(self._read)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        if self.are_ours:
            self._stop.value = True
            self._executor.shutdown(cancel_futures=True)

    def results(
        self, work: Callable[..., Result], calls: Iterable[tuple[Any, ...]]
    ) -> Generator[Result, None, None]:
        """Yield the results of calls of `work`, in order; `work` may raise SmfError or OSError.

        Our processes have at most one waiting call; an executor of the caller gets all calls at
        once. Raises InputError if the executor fails.
        """
        waiting, ahead = iter(calls), self.jobs + 1 if self.are_ours else None
        running: deque[Future[tuple[Any, Exception | None]]] = deque()
        try:
            while True:
                room = None if ahead is None else ahead - len(running)
                running.extend(self._submit(work, call) for call in islice(waiting, room))
                if not running:
                    return
                yield self._result(running[0])
                running.popleft()
        finally:
            for future in running:
                future.cancel()
            if not self.are_ours:
                wait(running)

    def each(
        self, work: Callable[[Any], Iterable[Result]], items: Iterable[Any]
    ) -> Iterator[list[Result]]:
        """Yield the results of `work` for each item, in order, as lists."""
        return self.results(_listed, ((work, item) for item in items))

    def _submit(self, work: Callable[..., Any], call: tuple[Any, ...]) -> Future[Any]:
        if not self.are_ours:
            return self._executor.submit(_tried, work, *call)
        with _main_unknown():  # submitting starts processes
            return self._executor.submit(_tried, work, *call)

    def _result(self, future: Future[tuple[Any, Exception | None]]) -> Any:
        while not wait([future], _PATIENCE).done:
            check_interrupt()
        try:
            found, error = future.result()
        except BrokenProcessPool as broken:
            raise InputError(
                "a worker process was killed, perhaps for lack of memory; try jobs=1", "jobs"
            ) from broken
        except Exception as failure:
            if self.are_ours:
                raise
            reason = (str(failure).strip() or "no reason is given").splitlines()[0]
            raise InputError(
                f"the executor failed: {type(failure).__name__}: {reason}"
            ) from failure
        if error is not None:
            raise error
        return found


def _tried(work: Callable[..., Result], *call: Any) -> tuple[Result | None, Exception | None]:
    """Return the result and the error of `work`: an executor may wrap errors that are raised."""
    try:
        return work(*call), None
    except (SmfError, OSError) as error:
        return None, error


def _listed(work: Callable[[Any], Iterable[Result]], item: Any) -> list[Result]:
    return list(work(item))


_stop: Any = None
"""In our processes: true when results are no longer needed. It has no lock, because a killed
process would keep the lock.
"""


def _begin(stop: Any, read: Any) -> None:
    """Initialise a process. Signals are ignored: the parent process handles them, and sets `stop`.

    read  receives the number of bytes read of each unit
    """
    global _stop
    gc.freeze()  # a forked copy must not collect the objects of its parent
    _stop = stop
    PROGRESS.use(read)
    for each in (signal.SIGINT, *ENDS):
        signal.signal(each, signal.SIG_IGN)
    threading.Thread(target=_end_unwanted, daemon=True).start()


def _end_unwanted() -> None:
    """End this process when its parent has ended or has set `_stop`.

    After `_stop` was set, this process first gets _PATIENCE seconds to end between two batches.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    while parent.is_alive() and not _stop.value:
        parent.join(_PATIENCE)
    if parent.is_alive():
        time.sleep(_PATIENCE)
    os._exit(1)


def go_on() -> None:
    """Raise SystemExit if the result of this process is no longer needed."""
    if _stop is not None and _stop.value:
        raise SystemExit


def _context() -> Any:
    """Return the start method of processes: fork, the faster method, if this is safe."""
    others = [each for each in threading.enumerate() if each.name not in (WATCHER, SHOWER)]
    copies = sys.platform == "linux" and len(others) == 1 and not are_open()
    return multiprocessing.get_context("fork" if copies else "spawn")


_hiding = threading.Lock()


@contextmanager
def _main_unknown() -> Iterator[None]:
    """Keep new processes from running the user's script, which may have no `__main__` guard.

    In a process that is not forked, `multiprocessing` runs `__main__` again, by its `__spec__` or
    `__file__`; our code does not need `__main__`.
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
