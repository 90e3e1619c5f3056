"""Each kind of field: bytes to value and back, with examples worked out by hand; and blocks.

A block is declared once: it builds, it parses, and it knows what it does not hold.
"""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from construct import Int32ub, Struct
from construct.core import FormatFieldError

from smfparse.errors import LayoutError
from smfparse.layout import blocks, columns
from smfparse.layout.clocks import Elapsed, LatchElapsed, LocalWhen, Micros64, SmfMoment, When
from smfparse.layout.columns import Repeat
from smfparse.layout.kinds import (
    Bit,
    Code,
    Combine,
    Count32,
    Count64,
    Flags,
    Gauge8,
    Header,
    Hex,
    Number,
    Numeric,
    Reserved,
    SCount32,
    SCount64,
    SquareSum,
    SWord16,
    Text,
    Word,
    Word16,
    Word32,
)
from tests.support.declared import BLOCKS

SMALLEST = Number(4, signed=True, combine=Combine.MIN, null=0x0FFFFFFF)
COLOURS = {1: Word("Red", "RED"), -1: Word("Any"), -3: Word("Queue manager")}
COLOUR = Code(1, COLOURS)
FLAGS = Flags(2, Bit("FIRST", 0x8000, "first"), Bit("LAST", 0x0001, "last"))


def moment(*parts: int) -> dt.datetime:
    return dt.datetime(*parts, tzinfo=dt.UTC)


EXAMPLES = [
    (Gauge8, "FF", 255), (Word16, "FFFE", 65534), (SWord16, "FFFE", -2),
    (Count32, "FFFFFFFF", 4294967295), (SCount32, "FFFFFFFF", -1),
    (Count64, "8000000000000000", 9223372036854775808),
    (SCount64, "8000000000000000", -9223372036854775808), (SMALLEST, "0FFFFFFF", None),
    (SMALLEST, "0FFFFFFE", 268435454), (Elapsed, "0000000000001000", 1.0),
    (Elapsed, "0000000000000800", 0.5), (Elapsed, "0000000000000001", 1 / 4096),
    (Elapsed, "0000000000000000", 0.0), (LatchElapsed, "0000000000001000", 1.0),
    (Elapsed, "7FFFFFFFFFFFF000", float(2**51 - 1)),
    (Micros64, "7FFFFFFFFFFFFFFF", 2**63 - 1),
    (When, "B6F82B9F3A000000", moment(2002, 1, 1)),
    (When, "B6F82B9F3A001000", moment(2002, 1, 1, 0, 0, 0, 1)),
    (When, "0000000000000000", None),
    (LocalWhen, "B6F82B9F3A001000", dt.datetime(2002, 1, 1, 0, 0, 0, 1)),
    (LocalWhen, "0000000000000000", None),
    (SmfMoment(), "000000640126063F", dt.datetime(2026, 3, 4, 0, 0, 1)),
    (SmfMoment(), "0000000000000000", None),
    (SquareSum, "00000000000000010000000000000002", 2**64 + 2),
    (Text(4), "D4D8F0F1", "MQ01"), (Text(4), "D4D84040", "MQ"),
    (Text(4), "40D44040", " M"), (Text(3), "D440D8", "M Q"),
    (Text(4), "40404040", ""), (Hex(3), "00aB40", "00AB40"),
    (Reserved(2), "0102", b"\1\2"), (COLOUR, "01", 1), (COLOUR, "FF", 255),
    (FLAGS, "8001", 0x8001), (Header(Hex(2), "C90F"), "C90F", "C90F"),
]  # fmt: skip


def test_bytes_give_the_value_and_the_value_the_bytes():
    """A column of numbers as well."""
    for kind, wire, value in EXAMPLES:
        data = bytes.fromhex(wire)
        parsed = kind.parse(data)
        assert (parsed, type(parsed)) == (value, type(value)), kind
        assert kind.build(value) == data, kind
        if isinstance(kind, Numeric):
            raw = np.frombuffer(data * 3, np.uint8).reshape(3, -1)
            values, present = kind.values(raw)
            there = np.ones(3, np.bool_) if present is None else present
            assert kind.encode(values)[there].tolist() == raw[there].tolist(), kind


NOTHING = [
    (Count32, "00000000"), (SMALLEST, "0FFFFFFF"), (Elapsed, "0000000000000000"),
    (When, "0000000000000000"), (SquareSum, "00" * 16), (Text(3), "404040"),
    (Hex(3), "000000"), (Reserved(3), "000000"), (COLOUR, "00"), (FLAGS, "0000"),
    (Header(Text(4), "QIST"), "D8C9E2E3"),
]  # fmt: skip


def test_a_field_without_a_value_is_built_as_mq_leaves_it():
    """As zeros, blanks, the sentinel, or what every block has there."""
    for kind, wire in NOTHING:
        assert kind.build(None) == bytes.fromhex(wire), kind


READ_ONLY = [
    (Text(4), "D4D80000", "MQ"), (Text(4), "D4400040", "M"),
    (Text(4), "00000000", ""), (Text(4), "00D40000", "\x00M"),
    (When, "B6F82B9F3A000FFF", moment(2002, 1, 1)),
    (When, "A1717CF7F0000000", moment(1990, 1, 1)), (When, "A1717CF7EFFFFFFF", None),
    (When, "FEB91C7785FFFFFF", moment(2041, 12, 31, 23, 59, 59, 999999)),
    (When, "FEB91C7786000000", None), (When, "FFFFFFFFFFFFFFFF", None),
    (When, "0000000000000FFF", None), (LocalWhen, "A1717CF7EFFFFFFF", None),
    (Elapsed, "8000000000000000", None), (Elapsed, "FFFFFFFFFFFF4000", None),
    (Micros64, "FFFFFFFFFFFFFFF4", None), (LatchElapsed, "FFFFFFFFFFFF4000", None),
    (LatchElapsed, "8000000000000000", 2**31 / 4096),
    (LatchElapsed, "0000100000000000", 1.0),
    (LatchElapsed, "0000000100000001", (2**32 + 1) / 4096),
    (LatchElapsed, "0000000000000000", 0.0),
]  # fmt: skip


def test_bytes_that_are_not_built_are_still_read():
    """Text keeps what is no letter, so that nothing is lost."""
    for kind, wire, value in READ_ONLY:
        assert kind.parse(bytes.fromhex(wire)) == value, (kind, wire)
    every = bytes(range(256))
    assert Text(256).parse(every).encode("cp500") == every


def test_what_does_not_fit_is_refused():
    with pytest.raises(LayoutError, match="'QUEUE' is longer than 4 bytes"):
        Text(4).build("QUEUE")
    with pytest.raises(FormatFieldError):
        Count32.build(2**32)


def cells(kind: Any, wire: str) -> dict[str, Any]:
    """Every column of one field, by suffix or name."""
    value = kind.parse(bytes.fromhex(wire))
    return {shown.name or shown.suffix: shown.cell(value) for shown in kind.shown}


def test_a_code_is_its_number_and_its_word():
    words = {1: "Red", 255: "Any", 253: "Queue manager", 7: "?7", 254: "?254", 0: "?0"}
    for number, word in words.items():
        assert cells(COLOUR, f"{number:02X}") == {"": number, "_text": word}
    signed = Code(4, COLOURS, signed=True)
    assert cells(signed, "FFFFFFFF")["_text"] == "Any"
    assert cells(signed, "FFFFFFFE")["_text"] == "?-2"
    assert COLOUR.word(None) is None
    assert (COLOURS[1], COLOURS[1].mp1b, COLOURS[-1].mp1b) == ("Red", "RED", "Any")


def test_a_wide_number_is_its_halves_and_the_whole_up_to_38_digits():
    for value in (2**64 + 2, 10**38 - 1, 10**38, 2**128 - 1):
        whole = decimal.Decimal(value) if value < 10**38 else None
        found = cells(SquareSum, f"{value:032X}")
        assert found == {"_1": value >> 64, "_2": value % 2**64, "": whole}


@pytest.mark.parametrize("name", BLOCKS)
def test_every_block_gives_back_what_it_was_built_from(name: str):
    """Of any bytes, in what is believed of them; its own header, and the bytes behind its map.

    Parsed from nothing it holds nothing, and none of its tables has a column twice.
    """
    which, draw = BLOCKS[name], Random(1)
    empty = which.build({})
    header = empty[: 8 if which.eyecatcher else 0]
    assert header[2:] in (b"", which.size.to_bytes(2, "big") + name.encode("cp500"))
    for data in (empty, *(header + draw.randbytes(which.size - len(header)) for _ in range(3))):
        built = which.build(which.parse(data))
        parsed = which.parse(built)
        assert (len(built), which.build(parsed)) == (which.size, built)
        assert which.parse(which.build(parsed)) == parsed
    assert which.parse(which.build({"tail": b"later"}))["tail"] == b"later"
    own, children = which.rows(which.parse(b""))
    assert set(own.values()) <= {None}
    assert all(rows == [] for rows in children.values())
    for table in (which.columns, *(each.columns for each in which.children)):
        names = [column.name for column in table]
        assert sorted(set(names)) == sorted(names)


block, since = blocks.block, columns.since
A, B = "a" / Count32 * "a", "b" / Count32 * "b"
V, W = "v" / Word32 * "v", "w" / Word32 * "w"
LARGE, BIT_A = "A" / Count32 * "A", Flags(1, Bit("A", 1, "a"))
PAIR = Struct("calls" / Count32 * "calls", "time" / Count64 * "time")
REFUSED: dict[str, Callable[[], object]] = {
    "QIST has no field colur, versio": lambda: BLOCKS["QIST"].build({"versio": 1, "colur": 2}),
    "QIST has no field blue": lambda: BLOCKS["QIST"].field("blue"),
    "TWICE: a occurs twice": lambda: block("TWICE", "t", A, "a" / Count32 * "a again"),
    "TWICE: a column occurs twice": lambda: block("TWICE", "t", A, LARGE),
    "BITS: a column occurs twice": lambda: block("BITS", "t", A, "f" / BIT_A * "f"),
    r"BOTH: more than one version word: \['v', 'w'\]": lambda: block(
        *("BOTH", "b", V, W), *(since("v 2", A), since("w 2", B))
    ),
    "NONE has no field v": lambda: block("NONE", "n", since("v 2", A)),
    "a: .* is not a kind; take one of smfparse.layout": lambda: block("ODD", "o", "a" / Int32ub),
    "has no name": lambda: block("NAMELESS", "n", Count32),
    "LONG: maps 4 bytes, but is recorded with": lambda: block("LONG", "l", A, lengths={"8.0": 2}),
    "GAP: pairs: more breaks the even spacing of the entries": lambda: block(
        *("GAP", "g", "some" / Repeat("pairs", PAIR, side=(1, 2)) * "some"),
        "gap" / Reserved(4) * "gap",
        "more" / Repeat("pairs", PAIR, side=(3, 4)) * "more",
    ),
    r"QJST\.qjstwrw cannot hold ": lambda: BLOCKS["QJST"].build({"qjstwrw": 2**40}),
    r"QCST\.qcstchnm cannot hold .*\u65e5": lambda: BLOCKS["QCST"].build({"qcstchnm": "\u65e5"}),
    r"QCST\.qcstchnm cannot hold .*xx": lambda: BLOCKS["QCST"].build({"qcstchnm": "x" * 21}),
    r"WTAS\.wtasstrt cannot hold ": lambda: BLOCKS["WTAS"].build({"wtasstrt": "yesterday"}),
    r"WTID\.wtidnid cannot hold ": lambda: BLOCKS["WTID"].build({"wtidnid": "no hex"}),
}
"""What is said of a block that cannot be, or a value that does not fit."""


def test_what_cannot_be_declared_or_built_is_refused_by_name():
    for message, work in REFUSED.items():
        with pytest.raises(LayoutError, match=message):
            work()
