"""Inputs, drawn by a seed and a number: damaged files, and what is known of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np

from corruption import packings
from corruption.framings import FRAMINGS, Built, Placed, drawn
from corruption.mutations import MUTATIONS
from corruption.rope import Piece, Rope
from corruption.samples import Sample, foreign, in_file, made, of_dump, signature

BATCH = 32
"""Inputs that are read at once, in the same way."""
Build = Callable[[Random, str], Built]
"""Makes a file of a framing."""
_POOL = 400
_LONGEST = 4000
"""Bytes of the longest record that is taken from a file."""
_OFTEN_MANY = 0.002
_OFTEN_FAR = 0.015
_WINDOW = 1 << 17
"""Bytes that are looked at at once, where as little as possible is held."""
_MANY_BYTES = 1 << 17
_MANY_MEMBERS = 2000
_MOST = 20
_OF_PACKED = ("flip", "flip", "cut-end", "delete", "insert", "zeros", "overwrite", "swap")
"""Mutations that know nothing of what they change."""
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

    sound    what was in it, unpacked; of several files that are spliced, in the first
    rope     what is in it, unpacked
    records  those that were in it before
    safe     bytes of it that are sure to be unpacked; None: all
    file     its bytes; packed, if it is
    told     the mutations
    packing  how it is packed; "": not at all
    many     whether it is many times what is said of it: only what it costs is known
    """

    number: int
    framing: str
    sound: bytes
    rope: Rope
    records: list[Placed]
    safe: int | None = None
    file: bytes = b""
    told: list[str] = field(default_factory=list)
    packing: str = ""
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
        rope, records = Rope(built.data), list(built.records)
        case = Case(number, framing, bytes(built.data), rope, records)
        if draw.random() < _OFTEN_MANY:
            _repeat(draw, case, built, self._built)
        elif draw.random() < 0.75:
            _mutate(draw, case, built, self._built)
            if draw.random() < _OFTEN_FAR:
                _move_far(draw, case, built)
            case.file = bytes(case.rope.data)
        else:
            _pack(draw, case, built, self._built)
        return case

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


def _mutate(draw: Random, case: Case, built: Built, another: Build) -> None:
    """Damage what is in a file, mostly in one way."""
    if draw.random() < 0.04:
        _splice(draw, case, another(draw, case.framing))
    for name in draw.choices([*MUTATIONS], k=draw.choice((1, 1, 1, 2, 3))):
        if case.rope.data:
            MUTATIONS[name](draw, case.rope, built)
            case.told.append(name)


def _repeat(draw: Random, case: Case, built: Built, another: Build) -> None:
    """Damage a file, and have it many times over, perhaps with empty packed members between."""
    _mutate(draw, case, built, another)
    case.many = True
    data = bytes(case.rope.data)
    part = data[: draw.choice((100, 400, 2000, _MANY_BYTES))] or b"-"
    if draw.random() < 0.2:
        name, pack = draw.choice([*packings.IN_MEMBERS.items()])
        case.packing, case.file = f"many-{name}", pack(data) + pack(b"") * _MANY_MEMBERS
    else:
        case.file = part * (_MANY_BYTES // len(part))
    case.told.append("many")


def _move_far(draw: Random, case: Case, built: Built) -> None:
    """Put sound files in front, so that the damage is where the reader goes on with new bytes."""
    size = _WINDOW - draw.randint(0, len(case.rope))
    case.rope.replace(0, 0, Piece(bytes(built.data) * (size // len(built.data))))
    case.told.append("far")


def _splice(draw: Random, case: Case, other: Built) -> None:
    """Go on with another file, from some place of each on."""
    behind = len(case.rope)
    rope = Rope(other.data)
    start, end = draw.randrange(len(rope)), draw.randint(1, behind)
    piece = rope.piece(start, len(rope))
    case.rope.replace(end, behind, Piece(piece.data, piece.origin + behind))
    case.records += [_moved(each, behind) for each in other.records]
    case.told.append("splice")


def _moved(placed: Placed, by: int) -> Placed:
    head = (placed.head[0] + by, placed.head[1] + by)
    return Placed(placed.sample, placed.start + by, placed.end + by, head, placed.pieces)


def _pack(draw: Random, case: Case, built: Built, another: Build) -> None:
    """Pack a file, and damage it before or afterwards."""
    way = draw.choice(("before", "members", "packed", "packed"))
    if way == "before":
        _mutate(draw, case, built, another)
    if draw.random() < 0.2:
        name, pack = draw.choice([*packings.WHOLE.items()])
        ranges = [(0, len(case.rope))]
    else:
        name, pack = draw.choice([*packings.IN_MEMBERS.items()])
        ranges = packings.cuts(draw, len(case.rope), 5)
        if way == "members":
            ranges = _other_members(draw, case, ranges)
    members = [pack(bytes(case.rope.data[start:end])) for start, end in ranges]
    data, starts = packings.together(members)
    case.packing = name
    if way == "packed":
        _damage_packed(draw, case, data, starts, ranges)
    else:
        again, case.file = packings.twice(draw, data)
        case.packing += again


def _other_members(
    draw: Random, case: Case, ranges: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Leave out members, have some twice or in another order; return where they are then."""
    kept = draw.choices(ranges, k=draw.randint(1, len(ranges) + 2))
    if draw.random() < 0.5:
        kept = ranges + kept[:1]
    case.told.append("members")
    return _arrange(case, kept)


def _arrange(case: Case, kept: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Have only some ranges be in a file, one behind the other; return where they are then."""
    pieces = [case.rope.piece(start, end) for start, end in kept]
    case.rope.replace(0, len(case.rope), Piece(b""))
    found = []
    for each in pieces:
        at = len(case.rope)
        case.rope.replace(at, at, each)
        found.append((at, len(case.rope)))
    return found


def _damage_packed(
    draw: Random, case: Case, data: bytes, starts: list[int], ranges: list[tuple[int, int]]
) -> None:
    """Damage a packed file; what the members in front of the damage hold is safe.

    All is, of what still unpacks, though perhaps to something else.
    """
    rope = Rope(data)
    borders = [Placed(Sample(b""), start, start, (start, start)) for start in starts]
    name = draw.choice(_OF_PACKED)
    MUTATIONS[name](draw, rope, Built("", records=borders))
    case.file = bytes(rope.data)
    case.told.append(f"packed-{name}")
    members = [data[start:end] for start, end in pairwise([*starts, len(data)])]
    whole = _whole_members(case.file, members)
    if whole is not None:
        _arrange(case, [ranges[number] for number in whole])
        return
    if case.packing in packings.IN_MEMBERS:
        found = packings.unpacked(case.packing, case.file)
        if found is not None:
            overlay(case.rope, found)
            return
    differs = _alike(data, case.file)
    before = sum(start <= differs for start in starts[1:])
    case.safe = ranges[before - 1][1] if before else 0


def overlay(rope: Rope, found: bytes) -> None:
    """Have other bytes be in a file; those that are as they were from either end are untouched."""
    if len(found) == len(rope):
        rope.set(0, found)
        return
    front = _alike(rope.data, found)
    back = _alike(rope.data[front:][::-1], found[front:][::-1])
    rope.replace(front, len(rope) - back, Piece(found[front : len(found) - back]))


def _alike(one: bytes, other: bytes) -> int:
    """Return how many bytes at the start are the same."""
    both = min(len(one), len(other))
    return next((at for at in range(both) if one[at] != other[at]), both)


def _whole_members(data: bytes, members: list[bytes]) -> list[int] | None:
    """Return which members, one behind the other, make a file; None if it has anything else.

    Zeros may fill it up.
    """
    found, at = [], 0
    while data[at:].strip(b"\0"):
        number = next((n for n, each in enumerate(members) if data.startswith(each, at)), None)
        if number is None:
            return None
        found.append(number)
        at += len(members[number])
    return found
