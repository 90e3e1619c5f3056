"""The places of jobs, queues and other names, and the rows of other tables about them.

A row is about the names in its block and in its record. A row about a task is also about the
queues in all queue blocks of that task. A 116/2 record has its own WTID with job and channel.
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
"""Columns that contain the names of each option, by table; a match in one column is enough."""


class JoinKey(Enum):
    """Key columns in which two rows agree if they are about the same name.

    A record is identified by `source` and its number; a task by source and offset of its 116/1
    record. A 116/2 record without a 116/1 record is identified by its own offset.
    """

    RECORD = ("record_no",)
    BLOCK = ("record_no", "block_no")
    TASK = ("task_source", "task_record_offset", "record_offset")


class Naming(NamedTuple):
    """The table with the names for the rows of a table, and the key that both share."""

    table: str
    key: JoinKey


@cache
def naming(option: str, table: str) -> Naming | None:
    """Return the table with the names of `option` for rows of `table`; None: rows have no names.

    Always None for `record`: a record is selected if another table has a selected row of it.
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
    """Return the tables of whole control blocks whose rows are about names of all these kinds."""
    return tuple(
        table
        for table in decoded_tables()
        if table != RECORD
        and TABLES[table].child is None
        and all(naming(option, table) for option in options)
    )


@cache
def records_of(table: str) -> frozenset[tuple[int, int]]:
    """Return type and subtype of the records that have the block of a table.

    The subtype of a record that is a whole block is 0.
    """
    block = TABLES[table].block
    whole = {(smf_type, 0) for smf_type, each in WHOLE_RECORDS.items() if each is block}
    return frozenset(whole) | frozenset(
        record
        for record, triplets in REGISTRY.items()
        if any(each is block for each in triplets.values())
    )
