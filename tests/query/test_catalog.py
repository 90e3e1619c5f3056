"""Every table in DuckDB, from SMF files and from datasets."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from smfparse.errors import InputError, RequestError
from smfparse.inputs import open_inputs
from smfparse.limits import LIMITS
from smfparse.query import Catalog
from smfparse.query import relations as relations_module
from smfparse.tables import quoted, schema, table_names, title
from smfparse.writing import write_dataset
from tests.support.builders import rdw
from tests.support.paths import SMF
from tests.support.smf import LOG_START, Io, Log, log_record

ROWS = 3
IO_PAGES = (10, 30)
JOINED = """
    SELECT q.record_no, any_value(q.qjstwrnw) AS nowait, sum(i.qjstioci)::BIGINT AS pages
    FROM qjst AS q JOIN qjst_io AS i USING (source, record_no) JOIN record AS r USING (record_no)
    GROUP BY q.record_no ORDER BY q.record_no
"""


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    records = [
        log_record(
            Log(
                counters={"qjstwrnw": 100 + number},
                io={(1, 1): Io(10, IO_PAGES[0]), (2, 2): Io(3, IO_PAGES[1])},
            ),
            start=LOG_START + dt.timedelta(seconds=10 * number),
        )
        for number in range(ROWS)
    ]
    path = tmp_path / "it's a dump.smf"
    path.write_bytes(rdw(records))
    return path


@pytest.fixture(params=["raw", "dataset", "both"])
def catalog(dump: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Catalog]:
    """The same records as a file, as a dataset, and split over both."""
    folder = tmp_path / "it's a folder"
    paths = [dump]
    if request.param == "dataset":
        write_dataset(open_inputs([dump]), folder)
        paths = [folder]
    if request.param == "both":
        data = dump.read_bytes()
        size = len(data) // ROWS
        dump.write_bytes(data[:size])
        rest = tmp_path / "rest.smf"
        write_dataset(open_inputs([dump]), folder)
        rest.write_bytes(data[size:])
        paths = [folder, rest]
    with Catalog(open_inputs(paths)) as made:
        yield made


@pytest.fixture
def raw(dump: Path) -> Iterator[Catalog]:
    with Catalog(open_inputs([dump])) as made:
        yield made


def test_every_table_can_be_queried_with_its_types(catalog: Catalog) -> None:
    for table in table_names():
        found = catalog.arrow(f"SELECT * FROM {table}")
        expected = schema(table)
        assert found.schema.names == expected.names, table
        kinds = {each.name: each.type for each in found.schema}
        assert kinds == {each.name: each.type for each in expected}, table


def test_every_table_has_its_rows(catalog: Catalog) -> None:
    for table in table_names():
        expected = {"record": ROWS, "qjst": ROWS, "qjst_io": 2 * ROWS}.get(table, 0)
        (row,) = catalog.arrow(f"SELECT count(*) AS rows FROM {table}").to_pylist()
        assert row["rows"] == expected, table


def test_the_tables_are_named_and_described_in_the_catalog(raw: Catalog) -> None:
    found = raw.arrow("SELECT view_name, comment FROM duckdb_views() WHERE NOT internal")
    described = {row["view_name"]: row["comment"] for row in found.to_pylist()}
    assert {table: described.get(table) for table in table_names()} == {
        table: title(table) for table in table_names()
    }


def test_tables_can_be_joined(dump: Path, tmp_path: Path) -> None:
    write_dataset(open_inputs([dump]), tmp_path / "tables")
    expected = [
        {"record_no": number + 1, "nowait": 100 + number, "pages": sum(IO_PAGES)}
        for number in range(ROWS)
    ]
    for path in (dump, tmp_path / "tables"):
        with Catalog(open_inputs([path])) as made:
            assert made.arrow(JOINED).to_pylist() == expected


def test_one_query_can_read_a_table_twice(catalog: Catalog) -> None:
    query = """
        SELECT count(*) AS pairs FROM qjst AS a, qjst AS b WHERE a.qjstwrnw <= b.qjstwrnw
    """
    (row,) = catalog.arrow(query).to_pylist()
    assert row["pairs"] == ROWS * (ROWS + 1) // 2


def test_a_query_can_be_asked_again(raw: Catalog) -> None:
    query = "SELECT sum(qjstwrnw)::BIGINT AS nowait FROM qjst"
    assert raw.arrow(query).to_pylist() == raw.arrow(query).to_pylist() == [{"nowait": 303}]


MOMENT = "2023-10-02 09:53:02+00"
"""What QWHSSTCK of the first record is in UTC."""
TIMES = """
    SELECT time::VARCHAR AS text, hour(time) AS hour, time, smf_time::VARCHAR AS local
    FROM qjst ORDER BY time LIMIT 1
"""


def test_times_are_utc_whatever_the_zone_of_the_process(
    dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "America/Chicago")
    time.tzset()
    try:
        with Catalog(open_inputs([dump])) as made:
            table = made.arrow(TIMES)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert table.schema.field("time").type == pa.timestamp("us", tz="UTC")
    (row,) = table.to_pylist()
    assert row["text"] == MOMENT
    assert row["hour"] == 9
    assert row["time"] == dt.datetime(2023, 10, 2, 9, 53, 2, tzinfo=dt.UTC)
    assert row["local"] == "2023-10-02 11:53:02"


def test_times_are_utc_in_a_process_started_in_another_zone(dump: Path) -> None:
    code = (
        "import sys\n"
        "from smfparse.query.catalog import Catalog\n"
        "from smfparse.inputs.opening import open_inputs\n"
        "with Catalog(open_inputs(sys.argv[1:2])) as catalog:\n"
        "    print(catalog.arrow(sys.argv[2]).to_pylist()[0]['text'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(dump), TIMES],
        env={**os.environ, "TZ": "Asia/Tokyo"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == MOMENT


def test_an_unknown_column_is_refused_with_near_names(raw: Catalog) -> None:
    with pytest.raises(RequestError) as caught:
        raw.arrow("SELECT qjstwrn FROM qjst")
    assert "qjstwrn" in str(caught.value)
    assert "qjstwrnw" in str(caught.value)


def test_an_unknown_table_is_refused_with_near_names(raw: Catalog) -> None:
    with pytest.raises(RequestError) as caught:
        raw.arrow("SELECT * FROM qjst_oi")
    assert "qjst_oi" in str(caught.value)
    assert "qjst_io" in str(caught.value)


@pytest.mark.parametrize("query", ["SELEC 1", "SELECT 1 +", "SELECT 'a' + 1 FROM qjst"])
def test_sql_that_does_not_run_is_refused(raw: Catalog, query: str) -> None:
    with pytest.raises(RequestError):
        raw.arrow(query)


@pytest.mark.parametrize(
    "query",
    ["CREATE TABLE mine (a INT)", "DROP VIEW qjst", "SET threads = 1", "", "-- nothing"],
)
def test_a_statement_that_gives_no_rows_is_refused(raw: Catalog, query: str) -> None:
    with pytest.raises(RequestError, match="SELECT"):
        raw.arrow(query)


def test_the_error_of_duckdb_is_chained(raw: Catalog) -> None:
    with pytest.raises(RequestError) as caught:
        raw.execute("SELECT nothing")
    assert caught.value.__cause__ is not None


def test_an_input_that_fails_during_a_scan_is_an_input_error(dump: Path) -> None:
    with Catalog(open_inputs([dump])) as made:
        dump.unlink()
        with pytest.raises(InputError, match=r"it's a dump\.smf"):
            made.arrow("SELECT * FROM qjst")


def test_a_wrong_query_after_a_failed_scan_is_told_for_what_it_is(dump: Path) -> None:
    data = dump.read_bytes()
    with Catalog(open_inputs([dump])) as made:
        dump.unlink()
        with pytest.raises(InputError):
            made.arrow("SELECT * FROM qjst")
        dump.write_bytes(data)
        assert made.arrow("SELECT * FROM qjst").num_rows == ROWS
        with pytest.raises(RequestError):
            made.arrow("SELECT nothing FROM qjst")


def test_damage_met_in_a_scan_is_noted_at_the_inputs(dump: Path) -> None:
    dump.write_bytes(dump.read_bytes()[:-7])
    inputs = open_inputs([dump])
    with Catalog(inputs) as made:
        assert made.arrow("SELECT * FROM qjst").num_rows == ROWS - 1
    assert inputs.damage.count == 1


def test_a_quote_in_sql_text_is_doubled() -> None:
    assert quoted("it's") == "'it''s'"


def test_a_closed_catalog_is_closed(raw: Catalog) -> None:
    raw.close()
    with pytest.raises(RequestError):
        raw.arrow("SELECT 1")
    with pytest.raises(RequestError):
        raw.execute("CREATE TABLE mine AS SELECT * FROM qjst")


def test_rows_come_in_order(
    catalog: Catalog,
) -> None:
    """The settings of the connection are those of before."""

    def keeps_order() -> object:
        return catalog.connection.execute(
            "SELECT current_setting('preserve_insertion_order')"
        ).fetchall()

    before = keeps_order()
    found = list(catalog.rows("SELECT record_no FROM qjst ORDER BY time, record_no"))
    assert [row["record_no"] for rows in found for row in rows]
    assert keeps_order() == before
    with pytest.raises(RequestError, match="no_such"):
        list(catalog.rows("SELECT no_such FROM qjst ORDER BY 1"))
    with pytest.raises(RequestError, match="Could not convert"):
        list(catalog.rows("SELECT CAST('x' || record_no AS INT) FROM qjst ORDER BY 1"))
    assert keeps_order() == before


class Recorded:
    """A connection that notes which statements it runs."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.executed: list[str] = []
        self.planned: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, statement: str, *values: Any) -> Any:
        self.executed.append(statement.split()[0])
        return self._connection.execute(statement, *values)

    def sql(self, query: str) -> Any:
        self.planned.append(query)
        return self._connection.sql(query)


def test_ordered_rows_of_little_data_come_from_one_plan(
    dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for few in (relations_module._FEW_BYTES, -1):
        monkeypatch.setattr(relations_module, "_FEW_BYTES", few)
        with Catalog(open_inputs([dump])) as catalog:
            catalog.connection = recorded = Recorded(catalog.connection)  # type: ignore[assignment]
            found.append([row for rows in catalog.rows(JOINED) for row in rows])
            found.append([row for part in catalog.parts(JOINED) for row in part.to_pylist()])
        assert recorded.executed.count("EXECUTE") == (2 if few > 0 else 0)
        assert recorded.planned == ([] if few > 0 else [JOINED, JOINED])
    assert found == [found[0]] * 4
    assert [row["nowait"] for row in found[0]] == [100, 101, 102]


def test_several_queries_of_a_large_file_are_planned_once(
    dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = [JOINED, "SELECT count(*) AS n FROM qjst", "SELECT time FROM qjst ORDER BY time"]
    with Catalog(open_inputs([dump])) as catalog:
        expected = list(catalog.arrows(queries))
    monkeypatch.setitem(vars(LIMITS), "whole_bytes", 0)
    with Catalog(open_inputs([dump])) as catalog:
        recorded = Recorded(catalog.connection)
        catalog.connection = catalog._statements._connection = recorded  # type: ignore[assignment]
        found = list(catalog.arrows_of_filled(queries))
    assert [each.to_pylist() for each in found] == [each.to_pylist() for each in expected]
    assert found[0].column("pages").to_pylist() == [sum(IO_PAGES)] * ROWS
    assert recorded.executed.count("PREPARE") == recorded.executed.count("EXECUTE") == 3
    assert recorded.planned == []


def test_ordered_rows_of_one_scan_are_not_held() -> None:
    with Catalog(open_inputs([SMF])) as catalog:
        catalog.connection = recorded = Recorded(catalog.connection)  # type: ignore[assignment]
        assert next(catalog.rows("SELECT record_no FROM record ORDER BY 1"))
        assert recorded.planned


def test_an_asof_join_of_tables_compares_not_all_rows_with_all(catalog: Catalog) -> None:
    ((_, plan),) = (
        each.values()
        for each in catalog.arrow(
            "EXPLAIN SELECT count(*) FROM qjst AS a ASOF JOIN qjst AS b "
            "ON a.qmgr = b.qmgr AND a.time >= b.time"
        ).to_pylist()
    )

    assert "Asof Join" in plan, plan


def test_what_small_files_have_no_rows_of_is_not_asked_for(catalog: Catalog) -> None:
    """Of datasets that is not known before."""
    full = [
        "SELECT sum(qjstwrnw) AS wide, max(qmgr) AS qmgr FROM qjst",
        "SELECT count(*) AS n FROM log_interval",
    ]
    empty = "SELECT count(*) AS n FROM qpst"

    *found, none, asked = catalog.arrows_of_filled([*full, empty], [empty])

    assert found == list(catalog.arrows(full))
    assert found[0].schema.field("wide").type == pa.int64()
    assert asked.to_pylist() == [{"n": 0}]
    assert none is None or none == asked


def test_of_small_files_no_query_is_planned_without_rows(dump: Path) -> None:
    with Catalog(open_inputs([dump])) as made:
        assert [*made.arrows_of_filled(["SELECT nothing FROM qpst"])] == [None]
        with pytest.raises(RequestError, match="nothing"):
            list(made.arrows_of_filled(["SELECT nothing FROM qjst"]))
