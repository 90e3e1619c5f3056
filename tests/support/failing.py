"""Every step by which a command changes files, one at a time: it fails, or a signal comes then."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import PurePath
from typing import Any

import pytest

STEPS = ("open", "write", "mkdir", "replace", "unlink", "rmdir", "fsync")
"""Functions of `os` by which files are changed, and opened to be."""
SQL = ("BEGIN IMMEDIATE", "INSERT", "COMMIT")
"""Statements of SQLite by which a manifest is locked and changed."""
_LOADED = ("smfparse.cli.convert", "smfparse.writing", "smfparse.store.folder", "duckdb")
"""What copies need not load again; none of these starts a thread."""
_PATIENCE = 120
"""Seconds that a process may take."""
Before = Callable[[int, str], object]
"""Takes the number of a step, from 0 on, and its name; behind `replace` that of the new file."""


def before_steps(patch: pytest.MonkeyPatch, call: Before) -> None:
    """Call something before every step, which may raise OSError in its place."""
    numbers = itertools.count()

    def stepping(name: str, whole: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **options: Any) -> Any:
            new = f" {PurePath(arguments[1]).name}" if name == "replace" else ""
            call(next(numbers), f"{name}{new}")
            return whole(*arguments, **options)

        return step

    for name in STEPS:
        patch.setattr(os, name, stepping(name, getattr(os, name)))

    def noting(statement: str) -> None:
        if statement.startswith(SQL):
            try:
                call(next(numbers), statement.split("(")[0].strip())
            except OSError as error:
                raise sqlite3.OperationalError("disk I/O error") from error

    patch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=_of_steps(noting)))


def _of_steps(call: Callable[[str], None]) -> type[sqlite3.Connection]:
    """Return a kind of connection that hands on every statement before it is run."""

    class Database(sqlite3.Connection):
        def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
            call(statement)
            return super().execute(statement, *values)

        def executemany(self, statement: str, *values: Any) -> sqlite3.Cursor:
            call(statement)
            return super().executemany(statement, *values)

    return Database


def steps_of(do: Callable[[], object]) -> list[str]:
    found: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        before_steps(patch, lambda _, name: found.append(name))
        do()
    return found


def failing_at(number: int, code: int, do: Callable[[], Any]) -> Any:
    """Do something of which a step fails as if the system had refused it; return what it gives."""

    def fail(count: int, _name: str) -> None:
        if count == number:
            raise OSError(code, os.strerror(code))

    with pytest.MonkeyPatch.context() as patch:
        before_steps(patch, fail)
        return do()


def signalled_at(number: int, kind: int, do: Callable[[], int]) -> int:
    """Do something in a process of its own, which a signal comes to before a step.

    do  returns an exit code; it can be pickled

    Returns it, or 128 and more where the signal ended the process itself, as shells have it. The
    process is a copy of one without threads: in a copy of this one libraries may wait for theirs.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*_LOADED, "tests.support.failing"])
    child = context.Process(target=_signalled, args=(number, kind, do))
    child.start()
    child.join(_PATIENCE)
    assert child.exitcode is not None
    return 128 - child.exitcode if child.exitcode < 0 else child.exitcode


def _signalled(number: int, kind: int, do: Callable[[], int]) -> None:
    code = 70
    try:
        patch, own = pytest.MonkeyPatch(), os.getpid()
        before_steps(patch, lambda count, _: count != number or os.kill(own, kind))
        code = do()
    finally:
        os._exit(code)
