"""What comes of reading a file: its records as bodies, its damage, or why it is no input."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TypeAlias

from smfparse.errors import Damage, DamageLog, InputError
from smfparse.limits import LIMITS, Limits
from smfparse.reading.chunks import SLACK, WHOLE_SOURCE, Part
from smfparse.reading.detection import framing_named
from smfparse.reading.reader import read_chunks


@contextmanager
def watchdog(seconds: int = 20) -> Iterator[None]:
    """Fail what hangs, where the system can interrupt it: a small file is read sooner."""

    def bark(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"still reading after {seconds} seconds")

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, bark)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Reading:
    """All that reading a file, or a part of it, gives."""

    def __init__(
        self,
        path: Path,
        part: Part = WHOLE_SOURCE,
        limits: Limits = LIMITS,
        framing: str | None = None,
    ) -> None:
        self.log = DamageLog()
        self.bodies: list[bytes] = []
        self.offsets: list[int] = []
        self.numbers: list[int] = []
        self.refused: str | None = None
        try:
            with watchdog():
                known = None if framing is None else framing_named(framing)
                for chunk in read_chunks(path, self.log, part, framing=known, limits=limits):
                    for start, end in zip(chunk.start, chunk.start + chunk.length, strict=True):
                        self.bodies.append(chunk.buffer[start + 4 : end].tobytes())
                        assert end + SLACK <= chunk.buffer.size
                    self.offsets += chunk.offset.tolist()
                    self.numbers += chunk.record_no.tolist()
        except InputError as error:
            self.refused = str(error)

    @property
    def damage(self) -> list[Damage]:
        return self.log.details

    @property
    def places(self) -> list[tuple[int, int | None]]:
        return [(each.offset, each.length) for each in self.damage]

    @property
    def reasons(self) -> list[str]:
        return [each.reason for each in self.damage]

    def told(self, size: int) -> list[tuple[int, int]]:
        """Return start and end of what the damage log says was given up, of a file of `size`."""
        return [
            (each.offset, size if each.length is None else each.offset + each.length)
            for each in self.damage
        ]


Read: TypeAlias = Callable[..., Reading]
"""Reads bytes; the fixture of ../reading/conftest.py."""
