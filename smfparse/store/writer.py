"""The writer of a dataset: one run at a time, which has the lock and publishes its files in steps.

    1. closed files in `.partial` are moved to their final places, but are not in the manifest yet
    2. a commit of the manifest publishes the files
    3. `views.sql` and `columns.json` are written, and files that are not in the manifest removed

A run that ends before step 2 changes nothing, and removes its files. If a run was killed, the next
run removes them, or does step 3. In object storage, the manifest is one object, which is written
only if no manifest exists.

The lock is a transaction of SQLite, and ends with the process. Only SQLite may open the manifest in
this process: if other code opens and closes the file, the system releases the lock.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

from smfparse.errors import InputError, OutputError, SmfError, unwritable
from smfparse.limits import LIMITS, Limits
from smfparse.progress import PROGRESS, WAITING
from smfparse.reading.places import Place, Url
from smfparse.store.database import (
    MANIFEST,
    TABLES,
    check_journal,
    check_tables,
    code_of,
    connected,
    damaged,
    in_memory,
    is_empty,
    is_whole,
    sound,
)
from smfparse.store.folder import AnyFolder, Folder, UrlFolder
from smfparse.store.hive import Layout
from smfparse.store.manifest import (
    MEANINGS,
    VIEWS,
    Manifest,
    NamedFile,
    NamedRun,
    has_fingerprints,
    head_of,
    is_own_file,
    meanings_text,
    own_folders,
    runs_of,
    strays,
    unfinished,
)
from smfparse.store.targets import PARTIAL, plain_file
from smfparse.store.views_sql import view_statements

DamageKey: TypeAlias = tuple[str, int, str]
"""Source, offset and reason of damage."""
_PAUSE = 0.1
"""Seconds between two attempts to get a lock."""
_RECENT = 1000
"""Number of the newest files whose existence is checked before new files are added."""
_READERS = 60_000
"""Maximum milliseconds that a commit waits for readers."""


@dataclass(frozen=True)
class News:
    """The changes to a manifest that a run publishes.

    head    new properties of the dataset
    inputs  added inputs
    files   added files with rows
    runs    added files of fingerprints
    damage  added damage
    gone    names of removed files with rows and fingerprints; None: all existing files, inputs and
            damage are removed
    """

    head: Manifest
    inputs: Sequence[Manifest] = ()
    files: Sequence[NamedFile] = ()
    runs: Sequence[NamedRun] = ()
    damage: Iterable[DamageKey] = ()
    gone: frozenset[str] | None = frozenset()

    @property
    def names(self) -> list[str]:
        """The paths of the added files."""
        return [*(each.name for each in self.files), *(each.name for each in self.runs)]


@dataclass
class Writer:
    """The only writer of a dataset.

    number  inode number of the manifest, which shows if another file replaced the manifest
    """

    folder: AnyFolder
    database: sqlite3.Connection
    number: int | None

    def head(self) -> Manifest:
        """Return the properties of the dataset. Raises InputError."""
        with sound(self.folder.path):
            check_tables(self.folder.path, self.database)
            return head_of(self.folder.path, self.database)

    def check_recent(self) -> None:
        """Raise InputError if one of the newest files is missing."""
        query = f"SELECT name FROM file ORDER BY number DESC LIMIT {_RECENT}"
        with sound(self.folder.path):
            for (name,) in self.database.execute(query):
                if not is_own_file(name):
                    raise damaged(self.folder.path)
                plain_file(self.folder.path, name)

    def runs(self) -> list[NamedRun]:
        """Return the files of fingerprints of the dataset. Raises InputError."""
        with sound(self.folder.path):
            return runs_of(self.folder.path, self.database)

    def has(self, table: str, **values: object) -> bool:
        """Whether a table of the manifest has a row with these values. Raises InputError."""
        query = f"SELECT 1 FROM {table} WHERE {' AND '.join(f'{each} = ?' for each in values)}"
        with sound(self.folder.path):
            return self.database.execute(query, [*values.values()]).fetchone() is not None

    def clear(self) -> None:
        """Finish a run that was killed. Raises OSError if its files cannot be removed.

        Every run removes PARTIAL at its end, so without PARTIAL no run was killed.
        """
        if (self.folder.path / PARTIAL).exists():
            self._finish(None)

    def publish(self, news: News) -> None:
        """Publish the added files of the dataset, and remove the files in `news.gone`.

        Raises OutputError if the manifest cannot be written, OSError for any other file.
        """
        self.folder.place(news.names)
        with _in_words(self.folder.path):
            _write_news(self.database, news)
            self._commit()
        if self._is_locked_again():
            self._finish(news.gone)

    def give_up(self) -> None:
        """Remove the files that were written but not published."""
        if self.database.in_transaction:
            self.database.execute("ROLLBACK")
        if self._is_locked_again():
            self.clear()

    def leave(self) -> None:
        """Remove the manifest if it is still empty."""
        with suppress(OSError, sqlite3.Error):  # Windows does not remove open files
            if self.database.in_transaction and is_empty(self.database):
                self.folder.remove(MANIFEST)

    def _commit(self) -> None:
        if _number(self.folder.path) != self.number:
            raise OutputError(f"{self.folder.path}: removed or replaced meanwhile; run again")
        self.database.execute(f"PRAGMA busy_timeout = {_READERS}")
        self.database.execute("COMMIT")

    def _is_locked_again(self) -> bool:
        """Lock the dataset for step 3; return False if another run has the lock and does step 3."""
        try:
            self.database.execute("PRAGMA busy_timeout = 0")
            self.database.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        return True

    def _finish(self, gone: frozenset[str] | None) -> None:
        """Write the files derived from the manifest; remove files, and finally PARTIAL if empty.

        gone  names of files to remove; None: all files without an entry in the manifest
        """
        path: Any = self.folder.path
        failed: list[OSError] = []
        with _in_words(path):
            is_new = is_empty(self.database)
            given = {} if is_new else _given(self.head())
            belong = set() if is_new or gone is not None else _names(self.database)
        for name, text in given.items():
            _try(failed, self._write, name, text)
        if gone is None:
            left = strays(path, belong)
        else:
            left = [*map(path.__truediv__, gone), *unfinished(path)]
        names = [each.relative_to(path).as_posix() for each in left]
        for name in names:
            _try(failed, self.folder.remove, name)
        self.folder.remove_emptied([*own_folders(), *names])
        if failed:
            raise failed[0]
        self.folder.remove_emptied([PARTIAL])

    def _write(self, name: str, text: str) -> None:
        file = self.folder.new(name)
        try:
            file.write(text.encode())
            file.close()
        finally:
            file.give_up()
        self.folder.place([name])


class OnceWriter(Writer):
    """Writes a new dataset in object storage."""

    def clear(self) -> None:
        """Do nothing: files of killed runs cannot be distinguished from files of active runs."""

    def _commit(self) -> None:
        self.database.execute("COMMIT")
        place: Any = self.folder.path / MANIFEST
        if not place.put_new(self.database.serialize()):
            raise OutputError(
                f"{self.folder.path}: another smfparse wrote there meanwhile; give another URL"
            )

    def give_up(self) -> None:
        """Remove the files of this run, unless its manifest was written and contains them."""
        path: Any = self.folder.path
        place, was_put = path / MANIFEST, not self.database.in_transaction
        if was_put and place.exists() and place.read_bytes() == self.database.serialize():
            return
        for each in strays(path, ()):
            if self.folder.mark in each.name:
                self.folder.remove(each.relative_to(path).as_posix())

    def leave(self) -> None:
        """Do nothing: a remote manifest is never empty."""


@contextmanager
def only_writer(
    folder: Place, limits: Limits = LIMITS, *, waits: bool = False, anew: bool = False
) -> Iterator[Writer]:
    """Yield the only writer of a folder. After an error, the files of the writer are removed.

    limits  limits of the run, among them the maximum wait
    waits   whether to wait until another writer has ended
    anew    whether a damaged manifest is replaced

    Raises OutputError if another writer is still at work, or a link leads out of the folder, and
    InputError if the manifest is damaged.
    """
    if isinstance(folder, Url):
        database = in_memory()
        database.execute("BEGIN")
        writer: Writer = OnceWriter(UrlFolder(folder, uuid4().hex[:12]), database, None)
    else:
        writer = _locked(folder, limits.wait_seconds if waits else 0, anew)
    with closing(writer.database):
        try:
            yield writer
        except BaseException:
            with suppress(OSError, SmfError, sqlite3.Error):  # the next run removes the files
                writer.give_up()
            raise
        finally:
            writer.leave()


def _locked(folder: Path, wait: float, anew: bool) -> Writer:
    """Return the writer of a folder; raise OutputError if another writer does not end in time."""
    began = time.monotonic()
    is_shown = False
    while True:
        folder.mkdir(
            parents=True, exist_ok=True
        )  # another writer may have created and removed the folder
        check_journal(folder)
        try:
            writer = _try_to_lock(folder, anew)
        except InputError:
            if not anew:
                raise
            Folder(folder).remove(MANIFEST)
            continue
        if writer is not None:
            return writer
        if time.monotonic() - began >= wait:
            break
        if not is_shown:
            PROGRESS.say(f"{folder}: another smfparse is writing there; waiting for it")
            is_shown = True
        with PROGRESS.of(WAITING, 0):
            time.sleep(_PAUSE)
    raise OutputError(f"{folder}: another smfparse is writing there; run again after it has ended")


def _try_to_lock(folder: Path, anew: bool) -> Writer | None:
    """Return the writer of a folder; None: another run writes. Raises InputError for damage."""
    with _in_words(folder), ExitStack() as opened:
        connected(folder / MANIFEST, "rwc", 0).close()  # creates the file, so that it has a number
        number = _number(folder)
        database = opened.enter_context(closing(connected(folder / MANIFEST, "rw", 0)))
        try:
            database.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if code_of(error) & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            return None
        if _number(folder) != number:  # another writer has just removed the file
            return None
        if anew and not is_empty(database) and not is_whole(database):
            raise damaged(folder)
        opened.pop_all()
        return Writer(Folder(folder.absolute()), database, number)


def _number(folder: Place) -> int | None:
    with suppress(FileNotFoundError):
        return os.lstat(str(folder / MANIFEST)).st_ino
    return None


@contextmanager
def _in_words(folder: Place) -> Iterator[None]:
    """Convert SQLite errors during a change to OutputError, or to InputError for damage."""
    try:
        yield
    except sqlite3.Error as error:
        code = code_of(error) & 0xFF
        if code == sqlite3.SQLITE_FULL:
            raise unwritable(folder, OSError(errno.ENOSPC, "")) from error
        if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            raise damaged(folder) from error
        raise OutputError(f"{folder}: {MANIFEST} cannot be written: {error}") from error


def _given(head: Manifest) -> dict[str, str]:
    fingerprints = has_fingerprints(head)
    layout = Layout.of(head)
    views = view_statements(layout=layout, types=head["types"], fingerprints=fingerprints)
    return {VIEWS: views, MEANINGS: meanings_text(head)}


def _names(database: sqlite3.Connection) -> set[str]:
    every = database.execute("SELECT name FROM file UNION ALL SELECT name FROM fingerprints")
    return {name for (name,) in every}


def _try(failed: list[OSError], step: Callable[..., None], *names: str) -> None:
    """Do a step; append its error to `failed`, so that later steps are done."""
    try:
        step(*names)
    except OSError as error:
        failed.append(error)


def _write_news(database: sqlite3.Connection, news: News) -> None:
    if is_empty(database):
        for statement in filter(str.strip, TABLES.split(";")):
            database.execute(statement)
    tables = ("file", "fingerprints")
    if news.gone is None:
        for table in (*tables, "input", "damage"):
            database.execute(f"DELETE FROM {table}")
    else:
        for table in tables:
            gone = ((name,) for name in news.gone)
            database.executemany(f"DELETE FROM {table} WHERE name = ?", gone)
    database.execute("DELETE FROM property")
    properties = ((name, json.dumps(value)) for name, value in news.head.items())
    rows: dict[str, Iterable[tuple[object, ...]]] = {
        "property (name, value)": properties,
        "input (name, bytes, identity, value)": (
            (each["name"], each.get("bytes"), each.get("identity"), json.dumps(each))
            for each in news.inputs
        ),
        "file (name, rows, first_day, last_day, sha256)": (
            (each.name, each.rows, *(each.days or (None, None)), each.sha256) for each in news.files
        ),
        "fingerprints (name, records, days, sha256)": (
            (each.name, each.records, json.dumps(each.days), each.sha256) for each in news.runs
        ),
    }
    for target, values in rows.items():
        places = ", ".join("?" * (1 + target.count(",")))
        database.executemany(f"INSERT INTO {target} VALUES ({places})", values)
    database.executemany("INSERT OR IGNORE INTO damage VALUES (?, ?, ?)", news.damage)
