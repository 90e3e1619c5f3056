"""Damaged files of every variant: what was not damaged is there, and what is not there is told.

What can be asked, for a record that no edit touched and that nothing in the damage log covers:
its exact bytes, in order. But in files without prefixes a record ends where the next one starts,
and where that start was hit nobody can tell its end: there it may have bytes too many.

And for one edit, how much may be lost besides: the records it touches and two on either side (so
much a damaged length may hide), and no more, unless fewer than three records follow: a record is
only believed behind damage if two more are chained to it, so these may be lost together.

Where a strict reader finds nothing wrong with what the edits made, the file is a whole one of its
variant, and what that reader gives is what there is: a record that is gone from end to end is no
damage that anybody could see.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from smfparse.cli import main
from smfparse.inputs import open_inputs
from smfparse.reading import look_at
from smfparse.tables import table_names, wanted_tables
from tests.support.paths import FIXTURE_FILES
from tests.support.reading import Reading
from tests.support.searching import search
from tests.support.variants import (
    BY_NAME,
    CODE_PAGES,
    FRAMINGS,
    PACKINGS,
    SMALL_BLOCK,
    VARIANTS,
    Variant,
    Written,
    as_utf_8,
    bdw,
    blocks_of,
    cut,
    flipped,
    no_bdw,
    padded,
    read,
    read_rdw,
    translated,
    translated_lines,
    with_garbage,
    with_line_ends,
    without_segment,
)

pytestmark = pytest.mark.slow

DUMPS = FIXTURE_FILES[1:]
"""Those of some 25 records; the first has four times as many."""
NEIGHBOURS = 2
CHAIN = 3
PREFIX = 4
"""Bytes of the longest prefix: the place of a record is that of its prefix, or right behind it."""
ENOUGH = 8
"""So many records that lie behind each other undamaged make a file an SMF dump."""
PREFIXED = [each for each in VARIANTS if each.framing in ("rdw", "bdw", "length", "ftp-block")]
LINE_END = "a line end behind a record, as a transfer in text mode adds"
LINE_ENDS = "line ends, one behind a record each, as a transfer in text mode adds"
every_variant = pytest.mark.parametrize("variant", VARIANTS, ids=lambda each: each.name)
prefixed_variant = pytest.mark.parametrize("variant", PREFIXED, ids=lambda each: each.name)


@cache
def dump(number: int, variant: Variant) -> Written:
    return variant.write(read_rdw(DUMPS[number].read_bytes()))


@dataclass(frozen=True)
class Edit:
    """Bytes from `start` to `end` of a file are replaced by `by`."""

    start: int
    end: int
    by: bytes


class Damaged:
    """A file after edits, and where the bytes of the original one are in it."""

    def __init__(self, file: Written, edits: Sequence[Edit]) -> None:
        self.file = file
        origin = np.arange(len(file.data))
        data = file.data
        for edit in sorted(edits, key=lambda each: (each.start, each.end), reverse=True):
            data = data[: edit.start] + edit.by + data[edit.end :]
            foreign = np.full(len(edit.by), -1)
            origin = np.concatenate([origin[: edit.start], foreign, origin[edit.end :]])
        self.data = data
        self.put_in = int((origin < 0).sum())
        """Bytes in `data` that the original file has not, or elsewhere."""
        place = np.full(len(file.data), -1)
        place[origin[origin >= 0]] = np.flatnonzero(origin >= 0)
        self.whole: dict[int, tuple[int, int]] = {}
        """Number of each record that no edit touched, to its start and end in `data`."""
        for number, (start, end) in enumerate(file.spans):
            here = place[start:end]
            if (here >= 0).all() and (np.diff(here) == 1).all():
                self.whole[number] = (int(here[0]), int(here[0]) + end - start)

    def is_followed(self, number: int) -> bool:
        """Whether a whole record, or the end of the file, is where this one ends."""
        end = self.whole[number][1]
        start, _ = self.whole.get(number + 1, (len(self.data), 0))
        return start == end

    @property
    def longest_run(self) -> int:
        """How many whole records lie behind each other, at most."""
        runs = itertools.groupby(range(len(self.file.spans)), lambda each: each in self.whole)
        return max((len(list(run)) for whole, run in runs if whole), default=0)


def edits(file: Written) -> st.SearchStrategy[Edit]:
    """Flips, deletions, insertions and truncations, mostly near where records start."""
    size = len(file.data)
    near = st.builds(
        lambda span, by: min(max(span[0] + by, 0), size - 1),
        st.sampled_from(file.spans),
        st.integers(-8, 40),
    )
    place = st.one_of(near, near, st.integers(0, size - 1))

    def flip(at: int, mask: bytes) -> Edit:
        old = file.data[at : at + len(mask)]
        return Edit(at, at + len(old), bytes(a ^ b for a, b in zip(old, mask, strict=False)))

    masks = st.one_of(
        st.integers(0, 7).map(lambda bit: bytes([1 << bit])),
        st.binary(min_size=1, max_size=6).filter(any),
    )
    copies = st.builds(lambda at, length: file.data[at : at + length], place, st.integers(1, 3000))
    foreign = st.one_of(
        st.binary(min_size=1, max_size=60),
        st.sampled_from([b"\r\n", b"\n", bytes(4), bytes(500), b"\xff" * 9, b"250 OK\r\n"]),
        copies,
    )
    length = st.one_of(st.integers(1, 8), st.integers(1, 3000))
    return st.one_of(
        st.builds(flip, place, masks),
        st.builds(flip, place, masks),
        st.builds(lambda at, count: Edit(at, min(at + count, size), b""), place, length),
        st.builds(lambda at, by: Edit(at, at, by), place, foreign),
        st.builds(lambda at: Edit(at, size, b""), place),
    )


@st.composite
def several(draw: st.DrawFn, file: Written) -> list[Edit]:
    """Draw edits that do not overlap."""
    drawn = draw(st.lists(edits(file), min_size=1, max_size=6))
    apart: list[Edit] = []
    for edit in sorted(drawn, key=lambda each: (each.start, each.end)):
        if not apart or edit.start >= max(apart[-1].end, apart[-1].start + 1):
            apart.append(edit)
    return apart


def may_be_lost(file: Written, edit: Edit) -> set[int]:
    """Return the records that one edit may take with it."""
    count = len(file.spans)
    first = sum(end <= edit.start for _, end in file.spans)
    behind = sum(start < edit.end for start, _ in file.spans)
    lost = set(range(first - NEIGHBOURS, behind + NEIGHBOURS))
    return lost | set(range(behind, count)) if count - behind < CHAIN else lost


def read_back(folder: Path, data: bytes) -> Reading:
    path = folder / "input"
    path.write_bytes(data)
    return Reading(path)


def starts_packed(data: bytes) -> bool:
    """Whether an edit made the file start as a packed one does."""
    starts = [pack(b"")[:3] for pack in PACKINGS.values()]
    return data.startswith((*starts, b"PK"))


def ends_in_fill(variant: Variant) -> bool:
    """Whether what stands at the end, or is missing there, may be the fill of the last record.

    Without prefixes a record may have anything behind it; and the zeros behind a null segment are
    the rest of a block whose length is not told.
    """
    return variant.framing == "none" or variant.name == "rdw-null"


def missing(variant: Variant, damaged: Damaged, found: Reading) -> set[int]:
    """Return the whole records that are not where they belong, with their exact bytes.

    Without prefixes, one that nothing whole follows is there if its bytes are, whatever is behind.
    """
    there = dict(zip(found.offsets, found.bodies, strict=True))
    lost = set()
    for number, (start, _) in damaged.whole.items():
        body = damaged.file.bodies[number]
        here = [there.get(start + by, b"") for by in range(PREFIX + 1)]
        if variant.framing == "none" and not damaged.is_followed(number):
            here = [each[: len(body)] for each in here]
        if body not in here:
            lost.add(number)
    return lost


def assert_accounted(variant: Variant, damaged: Damaged, found: Reading, count: int) -> None:
    """Every byte is one of a record, or of what frames it, or told.

    To the byte where all that frames a record is four bytes, or none. Two segments may have been
    made of two records by an edit each, and then joined: four more. Elsewhere, no more may be
    gone than what framed the records of the whole file and what was put in.
    """
    size = len(damaged.data)
    told = sum(end - start for start, end in found.told(size))
    left = size - told - sum(map(len, found.bodies))
    if variant.name in ("none", "length", "rdw-unspanned"):
        framing = 0 if variant.name == "none" else 4
        spare = range(0, 4 * count + 1, 4) if variant.name == "rdw-unspanned" else [0]
        assert left - framing * len(found.bodies) in spare
    else:
        frames = len(damaged.file.data) - sum(map(len, damaged.file.bodies))
        most = frames + damaged.put_in + 64 * count
        assert 0 <= left <= (size if ends_in_fill(variant) else most)


def strictly(variant: Variant, damaged: Damaged) -> list[bytes] | None:
    """Return the records of a file in which nothing is wrong; None if something is.

    A record that has another one of the original file in it is not right, whatever its length says.
    """
    if variant.framing == "none":
        return None
    try:
        found = read(variant.framing, damaged.data)
    except ValueError:
        return None
    bodies = set(damaged.file.bodies)
    covers = any(each in other for each in bodies for other in found if other not in bodies)
    return None if covers else found


def assert_as_strict(bodies: list[bytes], found: Reading) -> None:
    """Hold that a whole file, however it came about, is read as what it is."""
    assert found.bodies == bodies
    assert found.damage == []


def read_damaged(folder: Path, variant: Variant, damaged: Damaged) -> Reading | None:
    """Read a file after edits; None where they made a whole one, or a packed one, of it.

    That a whole one is read as what it is, is held.
    """
    found = read_back(folder, damaged.data)
    whole = strictly(variant, damaged)
    if whole:
        assert_as_strict(whole, found)
    taken_for_packed = found.refused is not None and starts_packed(damaged.data)
    return None if whole or taken_for_packed else found


def assert_takes_few(folder: Path, variant: Variant, file: Written, edit: Edit) -> None:
    """Hold that an edit takes no more records with it than it may, and that they are told."""
    damaged = Damaged(file, [edit])
    found = read_damaged(folder, variant, damaged)
    if found is None:
        return
    lost = missing(variant, damaged, found)
    assert lost <= may_be_lost(file, edit), found.refused
    if found.refused is None:
        assert found.damage or not lost
        assert_accounted(variant, damaged, found, 1)


@every_variant
@given(number=st.integers(0, len(DUMPS) - 1), data=st.data())
@search(12)
def test_an_edit_takes_few_records_with_it(
    tmp_path: Path, variant: Variant, number: int, data: st.DataObject
) -> None:
    file = dump(number, variant)
    assert_takes_few(tmp_path, variant, file, data.draw(edits(file), label="edit"))


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
"""Edits by which the search found something: variant, start, end, and by what, or a copy of."""


@pytest.mark.parametrize("what", sorted(SEARCHED))
def test_an_edit_that_took_more_does_so_no_longer(tmp_path: Path, what: str) -> None:
    name, start, end, by = SEARCHED[what]
    for number in range(len(DUMPS)):
        file = dump(number, BY_NAME[name])
        edit = Edit(start, end, file.data[by] if isinstance(by, slice) else by)
        if end <= len(file.data):
            assert_takes_few(tmp_path, BY_NAME[name], file, edit)


def test_a_file_that_ends_between_two_records_of_a_block_is_told_to_be_cut(tmp_path: Path) -> None:
    file = dump(0, BY_NAME["bdw-unspanned"])
    _, end = file.spans[-3]
    missing_bytes = len(file.data) - end
    found = read_back(tmp_path, file.data[:end])
    assert len(found.bodies) == len(file.bodies) - 2
    (damage,) = found.damage
    assert (damage.offset, damage.length) == (end, 0)
    assert damage.reason == f"the file is cut: its last block has {missing_bytes} bytes more"


def test_what_is_lost_of_a_spanned_record_is_told_once(tmp_path: Path) -> None:
    """Behind a first segment without a last one stands a record whose length is wrong."""
    file = dump(0, BY_NAME["rdw-unspanned"])
    spans = file.spans
    first, (start, end) = spans[4][0] + 2, spans[5]
    edits = [Edit(first, first + 1, b"\1"), Edit(start + 40, start + 41, b"")]
    found = read_back(tmp_path, Damaged(file, edits).data)
    assert sum(each.length or 0 for each in found.damage) == end - 1 - spans[4][0]


@pytest.mark.parametrize("broken", range(0, 28, 9))
@pytest.mark.parametrize("number", range(1, 28, 5))
def test_a_word_like_that_of_a_block_makes_no_file_of_blocks(
    tmp_path: Path, number: int, broken: int
) -> None:
    """In front of a record stands one that says how long a block is, but none is so long."""
    path = tmp_path / "input"
    file = dump(0, BY_NAME["rdw-unspanned"])
    bad = flipped(file, broken, b"\xff\xff\xff\xff")
    at = file.spans[number][0]
    path.write_bytes(bad[:at] + bdw(20_000) + bad[at:])
    assert look_at(path)[1].name == "rdw"


@every_variant
@given(number=st.integers(0, len(DUMPS) - 1), data=st.data())
@search(12)
def test_what_several_edits_left_whole_is_there_or_told(
    tmp_path: Path, variant: Variant, number: int, data: st.DataObject
) -> None:
    file = dump(number, variant)
    drawn = data.draw(several(file), label="edits")
    damaged = Damaged(file, drawn)
    found = read_damaged(tmp_path, variant, damaged)
    if found is None:
        return
    if found.refused is not None:
        assert damaged.longest_run < ENOUGH, found.refused
        return
    told = found.told(len(damaged.data))
    for each in sorted(missing(variant, damaged, found)):
        start, end = damaged.whole[each]
        is_told = any(first < end and start < last for first, last in told)
        assert is_told, f"record {each} is neither there nor told"
    if damaged.longest_run >= CHAIN:  # else it may be taken for another variant
        assert_accounted(variant, damaged, found, len(drawn))


@every_variant
@pytest.mark.parametrize("number", range(len(DUMPS)), ids=lambda each: DUMPS[each].name)
def test_a_record_is_where_it_says(tmp_path: Path, variant: Variant, number: int) -> None:
    file = dump(number, variant)
    found = read_back(tmp_path, file.data)
    assert (found.bodies, found.damage) == (list(file.bodies), [])
    assert found.numbers == list(range(1, len(file.bodies) + 1))
    for offset, (start, _) in zip(found.offsets, file.spans, strict=True):
        assert start <= offset <= start + PREFIX


@every_variant
def test_a_file_that_was_cut_has_all_before_the_cut(tmp_path: Path, variant: Variant) -> None:
    file = dump(0, variant)
    data = cut(file, 20)
    found = read_back(tmp_path, data)
    damaged = Damaged(file, [Edit(len(file.data) - 20, len(file.data), b"")])
    assert missing(variant, damaged, found) == set()
    assert found.damage or ends_in_fill(variant) or strictly(variant, damaged)


@every_variant
def test_zeros_at_the_end_cost_nothing(tmp_path: Path, variant: Variant) -> None:
    file = dump(0, variant)
    found = read_back(tmp_path, padded(file))
    assert found.bodies[:-1] == list(file.bodies[:-1])
    if variant.framing == "none":
        assert found.bodies[-1].rstrip(b"\0") == file.bodies[-1].rstrip(b"\0")
    else:
        assert found.bodies[-1] == file.bodies[-1]
        told = [each.offset >= file.spans[-1][1] for each in found.damage]
        assert told == ([] if ends_in_fill(variant) else [True])


@pytest.mark.parametrize("end", [b"\r\n", b"\n"], ids=["crlf", "lf"])
def test_line_ends_behind_every_record_without_lengths_cost_nothing(
    tmp_path: Path, end: bytes
) -> None:
    file = dump(0, BY_NAME["none"])
    found = read_back(tmp_path, with_line_ends(file, end))
    bodies = [each[: -len(end)] if each.endswith(end) else each for each in found.bodies]
    assert bodies == list(file.bodies)


@pytest.mark.parametrize("name", ["rdw-unspanned", "rdw", "length", "ftp-block", "ftp-block-short"])
@pytest.mark.parametrize("end", [b"\r\n", b"\n"], ids=["crlf", "lf"])
def test_line_ends_behind_every_record_cost_nothing_and_are_told_once(
    tmp_path: Path, name: str, end: bytes
) -> None:
    """But for the last one, which is at the end of the file."""
    file = dump(0, BY_NAME[name])
    found = read_back(tmp_path, with_line_ends(file, end))
    assert found.bodies == list(file.bodies)
    count = len(file.bodies) - 1
    first, last = [(each.offset, each.length, each.reason) for each in found.damage]
    assert first == (file.spans[0][1], count * len(end), f"{count} {LINE_ENDS}")
    assert last == (file.spans[-1][1] + count * len(end), len(end), LINE_END)


MASKS = ("80", "FFFF", "0001", "0010", "0000FFFF", "0000FC00", "FFFFFFFF")


@prefixed_variant
@given(mask=st.sampled_from(MASKS), number=st.sampled_from([0, 1, 10]))
@search(8)
def test_a_prefix_that_is_hit_costs_its_record(
    tmp_path: Path, variant: Variant, mask: str, number: int
) -> None:
    file = dump(0, variant)
    data = flipped(file, number, bytes.fromhex(mask))
    start = file.spans[number][0]
    edit = Edit(start, start + len(mask) // 2, data[start : start + len(mask) // 2])
    damaged = Damaged(file, [edit])
    assert damaged.data == data
    found = read_damaged(tmp_path, variant, damaged)
    if found is None:
        return
    assert missing(variant, damaged, found) <= may_be_lost(file, edit), found.refused
    assert found.damage


GARBAGE = {
    "text": b"226 Transfer complete.\r\n" * 4,
    "high": b"\xff" * 100,
    "zeros": bytes(100),
    "blanks": b"\x40" * 333,
}


@every_variant
@pytest.mark.parametrize("kind", sorted(GARBAGE))
@pytest.mark.parametrize("number", [0, 10])
def test_garbage_between_records_costs_none_of_them(
    tmp_path: Path, variant: Variant, kind: str, number: int
) -> None:
    file = dump(0, variant)
    garbage = GARBAGE[kind]
    found = read_back(tmp_path, with_garbage(file, number, garbage))
    start = file.spans[number][0]
    damaged = Damaged(file, [Edit(start, start, garbage)])
    lost = missing(variant, damaged, found)
    if variant.framing in ("none", "ftp-record"):  # it may be the end or the start of a record
        assert lost <= {number - 1, number}
    else:
        assert lost == set()
        told = found.told(len(damaged.data))
        fill = kind == "zeros" and ends_in_fill(variant)
        assert fill or any(first < start + len(garbage) and start < last for first, last in told)


@prefixed_variant
def test_a_header_that_nothing_is_chained_to_is_no_record(tmp_path: Path, variant: Variant) -> None:
    file = dump(0, variant)
    (start, end), (whole, _) = file.spans[10], file.spans[5]
    head = file.data[whole : whole + 40]
    garbage = (b"?" * 50 + head).ljust(end - start, b"?")
    assert len(garbage) == end - start
    found = read_back(tmp_path, file.data[:start] + garbage + file.data[end:])
    assert found.bodies == [*file.bodies[:10], *file.bodies[11:]]
    firsts, lasts = zip(*found.told(len(file.data)), strict=True)
    assert file.spans[9][1] <= min(firsts) <= start
    assert end <= max(lasts) <= file.spans[11][0]


@pytest.mark.parametrize("prefix", [no_bdw, bdw], ids=["rdw", "bdw"])
@pytest.mark.parametrize("which", [0, 1, -1], ids=["first", "middle", "last"])
def test_a_segment_that_is_lost_costs_its_record(
    tmp_path: Path, which: int, prefix: Callable[[int], bytes]
) -> None:
    """A first and a last segment look like a whole record; but what is in it is not."""
    file = dump(0, BY_NAME["rdw-respanned"])
    segments = [each.number for block in blocks_of(file.bodies, SMALL_BLOCK) for each in block]
    number = next(each for each in segments if segments.count(each) == CHAIN)
    assert number is not None
    data = without_segment(file.bodies, SMALL_BLOCK, number, which, prefix)
    found = read_back(tmp_path, data)
    others = [each for each in found.bodies if each in file.bodies]
    assert others == [*file.bodies[:number], *file.bodies[number + 1 :]]
    inputs = open_inputs([tmp_path / "input"])
    assert sum(1 for _ in inputs.batches(wanted_tables(table_names())))
    assert inputs.damage


@every_variant
def test_two_files_in_one_are_read_as_two(tmp_path: Path, variant: Variant) -> None:
    one, two = dump(0, variant), dump(1, variant)
    found = read_back(tmp_path, one.data + two.data)
    assert found.bodies == [*one.bodies, *two.bodies]
    assert found.damage == []


@every_variant
@pytest.mark.parametrize("size", [2, 20, 1000])
def test_two_files_in_one_of_which_the_first_was_cut(
    tmp_path: Path, variant: Variant, size: int
) -> None:
    one, two = dump(0, variant), dump(1, variant)
    shift = len(one.data)
    both = Written(
        one.data + two.data,
        one.bodies + two.bodies,
        one.spans + tuple((start + shift, end + shift) for start, end in two.spans),
    )
    edit = Edit(shift - size, shift, b"")
    damaged = Damaged(both, [edit])
    found = read_back(tmp_path, cut(one, size) + two.data)
    assert missing(variant, damaged, found) <= may_be_lost(both, edit), found.refused
    assert found.damage or strictly(variant, damaged) or ends_in_fill(variant)


TRANSLATED: dict[str, Callable[[Written, str], bytes]] = {
    "all bytes": lambda file, code_page: translated(file.data, code_page),
    "with line ends": lambda file, code_page: translated(with_line_ends(file), code_page),
    "and line ends": lambda file, code_page: translated(file.data, code_page) + b"\r\n",
    "lines": lambda file, code_page: translated_lines(file, code_page),
    "unix lines": lambda file, code_page: translated_lines(file, code_page, b"\n"),
    "utf-8": lambda file, code_page: as_utf_8(file.data, code_page),
}


@pytest.mark.parametrize("name", ["rdw", "rdw-unspanned", "bdw", "none", "length"])
@pytest.mark.parametrize("code_page", CODE_PAGES)
@pytest.mark.parametrize("how", sorted(TRANSLATED))
def test_a_translated_file_is_refused_with_the_way_out(
    tmp_path: Path, how: str, code_page: str, name: str
) -> None:
    file = dump(0, BY_NAME[name])
    found = read_back(tmp_path, TRANSLATED[how](file, code_page))
    assert (found.bodies, found.refused is None) == ([], False)
    said = str(found.refused)
    assert re.search(r"translat", said)
    assert re.search(r"transfer.*\bagain\b", said)
    assert re.search(r"\bbinary\b", said)


@pytest.mark.parametrize("variant", [BY_NAME[each] for each in FRAMINGS], ids=lambda v: v.name)
def test_info_of_a_damaged_file_counts_the_good_records_and_says_so(
    tmp_path: Path, variant: Variant
) -> None:
    path = tmp_path / "input"
    file = dump(0, variant)
    start, end = file.spans[10]
    end -= 2  # what ends a record of FTP record structure: the next one starts behind it
    path.write_bytes(file.data[:start] + b"?" * (end - start) + file.data[end:])
    result = CliRunner().invoke(main, ["info", str(path), "--format", "json"])
    assert result.exit_code == 4
    found = json.loads(result.stdout)
    assert found["records"] == len(file.bodies) - 1
    assert found["inputs"][0]["framing"] == variant.framing
    assert found["damage_count"] > 0
    assert {each["source"] for each in found["damage"]} == {str(path)}


def test_info_of_a_translated_file_is_one_message(tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(translated(dump(0, BY_NAME["rdw"]).data, "cp1047"))
    result = CliRunner().invoke(main, ["info", str(path)])
    assert (result.exit_code, result.stdout) == (8, "")
    assert "binary" in result.stderr
    assert "Traceback" not in result.stderr


@every_variant
def test_a_copy_in_text_mode_keeps_what_holds_no_line_end(tmp_path: Path, variant: Variant) -> None:
    """Every X'0A' has become X'0D0A': a record that held none is as it was, or told."""
    file = dump(0, variant)
    ends = [at for at, each in enumerate(file.data) if each == 0x0A]
    damaged = Damaged(file, [Edit(at, at, b"\r") for at in ends])
    assert damaged.data == file.data.replace(b"\n", b"\r\n")
    found = read_back(tmp_path, damaged.data)
    if found.refused is not None:
        assert damaged.longest_run < ENOUGH, found.refused
        return
    told = found.told(len(damaged.data))
    for each in sorted(missing(variant, damaged, found)):
        start, end = damaged.whole[each]
        assert any(first < end and start < last for first, last in told)


@pytest.mark.parametrize("size", [0, 1, 17, 1000, 100_000])
@pytest.mark.parametrize("byte", [0x00, 0x40, 0x5E, 0x80, 0xFF])
def test_what_is_no_dump_at_all_is_refused(tmp_path: Path, byte: int, size: int) -> None:
    assert read_back(tmp_path, bytes([byte]) * size).refused


@given(data=st.binary(max_size=3000))
@search(100)
def test_random_bytes_are_no_dump(tmp_path: Path, data: bytes) -> None:
    found = read_back(tmp_path, data)
    assert found.refused
    assert found.bodies == []
