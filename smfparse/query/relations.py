"""Connections to DuckDB, and tables and views of inputs, created when a query names them."""

from __future__ import annotations

import glob
import re
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

import duckdb

from smfparse.decoding.arrow import schema
from smfparse.decoding.dictionary import DAMAGE, columns, table_names, title
from smfparse.decoding.selected_rows import sql_condition
from smfparse.decoding.zones import local_columns, shown_sql
from smfparse.errors import InputError
from smfparse.inputs.opening import Inputs
from smfparse.inputs.sources import Dataset, Source
from smfparse.limits import Limits
from smfparse.metrics.measures import quoted
from smfparse.metrics.views import comments, view, view_macros, view_names
from smfparse.progress import PROGRESS
from smfparse.query.projection import scanned, tables_of
from smfparse.query.scans import SmfScans, Whole
from smfparse.store.manifest import wanted_in
from smfparse.store.views_sql import no_rows, selected

Connection: TypeAlias = duckdb.DuckDBPyConnection
_INTERRUPTED = re.compile(r"(Query interrupted|INTERRUPT Error)|.*\bKeyboardInterrupt: *$", re.S)
"""The text of a KeyboardInterrupt in an error of DuckDB, or in an OSError of Arrow. Python code
that these libraries call may raise KeyboardInterrupt.
"""
_NO_PYTHON = "SET python_enable_replacements = false"
_ALONE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
}
"""Settings: no extension is loaded automatically, and no table is read from a Python variable."""
_SAFE = (
    "SET temp_directory = ''",
    "SET allow_persistent_secrets = false",
    "SET allowed_configs = ['TimeZone', 'preserve_insertion_order']",
    "SET enable_external_access = false",
    "SET disabled_filesystems = 'LocalFileSystem'",
    "SET lock_configuration = true",
)
"""Settings of a safe connection, in this order. If only external access were disabled, statements
could read and write the folder of temporary files. So no such folder exists, and no file is opened.
"""


def connected(*, safe: bool = False) -> Connection:
    """Return a connection to a new database in memory; its zone is UTC.

    safe  whether statements have no access to files, network and settings except the zone
    """
    made = duckdb.connect(config=_ALONE)
    made.execute("SET TimeZone = 'UTC'")
    made.execute(f"SET temp_directory = {quoted(tempfile.gettempdir())}")
    with suppress(duckdb.InvalidInputException):  # fails in a notebook without widgets
        made.execute("SET enable_progress_bar_print = false")  # DuckDB prints to stdout
        made.execute(f"SET enable_progress_bar = {PROGRESS.is_wanted}")
    if PROGRESS.is_wanted:
        PROGRESS.share = made.query_progress
    # DuckDB does not know the number of rows of a file. For ASOF joins, it would assume few rows
    # and use loops.
    made.execute("SET asof_loop_join_threshold = 0")
    for setting in _SAFE if safe else ():
        made.execute(setting)
    return made


def forget_python(connection: Connection) -> None:
    """Hide Python variables from the next statement, even if a statement changed the setting.

    In a failed transaction nothing is done: no statement can run.
    """
    with suppress(duckdb.TransactionException):
        connection.execute(_NO_PYTHON)


def is_interrupt(error: Exception) -> bool:
    """Whether an error of DuckDB or Arrow is a KeyboardInterrupt."""
    return isinstance(error, duckdb.InterruptException) or bool(_INTERRUPTED.match(str(error)))


_FEW_BYTES = 8 << 20
_SOURCES = ("source", "task_source")
"""Columns that contain names of inputs."""


class Relations:
    """The tables and views of inputs that exist in a connection so far.

    scans  the inputs that smfparse reads for DuckDB: SMF files; in a safe connection all inputs
    """

    def __init__(self, connection: Connection, inputs: Inputs, *, safe: bool) -> None:
        raw = [each for each in inputs.sources if safe or not _is_read_by_duckdb(each)]
        self.scans = SmfScans(replace(inputs, sources=raw))
        self._connection = connection
        self._selection = inputs.selection
        datasets = (each for each in inputs.sources if isinstance(each, Dataset))
        self._datasets = [] if safe else [*filter(_is_read_by_duckdb, datasets)]
        self._made: set[str] = set()
        self._plain: set[str] = set()
        self._rows: dict[str, str] = {}
        self._are_explained = False

    @property
    def limits(self) -> Limits:
        """The memory limits."""
        return self.scans.inputs.options.limits

    @property
    def few_bytes(self) -> int:
        """Bytes of spooled rows up to which the result of a query is kept in memory."""
        return min(_FEW_BYTES, self.limits.slice_bytes)

    @property
    def are_small_files(self) -> bool:
        """Whether all inputs are SMF files for which whole tables are decoded."""
        return bool(self.scans.inputs.sources) and self.scans.are_whole and not self._datasets

    def make(self, tables: Iterable[str], found: Sequence[str] = ()) -> None:
        """Create missing relations: `tables`, the views `found`, and the tables of these views."""
        try:
            for table in (*tables, *tables_of(found)):
                if table not in self._made:
                    self._add(table)
                    self._made.add(table)
            for name in found:
                if name not in self._made:
                    self._add_view(name)
                    self._made.add(name)
        except duckdb.Error as error:
            if not self._datasets or is_interrupt(error):
                raise
            names = ", ".join(each.name for each in self._datasets)
            reason, _, _ = str(error).partition("\n")  # the rest is generated SQL
            raise InputError(f"{names}: the dataset cannot be read: {reason}") from error

    def make_plain(self, tables: Iterable[str]) -> None:
        """Create `tables` for SQL of users: under names without a schema, without `input_no`."""
        tables = [each for each in tables if each not in self._plain]
        self.make(tables)
        for table in tables:
            rows = f"SELECT * EXCLUDE (input_no) FROM inputs.{table}"
            self._connection.execute(f"CREATE VIEW {table} AS {rows}")
            self._plain.add(table)

    def check(self) -> None:
        """Read used tables of datasets to the end. Raises InputError if a table is damaged."""
        for each in self._datasets:
            for table in self._made.intersection(table_names()):
                each.read_through(table)

    def _add(self, table: str) -> None:
        parts = []
        if self.scans.inputs.sources:
            self._connection.register(f"smf_{table}", _scan(self.scans, table))
            found = columns(table, self.scans.inputs.names(table))
            names = [f'{scanned(table, each.name)} AS "{each.name}"' for each in found]
            parts.append(f"SELECT 0 AS input_no, {', '.join(names)} FROM smf_{table}")
        for number, each in enumerate(self._datasets, 1):
            chosen = sql_condition(self._selection.on(table), table, partial(_parquet, each))
            rows = f"{_parquet(each, table)}{f' WHERE {chosen}' if chosen else ''}"
            shown = self._in_zone(table)
            parts.append(f"SELECT {number} AS input_no, *{shown} FROM (SELECT * FROM {rows})")
        self._rows[table] = " UNION ALL BY NAME ".join(parts)
        self._connection.execute(f"CREATE VIEW inputs.{table} AS {self._rows[table]}")

    def _in_zone(self, table: str) -> str:
        """Return the SQL (after `*`) that converts times of a dataset to the requested zone."""
        zone = self.scans.inputs.zone
        if zone is None or table == DAMAGE:
            return ""
        shown = (f"{shown_sql(zone, name)} AS {name}" for name in local_columns(schema(table)))
        return f" REPLACE ({', '.join(shown)})"

    def _add_view(self, name: str) -> None:
        if not self._made.intersection(view_names()):
            self._connection.execute(view_macros())
        for statement in view(name).statements():
            self._connection.execute(statement)

    def show(self, table: str, rows: str) -> None:
        """Replace the rows of a table by rows of a query; missing columns are NULL."""
        none = f"SELECT * FROM ({self._rows[table]}) WHERE FALSE"
        self._connection.execute(
            f"CREATE OR REPLACE VIEW inputs.{table} AS {none} UNION ALL BY NAME {rows}"
        )

    def show_all(self, table: str) -> None:
        """Replace the rows of a table by the rows of the inputs."""
        self._connection.execute(f"CREATE OR REPLACE VIEW inputs.{table} AS {self._rows[table]}")

    def make_all(self) -> None:
        """Create every table and view, with comments on them and their columns.

        Only programs that list all tables read comments. Comments on a view take longer than the
        view.
        """
        self.make_plain(table_names())
        self.make((), view_names())
        if not self._are_explained:
            texts = [f"COMMENT ON VIEW {each} IS {quoted(title(each))}" for each in table_names()]
            texts += (text for name in view_names() for text in comments("VIEW", name))
            self._connection.execute("; ".join(texts))
            self._are_explained = True


def _is_read_by_duckdb(source: Source) -> bool:
    """Whether DuckDB reads an input: a local dataset. For URLs, DuckDB needs extensions."""
    return isinstance(source, Dataset) and isinstance(source.path, Path)


def _scan(scans: SmfScans, table: str) -> object:
    if scans.are_whole:
        return Whole(scans, table)
    from smfparse.query.narrowing import Scan

    return Scan(scans, table)


def _parquet(dataset: Dataset, table: str) -> str:
    types, wanted = dataset.manifest["types"], wanted_in(dataset.manifest, table)
    paths = (glob.escape(str(each.absolute())) for each in dataset.sound_files(table))
    listed = ", ".join(map(quoted, paths))
    rows = f"({no_rows(table)})"
    if listed:
        every = selected(table, types, wanted)
        rows = f"(SELECT {every} FROM read_parquet([{listed}], hive_partitioning = false))"
    if not dataset.called:
        return rows
    words = (f"WHEN {quoted(old)} THEN {quoted(new)}" for old, new in dataset.called.items())
    known = {each.name for each in columns(table, wanted)}
    named, cases = [each for each in _SOURCES if each in known], " ".join(words)
    shown = ", ".join(f"CASE {each} {cases} ELSE {each} END AS {each}" for each in named)
    return f"(SELECT * REPLACE ({shown}) FROM {rows})"
