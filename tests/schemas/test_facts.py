"""The declarations in schemas/ against the fact table, which was not made from them.

`facts/layouts.csv` has a row a field. What it says in its own words is turned into ours here:

* a duration has no unit there: its kind says microseconds;
* the entries of CFSTAT, which is one map used in two blocks, have no version there: the group that
  holds them has one, given below;
* a field of the block header (id, length, eye-catcher) is no column, so nothing of it combines;
* the words of `memlimit_source` are not known to anybody.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from typing import TypeAlias

import pytest

from smfparse.layout import Bit, Code, Field, Flags, Header, Wide
from smfparse.schemas import REGISTRY, TRACES, enums
from tests.support.declared import BLOCKS
from tests.support.paths import FACTS

Row: TypeAlias = dict[str, str]

CFSTAT_SINCE = {"WTAS": "wtasver 4", "WQST": "wqver 6"}
WORDS_NOT_KNOWN = {"memlimit_source"}
FURTHER_ENTRIES = {"QJST": 3 * 72, "WTAS": 2 * 19 * 20, "WQST": 99 * 20, "QEST": 63 * 64}
"""Bytes of the entries of groups behind the first one, which alone is in the facts."""


def _facts() -> dict[str, list[Row]]:
    found = defaultdict(list)
    with (FACTS / "layouts.csv").open(newline="") as lines:
        for row in csv.DictReader(lines):
            found[row["block"]].append(row)
    return found


FIELDS = _facts()


Held: TypeAlias = dict[str, object]


def declared_and_facts(name: str, row: Row, each: Field) -> tuple[Held, Held]:
    """Return what is declared of a field, and what the facts say, in our words."""
    # the C headers disagree on the sign of a length, which is never negative
    is_length = row["offset"] in ("0", "2") and row["width"] == "2" and row["unit"] == "bytes"
    either = is_length and each.kind.fact in ("int", "uint")
    in_group = name in CFSTAT_SINCE and row["field"].startswith("cf") and not row["since"]
    in_group = in_group and int(row["offset"]) >= 736 and row["kind"] == "uint"
    is_header = isinstance(each.kind, Header)
    known = row["enum"] not in {"", *WORDS_NOT_KNOWN}
    bits = (bit.split("=") for bit in row["bits"].split(";") if bit)
    declared_bits: tuple[Bit, ...] = each.kind.bits if isinstance(each.kind, Flags) else ()
    declared: Held = {
        "entries": (8, 2) if isinstance(each.kind, Wide) else (each.kind.width, each.count),
        "wire type": each.kind.fact,
        "since": each.since,
        "unit": each.kind.unit or "",
        "combine": None if is_header else str(each.kind.combine),
        "words": dict(each.kind.words) if isinstance(each.kind, Code) else {},
        "bits": {bit.name: bit.mask for bit in declared_bits},
    }
    facts: Held = {
        "entries": (int(row["width"]), int(row["count"])),
        "wire type": each.kind.fact if either else row["kind"],
        "since": CFSTAT_SINCE[name] if in_group else row["since"],
        "unit": "microseconds" if row["kind"] == "stck_duration" else row["unit"],
        "combine": None if is_header else row["combine"],
        "words": dict(vars(enums)[row["enum"].upper()]) if known else {},
        "bits": {bit: int(mask, 16) for bit, mask in bits},
    }
    return declared, facts


def test_every_block_of_the_facts_is_declared_and_no_other():
    assert sorted(BLOCKS) == sorted(FIELDS)


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_every_field_is_declared_as_the_facts_have_it_and_none_is_extra(name: str):
    fields = BLOCKS[name].fields
    wanted = [
        (
            int(row["offset"]),
            int(row["width"]) * int(row["count"]),
            row["kind"] == "pad" or row["field"],
        )
        for row in FIELDS[name]
    ]
    found = [
        (each.offset, each.kind.width * each.count, each.kind.fact == "pad" or each.name)
        for each in fields
    ]
    assert sorted(found, key=str) == sorted(wanted, key=str)
    assert BLOCKS[name].size == sum(size for _, size, _ in wanted) + FURTHER_ENTRIES.get(name, 0)
    by_offset = {each.offset: each for each in fields}
    wrong = []
    for row in FIELDS[name]:
        declared, facts = declared_and_facts(name, row, by_offset[int(row["offset"])])
        wrong += [
            f"{name}.{row['field']}: {what} declared {declared[what]!r}, facts {facts[what]!r}"
            for what in facts
            if declared[what] != facts[what]
        ]
    assert wrong == []


VERBS = ("open", "close", "get", "put", "put1")
GROUPS: dict[str, tuple[str, dict[str, tuple[int, int]], list[tuple[object, ...]]]] = {
    "wtas_latch": (
        "WTAS",
        {"wtaslwet": (48, 8), "wtaslwn": (304, 4), "wtaslmax": (2088, 8)},
        [(latch,) for latch in range(1, 33)],
    ),
    "qjst_io": (
        "QJST",
        {"qjstiocount": (264, 72), "qjstiomaxsusl": (328, 72)},
        [(1, 1), (1, 2), (2, 1), (2, 2)],
    ),
    "wtas_cf": (
        "WTAS",
        {"cfcount": (864, 20), "cfsyncn": (868, 20), "cfasyncet": (880, 20)},
        [(label, number) for label in ("commit", "prepare") for number in range(20)],
    ),
    "wqst_cf": (
        "WQST",
        {"cfcount": (736, 20), "cfsyncn": (740, 20), "cfasyncet": (752, 20)},
        [(label, number) for label in VERBS for number in range(20)],
    ),
    "qest": ("QEST", {"qeststr": (8, 64), "qestmlus": (64, 64)}, [(at,) for at in range(64)]),
}
"""Table of a group: its block, where columns are and how far it is to the next, its entries."""


@pytest.mark.parametrize("table", GROUPS)
def test_the_entries_of_a_group_are_where_the_facts_have_them(table: str):
    block, places, cells = GROUPS[table]
    (child,) = (each for each in BLOCKS[block].children if each.table == table)
    found = {each.name: (each.offset, each.stride) for each in child.columns}
    assert found | places == found
    assert list(child.cells) == cells


def test_every_word_of_a_code_is_spelt_as_in_the_facts() -> None:
    with (FACTS / "enums.csv").open(newline="") as file:
        facts = {(row["enum"], int(row["code"])): row["word"] for row in csv.DictReader(file)}
    declared = {
        (name.lower(), code): str(word)
        for name, words in vars(enums).items()
        if name.isupper()
        for code, word in words.items()
    }
    assert declared.pop(("latch_class", 0)) == "None"  # ours: no wait at all
    assert declared == facts


WRITTEN_BY = {
    "STAT 1": {(115, 1), (115, 2), (115, 201), (115, 215)},
    "STAT 2 or 3": {(115, 5), (115, 6), (115, 7)},
    "STAT 4": {(115, 231)},
    "STAT 5": {(115, 216)},
    "ACCTG 1": {(116, 0)},
    "ACCTG 3": {(116, 1), (116, 2)},
    "ACCTG 4": {(116, 10)},
}
"""Records by the kind and class of START TRACE, as IBM's documentation has them."""


@pytest.mark.claim(31)
def test_records_are_written_by_the_traces_that_are_documented() -> None:
    assert TRACES.keys() == REGISTRY.keys()
    for trace, kinds in WRITTEN_BY.items():
        assert {kind for kind, each in TRACES.items() if each == trace} == kinds
