"""A block is declared once: it builds, it parses, and it knows what it does not hold."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from construct import Int32ub, Struct

from smfparse.errors import LayoutError
from smfparse.layout import Bit, Count32, Count64, Flags, Repeat, Reserved, Word32, block, since
from tests.support.declared import BLOCKS


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
REFUSED: dict[str, Callable[[], object]] = {
    "QIST has no field colur, versio": lambda: BLOCKS["QIST"].build({"versio": 1, "colur": 2}),
    "QIST has no field blue": lambda: BLOCKS["QIST"].field("blue"),
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
