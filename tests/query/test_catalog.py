"""Every table in DuckDB, from SMF files and from datasets."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pyarrow as pa
import pytest

from smfparse.decoding.arrow import schema
from smfparse.decoding.dictionary import table_names
from smfparse.errors import InputError, RequestError
from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.limits import Limits
from smfparse.metrics.measures import quoted
from smfparse.query import relations as relations_module
from smfparse.query.catalog import Catalog
from smfparse.query.results import rows_of
from smfparse.writing.dataset import write_dataset
from tests.support.builders import Write
from tests.support.smf import LOG_START, Io, Log, log_record

ROWS = 3
IO_PAGES = (10, 30)
JOINED = """
    SELECT q.record_no, any_value(q.qjstwrnw) AS nowait, sum(i.qjstioci)::BIGINT AS pages
    FROM qjst AS q JOIN qjst_io AS i USING (source, record_no) JOIN record AS r USING (record_no)
    GROUP BY q.record_no ORDER BY q.record_no
"""


@pytest.fixture
def dump(write: Write) -> Path:
    io = {(1, 1): Io(10, IO_PAGES[0]), (2, 2): Io(3, IO_PAGES[1])}
    starts = [LOG_START + dt.timedelta(seconds=10 * number) for number in range(ROWS)]
    logs = [Log(counters={"qjstwrnw": 100 + number}, io=io) for number in range(ROWS)]
    records = [log_record(log, start=start) for log, start in zip(logs, starts, strict=True)]
    return write(*records, name="it's a dump.smf")


@pytest.fixture(params=["raw", "both"])
def catalog(dump: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Catalog]:
    """The same records as a file, and split over a dataset and a file."""
    paths = [dump]
    if request.param == "both":
        paths = [tmp_path / "it's a folder", tmp_path / "rest.smf"]
        data = dump.read_bytes()
        size = len(data) // ROWS
        dump.write_bytes(data[:size])
        paths[1].write_bytes(data[size:])
        write_dataset(open_inputs([dump]), paths[0])
    with Catalog(open_inputs(paths)) as made:
        yield made


@pytest.mark.slow
def test_every_table_can_be_queried_with_its_types_and_rows_and_joined(catalog: Catalog) -> None:
    for table in table_names():
        found = catalog.arrow(f"SELECT * FROM {table}")
        assert found.schema.equals(schema(table).remove_metadata()), table
        expected = {"record": ROWS, "qjst": ROWS, "qjst_io": 2 * ROWS}.get(table, 0)
        assert found.num_rows == expected, table
    query = "SELECT count(*) AS pairs FROM qjst AS a, qjst AS b WHERE a.qjstwrnw <= b.qjstwrnw"
    assert catalog.arrow(query).to_pylist() == [{"pairs": ROWS * (ROWS + 1) // 2}]
    joined = "qjst AS a ASOF JOIN qjst AS b ON a.qmgr = b.qmgr AND a.time >= b.time"
    (plan,) = catalog.arrow(f"EXPLAIN SELECT count(*) FROM {joined}")["explain_value"].to_pylist()
    assert "Asof Join" in plan, plan  # which compares not all rows with all


def test_times_are_utc_in_any_zone_of_the_process(dump: Path) -> None:
    """QWHSSTCK of the first record is 09:53:02 in UTC."""
    shown = "time::VARCHAR AS text, hour(time) AS hour, time, smf_time::VARCHAR AS local"
    try:
        with pytest.MonkeyPatch.context() as patch, Catalog(open_inputs([dump])) as made:
            patch.setenv("TZ", "America/Chicago")
            time.tzset()
            table = made.arrow(f"SELECT {shown} FROM qjst ORDER BY time LIMIT 1")
    finally:
        time.tzset()
    assert table.schema.field("time").type == pa.timestamp("us", tz="UTC")
    (found,) = (tuple(each.values()) for each in table.to_pylist())
    moment = dt.datetime(2023, 10, 2, 9, 53, 2, tzinfo=dt.UTC)
    assert found == ("2023-10-02 09:53:02+00", 9, moment, "2023-10-02 11:53:02")


def test_what_does_not_run_or_gives_no_rows_is_refused(dump: Path) -> None:
    wrong = {
        "qjstwrn.*qjstwrnw": ["SELECT qjstwrn FROM qjst"],
        "qjst_oi.*qjst_io": ["SELECT * FROM qjst_oi"],
        "": ["SELEC 1", "SELECT 1 +", "SELECT 'a' + 1 FROM qjst"],
        "SELECT": ["CREATE TABLE t (a INT)", "DROP VIEW qjst", "SET threads = 1", "", "-- nothing"],
    }
    with Catalog(open_inputs([dump])) as made:
        for said, query in ((said, each) for said, queries in wrong.items() for each in queries):
            with pytest.raises(RequestError, match=f"(?s){said}"):
                made.arrow(query)


def test_an_input_that_fails_during_a_scan_is_an_input_error(dump: Path) -> None:
    data = dump.read_bytes()
    with Catalog(open_inputs([dump])) as made:
        dump.unlink()
        with pytest.raises(InputError, match=r"it's a dump\.smf"):
            made.arrow("SELECT * FROM qjst")
        dump.write_bytes(data)
        assert made.arrow("SELECT * FROM qjst").num_rows == ROWS
        with pytest.raises(RequestError) as caught:
            made.execute("SELECT nothing FROM qjst")
        assert caught.value.__cause__
    for query in ("SELECT 1", "FROM qjst"):  # it is closed
        with pytest.raises(RequestError):
            made.arrow(query)
    assert quoted("it's") == "'it''s'"


@pytest.mark.slow
def test_a_query_for_rows_in_order_leaves_the_connection_as_it_was(dump: Path) -> None:
    setting = "SELECT current_setting('preserve_insertion_order')"
    with Catalog(open_inputs([dump])) as catalog:
        before = catalog.connection.execute(setting).fetchall()
        found = list(catalog.rows("SELECT record_no FROM qjst ORDER BY time, record_no"))
        assert [row["record_no"] for rows in found for row in rows] == [1, 2, 3]
        assert catalog.connection.execute(setting).fetchall() == before
        for query, said in (
            ("SELECT no_such FROM qjst ORDER BY 1", "no_such"),
            ("SELECT CAST('x' || record_no AS INT) FROM qjst ORDER BY 1", "Could not convert"),
        ):
            with pytest.raises(RequestError, match=said):
                list(catalog.rows(query))
            assert catalog.connection.execute(setting).fetchall() == before


def test_ordered_rows_of_any_size_are_the_same(dump: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of little data they come from one plan."""
    names = ("record_no", "nowait", "pages")
    rows = [(number + 1, 100 + number, sum(IO_PAGES)) for number in range(ROWS)]
    expected = [dict(zip(names, each, strict=True)) for each in rows]
    large = ReadOptions(limits=Limits(whole_bytes=0))
    for few, options in product((relations_module._FEW_BYTES, -1), (ReadOptions(), large)):
        monkeypatch.setattr(relations_module, "_FEW_BYTES", few)
        with Catalog(open_inputs([dump], options)) as catalog:
            assert [row for rows in catalog.rows(JOINED) for row in rows] == expected
            assert [row for part in catalog.parts(JOINED) for row in part.to_pylist()] == expected
            one, other = catalog.arrows_of_filled([JOINED, "SELECT count(*) AS n FROM qjst"])
            assert (one.to_pylist(), other.to_pylist()) == (expected, [{"n": ROWS}])


@pytest.mark.slow
def test_what_small_files_have_no_rows_of_is_not_asked_for(catalog: Catalog) -> None:
    """Of datasets that is not known before."""
    wide = "SELECT sum(qjstwrnw) AS wide, max(qmgr) AS qmgr FROM inputs.qjst"
    full, empty = (
        [wide, "SELECT count(*) AS n FROM inputs.log_interval"],
        "SELECT count(*) AS n FROM inputs.qpst",
    )
    asked, *found, none = catalog.arrows_of_filled([*full, empty], [empty])
    assert found == list(catalog.arrows(full))
    assert found[0].schema.field("wide").type == pa.int64()
    assert asked.to_pylist() == [{"n": 0}]
    assert none is None or none == asked
    if none is None:
        assert [*catalog.arrows_of_filled(["SELECT nothing FROM inputs.qpst"])] == [None]
    with pytest.raises(RequestError, match="nothing"):
        list(catalog.arrows_of_filled(["SELECT nothing FROM inputs.qjst"]))


_UTC = pa.timestamp("us", "UTC")


def test_rows_are_those_that_arrow_gives() -> None:
    first = dt.datetime(2026, 3, 4, 12, tzinfo=dt.UTC)
    edges = [each.replace(tzinfo=dt.UTC) for each in (dt.datetime.min, dt.datetime.max)]
    some = pa.array([first, None, dt.datetime(1969, 1, 1, 0, 0, 0, 7, tzinfo=dt.UTC)], _UTC)
    for chunks in ([], [some], [some[1:], some[:0], some[:2]], [pa.array(edges, _UTC)]):
        moments = pa.chunked_array(chunks, _UTC)
        count = [None, 3, *range(len(moments))][: len(moments)]
        rows = pa.table({"at": moments, "count": count, "local": moments.cast("timestamp[us]")})
        found = rows_of(rows)
        assert found == rows.to_pylist()
        for each in (row["at"] for row in found):
            assert each in (None, *edges) or each.tzinfo is dt.UTC


def test_moments_that_python_does_not_have_are_refused_as_arrow_does() -> None:
    for beyond in (-(1 << 62), 1 << 62):
        rows = pa.table({"at": pa.array([0, beyond], pa.int64()).view(_UTC)})
        with pytest.raises(Exception) as expected:  # noqa: PT011 - whatever Arrow raises
            rows.to_pylist()
        with pytest.raises(type(expected.value)):
            rows_of(rows)
