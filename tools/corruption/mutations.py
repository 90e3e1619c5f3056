"""Ways in which files get damaged."""

from __future__ import annotations

import codecs
import struct
from collections.abc import Callable
from random import Random

from corruption.framings import Built
from corruption.rope import Piece, Rope
from corruption.samples import RDW

Mutate = Callable[[Random, Rope, Built], None]

_LATIN_1 = codecs.decode(bytes(range(256)), "cp500").encode("latin-1")
_LINE_ENDS = (b"\x0d\x25", b"\x0a", b"\x0d\x0a")
_GARBAGE = (
    b"226 Transfer complete.\r\n",
    b"\xff" * 40,
    b"\x40" * 100,
    bytes.fromhex("0012000080000000"),
    bytes.fromhex("7fff0000"),
    bytes.fromhex("00088000"),
)


def flip(draw: Random, rope: Rope, built: Built) -> None:  # noqa: ARG001 - wherever it is
    """Flip bits anywhere."""
    for _ in range(draw.choice((1, 1, 2, 5, 20))):
        _flip(draw, rope, draw.randrange(len(rope)))


def flip_length(draw: Random, rope: Rope, built: Built) -> None:
    """Flip a bit of a length."""
    if built.lengths:
        each = draw.choice(built.lengths)
        _flip(draw, rope, each.at + draw.randrange(2))


def flip_code(draw: Random, rope: Rope, built: Built) -> None:
    """Flip a bit of a segment code or descriptor, or of the byte behind it."""
    if built.codes:
        _flip(draw, rope, draw.choice(built.codes) + draw.choice((0, 0, 1)))


def flip_mark(draw: Random, rope: Rope, built: Built) -> None:
    """Flip a bit of an end mark."""
    if built.marks:
        _flip(draw, rope, draw.randrange(*draw.choice(built.marks)))


def flip_header(draw: Random, rope: Rope, built: Built) -> None:
    """Flip a bit of an SMF header."""
    start, end = draw.choice(built.records).head
    if end > start:
        _flip(draw, rope, draw.randrange(start, end))


def flip_triplet(draw: Random, rope: Rope, built: Built) -> None:
    """Flip a bit of the triplets, or of what is in front of them."""
    start, end = draw.choice(built.records).head
    if end > start:
        _flip(draw, rope, draw.randrange(end, end + 34))


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


def cut_end(draw: Random, rope: Rope, built: Built) -> None:
    """Cut off the end."""
    at = _place(draw, rope, built)
    if at:
        rope.replace(at, len(rope), Piece(b""))


def cut_start(draw: Random, rope: Rope, built: Built) -> None:
    """Cut off the start."""
    at = _place(draw, rope, built)
    if at < len(rope):
        rope.replace(0, at, Piece(b""))


def delete(draw: Random, rope: Rope, built: Built) -> None:
    """Delete a range."""
    start, end = _range(draw, rope, built)
    if end - start < len(rope):
        rope.replace(start, end, Piece(b""))


def insert(draw: Random, rope: Rope, built: Built) -> None:
    """Insert bytes of a kind that transfers add, or any."""
    at = _place(draw, rope, built)
    size = draw.choice((1, 2, 3, 4, 8, 50, 300))
    new = draw.choice((*_GARBAGE, bytes(size), draw.randbytes(size)))
    rope.replace(at, at, Piece(new))


def line_end(draw: Random, rope: Rope, built: Built) -> None:
    """Insert a line end."""
    at = _place(draw, rope, built)
    rope.replace(at, at, Piece(draw.choice(_LINE_ENDS)))


def line_ends(draw: Random, rope: Rope, built: Built) -> None:
    """Insert a line end behind each record."""
    end = draw.choice(_LINE_ENDS)
    for each in reversed(built.records):
        if each.end <= len(rope):
            rope.replace(each.end, each.end, Piece(end))


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


def zeros(draw: Random, rope: Rope, built: Built) -> None:
    """Overwrite a range with zero bytes."""
    start, end = _range(draw, rope, built)
    rope.set(start, bytes(end - start))


def translate(draw: Random, rope: Rope, built: Built) -> None:
    """Translate a range from EBCDIC to Latin-1."""
    start, end = _range(draw, rope, built)
    rope.set(start, rope.data[start:end].translate(_LATIN_1))


def null_block(draw: Random, rope: Rope, built: Built) -> None:
    """Insert a null segment, a block of nothing, or an empty record."""
    at = _place(draw, rope, built)
    size = draw.choice((4, 8, 100))
    null = struct.pack(">HBB", size, 0x80, 0) + bytes(size - RDW)
    block = struct.pack(">HH", size + RDW, 0) + null
    rope.replace(at, at, Piece(draw.choice((null, block, b"\xff\1", b"\x80\0\0", b"\0\4\0\0"))))


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


MUTATIONS: dict[str, Mutate] = {
    each.__name__.replace("_", "-"): each
    for each in (
        flip,
        flip_length,
        flip_code,
        flip_mark,
        flip_header,
        flip_triplet,
        set_length,
        cover,
        cut_end,
        cut_start,
        delete,
        insert,
        line_end,
        line_ends,
        duplicate,
        overwrite,
        swap,
        zeros,
        translate,
        null_block,
    )
}
"""By name; each is drawn alike."""
