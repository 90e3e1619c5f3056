"""Whatever fails, and whenever a command is ended: the old result is there or the new, whole."""

from __future__ import annotations

import errno
import os
import random
import re
import shutil
import signal
import sqlite3
import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest

from smfparse.store.database import JOURNALS, MANIFEST
from smfparse.store.manifest import GIVEN
from smfparse.store.targets import PARTIAL
from smfparse.store.writer import only_writer
from tests.support.command import run
from tests.support.datasets import dumped, files_below, read_manifest
from tests.support.failing import failing_at, signalled_at, steps_of
from tests.support.paths import FIXTURES
from tests.support.searching import LONG

FIRST, SECOND = FIXTURES / "qm60.smf", FIXTURES / "qm80.smf"
pytestmark = [pytest.mark.fuzz, pytest.mark.slow]
CODES = (errno.ENOSPC, errno.EACCES, errno.EIO)
WAYS: dict[str, list[str]] = {
    "append": ["--append"], "partition": ["--partition"], "force": ["--force"], "convert": [],
    "compact": [], "csv": ["--format", "csv", "--force", "--table", "record,wtas,wqst"],
    "duckdb": ["--format", "duckdb", "--force", "--table", "record,wtas"],
}  # fmt: skip
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
    found = dict(files_below(target))
    for name in JOURNALS:  # of a run that was killed before it had published anything
        found.pop(name, None)
    if MANIFEST in found:
        found[MANIFEST] = dumped(found[MANIFEST]) if found[MANIFEST] else b""
    return found


def of_dataset(found: dict[str, Any]) -> dict[str, Any]:
    """Return the files of a folder that belong to the dataset; all where it is none."""
    if not found.get(MANIFEST):
        return found
    named = rb"""INSERT INTO "(?:file|fingerprints)" VALUES\(\d+,'([^']+)'"""
    names = map(bytes.decode, re.findall(named, found[MANIFEST]))
    return {name: found[name] for name in (MANIFEST, *names)}


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
            if found.get(MANIFEST) or self.way not in NEW:
                assert of_dataset(found) in (of_dataset(self.old), of_dataset(self.new)), why
            tables = {name for name in found if name.endswith(".parquet") and name[0] != "."}
            assert {found[name] for name in tables} <= {*self.old.values(), *self.new.values()}, why

    def check_alone(self, target: Path, why: object) -> None:
        """Nothing else is there: no part, no file that does not count."""
        found = content(target)
        if not found.get(MANIFEST, b"-"):  # to remove it can fail, too
            del found[MANIFEST]
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
        assert found.keys() - {*GIVEN} == of_dataset(found).keys() - {*GIVEN}, why


@pytest.fixture(scope="module", params=WAYS)
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(request.param, tmp_path_factory.mktemp("place"))


def moments(steps: list[str]) -> list[int]:
    """Return numbers of steps: those around what counts, one more, and others in long runs."""
    moves = [number for number, each in enumerate(steps) if each.startswith("replace")]
    (counts, *_) = [each for each, step in enumerate(steps) if step == "COMMIT"] or moves[-1:]
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
        if steps[number] not in ("unlink", "rmdir", "BEGIN IMMEDIATE"):
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


def killed_in_a_commit(target: Path) -> None:
    """Leave a manifest as a process does that is killed as SQLite writes it: half of it is new."""
    place, left = target / MANIFEST, target.with_name("left")
    with closing(sqlite3.connect(place, isolation_level=None)) as database:
        database.execute("PRAGMA cache_size = 1")
        database.execute("BEGIN IMMEDIATE")
        if not place.stat().st_size:  # of the first run
            database.execute("CREATE TABLE file (rows, sha256)")
            database.executemany("INSERT INTO file VALUES (?, 0)", [(1,)] * 900)
            database.execute("CREATE TABLE property (value)")
        database.execute("UPDATE file SET rows = rows + 1, sha256 = hex(randomblob(400))")
        database.execute("UPDATE property SET value = 0")
        shutil.copytree(target, left)
    shutil.rmtree(target)
    left.rename(target)


def test_what_a_killed_commit_wrote_is_taken_back(tmp_path: Path) -> None:
    """By the next reader or writer; but not where it is said to remove files elsewhere."""
    target, mine = tmp_path / "out", tmp_path / "mine"
    run("convert", FIRST, "--to", target, code=0)
    before = read_manifest(target)
    for options in (["info", target], ["convert", SECOND, "--to", target, "--append"]):
        killed_in_a_commit(target)
        assert (target / JOURNALS[0]).stat().st_size > 1000
        run(*options, code=0)
        assert not (target / JOURNALS[0]).exists()
    assert read_manifest(target)["inputs"][:1] == before["inputs"]
    shutil.rmtree(target)
    target.mkdir()
    killed_in_a_commit(target)
    assert (target / MANIFEST).stat().st_size > 0
    assert "interrupted here" in run("info", target, code=8).stderr
    killed_in_a_commit(target)
    run("convert", FIRST, "--to", target, code=0)
    assert read_manifest(target)["files"] == before["files"]
    killed_in_a_commit(target)
    mine.write_text("of the user")
    name = str(mine).encode()
    with (target / JOURNALS[0]).open("ab") as file:  # as SQLite names a journal of several files
        size, total = len(name).to_bytes(4, "big"), sum(name).to_bytes(4, "big")
        file.write(bytes(4) + name + size + total + bytes.fromhex("d9d505f920a163d7"))
    for options in (["info", target], ["convert", SECOND, "--to", target, "--append"]):
        assert "refers to a file elsewhere; remove it" in run(*options, code=8).stderr
    assert mine.exists()


def test_a_reader_goes_on_while_another_one_writes(tmp_path: Path) -> None:
    run("convert", FIRST, "--to", tmp_path / "out", code=0)
    with only_writer(tmp_path / "out"):
        run("info", tmp_path / "out", code=0)
        run("convert", SECOND, "--to", tmp_path / "out", "--force", code=8)
