"""The corrupter, tools/corrupt.py: what it makes, what it knows of that, and what it notices."""

from __future__ import annotations

import importlib
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.paths import FIXTURE_FILES, PROJECT

pytestmark = pytest.mark.slow

TOOLS = PROJECT / "tools"
FEW = 200
PLAIN = "rdw", "bdw", "length", "ftp-block", "ftp-record", "none"


@pytest.fixture(scope="module")
def tool() -> Iterator[SimpleNamespace]:
    """The modules of the tool, which stand in tools/ as scripts have theirs."""
    names = ["samples", "framings", "packings", "rope", "mutations", "strict", "cases"]
    names += ["reading", "coverage"]
    sys.path.insert(0, str(TOOLS))
    try:
        found = {name: importlib.import_module(f"corruption.{name}") for name in names}
        judging = importlib.import_module("corruption.judging")
        yield SimpleNamespace(**found, judging=judging, corrupt=importlib.import_module("corrupt"))
    finally:
        sys.path.remove(str(TOOLS))


@pytest.fixture(scope="module")
def cases(tool: SimpleNamespace) -> Any:
    return tool.cases.Cases(1, FIXTURE_FILES)


def records(tool: SimpleNamespace, draw: random.Random, count: int = 5) -> list[Any]:
    return [tool.samples.of_dump(draw)] + [tool.samples.made(draw) for _ in range(count)]


@pytest.mark.parametrize("framing", PLAIN)
def test_what_is_written_is_read_by_what_takes_only_sound_files(
    tool: SimpleNamespace, framing: str
) -> None:
    draw = random.Random(framing)
    for _ in range(FEW):
        samples = records(tool, draw)
        built = tool.framings.drawn(draw, framing, samples)
        found = tool.strict.strictly(framing, bytes(built.data))
        assert found == [(each.start, each.sample.body) for each in built.records]
        assert [each.sample for each in built.records] == samples
        assert all(each.sample.exact for each in built.records)


@pytest.mark.parametrize("framing", PLAIN)
def test_a_cut_file_is_not_taken_for_sound(tool: SimpleNamespace, framing: str) -> None:
    draw = random.Random(framing)
    for _ in range(FEW):
        data = bytes(tool.framings.drawn(draw, framing, records(tool, draw)).data)
        assert tool.strict.strictly(framing, data[: -draw.randint(5, 14)]) is None


def test_a_rope_knows_what_is_untouched(tool: SimpleNamespace) -> None:
    rope = tool.rope.Rope(b"abcdefgh")
    rope.set(1, b"bX")
    rope.replace(5, 5, tool.rope.Piece(b"--"))
    rope.replace(0, 0, rope.piece(7, 10))
    assert bytes(rope.data) == b"fghabXde--fgh"
    assert rope.origin.tolist() == [5, 6, 7, 0, 1, -1, 3, 4, -1, -1, 5, 6, 7]
    assert rope.places([0, 5]) == {5: [0, 10], 0: [3]}
    assert [rope.whole()[at] for at in (0, 3, 6, 10)] == [3, 5, 8, 13]


def test_every_mutation_keeps_a_rope_true(tool: SimpleNamespace) -> None:
    draw = random.Random(1)
    for mutate in tool.mutations.MUTATIONS.values():
        changed = False
        for framing in PLAIN * 10:
            built = tool.framings.drawn(draw, framing, records(tool, draw, 3))
            rope = tool.rope.Rope(built.data)
            mutate(draw, rope, built)
            assert len(rope.data) == len(rope.origin)
            kept = [(at, old) for at, old in enumerate(rope.origin.tolist()) if old >= 0]
            assert all(rope.data[at] == built.data[old] for at, old in kept)
            changed |= rope.data != built.data
        assert changed


def test_a_seed_makes_the_same_inputs(tool: SimpleNamespace, cases: Any) -> None:
    again = tool.cases.Cases(1, FIXTURE_FILES)
    other = tool.cases.Cases(2, FIXTURE_FILES)
    assert [cases.case(each).file for each in range(40)] == [
        again.case(each).file for each in range(40)
    ]
    assert cases.case(3).file != other.case(3).file


def written(tool: SimpleNamespace, framing: str, between: bytes = b"") -> Any:
    """Return a case in which nothing was done to a file but bytes put in between two records."""
    draw = random.Random(1)
    built = tool.framings.drawn(draw, framing, records(tool, draw))
    case = tool.cases.Case(
        1, framing, bytes(built.data), tool.rope.Rope(built.data), list(built.records)
    )
    at = built.records[2].end
    case.rope.replace(at, at, tool.rope.Piece(between))
    case.file = bytes(case.rope.data)
    return case


def without_a_row(reading: Any) -> None:
    reading.rows.pop(1)


def with_a_longer_row(reading: Any) -> None:
    reading.rows[1] = replace(reading.rows[1], length=reading.rows[1].length + 1)


def with_a_row_elsewhere(reading: Any) -> None:
    reading.rows[3] = replace(reading.rows[3], offset=reading.rows[3].offset - 1)


def with_another_type(reading: Any) -> None:
    reading.rows[1] = replace(reading.rows[1], type=9)


def with_other_values(reading: Any) -> None:
    for values in reading.values.values():
        values[:] = [(at, value + 1) for at, value in values]


def without_damage(reading: Any) -> None:
    reading.damage.clear()


def refused(reading: Any) -> None:
    reading.refused = "no SMF records in it"


def failed(reading: Any) -> None:
    reading.failed = "ValueError"


def noticed(
    tool: SimpleNamespace, folder: Any, case: Any, manner: Any, spoil: Callable[[Any], None]
) -> set[str]:
    """Return what is found in a reading that is spoiled; before that, nothing is."""
    ((reading,), _) = tool.reading.read(folder, [case.file], manner)
    assert [*tool.judging.Judge(case, manner, reading).findings()] == []
    spoil(reading)
    return {each.what for each in tool.judging.Judge(case, manner, reading).findings()}


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (without_a_row, "an untouched record is gone, in silence"),
        (with_a_longer_row, "an untouched record has another length, in silence"),
        (with_a_row_elsewhere, "an untouched record is gone, but told"),
        (with_another_type, "a row shows what is not there"),
        (with_other_values, "an untouched record has other values"),
        (without_damage, "bytes are in no record and not told"),
        (refused, "an untouched record, but the file is refused"),
        (failed, "fails: ValueError"),
    ],
)
def test_what_must_not_be_is_noticed(
    tool: SimpleNamespace, tmp_path: Any, spoil: Callable[[Any], None], what: str
) -> None:
    manner = tool.cases.Manner("rdw", "small", small=False)
    case = written(tool, "rdw", b"\r\n")
    assert what in noticed(tool, tmp_path, case, manner, spoil)


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (without_a_row, "a sound file is read as another one"),
        (refused, "a sound file is refused"),
    ],
)
def test_a_sound_file_has_to_be_read_as_what_it_is(
    tool: SimpleNamespace, tmp_path: Any, spoil: Callable[[Any], None], what: str
) -> None:
    manner = tool.cases.Manner("length", "none", small=True)
    case = written(tool, "length")
    assert what in noticed(tool, tmp_path, case, manner, spoil)


@pytest.mark.parametrize(
    ("smf_type", "longer", "behind", "lost"),
    [
        pytest.param(52, 0, True, False, id="of another product"),
        pytest.param(115, 0, True, True, id="of MQ, which tells that it is shorter"),
        pytest.param(52, 1, True, True, id="of another product and another length"),
        pytest.param(52, 0, False, True, id="of another product with no record behind"),
    ],
)
def test_a_record_in_another_one_is_only_lost_if_the_outer_one_is_known_to_be_wrong(
    tool: SimpleNamespace, smf_type: int, longer: int, behind: bool, lost: bool
) -> None:
    """The outer one was of MQ until its type was hit."""
    draw = random.Random(1)
    first, inner, last = records(tool, draw, 2)[1], *records(tool, draw, 2)[:0:-1]
    outer = replace(first, body=first.body + bytes(100))
    built = tool.framings.ftp_block([outer, inner, last], 0xFFFF, ended=False)
    case = tool.cases.Case(
        1, "ftp-block", bytes(built.data), tool.rope.Rope(built.data), list(built.records)
    )
    start, end = built.records[1].start, built.records[1].end
    case.rope.set(1, (len(outer.body) + longer).to_bytes(2, "big"))
    case.rope.set(4, bytes([smf_type]))
    hidden = case.rope.piece(start, end)
    case.rope.replace(start, end if behind else end + 9, tool.rope.Piece(b""))
    case.rope.replace(300, 300 + end - start, hidden)
    case.file = bytes(case.rope.data)
    reading = tool.reading.Reading(framing="ftp-block")
    judge = tool.judging.Judge(case, tool.cases.Manner("ftp-block", "none", small=False), reading)
    found = [each.detail for each in judge.findings() if "gone" in each.what]
    assert any("at 300" in each for each in found) == lost


def judged(tool: SimpleNamespace, case: Any, reading: Any, framing: str | None) -> set[str]:
    manner = tool.cases.Manner(framing, "none", small=False)
    return {each.what for each in tool.judging.Judge(case, manner, reading).findings()}


def read_one(tool: SimpleNamespace, folder: Any, case: Any, framing: str | None) -> Any:
    case.file = bytes(case.rope.data)
    manner = tool.cases.Manner(framing, "none", small=False)
    ((reading,), _) = tool.reading.read(folder, [case.file], manner)
    return reading


def test_line_ends_that_are_told_together_hide_nothing_behind_the_first(
    tool: SimpleNamespace, tmp_path: Any
) -> None:
    """They are behind a record each: their number says nothing of the bytes behind the first."""
    case = written(tool, "rdw")
    ends = [each.end for each in case.records[1:4]]
    for at in reversed(ends):
        case.rope.replace(at, at, tool.rope.Piece(b"\n"))
    reading = read_one(tool, tmp_path, case, "rdw")
    assert [each.length for each in reading.damage] == [3]
    assert judged(tool, case, reading, "rdw") == set()
    case.rope.replace(ends[0] + 1, ends[0] + 1, tool.rope.Piece(b"\xff\xff"))
    reading.rows = [
        replace(each, offset=each.offset + 2 * (each.offset > ends[0])) for each in reading.rows
    ]
    assert judged(tool, case, reading, "rdw") == {"bytes are in no record and not told"}


def alone(tool: SimpleNamespace, sample: Any, framing: str = "rdw") -> Any:
    """Return a case of one record."""
    built = tool.framings.drawn(random.Random(1), framing, [sample])
    rope = tool.rope.Rope(built.data)
    return tool.cases.Case(1, framing, bytes(built.data), rope, list(built.records))


def test_a_record_read_in_another_framing_is_there_by_its_header(
    tool: SimpleNamespace, tmp_path: Any
) -> None:
    case = alone(tool, tool.samples.made(random.Random(1)), "length")
    case.rope.replace(0, 4, tool.rope.Piece(b""))
    reading = read_one(tool, tmp_path, case, None)
    assert (reading.framing, [each.offset for each in reading.rows]) == ("none", [0])
    assert judged(tool, case, reading, None) == set()
    reading.rows[0] = replace(reading.rows[0], offset=2)
    assert "a damaged record is gone in silence" in judged(tool, case, reading, None)


def test_a_frame_of_the_same_bytes_from_elsewhere_is_a_frame(
    tool: SimpleNamespace, tmp_path: Any
) -> None:
    """What stands inside of its record is data; not so if it is another frame."""
    head = tool.samples.of_dump(random.Random(1)).body
    outer = tool.samples.Sample(head[:1] + b"\x50" + head[2:] + bytes(90))
    case = alone(tool, outer)
    start, end = case.records[0].head
    case.rope.set(end + 20, bytes.fromhex("0fff0000"))
    case.rope.replace(end + 24, end + 38, case.rope.piece(start, end))
    case.rope.replace(0, 4, tool.rope.Piece(bytes(case.rope.data[:4])))
    reading = read_one(tool, tmp_path, case, "rdw")
    assert len(reading.rows) == 1
    assert judged(tool, case, reading, "rdw") == set()
    case.rope.set(1, bytes([case.rope.data[1] - 1]))
    assert "a damaged record is gone in silence" in judged(tool, case, reading, "rdw")


def test_one_record_shows_no_framing_but_is_not_lost_in_silence(
    tool: SimpleNamespace, tmp_path: Any
) -> None:
    case = alone(tool, tool.samples.made(random.Random(1)), "none")
    case.rope.replace(0, 0, tool.rope.Piece(bytes.fromhex("7fff0000")))
    reading = read_one(tool, tmp_path, case, None)
    assert (reading.framing == "none", reading.rows) == (False, [])
    assert judged(tool, case, reading, None) == set()
    assert judged(tool, case, reading, "none") == {"an untouched record is gone, but told"}
    reading.damage.clear()
    assert "an untouched record is gone, in silence" in judged(tool, case, reading, None)


@pytest.mark.parametrize("removed", [0, 3])
def test_packed_data_that_unpack_to_something_else_are_judged_by_that(
    tool: SimpleNamespace, tmp_path: Any, removed: int
) -> None:
    case = written(tool, "rdw")
    at = case.records[2].head[1] + 1
    found = case.rope.data[:at] + b"\xff" * (3 - removed) + case.rope.data[at + 3 :]
    tool.cases.overlay(case.rope, bytes(found))
    assert bytes(case.rope.data) == bytes(found)
    reading = read_one(tool, tmp_path, case, "rdw")
    assert judged(tool, case, reading, "rdw") == set()
    reading.rows.pop()
    lost = {"an untouched record is gone, in silence", "a sound file is read as another one"}
    assert lost & judged(tool, case, reading, "rdw")


NULL = bytes.fromhex("0008800000000000")
BDW = bytes.fromhex("00640000")


@pytest.mark.parametrize(
    ("framing", "gap", "only"),
    [
        pytest.param("bdw", NULL + bytes(20) + BDW, True, id="zeros up to a block"),
        pytest.param("bdw", NULL + bytes(20), True, id="zeros up to a record"),
        pytest.param("bdw", NULL + bytes(20) + b"\x12\x34\x56", False, id="zeros, other bytes"),
        pytest.param("bdw", bytes(20) + BDW, False, id="zeros behind no null segment"),
        pytest.param("length", NULL, False, id="what frames nothing where lengths do"),
        pytest.param("ftp-record", b"\xff\1\xff\2", True, id="marks"),
        pytest.param("ftp-record", b"\xff\5", False, id="no mark"),
    ],
)
def test_zeros_do_nothing_but_frame_records_only_behind_a_null_segment(
    tool: SimpleNamespace, framing: str, gap: bytes, only: bool
) -> None:
    assert tool.coverage.framing_only(framing, gap) == only


@pytest.mark.parametrize(
    ("word", "length"),
    [("00640000", 100), ("80000100", 256), ("00648000", 0), ("80000001", 0), ("0004", 0)],
)
def test_a_block_descriptor_word_is_one_that_has_room_for_a_record(
    tool: SimpleNamespace, word: str, length: int
) -> None:
    assert tool.strict.block_length(bytes.fromhex(word)) == length


@pytest.mark.parametrize("longer", [0, 1])
def test_a_record_in_one_that_says_twice_how_long_it_is_is_data(
    tool: SimpleNamespace, longer: int
) -> None:
    """Whatever is behind; not so if its triplets do not say what its frame says."""
    draw = random.Random(1)
    outer = max((tool.samples.made(draw) for _ in range(20)), key=lambda each: len(each.body))
    inner, last = tool.samples.of_dump(draw), tool.samples.made(draw)
    built = tool.framings.ftp_block([outer, inner, last], 0xFFFF, ended=False)
    rope = tool.rope.Rope(built.data)
    case = tool.cases.Case(1, "ftp-block", bytes(built.data), rope, list(built.records))
    start, end = built.records[1].start, built.records[1].end
    hidden = rope.piece(start, end)
    rope.replace(start, end + 9, tool.rope.Piece(b""))
    rope.replace(200, 200 + end - start, hidden)
    at = 3 + 24 + 4  # the length in the first triplet
    length = int.from_bytes(rope.data[at : at + 2], "big") + longer
    rope.set(at, length.to_bytes(2, "big"))
    judge = tool.judging.Judge(
        case,
        tool.cases.Manner("ftp-block", "none", small=False),
        tool.reading.Reading(framing="ftp-block"),
    )
    found = [each.detail for each in judge.findings() if "gone" in each.what]
    assert any("at 200" in each for each in found) == bool(longer)


def test_of_two_records_that_share_a_byte_one_is_enough(
    tool: SimpleNamespace, tmp_path: Any
) -> None:
    draw = random.Random(1)
    made = [tool.samples.made(draw) for _ in range(100)]
    first = next(each for each in made if each.body[-1] == 1)
    second = next(each for each in made if 0x100 <= len(each.body) + 4 < 0x200)
    built = tool.framings.words([first, second, made[0]], 27_998, None, spanned=False, held=0)
    rope = tool.rope.Rope(built.data)
    case = tool.cases.Case(1, "rdw", bytes(built.data), rope, list(built.records))
    border = built.records[1].start
    rope.replace(border, border + 1, tool.rope.Piece(b""))
    rope.set(border + 8, bytes([rope.data[border + 8] ^ 1]))
    reading = read_one(tool, tmp_path, case, "rdw")
    assert [each.offset for each in reading.rows] == [border - 1, built.records[2].start - 1]
    assert judged(tool, case, reading, "rdw") == set()
    reading.rows.pop(0)
    assert "an untouched record is gone, but told" in judged(tool, case, reading, "rdw")


@pytest.mark.parametrize("longer", [0, 1])
def test_one_record_read_in_another_framing_is_there_if_it_is_as_long(
    tool: SimpleNamespace, longer: int
) -> None:
    sample = tool.samples.made(random.Random(1))
    case = alone(tool, sample)
    case.rope.replace(0, 0, tool.rope.Piece(b"\xff"))
    flags, smf_type = sample.body[:2]
    row = tool.reading.Row(5, len(sample.body) + 4 + longer, flags, smf_type, None, None, None)
    reading = tool.reading.Reading(rows=[row], framing="none")
    found = "an untouched record has another length, in silence" in judged(
        tool, case, reading, None
    )
    assert found == bool(longer)
