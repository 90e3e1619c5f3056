"""SQL of strangers: with safe=True it reaches the tables of the inputs and nothing else."""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

import smfparse
from smfparse.decoding.selection import Selection
from smfparse.errors import QueryError, RequestError, SmfError
from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.query.catalog import Catalog
from smfparse.query.relations import connected
from tests.support.command import run
from tests.support.datasets import files_below
from tests.support.paths import PROJECT, SMF

pytestmark = pytest.mark.slow

SECRET = "hidden-47"
IMPOSSIBLE = {
    "CSV": "FROM read_csv('{there}/secret.csv', all_varchar = true)",
    "a file as a table": "FROM '{there}/secret.csv'",
    "JSON": "FROM read_json('{there}/secret.json')",
    "Parquet": "FROM read_parquet('{there}/secret.parquet')",
    "Parquet of a dataset": "FROM read_parquet('{dataset}/wqst/*.parquet')",
    "a database": "FROM read_duckdb('{there}/secret.duckdb', table_name = 'a')",
    "names of files": "FROM glob('{there}/*')",
    "a link": "FROM read_text('{there}/link')",
    "the process": "FROM read_text('/proc/self/environ')",
    "an input": "FROM read_blob('{dump}')",
    "a query in a text": "FROM query('FROM read_text(''{there}/secret.csv'')')",
    "a table in a text": "FROM query_table('{there}/secret.csv')",
    "a query in JSON": "FROM json_execute_serialized_sql("
    "json_serialize_sql('SELECT * FROM read_text(''{there}/secret.csv'')'))",
    "a view": "CREATE VIEW v AS FROM read_text('{there}/secret.csv'); FROM v",
    "a macro": "CREATE MACRO m(p) AS TABLE FROM read_text(p); FROM m('{there}/secret.csv')",
    "a summary": "SUMMARIZE '{there}/secret.parquet'",
    "loading rows": "CREATE TABLE t (a VARCHAR); COPY t FROM '{there}/secret.csv'",
    "writing": "COPY (SELECT 1) TO '{there}/new.csv'",
    "replacing an input": "COPY (SELECT 1) TO '{part}' (USE_TMP_FILE false)",
    "writing in a query": "WITH a AS (COPY (SELECT 1) TO '{part}' (USE_TMP_FILE false)) SELECT 1",
    "writing in a plan": "EXPLAIN ANALYZE COPY (SELECT 1) TO '{part}' (USE_TMP_FILE false)",
    "importing": "IMPORT DATABASE '{there}'",
    "a new database": "ATTACH '{there}/new.duckdb' AS n",
    "copying a database": "ATTACH '{there}/n.duckdb' AS n; COPY FROM DATABASE memory TO n",
    "an extension": "INSTALL httpfs",
    "loading an extension": "LOAD httpfs",
    "https": "FROM read_csv('https://example.invalid/a.csv')",
    "a secret": "CREATE PERSISTENT SECRET s (TYPE http)",
    "the environment": "SELECT getenv('HOME')",
    "allowing all": "SET enable_external_access = true",
    "unlocking": "SET lock_configuration = false",
    "allowing settings": "SET allowed_configs = ['lock_configuration']",
    "allowing files": "SET allowed_paths = ['{there}/secret.csv']",
    "allowing a file system": "SET disabled_filesystems = ''",
    "temporary files": "SET temp_directory = '{there}'",
    "memory": "SET memory_limit = '1TB'",
    "variables of Python": "SET python_enable_replacements = true",
    "a log": "SET log_query_path = '{there}/new.log'",
    "logging": "CALL enable_logging(storage = 'file', storage_config = {{'path': '{there}/new'}})",
}
"""What no statement may do; {there} is a folder with secrets."""
HOUR = "SELECT strftime(TIMESTAMPTZ '2026-03-04 12:00Z', '%H') AS hour"
ALLOWED = [
    "SELECT job, sum(commits) AS commits FROM task GROUP BY job ORDER BY ALL",
    "SELECT count(*) FROM wtas JOIN wqst USING (record_no) JOIN wtid USING (record_no)",
    "PIVOT (SELECT qmgr FROM record) ON qmgr USING count(*)",
    "SELECT count(*) FROM (SUMMARIZE wqst)",
    f"SELECT *, 'ä' COLLATE de AS b FROM ({HOUR})",
    "SELECT source, count(*) AS n, min(record_no) AS first FROM record GROUP BY 1 ORDER BY 1",
]
"""What needs nothing else, and works offline."""


@pytest.fixture(scope="module")
def dataset(whole_dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(whole_dataset, tmp_path_factory.mktemp("sets") / "z[1]"))


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """A folder with files that nobody named."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "secret.csv").write_text(f"a\n{SECRET}\n")
    (folder / "link").symlink_to(folder / "secret.csv")
    (folder / "secret.json").write_text(f'[{{"a": "{SECRET}"}}]')
    (folder / "schema.sql").write_text(f"CREATE TABLE a AS SELECT '{SECRET}' AS a")
    (folder / "load.sql").write_text("")
    with connected() as made:
        made.execute(f"COPY (SELECT '{SECRET}' AS a) TO '{folder}/secret.parquet'")
        made.execute(f"ATTACH '{folder}/secret.duckdb' AS n")
        made.execute(f"CREATE TABLE n.a AS SELECT '{SECRET}' AS a")
        made.execute("DETACH n")
    return folder


def done(catalog: Catalog, script: str) -> str:
    return "".join(
        str(part.to_pylist())
        for statement in catalog.statements(script)
        for part in catalog.run(statement)
    )


def test_a_safe_statement_reaches_nothing_else(there: Path, dataset: Path) -> None:
    part = next(dataset.glob("wqst/*.parquet"))
    names = {"there": there, "dataset": dataset, "dump": SMF, "part": part}
    before = files_below(there), files_below(dataset)
    given, said = dict[str, str](), dict[str, str]()
    with Catalog(open_inputs([SMF, dataset]), safe=True) as catalog:
        for what, script in IMPOSSIBLE.items():
            try:
                given[what] = done(catalog, script.format(**names))
            except RequestError as error:
                said[what] = str(error)
            assert done(catalog, "SELECT count(*) AS n FROM wqst") == "[][{'n': 32}]", what
            assert (files_below(there), files_below(dataset)) == before, what
    assert given == {}
    assert [what for what, text in said.items() if SECRET in text] == []


def test_others_do_so_the_test_above_can_fail(there: Path, dataset: Path, tmp_path: Path) -> None:
    part = tmp_path / "x.parquet"
    part.write_bytes(next(dataset.glob("wqst/*.parquet")).read_bytes())
    with Catalog(open_inputs([SMF])) as catalog:
        for what in ("CSV", "Parquet", "JSON", "a link", "a database", "names of files", "a view"):
            script = IMPOSSIBLE[what].format(there=there)
            assert re.search(f"{SECRET}|secret", done(catalog, script)), what
        done(catalog, IMPOSSIBLE["writing"].format(there=there))
        done(catalog, IMPOSSIBLE["writing in a query"].format(part=part))
    assert (there / "new.csv").exists()
    assert part.stat().st_size < 1_000


@pytest.mark.sampled(1)
@pytest.mark.parametrize("qmgr", ["*", "QM01"])
def test_queries_over_the_inputs_give_the_same(qmgr: str, dataset: Path) -> None:
    opened = open_inputs([SMF, dataset], ReadOptions(Selection.of(qmgr=qmgr)))
    with Catalog(opened) as free, Catalog(opened, safe=True) as safe:
        for query in ALLOWED:
            assert done(safe, query) == done(free, query), query
        assert done(safe, f"SET TimeZone = 'Europe/Berlin'; {HOUR}") == "[][{'hour': '13'}]"
        rows = sum(map(len, safe.rows("SELECT record_no FROM wqst ORDER BY record_no")))
        assert done(free, "SELECT count(*) AS n FROM wqst") == f"[][{{'n': {rows}}}]"


PYTHON = ["self", "found", "catalog", "statement", "kind", "duckdb", "Catalog", "query", "SMF"]


@pytest.mark.parametrize("safe", [False, True])
def test_no_statement_sees_a_variable_of_python(safe: bool) -> None:
    with Catalog(open_inputs([SMF]), safe=safe) as catalog:
        for setting in (None, "python_enable_replacements", "python_scan_all_frames"):
            with suppress(QueryError):  # it is locked where it is safe
                done(catalog, f"SET {setting} = true" if setting else "")
            for name in PYTHON:
                with pytest.raises(QueryError, match=f"Table with name {name} does not exist"):
                    done(catalog, f"FROM {name}")
                with pytest.raises(QueryError, match="does not exist"):
                    catalog.arrow(f"FROM {name}")


def test_a_failed_transaction_can_be_ended() -> None:
    with Catalog(open_inputs([SMF])) as catalog:
        done(catalog, "BEGIN")
        with pytest.raises(QueryError):
            done(catalog, "SELECT 'a'::INTEGER")
        done(catalog, "ROLLBACK")
        assert done(catalog, "SELECT 1 AS a") == "[][{'a': 1}]"


def test_no_extension_comes_by_itself_and_a_safe_connection_has_no_temporary_folder() -> None:
    never = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    for settings in (never, never | {"temp_directory": "", "allowed_directories": []}):
        with connected(safe=len(settings) > 2) as made:
            for name, value in settings.items():
                assert made.execute(f"SELECT current_setting('{name}')").fetchone() == (value,)
            with pytest.raises(Exception, match="exists in the autocomplete extension"):
                made.execute("FROM sql_auto_complete('SEL')")


def test_a_query_that_outgrows_memory_is_no_wrong_call() -> None:
    with Catalog(open_inputs([SMF])) as catalog:
        catalog.execute("SET temp_directory = ''; SET memory_limit = '30MB'")
        with pytest.raises(SmfError, match=r"Out of Memory.*; select fewer rows") as found:
            catalog.arrow("SELECT list(range) FROM range(20000000) GROUP BY range % 1000")
    assert not isinstance(found.value, RequestError)


def test_the_command_and_the_library_have_it(there: Path) -> None:
    query = f"FROM read_text('{there}/secret.csv')"
    assert SECRET in run("sql", SMF, query, code=0).stdout
    safe = run("sql", SMF, f"SELECT 1 AS a; {query}", "--safe", code=2)
    said = "with --safe a statement can use only the tables of the inputs\n"
    assert (SECRET in safe.output, safe.stderr.count("--safe")) == (False, 1)
    assert safe.stderr.endswith(said)
    data = smfparse.open(SMF)
    assert data.sql("SELECT count(*) AS n FROM wqst", safe=True).to_pylist() == [{"n": 32}]
    assert data.sql(query).num_rows == 1
    with pytest.raises(QueryError, match="safe=True"):
        data.sql(query, safe=True)
    with data.connect() as connection, pytest.raises(Exception, match="does not exist"):
        connection.sql("FROM data")


def test_connections_are_made_in_one_place() -> None:
    paths = [each for folder in ("smfparse", "cli") for each in (PROJECT / folder).rglob("*.py")]
    made = [each for each in paths if "duckdb.connect(" in each.read_text(encoding="utf-8")]
    assert made == [PROJECT / "smfparse/query/relations.py"]
