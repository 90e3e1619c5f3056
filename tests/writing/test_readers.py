"""A dataset, divided by day and queue manager or not, is read by smfparse and seven other tools."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import smfparse
from smfparse.decoding.arrow import schema
from smfparse.decoding.dictionary import table_names, title
from smfparse.decoding.selection import Selection
from smfparse.errors import RequestError
from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.limits import Limits
from smfparse.metrics import views
from smfparse.query.catalog import Catalog
from smfparse.query.lazy import lazy_frame
from smfparse.schemas import REGISTRY
from smfparse.store.hive import DATE, GROWING, NO_QMGR, QMGR, Layout
from smfparse.writing.append import append_dataset
from smfparse.writing.dataset import write_dataset
from tests.support.builders import put
from tests.support.datasets import every_table, read_manifest, with_views
from tests.support.generated import generate_midnight
from tests.support.paths import FIXTURES, SMF
from tests.support.smf import Log, log_record

pytestmark = pytest.mark.slow

QMGRS = ("P101", "Q#2")
FORMS = ("whole", "divided")
Reader: TypeAlias = Callable[[Path], Any]
Folders: TypeAlias = dict[str, Path]
Named: TypeAlias = dict[Path, tuple[str, ...]]


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate_midnight(tmp_path_factory.mktemp("dump") / "dump.smf", *QMGRS, tasks=3)


@pytest.fixture(scope="module")
def raw(dump: Path) -> dict[str, Any]:
    return every_table(open_inputs([dump]))


@pytest.fixture(scope="module")
def folders(dump: Path, tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """The dataset in both forms, moved after it was written."""
    place = tmp_path_factory.mktemp("datasets")
    for form in FORMS:
        write_dataset(open_inputs([dump]), place / "made", partition=form == "divided")
        (place / "made").rename(place / form)
    return {form: place / form for form in FORMS}


def in_order(table: Any) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


def test_folders_are_days_of_the_system_and_queue_managers(folders: Folders) -> None:
    divided = folders["divided"]
    days, qmgrs = ("2026-03-04", "2026-03-05"), ("%50101", "Q%232")
    below = {path.parent.relative_to(divided).as_posix()
             for path in (divided / "wqst").rglob("*.parquet")}  # fmt: skip
    assert below == {f"wqst/date={day}/queue_manager={qmgr}" for day in days for qmgr in qmgrs}
    for day in days:
        for file in (divided / "record").glob(f"date={day}/*/*.parquet"):
            times = pq.ParquetFile(file).read()["counted_at"].to_pylist()
            assert {f"{each:%Y-%m-%d}" for each in times} == {day}
    assert (divided / "record" / "date=2026-03-04" / f"queue_manager={NO_QMGR}").is_dir()
    assert (divided / "damage" / "part-00000.parquet").is_file()
    manifest, layout = read_manifest(divided), Layout(True)
    empty = [each for each, rows in manifest["tables"].items() if not rows and layout.keys(each)]
    assert empty
    for table in empty:  # a reader finds a file there
        assert manifest["files"][table] == [f"{table}/{layout.no_rows(table)}/part-00000.parquet"]


def test_files_of_many_folders_are_written_with_few_open(dump: Path, tmp_path: Path) -> None:
    again = put(tmp_path / "again.smf", dump.read_bytes())
    apart = 2 * dump.stat().st_size
    limits = Limits(group_rows=8, open_files=3, epoch_cells=1, chunk_bytes=apart)
    only = Selection.of(type="116")
    inputs = open_inputs([dump, again], ReadOptions(only, keep_duplicates=True, limits=limits))
    write_dataset(inputs, tmp_path / "tables", partition=True)
    names = {path.name for path in (tmp_path / "tables" / "wqst").rglob("*.parquet")}
    assert names == {"part-00000.parquet", "part-00000-00001.parquet"}
    made = open_inputs([tmp_path / "tables"])
    for table in ("record", "wqst"):
        assert in_order(made.arrow(table)) == in_order(inputs.arrow(table))


def test_tables_that_grow_with_work_are_those_of_records_tasks_queues_and_channels() -> None:
    """All of accounting (SMF 116), a row for each record, and the statistics of each queue."""
    blocks = [each for kind, some in REGISTRY.items() if kind[0] == 116 for each in some.values()]
    tables = {child.table for each in blocks for child in each.children}
    assert tables | {each.name.lower() for each in blocks} | {"record", "qqst"} == GROWING


def test_views_have_the_rows_and_descriptions_of_every_table(
    dump: Path, raw: dict[str, Any], folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So have the tables that we read."""
    made = every_table(open_inputs([folders["divided"]]))
    with with_views(folders["divided"], monkeypatch) as found, Catalog(open_inputs([dump])) as own:
        for table, whole in raw.items():
            read = found.sql(f"FROM {table}").to_arrow_table()
            extra = ["date"] if Layout(True).keys(table) else []
            assert read.column_names == [*whole.column_names, *extra]
            read = read.select(whole.column_names).cast(whole.schema.remove_metadata())
            assert in_order(read) == in_order(whole) == in_order(made[table]), table
        queries = [f"SELECT * FROM {name}" for name in views.view_names()]
        for query, expected in zip(queries, own.arrows(queries), strict=True):
            read = found.sql(query).to_arrow_table()
            assert read.schema.equals(expected.schema), query
            assert in_order(read) == in_order(expected), query
        said = "SELECT view_name, comment FROM duckdb_views() WHERE schema_name = 'main'"
        titles = {name: views.view(name).title for name in views.view_names()}
        titles |= {table: title(table) for table in table_names()}
        assert dict(found.sql(f"{said} AND NOT internal").fetchall()) == titles
        of_columns = found.sql("FROM duckdb_columns() SELECT table_name, column_name, comment")
        meaning = "Time the log writer had nothing to do (microseconds)"
        assert ("qjst", "qjstslptu", meaning) in of_columns.fetchall()


def test_views_in_utc_read_few_files(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that a filter needs."""
    monkeypatch.setenv("TZ", "America/New_York")
    with with_views(folders["divided"], monkeypatch, "qjst", "wqst") as database:
        (row,) = database.sql("SELECT min(time)::VARCHAR AS first FROM qjst").to_arrow_table()[0]
        assert row.as_py().startswith("2026-03-04 21:30:0")
        assert row.as_py().endswith("+00")
        for query, files in (
            ("SELECT sum(putn) FROM wqst WHERE date = DATE '2026-03-05'", "2/4"),
            ("SELECT sum(putn) FROM wqst WHERE qmgr = 'Q#2'", "2/4"),
            ("SELECT count(*) FROM qjst WHERE date = DATE '2026-03-05'", "1/2"),
        ):
            plan = database.sql(f"EXPLAIN {query}").to_arrow_table()["explain_value"].to_pylist()
            assert f"Scanning Files: {files}" in "".join(plan), query


NAMES = ("QM01", "P101", "P102", "DEC1", "T010", "M1", "NAN", "INF", "NULL", "TRUE", "NOW", "Q#2",
         "$A@", "1234", "0012", "1E5", "A/B=", "%41", "none", "")  # fmt: skip
"""Names that look like numbers, durations, dates, truth values and paths; most are allowed."""


def with_duckdb(folder: Path) -> Any:
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        return database.sql(f"FROM '{folder}/**/*.parquet'").to_arrow_table()


def with_datafusion(folder: Path) -> Any:
    """A table with what DataFusion finds out by itself: columns of files and of folders."""
    context = pytest.importorskip("datafusion").SessionContext()
    context.sql(f"CREATE EXTERNAL TABLE found STORED AS PARQUET LOCATION '{folder}/'")
    found = context.sql("SELECT * FROM found")
    return pa.Table.from_batches(found.collect(), found.schema())


def with_fastparquet(folder: Path) -> Any:
    fastparquet = pytest.importorskip("fastparquet")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # it leaves files open
        found = fastparquet.ParquetFile(str(folder)).to_pandas()
    return pa.Table.from_pandas(found, preserve_index=False)


READERS: dict[str, Reader] = {
    "duckdb": with_duckdb,
    "polars": lambda folder: pl.read_parquet(folder).to_arrow(),
    "pyarrow": pq.read_table,
    "datafusion": with_datafusion,
    "fastparquet": with_fastparquet,
    "pandas": lambda folder: pa.Table.from_pandas(pd.read_parquet(folder), preserve_index=False),
}
DEAR = ("datafusion", "fastparquet", "pandas", "spark")


@pytest.fixture(
    params=[
        *(each for each in READERS if each not in DEAR),
        *(pytest.param(each, marks=pytest.mark.long) for each in DEAR),
    ]
)
def reader(request: pytest.FixtureRequest) -> Reader:
    """Return what reads a table with one of the tools."""
    if request.param != "spark":
        return READERS[request.param]
    session = request.getfixturevalue("spark")
    return lambda folder: session.read.parquet(str(folder)).toArrow()


TELLING = ("record", "wqst", "qjst", "qcst", "qesd", "qct_adp", "wtas_cf", "damage")
"""Tables that have every type, one without rows, and one that is not divided."""


@pytest.mark.parametrize("form", FORMS)
def test_values_are_read(form: str, reader: Reader, raw: dict[str, Any], folders: Folders) -> None:
    """As it was decoded."""
    kinds = {kind for each in raw.values() if each.num_rows for kind in each.schema.types}
    assert kinds <= {kind for table in TELLING for kind in raw[table].schema.types}
    for table in TELLING:
        whole, read = raw[table], reader(folders[form] / table)
        keys = set(Layout(form == "divided").keys(table))
        assert set(read.column_names) == {*whole.column_names, *keys}
        assert len(read.column_names) == len(set(read.column_names))
        read = read.select(whole.column_names).cast(whole.schema.remove_metadata())
        assert in_order(read) == in_order(whole), table


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Named:
    """A dataset of a record for each name, and datasets of one name each."""
    place = tmp_path_factory.mktemp("names")
    found = {place / "all": NAMES} | {place / each: (each,) for each in ("P101", "TRUE", "NULL")}
    for folder, names in found.items():
        dump = put(place / "dump.smf", *(log_record(Log(), qmgr=name) for name in names))
        write_dataset(open_inputs([dump]), folder, partition=True)
    return found


def test_every_queue_manager_is_read(reader: Reader, named: Named, folders: Folders) -> None:
    """Also alone, where it looks like a value; rows without a queue manager say so."""
    for folder, names in named.items():
        read = reader(folder / "record").select(["qmgr", DATE, QMGR]).to_pylist()
        assert sorted(each["qmgr"] for each in read) == sorted(names)
        for each in read if names is NAMES else ():
            assert str(each[DATE]).startswith("2023-10-02")
            if reader is with_fastparquet:  # which does not decode what is written in hexadecimal
                assert isinstance(each[QMGR], str)
            else:
                assert each[QMGR] == (each["qmgr"] or "blank")
    read = reader(folders["divided"] / "record").select(["qmgr", QMGR]).to_pylist()
    assert {each[QMGR] for each in read if each["qmgr"] is None} == {NO_QMGR}
    assert NO_QMGR not in {each[QMGR] for each in read if each["qmgr"] is not None}


def test_views_have_every_queue_manager(named: Named, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that mean something to DuckDB, which it finds by their folders."""
    for folder, names in named.items():
        with with_views(folder, monkeypatch, "record") as database:
            found = database.sql("SELECT qmgr FROM record").fetchall()
            assert sorted(found) == sorted((each,) for each in names)
            for name in names:
                asked = "SELECT count(*) FROM record WHERE qmgr = ?"
                assert database.execute(asked, [name]).fetchall() == [(1,)], name


OTHER = FIXTURES / "qm60.smf"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files, the second added without a word of types."""
    place = tmp_path_factory.mktemp("signed") / "tables"
    smfparse.convert(SMF, place, types="signed")
    append_dataset(open_inputs([OTHER]), place)
    return place


def test_signed_types_hold_every_value(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_manifest(folder)["types"] == "signed"
    wider = {"uint8": "int32", "int16": "int32", "uint16": "int32", "uint32": "int64"}
    wider["uint64"] = "decimal128(20, 0)"
    wholes, found = every_table(open_inputs([SMF, OTHER])), every_table(open_inputs([folder]))
    for table, whole in wholes.items():
        for file in (folder / table).iterdir():
            for each in pq.read_schema(file):
                kind = str(whole.schema.field(each.name).type)
                assert str(each.type) == wider.get(kind, kind), (table, each.name)
        assert found[table].equals(whole), table
    asked = {table: f"FROM {table}" for table in TELLING}
    for table, rows in smfparse.open(folder).sqls(asked).items():
        assert rows.cast(wholes[table].schema).num_rows == wholes[table].num_rows
    lazy = lazy_frame(open_inputs([folder]), "wqst").collect().to_arrow()
    assert lazy.cast(schema("wqst")).equals(wholes["wqst"])
    with with_views(folder, monkeypatch, "wqst") as database:
        rows = database.sql("FROM wqst").to_arrow_table()
    assert rows.schema.types == wholes["wqst"].schema.types


def test_a_dataset_keeps_its_types_and_views_read_what_is_added(
    folder: Path, whole_dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RequestError, match="written with signed types"):
        append_dataset(open_inputs([OTHER]), folder, types="exact")
    shutil.copytree(whole_dataset, tmp_path / "exact")
    with with_views(tmp_path / "exact", monkeypatch, "wqst") as database:
        ((before,),) = database.sql("SELECT count(*) FROM wqst").fetchall()
        done = append_dataset(open_inputs([OTHER]), tmp_path / "exact")
        ((after,),) = database.sql("SELECT count(*) FROM wqst").fetchall()
    assert after - before == done.rows["wqst"] > 0
    assert done.manifest["types"] == "exact"
