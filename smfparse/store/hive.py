"""The folders of a partitioned table, whose names other tools read as columns (hive partitioning).

    <table>/date=2026-03-04/queue_manager=QM01/     tables that grow with the amount of work
    <table>/date=2026-03-04/                        tables that grow with the number of intervals

The files contain every column of their table, and no key in a folder name is also a column. Some
tools derive the type of a value from the folder name, and would find one column with two types.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from smfparse.decoding.dictionary import columns
from smfparse.decoding.zones import COUNTED_AT


def day_name(day: int) -> str:
    """Return the text of a packed date without its sign: "0126063" for 0x0126063."""
    return f"{day & 0xFFFFFFF:07x}"


def span_of(days: Iterable[str]) -> list[str]:
    """Return the first and the last day; []: no days."""
    found = sorted(days)
    return [found[0], found[-1]] if found else []


def meets_span(span: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two spans have a day in common."""
    return bool(span) and span[0] <= other[1] and other[0] <= span[1]


DATE = "date"
QMGR = "queue_manager"
FOLDERS = (f"{DATE}=*", f"{DATE}=*/{QMGR}=*")
"""Patterns of the folders below the folder of a table."""
FOLDER = r"(date=[\w.~%-]+/(queue_manager=[\w.~%-]+/)?)?"
"""Regular expression for the folders below the folder of a table."""
NO_DATE = "0001-01-01"
"""Value for rows without a day: a date, so that all values of DATE are dates."""
NO_QMGR = "no-qmgr"
"""Value for rows without a queue manager, longer than any name. (pandas cannot read the usual
`__HIVE_DEFAULT_PARTITION__` together with names; pyarrow cannot read it alone.)
"""
_BLANK = "blank"
"""Value for a name of blanks."""
GROWING = frozenset(
    [
        *("record", "qqst", "qwac", "qmac", "qcst"),
        *("wtid", "wtas", "wtas_latch", "wtas_cf", "wqst", "wqst_cf"),
    ]
)
"""Tables that grow with work: one row per record, task, queue or channel instance. Other tables
have a constant number of rows per queue manager and interval, so one file for all queue managers of
a day is small.
"""
_IN_NO_VALUE = frozenset("KQXZ")
"""Letters that occur in no text of a number, date, duration or boolean."""


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
        """Return the keys in the folder names of a table, the outer key first."""
        if not self.by_day or not is_divided(table):
            return ()
        return (DATE, QMGR) if table in GROWING else (DATE,)

    def no_rows(self, table: str) -> str:
        """Return the folder for the file of a table without rows."""
        return self.folder(table, NO_DATE, NO_QMGR)

    def folder(self, table: str, *values: str) -> str:
        """Return the folder of a table for values of its keys: a day, and a queue manager."""
        return "/".join(
            f"{key}={value}" for key, value in zip(self.keys(table), values, strict=False)
        )

    def pattern(self, table: str) -> str:
        """Return the pattern of all folders of a table."""
        return self.folder(table, "*", "*")


def qmgr_value(name: str) -> str:
    """Return the value of QMGR in a folder name for a queue manager, as part of a path.

    fastparquet would read P101 as a duration and DEC1 as a date, and DuckDB NULL as no value. So
    the first character of such a name is percent-encoded, which fastparquet does not decode.
    """
    if not name:
        return _BLANK
    value = quote(name, safe="")
    is_safe = value.startswith("%") or _IN_NO_VALUE & set(name.upper())
    return value if is_safe else f"%{ord(name[0]):02X}{value[1:]}"


def qmgr_name(file: str) -> str | None:
    """Return the queue manager of all rows of a file, from its path; None: not known, or none."""
    name, _, value = PurePosixPath(file).parent.name.partition("=")
    if name != QMGR or value in (NO_QMGR, _BLANK):
        return None
    return unquote(value)


def rows_sql(files: str, keys: tuple[str, ...]) -> str:
    """Return the FROM expression of DuckDB for the rows of a partitioned table.

    The rows have the columns of the table, and the day. `qmgr` comes from the folder names if they
    contain it, so a filter by queue manager opens no other files.

    files  pattern of the files, quoted
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
