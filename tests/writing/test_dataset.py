"""Inputs as tables, and tables as a Parquet dataset that is whole or none."""

from __future__ import annotations

import datetime as dt
import errno
import gc
import json
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import smfparse
from smfparse.decoding.arrow import schema
from smfparse.decoding.dictionary import columns, table_names
from smfparse.errors import InputError, OutputError, RequestError
from smfparse.inputs.opening import Inputs, open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.inputs.sources import Dataset, SmfFile
from smfparse.limits import Limits
from smfparse.query.catalog import Catalog
from smfparse.store.database import FORMAT, MANIFEST
from smfparse.store.folder import NewFile
from smfparse.store.manifest import GIVEN, MEANINGS, RECORDS, read_files, read_inputs
from smfparse.store.parquet import WritingThread
from smfparse.store.targets import PARTIAL
from smfparse.writing.append import append_dataset
from smfparse.writing.dataset import write_dataset
from tests.support.builders import foreign_record, put
from tests.support.datasets import drop, files_below, identity_of, note_checksums, read_manifest
from tests.support.failing import before_steps
from tests.support.paths import SMF
from tests.support.searching import search
from tests.support.smf import LOG_START, Io, Log, log_record

LOG = Log(
    counters={"qjstwrnw": 7, "qjstllcp": 2},
    io={(1, 1): Io(10, 10, 500, 600, 90, None, "L101"), (2, 2): Io(3, 30)},
    sleep_us=9_999_000,
)
ROWS = 5


def write_dump(path: Path) -> Path:
    """Write five 115/1 records between a header and a trailer of SMF's own."""
    start = [LOG_START + dt.timedelta(seconds=10 * number) for number in range(ROWS)]
    records = [foreign_record(2), *(log_record(LOG, start=each) for each in start)]
    return put(path, *records, foreign_record(3))


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write_dump(tmp_path / "dump.smf")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "tables"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset that stays as it is, beside its dump."""
    place = tmp_path_factory.mktemp("sound")
    write_dataset(open_inputs([write_dump(place / "dump.smf")]), place / "tables")
    return place / "tables"


def copied(folder: Path, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    return Path(shutil.copytree(folder, target))


def test_every_table_has_a_folder_with_its_schema_and_columns_are_described(sound: Path) -> None:
    assert {path.name for path in sound.iterdir() if path.is_dir()} == {*table_names(), RECORDS}
    assert {path.name for path in sound.iterdir() if path.is_file()} == {MANIFEST, *GIVEN}
    for table in table_names():
        (file,) = (sound / table).iterdir()
        assert pq.read_schema(file).equals(schema(table)), table
        assert pq.read_metadata(file).metadata is None
    assert pq.read_metadata(sound / "wtas" / "part-00000.parquet").num_rows == 0
    sizes = {each.parent.name: each.stat().st_size for each in sound.glob("*/*.parquet")}
    assert sizes["wqst"] < 25_000
    assert sum(sizes.values()) < 12_000 * len(sizes)
    said = json.loads((sound / MEANINGS).read_text(encoding="utf-8"))
    names = {table: schema(table).names for table in table_names()}
    assert {table: list(meanings) for table, meanings in said.items()} == names
    assert said["qjst"]["qjstslptu"] == "Time the log writer had nothing to do (microseconds)"


def test_the_manifest_counts_rows_and_names_the_inputs(dump: Path, folder: Path) -> None:
    manifest = write_dataset(open_inputs([dump]), folder)
    assert manifest.items() <= read_files(folder).items()
    of_dump = {"name": str(dump), "bytes": dump.stat().st_size, "identity": identity_of(dump)}
    version = {"smfparse": smfparse.__version__}
    assert read_inputs(folder) == [of_dump | version | {"duplicates": 0}]
    assert version.items() <= manifest.items()
    rows = {"record": ROWS + 2, "qjst": ROWS, "qjst_io": 2 * ROWS}
    assert manifest["tables"] == dict.fromkeys(table_names(), 0) | rows
    assert manifest["damage_count"] == 0
    dump.write_bytes(dump.read_bytes()[:-3])
    manifest = write_dataset(open_inputs([dump]), folder, force=True)
    assert manifest["damage_count"] == 1
    [row] = open_inputs([folder]).arrow("damage").to_pylist()
    assert (row["source"], "the file is truncated" in row["reason"]) == (str(dump), True)


def test_the_disk_has_every_file_before_the_manifest_names_it(
    dump: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, steps = set[int](), list[str]()

    def watched(_: int, step: str) -> None:
        steps.append(step)
        if step == "COMMIT":
            named = {each for each in folder.rglob("*") if each.suffix in (".parquet", ".bin")}
            assert len(named) == len(table_names()) + 1
            places = {*named, *(each.parent for each in named)}
            assert {each.stat().st_ino for each in places} <= kept

    monkeypatch.setattr(os, "fsync", lambda number: kept.add(os.fstat(number).st_ino))
    before_steps(monkeypatch, watched)
    write_dataset(open_inputs([dump]), folder)
    given = [each for each in steps[steps.index("COMMIT") :] if each.startswith("replace")]
    assert given[1::2] == [f"replace {each}" for each in GIVEN]


def test_a_file_and_its_dataset_give_equal_tables(sound: Path, tmp_path: Path) -> None:
    dump, second = sound.with_name("dump.smf"), tmp_path / "second.smf"
    second.write_bytes(log_record(LOG, qmgr="QM02"))
    raw, made = open_inputs([dump]), open_inputs([sound])
    assert isinstance(raw.sources[0], SmfFile)
    assert isinstance(made.sources[0], Dataset)
    mixed, both = open_inputs([sound, second]), open_inputs([dump, second])
    for table in table_names():
        assert made.arrow(table).equals(raw.arrow(table)), table
        assert mixed.arrow(table).equals(both.arrow(table)), table
    assert both.arrow("qjst")["source"].to_pylist() == [*[str(dump)] * ROWS, str(second)]
    assert both.arrow("qjst")["record_no"].to_pylist() == [*range(2, ROWS + 2), 1]
    wanted = {"qjst": frozenset({"qjstwrnw", "qmgr"})}
    for inputs in (raw, made):
        found = [(table, batch.schema.names) for table, batch in inputs.batches(wanted)]
        assert found == [("qjst", ["qmgr", "qjstwrnw"])]


def test_a_dataset_is_replaced_only_by_force(sound: Path, folder: Path, tmp_path: Path) -> None:
    """What others have in it stays."""
    copied(sound, folder)
    mine = (folder / "qjst" / "mine.parquet", folder / "mine" / "part-0.parquet")
    for file in mine:
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"mine")
    before, second = files_below(folder), tmp_path / "second.smf"
    second.write_bytes(log_record(LOG, qmgr="QM02"))
    with pytest.raises(RequestError, match="force=True replaces"):
        write_dataset(open_inputs([second]), folder)
    assert files_below(folder) == before
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE property (value)")
        other = database.serialize()
    half = bytearray((sound / MANIFEST).read_bytes())
    half[len(half) // 2 :] = bytes(len(half) - len(half) // 2)
    for data in (b"", b"no database", other, half):  # b"": the manifest as it is
        (folder / MANIFEST).write_bytes(data or (sound / MANIFEST).read_bytes())
        write_dataset(open_inputs([second]), folder, force=True)
        assert open_inputs([folder]).arrow("qjst")["qmgr"].to_pylist() == ["QM02"]
        assert len(files_below(folder)) == len(table_names()) + 4 + len(mine)
        assert [file.read_bytes() for file in mine] == [b"mine"] * 2


@pytest.mark.parametrize("before", ["", "a", "a/tables"])
def test_an_interrupted_run_leaves_nothing(dump: Path, tmp_path: Path, before: str) -> None:
    """What a killed one left is named, and goes with the next one."""
    place, batches = tmp_path / "place", Inputs.batches
    (place / before).mkdir(parents=True)

    def stopping(self: Inputs, wanted: Any) -> Iterator[Any]:
        yield from list(batches(self, wanted))[:2]
        raise KeyboardInterrupt

    inputs = open_inputs([dump], ReadOptions(limits=Limits(group_rows=1)))
    folder, folders = place / "a" / "tables", sorted(place.rglob("*"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Inputs, "batches", stopping)
        with pytest.raises(KeyboardInterrupt):
            write_dataset(inputs, folder)
    assert sorted(place.rglob("*")) == folders
    (folder / PARTIAL / "qjst").mkdir(parents=True)
    (folder / PARTIAL / "qjst" / "part-00077.parquet").write_bytes(b"half")
    with pytest.raises(InputError, match="interrupted"):
        open_inputs([folder])
    write_dataset(inputs, folder)
    assert open_inputs([folder]).arrow("qjst").num_rows == ROWS
    assert not (folder / PARTIAL).exists()
    assert [each.name for each in (folder / "qjst").iterdir()] == ["part-00000.parquet"]


@pytest.mark.parametrize("limits", [{"group_rows": 5}, {"held_bytes": 5}, {}], ids=str)
def test_small_batches_share_a_row_group(dump: Path, folder: Path, limits: dict[str, int]) -> None:
    """Full ones are written as they come."""
    again = put(dump.with_name("again.smf"), dump.read_bytes())
    apart = 2 * dump.stat().st_size
    held = Limits(epoch_cells=1, chunk_bytes=apart, **limits)
    inputs = open_inputs([dump, again], ReadOptions(keep_duplicates=True, limits=held))
    write_dataset(inputs, folder)
    (file,) = (folder / "qjst").iterdir()
    metadata = pq.read_metadata(file)
    found = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
    assert found == ([ROWS, ROWS] if limits else [2 * ROWS])
    assert open_inputs([folder]).arrow("qjst").equals(inputs.arrow("qjst"))


def test_columns_are_encoded_as_the_docs_say(whole_dataset: Path) -> None:
    """As docs/performance.md has it: what is sought has statistics, texts have a dictionary."""
    sought = {"qmgr", "system", "record_no", "task_record_no"}
    wrong, compressed = [], set()
    for table in table_names():
        kinds = {each.name: each.arrow for each in columns(table)}
        metadata = pq.read_metadata(next((whole_dataset / table).iterdir()))
        for number in range(metadata.num_columns if metadata.num_rows else 0):
            each = metadata.row_group(0).column(number)
            name = each.path_in_schema
            compressed.add((each.num_values > 30, each.compression))
            facts = {
                "statistics": each.is_stats_set == (name in sought or "timestamp" in kinds[name]),
                "dictionary": each.has_dictionary_page == (kinds[name] == "string"),
                "indices": ("RLE_DICTIONARY" in each.encodings) == (kinds[name] == "string"),
                "plain": set(each.encodings) <= {"PLAIN", "RLE", "RLE_DICTIONARY"},
            }
            wrong += [(table, name, fact) for fact, holds in facts.items() if not holds]
    assert wrong == []
    assert compressed == {(True, "ZSTD"), (False, "SNAPPY")}


@pytest.mark.slow
def test_a_file_on_a_full_disk_is_not_ended_as_if_it_were_whole(
    dump: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An open writer that is collected would write to the full disk again, and say so."""
    ended = list[Any]()

    def full(self: Any, *arguments: Any, **options: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    monkeypatch.setattr(pq.ParquetWriter, "close", ended.append)
    with pytest.raises(OutputError, match="No space left on device"):
        write_dataset(open_inputs([dump]), folder)
    gc.collect()
    assert not ended


WRONG = (
    *(("tables", each) for each in ("null", "{", '{"qjst": "5"}', '"\\ud800"', "[" * 200_000)),
    *(("types", each) for each in ('"other"', "5")),
    *(("unknown_bytes", '{"QJST": "many"}'), ("damage_count", "null"), ("next", "1.5")),
)
"""Properties of a manifest that no manifest has."""
CELLS: tuple[tuple[str, object], ...] = (
    *(("file SET rows = ?", each) for each in ("many", None, 1.5)),
    *(("file SET first_day = ?", each) for each in ("2026-03-04", b"2026", 5)),
    ("file SET sha256 = ?", b"x"),
    *(("fingerprints SET days = ?", each) for each in ("[]", '{"0126063": null}', "{")),
    ("fingerprints SET records = ?", "many"),
    *(
        ("input SET value = ?", each)
        for each in ("5", '{"name": "a"}', '{"name": "a", "inputs": 5}')
    ),
)
"""Cells of a manifest that no manifest has: what is set, in every row."""


def test_a_wrong_manifest_makes_no_dataset(sound: Path, folder: Path) -> None:
    damaged, older = r"smfparse\.db is damaged; convert again", "another version of smfparse; use"

    def check(said: str, statement: str, *values: object) -> None:
        copied(sound, folder)
        with closing(sqlite3.connect(folder / MANIFEST)) as database, database:
            database.execute("PRAGMA ignore_check_constraints = ON")
            database.execute(statement, values)
        with pytest.raises(InputError, match=said):
            read_manifest(folder)

    for name in read_files(sound).keys() - {"files", "rows", "checksums"}:
        check(damaged, "DELETE FROM property WHERE name = ?", name)
    for name, value in WRONG:
        check(damaged, "UPDATE property SET value = ? WHERE name = ?", value, name)
    for what, cell in CELLS:
        if cell is not None:
            check(damaged, f"UPDATE {what}", cell)
    for version in (FORMAT - 1, FORMAT + 1):
        check(older, f"PRAGMA user_version = {version}")
    for more in (
        *("CREATE TABLE more (x)", "CREATE VIEW more AS SELECT 1", "DROP INDEX input_name"),
        "CREATE TRIGGER more AFTER INSERT ON input BEGIN DELETE FROM file; END",
        *("DROP TABLE damage", "ALTER TABLE file ADD COLUMN more"),
    ):
        check(damaged, more)


def test_a_file_of_another_table_is_damage(sound: Path, folder: Path, tmp_path: Path) -> None:
    """It lacks a column, or is of another table; whichever file it is, and however it is read."""
    grown, other = copied(sound, tmp_path / "grown"), tmp_path / "other.smf"
    other.write_bytes(log_record(LOG, qmgr="QM02"))
    append_dataset(open_inputs([other]), grown)
    files = [each.name for each in sorted((grown / "qjst").iterdir())]

    def check(table: str, *asked: Sequence[str]) -> None:
        note_checksums(folder)
        said = f"not a file of the table {table}"
        for names in asked:
            with pytest.raises(InputError, match=said):
                list(open_inputs([folder]).batches({table: frozenset(names)}))
        with Catalog(open_inputs([folder])) as catalog, pytest.raises(InputError, match=said):
            catalog.arrow(f"FROM {table}")

    for name, column in zip(files, ("counted_at", "qjstwrnw"), strict=True):
        copied(grown, folder)
        drop(folder / "qjst" / name, column)
        check("qjst", schema("qjst").names, ["system"])
    copied(sound, folder)
    shutil.copy(folder / "qjst" / "part-00000.parquet", folder / "qmst" / "part-00000.parquet")
    check("qmst", ["qmstget"], ["record_no"])


SMALL = Limits(least_unit=1, group_rows=7, held_bytes=20_000, epoch_bytes=20_000, chunk_bytes=4096)
"""Let a small file be worth a thread, and have several row groups."""


def opened(jobs: int, path: Path = SMF) -> Inputs:
    return open_inputs([path], ReadOptions(jobs=jobs, limits=SMALL, keep_duplicates=path != SMF))


@pytest.mark.slow
def test_a_thread_writes_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_dataset(opened(1), tmp_path / "1", partition=True)
    writing, flush = set[str](), NewFile.flush

    def watched(file: NewFile) -> None:
        writing.add(threading.current_thread().name)
        flush(file)

    monkeypatch.setattr(NewFile, "flush", watched)
    write_dataset(opened(2), tmp_path / "2", partition=True)
    one, two = (files_below(tmp_path / f"{jobs}") for jobs in (1, 2))
    assert one == two
    assert any(each.startswith("writing") for each in writing)
    assert not [each for each in threading.enumerate() if each.name.startswith("writing")]


@pytest.mark.slow
@pytest.mark.parametrize(("flushes", "kind"), [(1, OSError(errno.EIO)), (20, KeyboardInterrupt())])
def test_what_fails_in_the_thread_fails_the_command_and_leaves_nothing(
    flushes: int, kind: BaseException, whole_dataset: Path, tmp_path: Path
) -> None:
    flush, count = NewFile.flush, 0

    def failing(file: NewFile) -> None:
        nonlocal count
        count += threading.current_thread().name.startswith("writing")
        if count == flushes:
            count += 1
            raise kind
        flush(file)

    folder, other = copied(whole_dataset, tmp_path / "tables"), tmp_path / "other.smf"
    before = files_below(folder)
    other.write_bytes(SMF.read_bytes()[:-200])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NewFile, "flush", failing)
        with pytest.raises((OutputError, KeyboardInterrupt)):
            append_dataset(opened(2, other), folder)
    assert files_below(folder) == before


@given(sizes=st.lists(st.integers(0, 150), max_size=30))
@search(10)
def test_work_is_done_in_order_and_little_of_it_waits(sizes: list[int]) -> None:
    thread, done = WritingThread(100), list[int]()

    def work(number: int) -> None:
        time.sleep(0.001)
        done.append(number)

    for number, size in enumerate(sizes):
        thread.do(partial(work, number), size)
        assert sum(sizes[len(done) : number + 1]) <= max(100, size)
    thread.wait()
    thread.stop()
    assert done == list(range(len(sizes)))
