"""A block is declared once: it builds, it parses, and it knows what it does not hold."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from random import Random

import pytest
from construct import Array, Int32ub, Struct

import smfparse.schemas
from smfparse.errors import LayoutError
from smfparse.layout import (
    Bit,
    Block,
    Code,
    Combine,
    Count32,
    Count64,
    Field,
    Flags,
    Gauge32,
    Repeat,
    Reserved,
    SquareSum,
    Word,
    Word32,
    block,
    header,
    since,
)

BLOCKS = {
    each.name: each
    for module in pkgutil.iter_modules(smfparse.schemas.__path__)
    for each in vars(importlib.import_module(f"smfparse.schemas.{module.name}")).values()
    if isinstance(each, Block)
}


@pytest.mark.parametrize("name", BLOCKS)
def test_every_block_gives_back_what_it_was_built_from(name: str):
    """Of any bytes, in what is believed of them."""
    which, draw = BLOCKS[name], Random(1)
    header = which.build({})[: 8 if which.eyecatcher else 0]
    for _ in range(6):
        data = header + draw.randbytes(which.size - len(header))
        built = which.build(which.parse(data))
        assert len(built) == which.size
        parsed = which.parse(built)
        assert which.build(parsed) == built
        assert which.parse(which.build(parsed)) == parsed


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
