"""smfparse sql: queries as arguments, in files, on standard input and at a prompt."""

from __future__ import annotations

import datetime as dt
import io
import json
import os
import re
import subprocess
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from smfparse.decoding.arrow import Wanted
from smfparse.decoding.dictionary import columns
from smfparse.inputs.opening import Inputs, open_inputs
from smfparse.inspecting.described import description
from smfparse.metrics import views
from smfparse.metrics.views import relations
from smfparse.query import prompt as console
from smfparse.query.catalog import Catalog
from smfparse.query.prompt import HELP, Console, Shell, SqlCompleter, View, is_whole
from smfparse.query.statements import hinted, is_complete
from smfparse.rendering import formats
from smfparse.rendering.formats import FORMATS
from smfparse.rendering.rows import RowsDocument
from tests.support import command
from tests.support.builders import put
from tests.support.paths import FIXTURES
from tests.support.paths import SMF as DUMP
from tests.support.searching import some

pytestmark = pytest.mark.slow

OTHER = FIXTURES / "qm60.smf"
ONE, TWO = "SELECT count(*) AS one FROM record", "SELECT DISTINCT qmgr AS two FROM wtas"
SCRIPT = f"-- naïve; really\nSET VARIABLE name = 'wt;as';\n{ONE} ;\n\n{TWO}; -- the end;\n"


run = partial(command.run, "sql")
clean = partial(command.printed, "sql")
in_json = partial(command.in_json, "sql")


def test_a_script_gives_the_rows_of_each_statement(tmp_path: Path) -> None:
    script = tmp_path / "script.sql"
    script.write_text(SCRIPT, encoding="utf-8")
    first, second = clean(DUMP, ONE), clean(DUMP, TWO)
    assert clean(DUMP, "--file", script) == f"{first}\n{second}"
    assert clean(DUMP, stdin=SCRIPT) == f"{first}\n{second}"
    assert clean(DUMP, SCRIPT.partition("\n")[2]) == f"{first}\n{second}"
    found = clean(DUMP, "--format", "json", stdin=SCRIPT).splitlines()
    assert [list(json.loads(line)[0]) for line in found] == [["one"], ["two"]]
    output = tmp_path / "rows.csv"
    clean(DUMP, "--file", script, "--format", "csv", "--output", output)
    assert output.read_text() == clean(DUMP, "--format", "csv", stdin=SCRIPT)


def test_a_statement_that_fails_ends_a_script(tmp_path: Path) -> None:
    """Nothing runs of one that cannot be read."""
    script = f"{ONE}; SELECT putnn FROM wqst; {TWO}"
    result = run(DUMP, script)
    assert (result.exit_code, result.stdout) == (2, clean(DUMP, ONE))
    assert result.stderr.startswith("smfparse: statement 2 of 3: Binder Error")
    assert run(DUMP, script, "--output", tmp_path / "rows.txt").exit_code == 2
    assert list(tmp_path.iterdir()) == []
    result = run(DUMP, f"{ONE}; SELEC 1")
    assert (result.exit_code, result.stdout, "SELEC" in result.stderr) == (2, "", True)


def test_without_a_query_in_utf_8_the_call_is_wrong(tmp_path: Path) -> None:
    odd = put(tmp_path / "odd.sql", b"SELECT '\xff'")
    for arguments, stdin, said in (
        ([DUMP], b"", "no query: "),
        ([DUMP], b" \n", "no query: "),
        (["-"], DUMP.read_bytes(), "no query: "),
        ([DUMP, " "], b"", "no query: "),
        ([DUMP, "--file", os.devnull], b"", "no query: "),
        ([DUMP], odd.read_bytes(), "standard input: not UTF-8 text"),
        ([DUMP, "--file", odd], b"", f"{odd}: not UTF-8 text"),
        ([DUMP, os.fsdecode(b"SELECT '\xe9' AS x")], b"", "the query: not UTF-8 text"),
    ):
        result = run(*arguments, stdin=stdin, code=2)
        assert (result.stdout, said in result.stderr) == ("", True), said


def test_a_query_is_told_from_the_names_of_inputs(tmp_path: Path) -> None:
    path = put(tmp_path / "my dump.smf", DUMP.read_bytes())
    shown = clean(DUMP, ONE)
    assert clean(path, stdin=ONE) == clean(path, ONE) == shown
    assert clean("-", ONE, stdin=DUMP.read_bytes()) == shown
    assert clean(DUMP, f"-- how many\n{ONE}") == shown
    assert clean("--format", "csv", DUMP, f"--how many\n{ONE}").split()[0] == "one"
    twice = clean(DUMP, OTHER, "SELECT count(*) AS n FROM record", "--format", "json")
    assert json.loads(twice)[0]["n"] > int(shown.splitlines()[2].strip("| "))


NEAR = {
    "SELECT putnn FROM wqst": 'Candidate bindings: "putn", "put1n"',
    "SELECT w.putnn FROM wqst AS w": "no column putnn in wqst; near: putn, put1n",
    "SELECT wtasotn FROM wqst": "found: wtas.wtasotn\n",
    "SELECT qjstbffl FROM record": "found: qjst.qjstbffl\n",
    "SELECT * FROM wqzt": 'Did you mean "wqst"?\n',
    "SELECT * FROM qjst_oi": "qjst_io",
    "SELECT * FROM putn": "found: wqst.putn\n",
    "SELECT 1 FROM wqst JOIN wtid USING (recno)": "near: record_no",
    "SELECT job FROM wqst": "found: api_cost.job, queue_activity.job, task.job\n",
}


def test_an_unknown_name_is_told_what_is_near_and_where(whole_dataset: Path) -> None:
    """Names that are DuckDB's own are not offered."""
    wrong = "Table with name pg_qjst does not exist!\n"
    message = f'{wrong}Did you mean "pg_set or smf_qjst"?'
    assert hinted(message, []) == f"{wrong}no table pg_qjst; near: qjst"
    overflow = "Out of Range Error: Overflow in multiplication of INT32 (602446 * 4096)!"
    assert hinted(overflow, []).endswith("or 4096e0 instead of 4096")
    for number, (query, said) in enumerate(some([*NEAR.items()], 3)):
        shown = run(DUMP if number % 5 else whole_dataset, query, code=2).stderr
        assert said in shown
        if "USING" not in query:
            (below,) = re.findall(rf"^LINE 1: {re.escape(query)}\n(.*)", shown, re.M)
            assert set(below) == {" ", "^"}


def test_an_entry_goes_on_to_its_semicolon_which_is_not_part_of_it() -> None:
    whole = ("", "  \n", ".help", "SELECT 1;", "SELECT 'é';", "SELECT 1; -- that is all")
    parts = ("SELECT 1", "SELECT 'a;", 'SELECT ";', "SELECT 1 -- not yet;", "-- nothing;")
    for text in (*whole, *parts, "SELECT /* ; */ 1", "SELECT 1;\nSELECT 2"):
        assert is_whole(text) is (text in whole), text
    with Catalog(open_inputs([DUMP])) as catalog:
        for text in ("SELECT 1;", "SELECT 1;;", "SELECT 1 ; ; -- x", "SELECT 'é;';"):
            (found,) = catalog.statements(text)
            assert not found.rstrip().endswith((";", "x"))
            assert not is_complete(found)
            assert sum(part.num_rows for part in catalog.run(found)) == 1


GIVING_ROWS = {
    "PIVOT (SELECT qmgr, qmstput FROM qmst) ON qmgr USING sum(qmstput)": "QM01,QM02",
    "FROM (PIVOT record ON subtype USING count(*) GROUP BY qmgr)": "",
    "PREPARE p AS SELECT 7 AS seven; EXECUTE p": "seven",
    "CREATE TEMP TABLE t AS SELECT 1 AS a; UPDATE t SET a = 2 RETURNING a + 1 AS b": "b",
    "CALL pragma_version()": "",
    "EXPLAIN SELECT count(*) FROM wqst": "",
    "PRAGMA version": "",
}


def test_statements_that_give_rows_show_them_and_others_show_nothing(tmp_path: Path) -> None:
    for statement, names in GIVING_ROWS.items():
        header, *rows = clean(DUMP, statement, "--format", "csv").splitlines()
        assert names in ("", header), statement
        assert rows
    copied = tmp_path / "copy.csv"
    script = f"COPY (FROM wtas) TO '{copied}'; CREATE TABLE t (a INT); BEGIN;\n"
    for form in FORMATS:
        assert clean(DUMP, script, "--format", form) == ""
    assert len(copied.read_text().splitlines()) > 1


def test_numbers_are_shown_whole() -> None:
    """JSON has those that a double does not hold as strings; a text with digits stays as it is."""
    query = (
        "SELECT 1234567.891::DOUBLE AS a, 0.1::FLOAT AS b, 1/3 AS c, 1e-7::DOUBLE AS d,"
        " sum(2::UBIGINT ** 62)::HUGEINT * 4 AS e, 1.50 AS f, 7 AS F"
    )
    cells = clean(DUMP, query).splitlines()[2].replace("|", " ").split()
    assert cells == ["1234567.891", "0.1", "0.333333", "0.0000001", str(2**64), "1.5", "7"]
    whole = [1234567.891, 0.1, 1 / 3, 1e-7, 2**64, 1.5, 7]
    heading, row = clean(DUMP, query, "--format", "csv").splitlines()
    assert heading == "a,b,c,d,e,f,F_1"
    assert [float(each) for each in row.split(",")] == whole
    query = """
        SELECT unnest([1, 9007199254740992, 9007199254740993, -9007199254740993]) AS a,
            18446744073709551615::UBIGINT AS "b""c", NULL::BIGINT AS e,
            1267650600228229401496703205376::HUGEINT AS d,
            '"a":9007199254740993,' AS f, 9007199254740994::DOUBLE AS g
    """
    every = {'b"c': "18446744073709551615", "e": None, "d": str(2**100)}
    every |= {"f": '"a":9007199254740993,', "g": 9007199254740994.0}
    wanted = [1, 9007199254740992, "9007199254740993", "-9007199254740993"]
    rows = [{"a": each} | every for each in wanted]
    assert in_json(DUMP, query) == rows
    assert [*map(json.loads, clean(DUMP, query, "--format", "jsonl").splitlines())] == rows


def test_local_times_in_json_have_the_offset_of_their_row() -> None:
    query = "SELECT time, smf_time, {} time::TIMESTAMP AS n FROM record WHERE type = 115 LIMIT 1"
    (row,) = in_json(DUMP, query.format("utc_offset,"))
    moment, local = (dt.datetime.fromisoformat(row[name]) for name in ("time", "smf_time"))
    assert local.utcoffset() == dt.timedelta(seconds=row["utc_offset"])
    assert abs(local - moment) < dt.timedelta(seconds=1)
    (other,) = in_json(DUMP, query.format(""))
    for naive in (row["n"], other["smf_time"]):
        assert dt.datetime.fromisoformat(naive).tzinfo is None


def test_results_of_any_length_come_as_one() -> None:
    for rows in (0, 1, 25_000):
        query = f"SELECT range AS n FROM range({rows})"
        numbers = list(range(rows))
        assert [int(line.strip("| ")) for line in clean(DUMP, query).splitlines()[2:]] == numbers
        assert clean(DUMP, query, "--format", "csv").splitlines() == ["n", *map(str, numbers)]
        assert [each["n"] for each in in_json(DUMP, query)] == numbers


def test_rows_are_written_as_parquet(tmp_path: Path) -> None:
    file = tmp_path / "jobs.parquet"
    query = "SELECT job, sum(calls) AS n, [1] AS l FROM task GROUP BY ALL ORDER BY job"
    assert clean(DUMP, query, "--format", "parquet", "--output", file) == ""
    found = pq.read_table(file)
    assert [*map(str, found.schema.types)] == ["string", "int64", "list<element: int32>"]
    with Catalog(open_inputs([DUMP])) as catalog:
        assert found.to_pylist() == catalog.arrow(query).to_pylist()
    shown = run(DUMP, query, "--format", "parquet").stdout_bytes
    assert pq.read_table(io.BytesIO(shown)).equals(found)
    assert run(DUMP, SCRIPT.partition("\n")[2], "--format", "parquet").exit_code == 2


def test_what_an_encoding_does_not_have_is_escaped() -> None:
    done = subprocess.run(
        [*command.COMMAND, "sql", str(DUMP), "SELECT chr(9500) AS a", "--format", "csv"],
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
        capture_output=True,
        check=True,
    )
    assert done.stdout.split() == [b"a", rb"\u251c"]


def test_a_statement_reads_an_input_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    read: list[set[str]] = []
    batches = Inputs.batches

    def watched(inputs: Inputs, wanted: Wanted, **options: bool) -> object:
        read.append(set(wanted))
        return batches(inputs, wanted, **options)

    monkeypatch.setattr(Inputs, "batches", watched)
    joined = "SELECT wtidccn, putn FROM wqst JOIN (SELECT * FROM wtid) USING (record_no)"
    for statement, tables in (
        (f"COPY ({joined}) TO '{tmp_path / 'copy.csv'}'", {"wqst", "wtid"}),
        (f"CREATE TEMP TABLE t AS {joined}", {"wqst", "wtid"}),
        ("PIVOT (SELECT qmgr, qmstput FROM qmst) ON qmgr USING sum(qmstput)", {"qmst"}),
        ("PIVOT (SELECT job, cpu FROM task) ON job USING sum(cpu)", set(views.view("task").tables)),
    ):
        read.clear()
        clean(DUMP, f"{statement};\n")
        assert read == [tables], statement
    assert len((tmp_path / "copy.csv").read_text().splitlines()) > 1


def completed(text: str, behind: str = "") -> list[str]:
    document = Document(text + behind, len(text))
    return [each.text for each in SqlCompleter().get_completions(document, CompleteEvent())]


def test_names_are_completed() -> None:
    assert "putn" in completed("SELECT put", " FROM wqst")
    assert set(completed("SELECT put", " FROM wqst")) <= {each.name for each in columns("wqst")}
    assert "wtasotn" in completed("SELECT wtas")
    assert completed("SELECT * FROM wqs") == ["wqst", "wqst_cf"]
    assert completed("SELECT * FROM ") == list(relations())
    assert completed("SELECT * FROM wqst AS q, WTI") == ["wtid"]
    joined = completed("SELECT * FROM wqst JOIN wtid USING (rec")
    assert set(joined) == {"record_no", "record_offset", "record"}
    assert completed("SELECT wtid.wtidcc", " FROM wqst, wtid") == ["wtidccn"]
    assert "putn" in completed("SELECT q.put", " FROM wqst q")
    assert completed("SELECT * FROM wqst wher") == ["WHERE"]
    assert completed(".d") == [".describe"]
    assert completed(".") == list(console.COMMANDS)
    assert completed(".describe wtasot")[0].startswith("wtasot")


def type_in(text: str, history: History | None = None) -> str:
    """Type text at the prompt; return what is shown, what went wrong marked by !."""
    shown: list[str] = []
    with (
        create_pipe_input() as keys,
        create_app_session(input=keys, output=DummyOutput()),
        Catalog(open_inputs([DUMP])) as catalog,
    ):
        keys.send_text(text)
        Console(
            catalog,
            lambda parts, view: formats.lines(RowsDocument([("", parts)]), view.mode),
            lambda name: formats.lines(description(name), "text"),
            shown.append,
            lambda line: shown.append(f"!{line}"),
            lambda: None,
            Shell(["report"], lambda words: shown.append(f"ran {words}")),
            "csv",
        ).run(history or InMemoryHistory())
    return "\n".join(shown)


END = "\x04"
PROMPTED = {
    "SELECT 1 + 1 AS two;": "two\n2",
    "SELECT 1 + 1\rAS two\r;\r.quit": "two\n2",
    "\r;\rSELECT 1 AS a; SELECT 2 AS b;": "a\n1\nb\n2",
    **dict.fromkeys(("exit", "QUIT;", ".exit", "\\q"), ""),
    **dict.fromkeys(("help", ".help"), HELP),
    "report log 'my day.smf'": "ran ['report', 'log', 'my day.smf']",
    ".mode md\rSELECT 1 AS a;": "# Query results\n\n| a |\n|--:|\n| 1 |",
    ".mode yaml\r.width 0\r.columns none\r.width\r.nothing": "\n".join([HELP] * 5),
}


def test_the_prompt_answers_and_has_a_view() -> None:
    for typed, shown in PROMPTED.items():
        assert type_in(f"{typed}\r{END}") == shown
    view = View()
    for width, shown, wanted in (("100", "all", (100, 0)), ("auto", "auto", (None, None))):
        assert (view.set(".width", width), view.set(".columns", shown)) == (True, True)
        assert (view.width, view.columns) == wanted
    assert not view.set(".columns", "-1")
    assert not view.set(".nothing", "1")


def test_the_prompt_has_commands_and_goes_on_behind_errors_and_tables_stay() -> None:
    tables = type_in(f".tables\r{END}").splitlines()
    assert [line.split()[0] for line in tables] == list(relations())
    assert type_in(f".describe wtasotn;\r{END}").startswith("wtas.wtasotn: ")
    wrong = "SELECT w.putnn FROM wqst w;\rSELEC;\r.describe nix\r"
    made = "CREATE TEMP TABLE t AS SELECT count(*) AS n FROM wtas;\r"
    shown = type_in(f"{made}{wrong}SELECT n > 0 AS ok FROM t;\r{END}")
    assert shown.endswith("\nok\ntrue")
    errors = ("!Binder Error", "near: putn", "!Parser Error")
    for said in (*errors, "!no table, view, column or measure nix"):
        assert said in shown


def test_control_c_gives_up_a_line_or_a_query(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Catalog.run

    def interrupted(self: Catalog, statement: str) -> object:
        if "wtas" in statement:
            raise KeyboardInterrupt
        return original(self, statement)

    monkeypatch.setattr(Catalog, "run", interrupted)
    keys = f"SELECT 'gone\x03SELECT * FROM wtas;\rSELECT 3 AS a;\r{END}"
    assert type_in(keys) == "!interrupted\na\n3"


def test_entries_are_kept_for_the_next_time_and_many_rows_are_not_all_shown() -> None:
    history = InMemoryHistory()
    type_in(f"SELECT 7 AS a;\r{END}", history)
    assert type_in(f"\x1b[A\r{END}", history) == "a\n7"
    shown = type_in(f"SELECT range FROM range({console.SHOWN_ROWS + 1500});\r{END}").splitlines()
    assert shown[-1] == "... and 1,500 more rows"
    assert len(shown) == console.SHOWN_ROWS + 2


def test_history_is_kept_in_a_state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCALAPPDATA" if os.name == "nt" else "XDG_STATE_HOME", str(tmp_path))
    kept = console.kept_history()
    assert isinstance(kept, FileHistory)
    kept.store_string("SELECT 1;")
    assert "SELECT 1;" in (tmp_path / "smfparse" / "sql_history").read_text()
    (tmp_path / "file").touch()
    monkeypatch.setattr(console, "state_folder", lambda: tmp_path / "file")
    assert isinstance(console.kept_history(), InMemoryHistory)


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo terminal")
def test_on_a_terminal_there_is_a_prompt_that_says_damage_when_it_is_met(tmp_path: Path) -> None:
    from tests.support.terminal import on_terminal

    cut = put(tmp_path / "cut.smf", DUMP.read_bytes()[:-10])
    count = "SELECT count(*) FROM wqst;\r"
    keys = f"{count}{count}SELECT 40 + 2 AS answer;\rinfo --type 115(1)\r.quit\r"
    settings = {"PAGER": "cat", "XDG_STATE_HOME": f"{tmp_path}", "PROMPT_TOOLKIT_NO_CPR": "1"}
    shown = on_terminal("sql", cut, typed=[(".help", keys)], environment=settings)
    assert shown.code == 4
    assert shown.text.count("the input is damaged") == 2  # by the first query, and by info
    for said in ("|     42 |", "QSST QJST", f"runs: smfparse info --type '115(1)' {cut}"):
        assert said in shown.text
    shown = on_terminal("sql", "-")  # the terminal is the input
    assert (shown.code, "no query: " in shown.text) == (2, True)
