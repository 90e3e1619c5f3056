"""Damage by transfers in files of every variant: other records are there, each loss is reported.

tools/corrupt.py damages small files at random and asks the same. Here is what is known exactly, as
where a record ends whose length covers the next one; whole dumps; and what searches found in them.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.decoding.arrow import wanted_tables
from smfparse.decoding.dictionary import table_names
from smfparse.inputs.opening import open_inputs
from smfparse.reading.detection import probe
from tests.support import variants
from tests.support.builders import Section, foreign_record, named_block, rdw, segments, smf_record
from tests.support.command import run
from tests.support.paths import FIXTURE_FILES
from tests.support.reading import Read
from tests.support.searching import search, some
from tests.support.variants import BY_NAME, Variant, Written

pytestmark = pytest.mark.slow

QIST, QMST, QJST = named_block("QIST", 80), named_block("QMST", 72), named_block("QJST", 720)


def record(*blocks: bytes, qmgr: int = 0, local: dt.datetime | None = None) -> bytes:
    sections = [Section([each]) for each in blocks]
    keys = {"qmgr": f"QM{qmgr:02}", "system": f"SYS{qmgr}"}
    return smf_record(115, 2, *sections, local=local, **keys)


def mixed() -> list[bytes]:
    """Return ten records of several sizes, as of a dump."""
    contents = [[QIST], [QMST, QIST], [QJST], [QIST]] * 2
    records = [record(*each, qmgr=number) for number, each in enumerate(contents)]
    return [foreign_record(2)[4:], *(each[4:] for each in records), foreign_record(3)[4:]]


def alike() -> list[bytes]:
    return [record(QIST, qmgr=number)[4:] for number in range(10)]


def foreign() -> list[bytes]:
    """Return ten records, most of which do not tell how long they are."""
    sizes = {30: 50, 70: 60, 71: 10, 42: 100, 80: 7}
    others = [foreign_record(kind)[4:] + bytes(range(size)) for kind, size in sizes.items()]
    mq = [record(each, qmgr=number)[4:] for number, each in enumerate([QIST, QJST, QIST])]
    last = foreign_record(3)[4:]
    return [foreign_record(2)[4:], *others[:2], mq[0], *others[2:4], *mq[1:], others[4], last]


MADE = {"mixed": mixed, "alike": alike, "foreign": foreign}
DUMPS = FIXTURE_FILES[1:]
"""Those of some 25 records; the first has four times as many."""


@cache
def dump(which: str | int, variant: Variant) -> Written:
    if isinstance(which, str):
        return variant.write(MADE[which]())
    return variant.write(variants.read_rdw(DUMPS[which].read_bytes()))


def turned(data: bytes, bit: int) -> bytes:
    """Return data of which one bit is another."""
    found = bytearray(data)
    found[bit // 8] ^= 1 << bit % 8
    return bytes(found)


def test_a_block_that_reads_as_one_record_is_not_the_whole_file(read: Read) -> None:
    """By its time of day, which reads as a date of 1963 where a block is taken for a record."""
    evening = dt.datetime(2026, 3, 4, 18, 2, 7, 350_000)
    bodies = [record(QIST, qmgr=number, local=evening)[4:] for number in range(10)]
    file = BY_NAME["bdw"].write(bodies)
    for start, _ in file.spans[::5]:
        for bit in range(8 * start, 8 * start + 32):
            found = read(turned(file.data, bit))
            assert len({*file.bodies} & {*found.bodies}) >= 9
            assert len(found.bodies) == 10 or found.damage


def covering(file: Written, number: int) -> bytes:
    """Return a file in which the length of record `number` covers the next one as well."""
    (start, end), size = file.spans[number], len(file.bodies[number])
    lengths = {at: int.from_bytes(file.data[at : at + 2], "big") for at in range(start, start + 8)}
    at = next(at for at, length in lengths.items() if length in (size, size + 4))
    length = lengths[at] + file.spans[number + 1][1] - end
    return file.data[:at] + length.to_bytes(2, "big") + file.data[at + 2 :]


@pytest.mark.parametrize("dumped", MADE)
def test_a_record_that_covers_the_next_is_parted_from_it(read: Read, dumped: str) -> None:
    first = 1 if dumped != "alike" else 0  # a header of a dump is one whatever its length says
    reason = "the length of this record covers the next record too; the two are separated"
    for name, number in product(("rdw", "bdw", "length", "ftp-block"), range(first, 9, 2)):
        file = dump(dumped, BY_NAME[name])
        found = read(covering(file, number))
        assert found.bodies == list(file.bodies)
        assert [(each.length, each.reason) for each in found.damage] == [(0, reason)]


@pytest.mark.parametrize("dumped", ["mixed", "foreign"])
def test_pieces_of_two_records_are_parted_where_the_second_starts(read: Read, dumped: str) -> None:
    """In FTP block mode one bit says that a record ends."""
    file = dump(dumped, BY_NAME["ftp-block-short"])
    for start, _ in file.spans[:-1]:
        assert file.data[start] == 0x80
        found = read(turned(file.data, 8 * start + 7))
        assert (found.bodies, len(found.damage)) == ([*file.bodies], 1)


@pytest.mark.parametrize("cuts", [[20, 60], [20, 40, 60, 80], [200, 240]], ids=str)
def test_a_piece_that_covers_the_next_record_hides_nothing(read: Read, cuts: list[int]) -> None:
    """The first piece may be too short to tell how long the record is; the last one is parted."""
    bodies = [record(QIST, qmgr=each)[4:] for each in range(4)]
    pieces = segments(record(QIST, qmgr=1), cuts)
    behind = record(QIST, qmgr=2)
    for wrong in range(len(pieces)):
        broken = list(pieces)
        length = sum(map(len, pieces[wrong:])) + len(behind)
        broken[wrong] = length.to_bytes(2, "big") + broken[wrong][2:]
        found = read(b"".join([record(QIST), *broken, behind, record(QIST, qmgr=3)]))
        is_last = wrong == len(pieces) - 1
        assert found.bodies == (bodies if is_last else [*bodies[:1], *bodies[2:]])
        assert len(found.damage) == 1


@pytest.mark.parametrize("name", ["rdw", "bdw", "length", "ftp-block"])
def test_a_record_with_more_in_it_than_its_triplets_tell_is_kept(read: Read, name: str) -> None:
    """A header in what is more, with nothing that leads to it, may be of a record: it is told."""
    for more, told in ((bytes(300), 0), (record(QIST)[4:] + bytes(40), 3)):
        long = record(QIST) + more
        long = len(long).to_bytes(2, "big") + long[2:]
        bodies = [record(QIST, qmgr=1)[4:], long[4:], record(QMST, qmgr=2)[4:]] * 3
        found = read(BY_NAME[name].write(bodies).data)
        assert found.bodies == bodies
        assert [each.length for each in found.damage] == [0] * told


def test_a_sound_record_behind_damage_is_kept_though_an_orphan_follows_it(read: Read) -> None:
    first, last = segments(record(QJST), [200])
    lone = foreign_record(30) + bytes(range(20))
    lone = len(lone).to_bytes(2, "big") + lone[2:]
    for kept in (lone, record(QIST)):
        found = read(record(QMST) + b"\xff" * 9 + kept + last + record(QIST, qmgr=5) + first)
        assert found.bodies == [each[4:] for each in (record(QMST), kept, record(QIST, qmgr=5))]
        assert [each.length for each in found.damage] == [9, len(last), len(first)]


@pytest.mark.parametrize("dumped", ["mixed", "foreign"])
def test_garbage_between_ftp_records_costs_none_of_them(read: Read, dumped: str) -> None:
    file = dump(dumped, BY_NAME["ftp-record"])
    garbages = (b"\r\n", b"\n", b"250 OK\r\n", bytes(100))
    for garbage, (start, _) in product(garbages, file.spans[1::2]):
        found = read(file.data[:start] + garbage + file.data[start:], "ftp-record")
        assert (found.bodies, found.places) == ([*file.bodies], [(start, len(garbage))])


def test_a_mark_that_is_missing_is_told(read: Read) -> None:
    file = dump("mixed", BY_NAME["ftp-record"])
    for _, end in file.spans[:-1]:
        found = read(file.data[: end - 2] + file.data[end:])
        assert (found.bodies, found.places) == ([*file.bodies], [(end - 2, 0)])


# Whole dumps.


CHAIN = 3
"""Records that have to be chained to each other behind damage before one is believed."""
LINE_END = "a line end after a record, as added by a transfer in text mode"
LINE_ENDS = "line ends, one after each record, as added by a transfer in text mode"
SEARCHED: dict[str, tuple[str, int, int, bytes | slice]] = {
    "lengths by chance that lead to one": ("length", 2, 8, b""),
    "a block that reads as the header of the dump": ("bdw-unspanned", 1, 5, b""),
    "damaged twice before the first block ends": ("bdw", 69, 69, slice(4, 104)),
    "a block that reads as one record": ("bdw-unspanned", 4, 8, b""),
    "a block that reads as one and goes on": ("bdw", 4, 8, b""),
    "a segment over blocks up to the end of one": ("bdw-respanned", 18502, 18503, b"\x27"),
    "a block as long as three": ("bdw-respanned", 16384, 16385, b"\x30"),
    "a block that ends at what looks like one": ("bdw-large", 2, 3, b"\x17"),
    "what is no null segment, by more bits": ("rdw-unspanned", 390, 390, b"\0\4\xcd" + bytes(14)),
    "a mark in the first record": ("ftp-record", 9, 9, b"\n\0\0\0\0\xff\1"),
    "a first record that seems to have a length": ("ftp-record-both", 1, 1, bytes(4)),
    "a piece of a record that seems a restart marker": ("ftp-block-short", 388, 389, b"\x10"),
    "a restart marker longer than its block": ("ftp-block-eof", 0, 0, b"\x10"),
}
"""Edits by which a search found something: variant, start, end, and by what, or a copy of."""


@pytest.mark.parametrize("what", sorted(SEARCHED))
def test_an_edit_that_took_more_does_so_no_longer(read: Read, what: str) -> None:
    """Than two records on either side, or all where less than three are behind."""
    name, start, end, by = SEARCHED[what]
    variant = BY_NAME[name]
    for number in range(len(DUMPS)):
        file = dump(number, variant)
        put = file.data[by] if isinstance(by, slice) else by
        data = file.data[:start] + put + file.data[end:]
        found = read(data)
        try:
            sound = variants.read(variant.framing, data)
        except ValueError:
            hit = sum(behind <= start for _, behind in file.spans)
            kept = file.bodies[: max(hit - 2, 0)]
            kept += file.bodies[hit + 3 :] if hit < len(file.bodies) - CHAIN else ()
            assert not Counter(kept) - Counter(found.bodies), found.refused
            assert found.damage or found.refused
        else:
            assert (found.bodies, found.damage) == (sound, [])


def test_a_file_that_ends_between_two_records_of_a_block_is_told_to_be_cut(read: Read) -> None:
    file = dump(0, BY_NAME["bdw-unspanned"])
    _, end = file.spans[-3]
    found = read(file.data[:end])
    assert found.bodies == [*file.bodies[:-2]]
    assert found.places == [(end, 0)]
    left = len(file.data) - end
    assert found.reasons == [f"the file is truncated: {left} bytes of its last block are missing"]


def test_what_is_lost_of_a_spanned_record_is_told_once(read: Read) -> None:
    """Behind a first segment without a last one stands a record whose length is wrong."""
    file = dump(0, BY_NAME["rdw-unspanned"])
    first, (start, end) = file.spans[4][0] + 2, file.spans[5]
    data = file.data[:first] + b"\1" + file.data[first + 1 : start + 40] + file.data[start + 41 :]
    assert sum(each.length or 0 for each in read(data).damage) == end - 1 - file.spans[4][0]


def test_a_word_like_that_of_a_block_makes_no_file_of_blocks(read: Read) -> None:
    """In front of a record stands one that says how long a block is, but none is so long."""
    file = dump(0, BY_NAME["rdw-unspanned"])
    for number, broken in product(range(1, 28, 9), range(0, 28, 9)):
        bad = variants.flipped(file, broken, b"\xff\xff\xff\xff")
        at = file.spans[number][0]
        read(bad[:at] + variants.bdw(20_000) + bad[at:], "rdw")


@pytest.mark.parametrize("end", [b"\r\n", b"\n"], ids=["crlf", "lf"])
def test_line_ends_behind_every_record_cost_nothing_and_are_told_once(read: Read, end: bytes):
    """But for the last one, which is at the end of the file."""
    for name in ("rdw-unspanned", "rdw", "length", "ftp-block", "ftp-block-short"):
        file = dump(0, BY_NAME[name])
        found = read(variants.with_line_ends(file, end))
        assert found.bodies == list(file.bodies)
        count = len(file.bodies) - 1
        first, last = [(each.offset, each.length, each.reason) for each in found.damage]
        assert first == (file.spans[0][1], count * len(end), f"{count} {LINE_ENDS}")
        assert last == (file.spans[-1][1] + count * len(end), len(end), LINE_END)
    file = dump(0, BY_NAME["none"])
    found = read(variants.with_line_ends(file, end))
    assert [each.removesuffix(end) for each in found.bodies] == list(file.bodies)


def test_a_transfer_that_inserted_line_ends_is_named(path: Path) -> None:
    """Each X'0A' of binary data follows X'0D' then, also those within records."""
    numbers = [named_block("QMST", 72)[:-4] + bytes([0, 10, 10, each]) for each in range(30)]
    data = rdw([record(each) for each in numbers])
    for changed, named in ((data, False), (data.replace(b"\n", b"\r\n"), True)):
        path.write_bytes(changed)
        assert changed.count(b"\n") > 20
        assert ("the transfer inserted line ends" in probe(path)[1].why) is named


@pytest.mark.parametrize("name", ["rdw", "bdw-respanned", "length", "ftp-block-short"])
def test_a_header_that_nothing_is_chained_to_is_no_record(read: Read, name: str) -> None:
    file = dump(0, BY_NAME[name])
    (start, end), (sound, _) = file.spans[10], file.spans[5]
    head = file.data[sound : sound + 40]
    garbage = (b"?" * 50 + head).ljust(end - start, b"?")
    found = read(file.data[:start] + garbage + file.data[end:])
    assert found.bodies == [*file.bodies[:10], *file.bodies[11:]]
    firsts, lasts = zip(*found.told(len(file.data)), strict=True)
    assert file.spans[9][1] <= min(firsts) <= start
    assert end <= max(lasts) <= file.spans[11][0]


@pytest.mark.parametrize("prefix", [variants.no_bdw, variants.bdw], ids=["rdw", "bdw"])
@pytest.mark.parametrize("which", [0, 1, -1], ids=["first", "middle", "last"])
def test_a_segment_that_is_lost_costs_its_record(path: Path, read: Read, which: int, prefix: Any):
    """A first and a last segment look like a whole record; but what is in it is not."""
    bodies, size = dump(0, BY_NAME["rdw"]).bodies, variants.SMALL_BLOCK
    pieces = Counter(each.number for block in variants.blocks_of(bodies, size) for each in block)
    number = next(each for each, count in pieces.items() if count == CHAIN)
    assert number is not None
    found = read(variants.without_segment(bodies, size, number, which, prefix))
    others = [each for each in found.bodies if each in bodies]
    assert others == [*bodies[:number], *bodies[number + 1 :]]
    inputs = open_inputs([path])
    assert sum(1 for _ in inputs.batches(wanted_tables(table_names())))
    assert inputs.damage


TRANSLATED: dict[str, Callable[[Written, str], bytes]] = {
    "all bytes": lambda file, page: variants.translated(file.data, page),
    "with line ends": lambda file, page: variants.translated(variants.with_line_ends(file), page),
    "and line ends": lambda file, page: variants.translated(file.data, page) + b"\r\n",
    "lines": variants.translated_lines,
    "unix lines": lambda file, page: variants.translated_lines(file, page, b"\n"),
    "utf-8": lambda file, page: variants.as_utf_8(file.data, page),
}
NAMES = ("rdw", "rdw-unspanned", "bdw", "none", "length")
WAYS = [*product(variants.CODE_PAGES, TRANSLATED, NAMES)]


@pytest.mark.fuzz
def test_a_translated_file_is_refused_with_the_way_out(path: Path, read: Read) -> None:
    for way in some(WAYS, 31):
        code_page, how, name = way
        found = read(TRANSLATED[how](dump(0, BY_NAME[name]), code_page))
        assert found.bodies == [], way
        for word in ("translat", "transfer", "again", "binary"):
            assert word in str(found.refused), way
    shown = run("info", path)
    assert (shown.exit_code, shown.stdout) == (8, "")
    assert "binary" in shown.stderr


@given(data=st.binary(max_size=3000))
@search(60)
def test_random_bytes_are_no_dump(read: Read, data: bytes) -> None:
    found = read(data)
    assert found.refused
    assert found.bodies == []
