"""A dataset is read by smfparse, DuckDB and polars, divided by day and queue manager or not."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from smfparse.inputs import ReadOptions, open_inputs
from smfparse.limits import LIMITS, Limits
from smfparse.query import Catalog
from smfparse.schemas import REGISTRY
from smfparse.store import (
    GROWING,
    NO_QMGR,
    VIEWS,
    Folder,
    Form,
    Layout,
    TableWriter,
    read_manifest,
    view_statements,
)
from smfparse.tables import coded_schema, schema, table_names, title, views
from smfparse.writing import append_dataset, write_dataset
from smfparse.writing.parts import PartFiles
from tests.support.generated import generate_midnight
from tests.support.paths import SMF
from tests.support.smf import Log, log_record

pytestmark = pytest.mark.slow

QMGRS = ("QM01", "Q#2")
FORMS = ("whole", "divided")


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate_midnight(tmp_path_factory.mktemp("dump") / "dump.smf", *QMGRS)


@pytest.fixture(scope="module")
def folders(dump: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The dataset in both forms, moved after it was written."""
    place = tmp_path_factory.mktemp("datasets")
    for form in FORMS:
        write_dataset(open_inputs([dump]), place / "made", partition=form == "divided")
        (place / "made").rename(place / form)
    return {form: place / form for form in FORMS}


every_form = pytest.mark.parametrize("form", FORMS)


def ordered(table: Any, names: list[str]) -> Any:
    """Return the columns `names` of a table, its rows in one order."""
    order = [(name, "ascending") for name in names if name in ("source", "record_no", "block_no")]
    rest = [(name, "ascending") for name in names]
    return table.select(names).sort_by([*order, *rest]) if table.num_rows else table.select(names)


# Our own ------------------------------------------------------------------------------------------


@every_form
def test_we_read_the_tables_that_the_file_has(
    form: str, dump: Path, folders: dict[str, Path]
) -> None:
    raw, made = open_inputs([dump]), open_inputs([folders[form]])
    for table in table_names():
        names = schema(table).names
        assert ordered(made.arrow(table), names).equals(ordered(raw.arrow(table), names)), table


@every_form
def test_the_catalog_has_the_tables_that_the_file_has(
    form: str, dump: Path, folders: dict[str, Path]
) -> None:
    with Catalog(open_inputs([folders[form]])) as made, Catalog(open_inputs([dump])) as raw:
        for query in (
            "DESCRIBE wqst",
            "SELECT qmgr, count(*), sum(putn)::BIGINT FROM wqst GROUP BY ALL ORDER BY ALL",
            "SELECT qmgr, type, count(*) FROM record GROUP BY ALL ORDER BY ALL",
        ):
            assert made.arrow(query).to_pylist() == raw.arrow(query).to_pylist()


def test_folders_are_days_of_the_system_and_queue_managers(folders: dict[str, Path]) -> None:
    days, qmgrs = ("2026-03-04", "2026-03-05"), ("QM01", "Q%232")
    below = {path.parent.relative_to(folders["divided"]).as_posix()
             for path in (folders["divided"] / "wqst").rglob("*.parquet")}  # fmt: skip
    assert below == {f"wqst/date={day}/queue_manager={qmgr}" for day in days for qmgr in qmgrs}
    for day in days:
        for file in (folders["divided"] / "record").glob(f"date={day}/*/*.parquet"):
            found = {
                f"{each:%Y-%m-%d}" for each in pq.ParquetFile(file).read()["counted_at"].to_pylist()
            }
            assert found == {day}
    assert (folders["divided"] / "record" / "date=2026-03-04" / f"queue_manager={NO_QMGR}").is_dir()
    assert (folders["divided"] / "damage" / "part-00000.parquet").is_file()


def test_a_table_without_rows_is_a_file_where_a_reader_looks_for_it(
    folders: dict[str, Path],
) -> None:
    manifest = read_manifest(folders["divided"])
    rows, layout = manifest["tables"], Layout(True)
    empty = [table for table in rows if not rows[table] and layout.keys(table)]
    assert empty
    for table in empty:
        (name,) = manifest["files"][table]
        assert name == f"{table}/{Layout(True).no_rows(table)}/part-00000.parquet"


def test_the_work_for_a_folder_does_not_grow_with_the_number_of_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0

    def counted(self: TableWriter) -> bool:
        nonlocal asked
        asked += 1
        return False

    monkeypatch.setattr(TableWriter, "is_open", property(counted))
    days = 300
    times = [dt.datetime(2026, 1, 1) + dt.timedelta(days=day) for day in range(days)]
    batch = pa.RecordBatch.from_pylist([{"counted_at": each} for each in times], schema("qpst"))
    files = PartFiles(Folder(tmp_path), 0, Layout(True), 1 << 30, LIMITS, Form(is_described=False))
    files.add("qpst", batch.cast(coded_schema("qpst")))
    assert len(files.writers) == days
    assert asked <= 2 * days


def test_files_of_many_folders_are_written_with_few_open(
    dump: Path, folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that was closed to make room has a next one; rows come in their order."""
    most = 0
    opened: set[int] = set()
    flush, close = TableWriter.flush, TableWriter.close

    def counted_flush(self: TableWriter) -> None:
        nonlocal most
        flush(self)
        opened.add(id(self))
        most = max(most, len(opened))

    def counted_close(self: TableWriter) -> None:
        close(self)
        opened.discard(id(self))

    monkeypatch.setattr(TableWriter, "flush", counted_flush)
    monkeypatch.setattr(TableWriter, "close", counted_close)
    again = dump.with_name("again.smf")
    again.write_bytes(dump.read_bytes())
    apart = 2 * dump.stat().st_size
    limits = Limits(group_rows=2, open_files=3, epoch_cells=1, chunk_bytes=apart)
    inputs = open_inputs([dump, again], ReadOptions(keep_duplicates=True, limits=limits))
    write_dataset(inputs, tmp_path / "tables", partition=True)
    assert most == 4
    names = {path.name for path in (tmp_path / "tables" / "wqst").rglob("*.parquet")}
    assert names == {"part-00000.parquet", "part-00000-00001.parquet"}
    made = open_inputs([tmp_path / "tables"])
    for table in ("record", "wqst"):
        columns_of = schema(table).names
        assert ordered(made.arrow(table), columns_of).equals(
            ordered(inputs.arrow(table), columns_of)
        )


# DuckDB -------------------------------------------------------------------------------------------


@pytest.fixture
def plain(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Open a dataset with nothing but its views.sql, from inside its folder."""

    def opened(form: str) -> Any:
        monkeypatch.chdir(folders[form])
        database = duckdb.connect()
        database.execute(Path(VIEWS).read_text(encoding="utf-8"))
        return database

    return opened


@every_form
def test_views_have_the_rows_of_every_table(
    form: str, dump: Path, plain: Callable[[str], Any]
) -> None:
    raw = open_inputs([dump])
    with plain(form) as database:
        for table in table_names():
            whole = raw.arrow(table)
            read = database.sql(f"FROM {table}").to_arrow_table()
            extra = ["date"] if Layout(form == "divided").keys(table) else []
            assert read.column_names == [*whole.column_names, *extra]
            read = read.select(whole.column_names).cast(whole.schema.remove_metadata())
            names = whole.column_names
            assert ordered(read, names).equals(ordered(whole, names)), table


@every_form
def test_views_say_what_tables_and_columns_are(form: str, plain: Callable[[str], Any]) -> None:
    with plain(form) as database:
        said = database.sql(
            "SELECT view_name, comment FROM duckdb_views()"
            " WHERE NOT internal AND schema_name = 'main'"
        ).to_arrow_table()
        assert dict(zip(*said.to_pydict().values(), strict=True)) == {
            table: title(table) for table in table_names()
        } | {name: views.view(name).title for name in views.view_names()}
        of_columns = database.sql(
            "SELECT comment FROM duckdb_columns() WHERE schema_name = 'main'"
            " AND table_name = 'qjst' AND column_name = 'qjstslptu'"
        ).to_arrow_table()
        assert of_columns["comment"].to_pylist() == [
            "Time the log writer had nothing to do (microseconds)"
        ]


@every_form
def test_views_over_tables_have_the_rows_that_ours_have(
    form: str, dump: Path, plain: Callable[[str], Any]
) -> None:
    with plain(form) as database, Catalog(open_inputs([dump])) as catalog:
        for name in views.view_names():
            query = f"SELECT * FROM {name}"
            read, whole = database.sql(query).to_arrow_table(), catalog.arrow(query)
            assert read.schema.equals(whole.schema), name
            assert sorted(map(str, read.to_pylist())) == sorted(map(str, whole.to_pylist())), name


def test_views_are_in_utc_whatever_the_zone_of_the_workstation(
    plain: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    with plain("whole") as database:
        (row,) = database.sql("SELECT min(time)::VARCHAR AS first FROM qjst").to_arrow_table()[0]
        assert row.as_py().startswith("2026-03-04 21:30:0")
        assert row.as_py().endswith("+00")


def test_a_filter_by_day_or_queue_manager_reads_no_other_files(
    plain: Callable[[str], Any],
) -> None:
    with plain("divided") as database:
        for condition in ("date = DATE '2026-03-05'", "qmgr = 'Q#2'"):
            found = database.sql(f"EXPLAIN SELECT sum(putn) FROM wqst WHERE {condition}")
            text = "".join(found.to_arrow_table()["explain_value"].to_pylist())
            assert "Scanning Files: 2/4" in text
        found = database.sql("EXPLAIN SELECT count(*) FROM qjst WHERE date = DATE '2026-03-05'")
        assert "Scanning Files: 1/2" in "".join(found.to_arrow_table()["explain_value"].to_pylist())


def test_tables_that_grow_with_work_are_those_of_records_tasks_queues_and_channels() -> None:
    """All of accounting (SMF 116), a row for each record, and the statistics of each queue."""
    blocks = [
        each
        for (smf_type, *_), triplets in REGISTRY.items()
        if smf_type == 116
        for each in triplets.values()
    ]
    tables = {each.name.lower() for each in blocks}
    tables |= {child.table for each in blocks for child in each.children}
    assert tables | {"record", "qqst"} == GROWING


@pytest.mark.parametrize("name", ["NULL", "null", "P101", "", "A/B="])
def test_a_queue_manager_whose_name_means_nothing_to_duckdb_has_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dump.smf").write_bytes(log_record(Log(), qmgr=name))
    monkeypatch.chdir(tmp_path)
    write_dataset(open_inputs(["dump.smf"]), Path("tables"), partition=True)
    monkeypatch.chdir("tables")
    with duckdb.connect() as database:
        database.execute(Path(VIEWS).read_text(encoding="utf-8"))
        assert database.sql("SELECT qmgr FROM record").fetchall() == [(name,)]
        asked = "SELECT count(*) FROM record WHERE qmgr = ?"
        assert database.execute(asked, [name]).fetchall() == [(1,)]


def test_views_read_what_was_added(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_dataset(open_inputs([dump]), tmp_path / "tables")
    monkeypatch.chdir(tmp_path / "tables")
    with duckdb.connect() as database:
        database.execute(Path(VIEWS).read_text(encoding="utf-8"))
        count = "SELECT count(*) AS n FROM qjst"
        (before,) = database.sql(count).to_arrow_table()["n"].to_pylist()
        later = tmp_path / "later.smf"
        later.write_bytes(SMF.read_bytes())
        done = append_dataset(open_inputs([later]), tmp_path / "tables")
        (after,) = database.sql(count).to_arrow_table()["n"].to_pylist()
        assert after - before == done.rows["qjst"] > 0


@pytest.mark.parametrize("partitioned", [False, True])
def test_views_name_no_place(partitioned: bool) -> None:
    """What is read is below the folder in which DuckDB was started, wherever that is."""
    read = [
        line
        for line in view_statements(layout=Layout(partitioned)).splitlines()
        if "read_parquet(" in line
    ]
    assert len(read) == len(table_names())
    assert all("read_parquet('/" not in line and ".." not in line for line in read)


# polars -------------------------------------------------------------------------------------------


@every_form
def test_polars_reads_every_table(form: str, dump: Path, folders: dict[str, Path]) -> None:
    raw = open_inputs([dump])
    for table in table_names():
        whole = pl.DataFrame(raw.arrow(table))
        read = pl.scan_parquet(folders[form] / table)
        keys = [*Layout(form == "divided").keys(table)]
        assert read.collect_schema().names() == [*whole.columns, *keys]
        found = read.select(whole.columns).cast(dict(whole.schema)).collect()
        assert found.sort(pl.all()).equals(whole.sort(pl.all())), table


def test_polars_takes_days_and_queue_managers_from_the_folders(folders: dict[str, Path]) -> None:
    read = pl.scan_parquet(folders["divided"] / "wqst")
    assert read.collect_schema()["date"] == pl.Date
    found = read.filter(date=dt.date(2026, 3, 5), queue_manager="Q#2").collect()
    assert found["qmgr"].unique().to_list() == ["Q#2"]
    assert found["smf_time"].dt.date().unique().to_list() == [dt.date(2026, 3, 5)]
