"""Inputs as tables, and tables as a Parquet dataset that is whole or none."""

from __future__ import annotations

import datetime as dt
import errno
import gc
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import smfparse
from smfparse.errors import DamageLog, InputError, OutputError, RequestError
from smfparse.inputs import Dataset, Inputs, ReadOptions, SmfFile, open_inputs
from smfparse.limits import Limits
from smfparse.store import GIVEN, MANIFEST, MEANINGS, PARTIAL, RECORDS, VIEWS, Folder
from smfparse.tables import schema, table_names
from smfparse.writing import write_dataset
from tests.support.builders import foreign_record, rdw
from tests.support.datasets import identity_of, note_checksums
from tests.support.smf import LOG_START, Io, Log, log_record

LOG = Log(
    counters={"qjstwrnw": 7, "qjstllcp": 2},
    io={(1, 1): Io(10, 10, 500, 600, 90, None, "L101"), (2, 2): Io(3, 30)},
    sleep_us=9_999_000,
)
ROWS = 5


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Five 115/1 records between a header and a trailer of SMF's own."""
    start = [LOG_START + dt.timedelta(seconds=10 * number) for number in range(ROWS)]
    records = [foreign_record(2), *(log_record(LOG, start=each) for each in start)]
    path = tmp_path / "dump.smf"
    path.write_bytes(rdw([*records, foreign_record(3)]))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "tables"


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


AT_ONCE = ReadOptions(limits=Limits(group_rows=1))


@pytest.fixture
def stop_after(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Let `write_dataset` be stopped after some batches."""

    def stop(batches: int) -> None:
        whole = Inputs.batches

        def stopping(self: Inputs, wanted: Any) -> Iterator[Any]:
            for number, batch in enumerate(whole(self, wanted)):
                if number == batches:
                    raise KeyboardInterrupt
                yield batch

        monkeypatch.setattr(Inputs, "batches", stopping)

    return stop


def test_a_dataset_has_a_folder_for_every_table(dump: Path, folder: Path) -> None:
    write_dataset(open_inputs([dump]), folder)
    assert {path.name for path in folder.iterdir() if path.is_dir()} == {*table_names(), RECORDS}
    assert {path.name for path in folder.iterdir() if path.is_file()} == {MANIFEST, *GIVEN}


@pytest.mark.parametrize("table", table_names())
def test_every_table_reads_in_pyarrow_with_its_whole_schema(
    dump: Path, folder: Path, table: str
) -> None:
    write_dataset(open_inputs([dump]), folder)
    (file,) = (folder / table).iterdir()
    assert pq.read_schema(file).equals(schema(table))
    assert pq.read_metadata(file).metadata is None


def test_what_columns_are_and_their_units_is_said_once_and_not_in_every_file(
    dump: Path, folder: Path
) -> None:
    write_dataset(open_inputs([dump]), folder)
    said = json.loads((folder / MEANINGS).read_text(encoding="utf-8"))
    assert {table: list(names) for table, names in said.items()} == {
        table: schema(table).names for table in table_names()
    }
    assert said["qjst"]["qjstslptu"] == "Time the log writer had nothing to do (microseconds)"
    sizes = {each.parent.name: each.stat().st_size for each in folder.glob("*/*.parquet")}
    assert sizes["wqst"] < 25_000
    assert sum(sizes.values()) < 12_000 * len(sizes)


SOUGHT = ("qmgr", "system", "smf_time", "counted_at", "time", "interval_start", "record_no")


def test_files_have_the_least_and_the_greatest_of_what_is_looked_for(
    dump: Path, folder: Path
) -> None:
    write_dataset(open_inputs([dump]), folder)
    group = pq.read_metadata(*(folder / "qjst").iterdir()).row_group(0)
    rows = open_inputs([dump]).arrow("qjst")
    columns = [group.column(number) for number in range(group.num_columns)]
    found = {each.path_in_schema: each.statistics for each in columns}
    for name in SOUGHT:
        values = [each for each in rows[name].to_pylist() if each is not None]
        assert (found[name].min, found[name].max) == (min(values), max(values)), name
    assert found["qjstslptu"] is None


def test_a_table_without_rows_is_a_file_without_rows(dump: Path, folder: Path) -> None:
    write_dataset(open_inputs([dump]), folder)
    (file,) = (folder / "wtas").iterdir()
    assert file.suffix == ".parquet"
    assert pq.ParquetFile(file).metadata.num_rows == 0


def test_the_manifest_counts_rows_and_names_the_inputs(dump: Path, folder: Path) -> None:
    returned = write_dataset(open_inputs([dump]), folder)
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    assert manifest == returned
    assert manifest["inputs"] == [
        {
            "name": str(dump),
            "bytes": dump.stat().st_size,
            "identity": identity_of(dump),
            "smfparse": smfparse.__version__,
            "duplicates": 0,
        }
    ]
    assert manifest["smfparse"] == smfparse.__version__
    assert manifest["tables"].keys() == set(table_names())
    assert {name: rows for name, rows in manifest["tables"].items() if rows} == {
        "record": ROWS + 2,
        "qjst": ROWS,
        "qjst_io": 2 * ROWS,
    }
    assert manifest["damage_count"] == 0


def test_the_manifest_tells_of_damage(dump: Path, folder: Path) -> None:
    dump.write_bytes(dump.read_bytes()[:-3])
    manifest = write_dataset(open_inputs([dump]), folder)
    assert manifest["damage_count"] == 1
    [row] = open_inputs([folder]).arrow("damage").to_pylist()
    assert row["source"] == str(dump)
    assert "the file is cut" in row["reason"]
    assert manifest["tables"]["qjst"] == ROWS


def test_the_manifest_is_written_last(
    dump: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for the views, which it gives."""
    names: list[str] = []
    move = Folder.move

    def watched(self: Folder, name: str, to: str) -> None:
        names.append(to)
        assert (folder / MANIFEST).exists() == (to in GIVEN)
        move(self, name, to)

    monkeypatch.setattr(Folder, "move", watched)
    write_dataset(open_inputs([dump]), folder)
    *tables, manifest, views, meanings = names
    assert (manifest, views, meanings) == (MANIFEST, VIEWS, MEANINGS)
    assert {name.split("/")[0] for name in tables} == {*table_names(), PARTIAL, RECORDS}


def test_the_disk_has_every_file_before_the_manifest_names_it(
    dump: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: set[int] = set()
    move = Folder.move

    def watched(self: Folder, name: str, to: str) -> None:
        if to == MANIFEST:
            named = {each for each in folder.rglob("*") if each.suffix in (".parquet", ".bin")}
            assert len(named) == len(table_names()) + 1
            places = {folder / name, *named, *(each.parent for each in named)}
            assert {each.stat().st_ino for each in places} <= kept
            kept.clear()
        move(self, name, to)

    monkeypatch.setattr(os, "fsync", lambda number: kept.add(os.fstat(number).st_ino))
    monkeypatch.setattr(Folder, "move", watched)
    write_dataset(open_inputs([dump]), folder)
    assert kept == {folder.stat().st_ino}


def test_a_raw_file_and_its_dataset_give_equal_tables(dump: Path, folder: Path) -> None:
    raw = open_inputs([dump])
    write_dataset(raw, folder)
    made = open_inputs([folder])
    assert isinstance(raw.sources[0], SmfFile)
    assert isinstance(made.sources[0], Dataset)
    for table in table_names():
        assert made.arrow(table).equals(raw.arrow(table)), table


def test_a_dataset_gives_only_the_wanted_columns(dump: Path, folder: Path) -> None:
    """In the order of the schema."""
    write_dataset(open_inputs([dump]), folder)
    wanted = {"qjst": frozenset({"qjstwrnw", "qmgr"})}
    for inputs in (open_inputs([dump]), open_inputs([folder])):
        found = [(table, batch.schema.names) for table, batch in inputs.batches(wanted)]
        assert found == [("qjst", ["qmgr", "qjstwrnw"])]


def test_several_inputs_come_one_after_the_other(dump: Path, tmp_path: Path) -> None:
    second = tmp_path / "second.smf"
    second.write_bytes(log_record(LOG, qmgr="QM02"))
    table = open_inputs([second, dump]).arrow("qjst")
    assert table["source"].to_pylist() == [str(second), *[str(dump)] * ROWS]
    assert table["record_no"].to_pylist() == [1, *range(2, ROWS + 2)]


def test_a_dataset_and_a_file_mix(dump: Path, folder: Path, tmp_path: Path) -> None:
    write_dataset(open_inputs([dump]), folder)
    second = tmp_path / "second.smf"
    second.write_bytes(log_record(LOG, qmgr="QM02"))
    for table in ("record", "qjst", "qjst_io", "wtas"):
        mixed = open_inputs([folder, second]).arrow(table)
        assert mixed.equals(open_inputs([dump, second]).arrow(table)), table


def test_a_dataset_made_of_several_inputs_keeps_their_names(
    dump: Path, folder: Path, tmp_path: Path
) -> None:
    second = tmp_path / "second.smf"
    second.write_bytes(log_record(LOG))
    manifest = write_dataset(open_inputs([dump, second], ReadOptions(keep_duplicates=True)), folder)
    assert [each["name"] for each in manifest["inputs"]] == [str(dump), str(second)]
    sources = open_inputs([folder]).arrow("qjst")["source"].unique().to_pylist()
    assert sources == [str(dump), str(second)]


def test_an_existing_dataset_is_refused_and_left_as_it_is(dump: Path, folder: Path) -> None:
    write_dataset(open_inputs([dump]), folder)
    before = files_below(folder)
    with pytest.raises(RequestError, match="force=True replaces"):
        write_dataset(open_inputs([dump]), folder)
    assert files_below(folder) == before


def test_force_replaces_a_dataset(dump: Path, folder: Path, tmp_path: Path) -> None:
    write_dataset(open_inputs([dump]), folder)
    second = tmp_path / "second.smf"
    second.write_bytes(log_record(LOG, qmgr="QM02"))
    write_dataset(open_inputs([second]), folder, force=True)
    table = open_inputs([folder]).arrow("qjst")
    assert table["qmgr"].to_pylist() == ["QM02"]
    assert len(files_below(folder)) == len(table_names()) + 4


@pytest.mark.parametrize("force", [False, True])
def test_a_folder_with_other_things_is_refused_and_left_alone(
    dump: Path, folder: Path, force: bool
) -> None:
    folder.mkdir()
    (folder / "letter.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(RequestError, match="other files"):
        write_dataset(open_inputs([dump]), folder, force=force)
    assert files_below(folder) == {"letter.txt": b"mine"}


def test_an_empty_folder_is_filled(dump: Path, folder: Path) -> None:
    folder.mkdir()
    write_dataset(open_inputs([dump]), folder)
    assert open_inputs([folder]).arrow("qjst").num_rows == ROWS


def test_folders_above_a_dataset_are_made(dump: Path, tmp_path: Path) -> None:
    write_dataset(open_inputs([dump]), tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b" / MANIFEST).is_file()


@pytest.mark.parametrize("below", ["", "inside"])
def test_a_file_where_the_folder_should_be_is_refused(
    dump: Path, tmp_path: Path, below: str
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"mine")
    with pytest.raises((OutputError, RequestError), match="file"):
        write_dataset(open_inputs([dump]), file / below)
    assert file.read_bytes() == b"mine"


@pytest.mark.parametrize("before", ["", "a", "a/tables"])
def test_an_interrupted_run_leaves_nothing(
    dump: Path, tmp_path: Path, stop_after: Callable[[int], None], before: str
) -> None:
    place = tmp_path / "place"
    (place / before).mkdir(parents=True)
    inputs = open_inputs([dump], AT_ONCE)
    stop_after(2)
    with pytest.raises(KeyboardInterrupt):
        write_dataset(inputs, place / "a" / "tables")
    assert files_below(place) == {}
    assert [path for path in place.rglob("*") if path.is_dir()] == [
        place / path for path in ("a", "a/tables") if f"{before}/".startswith(f"{path}/")
    ]


def test_a_run_that_was_killed_is_said_to_be_one(dump: Path, folder: Path) -> None:
    (folder / PARTIAL / "qjst").mkdir(parents=True)
    (folder / PARTIAL / "qjst" / "part-00000.parquet").write_bytes(b"half")
    with pytest.raises(InputError, match="interrupted"):
        open_inputs([folder])
    write_dataset(open_inputs([dump]), folder)
    assert open_inputs([folder]).arrow("qjst").num_rows == ROWS


def test_an_interrupted_run_is_done_again_by_the_same_call(
    dump: Path, folder: Path, stop_after: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after(2)
    with pytest.raises(KeyboardInterrupt):
        write_dataset(open_inputs([dump], AT_ONCE), folder)
    monkeypatch.undo()
    write_dataset(open_inputs([dump]), folder)
    assert not (folder / PARTIAL).exists()
    assert open_inputs([folder]).arrow("qjst_io").num_rows == 2 * ROWS


@pytest.mark.parametrize("what", ["the first rename", "the last rename"])
def test_a_run_stopped_while_it_puts_files_in_place_can_be_repeated(
    dump: Path, folder: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the same call."""
    renames = iter(range(1, 1000))
    last = {"the first rename": 1, "the last rename": len(table_names()) + 2}[what]
    move = Folder.move

    def stopping_move(self: Folder, name: str, to: str) -> None:
        if next(renames) == last:
            raise KeyboardInterrupt
        move(self, name, to)

    monkeypatch.setattr(Folder, "move", stopping_move)
    with pytest.raises(KeyboardInterrupt):
        write_dataset(open_inputs([dump]), folder)
    monkeypatch.undo()
    assert not folder.exists()
    write_dataset(open_inputs([dump]), folder)
    assert open_inputs([folder]).arrow("qjst").num_rows == ROWS


def test_a_dataset_stays_when_its_replacement_is_interrupted(
    dump: Path, folder: Path, stop_after: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_dataset(open_inputs([dump]), folder)
    stop_after(2)
    with pytest.raises(KeyboardInterrupt):
        write_dataset(open_inputs([dump], AT_ONCE), folder, force=True)
    monkeypatch.undo()
    assert open_inputs([folder]).arrow("qjst").num_rows == ROWS


@pytest.mark.parametrize("limits", [{"group_rows": 5}, {"held_bytes": 5}], ids=str)
def test_full_row_groups_are_written_as_they_come(
    dump: Path, folder: Path, limits: dict[str, int]
) -> None:
    """Two inputs give two batches here: with no room in a group, each is written by itself."""
    again = dump.with_name("again.smf")
    again.write_bytes(dump.read_bytes())
    apart = 2 * dump.stat().st_size
    held = Limits(epoch_cells=1, chunk_bytes=apart, **limits)
    inputs = open_inputs([dump, again], ReadOptions(keep_duplicates=True, limits=held))
    write_dataset(inputs, folder)
    (file,) = (folder / "qjst").iterdir()
    metadata = pq.ParquetFile(file).metadata
    assert metadata.num_row_groups == 2
    assert [metadata.row_group(number).num_rows for number in range(2)] == [ROWS, ROWS]
    assert open_inputs([folder]).arrow("qjst").equals(inputs.arrow("qjst"))


def test_small_batches_share_a_row_group(dump: Path, folder: Path) -> None:
    again = dump.with_name("again.smf")
    again.write_bytes(dump.read_bytes())
    write_dataset(open_inputs([dump, again], ReadOptions(keep_duplicates=True)), folder)
    (file,) = (folder / "qjst").iterdir()
    assert pq.ParquetFile(file).metadata.num_row_groups == 1


def test_a_folder_that_is_no_dataset_is_no_input(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with pytest.raises(InputError, match="not a dataset"):
        open_inputs([tmp_path / "other"])


def test_a_dataset_that_lost_a_table_says_which(dump: Path, folder: Path) -> None:
    write_dataset(open_inputs([dump]), folder)
    (file,) = (folder / "qjst_io").iterdir()
    file.unlink()
    with pytest.raises(InputError, match="qjst_io"):
        open_inputs([folder]).arrow("qjst_io")


def test_a_dataset_with_a_broken_file_is_no_input(dump: Path, folder: Path) -> None:
    write_dataset(open_inputs([dump]), folder)
    (file,) = (folder / "qjst").iterdir()
    file.write_bytes(b"not Parquet at all")
    with pytest.raises(InputError, match="qjst"):
        open_inputs([folder]).arrow("qjst")


def test_bad_inputs_are_refused_before_anything_is_decoded(dump: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.smf"):
        open_inputs([dump, tmp_path / "none.smf"])


def test_damage_met_by_several_tables_is_counted_once(dump: Path) -> None:
    dump.write_bytes(dump.read_bytes()[:-3])
    inputs = open_inputs([dump])
    assert isinstance(inputs.damage, DamageLog)
    inputs.arrow("qjst")
    inputs.arrow("qjst_io")
    assert inputs.damage.count == 1


def test_an_input_without_rows_of_a_table_gives_the_empty_table(dump: Path) -> None:
    table = open_inputs([dump]).arrow("wqst")
    assert isinstance(table, pa.Table)
    assert table.num_rows == 0
    assert table.schema.equals(schema("wqst"))


def test_files_of_others_are_never_touched(dump: Path, tmp_path: Path) -> None:
    downloads = tmp_path / "downloads"
    (downloads / "films").mkdir(parents=True)
    film = downloads / "films" / "film.partial"
    film.write_bytes(b"film")
    with pytest.raises(RequestError, match="other files"):
        write_dataset(open_inputs([dump]), downloads)
    assert film.read_bytes() == b"film"
    dataset = tmp_path / "dataset"
    write_dataset(open_inputs([dump]), dataset)
    for mine in (dataset / "qjst" / "mine.parquet", dataset / "mine" / "part-0.parquet"):
        mine.parent.mkdir(exist_ok=True)
        mine.write_bytes(b"mine")
        write_dataset(open_inputs([dump]), dataset, force=True)
        assert mine.read_bytes() == b"mine"


def test_an_input_named_twice_is_refused(dump: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(dump.parent)
    with pytest.raises(RequestError, match="named twice"):
        open_inputs([dump, dump.name])


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset, of which tests spoil the manifest."""
    place = tmp_path_factory.mktemp("sound")
    (place / "dump.smf").write_bytes(log_record(LOG))
    write_dataset(open_inputs([place / "dump.smf"]), place / "tables")
    return place / "tables"


@pytest.fixture
def manifest(sound: Path) -> Iterator[dict[str, Any]]:
    whole = (sound / MANIFEST).read_text(encoding="utf-8")
    yield json.loads(whole)
    (sound / MANIFEST).write_text(whole, encoding="utf-8")


@pytest.mark.parametrize("text", ["{", "[]", '{"format": 99}', ""])
def test_a_broken_manifest_makes_no_dataset(
    sound: Path, manifest: dict[str, Any], text: str
) -> None:
    (sound / MANIFEST).write_text(text)
    with pytest.raises(InputError, match=str(sound)):
        open_inputs([sound])


@pytest.mark.parametrize(
    "wrong",
    [
        *({"tables": each} for each in (None, {}, {"qjst": "5"})),
        *({"files": each} for each in (5, {}, {"wqst": 5}, {"wqst": [5]}, {"other": 5})),
        *({"inputs": each} for each in (None, [5], [{"name": "a"}], [{"name": "a", "inputs": 5}])),
        *({"records": each} for each in ([".records/part-00000.bin"], {"a": None})),
        {"unknown_bytes": {"QJST": "many"}},
        {"damage_count": None},
    ],
    ids=str,
)
def test_a_manifest_with_wrong_parts_is_said_to_be_damaged(
    sound: Path, manifest: dict[str, Any], wrong: dict[str, Any]
) -> None:
    for name, value in wrong.items():
        both = isinstance(value, dict) and value
        manifest[name] = manifest[name] | value if both else value
    (sound / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(InputError, match=r"smfparse\.json is damaged; convert again"):
        open_inputs([sound])


def test_a_manifest_lacks_nothing(sound: Path, manifest: dict[str, Any]) -> None:
    for name in manifest:
        rest = {each: value for each, value in manifest.items() if each != name}
        (sound / MANIFEST).write_text(json.dumps(rest), encoding="utf-8")
        with pytest.raises(InputError, match="convert again"):
            open_inputs([sound])


@pytest.mark.parametrize("text", ["{", '{"format": 4}'])
def test_force_replaces_a_dataset_of_which_the_manifest_cannot_be_read(
    dump: Path, folder: Path, text: str
) -> None:
    write_dataset(open_inputs([dump]), folder)
    (folder / MANIFEST).write_text(text)
    write_dataset(open_inputs([dump]), folder, force=True)
    assert open_inputs([folder]).arrow("qjst").num_rows == ROWS
    assert len(files_below(folder)) == len(table_names()) + 4


def test_a_file_of_another_table_is_not_read_as_one_of_this(dump: Path, folder: Path) -> None:
    write_dataset(open_inputs([dump]), folder)
    shutil.copy(folder / "qjst" / "part-00000.parquet", folder / "qmst" / "part-00000.parquet")
    note_checksums(folder)
    for names in ({"qmstget"}, {"record_no"}):
        with pytest.raises(InputError, match="not a file of the table qmst"):
            list(open_inputs([folder]).batches({"qmst": frozenset(names)}))


def test_a_file_that_cannot_be_written_is_not_ended_as_if_it_were_whole(
    dump: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What goes away with an open writer would write to the full disk again, and say so."""
    ended: list[Any] = []

    def full(self: Any, *arguments: Any, **options: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    monkeypatch.setattr(pq.ParquetWriter, "close", ended.append)
    with pytest.raises(OutputError, match="No space left on device"):
        write_dataset(open_inputs([dump]), folder)
    gc.collect()
    assert not ended
