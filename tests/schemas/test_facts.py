"""The declarations in schemas/ against the fact table, which was not made from them.

`facts/layouts.csv` has a row a field. What it says in its own words is turned into ours here:

* a duration has no unit there: its kind says microseconds;
* the entries of CFSTAT, which is one map used in two blocks, have no version there: the group that
  holds them has one, given below;
* a field of the block header (id, length, eye-catcher) is no column, so nothing of it combines;
* the words of `memlimit_source` are not known to anybody.

`facts/thread.csv` has the offsets of IBM's pages "Thread cross-reference data" and "Common MQ SMF
header", and the connection types that have a transaction, a PSB or a task number.
"""

from __future__ import annotations

import csv
import itertools
import struct
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from smfparse.inputs.opening import open_inputs
from smfparse.layout.columns import Field
from smfparse.layout.kinds import Bit, Code, Flags, Header, Wide
from smfparse.schemas import REGISTRY, TRACES, enums
from tests.support import smf
from tests.support.builders import ebcdic, qwhc_of, qwhs_short
from tests.support.declared import BLOCKS
from tests.support.paths import FACTS

Row: TypeAlias = dict[str, str]

CFSTAT_SINCE = {"WTAS": "wtasver 4", "WQST": "wqver 6"}
WORDS_NOT_KNOWN = {"memlimit_source"}
FURTHER_ENTRIES = {"QJST": 3 * 72, "WTAS": 2 * 19 * 20, "WQST": 99 * 20, "QEST": 63 * 64}
"""Bytes of the entries of groups behind the first one, which alone is in the facts."""


def facts_of(name: str) -> dict[str, list[Row]]:
    found = defaultdict(list)
    with (FACTS / name).open(newline="") as lines:
        for row in csv.DictReader(lines):
            found[row["block"]].append(row)
    return found


FIELDS, THREAD = facts_of("layouts.csv"), facts_of("thread.csv")
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
    wanted, sizes = {}, [FURTHER_ENTRIES.get(name, 0)]
    for row in FIELDS[name]:
        sizes.append(int(row["width"]) * int(row["count"]))
        wanted[int(row["offset"])] = sizes[-1], row["kind"] == "pad" or row["field"]
    found = {
        each.offset: (each.kind.width * each.count, each.kind.fact == "pad" or each.name)
        for each in fields
    }
    assert (found, len(fields)) == (wanted, len(FIELDS[name]))
    assert BLOCKS[name].size == sum(sizes)
    by_offset = {each.offset: each for each in fields}
    for row in FIELDS[name]:
        declared, facts = declared_and_facts(name, row, by_offset[int(row["offset"])])
        assert declared == facts, row["field"]


PHASES, VERBS = ("commit", "prepare"), ("open", "close", "get", "put", "put1")
GROUPS: dict[str, tuple[str, str, list[Iterable[object]]]] = {
    "wtas_latch": ("WTAS", "wtaslwet 48 8, wtaslwn 304 4, wtaslmax 2088 8", [range(1, 33)]),
    "qjst_io": ("QJST", "qjstiocount 264 72, qjstiomaxsusl 328 72", [(1, 2), (1, 2)]),
    "wtas_cf": ("WTAS", "cfcount 864 20, cfsyncn 868 20, cfasyncet 880 20", [PHASES, range(20)]),
    "wqst_cf": ("WQST", "cfcount 736 20, cfsyncn 740 20, cfasyncet 752 20", [VERBS, range(20)]),
    "qest": ("QEST", "qeststr 8 64, qestmlus 64 64", [range(64)]),
}
"""Table of a group: its block, where columns are and how far it is to the next, its entries."""


def test_the_entries_of_a_group_are_where_the_facts_have_them():
    for table, (name, places, cells) in GROUPS.items():
        (child,) = (each for each in BLOCKS[name].children if each.table == table)
        found = [f"{each.name} {each.offset} {each.stride}" for each in child.columns]
        assert {*places.split(", ")} <= {*found}
        assert list(child.cells) == [*itertools.product(*cells)]


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
    "STAT 2 or 3": {(115, 5), (115, 6), (115, 7)}, "STAT 4": {(115, 231)}, "STAT 5": {(115, 216)},
    "ACCTG 1": {(116, 0)}, "ACCTG 3": {(116, 1), (116, 2)}, "ACCTG 4": {(116, 10)},
}  # fmt: skip
"""Records by the kind and class of START TRACE, as IBM's documentation has them."""


@pytest.mark.claim(31)
def test_records_are_written_by_the_traces_that_are_documented() -> None:
    assert TRACES.keys() == REGISTRY.keys()
    for trace, kinds in WRITTEN_BY.items():
        assert {kind for kind, each in TRACES.items() if each == trace} == kinds


# The thread cross-reference.


COLUMNS = ("transaction", "psb", "cics_task")
AREA = 36
"""Bytes of QWHS before QWHC, in the header area on IBM's page."""
ON_THE_PAGE = {"transaction": 52, "psb": 52, "cics_task": 56}
CODES = {"QWHC": 48, "WTID": 8}
"""Offset of the connection type, of which IBM's list has 1 to 8."""
BLANK, ZERO = ebcdic("", 4), bytes(4)
NUMBERS = {
    b"\x00\x01\x04\x0c": 1040, b"\x99\x99\x99\x9f": 9_999_999, b"\x00\x00\x00\x0c": None,
    b"\x00\x00\x04\x10": 1040, b"\x00\x98\x96\x80": None, BLANK: None, ZERO: None,
    b"\x12\x3a\x00\x0c": None, b"\x00\x98\x96\x7f": 98967,
}  # fmt: skip
"""Bytes of the task number: packed decimals; what is none is binary, of up to seven digits."""


def rows_of(name: str, parts: Iterable[tuple[int, int, bytes]], path: Path) -> list[dict[str, Any]]:
    """Return what tables have of blocks, each in a record, as if it was parsed alone.

    parts  connection type, offset and bytes of each block
    """
    blocks, records = [], []
    for kind, offset, value in parts:
        data = bytearray(qwhc_of("JOB") if name == "QWHC" else smf.who("JOB"))
        struct.pack_into(">I", data, CODES[name], kind)
        data[offset : offset + len(value)] = value
        blocks.append(made := bytes(data))
        area = qwhs_short(smf.ENDED, triplets=7, qwhc=made)
        task, connection = smf.task_record(smf.task(), by=made), smf.connection_record(area=area)
        records.append(task if name == "WTID" else connection)
    path.write_bytes(b"".join(records))
    table = open_inputs([path]).arrow("wtid" if name == "WTID" else "qmac")
    found: list[dict[str, Any]] = table.select(COLUMNS).to_pylist()
    alone = [BLOCKS[name].rows(BLOCKS[name].parse(each))[0] for each in blocks]
    assert found == [{column: row[column] for column in COLUMNS} for row in alone]
    return found


@pytest.mark.parametrize("name", CODES)
def test_parts_of_threads_are_where_the_facts_have_them_for_their_types(name: str, tmp_path: Path):
    places = {row["column"]: int(row["offset"]) for row in THREAD[name]}
    assert tuple(places) == COLUMNS
    assert name == "WTID" or {each: AREA + at for each, at in places.items()} == ON_THE_PAGE
    for row in THREAD[name]:
        value: Any = "PAY1RPT9"[: int(row["width"])]
        raw = value.encode("cp500")
        if row["kind"] == "packed":
            value, raw = 1040, bytes.fromhex("0001040C")
        parts = [(kind, int(row["offset"]), raw) for kind in range(1, 9)]
        found = [each[row["column"]] for each in rows_of(name, parts, tmp_path / "dump.smf")]
        expected = [value if str(kind) in row["types"].split() else None for kind, _, _ in parts]
        assert found == expected, row


def test_a_task_number_is_a_packed_decimal_or_binary(tmp_path: Path) -> None:
    """A blank transaction and a control region have no value."""
    found = rows_of("WTID", [(1, 52, raw) for raw in NUMBERS], tmp_path / "dump.smf")
    assert [each["cics_task"] for each in found] == [*NUMBERS.values()]
    cases = [(1, ZERO + BLANK + BLANK), (1, bytes(12)), (3, ebcdic("CONTROL", 12)), (4, bytes(12))]
    found = rows_of("WTID", [(kind, 44, raw) for kind, raw in cases], tmp_path / "dump.smf")
    assert found == [dict.fromkeys(COLUMNS)] * 4
