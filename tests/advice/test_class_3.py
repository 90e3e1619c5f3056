"""Which interval the records of tasks are counted in, and which of two in one is the later."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from smfparse.advice.declaration import rules, subjects
from smfparse.advice.judging import rows_query, subject_query
from smfparse.metrics.calendar import calendar_macros
from smfparse.metrics.views import named_macros
from tests.support.advised import SECONDS, START, Bench, Rows

TWO = [{}, {"interval_no": 1}]


def test_a_record_counts_where_its_middle_is() -> None:
    rows = _tasks(TWO, (299.0, 600), (301.0, 600), (598.0, 1.5))
    assert _used("task_use", rows, "commits") == [(0, SECONDS, 2.0), (1, SECONDS, 1.0)]


def test_a_record_of_the_time_before_all_statistics_is_left_out() -> None:
    rows = _tasks(TWO, (-1799.0, 2000), (-1801.0, 2000), (0.0, 5000))
    assert _used("task_use", rows, "sum(commits) OVER ()") == [(-2, 600, 2.0), (4, 600, 2.0)]


def test_without_statistics_an_interval_is_ten_minutes_of_the_clock() -> None:
    rows = _tasks([{"qmgr": "QM02"}], (-1.0, 4), (-9000.0, 7000), (1199.0, 1.5))
    found = [each[:2] for each in _used("task_use", rows, "commits")]
    assert found == [(-10, 600), (0, 600), (1, 600)]


def test_queues_of_a_further_record_are_those_of_its_task() -> None:
    rows = {
        "wtid": [_task(1, 0.0, 60), _task(2, 0.0, 60) | {"task_record_no": 1}],
        "wtas": [_commits(1)],
        "wqst": [
            {"record_no": 1, "block_no": 1, "basename": "A", "validput": 3},
            {"record_no": 2, "block_no": 1, "basename": "A", "validput": 4, "task_record_no": 1},
        ],
    }
    assert _used("queue_use", rows, "puts") == [(0, 600, 7.0)]


@pytest.mark.parametrize(
    ("subject", "table", "fields"),
    [
        ("queue", "qqst", lambda at: {"qqstqnam": "A", "qqstdpth": 7 * at % 5, "qqstputs": 1}),
        ("channel", "qcst", lambda at: {"qcstchnm": "A.TO.B", "qcstdspn": at, "qcstntmx": 5}),
        ("page_set", "qis1", lambda at: {"qis1psno": 4, "qis1topg": 100, "qis1unpg": 7 * at % 50}),
    ],
)
def test_two_records_of_one_interval_are_judged_in_the_order_of_their_numbers(
    subject: str, table: str, fields: Callable[[int], Mapping[str, Any]]
) -> None:
    some = [{"interval_no": at // 4, "record_no": at, **fields(at)} for at in range(1, 40)]
    which = [each for each in rules().values() if each.subject == subject and each.complete]
    query = subject_query(subjects()[subject], which)
    found = []
    for order in (some, some[::-1]):
        bench = Bench({table: order}, subjects()[subject].tables)
        bench.define(named_macros(query, calendar_macros()))
        found.append(bench.arrow(query).to_pylist())
    assert found[0] == found[1]


def _tasks(statistics: list[dict[str, Any]], *times: tuple[float, float]) -> Rows:
    """Return statistics, and tasks that begin at a second and last some; each commits once."""
    numbered = [*enumerate(times, 1)]
    return {
        "qmst": statistics,
        "wtid": [_task(number, *each) for number, each in numbered],
        "wtas": [_commits(number) for number, _ in numbered],
    }


def _task(number: int, begin: float, seconds: float) -> dict[str, Any]:
    start = START + dt.timedelta(seconds=begin)
    times = {"interval_start": start, "interval_seconds": seconds}
    return {"record_no": number, "block_no": 1, "wtidccn": "JOBA"} | times


def _commits(number: int) -> dict[str, Any]:
    return {"record_no": number, "block_no": 1, "wtascmn": 1}


def _used(subject: str, rows: Rows, figure: str) -> list[tuple[int, float, float]]:
    """Return number, length and figure of a subject's intervals; that at START has number 0."""
    which = subjects()[subject]
    bench = Bench(rows, which.tables)
    query = rows_query(which)
    bench.define(named_macros(query, calendar_macros()))
    found = bench.arrow(f"SELECT start, seconds, {figure} AS figure FROM ({query}) ORDER BY start")
    return [
        (round((start - START).total_seconds() / SECONDS), seconds, value)
        for start, seconds, value in (each.values() for each in found.to_pylist())
    ]
