"""Files to logical records: whole, spanned, cut, damaged, and not SMF at all."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.errors import DamageLog, InputError
from smfparse.limits import Limits
from smfparse.reading import SLACK, Part, read_chunks
from smfparse.reading.segments import Segments
from smfparse.reading.walks import WALKS
from tests.support.builders import (
    Section,
    foreign_record,
    named_block,
    qwhs_long,
    rdw,
    segments,
    smf_record,
)
from tests.support.reading import Read, Reading
from tests.support.searching import search

QIST = named_block("QIST", 80)
QJST = named_block("QJST", 720)


def record(*blocks: bytes) -> bytes:
    return smf_record(115, 2, Section(blocks), area=qwhs_long())


SHORT, LONG, OTHER = record(QIST), record(QJST, QJST), foreign_record(2)


def bodies(*records: bytes) -> list[bytes]:
    return [each[4:] for each in records]


@given(
    sizes=st.lists(st.integers(0, 600), min_size=1, max_size=12),
    data=st.data(),
    capacity=st.integers(2048, 9000),
)
@search(60)
def test_any_split_of_any_records_gives_the_same_records(
    tmp_path: Path, sizes: list[int], data: st.DataObject, capacity: int
):
    written = [record(bytes([number]) * size) for number, size in enumerate(sizes)]
    spans, offsets, at = {}, [], 0
    for number, each in enumerate(written):
        cuts = sorted(data.draw(st.lists(st.integers(0, len(each) - 4), max_size=4)))
        if cuts:
            spans[number] = cuts
        offsets.append(at)
        at += len(each) + 4 * len(cuts)
    path = tmp_path / "test.smf"
    path.write_bytes(rdw(written, spans))
    found = Reading(path, limits=Limits(capacity, max_spanned=1024))
    assert found.bodies == bodies(*written)
    assert found.offsets == offsets
    assert found.numbers == list(range(1, len(written) + 1))
    assert not found.log


FIRST, MIDDLE, LAST = segments(LONG, [300, 900])
TWO = SHORT + OTHER
GARBAGE = (
    b"\xff" * 50,
    b"\x00\x20\x00\x00" + b"\xff" * 28,
    b"\x00\x08\x00\x00" + bytes(4) + b"\xff" * 50,
    b"\x00\x20\x09\x00" + bytes(28),
    b"\x00\x20\x00\x01" + bytes(28),
    b"\x00\x03\x00\x00" + b"\x01" * 28,
)
LOST: list[tuple[str, tuple[bytes, bytes, bytes], list[bytes]]] = [
    *(
        (
            f"the file is cut: {left} bytes of its last record are left",
            (TWO, LONG[:left], b""),
            [SHORT, OTHER],
        )
        for left in (1, 3, 4, 17, 18, 100, len(LONG) - 1)
    ),
    ("the file is cut: 200 bytes of its last record are left", (b"", LONG[:200], b""), []),
    (
        "the file is cut: the last segment of a spanned record is missing",
        (SHORT, FIRST, b""),
        [SHORT],
    ),
    ("zero bytes where a record should start", (TWO, bytes(1000), b""), [SHORT, OTHER]),
    *(("no SMF record starts here", (TWO, each, b""), [SHORT, OTHER]) for each in GARBAGE),
    (
        "spanned record lost: its last segment is missing",
        (SHORT, FIRST + MIDDLE, OTHER),
        [SHORT, OTHER],
    ),
    (
        "spanned record lost: its last segment is missing",
        (SHORT, FIRST, rdw([LONG], {0: [200, 400]})),
        [SHORT, LONG],
    ),
    (
        "spanned record lost: a later segment without its first one",
        (SHORT, MIDDLE + LAST, OTHER),
        [SHORT, OTHER],
    ),
    ("", (SHORT, FIRST + b"\xff" * 20, b""), [SHORT]),
    ("", (b"", bytes([1, 2, 3, 4]), foreign_record(2)), [foreign_record(2)]),
    ("", (b"", bytes([1, 2, 3, 4]), foreign_record(30)), [foreign_record(30)]),
]
"""Why, what is in front, what is lost and what is behind, and the records that are there."""


def test_what_is_lost_is_told_and_costs_no_record_beside_it(read: Read):
    for reason, (before, lost, behind), there in LOST:
        found = read(before + lost + behind)
        assert found.bodies == bodies(*there), reason
        assert found.numbers == [*range(1, len(there) + 1)]
        assert found.places == [(len(before), len(lost))], reason
        assert not reason or set(found.reasons) == {reason}


def test_segments_that_never_end_are_given_up(read: Read):
    found = read(SHORT + FIRST + MIDDLE * 4 + OTHER, limits=Limits(max_spanned=2048))
    assert found.bodies == bodies(SHORT, OTHER)
    assert found.reasons[0] == "spanned record lost: longer than 2048 bytes"
    assert sum(length or 0 for _, length in found.places) == len(FIRST + MIDDLE * 4)


def test_a_file_that_is_no_smf_dump_is_refused_with_the_way_out(read: Read):
    for data in (
        b"Date,Time,System\n2026-03-04,12:00,SYS1\n",
        b"PAR1" * 40,
        bytes(1000),
        b"\x00",
        b"\x00\x08\x00\x00\x00\x00\x00\x00",
        b"\xff" * 10_000,
        b"\x00\x20\x00\x00" + b"\xff" * 28,
    ):
        assert re.search(r"no SMF records in it.*quote site rdw", str(read(data).refused))
    assert str(read(b"").refused).endswith("input: the file is empty")


def test_what_cannot_be_opened_is_named_with_the_error_of_the_system(tmp_path: Path):
    with pytest.raises(InputError, match=r"gone\.smf: No such file or directory") as caught:
        next(read_chunks(tmp_path / "gone.smf", DamageLog()))
    assert isinstance(caught.value.__cause__, FileNotFoundError)
    assert "Is a directory" in str(Reading(tmp_path).refused)


@pytest.mark.parametrize(
    ("at", "value"),
    [(6, "FFFFFFFF"), (6, "0083D600"), (10, "012606AF"), (10, "01260630"), (10, "0126FFFF")],
)
def test_what_has_no_time_of_day_or_no_packed_date_is_no_record(read: Read, at: int, value: str):
    for broken in range(3):
        records = [LONG, SHORT, OTHER, SHORT]
        wrong = bytearray(records[broken])
        wrong[at : at + 4] = bytes.fromhex(value)
        records[broken] = bytes(wrong)
        found = read(b"".join(records))
        assert found.bodies == bodies(*records[:broken], *records[broken + 1 :])
        assert found.places == [(sum(map(len, records[:broken])), len(wrong))]


def test_a_good_record_in_front_of_garbage_is_kept_wherever_a_chunk_ends(read: Read):
    for short in range(0, 60, 6):
        count = (8192 - short) // len(SHORT)
        garbage = b"\xff" * (8192 - short - count * len(SHORT) + 5000)
        filler = rdw([OTHER]) if (8192 - short) % len(SHORT) >= len(OTHER) else b""
        found = read(
            filler + SHORT * count + garbage + SHORT * 3, limits=Limits(8192, max_spanned=2048)
        )
        assert len(found.bodies) == count + 3 + bool(filler), short
        assert sum(length or 0 for _, length in found.places) == len(garbage)


def test_a_block_is_not_taken_for_known_at_the_start_of_a_map(tmp_path: Path):
    """Just after midnight the time in a header reads like an RDW that goes on."""
    early = bytearray(SHORT)
    early[6:10] = (300 * 100).to_bytes(4, "big")
    inner = bytes(early) * 20
    block = (len(inner) + 4).to_bytes(2, "big") + bytes(2) + inner
    path = tmp_path / "early.smf"
    path.write_bytes(block * (6_000_000 // len(block)))
    log, limits = DamageLog(), Limits(chunk_bytes=1 << 20)
    found = read_chunks(path, log, kinds=np.zeros(0, np.int64), limits=limits)
    count = sum(len(chunk.start) for chunk in found)
    assert not log
    assert count == 20 * (6_000_000 // len(block))


def test_a_record_behind_garbage_is_found_at_the_start_of_a_map(tmp_path: Path) -> None:
    """The window ends so many bytes behind where the record begins."""
    limits = Limits(8192, max_spanned=2048)
    count = (2 * SLACK + 4 * limits.window_bytes) // len(SHORT)
    path = tmp_path / "mapped.smf"
    for short in range(0, len(SHORT), 40):
        garbage = b"\xff" * (limits.window_bytes - len(SHORT) - short)
        path.write_bytes(SHORT + garbage + SHORT * count)
        log = DamageLog()
        found = read_chunks(path, log, kinds=np.zeros(0, np.int64), limits=limits)
        assert sum(len(chunk.start) for chunk in found) == 1 + count
        assert [(each.offset, each.length) for each in log.details] == [(len(SHORT), len(garbage))]


def test_a_header_of_a_dump_that_is_as_long_as_a_block_hides_no_record(read: Read):
    """The record behind it may be another header, with nothing in it."""
    header = foreign_record(2)[:18]
    for inner in (foreign_record(3)[:18], SHORT):
        inner = len(inner).to_bytes(2, "big") + inner[2:]
        wrong = (len(header) + len(inner)).to_bytes(2, "big") + header[2:]
        found = read(SHORT + wrong + inner + LONG * 2)
        assert found.bodies == bodies(SHORT, inner, LONG, LONG)
        assert found.places == [(len(SHORT), len(header))]


def test_line_ends_of_two_sorts_are_told_a_sort(read: Read):
    found = read(b"\r\n".join([LONG] * 5) + b"\n" + b"\n".join([SHORT] * 3))
    assert found.bodies == bodies(*[LONG] * 5, *[SHORT] * 3)
    assert [length for _, length in found.places] == [2 * 4, 3]
    for count, reason in ((1, "a line end"), (2, "2 line ends")):
        found = read(b"\r\n".join([SHORT] * (count + 1)))
        assert found.places == [(len(SHORT), 2 * count)]
        assert found.reasons[0].startswith(reason)


@pytest.mark.parametrize("walk", ["rdw", "bdw"])
def test_a_chain_of_tiny_segments_is_not_followed_from_every_header_before_it(
    read: Read, monkeypatch: pytest.MonkeyPatch, walk: str
):
    """Each place looks like the start of a record that goes on in 50,000 segments without end."""
    count = 200
    fake = b"".join(
        (22 * (count - number)).to_bytes(2, "big") + b"\x01\0" + SHORT[4:22]
        for number in range(count)
    )
    endless = bytes.fromhex("00040300") * 50_000
    kind, counts = type(WALKS[walk]), list[int]()
    plain = kind.segments

    def counted(*arguments: object) -> Segments:
        found = plain(*arguments)
        counts.append(found.code.size)
        return found

    monkeypatch.setattr(kind, "segments", counted)
    some = SHORT * 40
    block = (len(some) + 4).to_bytes(2, "big") + bytes(2) + some if walk == "bdw" else b""
    data = some + b"\xff" * 8 + fake + endless + b"\xff" * 8 + LONG * 3
    found = read(block + data)
    assert found.bodies[-3:] == bodies(LONG) * 3
    assert len(counts) > count
    assert sorted(counts)[-5] <= 512
    assert sum(counts) < count * (512 + 16) + 3 * 50_000


def test_line_ends_are_told_by_the_part_that_has_them(tmp_path: Path):
    path = tmp_path / "lines.smf"
    path.write_bytes(b"\r\n".join([SHORT] * 1000))
    border = 500 * (len(SHORT) + 2) + len(SHORT) // 2
    told = []
    for start, end in ((0, border), (border, path.stat().st_size)):
        log = DamageLog()
        list(read_chunks(path, log, Part(start, end, None)))
        told += [each.length for each in log.details]
    assert told == [2 * 500, 2 * 499]


def test_a_range_may_begin_with_a_record_whose_header_is_in_pieces(tmp_path: Path):
    path = tmp_path / "pieces.smf"
    start = 3 * len(SHORT)
    places = [start, *(start + len(SHORT) * number + 4 for number in (1, 2, 3))]
    for size in range(1, 40):
        path.write_bytes(SHORT * 3 + b"".join(segments(SHORT, [size])) + SHORT * 3)
        found = list(read_chunks(path, DamageLog(), Part(start, None, None)))
        assert [int(each) for chunk in found for each in chunk.offset] == places, size
