"""Ways in which files get damaged."""

from __future__ import annotations

import codecs
import struct
from collections.abc import Iterable, Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray

from corruption.framings import Built
from corruption.samples import RDW

_LATIN_1 = codecs.decode(bytes(range(256)), "cp500").encode("latin-1")
_LINE_ENDS = (b"\x0d\x25", b"\x0a", b"\x0d\x0a")
_GARBAGE = (
    b"226 Transfer complete.\r\n", b"\xff" * 40, b"\x40" * 100, bytes.fromhex("0012000080000000"),
    bytes.fromhex("7fff0000"), bytes.fromhex("00088000"),
)  # fmt: skip


class Rope:
    """Bytes, and for each of them its place in the file as it was; -1: it is new."""

    def __init__(self, data: bytes | bytearray, origin: NDArray[np.int64] | None = None) -> None:
        self.data = bytearray(data)
        self.origin = np.full(len(data), -1, np.int64) if origin is None else origin

    @classmethod
    def of(cls, data: bytes) -> Rope:
        """Return a file, which is as it was."""
        return cls(data, np.arange(len(data)))

    def __len__(self) -> int:
        return len(self.data)

    def set(self, at: int, new: bytes) -> None:
        """Overwrite bytes; those that stay as they were are untouched."""
        for place, byte in enumerate(new[: max(len(self) - at, 0)], at):
            if self.data[place] != byte:
                self.data[place] = byte
                self.origin[place] = -1

    def replace(self, start: int, end: int, new: Rope) -> None:
        """Put other bytes in the place of a range."""
        self.data[start:end] = new.data
        self.origin = np.concatenate([self.origin[:start], new.origin, self.origin[end:]])

    def piece(self, start: int, end: int) -> Rope:
        """Return a copy of a range."""
        return Rope(self.data[start:end], self.origin[start:end].copy())

    def places(self, starts: Iterable[int]) -> dict[int, list[int]]:
        """Return where the bytes are now that were at `starts`; some are there more than once."""
        here = np.flatnonzero(np.isin(self.origin, np.array([*starts], np.int64)))
        found: dict[int, list[int]] = {}
        for place, start in zip(here.tolist(), self.origin[here].tolist(), strict=True):
            found.setdefault(start, []).append(place)
        return found

    def whole(self) -> NDArray[np.int64]:
        """Return, for each byte, behind which one the untouched bytes end that go on from it."""
        ends = np.append(np.diff(self.origin) != 1, True)[-len(self) or 1 :]
        behind = np.flatnonzero(ends) + 1
        found: NDArray[np.int64] = behind[np.searchsorted(behind, np.arange(len(self)), "right")]
        return found


def flip(draw: Random, rope: Rope, built: Built) -> None:
    """Flip bits: anywhere, or one of a length, code, end mark, header or triplet."""
    near = _near(draw, built)
    if near and draw.random() < 0.85:
        _flip(draw, rope, draw.choice(near))
        return
    for _ in range(draw.choice((1, 1, 2, 5, 20))):
        _flip(draw, rope, draw.randrange(len(rope)))


def _near(draw: Random, built: Built) -> Sequence[int]:
    """Return the bytes of one thing by which records are found, if the file has such a thing."""
    start, end = draw.choice(built.records).head
    length = draw.choice(built.lengths).at if built.lengths else 0
    code = draw.choice(built.codes) if built.codes else 0
    mark = draw.choice(built.marks) if built.marks else (0, 0)
    in_one = end > start
    return draw.choice(
        (
            range(length, length + 2) if built.lengths else (),
            (code, code, code + 1) if built.codes else (),
            range(*mark),
            range(start, end),
            range(end, end + 34) if in_one else (),  # triplets, and what is in front of them
        )
    )


def set_length(draw: Random, rope: Rope, built: Built) -> None:
    """Have a length be one of those that are special."""
    if built.lengths:
        each = draw.choice(built.lengths)
        value = draw.choice((0, 1, 3, 4, 5, 17, 18, 19, 0x7FFF, 0x8000, 0xFFFF))
        rope.set(each.at, struct.pack(">H", value))


def cover(draw: Random, rope: Rope, built: Built) -> None:
    """Have a length end where a later record, or a piece of it, does."""
    if not built.lengths:
        return
    each = draw.choice(built.lengths)
    later = [length.base - RDW for length in built.lengths] + [one.end for one in built.records]
    later = [end - each.base for end in later if each.base + RDW < end < each.base + 0x10000]
    if later:
        rope.set(each.at, struct.pack(">H", draw.choice(later)))


def cut(draw: Random, rope: Rope, built: Built) -> None:
    """Cut off the end, or the start."""
    at = _place(draw, rope, built)
    if 0 < at < len(rope):
        start, end = draw.choice(((at, len(rope)), (0, at)))
        rope.replace(start, end, Rope(b""))


def delete(draw: Random, rope: Rope, built: Built) -> None:
    """Delete a range."""
    start, end = _range(draw, rope, built)
    if end - start < len(rope):
        rope.replace(start, end, Rope(b""))


def insert(draw: Random, rope: Rope, built: Built) -> None:
    """Insert bytes of a kind that transfers add, any, or what holds no record."""
    at = _place(draw, rope, built)
    size = draw.choice((1, 2, 3, 4, 8, 50, 300))
    null = struct.pack(">HBB", size + RDW, 0x80, 0) + bytes(size)
    block = struct.pack(">HH", len(null) + RDW, 0) + null
    nothing = (null, block, b"\xff\1", b"\x80\0\0", b"\0\4\0\0")
    kinds = (_GARBAGE, _LINE_ENDS, nothing, (bytes(size), draw.randbytes(size)))
    rope.replace(at, at, Rope(draw.choice(draw.choice(kinds))))


def line_ends(draw: Random, rope: Rope, built: Built) -> None:
    """Insert a line end behind each record."""
    end = draw.choice(_LINE_ENDS)
    for each in reversed(built.records):
        if each.end <= len(rope):
            rope.replace(each.end, each.end, Rope(end))


def duplicate(draw: Random, rope: Rope, built: Built) -> None:
    """Insert a copy of a range."""
    piece = rope.piece(*_range(draw, rope, built))
    at = _place(draw, rope, built)
    rope.replace(at, at, piece)


def overwrite(draw: Random, rope: Rope, built: Built) -> None:
    """Put a copy of a range in the place of another one of the same size."""
    start, end = _range(draw, rope, built)
    at = min(_place(draw, rope, built), len(rope) - (end - start))
    rope.replace(at, at + end - start, rope.piece(start, end))


def swap(draw: Random, rope: Rope, built: Built) -> None:
    """Swap two ranges."""
    a, b, c, d = sorted([*_range(draw, rope, built), *_range(draw, rope, built)])
    first, second = rope.piece(a, b), rope.piece(c, d)
    rope.replace(c, d, first)
    rope.replace(a, b, second)


def spoil(draw: Random, rope: Rope, built: Built) -> None:
    """Overwrite a range with zero bytes, or translate it from EBCDIC to Latin-1."""
    start, end = _range(draw, rope, built)
    found = rope.data[start:end]
    rope.set(start, draw.choice((bytes(len(found)), bytes(found).translate(_LATIN_1))))


def _flip(draw: Random, rope: Rope, at: int) -> None:
    if at < len(rope):
        rope.set(at, bytes([rope.data[at] ^ 1 << draw.randrange(8)]))


def _place(draw: Random, rope: Rope, built: Built) -> int:
    """Return a place: where a record starts, near there, or anywhere."""
    if draw.random() < 0.4:
        return draw.randint(0, len(rope))
    each = draw.choice(built.records)
    near = draw.choice((0, 0, 0, draw.randint(-6, 24)))
    return min(max(draw.choice((each.start, each.end)) + near, 0), len(rope))


def _range(draw: Random, rope: Rope, built: Built) -> tuple[int, int]:
    start = _place(draw, rope, built)
    size = draw.choice((1, 2, 4, 16, 100, 400, 2000))
    other = draw.choice((_place(draw, rope, built), start + draw.randint(1, size)))
    return min(start, other), min(max(start, other), len(rope))


MUTATIONS = {
    each.__name__.replace("_", "-"): each
    for each in (
        *(flip, set_length, cover, cut, delete, insert, line_ends),
        *(duplicate, overwrite, swap, spoil),
    )
}
"""By name."""
OFTEN = ("flip", "flip", "flip", "flip", "insert", "insert")
"""Those that are many in one: they are drawn so much more often."""
