"""How the Parquet files of a dataset are written: what docs/performance.md says was chosen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from smfparse.inputs import ReadOptions, open_inputs
from smfparse.limits import Limits
from smfparse.tables import columns, table_names
from smfparse.writing import write_dataset
from tests.support.paths import SMF

SOUGHT = {"qmgr", "system", "record_no", "task_record_no"}
TIMES = {(table, each.name) for table in table_names() for each in columns(table)
         if "timestamp" in each.arrow}  # fmt: skip
TEXTS = {(table, each.name) for table in table_names() for each in columns(table)
         if each.arrow == "string"}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dataset of an SMF file with all kinds of record."""
    path = tmp_path_factory.mktemp("parquet") / "tables"
    write_dataset(open_inputs([SMF]), path)
    return path


def chunks(folder: Path, table: str) -> Iterator[Any]:
    """Yield the column chunks of a table that have values."""
    for file in (folder / table).iterdir():
        metadata = pq.ParquetFile(file).metadata
        for group in map(metadata.row_group, range(metadata.num_row_groups)):
            yield from map(group.column, range(group.num_columns if group.num_rows else 0))


every_table = pytest.mark.parametrize("table", table_names())


def test_columns_are_compressed_with_zstd(folder: Path) -> None:
    """Those of few rows with snappy."""
    found = {
        (each.num_values > 30, each.compression)
        for table in table_names()
        for each in chunks(folder, table)
    }
    assert found == {(True, "ZSTD"), (False, "SNAPPY")}


@every_table
def test_texts_have_a_dictionary_and_nothing_else_has(folder: Path, table: str) -> None:
    for each in chunks(folder, table):
        text = (table, each.path_in_schema) in TEXTS
        assert each.has_dictionary_page == text, each.path_in_schema
        assert ("RLE_DICTIONARY" in each.encodings) == text, each.path_in_schema


@every_table
def test_all_other_columns_are_plain(folder: Path, table: str) -> None:
    """RLE is that of the NULLs, PLAIN that of the dictionary."""
    for each in chunks(folder, table):
        assert set(each.encodings) <= {"PLAIN", "RLE", "RLE_DICTIONARY"}, each.path_in_schema


@every_table
def test_only_columns_by_which_rows_are_looked_for_have_statistics(
    folder: Path, table: str
) -> None:
    for each in chunks(folder, table):
        name = each.path_in_schema
        assert each.is_stats_set == (name in SOUGHT or (table, name) in TIMES), name


def test_statistics_are_the_bounds_of_a_row_group(folder: Path) -> None:
    (file,) = (folder / "wqst").iterdir()
    (found,) = (each for each in chunks(folder, "wqst") if each.path_in_schema == "time")
    times = pq.read_table(file)["time"].to_pylist()
    assert (found.statistics.min, found.statistics.max) == (min(times), max(times))


def test_a_row_group_has_no_more_rows_than_it_may(tmp_path: Path) -> None:
    write_dataset(open_inputs([SMF], ReadOptions(limits=Limits(group_rows=7))), tmp_path / "tables")
    (file,) = (tmp_path / "tables" / "wqst").iterdir()
    metadata = pq.ParquetFile(file).metadata
    rows = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
    assert rows[:-1] == [7] * (len(rows) - 1)
    assert 0 < rows[-1] <= 7 < metadata.num_rows


@every_table
def test_every_reader_gives_the_values_that_were_decoded(folder: Path, table: str) -> None:
    decoded = open_inputs([SMF]).arrow(table)
    (file,) = (folder / table).iterdir()
    assert pq.read_table(file).equals(decoded)
    assert pl.read_parquet(file).equals(pl.DataFrame(decoded))
    with duckdb.connect() as database:
        read = database.sql(f"FROM '{file}'").to_arrow_table()
    assert read.cast(decoded.schema.remove_metadata()).equals(decoded)


@pytest.mark.parametrize("name", ["system", "correl"])
def test_every_reader_gives_plain_texts(folder: Path, name: str) -> None:
    (file,) = (folder / "wqst").iterdir()
    assert pq.read_schema(file).field(name).type == pa.string()
    assert pl.read_parquet(file).schema[name] == pl.String
    with duckdb.connect() as database:
        assert database.sql(f"SELECT {name} FROM '{file}'").types == ["VARCHAR"]
