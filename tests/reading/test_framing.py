"""Files to logical records: whole, spanned, cut, damaged, and not SMF at all.

Some have headers that are not as most. IBM's SMF manual calls records of type 2, subtypes 1 and 2,
signature records of a group and of an interval; they have the bit of subtypes, which dump headers
have not. Nothing in them says how long they are. Types above 255 are in the extended SMF header,
behind type 126.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import smfparse
from smfparse.decoding.selection import Selection
from smfparse.errors import DamageLog, InputError
from smfparse.limits import Limits
from smfparse.reading.chunks import SLACK, Part
from smfparse.reading.detection import WALKS
from smfparse.reading.headers import Headers
from smfparse.reading.reader import read_chunks
from smfparse.reading.segments import Segments, last_record
from tests.support import builders
from tests.support.builders import Section, foreign_record, named_block, rdw, segments, smf_record
from tests.support.command import run
from tests.support.reading import Read, Reading
from tests.support.searching import LONG as LONG_RUN
from tests.support.searching import search
from tests.support.variants import BY_NAME, FRAMINGS, VARIANTS, Variant, bdw

QIST = named_block("QIST", 80)
QJST = named_block("QJST", 720)


def record(*blocks: bytes) -> bytes:
    return smf_record(115, 2, Section(blocks), area=builders.qwhs_long())


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
    read: Read, sizes: list[int], data: st.DataObject, capacity: int
):
    written = [record(bytes([number]) * size) for number, size in enumerate(sizes)]
    pieces = []
    for each in written:
        cuts = sorted(data.draw(st.lists(st.integers(0, len(each) - 4), max_size=4)))
        pieces.append(b"".join(segments(each, cuts)) if cuts else each)
    found = read(b"".join(pieces), limits=Limits(capacity, max_spanned=1024))
    assert (found.bodies, found.damage) == (bodies(*written), [])
    assert found.offsets == [0, *itertools.accumulate(map(len, pieces[:-1]))]
    assert found.numbers == list(range(1, len(written) + 1))


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
NO_TIME = [
    *(SHORT[:6] + bytes.fromhex(time) + SHORT[10:] for time in ("FFFFFFFF", "0083D600")),
    *(SHORT[:10] + bytes.fromhex(date) + SHORT[14:] for date in ("012606AF", "01260630")),
]
"""Records without time of day or packed date."""
CUT = "the file is truncated: only {} bytes of its last record are left"
NO_END = "spanned record lost: its last segment is missing"
NO_LAST = "the file is truncated: the last segment of a spanned record is missing"
NO_FIRST = "spanned record lost: a later segment without the first segment"
LOST: list[tuple[str, tuple[bytes, bytes, bytes], list[bytes]]] = [
    *(
        (CUT.format(left), (TWO, LONG[:left], b""), [SHORT, OTHER])
        for left in (1, 3, 4, 17, 18, 100, len(LONG) - 1)
    ),
    (CUT.format(200), (b"", LONG[:200], b""), []),
    (NO_LAST, (SHORT, FIRST, b""), [SHORT]),
    ("zero bytes where a record should start", (TWO, bytes(1000), b""), [SHORT, OTHER]),
    *(("no SMF record starts here", (TWO, each, b""), [SHORT, OTHER]) for each in GARBAGE),
    (NO_END, (SHORT, FIRST + MIDDLE, OTHER), [SHORT, OTHER]),
    (NO_END, (SHORT, FIRST, rdw([LONG], {0: [200, 400]})), [SHORT, LONG]),
    (NO_FIRST, (SHORT, MIDDLE + LAST, OTHER), [SHORT, OTHER]),
    *(("", (before, each, OTHER), [before, OTHER]) for each in NO_TIME for before in (LONG, OTHER)),
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
    for each in NO_TIME:
        assert read(SHORT * 20 + each + OTHER).bodies == bodies(*[SHORT] * 20, OTHER)


def test_segments_that_never_end_are_given_up(read: Read):
    found = read(SHORT + FIRST + MIDDLE * 4 + OTHER, limits=Limits(max_spanned=2048))
    assert found.bodies == bodies(SHORT, OTHER)
    assert found.reasons[0] == "spanned record lost: longer than 2048 bytes"
    assert sum(length or 0 for _, length in found.places) == len(FIRST + MIDDLE * 4)
    assert last_record(np.array([0, 1, 1, 2], np.uint8)) == (2, 4)


def test_a_file_that_is_no_smf_dump_is_refused_with_the_way_out(read: Read):
    texts = b"Date,Time,System\n2026-03-04,12:00,SYS1\n", b"PAR1" * 40
    binary = b"\x00", b"\x00\x08" + bytes(6), b"\xff" * 10_000, b"\x00\x20\x00\x00" + b"\xff" * 28
    for data in (*texts, bytes(1000), *binary):
        assert re.search(r"no SMF records in it.*quote site rdw", str(read(data).refused))
    assert str(read(b"").refused).endswith("input: the file is empty")


def test_what_cannot_be_opened_is_named_with_the_error_of_the_system(tmp_path: Path):
    with pytest.raises(InputError, match=r"gone\.smf: No such file or directory") as caught:
        next(read_chunks(tmp_path / "gone.smf", DamageLog()))
    assert isinstance(caught.value.__cause__, FileNotFoundError)
    assert "Is a directory" in str(Reading(tmp_path).refused)


def test_a_good_record_in_front_of_garbage_is_kept_wherever_a_chunk_ends(read: Read):
    for short in range(0, 60, 6):
        count = (8192 - short) // len(SHORT)
        garbage = b"\xff" * (8192 - short - count * len(SHORT) + 5000)
        filler = rdw([OTHER]) if (8192 - short) % len(SHORT) >= len(OTHER) else b""
        data = filler + SHORT * count + garbage + SHORT * 3
        found = read(data, limits=Limits(8192, max_spanned=2048))
        assert len(found.bodies) == count + 3 + bool(filler), short
        assert sum(length or 0 for _, length in found.places) == len(garbage)


def mapped(path: Path, data: bytes, limits: Limits) -> tuple[int, list[tuple[int, int | None]]]:
    """Return how many 115/2 are in a file of which no kind is wanted, and where it is damaged."""
    path.write_bytes(data)
    log = DamageLog()
    found = read_chunks(path, log, kinds=np.zeros(0, np.int64), limits=limits)
    headers = (Headers(chunk.buffer, chunk.start, chunk.length) for chunk in found)
    count = sum(int((each.subtype == 2).sum()) for each in headers)
    return count, [(each.offset, each.length) for each in log.details]


def test_a_block_is_not_taken_for_known_at_the_start_of_a_map(path: Path):
    """Just after midnight the time in a header reads like an RDW that goes on."""
    early = SHORT[:6] + (300 * 100).to_bytes(4, "big") + SHORT[10:]
    block = bdw(20 * len(early)) + early * 20
    count = 6_000_000 // len(block)
    assert mapped(path, block * count, Limits(chunk_bytes=1 << 20)) == (20 * count, [])
    broken = block[: -9 * len(early)] + b"\xff" * len(early) + block[-8 * len(early) :]
    place = len(block + broken) - 9 * len(early)
    found = mapped(path, block + broken + block * count, Limits(1 << 20))
    assert found == (20 * count + 39, [(place, len(early))])


def test_a_record_behind_garbage_is_found_at_the_start_of_a_map(path: Path) -> None:
    """The window ends so many bytes behind where the record begins."""
    limits = Limits(8192, max_spanned=2048)
    count = (2 * SLACK + 4 * limits.window_bytes) // len(SHORT)
    for short in range(0, len(SHORT), 40):
        garbage = b"\xff" * (limits.window_bytes - len(SHORT) - short)
        found = mapped(path, SHORT + garbage + SHORT * count, limits)
        assert found == (1 + count, [(len(SHORT), len(garbage))])
    assert mapped(path, SHORT[4:] * count, limits) == (count, [])


def test_a_header_of_a_dump_that_is_as_long_as_a_block_hides_no_record(read: Read):
    """The record behind it may be another header, with nothing in it."""
    header = foreign_record(2)[:18]
    for inner, count in itertools.product((foreign_record(3)[:18], SHORT), (2, 20)):
        inner = len(inner).to_bytes(2, "big") + inner[2:]
        wrong = (len(header) + len(inner)).to_bytes(2, "big") + header[2:]
        found = read(SHORT + wrong + inner + LONG * count)
        assert found.bodies == bodies(SHORT, inner, *[LONG] * count)
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
    """Each place looks like the start of a record that goes on in 20,000 segments without end."""
    count = 100
    fake = b"".join(
        (22 * (count - number)).to_bytes(2, "big") + b"\x01\0" + SHORT[4:22]
        for number in range(count)
    )
    endless = bytes.fromhex("00040300") * 20_000
    kind, counts = type(WALKS[walk]), list[int]()
    plain = kind.segments

    def counted(*arguments: object) -> Segments:
        found = plain(*arguments)
        counts.append(found.code.size)
        return found

    monkeypatch.setattr(kind, "segments", counted)
    some = SHORT * 40
    block = bdw(len(some)) + some if walk == "bdw" else b""
    found = read(block + some + b"\xff" * 8 + fake + endless + b"\xff" * 8 + LONG * 3)
    assert found.bodies[-3:] == bodies(LONG) * 3
    assert len(counts) > count
    assert sorted(counts)[-5] <= 512
    assert sum(counts) < count * (512 + 16) + 3 * 20_000


def test_line_ends_are_told_by_the_part_that_has_them(path: Path):
    path.write_bytes(b"\r\n".join([SHORT] * 1000))
    border = 500 * (len(SHORT) + 2) + len(SHORT) // 2
    parts = Part(0, border, None), Part(border, path.stat().st_size, None)
    told = [length for part in parts for _, length in Reading(path, part).places]
    assert told == [2 * 500, 2 * 499]
    assert Part(border, 2 * border, None).around(99) == Part(border - 99, 2 * border + 99, None)
    assert Part(border, 2 * border, 501).before(99) == Part(0, border, 1)


def test_a_range_may_begin_with_a_record_whose_header_is_in_pieces(path: Path):
    start = 3 * len(SHORT)
    places = [start, *(start + len(SHORT) * number + 4 for number in (1, 2, 3))]
    for size in range(1, 40):
        path.write_bytes(SHORT * 3 + b"".join(segments(SHORT, [size])) + SHORT * 3)
        assert Reading(path, Part(start, None, None)).offsets == places, size


# Signatures, and types above 255.


HEADER, TRAILER = foreign_record(2), foreign_record(3)
SECTIONS = [Section(), Section([QIST])]
MQ = [smf_record(115, 2, *SECTIONS, area=builders.qwhs_long(), qmgr=f"MQ0{each}") for each in "123"]


def signed(size: int) -> list[bytes]:
    groups = [builders.signature_record(1, size, seed) for seed in (1, 2)]
    interval = builders.signature_record(2, size + 280, 3)
    return [HEADER, MQ[0], groups[0], MQ[1], groups[1], interval, MQ[2], interval, TRAILER]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda each: each.name)
def test_a_signature_of_any_length_is_a_record_and_no_damage(variant: Variant, read: Read) -> None:
    for size in (0, 1, 9, 420, 5_000, 30_000) if LONG_RUN else (0, 9, 420, 30_000):
        records = bodies(*signed(size))
        found = read(variant.write(records).data, variant.framing)
        assert (found.bodies, found.damage) == (records, []), size


def test_a_dump_begins_at_its_header_and_at_no_signature(path: Path) -> None:
    """Signatures in two dumps are counted once, and as such."""
    path.write_bytes(b"".join(signed(420) * 2))
    data = smfparse.open(path, keep_duplicates=True, fingerprints=True)
    starts = data.sql("SELECT dump_start FROM record ORDER BY record_no").to_pydict()
    assert Counter(starts["dump_start"]) == {1: 9, 10: 9}
    lines = [each.split() for each in run("info", path, code=0).stdout.splitlines()]
    kinds = {(each[3], each[4]): (each[5], " ".join(each[11:])) for each in lines if len(each) > 11}
    assert kinds["2", "1"] == kinds["2", "2"] == ("2", "SMF signature record")
    assert kinds["2", "-"] == ("1", "SMF dump header")


EXTENDED = {
    2: HEADER,
    115: MQ[0],
    1154: builders.extended_record(1154, 2, bytes(range(256))),
    2047: builders.extended_record(2047),
    200: builders.extended_record(200, 7, b"\xff" * 40),
    3: TRAILER,
}
NOT_SOUND = {
    "no bit of an extended header": builders.extended_record(1154, flags=0x5E),
    "no bit of a subtype": builders.extended_record(1154, flags=0x3E),
    "another length": builders.extended_record(1154, length=31),
    "another version": builders.extended_record(1154, version=2),
    "more than any type": builders.extended_record(2048),
    "a type of MQ": builders.extended_record(115),
    "a type of the dump program": builders.extended_record(2),
    "too short": b"\0\x37\0\0" + builders.extended_record(1154)[4:-1],
    "a standard header": foreign_record(126),
}


def types_in(path: Path) -> list[int]:
    found: list[int] = smfparse.open(path).arrow("record").to_pydict()["type"]
    return found


@pytest.mark.parametrize("name", FRAMINGS)
def test_the_type_is_of_the_extended_header_in_every_framing(name: str, path: Path, read: Read):
    records = bodies(*EXTENDED.values())
    found = read(BY_NAME[name].write(records).data)
    assert (found.bodies, found.damage) == (records, [])
    assert types_in(path) == [*EXTENDED]


def test_a_record_whose_extended_header_is_not_sound_stays_126(path: Path) -> None:
    for what, wrong in NOT_SOUND.items():
        path.write_bytes(MQ[0] + wrong + MQ[1])
        assert types_in(path) == [115, 126, 115], what


def test_types_above_255_are_shown_and_selected(path: Path) -> None:
    path.write_bytes(b"".join(EXTENDED.values()))
    assert "1154        2        1" in run("info", path).stdout
    for asked, count in (("1154", 1), ("1154(1)", 0), ("256:2047", 2), ("126", 0), ("200", 1)):
        data = smfparse.open(path, Selection.of(type=[asked]))
        assert data.arrow("record").num_rows == count, asked
    shown = run("dump", path, "--record", 3).stdout
    assert "the SMF record type is 1154" in shown
    assert "0034  0482" in shown
