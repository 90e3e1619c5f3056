"""A query decodes the columns it needs, and reads a file once: against tables decoded whole."""

from __future__ import annotations

import errno
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import smfparse
from smfparse.decoding.arrow import Wanted
from smfparse.decoding.dictionary import RECORD, columns, table_names
from smfparse.decoding.selection import Selection
from smfparse.errors import OutputError, RequestError
from smfparse.inputs.opening import Inputs, open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.limits import LIMITS, Limits
from smfparse.query.catalog import Catalog
from smfparse.query.projection import named_tables, read_plan
from smfparse.query.scans import SmfScans
from tests.support.paths import SMF
from tests.support.searching import search

Asked = list[dict[str, frozenset[str] | None]]
Database = duckdb.DuckDBPyConnection


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file is so small that whole tables are decoded of it."""
    monkeypatch.setitem(vars(LIMITS), "whole_bytes", 0)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What each reading of the inputs was asked for."""
    found: Asked = []
    batches = Inputs.batches

    def watched(inputs: Inputs, wanted: Wanted) -> Any:
        found.append(dict(wanted))
        return batches(inputs, wanted)

    monkeypatch.setattr(Inputs, "batches", watched)
    return found


@pytest.fixture(scope="module")
def whole() -> Iterator[Database]:
    """Every table, decoded whole and copied into DuckDB."""
    inputs = open_inputs([SMF])
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("CREATE SCHEMA inputs")
        for table in table_names():
            connection.register("decoded", inputs.arrow(table))
            shown = f"SELECT 0 AS input_no, * FROM main.{table}"
            connection.execute(f"CREATE TABLE {table} AS FROM decoded")
            connection.execute(f"CREATE VIEW inputs.{table} AS {shown}")
        yield connection


def up_to(size: int) -> ReadOptions:
    """Return options by which files of so many bytes are small."""
    return ReadOptions(limits=Limits(whole_bytes=size))


def same(catalog: Catalog, whole: Database, query: str) -> None:
    assert_same(catalog.arrow(query), whole.sql(query))


def assert_same(found: Any, relation: duckdb.DuckDBPyRelation) -> None:
    """Compare a query's columns, types and rows, whatever their order."""
    expected = relation.to_arrow_table()
    assert found.schema.names == expected.schema.names
    kinds = zip(expected.schema, relation.types, strict=True)
    fields = [f.with_type(pa.int64()) if str(kind) == "HUGEINT" else f for f, kind in kinds]
    expected = expected.cast(pa.schema(fields))
    assert found.schema.types == expected.schema.types
    rows = [sorted(map(repr, each.to_pylist())) for each in (found, expected)]
    assert rows[0] == rows[1]


JOINED = "SELECT a.putn, b.getn FROM wqst AS a, wqst AS b WHERE a.record_no = b.record_no"
ASKED = {
    "SELECT putn FROM wqst": "wqst putn",
    "WITH q AS (SELECT * FROM wqst) SELECT sum(putn) FROM q": "wqst putn",
    "SELECT input_no, putn FROM inputs.wqst": "wqst putn",
    "SELECT putn FROM query_table('wqst')": "wqst putn",
    "SELECT putn FROM wqst WHERE putn = (SELECT max(putn) FROM wqst)": "wqst putn",
    "-- a comment\nSELECT putn + getn AS both FROM wqst;": "wqst putn getn",
    "EXPLAIN ANALYZE SELECT putn FROM wqst WHERE getn > 0": "wqst putn getn",
    "SELECT putn FROM wqst WHERE qmgr IN ('QM01', 'QM03')": "wqst putn qmgr",
    "SELECT count(*) FROM wqst": "wqst system",
    "SELECT QMGR, sum(PutCt) / sum(putn) FROM WQST GROUP BY 1": "wqst qmgr putct putn",
    "SELECT qsg FROM wqst WHERE qsg IS NULL AND putn IS NOT NULL": "wqst qsg putn",
    "SELECT putn FROM wqst WHERE time > '2026-03-04 10:00:00+00'": "wqst putn time",
    "SELECT qmgr, putn FROM wqst QUALIFY rank() OVER (PARTITION BY qmgr ORDER BY getn) = 1": (
        "wqst qmgr putn getn"
    ),
    JOINED: "wqst putn getn record_no",
    "SELECT w.wtasstrt, q.putn FROM wtas AS w JOIN wqst AS q USING (source, record_no)": (
        "wtas source record_no wtasstrt; wqst source record_no putn"
    ),
    "SELECT putn, (SELECT max(qjstciwr) FROM qjst WHERE qjst.qmgr = wqst.qmgr) FROM wqst": (
        "wqst putn qmgr; qjst qjstciwr qmgr"
    ),
    "EXPLAIN ANALYZE SELECT a.putn FROM wqst AS a JOIN qjst AS b USING (qmgr)": (
        "qjst qmgr; wqst qmgr putn"
    ),
    "SELECT a.time FROM qjst AS a ASOF JOIN qist AS b ON a.qmgr = b.qmgr AND a.time >= b.time": (
        "qjst qmgr time; qist qmgr time"
    ),
    """WITH RECURSIVE r AS (
        SELECT 1 AS n UNION ALL SELECT n + least(record_no, 1) FROM r, qjst WHERE n < 3
    ) SELECT * FROM r""": "qjst record_no",
    "SUMMARIZE wqst": "wqst *",
    "SELECT wqst FROM wqst": "wqst *",
    "SELECT * FROM wqst ORDER BY putn LIMIT 3": "wqst *",
    "EXPLAIN SELECT a.putn FROM wqst AS a, wqst AS b": "",
    "/* no */ EXPLAIN (FORMAT JSON) SELECT a.putn FROM wqst AS a, wqst AS b": "",
    "SELECT 1 AS a": "",
    "SELECT putn FROM wqst WHERE false": "",
}
"""Queries, and the tables with the columns that are asked for in one reading, if there is one."""
OF_TASK = "source record_offset task_source task_record_offset"
OF_VIEWS = {
    "DESCRIBE wqst": "",
    "SHOW TABLES": "",
    "SELECT queue, depth FROM queue_depth": "qqst qqstqnam qqstdpth qqstpart",
    "SELECT used_percent FROM buffer_pool WHERE buffer_pool = 3": "qpst qpstnbuf qpstcbsl qpstpool",
    "SELECT token, sum(commits) FROM task GROUP BY 1": (
        f"wtas system qmgr task_started_tod task_thread wtascmn {OF_TASK}; "
        f"wqst system qmgr correl {OF_TASK}; wtid block_no {OF_TASK}"
    ),
    "SELECT job, queue, sum(gets) FROM queue_activity GROUP BY ALL": (
        f"wqst objname basename getn {OF_TASK}; wtid wtidccn block_no {OF_TASK}"
    ),
}


def columns_asked(tables: str) -> dict[str, frozenset[str]]:
    found = (each.split() for each in tables.split("; ") if each)
    return {
        table: frozenset([each.name for each in columns(table)] if names == ["*"] else names)
        for table, *names in found
    }


@pytest.mark.slow
def test_a_query_decodes_what_it_needs_in_one_reading(asked: Asked, whole: Database) -> None:
    """Also a query that needs other columns than one before it, or is wrong."""
    with Catalog(open_inputs([SMF])) as made:
        for query, tables in (ASKED | OF_VIEWS).items():
            asked.clear()
            found = made.arrow(query)
            assert asked == [columns_asked(tables)] * bool(tables), query
            if "EXPLAIN" not in query and query in ASKED:  # `whole` has tables only
                assert_same(found, whole.sql(query))
        for tables in ("qjst, qist", "qjst_io WHERE false"):
            same(made, whole, f"SELECT count(*) FROM {tables}")
        asked.clear()
        for query in ("SELECT nothing FROM wqst, qjst", "SELECT * FROM wqts, wqst"):
            with pytest.raises(RequestError) as caught:
                made.arrow(query)
            assert "EXPLAIN" not in str(caught.value)
        assert asked == []


def test_a_plan_that_is_not_understood_or_misses_a_column_costs_time_and_not_truth(
    asked: Asked, whole: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def misread(text: str) -> Any:
        plan = read_plan(text)
        assert plan is not None
        return plan._replace(columns={"wqst": frozenset(["qmgr"])})

    for read, wanted in ((lambda text: None, [{"wqst": None}]), (misread, None)):
        asked.clear()
        monkeypatch.setattr("smfparse.query.statements.read_plan", read)
        with Catalog(open_inputs([SMF])) as made:
            same(made, whole, JOINED)
        assert wanted in (None, asked)


def test_several_queries_read_once_what_they_need(asked: Asked, whole: Database) -> None:
    queries = {
        "puts": "SELECT basename, sum(putn)::BIGINT AS puts FROM wqst GROUP BY ALL ORDER BY ALL",
        "gets": "SELECT basename, sum(getn)::BIGINT AS gets FROM wqst GROUP BY ALL ORDER BY ALL",
        "blocks": "SELECT count(*) AS blocks FROM qjst",
        "none": "SELECT 1 AS one",
    }
    jobs = "SELECT job, count(*) AS tasks FROM task GROUP BY ALL ORDER BY ALL"
    expected = smfparse.open(SMF).sql(jobs)
    found = smfparse.open(SMF).sqls(queries | {"jobs": jobs})
    task, wanted = asked
    own = {"wqst": {"basename", "putn", "getn"}, "qjst": {"system"}}
    assert wanted.keys() == own.keys() | task.keys()
    assert wanted == {each: own.get(each, set()) | (task.get(each) or set()) for each in wanted}
    assert list(found) == [*queries, "jobs"]
    assert found["jobs"].equals(expected)
    for name, query in queries.items():
        assert found[name].to_pylist() == whole.sql(query).to_arrow_table().to_pylist()


def test_of_several_queries_each_has_to_run() -> None:
    data = smfparse.open(SMF)
    for wrong in ("SELECT nix FROM wqst", "CREATE TABLE t (a INT)", "SELECT 1; SELECT 2", ""):
        with pytest.raises(RequestError):
            data.sqls({"good": "SELECT 1", "wrong": wrong})
    assert data.sqls({}) == {}


def test_of_small_files_whole_tables_are_read_once_and_kept_off_the_disk(
    asked: Asked, whole: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("smfparse.query.scans.TemporaryFolder")
    queries = [JOINED, *[*ASKED][:2]]
    with Catalog(open_inputs([SMF], up_to(1 << 20))) as made:
        for query in queries:
            same(made, whole, query)
    assert asked == [{"wqst": None}] * len(queries)  # all columns


def test_files_are_small_together_up_to_a_size_but_never_packed_ones(tmp_path: Path) -> None:
    size, packed = SMF.stat().st_size, tmp_path / "packed.smf.gz"
    packed.write_bytes(gzip.compress(SMF.read_bytes()))
    for path, most, is_small in ((SMF, size, True), (SMF, size - 1, False), (packed, size, False)):
        assert SmfScans(open_inputs([path], up_to(most))).are_whole == is_small


def test_a_selection_and_damage_reach_a_spooled_query(tmp_path: Path) -> None:
    cut = tmp_path / "cut.smf"
    cut.write_bytes(SMF.read_bytes()[:-7])
    inputs = open_inputs([cut], ReadOptions(Selection.of(qmgr=["QM02"])))
    with Catalog(inputs) as made:
        rows = made.arrow("SELECT DISTINCT a.qmgr FROM wqst AS a JOIN qjst AS b USING (qmgr)")
    assert rows.to_pylist() == [{"qmgr": "QM02"}]
    assert inputs.damage.count == 1


def test_no_room_for_what_is_read_first_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(inputs: Inputs, wanted: Wanted) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Inputs, "batches", full)
    with Catalog(open_inputs([SMF])) as made, pytest.raises(OutputError, match="No space left"):
        made.arrow("SELECT count(a.putn) FROM wqst AS a, wqst AS b")


def test_files_and_datasets_go_together(asked: Asked, whole_dataset: Path, whole: Database) -> None:
    query = "SELECT sum(a.putn) AS n FROM wqst AS a JOIN qjst AS b USING (source, record_no)"
    union = "SELECT sum(putn)::BIGINT AS n FROM wqst"
    ((alone,),) = whole.sql(union).fetchall()
    opened = open_inputs([SMF, whole_dataset], ReadOptions(keep_duplicates=True))
    with Catalog(opened) as made:
        assert made.arrow(union)["n"].to_pylist() == [2 * alone]
        made.arrow(query)
    joined = columns_asked("wqst putn source record_no; qjst source record_no")
    assert asked == [columns_asked("wqst putn"), joined]


table_and_columns = st.sampled_from(("wqst", "qjst", "qjst_io", RECORD)).flatmap(
    lambda table: st.tuples(st.just(table), st.permutations([each.name for each in columns(table)]))
)
SIGNS = st.sampled_from(["=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM"])


@search(14)
@given(chosen=table_and_columns, row=st.integers(0, 20), sign=SIGNS)
def test_any_filter_by_a_value_gives_the_rows_of_the_whole_tables(
    whole: Database, chosen: tuple[str, list[str]], row: int, sign: str
) -> None:
    table, (name, *others) = chosen
    query = f'SELECT "{name}"::VARCHAR FROM {table} OFFSET {row} LIMIT 1'
    found = [each for (each,) in whole.execute(query).fetchall() if each is not None]
    value = f"'{found[0]}'" if found else "NULL"
    shown = ", ".join(f'"{each}"' for each in others[:2])
    with Catalog(open_inputs([SMF])) as catalog:
        same(catalog, whole, f'SELECT {shown} FROM {table} WHERE "{name}" {sign} {value}')


def test_a_plan_that_does_not_say_what_it_scans_is_not_understood() -> None:
    """Tables are then found by their names in the query."""
    assert named_tables('SELECT "QJST".x FROM inputs.QJST, wqst_2') == ["qjst"]
    scan: dict[str, Any] = {"name": "ARROW_SCAN", "children": []}
    found = ({}, {"Projections": "qmgr"}, {"Projections": ["qjst__qmgr", "wqst__qmgr"]})
    plans = [[scan], *([scan | {"extra_info": each}] for each in found)]
    for text in ("", "{}", "[1]", *map(json.dumps, plans)):
        assert read_plan(text) is None, text
