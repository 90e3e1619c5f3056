"""The manifest as an SQLite database, and checks of untrusted databases.

An untrusted database is rejected unless its schema equals `TABLES`: a view, a trigger or a computed
column could make SQLite run other code when a row is read. If a process was killed while it
committed, a journal exists, and SQLite restores the previous state of the database.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path

from smfparse.errors import InputError
from smfparse.reading.places import Place, Url
from smfparse.store.targets import check_plain, plain_file

MANIFEST = "smfparse.db"
JOURNALS = tuple(f"{MANIFEST}-{each}" for each in ("journal", "wal", "shm"))
"""Files that SQLite adds to a database; -wal and -shm exist only in manipulated folders."""
FORMAT = 1
TABLES = f"""
CREATE TABLE property (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE input (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL,
    bytes INTEGER, identity TEXT, value TEXT NOT NULL
);
CREATE INDEX input_name ON input (name);
CREATE INDEX input_identity ON input (bytes, identity);
CREATE TABLE file (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, rows INTEGER NOT NULL,
    first_day TEXT, last_day TEXT, sha256 TEXT NOT NULL
);
CREATE INDEX file_day ON file (last_day, first_day);
CREATE TABLE fingerprints (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, records INTEGER NOT NULL,
    days TEXT NOT NULL, sha256 TEXT NOT NULL
);
CREATE TABLE damage (
    source TEXT, byte INTEGER, reason TEXT, PRIMARY KEY (source, byte, reason)
) WITHOUT ROWID;
PRAGMA user_version = {FORMAT};
"""
"""The schema of a manifest. `value` and `days` are JSON; `days` contains the number of records by
day; null: not known. `first_day` and `last_day` are NULL if no row of a file has a time.
"""
_WAIT = 60.0
"""Maximum seconds that a reader waits for a commit, and a commit waits for readers."""
_STEPS, _STEPS_PER_BYTE = 10**7, 10
"""Maximum instructions of an SQLite statement: a constant, plus a number per byte of the database.
Without this limit, a statement would never end in a database with cyclic pages.
"""
_SUPER = bytes.fromhex("d9d505f920a163d7")
"""End of a journal that names a second journal, which SQLite may remove from any folder."""


@contextmanager
def reading(folder: Place) -> Iterator[sqlite3.Connection]:
    """Open the manifest of a dataset; all reads see the same state.

    Raises InputError if the manifest is missing or damaged, and for all errors of SQLite.
    """
    place = plain_file(folder, MANIFEST)
    with sound(folder), closing(_opened(place)) as database:
        check_tables(folder, database)
        yield database


@contextmanager
def sound(folder: Place) -> Iterator[None]:
    """Raise InputError for errors of SQLite about a damaged or unreadable database."""
    try:
        yield
    except (sqlite3.Error, OverflowError, OSError) as error:
        raise InputError(f"{folder}: {MANIFEST} cannot be read: {error}; convert again") from error


def code_of(error: sqlite3.Error) -> int:
    """Return the code of an SQLite error; 0: the error is from Python's sqlite3 module."""
    return getattr(error, "sqlite_errorcode", 0)


def interrupted_in(folder: Place) -> InputError:
    """Return the error for a folder in which no run was completed."""
    return InputError(
        f"{folder}: convert was interrupted here, or is still at work; run the same command again"
    )


def damaged(folder: Place) -> InputError:
    """Return the error for a manifest with invalid contents."""
    return InputError(f"{folder}: {MANIFEST} is damaged; convert again")


def _opened(place: Place) -> sqlite3.Connection:
    if isinstance(place, Url):
        data = place.read_bytes()
        database = in_memory(len(data))
        database.deserialize(data)
        return database
    try:
        return _at_one_moment(place)
    except sqlite3.OperationalError as error:
        if code_of(error) != sqlite3.SQLITE_READONLY_ROLLBACK:
            raise
    take_back(place.parent)
    return _at_one_moment(place)


def take_back(folder: Path) -> None:
    """Restore a manifest whose writer was killed during its commit."""
    if (folder / JOURNALS[0]).exists():
        check_journal(folder)
        with (
            suppress(sqlite3.Error),  # the following open reports the error
            closing(connected(folder / MANIFEST, "rw", _WAIT)) as database,
        ):
            _read_schema(database)


def _at_one_moment(place: Path) -> sqlite3.Connection:
    database = connected(place, "ro", _WAIT)
    try:
        database.execute("BEGIN")
        _read_schema(database)
    except BaseException:
        database.close()
        raise
    return database


def _read_schema(database: sqlite3.Connection) -> None:
    database.execute("SELECT count(*) FROM sqlite_schema").fetchone()


def in_memory(size: int = 0) -> sqlite3.Connection:
    """Return a database in memory; `size` is the number of bytes that it will have."""
    return _restricted(sqlite3.connect(":memory:", isolation_level=None), size)


def connected(place: Path, mode: str, wait: float) -> sqlite3.Connection:
    """Open a database.

    mode  mode of SQLite: ro, rw or rwc
    wait  maximum wait for a lock, in seconds
    """
    uri = f"{place.absolute().as_uri()}?mode={mode}"
    size = place.stat().st_size if place.exists() else 0
    return _restricted(sqlite3.connect(uri, timeout=wait, isolation_level=None, uri=True), size)


def _restricted(database: sqlite3.Connection, size: int) -> sqlite3.Connection:
    """Return a database with limits for the instructions of statements, and with strict checks."""
    database.set_progress_handler(lambda: 1, _STEPS + _STEPS_PER_BYTE * size)
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA cell_size_check = ON")
    return database


def check_tables(folder: Place, database: sqlite3.Connection) -> None:
    """Raise InputError if a database does not have exactly the schema of a manifest."""
    if is_empty(database):
        raise interrupted_in(folder)
    if not is_sound(database):
        ((version,),) = database.execute("PRAGMA user_version")
        if version != FORMAT:
            raise InputError(
                f"{folder}: written by another version of smfparse; use that version, or convert "
                "again from the SMF files"
            )
        raise damaged(folder)


def is_sound(database: sqlite3.Connection) -> bool:
    """Whether a database has exactly the schema of a manifest in this FORMAT."""
    ((version,),) = database.execute("PRAGMA user_version")
    ((journal,),) = database.execute("PRAGMA journal_mode")
    return bool(version == FORMAT and journal != "wal" and _tables(database) == _expected())


def is_whole(database: sqlite3.Connection) -> bool:
    """Whether a database is sound, and SQLite finds no damage in its pages."""
    return is_sound(database) and [*database.execute("PRAGMA integrity_check(1)")] == [("ok",)]


def is_empty(database: sqlite3.Connection) -> bool:
    """Whether a database was never written."""
    ((version,),) = database.execute("PRAGMA user_version")
    return version == 0 and not _tables(database)


def _tables(database: sqlite3.Connection) -> list[tuple[object, ...]]:
    every = database.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema")
    return sorted(every.fetchmany(100), key=str)


@cache
def _expected() -> list[tuple[object, ...]]:
    with closing(in_memory()) as database:
        database.executescript(TABLES)
        return _tables(database)


def check_journal(folder: Path) -> None:
    """Raise OutputError or InputError if a link or journal leads to files outside the folder."""
    check_plain(folder, (MANIFEST, *JOURNALS))
    journal = folder / JOURNALS[0]
    if journal.exists() and journal.stat().st_size >= len(_SUPER):
        with journal.open("rb") as file:
            file.seek(-len(_SUPER), os.SEEK_END)
            if file.read() == _SUPER:
                raise InputError(
                    f"{journal}: refers to a file elsewhere; remove it, or convert again"
                )
