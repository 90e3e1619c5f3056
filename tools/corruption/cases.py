"""Inputs, drawn by a seed and a number: damaged files, and what is known of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import numpy as np

from corruption.framings import FRAMINGS, Built, Placed, drawn
from corruption.mutations import MUTATIONS, OFTEN, Rope
from corruption.samples import Sample, foreign, in_file, made, of_dump, signature

BATCH = 32
"""Inputs that are read at once, in the same way."""
_POOL = 400
_LONGEST = 4000
"""Bytes of the longest record that is taken from a file."""
_OFTEN_MANY = 0.002
_OFTEN_FAR = 0.015
_WINDOW = 1 << 17
"""Bytes that are looked at at once, where as little as possible is held."""
_MANY_BYTES = 1 << 17
_MOST = 20
_MOST_BYTES = 24_000


@dataclass(frozen=True)
class Manner:
    """How a batch is read.

    framing  that its files have; None: each has one of its own, which is detected
    tables   that are wanted besides `record`: none, those of small records, or all
    small    whether as little as possible is held at once
    """

    framing: str | None
    tables: str
    small: bool


@dataclass
class Case:
    """A damaged file.

    sound    the file as it was; of several files that are spliced, the first
    rope     its bytes, and where each was
    records  those that were in it before
    applied  the mutations
    many     whether it is many times what is said of it: only what it costs is known
    """

    number: int
    framing: str
    sound: bytes
    rope: Rope
    records: list[Placed]
    file: bytes = b""
    applied: list[str] = field(default_factory=list)
    many: bool = False


class Cases:
    """All inputs of a seed.

    real  files with RDWs whose records are used, too
    """

    def __init__(self, seed: int, real: Sequence[Path] = ()) -> None:
        self._seed = seed
        draw = Random(f"{seed} samples")
        self._small = [made(draw) for _ in range(_POOL)]
        kinds = (foreign, of_dump, signature)
        self._others = [kind(draw) for kind in kinds for _ in range(50)]
        self._real = [list(in_file(path, _LONGEST)) for path in real]

    def manner(self, batch: int) -> Manner:
        """Return how a batch is read."""
        draw = Random(f"{self._seed} batch {batch}")
        framing = draw.choice((None, *FRAMINGS, *FRAMINGS, *FRAMINGS))
        tables = draw.choices(("none", "small", "all"), (94, 5, 1))[0]
        return Manner(framing, tables, small=draw.random() < 0.8)

    def case(self, number: int) -> Case:
        """Return an input."""
        draw = Random(f"{self._seed} input {number}")
        framing = self.manner(number // BATCH).framing or draw.choice(FRAMINGS)
        built = self._built(draw, framing)
        case = Case(number, framing, built.data, Rope.of(built.data), list(built.records))
        case.many = draw.random() < _OFTEN_MANY
        self._damage(draw, case, built)
        if case.many:
            part = bytes(case.rope.data)[: draw.choice((100, 400, 2000, _MANY_BYTES))] or b"-"
            case.file = part * (_MANY_BYTES // len(part))
            case.applied.append("many")
            return case
        if draw.random() < _OFTEN_FAR:  # the damage is where the reader goes on with new bytes
            size = _WINDOW - draw.randint(0, len(case.rope))
            case.rope.replace(0, 0, Rope(built.data * (size // len(built.data))))
            case.applied.append("far")
        case.file = bytes(case.rope.data)
        return case

    def _damage(self, draw: Random, case: Case, built: Built) -> None:
        """Damage what is in a file, mostly in one way."""
        if draw.random() < 0.04:
            _splice(draw, case, self._built(draw, case.framing))
        names = [*MUTATIONS, *OFTEN]
        for name in draw.choices(names, k=draw.choice((1, 1, 1, 2, 3))):
            if case.rope.data:
                MUTATIONS[name](draw, case.rope, built)
                case.applied.append(name)

    def _built(self, draw: Random, framing: str) -> Built:
        return drawn(draw, framing, self._samples(draw))

    def _samples(self, draw: Random) -> list[Sample]:
        """Draw records: those of a dump with its header, or those that stand together in a file."""
        count = draw.choice((1, 2, 3, 4, 5, 6, 8, 12, _MOST))
        if self._real and draw.random() < 0.3:
            file = draw.choice(self._real)
            at = draw.randrange(len(file))
            found = file[at : at + count]
        else:
            others = draw.choice((0, 0, 0.1, 0.5))
            found = [
                draw.choice(self._others if draw.random() < others else self._small)
                for _ in range(count)
            ]
        sizes = np.cumsum([len(each.body) for each in found])
        return found[: max(int(np.searchsorted(sizes, _MOST_BYTES)), 1)]


def _splice(draw: Random, case: Case, other: Built) -> None:
    """Go on with another file, from some place of each on."""
    behind = len(case.rope)
    rope = Rope.of(other.data)
    start, end = draw.randrange(len(rope)), draw.randint(1, behind)
    piece = rope.piece(start, len(rope))
    case.rope.replace(end, behind, Rope(piece.data, piece.origin + behind))
    for each in other.records:
        head = (each.head[0] + behind, each.head[1] + behind)
        moved = replace(each, start=each.start + behind, end=each.end + behind, head=head)
        case.records.append(moved)
    case.applied.append("splice")
