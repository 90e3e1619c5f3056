"""SQL of strangers: with safe=True it reaches the tables of the inputs and nothing else."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import smfparse
from smfparse.errors import QueryError, RequestError, SmfError
from smfparse.inputs import ReadOptions, open_inputs
from smfparse.query import Catalog, connected
from smfparse.selecting import Selection
from tests.support.command import run
from tests.support.datasets import files_below
from tests.support.paths import FIXTURE_FILES, PROJECT, SMF
from tests.support.searching import of_many, some

pytestmark = pytest.mark.slow

SECRET = "hidden-47"
IMPOSSIBLE = {
    "CSV": "FROM read_csv('{there}/secret.csv', all_varchar = true)",
    "a file as a table": "FROM '{there}/secret.csv'",
    "text": "FROM read_text('{there}/secret.csv')",
    "bytes": "FROM read_blob('{there}/secret.csv')",
    "JSON": "FROM read_json('{there}/secret.json')",
    "Parquet": "FROM read_parquet('{there}/secret.parquet')",
    "Parquet of a dataset": "FROM read_parquet('{dataset}/wqst/*.parquet')",
    "a database": "FROM read_duckdb('{there}/secret.duckdb', table_name = 'a')",
    "names of files": "FROM glob('{there}/*')",
    "a link": "FROM read_text('{there}/link')",
    "the process": "FROM read_text('/proc/self/environ')",
    "standard input": "FROM read_csv('/dev/stdin')",
    "an input": "FROM read_blob('{dump}')",
    "a query in a text": "FROM query('FROM read_text(''{there}/secret.csv'')')",
    "a table in a text": "FROM query_table('{there}/secret.csv')",
    "a query in JSON": "FROM json_execute_serialized_sql("
    "json_serialize_sql('SELECT * FROM read_text(''{there}/secret.csv'')'))",
    "a view": "CREATE VIEW v AS FROM read_text('{there}/secret.csv'); FROM v",
    "a macro": "CREATE MACRO m(p) AS TABLE FROM read_text(p); FROM m('{there}/secret.csv')",
    "a prepared query": "PREPARE p AS FROM read_text('{there}/secret.csv'); EXECUTE p",
    "a summary": "SUMMARIZE '{there}/secret.parquet'",
    "loading rows": "CREATE TABLE t (a VARCHAR); COPY t FROM '{there}/secret.csv'",
    "writing": "COPY (SELECT 1) TO '{there}/new.csv'",
    "writing folders": "COPY (SELECT 1 AS a) TO '{there}/new' (PARTITION_BY a, FORMAT csv)",
    "replacing an input": "COPY (SELECT 1) TO '{part}' (USE_TMP_FILE false)",
    "writing in a query": "WITH a AS (COPY (SELECT 1) TO '{part}' (USE_TMP_FILE false)) SELECT 1",
    "writing in a plan": "EXPLAIN ANALYZE COPY (SELECT 1) TO '{part}' (USE_TMP_FILE false)",
    "importing": "IMPORT DATABASE '{there}'",
    "a new database": "ATTACH '{there}/new.duckdb' AS n",
    "an old database": "ATTACH '{there}/secret.duckdb' AS n",
    "copying a database": "ATTACH '{there}/n.duckdb' AS n; COPY FROM DATABASE memory TO n",
    "an extension": "INSTALL httpfs",
    "an extension by force": "FORCE INSTALL sqlite FROM community",
    "loading an extension": "LOAD httpfs",
    "https": "FROM read_csv('https://example.invalid/a.csv')",
    "s3": "FROM read_parquet('s3://a/b.parquet')",
    "a secret": "CREATE PERSISTENT SECRET s (TYPE http)",
    "the environment": "SELECT getenv('HOME')",
    "allowing all": "SET enable_external_access = true",
    "unlocking": "SET lock_configuration = false",
    "allowing settings": "SET allowed_configs = ['lock_configuration']",
    "allowing files": "SET allowed_paths = ['{there}/secret.csv']",
    "allowing folders": "SET GLOBAL allowed_directories = ['/']",
    "allowing a file system": "SET disabled_filesystems = ''",
    "temporary files": "SET temp_directory = '{there}'",
    "memory": "SET memory_limit = '1TB'",
    "variables of Python": "SET python_enable_replacements = true",
    "a log": "SET log_query_path = '{there}/new.log'",
    "logging": "CALL enable_logging(storage = 'file', storage_config = {{'path': '{there}/new'}})",
    "a profile": "SET profile_output = '{there}/new.json'",
    "profiling": "PRAGMA enable_profiling",
}
"""What no statement may do; {there} is a folder with secrets."""
ALLOWED = [
    "SELECT count(*) FROM wqst",
    "SELECT job, sum(commits) AS commits FROM task GROUP BY job ORDER BY ALL",
    "SELECT count(*) FROM wtas JOIN wqst USING (record_no) JOIN wtid USING (record_no)",
    "PIVOT (SELECT qmgr FROM record) ON qmgr USING count(*)",
    "SELECT count(*) FROM (SUMMARIZE wqst)",
    "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a WHERE n < 9) FROM a",
    "SELECT qmgr, verb, round(sum(cpu)) AS cpu FROM api_cost GROUP BY ALL ORDER BY ALL",
    "SELECT json_extract('[1, 2]', '$[1]') AS a",
    "SELECT strftime(TIMESTAMPTZ '2026-03-04 12:00Z', '%H') AS a, 'ä' COLLATE de AS b",
    "SELECT source, count(*) AS n, min(record_no) AS first FROM record GROUP BY 1 ORDER BY 1",
]
"""What needs nothing else, and works offline."""


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sets") / "z[1]"
    assert run("convert", SMF, "--to", folder).exit_code == 0
    return folder


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files that nobody named."""
    folder = tmp_path_factory.mktemp("secrets")
    (folder / "secret.csv").write_text(f"a\n{SECRET}\n")
    (folder / "secret.json").write_text(f'[{{"a": "{SECRET}"}}]')
    (folder / "schema.sql").write_text(f"CREATE TABLE a AS SELECT '{SECRET}' AS a")
    (folder / "load.sql").write_text("")
    with connected() as made:
        made.execute(f"COPY (SELECT '{SECRET}' AS a) TO '{folder}/secret.parquet'")
        made.execute(f"ATTACH '{folder}/secret.duckdb' AS n")
        made.execute(f"CREATE TABLE n.a AS SELECT '{SECRET}' AS a")
        made.execute("DETACH n")
    return folder


@pytest.fixture
def there(secrets: Path, tmp_path: Path) -> Path:
    """A copy of it, below the folder of temporary files, with a link."""
    folder = tmp_path / "elsewhere"
    shutil.copytree(secrets, folder)
    (folder / "link").symlink_to(folder / "secret.csv")
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


def test_others_do_so_that_the_test_above_can_fail(
    there: Path, dataset: Path, tmp_path: Path
) -> None:
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


KINDS = [("both", None), ("file", None), ("dataset", "QM01"), ("both", "QM01"), ("file", "QM01")]


@pytest.mark.sampled(1)
@of_many("kinds, qmgr", some(KINDS, 2))
def test_queries_over_the_inputs_give_the_same(kinds: str, qmgr: str | None, dataset: Path) -> None:
    inputs = {"file": [SMF], "dataset": [dataset], "both": [SMF, dataset]}[kinds]
    opened = open_inputs(inputs, ReadOptions(Selection.of(qmgr=qmgr) if qmgr else Selection()))
    with Catalog(opened) as free, Catalog(opened, safe=True) as safe:
        for query in ALLOWED:
            assert done(safe, query) == done(free, query), query


def test_datasets_whose_inputs_share_a_name_are_kept_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, path in zip(("one", "two"), FIXTURE_FILES, strict=False):
        Path("x.smf").write_bytes(path.read_bytes())
        assert run("convert", "x.smf", "--to", name).exit_code == 0
    opened = open_inputs(["one", "two"])
    with Catalog(opened) as free, Catalog(opened, safe=True) as safe:
        for query in (ALLOWED[1], ALLOWED[-1]):
            assert done(safe, query) == done(free, query)
        assert "x.smf#2" in done(safe, ALLOWED[-1])


def test_the_zone_can_be_chosen_and_ordered_rows_come_from_a_safe_catalog_too() -> None:
    query = "SELECT strftime(TIMESTAMPTZ '2026-03-04 12:00Z', '%H') AS hour"
    with Catalog(open_inputs([SMF]), safe=True) as catalog:
        assert done(catalog, f"SET TimeZone = 'Europe/Berlin'; {query}") == "[][{'hour': '13'}]"
        found = catalog.rows("SELECT record_no FROM wqst ORDER BY record_no")
        assert sum(map(len, found)) == 32


@pytest.fixture(params=[True, False])
def catalog(request: pytest.FixtureRequest) -> Iterator[Catalog]:
    with Catalog(open_inputs([SMF]), safe=request.param) as made:
        yield made


PYTHON = ["self", "found", "catalog", "statement", "kind", "duckdb", "Catalog", "query", "SMF"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("before", ["", "SET python_enable_replacements = true"])
def test_no_statement_sees_a_variable_of_python(before: str, catalog: Catalog) -> None:
    with suppress(QueryError):  # it is locked where it is safe
        done(catalog, before)
        done(catalog, "SET python_scan_all_frames = true")
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
    for safe in (True, False):
        with connected(safe=safe) as made:
            for name in ("autoinstall_known_extensions", "autoload_known_extensions"):
                found = made.execute(f"SELECT current_setting('{name}')").fetchone()
                assert found == (False,)
            with pytest.raises(Exception, match="exists in the autocomplete extension"):
                made.execute("FROM sql_auto_complete('SEL')")
            for name, value in (("temp_directory", ""), ("allowed_directories", [])):
                found = made.execute(f"SELECT current_setting('{name}')").fetchone()
                assert not safe or found == (value,)


def test_a_query_that_outgrows_memory_is_no_wrong_call() -> None:
    with Catalog(open_inputs([SMF])) as catalog:
        catalog.execute("SET temp_directory = ''")
        catalog.execute("SET memory_limit = '30MB'")
        with pytest.raises(SmfError, match=r"Out of Memory.*; select fewer rows") as found:
            catalog.arrow("SELECT list(range) FROM range(20000000) GROUP BY range % 1000")
    assert not isinstance(found.value, RequestError)


def test_the_command_and_the_library_have_it(there: Path) -> None:
    query = f"FROM read_text('{there}/secret.csv')"
    free, safe = run("sql", SMF, query), run("sql", SMF, query, "--safe")
    assert (free.exit_code, safe.exit_code) == (0, 2)
    assert SECRET in free.stdout
    assert SECRET not in safe.output
    assert safe.stderr.endswith(
        "with --safe a statement reaches nothing but the tables of the inputs\n"
    )
    assert run("sql", SMF, "--safe", f"SELECT 1 AS a; {query}").stderr.count("--safe") == 1
    data = smfparse.open(SMF)
    assert data.sql("SELECT count(*) AS n FROM wqst", safe=True).to_pylist() == [{"n": 32}]
    assert data.sql(query).num_rows == 1
    with pytest.raises(QueryError, match="safe=True"):
        data.sql(query, safe=True)
    with data.connect() as connection, pytest.raises(Exception, match="does not exist"):
        connection.sql("FROM data")


def test_connections_are_made_in_one_place() -> None:
    made = [
        path.relative_to(PROJECT).as_posix()
        for folder in ("smfparse", "cli")
        for path in sorted((PROJECT / folder).rglob("*.py"))
        if re.search(r"\bduckdb\.connect\(", path.read_text(encoding="utf-8"))
    ]
    assert made == ["smfparse/query/connecting.py"]
    assert not os.path.exists(".tmp")
