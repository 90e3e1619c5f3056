"""A block is declared once: it builds, it parses, and it knows what it does not hold."""

from __future__ import annotations

import datetime as dt
import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import pytest
from construct import Array, Int32ub, Struct
from hypothesis import given
from hypothesis import strategies as st

import smfparse.schemas
from smfparse.errors import LayoutError
from smfparse.layout import (
    TIMESTAMP,
    Bit,
    Block,
    Code,
    Combine,
    Count32,
    Count64,
    Duration,
    Field,
    Flags,
    Gauge32,
    Header,
    Hex,
    Instant,
    Kind,
    MicrosecondCount,
    Number,
    Repeat,
    Reserved,
    SmfMoment,
    SquareSum,
    Text,
    Wide,
    Word,
    Word32,
    block,
    header,
    since,
)
from tests.support.searching import search

BLOCKS = {
    each.name: each
    for module in pkgutil.iter_modules(smfparse.schemas.__path__)
    for each in vars(importlib.import_module(f"smfparse.schemas.{module.name}")).values()
    if isinstance(each, Block)
}

ALPHABET = [bytes([byte]).decode("cp500") for byte in range(256)]
FIRST, LAST = dt.datetime(1990, 1, 1), dt.datetime(2041, 12, 31, 23, 59, 59, 999999)
"""Moments that are believed."""
LOW_WORD = 2**32
"""A latch wait with more than that is read from its high word, so it is not built."""


def numbers(kind: Number) -> st.SearchStrategy[Any]:
    if isinstance(kind, MicrosecondCount):
        return st.integers(0, 2**63 - 1)
    least = -(1 << 8 * kind.width - 1) if kind.fact == "int" else 0
    whole = st.integers(least, least + (1 << 8 * kind.width) - 1)
    if kind.null is None:
        return whole
    return st.one_of(whole.filter(lambda number: number != kind.null), st.none())


def moments(kind: Instant | SmfMoment) -> st.SearchStrategy[dt.datetime]:
    if isinstance(kind, SmfMoment):
        return st.datetimes(FIRST, LAST).map(
            lambda drawn: drawn.replace(microsecond=drawn.microsecond // 10_000 * 10_000)
        )
    zone = dt.UTC if kind.shown[0].arrow == TIMESTAMP else None
    return st.datetimes(FIRST, LAST, timezones=st.just(zone))


def values(kind: Kind) -> st.SearchStrategy[Any]:
    """Draw what a field of this kind can hold, in the form in which parsing gives it."""
    match kind:
        case Number():
            return numbers(kind)
        case Duration():
            return st.integers(0, LOW_WORD - 1).map(lambda units: units / 4096)
        case Instant() | SmfMoment():
            return st.none() | moments(kind)
        case Wide():
            return st.integers(0, 2**128 - 1)
        case Text():
            text = st.text(st.sampled_from(ALPHABET), max_size=kind.width)
            return text.map(lambda drawn: drawn.rstrip("\0 "))
        case Hex():
            return st.binary(min_size=kind.width, max_size=kind.width).map(
                lambda drawn: drawn.hex().upper()
            )
        case Reserved():
            return st.binary(min_size=kind.width, max_size=kind.width)
    raise AssertionError(f"no strategy for {kind!r}")


def entries(group: Array) -> st.SearchStrategy[list[Any]]:
    """Draw two entries and repeat them: 100 different ones take hypothesis too long."""
    if isinstance(group.subcon, Struct):
        one = st.fixed_dictionaries(
            {each.name: values(_bare(each.subcon)) for each in group.subcon.subcons}
        )
    else:
        one = values(_bare(group.subcon))
    pair = st.tuples(one, one)
    return pair.map(lambda drawn: [drawn[number % 2] for number in range(group.count)])


def _bare(kind: Any) -> Any:
    while not isinstance(kind, Kind):
        kind = kind.subcon
    return kind


def contents(which: Block) -> st.SearchStrategy[dict[str, Any]]:
    """Draw all of a block but its header and its version word."""
    left_out = {which.version.name} if which.version else set()
    return st.fixed_dictionaries(
        {
            name: entries(member) if isinstance(member, Array) else values(member)
            for name, (_, member) in which.members.items()
            if name not in left_out and not isinstance(member, Header)
        }
    )


@pytest.mark.parametrize("name", BLOCKS)
@given(data=st.data())
@search(5)
def test_every_block_gives_back_what_it_was_built_from(name: str, data: st.DataObject):
    which = BLOCKS[name]
    given_values = data.draw(contents(which))
    if which.version:
        given_values[which.version.name] = max(which.version_words.values())
    built = which.build(given_values)
    parsed = which.parse(built)
    assert len(built) == which.size
    assert {field: parsed[field] for field in given_values} == given_values


@pytest.mark.parametrize("name", BLOCKS)
def test_every_block_builds_its_own_header_and_keeps_the_bytes_behind_its_map(name: str):
    """Parsed from nothing it holds nothing, and none of its tables has a column twice."""
    which = BLOCKS[name]
    built = which.build({})
    assert len(built) == which.size
    if which.eyecatcher:
        assert built[2:4] == which.size.to_bytes(2, "big")
        assert built[4:8] == name.encode("cp500")
    assert which.parse(which.build({"tail": b"later"}))["tail"] == b"later"
    own, children = which.rows(which.parse(b""))
    assert set(own.values()) <= {None}
    assert all(rows == [] for rows in children.values())
    for table in (which.columns, *(each.columns for each in which.children)):
        names = [column.name for column in table]
        assert sorted(set(names)) == sorted(names)


PAIR = Struct("calls" / Count32 * "calls", "time" / Count64 * "time")
TINY = block(
    "TINY",
    "A small block",
    header("tinyid tinyll tinyeye", "AB12", "TINY"),
    "version" / Word32 * "Version word",
    "colour" / Code(1, {1: Word("Red")}) * "Colour",
    "pad" / Reserved(3) * "Reserved",
    since("version 2", "late" / Count32("pages") * "Came with version 2"),
    since("9.1", "groups" / Repeat("tiny_pair", PAIR, side=("left", "right")) * "Pairs"),
    "levels" / Array(2, Gauge32) * "Levels",
    lengths={"8.0": 20, "9.1": 52},
    version_words={"8.0": 1, "9.1": 2},
)


def tiny(*, version: int = 2) -> bytes:
    return TINY.build(
        {
            "version": version,
            "colour": 1,
            "late": 3,
            "groups": [{"calls": 4, "time": 5}, {"calls": 6, "time": 7}],
            "levels": [8, 9],
        }
    )


def test_a_block_is_written_as_its_bytes_stand():
    assert tiny().hex().upper() == (
        "AB12"
        "0034"
        "E3C9D5E8"
        "00000002"
        "01"
        "000000"
        "00000003"
        "00000004"
        "0000000000000005"
        "00000006"
        "0000000000000007"
        "00000008"
        "00000009"
    )


def test_a_block_is_rows_of_its_own_table_and_of_its_groups():
    own, children = TINY.rows(TINY.parse(tiny()))
    assert own == {
        "version": 2,
        "colour": 1,
        "colour_text": "Red",
        "late": 3,
        "levels_1": 8,
        "levels_2": 9,
    }
    assert children == {
        "tiny_pair": [
            {"side": "left", "calls": 4, "time": 5},
            {"side": "right", "calls": 6, "time": 7},
        ]
    }


def test_entries_in_which_everything_is_zero_are_no_rows():
    groups = [{"calls": 0, "time": 0}, {"calls": 0, "time": 1}]
    _, children = TINY.rows(TINY.parse(TINY.build({"version": 2, "groups": groups})))
    assert children == {"tiny_pair": [{"side": "right", "calls": 0, "time": 1}]}


@pytest.mark.parametrize(
    ("length", "missing"),
    [
        (52, []),
        (51, ["levels_2"]),
        (48, ["levels_2"]),
        (47, ["levels_1", "levels_2"]),
        (19, ["late", "levels_1", "levels_2"]),
        (13, ["late", "levels_1", "levels_2"]),
        (12, ["colour", "colour_text", "late", "levels_1", "levels_2"]),
    ],
)
def test_a_cut_block_holds_what_is_whole(length: int, missing: list[str]):
    own, _ = TINY.rows(TINY.parse(tiny()[:length]))
    assert [name for name, value in own.items() if value is None] == missing


def test_an_entry_that_is_cut_in_two_has_what_is_whole_of_it():
    _, children = TINY.rows(TINY.parse(tiny()[:40]))
    assert children["tiny_pair"] == [
        {"side": "left", "calls": 4, "time": 5},
        {"side": "right", "calls": 6, "time": None},
    ]


def test_an_older_version_word_hides_the_fields_that_it_does_not_know():
    own, _ = TINY.rows(TINY.parse(tiny(version=1)))
    assert (own["late"], own["levels_2"]) == (None, 9)


def test_a_block_too_short_for_its_version_word_is_told_by_its_length():
    gated = block(
        "GATED",
        "The word stands behind what it gates",
        since("word 5", "early" / Count32 * "Gated"),
        "word" / Word32 * "Version word",
    )
    assert gated.parse(bytes.fromhex("00000007 00000004"))["early"] is None
    assert gated.parse(bytes.fromhex("00000007 00000005"))["early"] == 7
    assert gated.parse(bytes.fromhex("00000007 0000"))["early"] == 7


@pytest.mark.parametrize(("length", "value"), [(8, 1), (7, None), (9, None), (4, None)])
def test_a_block_that_counts_only_when_whole_is_nothing_at_another_length(
    length: int, value: int | None
):
    whole = block("W", "w", "a" / Count32 * "a", "b" / Count32 * "b", only_whole=True)
    assert whole.parse(bytes.fromhex("0000000100000002 00")[:length])["a"] == value


def test_a_block_is_built_as_long_as_it_is_asked_for():
    assert TINY.build({}, length=20)[2:4] == b"\0\x14"
    assert len(TINY.build({}, length=20)) == 20
    assert len(TINY.build({"tinyll": 60})) == 60


REFUSED: dict[str, Callable[[], object]] = {
    "TINY has no field colur, versio": lambda: TINY.build({"versio": 1, "colur": 2}),
    "TINY has no field blue": lambda: TINY.field("blue"),
    "TWICE: a occurs twice": lambda: block(
        "TWICE", "t", "a" / Count32 * "a", "a" / Count32 * "a again"
    ),
    "TWICE: a column occurs twice": lambda: block(
        "TWICE", "t", "a" / Count32 * "a", "A" / Count32 * "A"
    ),
    "BITS: a column occurs twice": lambda: block(
        "BITS", "t", "a" / Count32 * "a", "f" / Flags(1, Bit("A", 1, "a")) * "f"
    ),
    r"BOTH: more than one version word: \['v', 'w'\]": lambda: block(
        *("BOTH", "b", "v" / Word32 * "v", "w" / Word32 * "w"),
        *(since("v 2", "a" / Count32 * "a"), since("w 2", "b" / Count32 * "b")),
    ),
    "NONE has no field v": lambda: block("NONE", "n", since("v 2", "a" / Count32 * "a")),
    "a: .* is not a kind; take one of smfparse.layout": lambda: block(
        "FOREIGN", "f", "a" / Int32ub * "a"
    ),
    "has no name": lambda: block("NAMELESS", "n", Count32),
    "LONG: maps 8 bytes, recorded": lambda: block(
        "LONG", "l", "a" / Count64 * "a", lengths={"8.0": 4}
    ),
    "GAP: pairs: more does not go on evenly": lambda: block(
        *("GAP", "g", "some" / Repeat("pairs", PAIR, side=(1, 2)) * "some"),
        "gap" / Reserved(4) * "gap",
        "more" / Repeat("pairs", PAIR, side=(3, 4)) * "more",
    ),
    r"QJST\.qjstwrw cannot hold ": lambda: BLOCKS["QJST"].build({"qjstwrw": 2**40}),
    r"QCST\.qcstchnm cannot hold .*\u65e5": lambda: BLOCKS["QCST"].build(
        {"qcstchnm": "\u65e5\u672c"}
    ),
    r"QCST\.qcstchnm cannot hold .*xx": lambda: BLOCKS["QCST"].build({"qcstchnm": "x" * 21}),
    r"WTAS\.wtasstrt cannot hold ": lambda: BLOCKS["WTAS"].build({"wtasstrt": "yesterday"}),
    r"WTID\.wtidnid cannot hold ": lambda: BLOCKS["WTID"].build({"wtidnid": "no hex"}),
}
"""What is said of a block that cannot be, or a value that does not fit."""


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_declared_or_built_is_refused_by_name(message: str):
    with pytest.raises(LayoutError, match=message):
        REFUSED[message]()


def test_arrays_of_different_widths_over_one_index_are_one_table():
    mixed = block(
        "MIXED",
        "m",
        "total" / Repeat("mixed_class", Count64, number=(1, 2)) * "totals",
        "calls" / Repeat("mixed_class", Count32, number=(1, 2)) * "calls",
    )
    assert [(each.offset, each.stride) for each in mixed.children[0].columns] == [(0, 8), (16, 4)]
    built = mixed.build({"total": [1, 2], "calls": [3, 4]})
    _, children = mixed.rows(mixed.parse(built))
    assert children["mixed_class"] == [
        {"number": 1, "total": 1, "calls": 3},
        {"number": 2, "total": 2, "calls": 4},
    ]


def test_a_block_knows_its_length_and_version_word_at_a_version():
    for version, length, word in (
        ("6.0.0", 20, 1),
        ("8.0.0", 20, 1),
        ("9.0.5", 20, 1),
        ("9.1.0", 52, 2),
        ("10.0.0", 52, 2),
    ):
        assert (TINY.length_at(version), TINY.version_word_at(version)) == (length, word)
    assert block("PLAIN", "p", "a" / Count32 * "a").version_word_at("9.0.0") is None


def test_a_column_says_what_it_is():
    late = next(column for column in TINY.columns if column.name == "late")
    found = (late.doc, late.unit, late.combine, late.field.since)
    assert found == ("Came with version 2", "pages", Combine.SUM, "version 2")
    text = next(column for column in TINY.columns if column.name == "colour_text")
    assert (text.doc, text.unit, text.combine) == ("Colour: the word", None, Combine.NONE)


def test_a_wide_number_is_three_columns_of_one_field():
    wide = block("WIDE", "w", "sq" / SquareSum * "squares")
    own, _ = wide.rows(wide.parse(wide.build({"sq": 2**64 + 5})))
    assert own == {"sq_1": 1, "sq_2": 5, "sq": 2**64 + 5}


def test_a_field_ends_behind_its_last_entry():
    levels: Field = TINY.field("levels")
    assert (levels.offset, levels.end) == (44, 52)
