"""Which interval the records of tasks are counted in."""

from __future__ import annotations

import datetime as dt
from typing import Any

from smfparse.advice import subjects
from smfparse.advice.judging import rows_query
from smfparse.calendar import calendar_macros
from smfparse.metrics import named_macros, view_macros
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
    bench.define(named_macros(query, view_macros() + calendar_macros()))
    found = bench.arrow(f"SELECT start, seconds, {figure} AS figure FROM ({query}) ORDER BY start")
    return [
        (round((start - START).total_seconds() / SECONDS), seconds, value)
        for start, seconds, value in (each.values() for each in found.to_pylist())
    ]
