"""Which interval the records of tasks are counted in."""

from __future__ import annotations

import datetime as dt
from typing import Any

from smfparse.advice import subjects
from smfparse.calendar import calendar_macros
from smfparse.metrics import named_macros, view_macros
from tests.support.advised import SECONDS, START, Bench, Rows


def test_a_record_counts_where_its_middle_is() -> None:
    rows = {
        "qmst": [{}, {"interval_no": 1}],
        "wtid": [_task(1, 299.0, 600), _task(2, 301.0, 600), _task(3, 598.0, 1.5)],
        "wtas": [_commits(1), _commits(2), _commits(3)],
    }

    assert _used("task_use", rows, "commits") == [(0, SECONDS, 2.0), (1, SECONDS, 1.0)]


def test_a_record_of_the_time_before_all_statistics_is_left_out() -> None:
    rows = {
        "qmst": [{}, {"interval_no": 1}],
        "wtid": [_task(1, -1799.0, 2000), _task(2, -1801.0, 2000), _task(3, 0.0, 5000)],
        "wtas": [_commits(1), _commits(2), _commits(3)],
    }

    assert _used("task_use", rows, "sum(commits) OVER ()") == [(-2, 600, 2.0), (4, 600, 2.0)]


def test_without_statistics_an_interval_is_ten_minutes_of_the_clock() -> None:
    rows = {
        "qmst": [{"qmgr": "QM02"}],
        "wtid": [_task(1, -1.0, 4), _task(2, -9000.0, 7000), _task(3, 1199.0, 1.5)],
        "wtas": [_commits(1), _commits(2), _commits(3)],
    }

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
    bench.define(named_macros(which.sql, view_macros() + calendar_macros()))
    found = bench.arrow(
        f"SELECT start, seconds, {figure} AS figure FROM ({which.sql}) ORDER BY start"
    )
    return [
        (round((start - START).total_seconds() / SECONDS), seconds, value)
        for start, seconds, value in (each.values() for each in found.to_pylist())
    ]
