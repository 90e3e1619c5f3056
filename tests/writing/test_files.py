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
from smfparse.decoding.dictionary import table_names, title
from smfparse.inputs.opening import Inputs, open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.limits import Limits
from smfparse.metrics import views
from smfparse.mqsmfcsv.styles import STYLES
from smfparse.query.catalog import Catalog
from smfparse.writing.formats import FILE_FORMATS
from smfparse.writing.writers import write_files
from tests.support.datasets import convert, read_manifest
from tests.support.paths import SMF
from tests.support.searching import LONG, of_many

pytestmark = pytest.mark.slow
EVERY = sorted({*FILE_FORMATS, DUCKDB})
TABLES = ("wqst", "record", "qjst", "wtas_cf", "damage")
"""Tables of which every value is compared; the last has no rows."""


@pytest.fixture(scope="module")
def written(whole_dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder for each form: with every table for two of these, with a few for others."""
    place = tmp_path_factory.mktemp("written")
    rows = sum(read_manifest(whole_dataset)["tables"].values())
    for form in FILE_FORMATS:
        tables = table_names() if form in ("csv", "parquet") else [*TABLES]
        some = [] if len(tables) > len(TABLES) else ["--table", ",".join(TABLES)]
        said = convert(SMF, "--to", place / form, "--format", form, *some).stderr
        assert some or f"{place / form}: {rows:,} rows in " in said
        names = {f"{table}.{form}" for table in tables}
        assert {each.name for each in (place / form).iterdir()} == names
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


@pytest.mark.parametrize("table", TABLES)
def test_files_have_the_values(table: str, written: dict[str, Path]) -> None:
    """Events have a time, and no values that are not there."""
    whole = open_inputs([SMF]).arrow(table)
    numbers = {each.name for each in whole.schema if pa.types.is_floating(each.type)}
    csv, lines, events = (text_in_both(written, table, form) for form in ("csv", "jsonl", "ndjson"))
    frame = pl.read_csv(csv.encode(), schema_overrides=dict.fromkeys(whole.column_names, pl.String))
    assert frame.columns == whole.column_names
    for wanted, cells, line, event in zip(
        whole.to_pylist(), frame.to_dicts(), lines.splitlines(), events.splitlines(), strict=True
    ):
        row, found = json.loads(line), json.loads(event)
        assert list(row) == whole.column_names
        for name, value in wanted.items():
            cell, number = cells[name] or None, name in numbers
            read_cell = cell and float(cell) if number else cell
            assert read_cell == (value if number else as_text(value)), name
            assert is_in_json(row[name], value, wanted.get("utc_offset")), name
        assert found.pop("table") == table
        assert moment_of(wanted) == found.pop("@timestamp", None)
        assert found == {name: value for name, value in row.items() if wanted[name] is not None}
    with pa.ipc.open_file(written["arrow"] / f"{table}.arrow") as file:
        arrow = file.read_all()
    for rows in (arrow, pq.read_table(written["parquet"] / f"{table}.parquet")):
        assert rows.equals(whole)
        assert rows.schema.equals(whole.schema, check_metadata=True)


def moment_of(row: Mapping[str, Any]) -> str | None:
    """Return when MQ captured the data of a row, or SMF took the record, if that is known."""
    moment = row["time"]
    if moment is None and row["utc_offset"] is not None:
        moment = row["smf_time"] - dt.timedelta(seconds=row["utc_offset"])
    return None if moment is None else f"{moment:%Y-%m-%dT%H:%M:%S.%fZ}"


def is_in_json(found: Any, value: Any, offset: int | None) -> bool:
    """Whether a value is exact in JSON, and a local time has the offset of its row."""
    if isinstance(value, dt.datetime):
        zone = value.tzinfo or (offset is not None and dt.timezone(dt.timedelta(seconds=offset)))
        return dt.datetime.fromisoformat(found) == value.replace(tzinfo=zone or None)
    is_long = isinstance(value, int) and abs(value) > 2**53
    is_plain = isinstance(value, int | float | str | None) and not is_long
    return bool(found == (value if is_plain else str(value)))


def test_row_groups_of_parquet_are_as_long_as_the_limits_allow(tmp_path: Path) -> None:
    inputs = open_inputs([SMF], ReadOptions(limits=Limits(group_rows=7)))
    rows = write_files(inputs, tmp_path, "parquet", {"wqst": None})["wqst"]
    assert pq.read_metadata(tmp_path / "wqst.parquet").num_row_groups == -(-rows // 7) > 1


@pytest.mark.parametrize("form", EVERY)
def test_tables_and_columns_are_chosen(form: str, tmp_path: Path) -> None:
    target, chosen = tmp_path / "out", ("--columns", "qmgr,putn", "--columns", "wtasstrt")
    convert(SMF, "--to", target, "--format", form, "--table", "wqst,WTAS", *chosen)
    more = ["table"] if form.startswith("ndjson") else []
    wanted = {"wqst": [*more, "qmgr", "putn"], "wtas": [*more, "qmgr", "wtasstrt"]}
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
    assert {*(tmp_path / "out" / "record.csv").read_text().splitlines()} == {"source", "'=1+1.smf"}


def test_a_selection_and_a_dataset_go_in_and_bytes_are_the_same_each_time(
    whole_dataset: Path, written: dict[str, Path], tmp_path: Path
) -> None:
    for number, source in enumerate((SMF, whole_dataset)):
        done = tmp_path / str(number)
        convert(source, "--to", done, "--format", "csv.gz", "--type", "116", "--table", "record")
    found, other = ((tmp_path / each / "record.csv.gz").read_bytes() for each in "01")
    assert found == other
    whole = (written["csv"] / "record.csv").read_text()
    assert 1 < len(gzip.decompress(found).splitlines()) < len(whole.splitlines())


def test_a_database_has_every_table_and_view_with_its_description(tmp_path: Path) -> None:
    """Byte 12 of the file is its version: 64 to 68 are those of DuckDB 1, which all read.

    Rows of views are compared in test_readers.py.
    """
    path = tmp_path / "X.DUCKDB"
    convert(SMF, "--to", path)
    head = path.read_bytes()[:20]
    assert (head[8:12], int.from_bytes(head[12:20], "little") <= 68) == (b"DUCK", True)
    with duckdb.connect(path, read_only=True) as database, Catalog(open_inputs([SMF])) as catalog:
        database.execute("SET TimeZone = 'UTC'")
        queries = [f"FROM {table}" for table in table_names()]
        queries += [f"SELECT count(*) AS n FROM {name}" for name in views.view_names()[::8]]
        for query, whole in zip(queries, catalog.arrows(queries), strict=True):
            assert database.sql(query).to_arrow_table().equals(whole), query
        said = database.sql("SELECT table_name, comment FROM duckdb_tables()").fetchall()
        assert dict(said) == {table: title(table) for table in table_names()}
        of_column = "FROM duckdb_columns() SELECT table_name, column_name, comment"
        meaning = "Time the log writer had nothing to do (microseconds)"
        assert ("qjst", "qjstslptu", meaning) in database.sql(of_column).fetchall()
        found = database.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
        assert {name for (name,) in found} >= {*views.view_names()}
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


@of_many("form", (*EVERY, *STYLES) if LONG else ("csv", DUCKDB, *STYLES))
def test_a_target_is_whole_and_replaced_only_by_force(form: str, tmp_path: Path) -> None:
    """Whatever is refused, interrupted or strictly read leaves it as it was."""
    target, cut, mine = tmp_path / "out", tmp_path / "cut.smf", tmp_path / "mine" / "letter.txt"
    cut.write_bytes(SMF.read_bytes()[:-7])
    mine.parent.mkdir()
    mine.write_text("mine")
    few, other = (["--format", form, "--table", table] for table in ("qjst", "qmst"))
    assert "the file is truncated" in convert(cut, "--to", target, *few, code=4).stderr
    before = content(target)
    assert "--force" in convert(SMF, "--to", target, *other, code=2).stderr
    convert(cut, "--to", target, *other, "--force", "--strict", code=8)
    batches = Inputs.batches

    def stopping(self: Inputs, wanted: Any) -> Iterator[Any]:
        yield from list(batches(self, wanted))[:2]
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Inputs, "batches", stopping)
        convert(SMF, "--to", target, *other, "--force", code=130)
    assert content(target) == before
    convert(SMF, "--to", target, *other, "--force")
    assert content(target) != before
    for place in [mine.parent] if form == DUCKDB else [mine.parent, mine]:
        convert(SMF, "--to", place, *few, "--force", code=2)
    assert mine.read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"out", "cut.smf", "mine"}


def test_the_target_stays_a_link_or_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert (other.is_symlink(), database.read_bytes()[8:12]) == (True, b"DUCK")


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
        "--format mq-smf-csv --append",
    ],
    "mq-smf-csv has no file of the table wtas_latch; it has files of": [
        "--format mq-smf-csv --table wtas_latch"
    ],
    "the columns of mq-smf-csv are fixed": ["--format mq-smf-csv --columns qmgr"],
    "nothing": ["--format csv --table nothing", "--format csv --columns nothing"],
    "putn": ["--format csv --table qjst --columns putn"],
    'sql INPUT "FROM task" --format csv --output task.csv': ["--format csv --table task"],
    "xml": ["--format xml"],
}


def test_a_wrong_call_ends_with_2_and_writes_nothing(tmp_path: Path) -> None:
    assert set(TARGET_FORMATS) == {DATASET, DUCKDB, *FILE_FORMATS, *STYLES}
    for said, calls in WRONG.items():
        for call in calls:
            done = convert(SMF, "--to", tmp_path / "out", *call.split(), code=2)
            assert said in " ".join(done.stderr.split()), call
            assert not (tmp_path / "out").exists()
