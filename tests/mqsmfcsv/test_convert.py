"""convert --format mq-smf-csv: its other options, damage, harm in names, and datasets as inputs."""

from __future__ import annotations

import csv
import io
import re
import time
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from smfparse.inputs.opening import open_inputs
from smfparse.mqsmfcsv.declared import KEYS, sheets
from smfparse.mqsmfcsv.files import Beside
from smfparse.rendering.figures import FORMULA_START
from smfparse.writing.dataset import write_dataset
from tests.mqsmfcsv.sheets import read_file, read_lines
from tests.support import datasets
from tests.support.builders import Write
from tests.support.datasets import files_below
from tests.support.generated import generate_dump
from tests.support.hostile import hostile_dump, raw
from tests.support.smf import block, queue, record, task, task_record, who

pytestmark = pytest.mark.slow

CSV, SQL = "mq-smf-csv", "mq-smf-sql"
FILES_OF_SMF = {each.file for each in sheets()}


def convert(*arguments: object, form: str = CSV, **how: Any) -> str:
    return datasets.convert(*arguments, "--format", form, **how).stderr


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dump that has rows for every file, of two queue managers over midnight."""
    folder = tmp_path_factory.mktemp("dump")
    return generate_dump(folder / "dump.smf", version="10.0.0", count=1, tasks=4)


@pytest.fixture(scope="module")
def written(dump: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written") / "out"
    said = convert(dump, "--to", folder)
    rows = sum(len(read_file(each).rows) for each in folder.glob("*.csv"))
    assert f"{rows:,} rows in {len(FILES_OF_SMF)} tables" in said
    assert {each.name for each in folder.iterdir()} == FILES_OF_SMF | {"MQTABLES.ddl"}
    return folder


def test_records_of_standard_input_are_selected_wherever_the_workstation_is(
    dump: Path, written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "America/Chicago")
        time.tzset()
        convert("-", "--to", tmp_path, "--qmgr", "QM02", stdin=dump.read_bytes())
    time.tzset()
    for file in FILES_OF_SMF:
        whole, some = read_file(written / file), read_file(tmp_path / file)
        assert some.rows == [each for each in whole.rows if each[3] == '"QM02"']
        assert 0 < len(some.rows) < len(whole.rows)


def test_a_dataset_gives_the_rows_of_its_files(dump: Path, tmp_path: Path) -> None:
    """Alone and divided, or beside a file."""
    few = ("--table", "wqst,wtas,qjst,qcst")
    other = generate_dump(tmp_path / "other.smf", version="9.3.0", count=1, qmgrs=["QM03", "QM01"])
    convert(dump, other, "--to", tmp_path / "files", *few)
    wanted = files_below(tmp_path / "files")
    write_dataset(open_inputs([dump, other]), tmp_path / "one", partition=True)
    write_dataset(open_inputs([other]), tmp_path / "two")
    convert(tmp_path / "one", "--to", tmp_path / "divided", *few)
    convert(dump, tmp_path / "two", "--to", tmp_path / "mixed", *few)
    assert files_below(tmp_path / "mixed") == wanted
    divided = files_below(tmp_path / "divided")
    assert divided.keys() == wanted.keys()
    for name, data in wanted.items():
        assert sorted(divided[name].splitlines()) == sorted(data.splitlines()), name


def _keys(first: int, last: int) -> pl.DataFrame:
    numbers = [[f"part{number // 4}.smf", number % 4, 1] for number in range(first, last)]
    return pl.DataFrame(numbers, schema=list(KEYS), orient="row")


def test_entries_are_read_no_further_than_the_blocks() -> None:
    read = []

    def found() -> object:
        for first in range(0, 12, 3):
            read.append(first)
            yield _keys(first, first + 3).with_columns(entry=pl.lit(first))

    beside = Beside(found())  # type: ignore[arg-type]
    assert read == [0]
    for first, last, column, values, so_far in (
        (0, 2, "row", [0, 1], [0]),
        (2, 7, "row", [0, 1, 2, 3, 4], [0, 3, 6]),
        (7, 12, "entry", [6, 6, 9, 9, 9], [0, 3, 6, 9]),
    ):
        assert beside.of(_keys(first, last).with_row_index("row"))[column].to_list() == values
        assert read == so_far
    assert beside.of(_keys(7, 12).with_row_index("row")) is None


def test_entries_in_another_order_are_not_lost_in_silence(dump: Path, tmp_path: Path) -> None:
    orphans = _keys(0, 3).cast({"block_no": pl.Int32})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("smfparse.mqsmfcsv.files._beside", lambda *_: Beside([orphans]))
        said = convert(dump, "--to", tmp_path / "out", "--table", "wqst", code=8)
    assert "rows of wqst_cf are in another order than those of wqst" in said
    assert not (tmp_path / "out").exists()


# -- defects that the real files do not show


def test_values_of_defects_are_under_their_headings(write: Write, tmp_path: Path) -> None:
    """Nonpersistent messages, a wait for buffers that is whole, a data set that is encrypted."""
    counts = {"qqstnpdg": 11, "qqstpdg": 22, "qqstnpbr": 33, "qqstpbr": 44}
    data = bytearray(block("QESD", 336, qesdbfbt=5_000_000_123, qesdflag=["QESDENCF"]))
    path = write(record(block("QQST", 552, **counts)), record(bytes(data)))
    convert(path, "--to", tmp_path / "out", "--table", "qqst,qesd")
    found = read_file(tmp_path / "out" / "SMF-QQST.csv")
    for heading, value in (("Get_P", 22), ("Get_NP", 11), ("Browse_P", 44), ("Browse_NP", 33)):
        assert found.column(heading) == [str(value)]
    found = read_file(tmp_path / "out" / "SMF-QESD.csv")
    assert found.column("Buffer_Wait_Time") == ["5000000123"]
    assert found.column("Encrypted") == ['"Yes"']


def test_great_numbers_are_whole_and_nothing_in_a_bigint(write: Write, tmp_path: Path) -> None:
    path = write(record(block("QQST", 552, qqstputs=2**64 - 1, qqstput1=2**63 - 1)))
    for form in (CSV, SQL):
        convert(path, "--to", tmp_path / form, "--table", "qqst", form=form)
    headings, cells = read_lines(tmp_path / CSV / "SMF-QQST.csv")
    (row,) = read_lines(tmp_path / SQL / "SMF-QQST.csv")
    at = headings.index("Put")
    assert cells[at : at + 2] == [str(2**64 - 1), str(2**63 - 1)]
    assert row[at : at + 2] == ["", str(2**63 - 1)]


# -- harm


def test_no_cell_harms_a_spreadsheet_or_a_terminal(tmp_path: Path) -> None:
    convert(hostile_dump(tmp_path / "hostile.smf"), "--to", tmp_path / "out")
    for file in (tmp_path / "out").glob("*.csv"):
        assert raw(file.read_text("utf-8")) == []
        for row in csv.reader(io.StringIO(file.read_text("utf-8"))):
            formulas = [each for each in row if re.match(FORMULA_START, each)]
            assert all(each.strip().lstrip("-").isdecimal() for each in formulas), formulas


def test_a_formula_is_guarded_and_a_quote_doubled(write: Write, tmp_path: Path) -> None:
    path = write(task_record(task(), queue('=1+1"'), by=who("@SUM(A1)")))
    convert(path, "--to", tmp_path / "out")
    assert _tables(tmp_path / "out").keys() == {"WQ", "WTAS", "WTID"}
    queues, names = (read_file(tmp_path / "out" / f"SMF-{name}.csv") for name in ("WQ", "WTID"))
    assert queues.column("Open_Name")[0].startswith('"\'=1+1"" ')
    assert names.column("Connection_Name") == ['"\'@SUM(A1)"']
    convert(path, "--to", tmp_path / "sql", "--table", "wqst", form=SQL)
    assert '"=1+1""' in (tmp_path / "sql" / "SMF-WQ.csv").read_text()


# -- Db2


def _tables(folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Return the columns of each table of the DDL, by DuckDB: it knows the same types."""
    ddl = (folder / "MQTABLES.ddl").read_text().replace("DROP TABLE ", "DROP TABLE IF EXISTS ")
    quoted = re.sub(r"(?m)^(  |, )(\w+) ", r'\1"\2" ', ddl)  # Db2 reserves no name, DuckDB does
    found: dict[str, list[tuple[str, str]]] = {}
    with duckdb.connect() as database:
        database.execute(f"CREATE SCHEMA mqsmf; {quoted}")
        rows = database.sql(
            "SELECT table_name, column_name, data_type FROM duckdb_columns() "
            "WHERE schema_name = 'mqsmf' ORDER BY table_name, column_index"
        )
        for table, column, kind in rows.fetchall():
            found.setdefault(table, []).append((column, kind))
    return found


def _name_in_db2(heading: str) -> str:
    """Return what mq-smf-csv calls a column in Db2."""
    for ending, end in ((" (DATE)", "_Date"), (" (TIME)", "_Time"), ("(US)", "_US")):
        heading = re.sub(f"{re.escape(ending)}$", end, heading)
    return re.sub(r"[ (){}._]+", "_", heading).rstrip("_")


def test_tables_of_the_ddl_have_the_columns_of_the_files(written: Path) -> None:
    """Those that link tasks have an index."""
    tables = _tables(written)
    assert {f"SMF-{table}.csv" for table in tables} == FILES_OF_SMF
    for table, columns in tables.items():
        headings = read_file(written / f"SMF-{table}.csv").headings
        assert [name for name, _ in columns] == [*map(_name_in_db2, headings)], table
        assert {kind for name, kind in columns if re.search("(^|_)Date$", name)} == {"DATE"}
    ddl = (written / "MQTABLES.ddl").read_text()
    assert re.findall(r"^CREATE INDEX \w+ ON MQSMF\.(.*);$", ddl, re.M) == [
        *("WQ(Correlation)", "WQ(Base_Name)", "WTAS(Correl)", "WTID(WTAS_Correlator)")
    ]


def test_a_database_loads_the_files_of_its_form(dump: Path, written: Path, tmp_path: Path) -> None:
    """Lengths of time are microseconds, where the other form has seconds and the rest."""
    convert(dump, "--to", tmp_path, form=SQL)
    tables = _tables(tmp_path)
    assert {f"SMF-{table}.csv" for table in tables} == FILES_OF_SMF
    for table, columns in tables.items():
        names = ", ".join(f"'{name}': '{kind}'" for name, kind in columns)
        rows = duckdb.sql(
            f"FROM read_csv('{tmp_path}/SMF-{table}.csv', header = false, auto_detect = false, "
            f"delim = ',', quote = '\"', columns = {{{names}, 'end': 'VARCHAR'}})"
        ).pl()
        whole = read_file(written / f"SMF-{table}.csv")
        assert rows["Date"].dt.strftime('"%Y/%m/%d"').to_list() == whole.column("Date")
        lengths = [name for name, _ in columns if name.endswith("_us")]
        seconds = [number for number, each in enumerate(whole.headings) if each.endswith("(S)")]
        for name, at in zip(lengths, seconds, strict=True):
            expected = [
                None if not each[at] else 1_000_000 * int(each[at]) + int(each[at + 1])
                for each in whole.rows
            ]
            assert rows[name].to_list() == expected, name
