"""The columns with names of jobs, queues and so on, and the keys by which names select other rows.

A row is about the names in its block and in its record. A row about a task is also about the queues
in all queue blocks of that task. A 116/2 record has its own WTID with job and channel.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import NamedTuple

from smfparse.schemas import REGISTRY, WHOLE_RECORDS
from smfparse.tables.dictionary import RECORD, TABLES, decoded_tables

NAMED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "job": {"wtid": ("wtidccn",), "qmac": ("qwhccn",)},
    "transaction": {"wtid": ("transaction", "psb"), "qmac": ("transaction", "psb")},
    "queue": {"wqst": ("objname", "basename"), "qqst": ("qqstqnam",)},
    "channel": {"wtid": ("wtidchl",), "qcst": ("qcstchnm",)},
}
"""By option and table: the columns with such names; a match in one column is enough."""


class JoinKey(Enum):
    """Columns of the key that identifies a record, a block or a task, besides `source`.

    A row of one table is about the names in a row of another table if both have the same key. A
    task is identified by source and offset of its 116/1 record; the task of a 116/2 record without
    a 116/1 record, by the offset of the 116/2 record.
    """

    RECORD = ("record_no",)
    BLOCK = ("record_no", "block_no")
    TASK = ("task_source", "task_record_offset", "record_offset")


class Naming(NamedTuple):
    """Another table with the names for the rows of a table, and the key in both tables."""

    table: str
    key: JoinKey


@cache
def naming(option: str, table: str) -> Naming | None:
    """Return the table with the names of `option` for rows of `table`; None: no such table.

    The result is None for `record`, because a record is selected by the rows of all its blocks.
    """
    if table not in TABLES:
        return None
    block, records = TABLES[table].block, records_of(table)
    for named in NAMED[option]:
        if TABLES[named].block is block:
            return Naming(named, JoinKey.BLOCK)
    for named in NAMED[option]:
        if records & records_of(named):
            return Naming(named, JoinKey.TASK if option == "queue" else JoinKey.RECORD)
    return None


@cache
def tables_about(options: frozenset[str]) -> tuple[str, ...]:
    """Return the tables of whole control blocks whose rows are about names of all `options`."""
    return tuple(
        table
        for table in decoded_tables()
        if table != RECORD
        and TABLES[table].child is None
        and all(naming(option, table) for option in options)
    )


@cache
def records_of(table: str) -> frozenset[tuple[int, int]]:
    """Return type and subtype of the records that contain the block of a table.

    The subtype of a record that consists of one block is 0.
    """
    block = TABLES[table].block
    whole = {(smf_type, 0) for smf_type, each in WHOLE_RECORDS.items() if each is block}
    return frozenset(whole) | frozenset(
        record
        for record, triplets in REGISTRY.items()
        if any(each is block for each in triplets.values())
    )
