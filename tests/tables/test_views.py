"""Views: joined and named as declared, no row twice, with the totals of their tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from smfparse import reports
from smfparse.errors import RequestError
from smfparse.inputs import Inputs, ReadOptions, open_inputs
from smfparse.limits import LIMITS
from smfparse.metrics import views
from smfparse.query import Catalog
from smfparse.selecting import Selection
from smfparse.tables import KEY_COLUMNS, table_names
from tests.support.builders import Write
from tests.support.corpora import Corpus, of_corpora
from tests.support.paths import FIXTURES
from tests.support.smf import (
    ENDED,
    MINUTE,
    WEST,
    more_queues,
    queue,
    task,
    task_record,
    task_token,
    who,
)

pytestmark = pytest.mark.slow

FIXTURE = FIXTURES / "qm01-930.smf"
ROW_OF = {
    "buffer_pool": ["qpst"],
    "channel": ["qcst"],
    "data_lost": ["smf7"],
    "chinit_task": ["qct_dsp", "qct_adp", "qct_ssl", "qct_dns"],
    "log_interval": ["qjst"],
    "queue_activity": ["wqst"],
    "queue_depth": ["qqst"],
}
"""Views that have a row for each row of these tables."""
CHOSEN = {
    "queue_activity": {
        "page_set",
        "buffer_pool",
        "time_on_queue_shortest",
        "time_on_queue_longest",
    },
    "queue_depth": {"depth", "oldest_message_age", "uncommitted"},
}
"""Columns that are NULL in rows in which the field is not."""
LATER = (ENDED + MINUTE + WEST).replace(tzinfo=None)
"""Local time of records of the next minute."""
Rows = list[dict[str, Any]]


def rows(query: str, *paths: Path) -> Rows:
    with Catalog(open_inputs(paths)) as catalog:
        found: Rows = catalog.arrow(query).to_pylist()
        return found


def test_a_view_has_every_key_and_reads_the_tables_that_it_declares() -> None:
    keys = [each.name for each in KEY_COLUMNS if each.name not in ("record_offset", "block_no")]
    for name in views.view_names():
        which = views.view(name)
        names = [each.name for each in which.columns]
        assert names[: len(keys)] == keys
        assert len({*names}) == len(names)
        assert not {name, *names} & {*table_names()}
        for each in which.columns:
            assert len(each.doc) > 3, each.name
            assert each.place or each.name in (*keys, "block_no", "task_record_no"), each.name
        found = re.findall(r"(?:FROM|JOIN) (\w+)|'(\w+)'", which.sql)
        assert {a or b for a, b in found} & {*table_names()} == {*which.tables}
    assert "queue_activity" not in reports.report_names()
    assert set(views.view_names()) == {*ROW_OF, "task", "api_cost"}


# --- totals -------------------------------------------------------------------------------------


Tables = Callable[[str], pl.DataFrame]
"""Tables by name, decoded without DuckDB."""


def total(values: Iterable[Any]) -> Any:
    """The sum as Python adds, which no number is too big for; None: there is no value."""
    found = [each for each in values if each is not None]
    return sum(found) if found else None


def is_near(found: Any, expected: Any) -> bool:
    """Whether two totals are the same, but for the order in which doubles were added."""
    if expected is None or found is None:
        return found is expected
    return bool(found == pytest.approx(expected, rel=1e-9))


def field_of(column: Any) -> str | None:
    """The field whose values, or sums, a column of a view has; None: it has other numbers."""
    found = re.fullmatch(r"(?:sum\()?(\w+)\)?", column.place)
    is_number = column.arrow.startswith(("int", "uint", "double"))
    return found[1].lower() if found and is_number else None


def check_fields(name: str, view: pl.DataFrame, tables: Tables) -> None:
    """Compare the total of every field in a view with that in its tables."""
    which = views.view(name)
    for column in which.columns:
        field = field_of(column)
        if field is None or column.name in CHOSEN.get(name, ()):
            continue
        raw = [tables(each) for each in which.tables]
        expected = total(v for each in raw if field in each.columns for v in each[field])
        found = total(view[column.name])
        if name == "task" and isinstance(expected, int) and expected >= 2**64:
            continue  # a sum that does not fit is NULL
        assert is_near(found, expected), (name, column.name)


@pytest.mark.sampled(3)
@of_corpora("site", "old", "new", "shared", "real")
def test_columns_rows_and_totals_are_those_that_are_declared_and_of_the_tables(
    corpus: Corpus,
) -> None:
    inputs = open_inputs(corpus.paths)

    @cache
    def tables(name: str) -> pl.DataFrame:
        found = pl.from_arrow(inputs.arrow(name))
        assert isinstance(found, pl.DataFrame)
        return found

    for name in views.view_names():
        rows = corpus.catalog.arrow(f"SELECT * FROM {name}")
        assert [(each.name, str(each.type)) for each in rows.schema] == [
            (each.name, each.arrow) for each in views.view(name).columns
        ]
        view = pl.from_arrow(rows)
        assert isinstance(view, pl.DataFrame)
        check_fields(name, view, tables)
        if name in ROW_OF:
            assert view.height == sum(tables(each).height for each in ROW_OF[name]), name


# --- which rows belong together -----------------------------------------------------------------


def test_what_a_116_2_has_belongs_to_the_task_and_interval_of_its_116_1(write: Write) -> None:
    block = task(wtascmn=3, wtascmet=30, wtascmct=20)
    path = write(
        task_record(block, queue("Q.A", getn=2, getet=20, getct=10), by=who("JOB1")),
        more_queues(queue("Q.B", putn=5, putet=50, putct=40), by=who("OTHER")),
        more_queues(queue("Q.C", putn=7, putet=70, putct=60), by=who("OTHER")),
    )
    (found,) = rows("SELECT * FROM task", path)
    assert found["job"] == "JOB1"
    assert [found[each] for each in ("intervals", "queues", "calls", "puts", "gets")] == [
        1,
        3,
        17,
        12,
        2,
    ]
    assert (found["elapsed"], found["cpu"]) == (170, 130)
    assert (found["interval_seconds"], found["record_no"]) == (60, 1)
    activity = rows("SELECT * FROM queue_activity ORDER BY queue", path)
    told = [
        (each["queue"], each["job"], each["record_no"], each["task_record_no"]) for each in activity
    ]
    assert told == [("Q.A", "JOB1", 1, 1), ("Q.B", "JOB1", 2, 1), ("Q.C", "JOB1", 3, 1)]
    costs = rows("SELECT * FROM api_cost ORDER BY queue NULLS FIRST", path)
    assert [(each["verb"], each["queue"], each["job"], each["calls"]) for each in costs] == [
        ("commit", None, "JOB1", 3),
        ("get", "Q.A", "JOB1", 2),
        ("put", "Q.B", "JOB1", 5),
        ("put", "Q.C", "JOB1", 7),
    ]
    assert {each["interval_start"] for each in costs} == {ENDED - MINUTE}


def test_intervals_of_one_task_are_summed_and_stay_apart_elsewhere(write: Write) -> None:
    path = write(
        task_record(task(wtascmn=1, wtasjwb=100), queue("Q", getn=1), by=who("JOB1")),
        task_record(
            task(wtascmn=2, wtasjwb=200, ended=ENDED + MINUTE, wtasflag="WTASAEOT"),
            queue("Q", getn=2),
            ended=ENDED + MINUTE,
            by=who("JOB1"),
        ),
        task_record(task(task_token(2), wtascmn=4), by=who("JOB2")),
    )
    first, second = rows("SELECT * FROM task ORDER BY job", path)
    names = ("intervals", "commits", "log_bytes", "gets", "queues", "interval_seconds")
    assert [first[each] for each in names] == [2, 3, 300, 3, 1, 120]
    assert (first["interval_start"], first["ended"]) == (ENDED - MINUTE, ENDED + MINUTE)
    assert (first["record_no"], second["record_no"]) == (2, 3)
    assert (second["intervals"], second["commits"], second["ended"]) == (1, 4, None)
    costs = rows("SELECT record_no, verb, calls FROM api_cost ORDER BY ALL", path)
    assert [tuple(each.values()) for each in costs] == [
        (1, "commit", 1),
        (1, "get", 1),
        (2, "commit", 2),
        (2, "get", 2),
        (3, "commit", 4),
    ]


def test_two_queue_managers_with_one_token_are_two_tasks(write: Write) -> None:
    path = write(
        task_record(task(wtascmn=1), queue("Q", getn=1), by=who("JOB1"), qmgr="QM1"),
        task_record(task(wtascmn=2), queue("Q", getn=2), by=who("JOB2"), qmgr="QM2"),
        more_queues(queue("R", getn=4), qmgr="QM1"),
        task_record(task(wtascmn=8), by=who("JOB3"), qmgr="QM1", system="MVSB"),
    )
    found = rows("SELECT system, qmgr, job, commits, gets FROM task ORDER BY ALL", path)
    assert [tuple(each.values()) for each in found] == [
        ("MVAA", "QM1", "JOB1", 1, 5),
        ("MVAA", "QM2", "JOB2", 2, 2),
        ("MVSB", "QM1", "JOB3", 8, None),
    ]
    assert [
        each["job"] for each in rows("SELECT job FROM queue_activity ORDER BY record_no", path)
    ] == ["JOB1", "JOB2", "JOB1"]


@pytest.mark.parametrize("chosen", [{"type": "116(2)"}, {"since": LATER, "smf_time": True}])
def test_a_116_2_whose_116_1_is_not_selected_is_of_the_job_that_it_names(
    write: Write, chosen: Any
) -> None:
    path = write(
        task_record(task(), by=who("JOB1")),
        more_queues(queue("Q.B", putn=5), by=who("JOB1"), ended=ENDED + MINUTE),
        more_queues(queue("Q.C", putn=7), by=who("JOB1"), ended=ENDED + MINUTE),
    )
    with Catalog(open_inputs([path], ReadOptions(Selection.of(**chosen)))) as catalog:
        for query in ("SELECT job, puts FROM queue_activity", "SELECT job, calls FROM api_cost"):
            found = catalog.arrow(f"{query} ORDER BY ALL").to_pylist()
            assert [tuple(each.values()) for each in found] == [("JOB1", 5), ("JOB1", 7)]
        assert catalog.arrow("SELECT job, puts FROM task").to_pylist() == [
            {"job": "JOB1", "puts": 12}
        ]


def test_a_116_2_without_its_116_1_is_of_the_task_that_it_names(write: Write) -> None:
    path = write(
        more_queues(queue("Q", getn=1, getct=9), by=who("JOB1")),
        task_record(task(wtascmn=2, ended=ENDED + MINUTE), by=who("JOB1"), ended=ENDED + MINUTE),
        more_queues(queue("Q", task_token(2), getn=4), by=who("JOB2")),
    )
    first, second = rows("SELECT * FROM task ORDER BY job", path)
    assert (first["job"], first["intervals"], first["commits"], first["gets"]) == ("JOB1", 1, 2, 1)
    assert (second["job"], second["intervals"], second["commits"], second["gets"]) == (
        "JOB2",
        0,
        None,
        4,
    )
    found = rows(
        "SELECT task_record_no, job, interval_start FROM queue_activity ORDER BY job", path
    )
    assert [tuple(each.values()) for each in found] == [(None, "JOB1", None), (None, "JOB2", None)]


def test_an_average_of_nothing_is_null_and_no_error(write: Write) -> None:
    path = write(task_record(task(), queue("Q", openet=5)))
    (found,) = rows("SELECT * FROM api_cost", path)
    assert (found["verb"], found["calls"], found["elapsed"]) == ("open", 0, 5)
    assert found["elapsed_per_call"] is None
    (found,) = rows("SELECT * FROM task", path)
    assert (found["calls"], found["cpu_per_call"], found["wait_per_log_force"]) == (0, None, None)


# --- the same wherever it is read ---------------------------------------------------------------


def sorted_rows(found: Any) -> list[str]:
    """Rows as text, for those that have no order; doubles but for how they were added."""
    frame = pl.DataFrame(found).with_columns(pl.selectors.float().round_sig_figs(12))
    return sorted(map(repr, frame.rows()))


def test_the_script_makes_the_views_in_a_duckdb_that_has_only_the_tables(
    whole_dataset: Path, tmp_path: Path
) -> None:
    file = tmp_path / "made.duckdb"
    with duckdb.connect(file) as made:
        for table in table_names():
            kind = "TABLE" if table.startswith("w") else "VIEW"
            files = f"read_parquet('{whole_dataset / table}/*.parquet')"
            made.execute(f"CREATE {kind} {table} AS SELECT * FROM {files}")
        for _ in range(2):
            made.execute(views.views_script())
    with Catalog(open_inputs([whole_dataset])) as catalog, duckdb.connect() as other:
        other.execute(f"ATTACH '{file}' AS made (READ_ONLY); SET TimeZone = 'UTC'")
        for name in views.view_names():
            expected = catalog.arrow(f"SELECT * FROM {name}")
            found = other.sql(f"SELECT * FROM made.{name}").to_arrow_table()
            assert found.schema == expected.schema
            assert sorted_rows(found) == sorted_rows(expected)


def test_the_script_leaves_out_views_of_tables_that_are_not_there() -> None:
    with duckdb.connect() as made:
        made.execute("CREATE TABLE qpst AS SELECT 1 AS x")
        with pytest.raises(duckdb.Error):
            made.execute(views.views_script(["qpst"]))  # a table that is none of ours
    assert "VIEW buffer_pool" in views.views_script(["qpst", "qjst"])
    assert "VIEW log_interval" not in views.views_script(["qpst", "qjst"])


# --- what is read -------------------------------------------------------------------------------


OF_TASK = "source record_offset task_source task_record_offset"
NEEDED = {
    "SELECT queue, depth FROM queue_depth": {"qqst": "qqstqnam qqstdpth qqstpart"},
    "SELECT used_percent FROM buffer_pool WHERE buffer_pool = 3": {
        "qpst": "qpstnbuf qpstcbsl qpstpool"
    },
    "SELECT token, sum(commits) FROM task GROUP BY 1": {
        "wtas": f"system qmgr task_started_tod task_thread wtascmn {OF_TASK}",
        "wqst": f"system qmgr correl {OF_TASK}",
        "wtid": f"block_no {OF_TASK}",
    },
    "SELECT job, queue, sum(gets) FROM queue_activity GROUP BY ALL": {
        "wqst": f"objname basename getn {OF_TASK}",
        "wtid": f"wtidccn block_no {OF_TASK}",
    },
}
"""Queries over views: the columns of tables that are asked for, at once."""


def test_a_view_has_only_the_columns_decoded_that_a_query_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []
    batches = Inputs.batches
    monkeypatch.setitem(vars(LIMITS), "whole_bytes", 0)  # no table is read whole
    monkeypatch.setattr(
        Inputs, "batches", lambda self, wanted: asked.append(dict(wanted)) or batches(self, wanted)
    )
    for query, needed in NEEDED.items():
        asked.clear()
        rows(query, FIXTURE)
        assert asked == [{table: frozenset(names.split()) for table, names in needed.items()}]


QUERIES = {
    "WITH task AS (SELECT 7 AS n) SELECT n FROM task": [{"n": 7}],
    "SELECT count(*) AS n FROM task, channel WHERE FALSE": [{"n": 0}],
    'SELECT count(*) > 0 AS n FROM "API_COST"': [{"n": True}],
    "SELECT count(*) > 0 AS n FROM inputs.task WHERE input_no = 0": [{"n": True}],
    "SELECT count(*) AS n FROM (DESCRIBE api_cost)": [{"n": len(views.view("api_cost").columns)}],
    "SELECT count(*) AS n FROM (SUMMARIZE queue_depth)": [
        {"n": len(views.view("queue_depth").columns)}
    ],
    "SELECT count(*) > 0 AS n FROM query_table('task')": [{"n": True}],
    "SELECT a.n = b.n AS n FROM (SELECT count(*) AS n FROM queue_activity) AS a, "
    "(SELECT count(*) AS n FROM wqst) AS b": [{"n": True}],
}


def test_a_view_can_be_named_like_a_table() -> None:
    with Catalog(open_inputs([FIXTURE])) as catalog:
        for query, expected in QUERIES.items():
            assert catalog.arrow(query).to_pylist() == expected, query
        catalog.execute("CREATE TABLE kept AS SELECT * FROM chinit_task")
        (row,) = catalog.arrow("SELECT count(*) > 0 AS n FROM kept").to_pylist()
        assert row["n"]
        with pytest.raises(RequestError, match="queue_activity"):
            catalog.arrow("SELECT * FROM queue_activities")
        with pytest.raises(RequestError, match="cpu_per_call"):
            catalog.arrow("SELECT cpu_per_cal FROM api_cost")
