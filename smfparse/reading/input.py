"""An input: its place, and the facts needed to read it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from smfparse.errors import DamageLog
from smfparse.limits import LIMITS, Limits
from smfparse.places import Place
from smfparse.reading.chunks import WHOLE_SOURCE, Chunk, Part
from smfparse.reading.detection import Framing
from smfparse.reading.reader import read_chunks
from smfparse.vectors import Ints


@dataclass(frozen=True)
class Input:
    """An SMF file or a dataset: where it is, and what the user calls it.

    once     whether it is there to be read only once: standard input, a pipe, a device
    packing  how the file is packed, outermost first; () where it is not
    framing  how its records are kept apart; None: not known yet, or a dataset
    copy     what keeps the temporary file that `path` is, where it is one; it goes with that
    limits   how much of it is looked at at once
    """

    path: Place
    name: str
    once: bool = False
    packing: tuple[str, ...] = ()
    framing: Framing | None = None
    copy: object = field(default=None, compare=False)
    limits: Limits = field(default=LIMITS, compare=False)

    def chunks(
        self, damage: DamageLog, part: Part = WHOLE_SOURCE, kinds: Ints | None = None
    ) -> Iterator[Chunk]:
        """Read a part of an SMF file, as `read_chunks` does."""
        return read_chunks(self.path, damage, part, kinds, self.framing, self.name, self.limits)
