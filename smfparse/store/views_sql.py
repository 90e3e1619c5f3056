"""The SQL of `views.sql`: the tables of a dataset as views of DuckDB, usable without smfparse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from smfparse.decoding.arrow import DECIMAL
from smfparse.decoding.dictionary import TableColumn, columns, table_names, with_fingerprints
from smfparse.layout.clocks import LOCAL_TIMESTAMP, TIMESTAMP
from smfparse.layout.kinds import WIDE_DIGITS
from smfparse.metrics.measures import quoted
from smfparse.metrics.views import comments, views_script
from smfparse.store.hive import Layout, rows_sql
from smfparse.store.manifest import EXACT, SIGNED

_HEAD = """\
-- The tables of this folder as DuckDB views, in UTC. To open them:
--   cd FOLDER && duckdb -init views.sql
-- Written by smfparse convert, which replaces it.
SET TimeZone = 'UTC';
"""
_SQL_TYPES = {
    "string": "VARCHAR",
    "bool": "BOOLEAN",
    "uint8": "UTINYINT",
    "int16": "SMALLINT",
    "uint16": "USMALLINT",
    "int32": "INTEGER",
    "uint32": "UINTEGER",
    "int64": "BIGINT",
    "uint64": "UBIGINT",
    "double": "DOUBLE",
    TIMESTAMP: "TIMESTAMP WITH TIME ZONE",
    LOCAL_TIMESTAMP: "TIMESTAMP",
    DECIMAL: f"DECIMAL({WIDE_DIGITS},0)",
}
"""DuckDB's names for the Arrow types of columns."""


_STORED_OTHERWISE = frozenset({"uint8", "int16", "uint16", "uint32", "uint64"})
"""Arrow types whose numbers are stored with other types in a dataset with signed types."""


def view_statements(
    *,
    layout: Layout,
    types: str = EXACT,
    fingerprints: bool = False,
) -> str:
    """Return the statements for a view of every table, and for further views of these views.

    layout        the folders of the tables
    types         types of the numbers in the files; views always have exact types
    fingerprints  whether the table `record` has fingerprints

    DuckDB must be started in the folder of the dataset, because paths are relative.
    """
    views = _views(layout, types, fingerprints)
    return "\n".join([_HEAD, *views, views_script()])


def _views(layout: Layout, types: str, fingerprints: bool) -> Iterator[str]:
    for table in table_names():
        wanted = with_fingerprints(table, asked=fingerprints)
        keys = layout.keys(table)
        files = quoted(PurePosixPath(table, layout.pattern(table), "part-*.parquet").as_posix())
        rows = rows_sql(files, keys) if keys else f"read_parquet({files})"
        if types == SIGNED:
            every = selected(table, types, wanted)
            rows = f"(SELECT {every}{', date' if keys else ''} FROM {rows})"
        yield f"CREATE OR REPLACE VIEW {table} AS FROM {rows};"
        yield from (f"{each};" for each in comments("VIEW", table, wanted))


def no_rows(table: str) -> str:
    """Return a query for a table without rows."""
    names = (f'NULL::{_SQL_TYPES[each.arrow]} AS "{each.name}"' for each in columns(table))
    return f"SELECT {', '.join(names)} WHERE FALSE"


def selected(table: str, types: str = EXACT, wanted: frozenset[str] | None = None) -> str:
    """Return the SQL that selects columns of a table, each with its exact type.

    types   types of the numbers in the files
    wanted  names of the columns; None: all except columns on request
    """
    return ", ".join(_selected(each, types == EXACT) for each in columns(table, wanted))


def _selected(column: TableColumn, exact: bool) -> str:
    name = f'"{column.name}"'
    if exact or column.arrow not in _STORED_OTHERWISE:
        return name
    return f"{name}::{_SQL_TYPES[column.arrow]} AS {name}"
