"""convert --format mq-smf-csv: its other options, damage, harm in names, and datasets as inputs."""

from __future__ import annotations

import csv
import io
import re
import struct
import time
from pathlib import Path

import duckdb
import polars as pl
import pytest

from smfparse.inputs import ReadOptions, open_inputs
from smfparse.limits import Limits
from smfparse.mqsmfcsv import sheets, write_sheets
from smfparse.mqsmfcsv.beside import Beside
from smfparse.mqsmfcsv.declared import KEYS
from smfparse.rendering.guard import FORMULA_START
from tests.mqsmfcsv.sheets import plain, read_file, read_lines
from tests.support.builders import Write
from tests.support.command import run
from tests.support.generated import generate_dump
from tests.support.hostile import hostile_dump, raw
from tests.support.smf import (
    block,
    queue,
    record,
    task,
    task_record,
    who,
)
from tests.support.variants import read_rdw

pytestmark = pytest.mark.slow

CSV, SQL = "mq-smf-csv", "mq-smf-sql"
FILES_OF_SMF = {each.file for each in sheets()}


def convert(*arguments: object, code: int = 0, form: str = CSV) -> str:
    done = run("convert", *arguments, "--format", form)
    assert done.exit_code == code, done.output
    assert done.stdout == ""
    return done.stderr


def contents(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir()}


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dump that has rows for every file, of two queue managers over midnight."""
    folder = tmp_path_factory.mktemp("dump")
    return generate_dump(folder / "dump.smf", version="10.0.0", count=2, tasks=8)


@pytest.fixture(scope="module")
def written(dump: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is written of it."""
    folder = tmp_path_factory.mktemp("written") / "out"
    convert(dump, "--to", folder)
    return folder


# -- what is written where


def test_rows_are_counted(written: Path, dump: Path, tmp_path: Path) -> None:
    said = convert(dump, "--to", tmp_path / "out")
    rows = sum(len(read_file(each).rows) for each in written.glob("*.csv"))
    assert f"{rows:,} rows in {len(FILES_OF_SMF)} tables" in said
    assert {each.name for each in written.iterdir()} == FILES_OF_SMF | {"MQTABLES.ddl"}


OPTIONS = "--append, --partition, --types and --executor are for a dataset"
REFUSED = {
    "--table wtas_latch": "mq-smf-csv has no file of the table wtas_latch; it has files of",
    "--append": OPTIONS,
    "--partition": OPTIONS,
    "--columns qmgr": "the columns of mq-smf-csv are fixed; leave --columns out",
}


def test_options_that_make_no_sense_are_refused(dump: Path, tmp_path: Path) -> None:
    for options, message in REFUSED.items():
        assert message in convert(dump, "--to", tmp_path / "out", *options.split(), code=2)
        assert not (tmp_path / "out").exists()


def test_a_folder_with_files_is_replaced_only_by_force(dump: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    convert(dump, "--to", folder)
    assert "--force" in convert(dump, "--to", folder, "--table", "qmst", code=2)
    convert(dump, "--to", folder, "--table", "qmst", "--force")
    assert set(contents(folder)) == {"SMF-QMST.csv", "MQTABLES.ddl"}
    assert contents(folder)["MQTABLES.ddl"].count(b"CREATE TABLE") == 1
    (folder / "notes.txt").write_text("mine")
    assert "the folder has other files" in convert(dump, "--to", folder, "--force", code=2)


def test_what_fails_leaves_what_was_there(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"
    convert(dump, "--to", folder, "--table", "qmst")
    before = contents(folder)

    def full(*arguments: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("smfparse.mqsmfcsv.files.ddl", full)
    assert "No space left" in convert(dump, "--to", folder, "--force", code=8)
    assert contents(folder) == before


def test_records_are_selected(dump: Path, written: Path, tmp_path: Path) -> None:
    convert(dump, "--to", tmp_path / "out", "--qmgr", "QM02")
    for file in ("SMF-QMST.csv", "SMF-WTAS.csv", "SMF-WTID.csv"):
        whole, some = read_file(written / file), read_file(tmp_path / "out" / file)
        assert some.rows == [each for each in whole.rows if each[3] == '"QM02"']
        assert 0 < len(some.rows) < len(whole.rows)
    said = convert(dump, "--to", tmp_path / "none", "--qmgr", "ZZ*", code=8)
    assert "no records match qmgr ZZ*" in said
    assert not (tmp_path / "none").exists()


def test_damage_is_reported_and_the_rest_written(dump: Path, written: Path, tmp_path: Path) -> None:
    records = [struct.pack(">HH", len(each) + 4, 0) + each for each in read_rdw(dump.read_bytes())]
    middle = len(records) // 2
    cut = tmp_path / "cut.smf"
    cut.write_bytes(b"".join([*records[:middle], bytes(4000), *records[middle + 1 :]]))
    assert "cut.smf" in convert(cut, "--to", tmp_path / "out", code=4)
    whole, found = (
        [row for name in FILES_OF_SMF for row in read_file(folder / name).rows]
        for folder in (written, tmp_path / "out")
    )
    assert 0.5 * len(whole) < len(found) < len(whole)
    assert {tuple(each) for each in found} <= {tuple(each) for each in whole}
    assert "--strict" not in convert(cut, "--to", tmp_path / "s", "--strict", code=8)
    assert not (tmp_path / "s").exists()


# -- inputs of all kinds, and a little at a time


def test_standard_input_gives_the_same_wherever_the_workstation_is(
    dump: Path, written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "America/Chicago")
        time.tzset()
        done = run(
            "convert", "-", "--to", tmp_path / "out", "--format", CSV, stdin=dump.read_bytes()
        )
    time.tzset()
    assert done.exit_code == 0, done.output
    assert contents(tmp_path / "out") == contents(written)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("partition", [[], ["--partition"]])
def test_a_dataset_gives_the_rows_of_its_files(
    partition: list[str], dump: Path, tmp_path: Path
) -> None:
    other = generate_dump(tmp_path / "other.smf", version="9.3.0", count=1, qmgrs=["QM03", "QM01"])
    dataset = tmp_path / "dataset"
    for each, more in ((dump, []), (other, ["--append"])):
        done = run("convert", each, "--to", dataset, *partition, *more)
        assert done.exit_code == 0, done.output
    convert(dataset, "--to", tmp_path / "from-dataset")
    convert(dump, other, "--to", tmp_path / "from-files")
    if not partition:
        assert run("convert", other, "--to", tmp_path / "one").exit_code == 0
        convert(dump, tmp_path / "one", "--to", tmp_path / "mixed")
        assert contents(tmp_path / "mixed") == contents(tmp_path / "from-files")
    for name in FILES_OF_SMF:
        ours, theirs = (
            read_file(tmp_path / folder / name) for folder in ("from-dataset", "from-files")
        )
        assert ours.headings == theirs.headings
        if partition:
            assert sorted(ours.rows) == sorted(theirs.rows), name
        else:
            assert ours.rows == theirs.rows, name


@pytest.mark.long
def test_files_do_not_depend_on_how_much_is_read_at_once(
    dump: Path, written: Path, tmp_path: Path
) -> None:
    """Small batches, and tables that wait."""
    for bytes_, cells in ((1 << 15, 1 << 9), (1, 1 << 22)):
        limits = Limits(1 << 16, max_spanned=1 << 15, epoch_bytes=bytes_, epoch_cells=cells)
        inputs = open_inputs([dump], ReadOptions(limits=limits))
        write_sheets(inputs, tmp_path / f"{cells}", CSV)
        assert contents(tmp_path / f"{cells}") == contents(written)


def _keys(first: int, last: int) -> pl.DataFrame:
    numbers = [[f"part{number // 4}.smf", number % 4, 1] for number in range(first, last)]
    return pl.DataFrame(numbers, schema=list(KEYS), orient="row")


ORPHANS = _keys(0, 3).cast({"block_no": pl.Int32})


def test_entries_are_read_no_further_than_the_blocks() -> None:
    read = []

    def found() -> object:
        for first in range(0, 12, 3):
            read.append(first)
            yield _keys(first, first + 3).with_columns(entry=pl.lit(first))

    beside = Beside(found())  # type: ignore[arg-type]
    assert read == [0]
    assert beside.of(_keys(0, 2).with_row_index("row"))["row"].to_list() == [0, 1]
    assert read == [0]
    assert beside.of(_keys(2, 7).with_row_index("row"))["row"].to_list() == [0, 1, 2, 3, 4]
    assert read == [0, 3, 6]
    assert beside.of(_keys(7, 12).with_row_index("row"))["entry"].to_list() == [6, 6, 9, 9, 9]
    assert beside.of(_keys(7, 12).with_row_index("row")) is None


def test_entries_in_another_order_are_not_lost_in_silence(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smfparse.mqsmfcsv.files._beside", lambda *_: Beside([ORPHANS]))
    said = convert(dump, "--to", tmp_path / "out", "--table", "wqst", code=8)
    assert "rows of wqst_cf are in another order than those of wqst" in said
    assert not (tmp_path / "out").exists()


# -- tasks: their token, latches and CF requests


# -- defects that the real files do not show


def test_values_of_defects_are_under_their_headings(write: Write, tmp_path: Path) -> None:
    """Nonpersistent messages, a wait for buffers that is whole, a data set that is encrypted."""
    counts = {"qqstnpdg": 11, "qqstpdg": 22, "qqstnpbr": 33, "qqstpbr": 44}
    data = bytearray(block("QESD", 336, qesdbfbt=5_000_000_123, qesdflag=["QESDENCF"]))
    path = write(record(block("QQST", 552, **counts)), record(bytes(data)))
    convert(path, "--to", tmp_path / "out")
    found = read_file(tmp_path / "out" / "SMF-QQST.csv")
    for heading, value in (("Get_P", 22), ("Get_NP", 11), ("Browse_P", 44), ("Browse_NP", 33)):
        assert found.column(heading) == [str(value)]
    found = read_file(tmp_path / "out" / "SMF-QESD.csv")
    assert found.column("Buffer_Wait_Time") == ["5000000123"]
    assert found.column("Encrypted") == ['"Yes"']


def test_great_numbers_are_whole_and_nothing_in_a_bigint(write: Write, tmp_path: Path) -> None:
    path = write(record(block("QQST", 552, qqstputs=2**64 - 1, qqstput1=2**63 - 1)))
    for form, puts in ((CSV, str(2**64 - 1)), (SQL, "")):
        convert(path, "--to", tmp_path / form, form=form)
        cells = read_lines(tmp_path / form / "SMF-QQST.csv")[-1]
        at = headings_of("QQST", tmp_path / CSV).index("Put")
        assert cells[at : at + 2] == [puts, str(2**63 - 1)]


def headings_of(name: str, folder: Path) -> list[str]:
    return read_lines(folder / f"SMF-{name}.csv")[0]


# -- harm


def test_no_cell_harms_a_spreadsheet_or_a_terminal(tmp_path: Path) -> None:
    dump = hostile_dump(tmp_path / "hostile.smf")
    convert(dump, "--to", tmp_path / "out")
    for file in (tmp_path / "out").glob("*.csv"):
        assert raw(file.read_text("utf-8")) == []
        for row in csv.reader(io.StringIO(file.read_text("utf-8"))):
            assert not [each for each in row if re.match(FORMULA_START, each) and not _number(each)]


def _number(cell: str) -> bool:
    return cell.strip().lstrip("-").isdecimal()


def test_a_formula_is_guarded_and_a_quote_doubled(write: Write, tmp_path: Path) -> None:
    path = write(task_record(task(), queue('=1+1"'), by=who("@SUM(A1)")))
    convert(path, "--to", tmp_path / "out")
    queues, names = (read_file(tmp_path / "out" / f"SMF-{name}.csv") for name in ("WQ", "WTID"))
    assert plain(queues.column("Open_Name")[0]) == "'=1+1\""
    assert names.column("Connection_Name") == ['"\'@SUM(A1)"']
    convert(path, "--to", tmp_path / "sql", form=SQL)
    assert '"=1+1""' in (tmp_path / "sql" / "SMF-WQ.csv").read_text()


# -- Db2


def _tables(ddl: str) -> dict[str, list[tuple[str, str]]]:
    """Return the columns of each table of some DDL, by DuckDB: it knows the same types."""
    database = duckdb.connect()
    database.execute("CREATE SCHEMA mqsmf")
    statements = [each.strip() for each in ddl.split(";") if each.strip()]
    for each in statements:
        if each.startswith("DROP TABLE "):
            database.execute(each.replace("DROP TABLE ", "DROP TABLE IF EXISTS "))
        else:
            database.execute(_quoted_columns(each))
    found: dict[str, list[tuple[str, str]]] = {}
    rows = database.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() "
        "WHERE schema_name = 'mqsmf' ORDER BY table_name, column_index"
    ).fetchall()
    for table, column, kind in rows:
        found.setdefault(table, []).append((column, kind))
    return found


def _quoted_columns(statement: str) -> str:
    """Put names of columns in quotes: Db2 reserves none of them, DuckDB does."""
    return re.sub(r"(?m)^(  |, )(\w+) ", r'\1"\2" ', statement)


def _names_of(headings: list[str]) -> list[str]:
    """Return what mq-smf-csv calls columns in Db2."""
    found = []
    for each in headings:
        name = each
        for ending, end in ((" (DATE)", "_Date"), (" (TIME)", "_Time"), ("(US)", "_US")):
            if each.endswith(ending):
                name = each.removesuffix(ending) + end
        for letter in " (){}.":
            name = name.replace(letter, "_")
        while "__" in name:
            name = name.replace("__", "_")
        found.append(name.rstrip("_"))
    return found


def test_tables_of_the_ddl_have_the_columns_of_the_files(written: Path) -> None:
    tables = _tables((written / "MQTABLES.ddl").read_text())
    assert len(tables) == len(FILES_OF_SMF)
    for table, columns in tables.items():
        headings = headings_of(table, written)
        assert [name for name, _ in columns] == _names_of(headings), table
        kinds = dict(columns)
        assert kinds["Date"] == "DATE"
        assert {kinds[name] for name in kinds if name.endswith("_Date")} <= {"DATE"}


def test_a_database_loads_the_files_of_its_form(dump: Path, written: Path, tmp_path: Path) -> None:
    convert(dump, "--to", tmp_path / "out", form=SQL)
    tables = _tables((tmp_path / "out" / "MQTABLES.ddl").read_text())
    assert set(tables) == {each.name for each in sheets()}
    for table, columns in tables.items():
        names = ", ".join(f"'{name}': '{kind}'" for name, kind in columns)
        file = tmp_path / "out" / f"SMF-{table}.csv"
        rows = duckdb.sql(
            f"FROM read_csv('{file}', header = false, auto_detect = false, delim = ',', "
            f"quote = '\"', columns = {{{names}, 'end': 'VARCHAR'}})"
        ).pl()
        whole = read_file(written / f"SMF-{table}.csv")
        assert rows.height == len(whole.rows)
        assert rows["Date"].dt.strftime('"%Y/%m/%d"').to_list() == whole.column("Date")
        _check_microseconds(rows, columns, whole.headings, whole.rows)


def _check_microseconds(
    rows: pl.DataFrame, columns: list[tuple[str, str]], headings: list[str], whole: list[list[str]]
) -> None:
    """Lengths of time are microseconds, where the other form has seconds and the rest."""
    lengths = [name for name, _ in columns if name.endswith("_us")]
    seconds = [number for number, each in enumerate(headings) if each.endswith("(S)")]
    assert len(lengths) == len(seconds)
    for name, at in zip(lengths, seconds, strict=True):
        expected = [
            None if not each[at] else 1_000_000 * int(each[at]) + int(each[at + 1])
            for each in whole
        ]
        assert rows[name].to_list() == expected, name


def test_columns_that_link_tasks_have_an_index(written: Path) -> None:
    ddl = (written / "MQTABLES.ddl").read_text()
    assert re.findall(r"^CREATE INDEX \w+ ON MQSMF\.(.*);$", ddl, re.M) == [
        *("WQ(Correlation)", "WQ(Base_Name)", "WTAS(Correl)", "WTID(WTAS_Correlator)")
    ]
