"""Datasets of both layouts are read by seven tools, which smfparse has no part in, without options.

Every value is compared with what smfparse decodes. All tools take a table's folder.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from smfparse.inputs import open_inputs
from smfparse.store import DATE, NO_QMGR, QMGR, Layout
from smfparse.tables import schema, table_names
from smfparse.writing import write_dataset
from tests.support.generated import generate_midnight
from tests.support.smf import Log, log_record

pytestmark = pytest.mark.slow

FORMS = ("whole", "divided")
NAMES = ("QM01", "P101", "P102", "DEC1", "T010", "M1", "NAN", "INF", "NULL", "TRUE", "NOW", "Q#2",
         "$A@", "1234", "0012", "1E5", "A/B=", "%41", "none", "")  # fmt: skip
"""Names that look like numbers, durations, dates, truth values and paths; most are allowed."""
ALONE = ("P101", "TRUE")


def with_duckdb(folder: Path) -> Any:
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        return database.sql(f"FROM '{folder}/**/*.parquet'").to_arrow_table()


def with_datafusion(folder: Path) -> Any:
    """A table with what DataFusion finds out by itself: columns of files and of folders."""
    datafusion = pytest.importorskip("datafusion")
    context = datafusion.SessionContext()
    context.sql(f"CREATE EXTERNAL TABLE found STORED AS PARQUET LOCATION '{folder}/'")
    found = context.sql("SELECT * FROM found")
    return pa.Table.from_batches(found.collect(), found.schema())


def with_fastparquet(folder: Path) -> Any:
    fastparquet = pytest.importorskip("fastparquet")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # it leaves files open
        found = fastparquet.ParquetFile(str(folder)).to_pandas()
    return pa.Table.from_pandas(found, preserve_index=False)


def with_pandas(folder: Path) -> Any:
    return pa.Table.from_pandas(pd.read_parquet(folder), preserve_index=False)


def with_polars(folder: Path) -> Any:
    return pl.read_parquet(folder).to_arrow()


READERS: dict[str, Callable[[Path], Any]] = {
    "datafusion": with_datafusion,
    "duckdb": with_duckdb,
    "fastparquet": with_fastparquet,
    "pandas": with_pandas,
    "polars": with_polars,
    "pyarrow": pq.read_table,
}


@pytest.fixture(params=[*READERS, "spark"])
def reader(request: pytest.FixtureRequest) -> Callable[[Path], Any]:
    """Return what reads a table with one of the tools."""
    if request.param != "spark":
        return READERS[request.param]
    session = request.getfixturevalue("spark")
    return lambda folder: session.read.parquet(str(folder)).toArrow()


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate_midnight(tmp_path_factory.mktemp("dump") / "dump.smf", "P101", "Q#2")


@pytest.fixture(scope="module")
def folders(dump: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("datasets")
    for form in FORMS:
        write_dataset(open_inputs([dump]), place / form, partition=form == "divided")
    return {form: place / form for form in FORMS}


def telling_tables(dump: Path) -> list[str]:
    """Return a few tables that have every type, one without rows, and one that is not divided."""
    inputs = open_inputs([dump])
    rows = {table: inputs.arrow(table).num_rows for table in table_names()}
    chosen = ["record", "wqst", "damage", next(each for each in rows if not rows[each])]
    missing = {str(kind) for each in rows if rows[each] for kind in schema(each).types}
    while missing := missing - {str(kind) for each in chosen for kind in schema(each).types}:
        chosen.append(
            next(each for each in rows if rows[each] and missing & {*map(str, schema(each).types)})
        )
    return chosen


def in_order(table: Any) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


@pytest.mark.parametrize("form", FORMS)
def test_every_value_is_read_as_it_was_decoded(
    form: str, reader: Callable[[Path], Any], dump: Path, folders: dict[str, Path]
) -> None:
    raw = open_inputs([dump])
    for table in telling_tables(dump):
        whole = raw.arrow(table)
        read = reader(folders[form] / table)
        keys = set(Layout(form == "divided").keys(table))
        assert set(read.column_names) == {*whole.column_names, *keys}
        assert len(read.column_names) == len(set(read.column_names))
        read = read.select(whole.column_names).cast(whole.schema.remove_metadata())
        assert in_order(read) == in_order(whole), table


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of a record for each name, and datasets of one name each."""
    place = tmp_path_factory.mktemp("names")
    for folder, names in [("all", NAMES), *((each, [each]) for each in ALONE)]:
        dump = place / f"{folder}.smf"
        dump.write_bytes(b"".join(log_record(Log(), qmgr=name) for name in names))
        write_dataset(open_inputs([dump]), place / folder, partition=True)
    return place


def test_every_name_of_a_queue_manager_is_read(reader: Callable[[Path], Any], named: Path) -> None:
    read = reader(named / "all" / "record").select(["qmgr", DATE, QMGR]).to_pylist()
    assert sorted(each["qmgr"] for each in read) == sorted(NAMES)
    for each in read:
        assert str(each[DATE]).startswith("2023-10-02")
        if reader is with_fastparquet:  # which does not decode what is written in hexadecimal
            assert isinstance(each[QMGR], str)
        else:
            assert each[QMGR] == (each["qmgr"] or "blank")


@pytest.mark.parametrize("name", ALONE)
def test_a_name_that_looks_like_a_value_is_read_alone(
    name: str, reader: Callable[[Path], Any], named: Path
) -> None:
    (row,) = reader(named / name / "record").select(["qmgr"]).to_pylist()
    assert row["qmgr"] == name


def test_rows_without_a_queue_manager_say_so(
    reader: Callable[[Path], Any], folders: dict[str, Path]
) -> None:
    read = reader(folders["divided"] / "record").select(["qmgr", QMGR]).to_pylist()
    assert {each[QMGR] for each in read if each["qmgr"] is None} == {NO_QMGR}
    assert NO_QMGR not in {each[QMGR] for each in read if each["qmgr"] is not None}
