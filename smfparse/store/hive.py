"""The folders of a partitioned table, whose names other tools read as columns (hive partitioning).

    <table>/date=2026-03-04/queue_manager=QM01/     tables that grow with the work that is done
    <table>/date=2026-03-04/                        tables that grow with the number of intervals

The files contain every column of their table, so no folder has the name of a column. Some tools
derive the type of a value from the folder name, and would find one column with two types.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from smfparse.selecting.counting import COUNTED_AT
from smfparse.tables.dictionary import columns


def day_name(day: int) -> str:
    """Return the text of a date in an SMF header, given as its digits: 0126063."""
    return f"{day & 0xFFFFFFF:07x}"


def span_of(days: Iterable[str]) -> list[str]:
    """Return the first and the last of some days; []: no days."""
    found = sorted(days)
    return [found[0], found[-1]] if found else []


def meets_span(span: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two spans have a day in common."""
    return bool(span) and span[0] <= other[1] and other[0] <= span[1]


DATE = "date"
QMGR = "queue_manager"
FOLDERS = (f"{DATE}=*", f"{DATE}=*/{QMGR}=*")
"""Patterns of the folders below that of a table."""
FOLDER = r"(date=[\w.~%-]+/(queue_manager=[\w.~%-]+/)?)?"
"""A regular expression of the folders below that of a table."""
NO_DATE = "0001-01-01"
"""The value for rows without a day: a date, so that the folders of every table are dates."""
NO_QMGR = "no-qmgr"
"""The value for rows without a queue manager; longer than any name. (pandas cannot read the usual
`__HIVE_DEFAULT_PARTITION__` beside names, and pyarrow not alone.)"""
_BLANK = "blank"
"""The value for a name of blanks."""
GROWING = frozenset(
    [
        *("record", "qqst", "qwac", "qmac", "qcst"),
        *("wtid", "wtas", "wtas_latch", "wtas_cf", "wqst", "wqst_cf"),
    ]
)
"""Tables that grow with work: a row for each record, or for each task, queue or channel instance.

The others have a fixed number of rows per queue manager and interval, by its configuration. So one
file for all queue managers of a day is small.
"""
_IN_NO_VALUE = frozenset("KQXZ")
"""Letters that occur in no number, date, duration or boolean."""


def is_divided(table: str) -> bool:
    """Whether the rows of a table have a day and a queue manager, by which they can be divided."""
    return {COUNTED_AT, "qmgr"} <= {each.name for each in columns(table)}


class Layout(NamedTuple):
    """How the rows of a dataset are divided into folders.

    by_day  whether rows with a day are divided by day, and rows of GROWING tables also by queue
            manager
    """

    by_day: bool

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> Layout:
        """Return the layout of a dataset."""
        return cls(manifest["partitioned"])

    def keys(self, table: str) -> tuple[str, ...]:
        """Return the keys in the folder names of a table, the outer ones first."""
        if not self.by_day or not is_divided(table):
            return ()
        return (DATE, QMGR) if table in GROWING else (DATE,)

    def no_rows(self, table: str) -> str:
        """Return the folder of a table without rows."""
        return self.folder(table, NO_DATE, NO_QMGR)

    def folder(self, table: str, *values: str) -> str:
        """Return the folder for the values of its keys: a day, and a queue manager."""
        return "/".join(
            f"{key}={value}" for key, value in zip(self.keys(table), values, strict=False)
        )

    def pattern(self, table: str) -> str:
        """Return a pattern of the folders of a table."""
        return self.folder(table, "*", "*")


def qmgr_value(name: str) -> str:
    """Return the folder name for a queue manager, as part of a path.

    fastparquet, which does not decode `%50`, reads P101 as a duration and DEC1 as a date; DuckDB
    reads NULL as no value. So the first character of such a name is percent-encoded.
    """
    if not name:
        return _BLANK
    value = quote(name, safe="")
    is_safe = value.startswith("%") or _IN_NO_VALUE & set(name.upper())
    return value if is_safe else f"%{ord(name[0]):02X}{value[1:]}"


def qmgr_name(file: str) -> str | None:
    """Return the queue manager of all rows of a file, by its path; None: not known, or none."""
    name, _, value = PurePosixPath(file).parent.name.partition("=")
    if name != QMGR or value in (NO_QMGR, _BLANK):
        return None
    return unquote(value)


def rows_sql(files: str, keys: tuple[str, ...]) -> str:
    """Return the FROM expression of DuckDB for the rows of a partitioned table.

    They have the columns of the table, and the day. `qmgr` comes from the folder name if this
    contains it, so a filter by queue manager opens no other files.

    files  a pattern of files, quoted
    keys   keys in the folder names
    """
    kinds = {DATE: "DATE", QMGR: "VARCHAR"}
    types = ", ".join(f"'{each}': {kinds[each]}" for each in keys)
    date = f"nullif({DATE}, DATE '{NO_DATE}') AS {DATE}"
    rows = f"read_parquet({files}, hive_partitioning = true, hive_types = {{{types}}})"
    if QMGR not in keys:
        return f"(SELECT * REPLACE ({date}) FROM {rows})"
    qmgr = f"CASE {QMGR} WHEN '{NO_QMGR}' THEN NULL WHEN '{_BLANK}' THEN '' ELSE {QMGR} END AS qmgr"
    return f"(SELECT * EXCLUDE ({QMGR}) REPLACE ({qmgr}, {date}) FROM {rows})"
