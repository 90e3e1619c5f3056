"""Datasets of earlier versions: they are read and added to.

Columns that came later are NULL, but for `counted_at`, which other columns give.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest

import smfparse
from smfparse.errors import InputError, RequestError
from smfparse.inputs import ReadOptions, open_inputs
from smfparse.inputs.options import DEFAULTS
from smfparse.query import Catalog, lazy_frame
from smfparse.selecting import Selection
from smfparse.store import (
    FORMAT,
    MANIFEST,
    VIEWS,
    Layout,
    is_divided,
    part_number,
    read_manifest,
    selected,
    view_statements,
)
from smfparse.tables import plain_schema, schema, table_names
from smfparse.writing import append_dataset, write_dataset
from tests.support.datasets import (
    LATER,
    LATER_BY_TABLE,
    NULL_BY_TABLE,
    drop,
    make_older,
    name_folders_as_before,
    note_checksums,
)
from tests.support.mixed_records import many, written

BATCH = "wqst"
"""A table that has columns of every later version."""
every_form = pytest.mark.parametrize("partition", [False, True], ids=["whole", "divided"])


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    place = tmp_path_factory.mktemp("dumps")
    for number in range(3):
        (place / f"{number}.smf").write_bytes(written(many(60, number))[0])
    return sorted(place.iterdir())


def older(dumps: list[Path], folder: Path, *, partition: bool = False) -> Path:
    write_dataset(open_inputs(dumps), folder, partition=partition)
    make_older(folder)
    return folder


def in_order(table: Any) -> Any:
    names = [each for each in ("source", "record_no", "block_no") if each in table.column_names]
    of_files = [each for each in table.column_names if each != "date"]
    return table.select(of_files).sort_by([(each, "ascending") for each in names])


def expected(
    dumps: list[Path], table: str, old: list[Path], options: ReadOptions = DEFAULTS
) -> Any:
    """What the files have; for those of `old` without the columns that came later.

    There tasks are known by numbers of records, which stand for bytes as negative ones.
    """
    found = pl.DataFrame(open_inputs(dumps, options).arrow(table))
    made_before = pl.col("source").is_in([str(each) for each in old])
    nulls = [
        pl.when(made_before).then(None).otherwise(pl.col(each)).alias(each)
        for each in NULL_BY_TABLE[table]
    ]
    if "task_record_offset" in found.columns:
        number, offset = -pl.col("task_record_no"), pl.col("task_record_offset")
        nulls.append(
            pl.when(made_before).then(number).otherwise(offset).alias("task_record_offset")
        )
    return in_order(found.with_columns(nulls).to_arrow().cast(schema(table)))


@every_form
def test_every_way_of_reading_gives_null(
    dumps: list[Path], tmp_path: Path, partition: bool
) -> None:
    folder = older(dumps, tmp_path / "old", partition=partition)
    inputs = open_inputs([folder])
    with Catalog(inputs) as catalog:
        for table in table_names():
            wanted = expected(dumps, table, dumps)
            assert in_order(inputs.arrow(table)).equals(wanted), table
            assert in_order(catalog.arrow(f"FROM {table}")).cast(wanted.schema).equals(wanted)
            frame = lazy_frame(inputs, table).collect()
            assert in_order(frame.to_arrow().cast(wanted.schema)).equals(wanted), table
    for name in NULL_BY_TABLE[BATCH]:
        (only,) = [batch for _, batch in inputs.batches({BATCH: frozenset([name])})][:1]
        assert only.schema.names == [name]
        assert only.num_rows == only.column(0).null_count > 0
    counted = smfparse.open(folder).sql(f"SELECT count(*) AS n FROM {BATCH}").to_pylist()
    assert counted == [{"n": open_inputs(dumps).arrow(BATCH).num_rows}]


def test_a_selection_reads_it_the_same_way(dumps: list[Path], tmp_path: Path) -> None:
    folder = older(dumps, tmp_path / "old")
    for selection in (Selection.of(type="116(2)"), Selection.of(qmgr="QM1", queue="*")):
        data = smfparse.open(folder, selection)
        assert data.arrow(BATCH).num_rows == data.sql(f"FROM {BATCH}").num_rows
        for name in NULL_BY_TABLE[BATCH]:
            assert set(data.arrow(BATCH, [name])[name].to_pylist()) <= {None}


def test_it_is_read_beside_a_file_and_a_dataset_of_today(dumps: list[Path], tmp_path: Path) -> None:
    old, new, raw = dumps
    write_dataset(open_inputs([new]), tmp_path / "new")
    options = ReadOptions(keep_duplicates=True)
    inputs = open_inputs([older([old], tmp_path / "old"), tmp_path / "new", raw], options)
    with Catalog(inputs) as catalog:
        for table in table_names():
            wanted = expected(dumps, table, [old], options)
            assert in_order(inputs.arrow(table)).equals(wanted), table
            assert in_order(catalog.arrow(f"FROM {table}")).cast(wanted.schema).equals(wanted)


def test_convert_makes_a_dataset_of_today_of_it(dumps: list[Path], tmp_path: Path) -> None:
    folder = older(dumps, tmp_path / "old")
    write_dataset(open_inputs([folder]), tmp_path / "new")
    for file in (tmp_path / "new" / BATCH).iterdir():
        assert pq.ParquetFile(file).schema.names == schema(BATCH).names
    assert in_order(open_inputs([tmp_path / "new"]).arrow(BATCH)).equals(
        expected(dumps, BATCH, dumps)
    )


@every_form
def test_files_that_are_added_have_the_columns(
    dumps: list[Path], tmp_path: Path, partition: bool
) -> None:
    """And those that were there stay as they are, also when more is added."""
    folder = older(dumps[:1], tmp_path / "old", partition=partition)
    there = {file: file.read_bytes() for file in folder.rglob("*.parquet")}
    for number, dump in enumerate(dumps[1:], 2):
        append_dataset(open_inputs([dump]), folder, partition=partition)
        inputs = open_inputs([folder])
        with Catalog(inputs) as catalog:
            for table in table_names():
                wanted = expected(dumps[:number], table, dumps[:1])
                assert in_order(inputs.arrow(table)).equals(wanted), table
                assert in_order(catalog.arrow(f"FROM {table}")).cast(wanted.schema).equals(wanted)
    assert {file: file.read_bytes() for file in there} == there
    firsts = read_manifest(folder)["columns"][BATCH]
    assert {firsts[each] for each in LATER_BY_TABLE[BATCH]} == {1}
    assert set(firsts.values()) == {0, 1}


def test_folders_of_the_earlier_version_are_read_and_not_added_to(
    dumps: list[Path], tmp_path: Path
) -> None:
    folder = older(dumps[:1], tmp_path / "old", partition=True)
    name_folders_as_before(folder)
    inputs = open_inputs([folder])
    with Catalog(inputs) as catalog:
        for table in table_names():
            wanted = expected(dumps[:1], table, dumps[:1])
            assert in_order(inputs.arrow(table)).equals(wanted), table
            assert in_order(catalog.arrow(f"FROM {table}")).cast(wanted.schema).equals(wanted)
    before = sorted(folder.rglob("*"))
    with pytest.raises(RequestError, match=r"partitioned by an earlier version.*convert the SMF"):
        append_dataset(open_inputs(dumps[1:]), folder, partition=True)
    assert sorted(folder.rglob("*")) == before
    write_dataset(open_inputs(dumps[1:]), folder, partition=True, force=True)
    assert not [*folder.rglob("qmgr=*")]


@every_form
def test_duckdb_alone_reads_what_was_added_to(
    dumps: list[Path], tmp_path: Path, partition: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also tables to which nothing was added: all their files lack the columns."""
    folder = older(dumps[:1], tmp_path / "old", partition=partition)
    (tmp_path / "few.smf").write_bytes(written([each for each in many(60, 7)
                                                if each.kind == "clock"])[0])  # fmt: skip
    for number, added in enumerate((tmp_path / "few.smf", dumps[1])):
        append_dataset(open_inputs([added]), folder, partition=partition)
        parts = {part_number(each) for each in read_manifest(folder)["files"][BATCH]}
        assert parts == ({0, 2} if number else {0})
        monkeypatch.chdir(folder)
        with duckdb.connect() as database:
            database.execute((folder / VIEWS).read_text(encoding="utf-8"))
            for table in table_names():
                found = in_order(database.sql(f"FROM {table}").to_arrow_table())
                assert found.column_names == schema(table).names
                files = [dumps[0], *((tmp_path / "few.smf", dumps[1])[: number + 1])]
                wanted = expected(files, table, dumps[:1])
                assert found.cast(wanted.schema).equals(wanted), table
                assert is_divided(table) == (table != "damage")


@pytest.mark.parametrize("name", [*LATER, "record_no", "putn"])
@pytest.mark.parametrize("which", [0, 1])
def test_a_column_that_the_manifest_names_and_a_file_lacks_is_damage(
    dumps: list[Path], tmp_path: Path, name: str, which: int
) -> None:
    """Whichever file it is, and however it is read."""
    folder = tmp_path / "tables"
    for dump in dumps[:2]:
        append_dataset(open_inputs([dump]), folder)
    drop(sorted((folder / BATCH).iterdir())[which], name)
    note_checksums(folder)
    for asked in (schema(BATCH).names, ["system"]):
        with pytest.raises(InputError, match=f"not a file of the table {BATCH}"):
            list(open_inputs([folder]).batches({BATCH: frozenset(asked)}))
    with (
        Catalog(open_inputs([folder])) as catalog,
        pytest.raises(InputError, match=f"not a file of the table {BATCH}"),
    ):
        catalog.arrow(f"FROM {BATCH}")


def test_a_file_of_an_older_dataset_that_lacks_another_column_is_damage(
    dumps: list[Path], tmp_path: Path
) -> None:
    folder = older(dumps, tmp_path / "old")
    drop(folder / BATCH / "part-00000.parquet", "putn")
    with pytest.raises(InputError, match=f"not a file of the table {BATCH}"):
        open_inputs([folder]).arrow(BATCH)


def test_a_dataset_of_today_names_its_columns(dumps: list[Path], tmp_path: Path) -> None:
    write_dataset(open_inputs(dumps), tmp_path / "tables")
    manifest = json.loads((tmp_path / "tables" / MANIFEST).read_text(encoding="utf-8"))
    assert manifest["columns"] == {
        table: dict.fromkeys(schema(table).names, 0) for table in table_names()
    }


def test_columns_that_are_null_have_the_types_of_those_that_are_not() -> None:
    """As DuckDB takes the Arrow types."""
    with duckdb.connect() as database:
        for table in table_names():
            database.register("given", plain_schema(table).empty_table())
            given = database.sql("FROM given")
            names = frozenset(schema(table).names)
            made = database.sql(f"SELECT {selected(table, names)} FROM given")
            assert made.columns == given.columns
            assert made.types == given.types


def test_views_of_a_dataset_of_today_look_into_no_more_files_than_they_need() -> None:
    assert "union_by_name" not in view_statements(layout=Layout(False))
    less = {BATCH: [frozenset(LATER_BY_TABLE[BATCH]), frozenset[str]()]}
    assert view_statements(layout=Layout(False), lacking=less).count("union_by_name") == 1


def test_a_table_that_came_later_is_empty(dumps: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "old"
    write_dataset(open_inputs(dumps[:1]), folder)
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    for key in ("tables", "files", "columns"):
        del manifest[key][BATCH]
    for key in ("rows", "record_days", "earlier", "keys", "numbers", "next"):
        del manifest[key]
    (folder / MANIFEST).write_text(json.dumps(manifest | {"format": 7}), encoding="utf-8")
    (folder / BATCH / "part-00000.parquet").unlink()
    data = smfparse.open(folder)
    assert data.arrow(BATCH).num_rows == data.sql(f"FROM {BATCH}").num_rows == 0
    assert data.sql(f"FROM {BATCH}").column_names == schema(BATCH).names
    done = append_dataset(open_inputs(dumps[1:]), folder)
    assert data.arrow("record").num_rows == 60  # what was opened stays as it was
    assert smfparse.open(folder).arrow(BATCH).num_rows == done.rows[BATCH] > 0


def test_a_dataset_of_a_later_version_says_so(dumps: list[Path], tmp_path: Path) -> None:
    write_dataset(open_inputs(dumps[:1]), tmp_path / "new")
    manifest = read_manifest(tmp_path / "new") | {"format": FORMAT + 1}
    (tmp_path / "new" / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(InputError, match="a later version of smfparse"):
        open_inputs([tmp_path / "new"])
