"""Every table and column by name, for `describe`, Arrow schemas and docs/columns.md.

The columns of a table are the key columns, the columns of the task (class 3 accounting only), the
index columns (repeated groups only), and the fields of the control block.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from smfparse.layout.blocks import Block
from smfparse.layout.clocks import LOCAL_TIMESTAMP, TIMESTAMP
from smfparse.layout.columns import Child, Column, Field
from smfparse.layout.kinds import Combine, Hex
from smfparse.schemas import (
    APPENDED,
    QWAS,
    QWHC,
    QWHS,
    QWHX,
    QWST,
    REGISTRY,
    STATISTICS_RECORDS,
    STUB_RECORDS,
    TASK_RECORDS,
    TRIPLET,
    WHOLE_RECORDS,
)

_NEAR = 8
"""Maximum number of similar names that are suggested for an unknown name."""
RECORD = "record"
RECORD_BLOCKS = (QWHS, QWHX)
"""Blocks whose fields are columns of `record`."""
DAMAGE = "damage"
"""Name of the table that is not decoded: its rows are collected while tables are decoded."""


class Table(NamedTuple):
    """A table: the rows of a block, or of a repeated group in a block.

    block    block that contains the rows
    columns  columns for the fields of the block, or of one entry of the repeated group
    child    the repeated group; None: the rows are whole blocks
    task     whether the rows have TASK_KEYS
    counted  whether the rows have STATISTICS_KEYS
    stub     whether the records contain no time except the SMF time
    shared   whether the rows are about all queue managers of a system
    extra    block of the QWHS area whose columns are appended; None: none
    """

    name: str
    title: str
    block: Block
    columns: tuple[Column, ...]
    child: Child | None = None
    task: bool = False
    counted: bool = False
    stub: bool = False
    shared: bool = False
    extra: Block | None = None


def _tables() -> dict[str, Table]:
    found: dict[str, Table] = {}
    for record, triplets in REGISTRY.items():
        for each in triplets.values():
            kind: Any = {
                "task": record in TASK_RECORDS,
                "counted": record in STATISTICS_RECORDS,
                "stub": record in STUB_RECORDS,
            }
            if each.columns:
                name = each.name.lower()
                extra = APPENDED.get(each.name)
                found[name] = Table(name, each.title, each, each.columns, **kind, extra=extra)
            for child in each.children:
                title = f"{each.name}: {child.title}"
                found[child.table] = Table(
                    child.table, title, each, child.columns, child=child, **kind
                )
    for each in WHOLE_RECORDS.values():
        name = each.name.lower()
        found[name] = Table(name, each.title, each, each.columns, stub=True, shared=True)
    return found


TABLES = _tables()


class TableColumn(NamedTuple):
    """A column of a table.

    name     name in lower case
    arrow    name of the Arrow type
    doc      meaning
    unit     unit; None: no unit
    since    MQ version, or version word, that introduced the field; '': all versions have it
    combine  how values are combined over intervals
    place    block, byte offset in the block, and IBM's name of the field: `QJST+0044 qjstbffl`
    opaque   whether the values are opaque bytes, in hexadecimal
    """

    name: str
    arrow: str
    doc: str
    unit: str | None = None
    since: str = ""
    combine: Combine = Combine.NONE
    place: str = ""
    opaque: bool = False

    @property
    def coded(self) -> bool:
        """Whether the values are texts. Each distinct text is decoded once."""
        return self.arrow == "string" and not self.opaque

    @property
    def metadata(self) -> dict[str, str]:
        """Metadata of the Arrow field, without empty entries."""
        texts = {
            "description": self.doc,
            "unit": self.unit,
            "since": self.since,
            "combine": "" if self.combine is Combine.NONE else str(self.combine),
            "field": self.place,
        }
        return {name: text for name, text in texts.items() if text}


KEY_COLUMNS = (
    TableColumn("system", "string", "SMF system id (LPAR)"),
    TableColumn("qmgr", "string", "Queue manager"),
    TableColumn("qsg", "string", "Queue-sharing group (MQ 10 and later), NULL without one"),
    TableColumn("mq_version", "string", "MQ version.release.modification of the queue manager"),
    TableColumn("smf_time", LOCAL_TIMESTAMP, "When SMF wrote the record, local time of the system"),
    TableColumn(
        "counted_at",
        LOCAL_TIMESTAMP,
        "Local time at which the record counts, usually mid-interval (docs/selecting.md)",
    ),
    TableColumn("time", TIMESTAMP, "When MQ captured the data (QWHSSTCK)"),
    TableColumn("utc_offset", "int32", "Local time of the system minus UTC", "seconds"),
    TableColumn("interval_start", TIMESTAMP, "Start of the interval that the data covers"),
    TableColumn(
        "interval_seconds", "double", "Length of the interval that the data covers", "seconds"
    ),
    TableColumn("source", "string", "Input that contains the record"),
    TableColumn("record_no", "int64", "Logical record in its source, from 1"),
    TableColumn("record_offset", "int64", "Byte of the record in the decompressed source"),
    TableColumn("block_no", "int32", "Block in its triplet, from 1; NULL in the table record"),
)
TASK_KEYS = (
    TableColumn("task_source", "string", "source of the 116/1 record of this task and interval"),
    TableColumn(
        "task_record_no",
        "int64",
        "record_no of the 116/1 record of this task and interval, NULL if in another source",
    ),
    TableColumn(
        "task_record_offset", "int64", "record_offset of the 116/1 record of this task and interval"
    ),
    TableColumn(
        "task_started_tod", "uint64", "TOD clock when the task started: bytes 0-7 of its token"
    ),
    TableColumn("task_thread", "uint64", "Internal words of the thread: bytes 8-15 of its token"),
)
STATISTICS_KEYS = (
    TableColumn(
        "sequence_no",
        "int64",
        "QWHSISEQ as a number: 1 in the first interval after a start of the queue manager, "
        "increased by one in each interval",
    ),
)
RECORD_FIELDS = (
    TableColumn("length", "int64", "Bytes of the whole record, RDW included", "bytes"),
    TableColumn("flags", "uint8", "System indicator byte of the SMF header"),
    TableColumn(
        "type", "uint16", "SMF record type, from the extended header if the record has one"
    ),
    TableColumn("subtype", "int32", "Record subtype, NULL if the header has none"),
    TableColumn("subsystem", "string", "Subsystem of the SMF header, NULL if it has none"),
    TableColumn(
        "seconds_ahead",
        "int64",
        "Seconds by which the TOD clock was ahead of UTC (leap seconds); all times are corrected",
        "seconds",
    ),
)
IDENTITY_COLUMNS = (
    TableColumn(
        "fingerprint",
        "string",
        "Fingerprint, the same for equal records: 32 hexadecimal digits that are made of the SMF "
        "header, the length and a digest of all bytes after the RDW",
        opaque=True,
    ),
    TableColumn(
        "dump_start", "int64", "record_no of the first record of the dump that contains the record"
    ),
)
"""Columns of `record` that exist only on request."""

DAMAGE_COLUMNS = (
    TableColumn("source", "string", "Damaged input"),
    TableColumn(
        "record_no", "int64", "Logical record in its source, NULL for bytes that are not a record"
    ),
    TableColumn(
        "record_offset", "int64", "Byte of the record, or of the damaged bytes, in the source"
    ),
    TableColumn("type", "uint16", "SMF record type, NULL if unknown"),
    TableColumn("subtype", "int32", "Record subtype, NULL if unknown"),
    TableColumn("bytes", "int64", "Skipped bytes; NULL: all bytes to the end", "bytes"),
    TableColumn("reason", "string", "Cause, and how it was handled"),
)
_TITLES = {
    RECORD: "Inventory: one per SMF record of any type",
    DAMAGE: "Damage: one per place in the whole input, for any selection",
}


def decoded_tables() -> tuple[str, ...]:
    """Return the names of all decoded tables: the inventory of records first."""
    return (RECORD, *TABLES)


def table_names() -> tuple[str, ...]:
    """Return the names of all tables: the decoded tables, and `damage`."""
    return (*decoded_tables(), DAMAGE)


def title(table: str) -> str:
    """Return the one-line description of a table."""
    return _TITLES.get(table) or TABLES[table].title


def meaning(column: TableColumn) -> str:
    """Return the meaning of a column, with its unit."""
    return f"{column.doc} ({column.unit})" if column.unit else column.doc


def key_columns(table: str) -> tuple[TableColumn, ...]:
    """Return the key columns of a table; `damage` has none."""
    if table == DAMAGE:
        return ()
    if table in TABLES and TABLES[table].task:
        return (*KEY_COLUMNS, *TASK_KEYS)
    if table in TABLES and TABLES[table].counted:
        return (*KEY_COLUMNS, *STATISTICS_KEYS)
    return KEY_COLUMNS


@cache
def columns(table: str, wanted: frozenset[str] | None = None) -> tuple[TableColumn, ...]:
    """Return columns of a table, in order.

    wanted  names of the columns; None: all except columns on request
    """
    if wanted is None:
        return _usual_columns(table)
    every = _usual_columns(table) + (IDENTITY_COLUMNS if table == RECORD else ())
    return tuple(each for each in every if each.name in wanted)


def with_fingerprints(table: str, *, asked: bool = True) -> frozenset[str] | None:
    """Return the names of all columns of `record`, fingerprints included; other tables: None.

    asked  whether fingerprints are requested; if not, the result is None
    """
    if table != RECORD or not asked:
        return None
    return frozenset(each.name for each in (*columns(table), *IDENTITY_COLUMNS))


@cache
def _usual_columns(table: str) -> tuple[TableColumn, ...]:
    if table == RECORD:
        fields = [each for block in RECORD_BLOCKS for each in _fields(block.name, block.columns)]
        return (*KEY_COLUMNS, *RECORD_FIELDS, *fields)
    if table == DAMAGE:
        return DAMAGE_COLUMNS
    spec = TABLES[table]
    index = _index(spec.child) if spec.child else ()
    extra = _fields(spec.extra.name, spec.extra.columns) if spec.extra else ()
    return (*key_columns(table), *index, *_fields(spec.block.name, spec.columns), *extra)


def _fields(block: str, found: Iterable[Column]) -> Iterator[TableColumn]:
    for each in found:
        yield TableColumn(
            each.name,
            each.shown.arrow,
            each.doc,
            each.unit,
            each.field.since,
            each.combine,
            f"{block}+{each.place}",
            isinstance(each.field.kind, Hex),
        )


def _index(child: Child) -> Iterator[TableColumn]:
    for position, name in enumerate(child.index):
        labels = list(dict.fromkeys(cell[position] for cell in child.cells))
        first, last = labels[0], labels[-1]
        if isinstance(first, str):
            yield TableColumn(name, "string", f"Which entry: {', '.join(map(str, labels))}")
        else:
            meant = child.words.get(name, {}).items()
            words = ", ".join(f"{label} = {word}" for label, word in meant)
            yield TableColumn(name, "int32", f"Which entry: {words or f'{first} to {last}'}")


def columns_named(name: str) -> list[tuple[str, TableColumn]]:
    """Return (table, column) for each column with this name, or of the field with this name."""
    wanted = name.lower()
    return [
        (table, each)
        for table in table_names()
        for each in columns(table, with_fingerprints(table))
        if wanted == each.name or (each.place and wanted == each.place.split()[-1].lower())
    ]


BLOCKS = {
    each.name: each
    for each in (
        *(block for triplets in REGISTRY.values() for block in triplets.values()),
        *WHOLE_RECORDS.values(),
        *(QWHS, QWHC, QWHX, QWST, QWAS, TRIPLET),
    )
}
"""All control blocks by IBM's name, including blocks without a table."""


def fields_named(name: str) -> list[tuple[str, Field]]:
    """Return (block, field) for each field of the block `name`, or each field of this name.

    The result includes fields without a column: block headers, reserved bytes, the SMF header.
    """
    wanted = name.lower()
    return [
        (block.name, each)
        for block in BLOCKS.values()
        for each in block.fields
        if wanted in (block.name.lower(), each.name.lower()) or block.inside(each) == wanted
    ]


@cache
def local_columns() -> frozenset[str]:
    """Return the names of columns that are local times of the system."""
    return frozenset(
        each.name
        for table in table_names()
        for each in columns(table)
        if each.arrow == LOCAL_TIMESTAMP
    )


def near_names(name: str, more: Iterable[str] = ()) -> list[str]:
    """Return the names of tables and columns, and names in `more`, that are similar to `name`."""
    every = dict.fromkeys(
        [*table_names(), *more, *(each.name for table in table_names() for each in columns(table))]
    )
    starting = [each for each in every if each.startswith(name.lower())]
    close = difflib.get_close_matches(name.lower(), every, n=_NEAR)
    return list(dict.fromkeys([*starting, *close]))[:_NEAR]
