"""Connections to DuckDB: access to files and Python variables, and interrupts."""

from __future__ import annotations

import re
import tempfile
from contextlib import suppress
from typing import TypeAlias

import duckdb

from smfparse.metrics.measures import quoted
from smfparse.progress import PROGRESS

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
"""Settings of a safe connection, in this order. If only external access was disabled, statements
could read and write the folder of temporary files: so no folder is set, and no file is opened.
"""


def connected(*, safe: bool = False) -> Connection:
    """Return a connection to a new database in memory; its zone is UTC.

    safe  whether statements have no access to files, network and settings except the zone
    """
    made = duckdb.connect(config=_ALONE)
    made.execute("SET TimeZone = 'UTC'")
    made.execute(f"SET temp_directory = {quoted(tempfile.gettempdir())}")
    with suppress(duckdb.InvalidInputException):  # fails in a notebook without widgets
        made.execute("SET enable_progress_bar_print = false")  # it goes to stdout
        made.execute(f"SET enable_progress_bar = {PROGRESS.is_wanted}")
    if PROGRESS.is_wanted:
        PROGRESS.share = made.query_progress
    # The number of rows of a file is not known before: for ASOF joins DuckDB would assume few rows,
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
