"""Views: joined and named as declared, no row twice, with the totals of their tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from smfparse.decoding.dictionary import KEY_COLUMNS, table_names
from smfparse.decoding.selection import Selection
from smfparse.errors import RequestError
from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.metrics import views
from smfparse.query.catalog import Catalog
from smfparse.reports.declaration import report_names
from tests.support import smf
from tests.support.builders import Write
from tests.support.corpora import Corpus, of_corpora
from tests.support.paths import FIXTURES

pytestmark = pytest.mark.slow

FIXTURE = FIXTURES / "qm01-930.smf"
ROW_OF = {
    "buffer_pool": ["qpst"], "channel": ["qcst"], "data_lost": ["smf7"],
    "chinit_task": ["qct_dsp", "qct_adp", "qct_ssl", "qct_dns"], "log_interval": ["qjst"],
    "queue_activity": ["wqst"], "queue_depth": ["qqst"],
}  # fmt: skip
"""Views that have a row for each row of these tables."""
CHOSEN = {
    *("page_set", "buffer_pool", "time_on_queue_shortest", "time_on_queue_longest", "depth"),
    *("oldest_message_age", "uncommitted"),
}
"""Columns of queue_activity and queue_depth that are NULL in rows in which the field is not."""
Rows = list[tuple[Any, ...]]


@contextmanager
def asking(path: Path, **asked: Any) -> Iterator[Callable[[str], Rows]]:
    """Give what returns rows of a query, ordered by all their columns; NULL comes last."""
    with Catalog(open_inputs([path], ReadOptions(Selection.of(**asked)))) as catalog:

        def rows(query: str) -> Rows:
            found = catalog.arrow(f"FROM ({query}) ORDER BY ALL").to_pylist()
            return [tuple(each.values()) for each in found]

        yield rows


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
    assert "queue_activity" not in report_names()
    assert set(views.view_names()) == {*ROW_OF, "task", "api_cost"}


def total(values: Iterable[Any]) -> Any:
    """The sum as Python adds, which no number is too big for; None: there is no value."""
    found = [each for each in values if each is not None]
    return sum(found) if found else None


def field_of(column: Any) -> str | None:
    """The field whose values, or sums, a column of a view has; None: it has other numbers."""
    found = re.fullmatch(r"(?:sum\()?(\w+)\)?", column.place)
    is_number = column.arrow.startswith(("int", "uint", "double"))
    is_part = column.name == "cics_task"  # of a field with a name of its own
    return found[1].lower() if found and is_number and not is_part else None


@pytest.mark.sampled(2)
@of_corpora("site", "old", "new", "shared", "real")
def test_columns_are_as_declared_and_rows_and_totals_of_the_tables(corpus: Corpus) -> None:
    inputs = open_inputs(corpus.paths)

    @cache
    def tables(name: str) -> pl.DataFrame:
        found = pl.from_arrow(inputs.arrow(name))
        assert isinstance(found, pl.DataFrame)
        return found

    for name in views.view_names():
        which, rows = views.view(name), corpus.catalog.arrow(f"SELECT * FROM {name}")
        assert [(each.name, str(each.type)) for each in rows.schema] == [
            (each.name, each.arrow) for each in which.columns
        ]
        for column in which.columns:
            field = field_of(column)
            if field is None or (name.startswith("queue_") and column.name in CHOSEN):
                continue
            raw = [tables(each) for each in which.tables]
            expected = total(v for each in raw if field in each.columns for v in each[field])
            if name == "task" and isinstance(expected, int) and expected >= 2**64:
                continue  # a sum that does not fit is NULL
            found = total(rows[column.name].to_pylist())
            assert found == (expected and pytest.approx(expected, rel=1e-9)), (name, column.name)
        if name in ROW_OF:
            assert rows.num_rows == sum(tables(each).height for each in ROW_OF[name]), name


LATER: dict[str, Any] = {"ended": smf.ENDED + smf.MINUTE}
LAST: dict[str, Any] = {"wtasflag": "WTASAEOT"} | LATER


def own(qmgr: str, job: str, **more: Any) -> dict[str, Any]:
    return {"qmgr": qmgr, "by": smf.who(job), **more}


BELONGING = [
    smf.task_record(
        smf.task(wtascmn=3, wtascmet=30, wtascmct=20),
        smf.queue("A", getn=2, getet=20, getct=10),
        **own("QM1", "JOB1"),
    ),
    smf.more_queues(smf.queue("B", putn=5, putet=50, putct=40), **own("QM1", "OTHER")),
    # two intervals of one task, and others, one with its token
    smf.task_record(smf.task(wtascmn=1, wtasjwb=100), smf.queue("Q", getn=1), **own("QM2", "JOB1")),
    smf.task_record(
        smf.task(wtascmn=2, wtasjwb=200, **LAST),
        smf.queue("Q", getn=2),
        **own("QM2", "JOB1", **LATER),
    ),
    smf.task_record(smf.task(smf.task_token(2), wtascmn=4), **own("QM2", "JOB2")),
    smf.task_record(smf.task(wtascmn=8), **own("QM2", "JOB3", system="MVSB")),
    # of a task of which a queue manager before has the token, too
    smf.more_queues(smf.queue("C", putn=7, putet=70, putct=60), **own("QM1", "OTHER")),
    # without the 116/1 before them
    smf.more_queues(smf.queue("Q", getn=1, getct=9), **own("QM3", "JOB1")),
    smf.task_record(smf.task(wtascmn=2, **LATER), **own("QM3", "JOB1", **LATER)),
    smf.more_queues(smf.queue("Q", smf.task_token(2), getn=4), **own("QM3", "JOB2")),
    # without a call
    smf.task_record(smf.task(), smf.queue("Q", openet=5), **own("QM4", "JOB1")),
]
"""Records of tasks, from 1."""


def test_what_a_116_2_has_belongs_to_the_task_and_interval_of_its_116_1(write: Write) -> None:
    """And to the task that it names where that is lost; a token is of one queue manager."""
    start = smf.ENDED - smf.MINUTE
    with asking(write(*BELONGING)) as rows:
        assert rows(
            "SELECT system, qmgr, job, intervals, queues, commits, puts, gets, calls, elapsed, "
            "cpu, log_bytes, interval_seconds, record_no FROM task"
        ) == [
            ("MVAA", "QM1", "JOB1", 1, 3, 3, 12, 2, 17, 170, 130, 0, 60, 1),
            ("MVAA", "QM2", "JOB1", 2, 1, 3, 0, 3, 6, 0, 0, 300, 120, 4),
            ("MVAA", "QM2", "JOB2", 1, 0, 4, None, None, 4, 0, 0, 0, 60, 5),
            ("MVAA", "QM3", "JOB1", 1, 1, 2, 0, 1, 3, 0, 9, 0, 60, 9),
            ("MVAA", "QM3", "JOB2", 0, 1, None, 0, 4, 4, 0, 0, None, None, 10),
            ("MVAA", "QM4", "JOB1", 1, 1, 0, 0, 0, 0, 5, 0, 0, 60, 11),
            ("MVSB", "QM2", "JOB3", 1, 0, 8, None, None, 8, 0, 0, 0, 60, 6),
        ]
        lasting = "interval_start, ended, cpu_per_call, wait_per_log_force"
        assert rows(f"SELECT qmgr, {lasting} FROM task WHERE job = 'JOB1'") == [
            ("QM1", start, None, pytest.approx(130 / 17), None),
            ("QM2", start, smf.ENDED + smf.MINUTE, 0, None),
            ("QM3", smf.ENDED, None, 3, None),
            ("QM4", start, None, None, None),
        ]
        names = "qmgr, queue, job, record_no, task_record_no, interval_start"
        assert rows(f"SELECT {names} FROM queue_activity") == [
            ("QM1", "A", "JOB1", 1, 1, start),
            ("QM1", "B", "JOB1", 2, 1, start),
            ("QM1", "C", "JOB1", 7, 1, start),
            ("QM2", "Q", "JOB1", 3, 3, start),
            ("QM2", "Q", "JOB1", 4, 4, smf.ENDED),
            ("QM3", "Q", "JOB1", 8, None, None),
            ("QM3", "Q", "JOB2", 10, None, None),
            ("QM4", "Q", "JOB1", 11, 11, start),
        ]
        costs = (
            "qmgr, verb, queue, job, calls, record_no, elapsed, elapsed_per_call, interval_start"
        )
        assert rows(f"SELECT {costs} FROM api_cost WHERE qmgr IN ('QM1', 'QM4')") == [
            ("QM1", "commit", None, "JOB1", 3, 1, 30, 10, start),
            ("QM1", "get", "A", "JOB1", 2, 1, 20, 10, start),
            ("QM1", "put", "B", "JOB1", 5, 2, 50, 10, start),
            ("QM1", "put", "C", "JOB1", 7, 7, 70, 10, start),
            ("QM4", "open", "Q", "JOB1", 0, 11, 5, None, start),
        ]
        assert rows("SELECT record_no, verb, calls FROM api_cost WHERE qmgr = 'QM2'") == [
            *((3, "commit", 1), (3, "get", 1), (4, "commit", 2), (4, "get", 2)),
            *((5, "commit", 4), (6, "commit", 8)),
        ]


LOCAL = (smf.ENDED + smf.MINUTE + smf.WEST).replace(tzinfo=None)
"""Local time of records of the next minute."""


def test_a_116_2_whose_116_1_is_not_selected_is_of_the_job_that_it_names(write: Write) -> None:
    path = write(
        smf.task_record(smf.task(), by=smf.who("JOB1")),
        smf.more_queues(smf.queue("Q.B", putn=5), by=smf.who("JOB1"), **LATER),
        smf.more_queues(smf.queue("Q.C", putn=7), by=smf.who("JOB1"), **LATER),
    )
    for asked in ({"type": "116(2)"}, {"since": LOCAL, "smf_time": True}):
        with asking(path, **asked) as rows:
            for name in ("puts FROM queue_activity", "calls FROM api_cost"):
                assert rows(f"SELECT job, {name}") == [("JOB1", 5), ("JOB1", 7)]
            assert rows("SELECT job, puts FROM task") == [("JOB1", 12)]


def test_the_script_leaves_out_views_of_tables_that_are_not_there() -> None:
    script = views.views_script(["qpst", "qjst"])
    assert ("VIEW buffer_pool" in script, "VIEW log_interval" in script) == (True, False)


QUERIES = {
    "WITH task AS (SELECT 7 AS n) SELECT n FROM task": 7,
    "SELECT count(*) AS n FROM task, channel WHERE FALSE": 0,
    'SELECT count(*) > 0 AS n FROM "API_COST"': True,
    "SELECT count(*) > 0 AS n FROM inputs.task WHERE input_no = 0": True,
    "SELECT count(*) AS n FROM (DESCRIBE api_cost)": len(views.view("api_cost").columns),
    "SELECT count(*) AS n FROM (SUMMARIZE queue_depth)": len(views.view("queue_depth").columns),
    "SELECT count(*) > 0 AS n FROM query_table('task')": True,
    "SELECT a.n = b.n AS n FROM (SELECT count(*) AS n FROM queue_activity) AS a, "
    "(SELECT count(*) AS n FROM wqst) AS b": True,
}


def test_a_view_can_be_named_like_a_table() -> None:
    with Catalog(open_inputs([FIXTURE])) as catalog:
        for query, expected in QUERIES.items():
            assert catalog.arrow(query).to_pylist() == [{"n": expected}], query
        catalog.execute("CREATE TABLE kept AS SELECT * FROM chinit_task")
        assert catalog.arrow("FROM kept").num_rows
        for wrong, near in (
            ("SELECT * FROM queue_activities", "queue_activity"),
            ("SELECT cpu_per_cal FROM api_cost", "cpu_per_call"),
        ):
            with pytest.raises(RequestError, match=near):
                catalog.arrow(wrong)
