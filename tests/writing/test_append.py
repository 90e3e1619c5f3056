"""Files added to a dataset: as if it had been made of all of them at once, also when killed."""

from __future__ import annotations

import datetime as dt
import gc
import itertools
import json
import os
import random
import re
import shutil
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import polars as pl
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from smfparse.cli import main
from smfparse.decoding import FINGERPRINT
from smfparse.errors import InputError, RequestError
from smfparse.inputs import Inputs, ReadOptions, open_inputs, workers
from smfparse.limits import LIMITS, Limits
from smfparse.selecting import Selection
from smfparse.store import (
    EARLIER,
    GIVEN,
    LOCK,
    MANIFEST,
    PARTIAL,
    RECORDS,
    Folder,
    NewFile,
    dataset_files,
    every_file,
    read_head,
    read_manifest,
)
from smfparse.tables import table_names
from smfparse.writing import append_dataset, manifests, write_dataset
from smfparse.writing.dataset import alone_in
from tests.inputs.test_ranges import CAPACITY, Here, small_chunks
from tests.support import command
from tests.support.builders import foreign_record
from tests.support.datasets import identity_of
from tests.support.mixed_records import Each, several
from tests.support.paths import FIXTURES
from tests.support.searching import search

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")]
SMF = FIXTURES / "qm01-930.smf"
HEADER = foreign_record(2)


def rows(folder: Path, skip: Iterable[str] = ()) -> dict[str, Any]:
    """Return every table, in the order of its rows' places and values."""
    inputs = open_inputs([folder])
    found = {}
    for table in table_names():
        if table not in skip:
            whole = inputs.arrow(table)
            order = [(name, "ascending") for name in whole.column_names]
            found[table] = whole.sort_by(order) if whole.num_rows else whole
    return found


def put(path: Path, records: Sequence[bytes]) -> Path:
    path.write_bytes(b"".join([HEADER, *records]))
    return path


def convert(*arguments: object, code: int = 0, stdin: bytes | None = None) -> Result:
    done = CliRunner().invoke(main, ["convert", *map(str, arguments)], input=stdin)
    assert done.exit_code == code, done.output
    return done


@pytest.fixture
def pieces() -> list[bytes]:
    """The records of a file with all kinds of them, each as it stands in a file."""
    data = SMF.read_bytes()
    offsets = open_inputs([SMF]).arrow("record")["record_offset"].to_pylist()
    return [data[start:end] for start, end in zip(offsets, [*offsets[1:], None], strict=True)]


@pytest.fixture
def dumps(tmp_path: Path, pieces: list[bytes]) -> list[Path]:
    """Three dumps, each of which overlaps with the one before."""
    size = len(pieces) // 4
    cuts = [(0, 2 * size), (size, 3 * size), (2 * size, None)]
    return [put(tmp_path / f"{n}.smf", pieces[a:b]) for n, (a, b) in enumerate(cuts)]


# What is in it after ------------------------------------------------------------------------------


@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize("first", [1, 2])
def test_dumps_that_overlap_are_added_as_if_all_had_been_converted_at_once(
    jobs: int, first: int, dumps: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(vars(LIMITS), "least_unit", 1)
    once = write_dataset(open_inputs(dumps), tmp_path / "once")
    write_dataset(open_inputs(dumps[:first], ReadOptions(jobs=jobs)), tmp_path / "twice")
    done = append_dataset(open_inputs(dumps[first:], ReadOptions(jobs=jobs)), tmp_path / "twice")
    assert rows(tmp_path / "twice") == rows(tmp_path / "once")
    assert done.manifest == read_manifest(tmp_path / "twice")
    for each in (
        *("inputs", "selection", "tables", "duplicates", "unknown_bytes", "damage_count"),
        *("format", "smfparse", "partitioned"),
    ):
        assert done.manifest[each] == once[each], each
    assert once["duplicates"] > len(dumps)


@given(
    st.lists(st.lists(several(12), min_size=1, max_size=3), min_size=1, max_size=3),
    st.randoms(use_true_random=False),
    st.booleans(),
)
@search(6)
def test_any_dumps_in_any_steps_are_as_if_converted_at_once(
    tmp_path_factory: pytest.TempPathFactory,
    found: list[list[list[Each]]],
    chance: random.Random,
    partition: bool,
) -> None:
    """Each step adds some dumps; a dump takes up some records of those before it."""
    place = tmp_path_factory.mktemp("steps")
    earlier: list[bytes] = []
    steps: list[list[Path]] = []
    for number, step in enumerate(found):
        steps.append([])
        for each in step:
            own = [b"".join(record.pieces()) for record in each]
            again = chance.sample(earlier, chance.randint(0, len(earlier)))
            records = [*again, *own]
            chance.shuffle(records)
            earlier += own
            steps[-1].append(put(place / f"{number}-{len(steps[-1])}.smf", records))
    for step in steps:
        append_dataset(open_inputs(step), place / "steps", partition=partition)
    every = [path for step in steps for path in step]
    write_dataset(open_inputs(every), place / "once")
    assert rows(place / "steps") == rows(place / "once")


def test_a_dump_of_which_every_record_is_there_adds_nothing(
    pieces: list[bytes], tmp_path: Path
) -> None:
    once, tables = put(tmp_path / "once.smf", pieces), tmp_path / "tables"
    convert(once, "--to", tables)
    before = rows(tables)
    part = put(tmp_path / "part.smf", pieces[:3])
    convert(part, "--to", tables, "--append")
    assert rows(tables) == before
    assert [each["name"] for each in read_manifest(tables)["inputs"]] == [str(once), str(part)]


def test_a_selection_leaves_out_what_it_leaves_out_at_once(
    dumps: list[Path], tmp_path: Path
) -> None:
    asked = Selection.of(type=["116"])
    write_dataset(open_inputs(dumps, ReadOptions(asked)), tmp_path / "once")
    for dump in dumps:
        append_dataset(open_inputs([dump], ReadOptions(asked)), tmp_path / "steps")
    assert rows(tmp_path / "steps") == rows(tmp_path / "once")
    names = Selection.of(queue=["*"])
    write_dataset(open_inputs(dumps, ReadOptions(names)), tmp_path / "named")
    for dump in dumps:
        append_dataset(open_inputs([dump], ReadOptions(names)), tmp_path / "named steps")
    assert rows(tmp_path / "named steps") == rows(tmp_path / "named")


def test_damage_and_unknown_bytes_add_up(dumps: list[Path], tmp_path: Path) -> None:
    for dump in dumps[1:]:
        dump.write_bytes(dump.read_bytes()[:-3])
    once = write_dataset(open_inputs(dumps), tmp_path / "once")
    for dump in dumps:
        done = append_dataset(open_inputs([dump]), tmp_path / "steps")
    assert done.manifest["damage_count"] == once["damage_count"] == 2
    assert done.manifest["unknown_bytes"] == once["unknown_bytes"] != {}
    assert rows(tmp_path / "steps") == rows(tmp_path / "once")
    assert open_inputs([tmp_path / "steps"]).lost.count == 2


def test_duplicates_are_kept_where_that_is_asked_for(dumps: list[Path], tmp_path: Path) -> None:
    write_dataset(open_inputs(dumps, ReadOptions(keep_duplicates=True)), tmp_path / "once")
    for dump in dumps:
        append_dataset(open_inputs([dump], ReadOptions(keep_duplicates=True)), tmp_path / "steps")
    assert rows(tmp_path / "steps") == rows(tmp_path / "once")


def test_a_dataset_from_several_processes_knows_all_its_records(
    dumps: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_chunks(monkeypatch, CAPACITY * 4)
    monkeypatch.setattr(workers, "ProcessPoolExecutor", Here)
    monkeypatch.setitem(vars(LIMITS), "least_unit", 1)
    write_dataset(open_inputs([SMF], ReadOptions(jobs=3)), tmp_path / "tables")
    done = append_dataset(open_inputs(dumps, ReadOptions(jobs=3)), tmp_path / "tables")
    assert done.rows["record"] == 1  # the header of the first dump
    assert sum(done.rows.values()) == 1


# Inputs -------------------------------------------------------------------------------------------


def test_an_input_that_is_there_is_passed_over_whatever_its_name(
    dumps: list[Path], tmp_path: Path
) -> None:
    folder, again = tmp_path / "tables", tmp_path / "again.smf"
    again.write_bytes(dumps[0].read_bytes())
    convert(dumps[0], "--to", folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    said = convert(again, "--to", folder, "--append").stderr
    assert said.splitlines() == [
        f"smfparse: {again}: is in the dataset already; skipped",
        f"smfparse: {folder}: 0 rows added in 0 tables",
    ]
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    said = convert(again, dumps[1], "--to", folder, "--append").stderr
    assert f"{again}: is in the dataset already; skipped" in said
    names = [each["name"] for each in read_manifest(folder)["inputs"]]
    assert names == [str(dumps[0]), str(dumps[1])]


def test_a_file_of_the_same_size_is_not_taken_for_the_same(tmp_path: Path) -> None:
    one, other = (
        put(tmp_path / "1", [foreign_record(30)]),
        put(tmp_path / "2", [foreign_record(31)]),
    )
    assert one.stat().st_size == other.stat().st_size
    write_dataset(open_inputs([one]), tmp_path / "tables")
    assert append_dataset(open_inputs([other]), tmp_path / "tables").rows["record"] == 1


def test_inputs_of_one_name_are_called_apart(dumps: list[Path], tmp_path: Path) -> None:
    """Rows of a record belong together by the name of the input and the number of the record."""
    folder, same = tmp_path / "tables", tmp_path / "DUMP.smf"
    said = ""
    for dump in dumps:
        same.write_bytes(dump.read_bytes())
        said += convert(same, "--to", folder, "--append").stderr
    assert f"{same}: another input has this name; called {same}#2\n" in said
    assert f"{same}: another input has this name; called {same}#3\n" in said
    names = [str(same), f"{same}#2", f"{same}#3"]
    assert [each["name"] for each in read_manifest(folder)["inputs"]] == names
    found = open_inputs([folder]).arrow("record")
    assert found["source"].unique().to_pylist() == names
    assert found.group_by(["source", "record_no"]).aggregate([]).num_rows == found.num_rows


def test_standard_input_has_size_and_identity(dumps: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    convert(dumps[0], "--to", folder)
    data = dumps[0].read_bytes()
    done = convert("-", "--to", folder, "--append", stdin=data)
    assert "-: is in the dataset already" in done.stderr
    convert("-", "--to", folder, "--append", stdin=dumps[1].read_bytes())
    assert read_manifest(folder)["inputs"][1] == read_manifest(folder)["inputs"][1] | {
        "name": "-",
        "bytes": dumps[1].stat().st_size,
        "identity": identity_of(dumps[1]),
    }


def test_each_file_is_read_once(
    dumps: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its identity comes of its records; a file that no input is as long as is not read for it."""
    monkeypatch.delattr("smfparse.writing.originals.identity")
    write_dataset(open_inputs(dumps[:1]), tmp_path / "tables")
    append_dataset(open_inputs(dumps[1:]), tmp_path / "tables")


def test_a_file_of_other_records_is_not_taken_for_one_as_long(
    dumps: list[Path], tmp_path: Path
) -> None:
    folder, other = tmp_path / "tables", tmp_path / "other.smf"
    write_dataset(open_inputs([dumps[0]]), folder)
    data = bytearray(dumps[0].read_bytes())
    data[-1] ^= 1
    other.write_bytes(data)
    done = append_dataset(open_inputs([other]), folder)
    assert not done.known
    assert done.rows["record"] == 1
    assert append_dataset(open_inputs([other]), folder).known == (str(other),)


def test_what_cannot_be_added_is_refused_and_changes_nothing(
    dumps: list[Path], tmp_path: Path
) -> None:
    folder, second = tmp_path / "tables", tmp_path / "second"
    write_dataset(open_inputs([dumps[0]]), folder)
    write_dataset(open_inputs([folder]), second)
    before = read_manifest(folder)
    refused = {
        "a dataset cannot be appended": open_inputs([second]),
        "with another selection": open_inputs([dumps[1]], ReadOptions(Selection.of(qmgr=["QM01"]))),
    }
    for what, inputs in refused.items():
        with pytest.raises(RequestError, match=what):
            append_dataset(inputs, folder)
    with pytest.raises(RequestError, match="keeps no record fingerprints"):
        append_dataset(open_inputs([dumps[0]]), second)
    with pytest.raises(RequestError, match="without partition=True"):
        append_dataset(open_inputs([dumps[1]]), folder, partition=True)
    assert read_manifest(folder) == before
    convert(dumps[0], "--to", folder, "--append", "--force", code=2)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter").write_text("mine")
    convert(dumps[0], "--to", tmp_path / "mine", "--append", code=2)


def test_a_text_file_in_a_folder_is_noted_once(
    dumps: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dataset in the folder is not read."""
    place = tmp_path / "nightly"
    place.mkdir()
    monkeypatch.chdir(place)
    Path("README.txt").write_text("not of SMF")
    for number, dump in enumerate(dumps):
        Path(f"{number}.smf").write_bytes(dump.read_bytes())
        said = convert(".", "--to", "tables", "--append", code=4).stderr
        assert "README.txt: byte 0x0" in said
        assert "a dataset" not in said
    assert [each.source for each in open_inputs(["tables"]).lost.details] == ["README.txt"]
    assert read_manifest(Path("tables"))["damage_count"] == 1
    assert len(read_manifest(Path("tables"))["inputs"]) == len(dumps)


@pytest.mark.parametrize("append", [False, True])
def test_a_file_that_grows_while_it_is_read_is_refused(
    append: bool, dumps: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tables"
    if append:
        write_dataset(open_inputs([dumps[0]]), folder)
    before = files_below(folder)
    batches = Inputs.batches

    def growing(self: Inputs, *arguments: Any) -> Iterator[Any]:
        yield from batches(self, *arguments)
        with dumps[1].open("ab") as file:
            file.write(HEADER)

    monkeypatch.setattr(Inputs, "batches", growing)
    with pytest.raises(InputError, match=r"1\.smf: changed while it was read; run again"):
        append_dataset(open_inputs([dumps[1]]), folder)
    assert files_below(folder) == before
    monkeypatch.undo()
    append_dataset(open_inputs([dumps[1]]), folder)
    assert read_manifest(folder)["inputs"][-1]["bytes"] == dumps[1].stat().st_size


# One at a time ------------------------------------------------------------------------------------


def test_a_second_run_says_that_another_one_writes_and_changes_nothing(
    dumps: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tables"
    monkeypatch.setitem(vars(LIMITS), "wait_seconds", 0.15)
    with alone_in(folder):
        before = files_below(folder)
        for more in ("--append", "--force"):
            done = convert(dumps[0], "--to", folder, more, code=8)
            assert f"{folder}: another smfparse is writing there; run again" in done.stderr
            waited = f"{folder}: another smfparse is writing there; waiting for it" in done.stderr
            assert waited == (more == "--append")
        assert files_below(folder) == before
    assert not folder.exists()
    append_dataset(open_inputs([dumps[0]]), folder)
    assert not (folder / LOCK).exists()


def test_appends_at_the_same_time_wait_and_add_what_they_would_one_by_one(
    dumps: list[Path], tmp_path: Path
) -> None:
    folder = tmp_path / "tables"
    with alone_in(folder):
        asked = [[*command.COMMAND, "convert", each, "--to", folder, "--append"] for each in dumps]
        runs = [Popen(each, stderr=PIPE, text=True) for each in asked[1:]]
        for run in runs:
            assert run.stderr is not None
            assert run.stderr.readline().endswith("is writing there; waiting for it\n")
    try:
        rest = [run.communicate(timeout=60)[1] for run in runs]
    finally:
        for run in runs:
            run.kill()
    assert [run.returncode for run in runs] == [0, 0], rest
    found = read_manifest(folder)
    order = [Path(each["name"]) for each in found["inputs"]]
    write_dataset(open_inputs(order), tmp_path / "once")
    assert found["duplicates"] == read_manifest(tmp_path / "once")["duplicates"] > 0
    assert sorted(order) == dumps[1:]
    keys = [("qmgr", "ascending"), ("putn", "ascending"), ("basename", "ascending")]
    one, other = (rows(each)["wqst"].sort_by(keys) for each in (folder, tmp_path / "once"))
    assert one.num_rows == other.num_rows > 0
    assert one.select(["qmgr", "basename", "putn"]) == other.select(["qmgr", "basename", "putn"])
    whole = rows(tmp_path / "once")
    for table, each in rows(folder).items():
        assert each.num_rows == found["tables"][table] == whole[table].num_rows
    assert not (folder / LOCK).exists()


def test_a_run_waits_for_nobody_who_was_killed(dumps: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    write_dataset(open_inputs([dumps[0]]), folder)
    (folder / LOCK).touch()
    assert append_dataset(open_inputs([dumps[1]]), folder).rows["record"]
    assert not (folder / LOCK).exists()


# What is not there any more -----------------------------------------------------------------------


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-5])


@pytest.mark.parametrize(
    ("kind", "spoil"),
    [
        ("record/part-*.parquet", Path.unlink),
        *((f"{RECORDS}/part-*.bin", each) for each in (Path.unlink, emptied, cut)),
    ],
)
def test_nothing_is_added_to_a_dataset_of_which_a_file_is_not_whole(
    kind: str, spoil: Callable[[Path], None], dumps: list[Path], tmp_path: Path
) -> None:
    folder = tmp_path / "tables"
    write_dataset(open_inputs([dumps[0]]), folder)
    (file,) = folder.glob(kind)
    spoil(file)
    before = files_below(folder)
    with pytest.raises(InputError, match=f"{file}: .*; convert again"):
        append_dataset(open_inputs([dumps[1]]), folder)
    assert files_below(folder) == before


# What is kept of records --------------------------------------------------------------------------


def test_sixteen_bytes_are_kept_a_record_in_few_files(pieces: list[bytes], tmp_path: Path) -> None:
    """Runs that follow each other are put together, but where the earlier is much longer."""
    for number, piece in enumerate(pieces[:24]):
        path = put(tmp_path / f"{number}.smf", [piece])
        append_dataset(open_inputs([path]), tmp_path / "tables")
    manifest = read_manifest(tmp_path / "tables")
    sizes = [(tmp_path / "tables" / each).stat().st_size for each in manifest["records"]]
    assert sum(sizes) == 16 * manifest["tables"]["record"]
    assert len(sizes) < 8
    there = [f"{RECORDS}/{path.name}" for path in (tmp_path / "tables" / RECORDS).iterdir()]
    assert sorted(there) == sorted(manifest["records"])


def test_runs_do_not_grow_without_end(
    dumps: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = ReadOptions(limits=Limits(fingerprints=5, merged=5))
    write_dataset(open_inputs(dumps, few), tmp_path / "once")
    for dump in dumps:
        append_dataset(open_inputs([dump], few), tmp_path / "steps")
    assert len(read_manifest(tmp_path / "steps")["records"]) == len(dumps)
    assert rows(tmp_path / "steps") == rows(tmp_path / "once")
    assert FINGERPRINT.itemsize == 16


@pytest.fixture
def parts(pieces: list[bytes], dumps: list[Path], tmp_path: Path) -> Path:
    """A dataset to which so much was added that most of its manifest is in earlier parts."""
    few = ReadOptions(limits=Limits(manifest_files=3, merged=40))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("not of SMF")
    for number, dump in enumerate(dumps):
        (tmp_path / "notes" / "DUMP.smf").write_bytes(dump.read_bytes())
        again = [tmp_path / "notes"] if number != 1 else [tmp_path / "notes" / "DUMP.smf"]
        append_dataset(open_inputs(again, few), tmp_path / "parts")
    return tmp_path / "parts"


def test_earlier_parts_of_the_manifest_count_as_its_head_does(
    parts: Path, dumps: list[Path], tmp_path: Path
) -> None:
    """Their inputs, names, damage and records are known, and rows are those of one convert."""
    head, whole = read_head(parts), read_manifest(parts)
    assert len(head["earlier"]) == len(dumps) - 1
    assert len(head["inputs"]) == 1
    called = str(tmp_path / "notes" / "DUMP.smf")
    assert [each["name"] for each in whole["inputs"]] == [called, f"{called}#2", f"{called}#3"]
    assert whole["damage_count"] == 1
    once = write_dataset(open_inputs(dumps), tmp_path / "once")
    assert whole["tables"] == once["tables"] | {"damage": 1}
    assert whole["duplicates"] == once["duplicates"]
    found, expected = (open_inputs([each]).arrow("wqst") for each in (parts, tmp_path / "once"))
    less = ["source", "task_source"]
    assert found.drop_columns(less).equals(expected.drop_columns(less))
    before = files_below(parts)
    assert len(append_dataset(open_inputs(dumps), parts).known) == len(dumps)
    assert files_below(parts) == before
    assert {*every_file(parts), MANIFEST, *GIVEN} == before.keys()


def test_many_parts_are_listed_in_indexes(
    pieces: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of a kind become one of the next, so the head lists one of each kind, and one more."""
    monkeypatch.setattr(manifests, "_MOST_LISTED", 2)
    few, folder = ReadOptions(limits=Limits(manifest_files=1)), tmp_path / "tables"
    paths = [put(tmp_path / f"{number}.smf", [each]) for number, each in enumerate(pieces[:12])]
    for path in paths:
        append_dataset(open_inputs([path], few), folder)
    head, once = read_head(folder), write_dataset(open_inputs(paths), tmp_path / "once")
    assert [each["level"] for each in head["earlier"]] in ([3, 1, 0], [2, 2, 1, 0], [2, 2, 1, 0, 0])
    assert read_manifest(folder)["inputs"] == once["inputs"]
    assert {*every_file(folder), MANIFEST, *GIVEN} == files_below(folder).keys()
    assert rows(folder) == rows(tmp_path / "once")
    assert len(append_dataset(open_inputs(paths), folder).known) == len(paths)


def test_fingerprints_of_other_days_are_not_looked_at(parts: Path, tmp_path: Path) -> None:
    for run in (parts / RECORDS).iterdir():
        run.unlink()
    old, new = tmp_path / "old.smf", tmp_path / "new.smf"
    old.write_bytes(foreign_record(30, dt.datetime(1999, 1, 1)) * 3)
    new.write_bytes(foreign_record(2))
    assert append_dataset(open_inputs([old]), parts).rows["record"] == 3
    with pytest.raises(InputError, match="not there"):
        append_dataset(open_inputs([new]), parts)


@pytest.mark.parametrize("spoil", [emptied, cut, Path.unlink])
def test_an_earlier_part_that_was_damaged_is_named(
    spoil: Callable[[Path], None], parts: Path
) -> None:
    part = sorted((parts / EARLIER).glob("part-*.json"))[0]
    spoil(part)
    with pytest.raises(InputError, match=part.name):
        open_inputs([parts])
