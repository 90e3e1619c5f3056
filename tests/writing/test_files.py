"""Tables in forms of other tools: the rows of the file, and all files are there or none."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from smfparse.cli.convert import DATASET, DUCKDB, TARGET_FORMATS
from smfparse.inputs import Inputs, ReadOptions, open_inputs
from smfparse.limits import Limits
from smfparse.metrics import views
from smfparse.mqsmfcsv import STYLES
from smfparse.query import Catalog
from smfparse.tables import table_names, title
from smfparse.writing import FILE_FORMATS, write_files
from tests.support.datasets import convert
from tests.support.paths import SMF

pytestmark = pytest.mark.slow
EVERY = sorted({*FILE_FORMATS, DUCKDB})
every_form = pytest.mark.parametrize("form", EVERY)
TABLES = ("wqst", "record", "qjst", "wtas_cf", "damage")
"""Tables of which every value is compared; the last has no rows."""
of_tables = pytest.mark.parametrize("table", TABLES)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("written")
    rows = sum(open_inputs([SMF]).arrow(table).num_rows for table in table_names())
    for form in FILE_FORMATS:
        said = convert(SMF, "--to", place / form, "--format", form).stderr
        assert f"{place / form}: {rows:,} rows in " in said
    return {form: place / form for form in FILE_FORMATS}


def text_in_both(written: dict[str, Path], table: str, form: str) -> str:
    """Return the text of a table, which is the same in the packed file."""
    text = (written[form] / f"{table}.{form}").read_bytes()
    assert gzip.decompress((written[f"{form}.gz"] / f"{table}.{form}.gz").read_bytes()) == text
    return text.decode()


def as_text(value: Any) -> str | None:
    """Return a value as it is in CSV, where no text and an empty one are the same."""
    if isinstance(value, dt.datetime):
        return f"{value:%Y-%m-%d %H:%M:%S.%f}"
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value) or None


def test_every_form_has_a_file_of_every_table(written: dict[str, Path]) -> None:
    for form, folder in written.items():
        names = {f"{table}.{form}" for table in table_names()}
        assert {path.name for path in folder.iterdir()} == names
    assert set(TARGET_FORMATS) == {DATASET, DUCKDB, *FILE_FORMATS, *STYLES}


@of_tables
def test_csv_has_the_values(table: str, written: dict[str, Path]) -> None:
    whole = open_inputs([SMF]).arrow(table)
    types = dict.fromkeys(whole.column_names, pl.String)
    text = text_in_both(written, table, "csv")
    frame = pl.read_csv(text.encode(), schema_overrides=types)
    assert frame.columns == whole.column_names
    numbers = {each.name for each in whole.schema if pa.types.is_floating(each.type)}
    for row, wanted in zip(frame.to_dicts(), whole.to_pylist(), strict=True):
        for name, value in wanted.items():
            if name in numbers:
                assert (row[name] and float(row[name])) == value
            else:
                assert (row[name] or None) == as_text(value), name


@of_tables
def test_json_lines_have_the_values(table: str, written: dict[str, Path]) -> None:
    whole = open_inputs([SMF]).arrow(table)
    lines = text_in_both(written, table, "jsonl").splitlines()
    for line, wanted in zip(lines, whole.to_pylist(), strict=True):
        row = json.loads(line)
        assert list(row) == whole.column_names
        for name, value in wanted.items():
            assert is_in_json(row[name], value, wanted), name


@of_tables
def test_events_have_the_values_that_are_there_and_a_time(
    table: str, written: dict[str, Path]
) -> None:
    whole = open_inputs([SMF]).arrow(table)
    lines = text_in_both(written, table, "ndjson").splitlines()
    for line, wanted in zip(lines, whole.to_pylist(), strict=True):
        row = json.loads(line)
        assert row.pop("table") == table
        at = row.pop("@timestamp", None)
        if wanted["time"] is not None:
            assert dt.datetime.fromisoformat(at) == wanted["time"]
        elif wanted["utc_offset"] is not None:
            ahead = dt.timedelta(seconds=wanted["utc_offset"])
            assert dt.datetime.fromisoformat(at).replace(tzinfo=None) == wanted["smf_time"] - ahead
        there = {name: value for name, value in wanted.items() if value is not None}
        assert row.keys() == there.keys()
        assert all(is_in_json(row[name], value, wanted) for name, value in there.items())


def is_in_json(found: Any, value: Any, row: Mapping[str, Any]) -> bool:
    """Whether a value is exact in JSON, and a local time has the offset of its row."""
    if isinstance(value, dt.datetime):
        moment = dt.datetime.fromisoformat(found)
        if value.tzinfo is not None:
            return moment == value
        offset = row.get("utc_offset")
        ahead = None if offset is None else dt.timedelta(seconds=offset)
        return moment.replace(tzinfo=None) == value and moment.utcoffset() == ahead
    if isinstance(value, int) and abs(value) > 2**53:
        return bool(found == str(value))
    return bool(found == (value if isinstance(value, int | float | str | None) else str(value)))


def test_arrow_and_parquet_have_the_table(written: dict[str, Path]) -> None:
    for table in TABLES:
        whole = open_inputs([SMF]).arrow(table)
        with pa.ipc.open_file(written["arrow"] / f"{table}.arrow") as file:
            arrow = file.read_all()
        for found in (arrow, pq.read_table(written["parquet"] / f"{table}.parquet")):
            assert found.equals(whole)
            assert found.schema.equals(whole.schema, check_metadata=True)


def test_row_groups_of_parquet_are_as_long_as_the_limits_allow(tmp_path: Path) -> None:
    inputs = open_inputs([SMF], ReadOptions(limits=Limits(group_rows=7)))
    rows = write_files(inputs, tmp_path, "parquet", {"wqst": None})["wqst"]
    assert pq.ParquetFile(tmp_path / "wqst.parquet").num_row_groups == -(-rows // 7) > 1


@every_form
def test_tables_and_columns_are_chosen(form: str, tmp_path: Path) -> None:
    target = tmp_path / "out"
    convert(
        *(SMF, "--to", target, "--format", form, "--table", "wqst,WTAS"),
        *("--columns", "qmgr,putn", "--columns", "wtasstrt"),
    )
    wanted = {"wqst": ["qmgr", "putn"], "wtas": ["qmgr", "wtasstrt"]}
    if form.startswith("ndjson"):
        wanted = {table: ["table", *names] for table, names in wanted.items()}
    with duckdb.connect(target if form == DUCKDB else ":memory:") as database:
        if form == DUCKDB:
            tables = [name for (name,) in database.sql("SHOW TABLES").fetchall()]
        else:
            tables = [each.name.removesuffix(f".{form}") for each in target.iterdir()]
        assert {*tables} == {*wanted}
        for table, names in wanted.items():
            file = target / f"{table}.{form}"
            if form == "arrow":
                assert pa.ipc.open_file(file).schema.names == names
            else:
                found = database.sql(f"FROM {table}" if form == DUCKDB else f"FROM '{file}'")
                assert found.columns == names


def test_no_cell_of_csv_starts_a_formula(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = tmp_path / "=1+1.smf"
    bad.write_bytes(SMF.read_bytes())
    monkeypatch.chdir(tmp_path)
    convert("=1+1.smf", "--to", tmp_path / "out", "--format", "csv", "--columns", "source")
    cells = (tmp_path / "out" / "record.csv").read_text().splitlines()
    assert {*cells} == {"source", "'=1+1.smf"}


def test_packed_files_have_the_same_bytes_each_time(
    written: dict[str, Path], tmp_path: Path
) -> None:
    convert(SMF, "--to", tmp_path / "b", "--format", "csv.gz", "--table", "wqst")
    again = (tmp_path / "b" / "wqst.csv.gz").read_bytes()
    assert (written["csv.gz"] / "wqst.csv.gz").read_bytes() == again


def test_a_selection_and_a_dataset_go_in(
    whole_dataset: Path, written: dict[str, Path], tmp_path: Path
) -> None:
    only = ["--format", "csv", "--type", "116", "--table", "record"]
    for name, source in (("a", SMF), ("b", whole_dataset)):
        convert(source, "--to", tmp_path / name, *only)
    found, other = ((tmp_path / name / "record.csv").read_text() for name in "ab")
    assert found == other
    whole = (written["csv"] / "record.csv").read_text()
    assert 1 < len(found.splitlines()) < len(whole.splitlines())


def test_a_database_has_every_table_and_view_with_its_description(tmp_path: Path) -> None:
    """Byte 12 of the file is its version: 64 to 68 are those of DuckDB 1, which all read."""
    path = tmp_path / "X.DUCKDB"
    convert(SMF, "--to", path)
    head = path.read_bytes()[:20]
    assert (head[8:12], int.from_bytes(head[12:20], "little") <= 68) == (b"DUCK", True)
    raw = open_inputs([SMF])
    with duckdb.connect(path, read_only=True) as database, Catalog(raw) as catalog:
        database.execute("SET TimeZone = 'UTC'")
        for table in table_names():
            whole = raw.arrow(table)
            read = database.sql(f"FROM {table}").to_arrow_table()
            assert read.cast(whole.schema.remove_metadata()).equals(whole), table
        said = database.sql("SELECT table_name, comment FROM duckdb_tables()").fetchall()
        assert dict(said) == {table: title(table) for table in table_names()}
        of_column = (
            "SELECT comment FROM duckdb_columns() WHERE column_name = 'qjstslptu'"
            " AND table_name = 'qjst' AND schema_name = 'main'"
        )
        assert database.sql(of_column).fetchall() == [
            ("Time the log writer had nothing to do (microseconds)",)
        ]
        for name in views.view_names():
            query = f"SELECT count(*) AS n FROM {name}"
            assert database.sql(query).to_arrow_table().equals(catalog.arrow(query))
    assert [each.name for each in tmp_path.iterdir()] == ["X.DUCKDB"]


def test_the_log_of_a_database_that_is_replaced_goes_with_it(tmp_path: Path) -> None:
    path, log = tmp_path / "x.duckdb", tmp_path / "x.duckdb.wal"
    with duckdb.connect(path) as database:
        database.execute("PRAGMA disable_checkpoint_on_shutdown; CREATE TABLE mine (a INT)")
    convert(SMF, "--to", path, "--table", "qjst", "--force")
    with duckdb.connect(path, read_only=True) as database:
        assert database.sql("SELECT table_name FROM duckdb_tables()").fetchall() == [("qjst",)]
    path.unlink()
    log.write_bytes(b"of another database")
    refused = convert(SMF, "--to", path, "--table", "qjst", code=2)
    assert "x.duckdb.wal: already exists" in refused.stderr


def content(target: Path) -> dict[str, bytes]:
    files = target.rglob("*") if target.is_dir() else [target]
    return {each.name: each.read_bytes() for each in files}


@every_form
def test_a_target_is_whole_and_replaced_only_if_that_is_asked_for(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is refused, interrupted or strictly read leaves it as it was."""
    target, cut, mine = tmp_path / "out", tmp_path / "cut.smf", tmp_path / "mine" / "letter.txt"
    cut.write_bytes(SMF.read_bytes()[:-7])
    mine.parent.mkdir()
    mine.write_text("mine")
    few = ["--format", form, "--table", "qjst"]
    said = convert(cut, "--to", target, *few, code=4).stderr
    assert "the file is cut" in said
    before = content(target)
    assert "--force" in convert(SMF, "--to", target, *few, "--columns", "qmgr", code=2).stderr
    convert(cut, "--to", target, *few, "--force", "--strict", code=8)
    batches = Inputs.batches

    def stopping(self: Inputs, wanted: Any) -> Iterator[Any]:
        yield from list(batches(self, wanted))[:2]
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Inputs, "batches", stopping)
        convert(SMF, "--to", target, *few, "--force", code=130)
    assert content(target) == before
    convert(SMF, "--to", target, *few, "--columns", "qmgr", "--force")
    assert content(target) != before
    for place in [mine.parent] if form == DUCKDB else [mine.parent, mine]:
        convert(SMF, "--to", place, *few, "--force", code=2)
    assert mine.read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"out", "cut.smf", "mine"}


def test_the_target_itself_stays_a_link_or_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, link = tmp_path / "out", tmp_path / "link"
    folder.mkdir()
    link.symlink_to(folder, target_is_directory=True)
    monkeypatch.chdir(folder)
    convert(SMF, "--to", ".", "--format", "csv", "--table", "qjst,qmst")
    convert(SMF, "--to", ".", "--format", "jsonl", "--table", "qjst", "--force")
    assert [path.name for path in Path().iterdir()] == ["qjst.jsonl"]
    convert(SMF, "--to", link, "--format", "csv", "--table", "qjst", "--force")
    assert [path.name for path in Path().iterdir()] == ["qjst.csv"]
    assert link.is_symlink()
    database, other = tmp_path / "x.duckdb", tmp_path / "link.duckdb"
    database.write_bytes(b"old")
    other.symlink_to(database)
    convert(SMF, "--to", other, "--table", "qjst", "--force")
    assert other.is_symlink()
    assert database.read_bytes()[8:12] == b"DUCK"


def test_the_next_run_removes_parts_of_a_killed_one(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    folder, alive = tmp_path / "out", os.getppid()
    folder.mkdir()
    (folder / "wqst.csv.partial").write_text("half")
    convert(SMF, "--to", folder, "--format", "csv", "--table", "qjst")
    assert [path.name for path in folder.iterdir()] == ["qjst.csv"]
    for name in (f".x.duckdb.{gone.pid}.partial", f".x.duckdb.{gone.pid}.partial.wal"):
        (tmp_path / name).write_text("half")
    (tmp_path / f".x.duckdb.{alive}.partial").write_text("of another run")
    convert(SMF, "--to", tmp_path / "x.duckdb", "--table", "qjst")
    assert {path.name for path in tmp_path.iterdir()} == {
        *("out", "x.duckdb", f".x.duckdb.{alive}.partial")
    }


WRONG = {
    "": ["--table wqst", "--columns putn", "--append --force", "--format csv --append"],
    "are for a dataset": [
        "--format csv --partition",
        "--format csv --types signed",
        "--format csv --executor concurrent.futures:ThreadPoolExecutor",
    ],
    "nothing": ["--format csv --table nothing", "--format csv --columns nothing"],
    "putn": ["--format csv --table qjst --columns putn"],
    'sql INPUT "FROM task" --format csv --output task.csv': ["--format csv --table task"],
    "xml": ["--format xml"],
}


def test_a_wrong_call_ends_with_2_and_writes_nothing(tmp_path: Path) -> None:
    for said, calls in WRONG.items():
        for call in calls:
            done = convert(SMF, "--to", tmp_path / "out", *call.split(), code=2)
            assert said in " ".join(done.stderr.split()), call
            assert not (tmp_path / "out").exists()
