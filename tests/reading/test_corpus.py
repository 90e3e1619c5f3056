"""Small damaged files of which something was lost once, each found by tools/corrupt.py.

Each says which of its records have to be there; of the others, and of all else in the file, the
damage log has to have every byte.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from smfparse.limits import LIMITS, Limits
from smfparse.reading import look_at
from tests.support.builders import Section, foreign_record, named_block, qwhs_long, smf_record
from tests.support.reading import Read, Reading
from tests.support.variants import translated

QWHS_LENGTH = 28
"""Byte of a body in which the length of the QWHS area is, by the first triplet."""


def body(number: int, longer: int = 0) -> bytes:
    """Return a record of MQ without its RDW; `longer`: by its triplets it is so much longer."""
    block = Section([named_block("QIST", 80)])
    data = bytearray(smf_record(115, 2, Section(), block, area=qwhs_long(), qmgr=f"Q{number:03}"))
    (length,) = struct.unpack_from(">H", data, QWHS_LENGTH + 4)
    struct.pack_into(">H", data, QWHS_LENGTH + 4, length + longer)
    return bytes(data[4:])


A, B, C = (body(number) for number in range(3))
FOREIGN = foreign_record(30)[4:] + b"\1\2\3\4"
SIZE = len(A)


def rdw(data: bytes, longer: int = 0) -> bytes:
    """Return a record behind its RDW; `longer`: that says that it is so much longer."""
    return struct.pack(">HH", len(data) + 4 + longer, 0) + data


def prefixed(data: bytes, longer: int = 0) -> bytes:
    """Return a record behind a 4-byte length; `longer`: that says that it is so much longer."""
    return struct.pack(">I", len(data) + longer) + data


def block(*records: bytes) -> bytes:
    """Return a block of records with RDWs."""
    data = b"".join(records)
    return struct.pack(">HH", len(data) + 4, 0) + data


@dataclass(frozen=True)
class Found:
    """A file, and the records that have to be there."""

    framing: str
    pieces: tuple[bytes, ...]
    there: tuple[bytes, ...]


CORPUS = {
    "triplets that cover the next record": Found("none", (body(0, longer=SIZE), B, C), (B, C)),
    "triplets that cover one of another product": Found(
        "none", (body(0, longer=len(FOREIGN)), FOREIGN, B), (FOREIGN, B)
    ),
    "triplets that cover half of the next record": Found(
        "none", (body(0, longer=100), B, b"\n", C), (B, C)
    ),
    "triplets that cover two records with line ends between": Found(
        "none", (body(0, longer=SIZE + 9), B, b"\n", C, b"\n"), (B, C)
    ),
    "a record without its last byte in front of one of another product": Found(
        "none", (A[:-1], FOREIGN, B), (FOREIGN, B)
    ),
    "a record of which the start of another one has taken the middle": Found(
        "none", (A[:90], B, C), (B, C)
    ),
}


MARK = b"\xff\1"
DATE = 8
"""Byte of a body in which the year is."""
NO_RECORD = B[:DATE] + b"\xff" + B[DATE + 1 :]
CORPUS |= {
    "a last byte that makes a block descriptor word with those behind": Found(
        "bdw", (block(rdw(A), b"\x80\0\0", rdw(B)), block(rdw(C))), (A, B, C)
    ),
    "what is between FTP's marks and starts no record, with escapes": Found(
        "ftp-record", (b"\0" * 9 + b"\xff\xff" * 9 + MARK, A + MARK, B + MARK), (A, B)
    ),
    "what is between FTP's marks and starts with an escape": Found(
        "ftp-record", (A + MARK, b"\xff\xff" + b"\0" * 9 + MARK, B + MARK), (A, B)
    ),
    "a record without date, with escapes": Found(
        "ftp-record", (NO_RECORD.replace(b"\0\0\0", b"\xff\xff" * 3) + MARK, A + MARK), (A,)
    ),
    "a length that covers two records, the first of which is none": Found(
        "rdw", (rdw(A, longer=2 * SIZE + 8), rdw(NO_RECORD), rdw(B), rdw(C)), (B, C)
    ),
}


def in_ftp_blocks(data: bytes, size: int, longer: int = 0) -> bytes:
    """Return a record in blocks of FTP of up to `size` bytes; `longer`: of the last one."""
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    last = struct.pack(">BH", 0x80, len(pieces[-1]) + longer) + pieces[-1]
    return b"".join([*(struct.pack(">BH", 0, len(each)) + each for each in pieces[:-1]), last])


IN_BLOCKS = in_ftp_blocks(A, 100)
DAMAGED = struct.pack(">BH", 0, 1).join(in_ftp_blocks(A, 90).split(struct.pack(">BH", 0, 90)))
CORPUS |= {
    "a last block that covers records, the first of which is damaged": Found(
        "ftp-block",
        (
            in_ftp_blocks(A, 100, len(DAMAGED) + 2 * len(IN_BLOCKS)),
            DAMAGED,
            in_ftp_blocks(B, 100),
            in_ftp_blocks(C, 100),
        ),
        (B, C),
    ),
    "a record without its end, with triplets that tell more than there is": Found(
        "ftp-block",
        (
            struct.pack(">BH", 0, SIZE) + body(0, longer=0x4000),
            in_ftp_blocks(B, SIZE),
            in_ftp_blocks(C, SIZE),
        ),
        (B, C),
    ),
}

HEADER_END = 14
NO_SYSTEM = A[: HEADER_END - 4] + bytes(4) + A[HEADER_END:]
BY_CHANCE = B[:2] + bytes.fromhex("0063050A") + B[6:]
"""A record whose time, where its RDW is taken for the start of a header, reads as a date."""
NULL = struct.pack(">HH", 100, 0x8000) + bytes(96)
CORPUS |= {
    "a length that covers the next two, of a record with too long triplets": Found(
        "length",
        (prefixed(body(0, longer=0x7000), longer=2 * SIZE + 8), *map(prefixed, (B, C))),
        (B, C),
    ),
    "a record that took the place of triplets, in one that is longer than they tell": Found(
        "length", (prefixed(A[:120] + prefixed(B) + bytes(30)), prefixed(C)), (B, C)
    ),
    "a record that took the place of the system id and triplets": Found(
        "rdw", (rdw(NO_SYSTEM[:HEADER_END] + rdw(B) + bytes(30)), rdw(C)), (B, C)
    ),
    "a null segment that is a byte too short": Found(
        "rdw", (rdw(A), NULL[:-1], rdw(B), rdw(C)), (A, B, C)
    ),
    "a block that reads as a record where its first RDW is wrong": Found(
        "bdw",
        (block(rdw(A)), block(struct.pack(">HH", SIZE + 4, 0x40) + BY_CHANCE), block(rdw(C))),
        (A, C),
    ),
}

TRAILER = foreign_record(3)[4:]
PADDED = FOREIGN.ljust(508, b"\0")
"""A record with an RDW of 512 bytes: behind a line end that reads as the RDW of a piece."""
BY_CHANCE_A_BLOCK = A[:-4] + bytes.fromhex("00500000")


def in_segments(data: bytes, size: int) -> bytes:
    """Return a record in segments of `size` bytes, each behind its RDW."""
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    codes = [1, *[3] * (len(pieces) - 2), 2] if len(pieces) > 1 else [0]
    return b"".join(
        struct.pack(">HBB", len(each) + 4, code, 0) + each
        for each, code in zip(pieces, codes, strict=True)
    )


def ftp_block(data: bytes, ends: bool = True) -> bytes:
    """Return a block of FTP's block mode; `ends`: and a record with it."""
    return struct.pack(">BH", 0x80 if ends else 0, len(data)) + data


CORPUS |= {
    "a record without date in segments that are shorter than its header": Found(
        "rdw", (rdw(A), in_segments(NO_RECORD, 10), rdw(B)), (A, B)
    ),
    "a whole record in front of a segment that goes on with none, and of damage": Found(
        "rdw",
        (rdw(TRAILER), struct.pack(">HH", 104, 0x200) + bytes(100), b"\xff" * 9, rdw(B), rdw(C)),
        (TRAILER, B, C),
    ),
    "a length that covers the next two, of a record that ends as a block begins": Found(
        "bdw",
        (block(rdw(BY_CHANCE_A_BLOCK, longer=2 * SIZE + 8), rdw(B), rdw(C)), block(rdw(A))),
        (BY_CHANCE_A_BLOCK, B, C, A),
    ),
    "a record without its end, that covers the last one of the file": Found(
        "ftp-block",
        (
            ftp_block(A[:100], ends=False)
            + ftp_block(A[100:150] + ftp_block(TRAILER), ends=False)[: 3 + 50],
            ftp_block(TRAILER),
        ),
        (TRAILER,),
    ),
    "a record without date or end in front of another one": Found(
        "ftp-block",
        (ftp_block(NO_RECORD, ends=False), ftp_block(B), ftp_block(C)),
        (B, C),
    ),
    "line ends that make RDWs with the lengths behind them": Found(
        "rdw", (rdw(A) + b"\r\n", rdw(PADDED) + b"\r\n", rdw(B) + b"\r\n"), (A, PADDED, B)
    ),
    "line ends in blocks that make RDWs with the lengths behind them": Found(
        "bdw",
        (block(rdw(A), rdw(PADDED), rdw(B)).replace(rdw(PADDED), b"\r\n" + rdw(PADDED)),),
        (A, PADDED, B),
    ),
    "a length that covers a whole record and damage behind it": Found(
        "rdw",
        (rdw(FOREIGN, longer=38), rdw(TRAILER), b"\xff" * 20, rdw(C)),
        (FOREIGN, TRAILER, C),
    ),
}

THIRD = SIZE // 3 + 1
COVERING = struct.pack(">HH", SIZE + 4 + SIZE + 4, 0x200) + A
"""A segment that goes on with no record, of which the length covers the next record."""
CORPUS |= {
    "a segment that goes on with no record and covers one": Found(
        "rdw", (COVERING, rdw(B), rdw(C)), (B, C)
    ),
    "a length that reaches into a record which reads as a segment there": Found(
        "rdw", (rdw(FOREIGN, longer=3), rdw(TRAILER), b"\xff" * 9, rdw(C)), (TRAILER, C)
    ),
    "a record without its last bytes, of which the length covers the next one": Found(
        "ftp-block",
        (struct.pack(">BH", 0x80, 2 * SIZE) + A[:-3], ftp_block(B), ftp_block(C)),
        (B, C),
    ),
    "records of three segments with line ends between, behind damage": Found(
        "rdw",
        (b"\xff" * 9, *(in_segments(each, THIRD) + b"\n" for each in (A, B, C))),
        (A, B, C),
    ),
}

CORPUS |= {
    f"records of which the {what} is damaged, behind one of another product": Found(
        "none", (FOREIGN, spoiled(B), spoiled(C), A), (FOREIGN, A)
    )
    for what, spoiled in {
        "flag": lambda data: b"\x80" + data[1:],
        "time": lambda data: data[:2] + b"\x7f" + data[3:],
        "date": lambda data: data[:DATE] + b"\xff" + data[DATE + 1 :],
        "system": lambda data: data[:10] + b"\0" + data[11:],
    }.items()
}


@pytest.mark.parametrize("what", CORPUS)
def test_what_was_lost_once_is_there_and_all_else_is_told(read: Read, what: str) -> None:
    found = CORPUS[what]
    data = b"".join(found.pieces)
    reading = read(data, framing=found.framing)
    assert [each for each in reading.bodies if each != A or A in found.there] == [*found.there]
    told = {at for start, end in reading.told(len(data)) for at in range(start, end)}
    assert told >= set(gone(found))


def gone(found: Found) -> Iterator[int]:
    """Yield the bytes of the pieces of a file in which no record is, but for their marks."""
    at = 0
    for each in found.pieces:
        if not any(is_in(record, each) for record in found.there):
            yield from range(at, at + len(each.removesuffix(MARK)))
        at += len(each)


def test_a_length_that_reaches_into_the_next_record_costs_its_own_wherever_it_is(
    read: Read,
) -> None:
    """Also if the bytes there lead far on; and few records are read at once behind damage."""
    far, at = struct.pack(">HH", 0x7000, 0), SIZE - 40
    next_one = B[:at] + far + B[at + len(far) :]
    damaged = rdw(A, longer=4 + at)
    for count in range(0, 15, 2):
        before = [FOREIGN + bytes(100)] * count
        front = bytes([255] * 20) + b"".join(map(rdw, before))
        found = [
            each
            for each in read(front + damaged + rdw(next_one) + rdw(C) * 9, framing="rdw").bodies
            if each != A
        ]
        assert found == [*before, next_one, *[C] * 9], count


SMALL = Limits(chunk_bytes=1 << 12, max_spanned=1 << 11)


def test_a_length_that_reaches_into_the_next_record_costs_its_own_where_the_bytes_in_memory_end(
    read: Read,
) -> None:
    for size in range(3500, 4200, 23):
        before = [foreign_record(30)[4:] + bytes(size // 20) for _ in range(20)]
        assert read(
            b"".join(map(rdw, before)) + rdw(A)[:-9] + rdw(B) + rdw(C), limits=SMALL, framing="rdw"
        ).bodies == [*before, B, C], size


def test_a_file_of_which_a_part_was_translated_is_read(read: Read) -> None:
    assert read(rdw(translated(A, "cp500")) + rdw(B) + rdw(C)).bodies == [B, C]


def is_in(record: bytes, piece: bytes) -> bool:
    """Whether a record is in a piece of a file, perhaps itself in blocks of 100 bytes or thirds."""
    thirds = in_segments(record, THIRD)
    return record in piece or in_ftp_blocks(record, 100) == piece or thirds in piece


def test_a_trailer_at_the_end_is_found_however_much_is_damaged_before(read: Read) -> None:
    for size in range(980, 1040):
        assert read(b"\xff" * size + rdw(TRAILER), framing="rdw").bodies == [TRAILER], size


ZERO = A.index(b"\0\0", 40)
SHORT_NULL = struct.pack(">HH", 4, 0x8000)
FIRST_OF_TWO = struct.pack(">HH", 4 + ZERO, 0x100) + A[:ZERO]
LAST_OF_TWO = struct.pack(">HH", 4 + SIZE - ZERO, 0x200) + A[ZERO:]


@pytest.mark.parametrize(
    ("framing", "data", "there"),
    [
        ("rdw", rdw(A) + NULL + NULL + rdw(B) + NULL, [A, B]),
        ("bdw", block(NULL) + block(rdw(A)) + block(rdw(B)), [A, B]),
        ("rdw", FIRST_OF_TWO + SHORT_NULL + LAST_OF_TWO + rdw(B), [A, B]),
    ],
    ids=["behind each other", "a block at the start", "in front of a segment with zeros"],
)
def test_null_segments_are_no_damage(
    read: Read, framing: str, data: bytes, there: list[bytes]
) -> None:
    found = read(data, framing=framing)
    assert (found.bodies, found.damage) == (there, [])


def test_a_line_end_behind_a_mark_is_named_as_one_whatever_escapes_are_in_front(read: Read) -> None:
    escaped = (B[:-4] + b"\xff" * 4).replace(b"\xff", b"\xff\xff")
    found = read(escaped + MARK + b"\r\n" + A + MARK + C + MARK, framing="ftp-record")
    assert found.bodies == [B[:-4] + b"\xff" * 4, A, C]
    assert [each.reason for each in found.damage] == [
        "a line end after a record, as added by a transfer in text mode"
    ]


@pytest.mark.parametrize("damaged", [NO_SYSTEM, body(0, longer=0x7000)], ids=["header", "triplets"])
def test_a_header_in_a_damaged_record_is_told_though_it_leads_nowhere(
    tmp_path: Path, damaged: bytes
) -> None:
    """Once, wherever the bytes in memory end."""
    path = tmp_path / "input"
    with_header = damaged[:60] + b"\0\xff\0\0" + B[:-64]
    before = [FOREIGN] * 200
    data = b"".join(map(rdw, [*before, with_header, C]))
    path.write_bytes(data)
    for limits in (SMALL, LIMITS):
        found = Reading(path, limits=limits, framing="rdw")
        assert found.bodies == [*before, with_header, C]
        at = len(data) - SIZE - 4 - len(with_header) + 60
        assert [(each.offset, each.length) for each in found.damage] == [(at, 0)]


def test_a_record_without_lengths_that_the_end_of_the_file_cuts_is_read_and_told(
    read: Read,
) -> None:
    for left in (60, SIZE - 1):
        found = read(A + FOREIGN + B[:left], framing="none")
        assert found.bodies == [A, FOREIGN, B[:left]]
        (told,) = found.damage
        assert (told.offset, told.length) == (SIZE + len(FOREIGN), 0)
        reason = "the file is cut in this record, or its triplets are damaged"
        assert told.reason.startswith(reason)


COVERED = rdw(B, longer=7)
"""A record of which the length is wrong."""


@pytest.mark.parametrize(
    ("pieces", "there"),
    [
        ((rdw(FOREIGN + COVERED, longer=2 * SIZE + 8), rdw(C), rdw(A)), (FOREIGN + COVERED, C, A)),
        ((rdw(FOREIGN + COVERED), rdw(C)), (FOREIGN + COVERED, C)),
        ((rdw(A + bytes(9) + COVERED), b"\xff" * 9, rdw(C)), (A + bytes(9) + COVERED, C)),
        ((rdw(FOREIGN + COVERED), b"\xff" * 9, rdw(C)), (FOREIGN + COVERED, C)),
    ],
    ids=["with others", "alone", "in front of damage", "of another product, in front of damage"],
)
def test_a_record_with_a_wrong_length_that_another_one_covers_is_told(
    read: Read, pieces: tuple[bytes, ...], there: tuple[bytes, ...]
) -> None:
    found = read(b"".join([rdw(C), *pieces]), framing="rdw")
    assert found.bodies == [C, *there]
    assert pieces[0].index(COVERED) + SIZE + 4 in [each.offset for each in found.damage]


def test_a_header_in_a_record_of_small_blocks_is_told_where_its_triplets_end(read: Read) -> None:
    """Its triplets are in the first two blocks; the last block covers a damaged record."""
    damaged = b"\x80\0\xff" + B
    blocks = ftp_block(A[:32], ends=False) + ftp_block(A[32:] + damaged)
    found = read(blocks + ftp_block(C), framing="ftp-block")
    assert found.bodies == [A + damaged, C]
    assert blocks.index(damaged) in [each.offset for each in found.damage]


STRAY = b"\xff" * 50
ESCAPED = B[:-2] + b"\xff\1"
FIRST, LAST = rdw(B)[:100], rdw(B)[100:]
IN_LINES = (
    struct.pack(">HH", SIZE + 4 + 104, 0)
    + rdw(A)
    + b"\r\n"
    + struct.pack(">HH", 100, 0x100)
    + FIRST[4:]
    + struct.pack(">HH", len(LAST) + 8 + SIZE + 4, 0)
    + struct.pack(">HH", len(LAST) + 4, 0x200)
    + LAST
    + b"\r\n"
    + rdw(C)
    + b"\r\n"
)
"""Two blocks with line ends in them, and a record in both."""
IN_BLOCKS_CUT = (
    b"\0\0\0"
    + struct.pack(">HH", 100, 0x100)
    + FIRST[4:]
    + block(struct.pack(">HH", len(LAST) + 4, 0x200) + LAST, rdw(C))
    + b"\r%"
)
"""Two blocks, the first without its first byte, and a record in both."""
LONGER = A[:-9] + bytes(5) + A[-9:]
NOISY = B[:90] + b"\xff\x09\xff\1" + B[94:]


FRAMED: dict[str, tuple[str, bytes, list[bytes]]] = {
    "what seems a block of FTP": ("none", ftp_block(b"12345", ends=False) + STRAY + A + B, [A, B]),
    "what seems a length": (
        "none",
        struct.pack(">I", SIZE + 40) + A + b"\n" + B + b"\n" + C,
        [A, B, C],
    ),
    "one good mark of two": (
        "ftp-record",
        A + b"\xff\x11" + ESCAPED.replace(b"\xff", b"\xff\xff") + MARK,
        [A, ESCAPED],
    ),
    "blocks with line ends": ("bdw", IN_LINES, [A, B, C]),
    "blocks, the first and last of which are damaged": ("bdw", IN_BLOCKS_CUT, [B, C]),
    "what leads to another one, not a single one that says how long it is": (
        "ftp-block",
        b"\x80\xff\xff" + A + ftp_block(FOREIGN) * 2,
        [FOREIGN, FOREIGN],
    ),
    "a mark in front of a record that is cut": ("ftp-record", FOREIGN + MARK + B[:90], [FOREIGN]),
    "marks, most of them of damaged records": (
        "ftp-record",
        MARK.join([LONGER, FOREIGN, B, LONGER, b""]),
        [LONGER, FOREIGN, B, LONGER],
    ),
    "marks with line ends around them": (
        "ftp-record",
        b"".join(each + b"\n" + MARK + b"\r\n" for each in (A, B, C)),
        [A + b"\n", B, C],
    ),
    "marks in records that are none": ("none", A + MARK + NOISY + NOISY, [A, NOISY, NOISY]),
    "records of another product that lead to one of MQ, of which the descriptor word is wrong": (
        "rdw",
        rdw(FOREIGN) * 2 + struct.pack(">HH", SIZE + 4, 0x0200) + A,
        [FOREIGN, FOREIGN],
    ),
    "records of another product that lead to one of MQ, of which the length is wrong": (
        "length",
        prefixed(FOREIGN) * 3 + prefixed(A, longer=1 << 20),
        [FOREIGN, FOREIGN, FOREIGN],
    ),
}
"""Framing, bytes, and the records that are there."""


@pytest.mark.parametrize("what", FRAMED)
def test_the_framing_is_that_of_whole_records(tmp_path: Path, what: str) -> None:
    framing, data, there = FRAMED[what]
    path = tmp_path / "input"
    path.write_bytes(data)
    assert look_at(path)[1].name == framing
    assert Reading(path).bodies == there
