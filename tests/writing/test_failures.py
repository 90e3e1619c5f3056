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
from tests.support.datasets import files_below
from tests.support.failing import failing_at, signalled_at, steps_of
from tests.support.paths import FIXTURES
from tests.support.searching import LONG

FIRST, SECOND = FIXTURES / "qm60.smf", FIXTURES / "qm80.smf"
pytestmark = [pytest.mark.fuzz, pytest.mark.slow]
CODES = (errno.ENOSPC, errno.EACCES, errno.EIO)
WAYS: dict[str, list[str]] = {
    "append": ["--append"],
    "partition": ["--partition"],
    "force": ["--force"],
    "convert": [],
    "compact": [],
    "csv": ["--format", "csv", "--force", "--table", "record,wtas,wqst"],
    "duckdb": ["--format", "duckdb", "--force", "--table", "record,wtas"],
}
NEW = ("convert", "partition")
"""Ways in which nothing is there before."""


def command(way: str, target: Path) -> int:
    call = ["compact", target] if way == "compact" else ["convert", SECOND, "--to", target]
    return run(*call, *WAYS[way]).exit_code


def prepared(way: str, target: Path) -> Path:
    options = {"compact": ["--append", "--partition"], "csv": WAYS[way], "duckdb": WAYS[way]}
    before = [] if way in NEW else [FIRST, SECOND] if way == "compact" else [FIRST]
    for path in before:
        run("convert", path, "--to", target, *options.get(way, []), code=0)
    return target


def content(target: Path) -> dict[str, Any]:
    """Return what is there: files below a folder, or tables of a database and what is beside it."""
    if target.is_file():
        with duckdb.connect(str(target), read_only=True) as database:
            rows = database.execute("SELECT table_name, estimated_size FROM duckdb_tables()")
            return {"tables": sorted(rows.fetchall()), "beside": sorted(os.listdir(target.parent))}
    return dict(files_below(target))


def of_dataset(found: dict[str, Any]) -> dict[str, Any]:
    """Return the files of a folder that belong to the dataset; all where it is none."""
    if MANIFEST not in found:
        return found
    return {name: found[name] for name in (MANIFEST, *dataset_files(json.loads(found[MANIFEST])))}


class Place:
    """Where a command writes, with what has to be there before and after.

    old  {} where nothing was there
    """

    def __init__(self, way: str, folder: Path) -> None:
        self.way, self.folder = way, folder
        (folder / "expected").mkdir()
        target = prepared(way, folder / "expected" / "out")
        shutil.copytree(target.parent, folder / "old")
        self.old = content(target)
        assert command(way, target) == 0
        self.new = content(target)

    def fresh(self) -> Path:
        shutil.rmtree(self.folder / "tried", ignore_errors=True)
        return Path(shutil.copytree(self.folder / "old", self.folder / "tried")) / "out"

    def steps(self) -> list[str]:
        return steps_of(partial(command, self.way, self.fresh()))

    def check_counted(self, target: Path, why: object) -> None:
        """What counts is the old result or the new one, whole; so is each file of a table."""
        found = content(target)
        if self.way == "csv":  # each file is the old one or the new
            both = {*self.old.items(), *self.new.items()}
            whole = {name for name in found if not name.endswith(PARTIAL)}
            assert whole == self.new.keys(), why
            assert {(name, found[name]) for name in whole} <= both, why
        elif self.way != "duckdb":
            if MANIFEST in found or self.way not in NEW:
                assert of_dataset(found) in (of_dataset(self.old), of_dataset(self.new)), why
            tables = {name for name in found if name.endswith(".parquet") and name[0] != "."}
            assert {found[name] for name in tables} <= {*self.old.values(), *self.new.values()}, why

    def check_alone(self, target: Path, why: object) -> None:
        """Nothing else is there: no part, no file that does not count, no lock of a process."""
        found = content(target)
        found.pop(LOCK, None)  # to remove it can fail, too; nobody holds it
        if self.way == "csv":  # files are replaced one by one
            assert found.keys() == self.new.keys(), why
        else:
            assert found in (self.old, self.new), why

    def check_again(self, target: Path, why: object) -> None:
        """The same command gives the new result, and removes what was left."""
        code = command(self.way, target)
        if self.way in NEW and code == 2:  # it was done
            code = run("convert", SECOND, "--to", target, "--append").exit_code
        assert code == 0, why
        found = content(target)
        if self.way == "force":  # whose parts have other numbers
            assert sorted(map(len, of_dataset(found))) == sorted(map(len, of_dataset(self.new)))
        else:
            assert of_dataset(found) == of_dataset(self.new), why
        assert found.keys() - {LOCK, *GIVEN} == of_dataset(found).keys() - {*GIVEN}, why


@pytest.fixture(scope="module", params=WAYS)
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(request.param, tmp_path_factory.mktemp("place"))


def moments(steps: list[str]) -> list[int]:
    """Return numbers of steps: those around what counts, one more, and others in long runs."""
    moves = [number for number, each in enumerate(steps) if each.startswith("replace")]
    (counts, *_) = [each for each in moves if steps[each].endswith(MANIFEST)] or moves[-1:]
    others = random.sample(range(len(steps)), min(LONG, len(steps)))
    return sorted({*others, len(steps) // 3, counts, min(counts + 1, len(steps) - 1)})


@pytest.mark.sampled(1)
def test_a_step_that_fails_changes_nothing_or_all_is_done(place: Place) -> None:
    """It ends the command with 8, or is none that matters."""
    way, steps = place.way, place.steps()
    ends = [steps.index(each) for each in {"mkdir", "write", "unlink"} & {*steps}]
    ends += [number for number, each in enumerate(steps) if each == "write"][-1:]
    for number in sorted({*moments(steps), *ends}):
        target, code = place.fresh(), CODES[number % len(CODES)]
        why = (way, number, steps[number], errno.errorcode[code])
        assert failing_at(number, code, partial(command, way, target)) in (0, 8), why
        place.check_counted(target, why)
        if steps[number] not in ("unlink", "rmdir"):
            place.check_alone(target, why)
        place.check_again(target, why)


@pytest.mark.skipif(sys.platform == "win32", reason="copies of this process, signals")
@pytest.mark.sampled(1)
def test_a_signal_at_a_step_leaves_the_old_or_the_new(place: Place) -> None:
    way, steps = place.way, place.steps()
    kill, gentle = signal.SIGKILL, (signal.SIGTERM, signal.SIGINT)
    for count, number in enumerate(moments(steps)):
        for kind in (kill, gentle[number % 2]) if LONG else [kill if count else gentle[0]]:
            target = place.fresh()
            why = (way, number, steps[number], kind.name)
            ended = signalled_at(number, kind, partial(command, way, target))
            place.check_counted(target, why)
            assert ended == 128 + kind or (kind != kill and ended == 0), why
            if kind != kill:
                place.check_alone(target, why)
            place.check_again(target, why)
