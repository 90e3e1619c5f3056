"""Tables in forms of other tools: the rows of the file, and all files are there or none."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from smfparse.cli import main
from smfparse.cli.convert import DATASET, DUCKDB, TARGET_FORMATS
from smfparse.inputs import Inputs, ReadOptions, open_inputs
from smfparse.limits import Limits
from smfparse.mqsmfcsv import STYLES
from smfparse.query import Catalog
from smfparse.tables import schema, table_names, title, views
from smfparse.writing import FILE_FORMATS, write_files
from tests.support.paths import SMF

pytestmark = pytest.mark.slow


def convert(*arguments: object, code: int = 0) -> Result:
    done = CliRunner().invoke(main, ["convert", *map(str, arguments)])
    assert done.exit_code == code, done.output
    assert done.stdout == ""
    return done


def read_text(path: Path) -> str:
    packed = path.suffix == ".gz"
    return (gzip.decompress(path.read_bytes()) if packed else path.read_bytes()).decode()


def from_csv(path: Path, whole: Any) -> list[dict[str, Any]]:
    frame = pl.read_csv(
        read_text(path).encode(), schema_overrides=dict.fromkeys(whole.column_names, pl.String)
    )
    assert frame.columns == whole.column_names
    return frame.to_dicts()


def as_text(value: Any) -> str | None:
    """Return a value as it is in CSV."""
    if isinstance(value, dt.datetime):
        return f"{value:%Y-%m-%d %H:%M:%S.%f}"
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)


@pytest.mark.parametrize("form", sorted(FILE_FORMATS))
def test_every_form_has_a_file_of_every_table(form: str, tmp_path: Path) -> None:
    said = convert(SMF, "--to", tmp_path / "out", "--format", form).stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        f"{table}.{form}" for table in table_names()
    }
    rows = sum(open_inputs([SMF]).arrow(table).num_rows for table in table_names())
    assert f"{tmp_path / 'out'}: {rows:,} rows in " in said


@pytest.mark.parametrize("form", ["csv", "csv.gz"])
@pytest.mark.parametrize("table", ["wqst", "record", "qjst", "wtas_cf"])
def test_csv_has_the_values(form: str, table: str, tmp_path: Path) -> None:
    convert(SMF, "--to", tmp_path / "out", "--format", form)
    whole = open_inputs([SMF]).arrow(table)
    found = from_csv(tmp_path / "out" / f"{table}.{form}", whole)
    numbers = [
        name for name in whole.column_names if pa.types.is_floating(schema(table).field(name).type)
    ]
    for row, wanted in zip(found, whole.to_pylist(), strict=True):
        for name in numbers:
            assert (row[name] and float(row[name])) == wanted[name]
        texts = {name: as_text(value) for name, value in wanted.items() if name not in numbers}
        assert {name: row[name] or None for name in texts} == {
            name: text or None for name, text in texts.items()
        }


@pytest.mark.parametrize("form", ["jsonl", "jsonl.gz"])
@pytest.mark.parametrize("table", ["wqst", "record", "qjst", "wtas_cf"])
def test_json_lines_have_the_values(form: str, table: str, tmp_path: Path) -> None:
    convert(SMF, "--to", tmp_path / "out", "--format", form)
    whole = open_inputs([SMF]).arrow(table)
    lines = read_text(tmp_path / "out" / f"{table}.{form}").splitlines()
    for line, wanted in zip(lines, whole.to_pylist(), strict=True):
        row = json.loads(line)
        assert list(row) == whole.column_names
        for name, value in wanted.items():
            if isinstance(value, dt.datetime):
                assert dt.datetime.fromisoformat(row[name]) == value
            else:
                assert row[name] == (
                    value if isinstance(value, int | float | str | None) else str(value)
                )


@pytest.mark.parametrize("table", ["wqst", "damage"])
def test_arrow_and_parquet_have_the_table(table: str, tmp_path: Path) -> None:
    whole = open_inputs([SMF]).arrow(table)
    convert(SMF, "--to", tmp_path / "a", "--format", "arrow")
    convert(SMF, "--to", tmp_path / "p", "--format", "parquet")
    with pa.ipc.open_file(tmp_path / "a" / f"{table}.arrow") as file:
        arrow = file.read_all()
    parquet = pq.read_table(tmp_path / "p" / f"{table}.parquet")
    for found in (arrow, parquet):
        assert found.equals(whole)
        assert found.schema.equals(whole.schema, check_metadata=True)


def test_row_groups_of_parquet_are_as_long_as_the_limits_allow(tmp_path: Path) -> None:
    inputs = open_inputs([SMF], ReadOptions(limits=Limits(group_rows=7)))
    rows = write_files(inputs, tmp_path, "parquet", {"wqst": None})["wqst"]
    assert pq.ParquetFile(tmp_path / "wqst.parquet").num_row_groups == -(-rows // 7) > 1


@pytest.mark.parametrize("form", sorted({*FILE_FORMATS, DUCKDB}))
def test_tables_and_columns_are_chosen(form: str, tmp_path: Path) -> None:
    target = tmp_path / "out"
    convert(
        *(SMF, "--to", target, "--format", form, "--table", "wqst,WTAS"),
        *("--columns", "qmgr,putn", "--columns", "wtasstrt"),
    )
    wanted = {"wqst": ["qmgr", "putn"], "wtas": ["qmgr", "wtasstrt"]}
    if form == DUCKDB:
        with duckdb.connect(target, read_only=True) as database:
            tables = database.sql("SELECT table_name FROM duckdb_tables()").to_arrow_table()
            assert set(tables["table_name"].to_pylist()) == set(wanted)
            for table, names in wanted.items():
                assert database.sql(f"FROM {table}").columns == names
        return
    assert {path.name for path in target.iterdir()} == {f"{table}.{form}" for table in wanted}
    for table, names in wanted.items():
        file = target / f"{table}.{form}"
        readers: dict[str, Callable[[], list[str]]] = {
            "csv": lambda file=file: read_text(file).splitlines()[0].split(","),
            "jsonl": lambda file=file: list(json.loads(read_text(file).splitlines()[0])),
            "arrow": lambda file=file: pa.ipc.open_file(file).schema.names,
            "parquet": lambda file=file: pq.read_schema(file).names,
        }
        assert readers[form.split(".")[0]]() == names


def test_no_cell_of_csv_starts_a_formula(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = tmp_path / "=1+1.smf"
    bad.write_bytes(SMF.read_bytes())
    monkeypatch.chdir(tmp_path)
    convert("=1+1.smf", "--to", tmp_path / "out", "--format", "csv", "--columns", "source")
    cells = [row[0] for row in csv.reader(io.StringIO(read_text(tmp_path / "out" / "record.csv")))]
    assert set(cells) == {"source", "'=1+1.smf"}


def test_packed_files_have_the_same_bytes_each_time(tmp_path: Path) -> None:
    for name in ("a", "b"):
        convert(SMF, "--to", tmp_path / name, "--format", "csv.gz", "--table", "wqst")
    assert (tmp_path / "a" / "wqst.csv.gz").read_bytes() == (
        tmp_path / "b" / "wqst.csv.gz"
    ).read_bytes()


def test_a_selection_and_a_dataset_go_in(tmp_path: Path) -> None:
    convert(SMF, "--to", tmp_path / "tables")
    for name, source in (("a", SMF), ("b", tmp_path / "tables")):
        convert(
            source, "--to", tmp_path / name, "--format", "csv", "--type", "116", "--table", "record"
        )
    assert (tmp_path / "a" / "record.csv").read_bytes() == (
        tmp_path / "b" / "record.csv"
    ).read_bytes()
    some = read_text(tmp_path / "a" / "record.csv").splitlines()
    assert 1 < len(some) < open_inputs([SMF]).arrow("record").num_rows


# The database -------------------------------------------------------------------------------------


def test_a_database_has_every_table_with_what_it_is(tmp_path: Path) -> None:
    convert(SMF, "--to", tmp_path / "x.duckdb")
    raw = open_inputs([SMF])
    with duckdb.connect(tmp_path / "x.duckdb", read_only=True) as database:
        database.execute("SET TimeZone = 'UTC'")
        for table in table_names():
            whole = raw.arrow(table)
            read = database.sql(f"FROM {table}").to_arrow_table()
            assert read.cast(whole.schema.remove_metadata()).equals(whole), table
        said = database.sql("SELECT table_name, comment FROM duckdb_tables()").to_arrow_table()
        assert dict(zip(*said.to_pydict().values(), strict=True)) == {
            table: title(table) for table in table_names()
        }
        of_column = (
            "SELECT comment FROM duckdb_columns() WHERE column_name = 'qjstslptu'"
            " AND table_name = 'qjst' AND schema_name = 'main'"
        )
        assert database.sql(of_column).to_arrow_table()["comment"].to_pylist() == [
            "Time the log writer had nothing to do (microseconds)"
        ]
        for name in views.view_names():
            query = f"SELECT count(*) AS n FROM {name}"
            with Catalog(raw) as catalog:
                assert database.sql(query).to_arrow_table().equals(catalog.arrow(query))
    assert [path.name for path in tmp_path.iterdir()] == ["x.duckdb"]


def test_a_database_is_of_a_version_that_older_duckdb_reads(tmp_path: Path) -> None:
    """Byte 12 of the file: 64 to 68 are those of DuckDB 1."""
    convert(SMF, "--to", tmp_path / "x.duckdb", "--table", "qjst")
    head = (tmp_path / "x.duckdb").read_bytes()[:20]
    assert head[8:12] == b"DUCK"
    assert int.from_bytes(head[12:20], "little") <= 68


# All or nothing -----------------------------------------------------------------------------------

EVERY = sorted({*FILE_FORMATS, DUCKDB})


def test_every_form_is_offered() -> None:
    assert set(TARGET_FORMATS) == {DATASET, DUCKDB, *FILE_FORMATS, *STYLES}


def content(target: Path) -> dict[str, bytes]:
    files = target.rglob("*") if target.is_dir() else [target]
    return {each.name: each.read_bytes() for each in files}


@pytest.mark.parametrize("form", EVERY)
def test_what_is_there_is_replaced_only_if_that_is_asked_for(form: str, tmp_path: Path) -> None:
    target = tmp_path / "out"
    few = [SMF, "--to", target, "--format", form, "--table", "qjst"]
    convert(*few)
    before = content(target)
    assert "--force" in convert(*few, "--columns", "qmgr", code=2).stderr
    assert content(target) == before
    convert(*few, "--columns", "qmgr", "--force")
    assert content(target) != before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("form", EVERY)
def test_other_things_are_never_replaced(form: str, tmp_path: Path) -> None:
    mine = tmp_path / "out" / "letter.txt"
    mine.parent.mkdir()
    mine.write_text("mine")
    convert(SMF, "--to", mine.parent, "--format", form, "--force", code=2)
    assert mine.read_text() == "mine"
    if form != DUCKDB:
        convert(SMF, "--to", mine, "--format", form, "--force", code=2)
        assert mine.read_text() == "mine"


@pytest.mark.parametrize("form", EVERY)
def test_what_is_interrupted_leaves_nothing(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Inputs.batches

    def stopping(self: Inputs, wanted: Any) -> Iterator[Any]:
        yield from list(whole(self, wanted))[:2]
        raise KeyboardInterrupt

    target = tmp_path / "out"
    convert(SMF, "--to", target, "--format", form, "--table", "qjst")
    before = content(target)
    monkeypatch.setattr(Inputs, "batches", stopping)
    convert(SMF, "--to", target, "--format", form, "--force", code=130)
    assert content(target) == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_folder_itself_stays_a_link_or_where_the_user_is(
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


def test_a_link_to_a_database_stays_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    link, database = tmp_path / "link.duckdb", tmp_path / "there" / "x.duckdb"
    database.parent.mkdir()
    database.write_bytes(b"old")
    link.symlink_to(database)
    convert(SMF, "--to", link, "--table", "qjst", "--force")
    assert link.is_symlink()
    assert database.read_bytes()[8:12] == b"DUCK"


def test_what_a_killed_run_left_goes_with_the_next(tmp_path: Path) -> None:
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


def test_the_log_of_a_database_that_is_replaced_goes_with_it(tmp_path: Path) -> None:
    path, log = tmp_path / "x.duckdb", tmp_path / "x.duckdb.wal"
    with duckdb.connect(path) as database:
        database.execute("PRAGMA disable_checkpoint_on_shutdown; CREATE TABLE mine (a INT)")
    convert(SMF, "--to", path, "--table", "qjst", "--force")
    with duckdb.connect(path, read_only=True) as database:
        assert database.sql("SELECT table_name FROM duckdb_tables()").fetchall() == [("qjst",)]
    path.unlink()
    log.write_bytes(b"of another database")
    assert "x.duckdb.wal: exists" in convert(SMF, "--to", path, "--table", "qjst", code=2).stderr


@pytest.mark.parametrize("form", EVERY)
def test_damage_is_4_and_the_rest_is_there(form: str, tmp_path: Path) -> None:
    cut = tmp_path / "cut.smf"
    cut.write_bytes(SMF.read_bytes()[:-7])
    said = convert(
        cut, "--to", tmp_path / "out", "--format", form, "--table", "qjst", code=4
    ).stderr
    assert "the file is cut" in said
    assert (tmp_path / "out").exists()
    convert(cut, "--to", tmp_path / "none", "--format", form, "--strict", code=8)
    assert not (tmp_path / "none").exists()


def test_the_ending_of_a_database_may_be_in_capitals(tmp_path: Path) -> None:
    convert(SMF, "--to", tmp_path / "X.DUCKDB", "--table", "qjst")
    assert (tmp_path / "X.DUCKDB").read_bytes()[8:12] == b"DUCK"


def test_a_view_is_said_to_be_one_and_how_it_is_written(tmp_path: Path) -> None:
    said = convert(SMF, "--to", tmp_path / "x", "--format", "csv", "--table", "task", code=2).stderr
    assert "task is a view" in said
    assert 'sql INPUT "FROM task" --format csv --output task.csv' in said


@pytest.mark.parametrize(
    "wrong",
    [
        ["--table", "wqst"],
        ["--columns", "putn"],
        ["--format", "csv", "--append"],
        ["--format", "csv", "--partition"],
        ["--format", "csv", "--table", "nothing"],
        ["--format", "csv", "--columns", "nothing"],
        ["--format", "csv", "--table", "qjst", "--columns", "putn"],
        ["--append", "--force"],
        ["--format", "xml"],
    ],
    ids=" ".join,
)
def test_a_wrong_call_ends_with_2_and_writes_nothing(wrong: list[str], tmp_path: Path) -> None:
    convert(SMF, "--to", tmp_path / "out", *wrong, code=2)
    assert not (tmp_path / "out").exists()
