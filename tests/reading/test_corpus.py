"""Small damaged files of which something was lost or mistaken once, most found by tools/corrupt.py.

Each says which of its records have to be there; of the others, and of all else in the file, the
damage log has to have every byte.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smfparse.limits import LIMITS, Limits
from smfparse.reading.detection import probe
from tests.support import builders
from tests.support.builders import foreign_record, segments
from tests.support.reading import Read
from tests.support.searching import search
from tests.support.tools import tool
from tests.support.variants import bdw, ftp_block, ftp_record, no_prefix, translated

QWHS_LENGTH = 32
"""Byte of a record in which the length of the QWHS area is, by the first triplet."""


def body(number: int, longer: int = 0, filler: bytes = b"", name: str = "MQ01") -> bytes:
    """Return a record of MQ without its RDW.

    longer  bytes that it is longer by its triplets
    filler  what is in its block in front of QWHS
    name    of the queue manager in QWHS
    """
    block = builders.named_block("QIST", 80 - len(filler)) + filler
    area = builders.qwhs_long()
    area = area[:12] + builders.ebcdic(name, 4) + area[16:]
    blocks = builders.NOTHING, builders.Section([block])
    data = bytearray(builders.smf_record(115, 2, *blocks, area=area, qmgr=f"Q{number:03}"))
    struct.pack_into(">H", data, QWHS_LENGTH, len(area) + longer)
    return bytes(data[4:])


A, B, C = (body(number) for number in range(3))
FOREIGN = foreign_record(30)[4:] + b"\1\2\3\4"
TRAILER = foreign_record(3)[4:]
SIZE, THIRD = len(A), len(A) // 3 + 1
MARK = b"\xff\1"
STRAY = b"\xff" * 9


def rdw(data: bytes, longer: int = 0, code: int = 0) -> bytes:
    """Return a record behind its RDW; `longer`: that says that it is so much longer."""
    return struct.pack(">HBB", len(data) + 4 + longer, code, 0) + data


def prefixed(data: bytes, longer: int = 0) -> bytes:
    """Return a record behind a 4-byte length; `longer`: that says that it is so much longer."""
    return struct.pack(">I", len(data) + longer) + data


def block(*records: bytes) -> bytes:
    data = b"".join(records)
    return bdw(len(data)) + data


def in_segments(data: bytes, size: int) -> bytes:
    """Return a record in segments of `size` bytes, each behind its RDW."""
    cuts = range(size, len(data), size)
    return b"".join(segments(rdw(data), cuts)) if cuts else rdw(data)


def ftp(data: bytes, ends: bool = True, longer: int = 0) -> bytes:
    """Return a block of FTP's block mode; `ends`: and a record with it."""
    return struct.pack(">BH", 0x80 if ends else 0, len(data) + longer) + data


def in_blocks(data: bytes) -> bytes:
    """Return a record in blocks of FTP of up to 100 bytes."""
    return ftp_block([data], 100).data


DATE, SYSTEM, HEADER_END = 8, 10, 14
"""Bytes of a body in which the year is, the system id is, and the triplets may be."""
NO_RECORD = B[:DATE] + b"\xff" + B[DATE + 1 :]
NO_SYSTEM = A[:SYSTEM] + bytes(4) + A[HEADER_END:]
BY_CHANCE = B[:2] + bytes.fromhex("0063050A") + B[6:]
"""A record whose time, where its RDW is taken for the start of a header, reads as a date."""
BY_CHANCE_A_BLOCK = A[:-4] + bytes.fromhex("00500000")
NULL = rdw(bytes(96), code=0x80)
PADDED = FOREIGN.ljust(508, b"\0")
"""A record with an RDW of 512 bytes: behind a line end that reads as the RDW of a piece."""
DAMAGED = ftp_block([A], 90).data.replace(struct.pack(">BH", 0, 90), struct.pack(">BH", 0, 1))


class File(NamedTuple):
    """A file in pieces, and the records that have to be there."""

    framing: str
    pieces: Sequence[bytes]
    there: Sequence[bytes]


CORPUS = {
    "triplets that cover the next record": File("none", [body(0, longer=SIZE), B, C], [B, C]),
    "triplets that cover another": File("none", [body(0, len(FOREIGN)), FOREIGN, B], [FOREIGN, B]),
    "triplets that cover half a record": File("none", [body(0, 100), B, b"\n", C], [B, C]),
    "triplets over line ends": File("none", [body(0, longer=SIZE + 9), B, b"\n", C, b"\n"], [B, C]),
    "a last byte is gone": File("none", [A[:-1], FOREIGN, B], [FOREIGN, B]),
    "a record starts in the middle of another one": File("none", [A[:90], B, C], [B, C]),
    **{
        f"records of which the {what} is damaged, behind one of another product": File(
            "none", [FOREIGN, spoiled(B), spoiled(C), A], [FOREIGN, A]
        )
        for what, spoiled in {
            "flag": lambda data: b"\x80" + data[1:],
            "time": lambda data: data[:2] + b"\x7f" + data[3:],
            "date": lambda data: data[:DATE] + b"\xff" + data[DATE + 1 :],
            "system": lambda data: data[:SYSTEM] + b"\0" + data[SYSTEM + 1 :],
        }.items()
    },
    "a length that covers two records, the first of which is none": File(
        "rdw", [rdw(A, longer=2 * SIZE + 8), rdw(NO_RECORD), rdw(B), rdw(C)], [B, C]
    ),
    "a record that took the place of the system id and triplets": File(
        "rdw", [rdw(NO_SYSTEM[:HEADER_END] + rdw(B) + bytes(30)), rdw(C)], [B, C]
    ),
    "a null segment too short": File("rdw", [rdw(A), NULL[:-1], rdw(B), rdw(C)], [A, B, C]),
    "no date, in short segments": File("rdw", [rdw(A), in_segments(NO_RECORD, 10), rdw(B)], [A, B]),
    "a whole record in front of a segment that goes on with none, and of damage": File(
        "rdw", [rdw(TRAILER), rdw(bytes(100), code=2), STRAY, rdw(B), rdw(C)], [TRAILER, B, C]
    ),
    "line ends that make RDWs with the lengths behind them": File(
        "rdw", [rdw(A) + b"\r\n", rdw(PADDED) + b"\r\n", rdw(B) + b"\r\n"], [A, PADDED, B]
    ),
    "a length that covers a whole record and damage behind it": File(
        "rdw", [rdw(FOREIGN, longer=38), rdw(TRAILER), b"\xff" * 20, rdw(C)], [FOREIGN, TRAILER, C]
    ),
    "an orphan over others": File("rdw", [rdw(A, longer=SIZE + 4, code=2), rdw(B), rdw(C)], [B, C]),
    "a length that reaches into a record which reads as a segment there": File(
        "rdw", [rdw(FOREIGN, longer=3), rdw(TRAILER), STRAY, rdw(C)], [TRAILER, C]
    ),
    "records of three segments with line ends between, behind damage": File(
        "rdw", [STRAY, *(in_segments(each, THIRD) + b"\n" for each in (A, B, C))], [A, B, C]
    ),
    "a last byte that makes a block descriptor word with those behind": File(
        "bdw", [block(rdw(A), b"\x80\0\0", rdw(B)), block(rdw(C))], [A, B, C]
    ),
    "a block that reads as a record where its first RDW is wrong": File(
        "bdw", [block(rdw(A)), block(b"\0\xb8\0\x40" + BY_CHANCE), block(rdw(C))], [A, C]
    ),
    "a length that covers the next two, of a record that ends as a block begins": File(
        "bdw",
        [block(rdw(BY_CHANCE_A_BLOCK, longer=2 * SIZE + 8), rdw(B), rdw(C)), block(rdw(A))],
        [BY_CHANCE_A_BLOCK, B, C, A],
    ),
    "a length that reaches into the next record, behind damage": File(
        "bdw",
        [block(rdw(C) * 90) * 2, STRAY, rdw(A), rdw(FOREIGN, 51), rdw(B) * 2],
        [*[C] * 180, A, FOREIGN, B, B],
    ),
    "line ends in blocks that make RDWs with the lengths behind them": File(
        "bdw",
        [block(rdw(A), rdw(PADDED), rdw(B)).replace(rdw(PADDED), b"\r\n" + rdw(PADDED))],
        [A, PADDED, B],
    ),
    "a length that covers the next two, of a record with too long triplets": File(
        "length", [prefixed(body(0, 0x7000), 2 * SIZE + 8), prefixed(B), prefixed(C)], [B, C]
    ),
    "a record that took the place of triplets, in one that is longer than they tell": File(
        "length", [prefixed(A[:120] + prefixed(B) + bytes(30)), prefixed(C)], [B, C]
    ),
    "a last block that covers records, the first of which is damaged": File(
        "ftp-block",
        [
            ftp(A[:100], ends=False) + ftp(A[100:], longer=len(DAMAGED) + 2 * len(in_blocks(A))),
            *(DAMAGED, in_blocks(B), in_blocks(C)),
        ],
        [B, C],
    ),
    "a record without its end, with triplets that tell more than there is": File(
        "ftp-block", [ftp(body(0, longer=0x4000), ends=False), ftp(B), ftp(C)], [B, C]
    ),
    "a record without its end, that covers the last one of the file": File(
        "ftp-block",
        [ftp(A[:100], ends=False) + ftp(A[100:150], False, len(ftp(TRAILER))), ftp(TRAILER)],
        [TRAILER],
    ),
    "no date and no end": File("ftp-block", [ftp(NO_RECORD, ends=False), ftp(B), ftp(C)], [B, C]),
    "a record without its last bytes, of which the length covers the next one": File(
        "ftp-block", [ftp(A[:-3], longer=SIZE + 3), ftp(B), ftp(C)], [B, C]
    ),
    "what is between FTP's marks and starts no record, with escapes": File(
        "ftp-record", [b"\0" * 9 + b"\xff\xff" * 9 + MARK, A + MARK, B + MARK], [A, B]
    ),
    "what is between FTP's marks and starts with an escape": File(
        "ftp-record", [A + MARK, b"\xff\xff" + b"\0" * 9 + MARK, B + MARK], [A, B]
    ),
    "a mark that is damaged, behind a record that does not tell its length": File(
        "ftp-record",
        [FOREIGN + b"\xff\x11", FOREIGN + b"\x0f\1", A + MARK, B + MARK],
        [FOREIGN, FOREIGN, A, B],
    ),
    "a record without date, with escapes": File(
        "ftp-record", [NO_RECORD.replace(b"\0\0\0", b"\xff\xff" * 3) + MARK, A + MARK], [A]
    ),
}


@pytest.mark.parametrize("what", CORPUS)
def test_what_was_lost_once_is_there_and_all_else_is_told(read: Read, what: str) -> None:
    framing, pieces, there = CORPUS[what]
    data = b"".join(pieces)
    reading = read(data, framing=framing)
    assert [each for each in reading.bodies if each != A or A in there] == there
    told = {at for start, end in reading.told(len(data)) for at in range(start, end)}
    at = 0
    for piece in pieces:
        forms = (form for each in there for form in (each, in_segments(each, THIRD)))
        if not any(form in piece for form in forms) and piece not in map(in_blocks, there):
            assert told >= {*range(at, at + len(piece.removesuffix(MARK)))}
        at += len(piece)


SMALL = Limits(chunk_bytes=1 << 12, max_spanned=1 << 11)


def test_a_length_that_reaches_into_the_next_record_costs_its_own_wherever_it_is(read: Read):
    """Also if the bytes there lead far on, or those in memory end.

    Behind damage few records are read at once.
    """
    far, at = struct.pack(">HH", 0x7000, 0), SIZE - 40
    next_one = B[:at] + far + B[at + len(far) :]
    for count in range(0, 15, 2):
        before = [FOREIGN + bytes(100)] * count
        data = [b"\xff" * 20, *map(rdw, before), rdw(A, longer=4 + at), rdw(next_one), rdw(C) * 9]
        found = [each for each in read(b"".join(data), framing="rdw").bodies if each != A]
        assert found == [*before, next_one, *[C] * 9], count
    for size in range(3500, 4200, 23):
        before = [foreign_record(30)[4:] + bytes(size // 20)] * 20
        data = [*map(rdw, before), rdw(A)[:-9], rdw(B), rdw(C)]
        assert read(b"".join(data), limits=SMALL, framing="rdw").bodies == [*before, B, C], size


def test_a_trailer_at_the_end_is_found_however_much_is_damaged_before(read: Read) -> None:
    for size in range(980, 1040):
        assert read(b"\xff" * size + rdw(TRAILER), framing="rdw").bodies == [TRAILER], size
    found = read(rdw(C) + b"\xff" * 3850 + rdw(A) * 9, limits=SMALL, framing="rdw")
    assert found.reasons == ["no SMF record starts here"]


ZERO = A.index(b"\0\0", 40)
IN_TWO = rdw(A[:ZERO], code=1) + rdw(b"", code=0x80) + rdw(A[ZERO:], code=2)


def test_null_segments_are_no_damage(read: Read) -> None:
    """Behind each other, as a block at the start, or in front of a segment with zeros."""
    for framing, data in (
        ("rdw", rdw(A) + NULL + NULL + rdw(B) + NULL),
        ("bdw", block(NULL) + block(rdw(A)) + block(rdw(B))),
        ("rdw", IN_TWO + rdw(B)),
    ):
        found = read(data, framing=framing)
        assert (found.bodies, found.damage) == ([A, B], []), data


def test_a_line_end_behind_a_mark_is_named_as_one_whatever_escapes_are_in_front(read: Read) -> None:
    escaped = (B[:-4] + b"\xff" * 4).replace(b"\xff", b"\xff\xff")
    found = read(escaped + MARK + b"\r\n" + A + MARK + C + MARK, framing="ftp-record")
    assert found.bodies == [B[:-4] + b"\xff" * 4, A, C]
    assert found.reasons == ["a line end after a record, as added by a transfer in text mode"]


def test_a_header_in_a_damaged_record_is_told_though_it_leads_nowhere(read: Read) -> None:
    """Once, wherever the bytes in memory end; the header or the triplets are damaged."""
    for damaged, limits in product((NO_SYSTEM, body(0, longer=0x7000)), (SMALL, LIMITS)):
        with_header = damaged[:60] + b"\0\xff\0\0" + B[:-64]
        records = [*[FOREIGN] * 200, with_header, C]
        data = b"".join(map(rdw, records))
        found = read(data, limits=limits, framing="rdw")
        assert found.bodies == records
        assert found.places == [(data.index(with_header) + 60, 0)]


def test_a_record_without_lengths_that_the_end_of_the_file_cuts_is_read_and_told(read: Read):
    for left in (60, SIZE - 1):
        found = read(A + FOREIGN + B[:left], framing="none")
        assert found.bodies == [A, FOREIGN, B[:left]]
        assert found.places == [(SIZE + len(FOREIGN), 0)]
        reason = "the file is truncated in this record, or its triplets are damaged"
        assert found.reasons[0].startswith(reason)
    many = [FOREIGN + bytes(300)] * 200
    limits = Limits(chunk_bytes=40_000, max_spanned=1 << 11)
    assert read(b"".join(many), framing="none", limits=limits).bodies == many
    found = read(ftp(A) + ftp(B)[:-3], framing="ftp-block")
    assert (found.bodies, found.places) == ([A], [(SIZE + 3, SIZE)])


COVERED = rdw(B, longer=7)
"""A record of which the length is wrong."""


def test_a_record_with_a_wrong_length_that_another_one_covers_is_told(path: Path, read: Read):
    """With others, alone, and in front of damage."""
    for outer, longer, behind, there in (
        (FOREIGN + COVERED, 2 * SIZE + 8, [rdw(C), rdw(A)], [C, A]),
        (FOREIGN + COVERED, 0, [rdw(C)], [C]),
        (A + bytes(9) + COVERED, 0, [STRAY, rdw(C)], [C]),
        (FOREIGN + COVERED, 0, [STRAY, rdw(C)], [C]),
    ):
        found = read(data := b"".join([rdw(C), rdw(outer, longer), *behind]), framing="rdw")
        assert found.bodies == [C, outer, *there]
        assert data.index(COVERED) in [each.offset for each in found.damage]
    found = read(FIRST + b"\n" + rdw(B) + STRAY + rdw(C), framing="rdw")
    assert found.places == [(0, 100), (100, 1), (SIZE + 105, len(STRAY))]
    for data in (rdw(C) + rdw(FOREIGN + rdw(B)), rdw(C) + STRAY + rdw(B)):
        read(data, "rdw")
        assert probe(path)[1].why.startswith("the first 2 records have ")


def test_a_header_in_a_record_of_small_blocks_is_told_where_its_triplets_end(read: Read) -> None:
    """Its triplets are in the first two blocks; the last block covers a damaged record."""
    damaged = b"\x80\0\xff" + B
    found = read(data := ftp(A[:32], False) + ftp(A[32:] + damaged) + ftp(C), framing="ftp-block")
    assert found.bodies == [A + damaged, C]
    assert data.index(damaged) in [each.offset for each in found.damage]


# Which framing it is: read as another one, escapes stay or bytes go, and nothing says so.


M, N = (body(number, filler=b"\xff" * 20, name=f"Q{number:03}") for number in (1, 2))
PLAIN = body(3, name="Q003")
"""A record without any FF."""
ESCAPED = B[:-2] + b"\xff\1"
FIRST, LAST = rdw(B[:96], code=1), rdw(B[96:], code=2)
IN_LINES = [
    *(bdw(len(rdw(A)) + len(FIRST)), rdw(A), b"\r\n", FIRST),
    *(bdw(len(LAST) + len(rdw(C))), LAST, b"\r\n", rdw(C), b"\r\n"),
]
"""Two blocks with line ends in them, and a record in both."""
LONGER = A[:-9] + bytes(5) + A[-9:]
NOISY = B[:90] + b"\xff\x09\xff\1" + B[94:]
LONE = FOREIGN[:-4] + MARK


def escaped(data: bytes) -> bytes:
    return data.replace(b"\xff", b"\xff\xff")


FRAMED = {
    "a record was translated": File("rdw", [rdw(translated(A, "cp500")), rdw(B), rdw(C)], [B, C]),
    "what seems a block of FTP": File("none", [ftp(b"12345", False), b"\xff" * 50, A, B], [A, B]),
    "what seems a length": File("none", [b"\0\0\0\xdc", A, b"\n", B, b"\n", C], [A, B, C]),
    "one mark of two": File("ftp-record", [A, b"\xff\x11", escaped(ESCAPED), MARK], [A, ESCAPED]),
    "blocks with line ends": File("bdw", IN_LINES, [A, B, C]),
    "blocks, damaged at ends": File("bdw", [b"\0\0\0", FIRST, block(LAST, rdw(C)), b"\r%"], [B, C]),
    "what leads to another one, not a single one that says how long it is": File(
        "ftp-block", [b"\x80\xff\xff", A, ftp(FOREIGN) * 2], [FOREIGN] * 2
    ),
    "a mark in front of a cut record": File("ftp-record", [FOREIGN, MARK, B[:90]], [FOREIGN]),
    "marks, most of them of damaged records": File(
        "ftp-record",
        [each + MARK for each in (LONGER, FOREIGN, B, LONGER)],
        [LONGER, FOREIGN, B, LONGER],
    ),
    "marks with line ends around them": File(
        "ftp-record", [each + b"\n" + MARK + b"\r\n" for each in (A, B, C)], [A + b"\n", B, C]
    ),
    "marks in records that are none": File("none", [A, MARK, NOISY, NOISY], [A, NOISY, NOISY]),
    "others, and a wrong RDW of MQ": File("rdw", [rdw(FOREIGN) * 2, rdw(A, code=2)], [FOREIGN] * 2),
    "records of another product that lead to one of MQ, whose length is wrong": File(
        "length", [prefixed(FOREIGN) * 3, prefixed(A, longer=1 << 20)], [FOREIGN] * 3
    ),
    "damage behind the first record of which anything is left": File(
        "ftp-record", [bytes(40), MARK, escaped(M), MARK, bytes(3000), MARK], [M]
    ),
    "damage between two records": File(
        "ftp-record", [escaped(M), MARK, bytes(3000), escaped(N), MARK, bytes(900)], [M, N]
    ),
    "a mark is lost": File("ftp-record", [PLAIN, escaped(M), MARK], [PLAIN, M]),
    "the last mark ends it": File("ftp-record", [escaped(M), MARK, bytes(90), b"\xff\3"], [M]),
    "a mark between whole records by chance": File("none", [M, N, MARK, M], [M, N, M]),
    "two framings, the first is meant": File("ftp-block", [ftp(A), ftp(B), rdw(C), rdw(A)], [A, B]),
    "records, and behind a line end blocks": File(
        "bdw", [rdw(A) * 40, b"\n", block(rdw(B), rdw(C)), block(rdw(B))], [*[A] * 40, B, C, B]
    ),
    "a mark behind damage by chance": File("none", [bytes(50), M, MARK, M, N], [M, M, N]),
    "marks in damage": File("none", [MARK, A, bytes(9), MARK, bytes(9), B], [A, B]),
    "marks at the end of each record": File("none", [M[:-2] + MARK] * 3, [M[:-2] + MARK] * 3),
    "a mark at the end of a record with no length in it": File("none", [M, LONE, N], [M, LONE, N]),
}


@pytest.mark.parametrize("what", FRAMED)
def test_the_framing_is_that_of_whole_records_and_their_ends(read: Read, what: str) -> None:
    framing, pieces, there = FRAMED[what]
    assert read(b"".join(pieces), framing).bodies == there


def test_a_record_that_is_escaped_is_told_rather_than_read_with_its_bytes_shifted(read: Read):
    """Its mark is gone: neither framing fits, but QWHS is where it is behind escapes only.

    Who asks for no framing gets the bytes as they are.
    """
    data = PLAIN + PLAIN + escaped(M) + b"\xee" * 9
    found = read(data)
    assert (found.bodies, found.places[0]) == ([PLAIN, PLAIN], (2 * len(PLAIN), len(M)))
    assert "--framing ftp-record or --framing none" in found.reasons[0]
    assert read(data, framing="none").bodies == [PLAIN, PLAIN, escaped(M)[: len(M)]]
    assert read(M + b"\xee" * 9).bodies == [M]


def test_a_record_whose_last_bytes_may_be_escaped_is_kept_if_enough_others_lack_marks(read: Read):
    """Nothing in it shows whether the last FFs are one or two."""
    doubtful = M[:-8] + b"\0\0\xff\xff\0\0\0\1"
    assert read(doubtful + b"\xee" * 9).bodies == []
    assert read(N + N + doubtful + b"\xee" * 9).bodies == [N, N, doubtful]


def test_marks_are_counted_behind_the_first_megabyte(read: Read) -> None:
    """Detection sees nothing but `none` fit; the marks further on show what the records are."""
    found = read(PLAIN * 3 + bytes(1 << 20) + (escaped(M) + MARK) * 9, "none")
    assert found.bodies == [PLAIN] * 3
    assert sum("escapes of FTP" in each for each in found.reasons) == 9


samples = tool("corruption.samples")
MAKERS = {"m": samples.made, "f": samples.foreign, "d": samples.of_dump}
_drawn = st.tuples(st.sampled_from("mmmmfd"), st.integers(0, 1 << 32).map(Random))
_bodies = st.lists(_drawn.map(lambda it: MAKERS[it[0]](it[1]).body), min_size=1, max_size=8)
_inserted = st.sampled_from([b"", b"", b"\xff", MARK, bytes(9)]) | st.binary(max_size=90)
TWO = [samples.made(Random(seed)).body for seed in (237, 238)]


@search(60)
@given(
    bodies=_bodies,
    place=st.floats(0, 1),
    taken=st.sampled_from([0, 1, 1, 2, 30, 500]),
    put=_inserted,
    bare=st.booleans(),
)
@example(TWO, 0.0, 1, b"", False)
def test_no_record_of_a_damaged_file_is_shifted(
    read: Read, bodies: list[bytes], place: float, taken: int, put: bytes, bare: bool
) -> None:
    data = (no_prefix if bare else ftp_record)(bodies).data
    hit = int(place * len(data))
    data = data[:hit] + put + data[hit + taken :]
    found = read(data or b"\0")
    for record, at in zip(found.bodies, found.offsets, strict=True):
        raw = data[at : at + 2 * len(record)]
        edited = at <= hit < at + len(raw) and taken != len(put)
        by_chance = at + len(record) == len(data)  # cut where the record would end if it was bare
        if record[1] in (115, 116) and (bare or not (edited or by_chance)):
            assert record == (raw if bare else raw.replace(b"\xff\xff", b"\xff"))[: len(record)]


@search(30)
@given(bodies=_bodies, places=st.lists(st.floats(0, 1), max_size=6))
def test_marks_within_records_make_no_ftp_record_structure(
    path: Path, read: Read, bodies: list[bytes], places: list[float]
) -> None:
    data = bytearray(no_prefix(bodies).data)
    for each in places:
        at = int(each * (len(data) - 2))
        data[at : at + 2] = MARK
    found = read(bytes(data))
    if found.refused is None and probe(path)[1].name == "ftp-record":
        for record, at in zip(found.bodies, found.offsets, strict=True):
            assert bytes(data[at : at + len(record)]) == record
