"""Whatever fails, and whenever a command is ended: the old result is there or the new, whole."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest

from smfparse.store import GIVEN, LOCK, MANIFEST, PARTIAL, dataset_files
from tests.support.command import run
from tests.support.failing import chosen, failing_at, signalled_at, steps_of
from tests.support.paths import FIXTURES
from tests.support.searching import LONG

FIRST, SECOND = FIXTURES / "qm60.smf", FIXTURES / "qm80.smf"
CODES = (errno.ENOSPC, errno.EACCES, errno.EIO)
WAYS: dict[str, list[str]] = {
    "convert": [],
    "partition": ["--partition"],
    "force": ["--force"],
    "append": ["--append"],
    "csv": ["--format", "csv", "--force"],
    "parquet": ["--format", "parquet", "--force"],
    "duckdb": ["--format", "duckdb", "--force"],
}
NEW = ("convert", "partition")
"""Ways in which nothing is there before."""
FILES = ("csv", "parquet")
"""Ways in which each file is the old or the new."""
REMOVING = ("unlink", "rmdir")
posix = pytest.mark.skipif(sys.platform == "win32", reason="copies of this process, signals")
every_way = pytest.mark.parametrize("way", WAYS)


def command(way: str, target: Path) -> int:
    """Do it; return the exit code."""
    return run("convert", SECOND, "--to", target, *WAYS[way]).exit_code


def prepared(way: str, target: Path) -> Path:
    """Make what is there before."""
    if way not in NEW:
        options = [] if way in ("force", "append") else WAYS[way]
        assert run("convert", FIRST, "--to", target, *options).exit_code == 0
    return target


def content(target: Path) -> dict[str, Any]:
    """Return what is there: files below a folder, or tables of a database and what is beside it."""
    if target.is_file():
        with duckdb.connect(str(target), read_only=True) as database:
            rows = database.execute("SELECT table_name, estimated_size FROM duckdb_tables()")
            return {"tables": sorted(rows.fetchall()), "beside": sorted(os.listdir(target.parent))}
    found = (each for each in target.rglob("*") if not each.is_dir())
    return {each.relative_to(target).as_posix(): each.read_bytes() for each in found}


def of_dataset(found: dict[str, Any]) -> dict[str, Any]:
    """Return the files of a folder that belong to the dataset; all where it is none."""
    if MANIFEST not in found:
        return found
    return {name: found[name] for name in (MANIFEST, *dataset_files(json.loads(found[MANIFEST])))}


def copy(found: Path, target: Path) -> Path:
    """Copy a file or a folder, if there is one."""
    if found.is_dir():
        shutil.copytree(found, target)
    elif found.exists():
        shutil.copyfile(found, target)
    return target


class Place:
    """Where a command writes, with what has to be there before and after.

    old  {} where nothing was there
    """

    def __init__(self, way: str, folder: Path) -> None:
        self.way, self.folder = way, folder
        (folder / "expected").mkdir()
        target = prepared(way, folder / "expected" / "out")
        copy(target, folder / "old")
        self.old = content(target)
        assert command(way, target) == 0
        self.new = content(target)
        self.known: set[object] = set()

    def fresh(self, name: str) -> Path:
        """Return a target that is as before."""
        shutil.rmtree(self.folder / "tried", ignore_errors=True)
        (self.folder / "tried").mkdir()
        return copy(self.folder / "old", self.folder / "tried" / "out")

    def check_counted(self, target: Path, why: object) -> None:
        """What counts is the old result or the new one, whole."""
        found = content(target)
        if self.way in ("force", "append"):
            assert of_dataset(found) in (of_dataset(self.old), of_dataset(self.new)), why
        elif self.way in FILES:
            both = {*self.old.items(), *self.new.items()}
            whole = {name for name in found if not name.endswith(PARTIAL)}
            assert whole == self.new.keys(), why
            assert {(name, found[name]) for name in whole} <= both, why
        elif self.way in NEW:
            assert MANIFEST not in found or of_dataset(found) == of_dataset(self.new), why

    def check_alone(self, target: Path, why: object) -> None:
        """Nothing else is there: no part, no file that does not count, no lock of a process."""
        found = content(target)
        found.pop(LOCK, None)  # to remove it can fail, too; nobody holds it
        if self.way in FILES:  # which are replaced one by one
            assert found.keys() == self.new.keys(), why
        else:
            assert found in (self.old, self.new), why

    def is_known(self, step: str) -> bool:
        """Whether the command was repeated over the same files and folders after such a step."""
        tried = self.folder / "tried"
        found = (each for each in tried.rglob("*") if not each.is_symlink())
        state = frozenset(
            (str(each.relative_to(tried)), each.read_bytes() if each.is_file() else None)
            for each in found
        )
        known = (step, state) in self.known
        self.known.add((step, state))
        return known

    def check_again(self, target: Path, why: object, step: str = "") -> None:
        """The same command gives the new result, and removes what was left.

        step  what failed in this process, which may have kept something of it
        """
        if not LONG and self.is_known(step):
            return
        code = command(self.way, target)
        if self.way in NEW and code == 2:  # it was done
            code = run("convert", SECOND, "--to", target, "--append").exit_code
        assert code == 0, why
        found = content(target)
        if self.way != "force":  # whose parts have other numbers
            assert of_dataset(found) == of_dataset(self.new), why
        assert found.keys() - {LOCK, *GIVEN} == of_dataset(found).keys() - {*GIVEN}, why


@pytest.fixture
def place(way: str, tmp_path: Path) -> Place:
    return Place(way, tmp_path)


def numbers(steps: list[str], way: str, apart: int) -> list[int]:
    return chosen(steps, LONG > 0, random.Random(way).randrange(apart), apart)


def check_failure(place: Place, number: int, name: str, code: int) -> None:
    """A step that fails ends the command with 8, or is none that matters."""
    target = place.fresh(name)
    why = (place.way, number, name, errno.errorcode[code])
    ended = failing_at(number, code, partial(command, place.way, target))
    assert ended in (0, 8), why
    place.check_counted(target, why)
    if name not in REMOVING:
        place.check_alone(target, why)
    place.check_again(target, why, name)


@pytest.mark.fuzz
@pytest.mark.slow
@every_way
def test_a_step_that_fails_changes_nothing_or_all_is_done(way: str, place: Place) -> None:
    steps = steps_of(partial(command, way, place.fresh("counted")))
    for number in numbers(steps, way, 401):
        check_failure(place, number, steps[number], CODES[number % len(CODES)])


def check_signal(place: Place, number: int, name: str, kind: signal.Signals) -> None:
    target = place.fresh(name)
    why = (place.way, number, name, kind.name)
    ended = signalled_at(number, kind, partial(command, place.way, target))
    place.check_counted(target, why)
    if kind == signal.SIGTERM:
        assert ended in (143, 0), why
        place.check_alone(target, why)
    else:
        assert ended == 128 + kind, why
    place.check_again(target, why)


@posix
@pytest.mark.fuzz
@pytest.mark.slow
@every_way
@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGKILL], ids=["TERM", "KILL"])
def test_a_signal_at_a_step_leaves_the_old_or_the_new(
    kind: signal.Signals, way: str, place: Place
) -> None:
    steps = steps_of(partial(command, way, place.fresh("counted")))
    some = slice(None) if LONG else slice(kind % 3, None, 3)
    for number in numbers(steps, way, 599)[some]:
        check_signal(place, number, steps[number], kind)
