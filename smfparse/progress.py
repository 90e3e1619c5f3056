"""Progress of reading and writing large files: counts, which the command line shows.

Bytes are bytes of the files on disk, compressed or not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

WAITING = "waiting"
"""A value of `Progress.what`: waiting for another writer."""
SHOWER = "smfparse-progress"
"""Name of the thread that shows progress; the thread holds no lock that a forked process needs."""


class Read(Protocol):
    """A piece of a file, with its place in the file."""

    @property
    def read(self) -> int:
        """Number of bytes from the start of the file to the end of the piece."""


Each = TypeVar("Each", bound=Read)


def _nobody(_message: str) -> None:
    pass


class Progress:
    """The bytes of the work in progress.

    what   reading, writing or waiting; '': no work whose bytes are counted
    total  bytes of the whole work; 0: unknown
    began  time at which the work began, in seconds of `time.monotonic`
    share  returns the completed share of a query, in percent; below 0: unknown
    is_wanted  whether a display is active
    say    prints a message immediately, if a display is active
    """

    def __init__(self) -> None:
        self.is_wanted = False
        self.what, self.total, self.began = "", 0, 0.0
        self.share: Callable[[], float] | None = None
        self.say: Callable[[str], None] = _nobody
        self._cells: Any = [0]
        self._own = 0

    @property
    def done(self) -> int:
        """Number of bytes that all processes have read or written."""
        return sum(self._cells)

    @contextmanager
    def of(self, what: str, total: int) -> Iterator[None]:
        """Count the bytes of the work in a `with` block."""
        self._cells, self._own = [0], 0
        self.what, self.total, self.began = what, total, time.monotonic()
        try:
            yield
        finally:
            self.what = ""

    @contextmanager
    def told_by(self, say: Callable[[str], None]) -> Iterator[None]:
        """Let a function print messages in a `with` block."""
        before, self.say = self.say, say
        try:
            yield
        finally:
            self.say = before

    def add(self, count: int) -> None:
        """Count bytes."""
        self._cells[self._own] += count

    def follow(self, found: Iterable[Each], start: int = 0) -> Iterator[Each]:
        """Yield pieces of a file from byte `start` on; count each piece after its use."""
        for each in found:
            at = each.read
            yield each
            self.add(at - start)
            start = at

    def use(self, cells: Any) -> None:
        """Count in an array that several processes share; each unit has an element."""
        self._cells = cells

    def begin_unit(self, number: int) -> None:
        """Count further bytes as bytes of unit `number`, from 0."""
        if number < len(self._cells):
            self._own = number
            self._cells[number] = 0


PROGRESS = Progress()
"""The progress of this process."""
