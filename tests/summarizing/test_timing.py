"""When there is data of a queue manager: its time, the slots of it, gaps and restarts."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from typing import Any

import numpy as np

from smfparse.metrics.calendar import SECOND_US, calendar_macros, calendar_query, calendars_of
from smfparse.metrics.views import named_macros
from smfparse.summarizing.figures import Times
from tests.support.advised import ABSENT, Bench

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
Row = tuple[str, dict[str, Any]]
TABLES = ("qmst", "qjst", "qcct", "wtid", "qcst")


def row(start: float, seconds: float, table: str = "qmst", **changes: Any) -> Row:
    """Return an interval of statistics or of a task; `start` is in seconds."""
    usual = {"system": "SYS1", "qmgr": "QM01", "utc_offset": 3600, "mq_version": "9.3.0"}
    at = EPOCH + dt.timedelta(seconds=start)
    return table, usual | {"interval_start": at, "interval_seconds": float(seconds)} | changes


def times_of(*rows: Row) -> list[Times]:
    """Return the times of queue managers of which these are the records."""
    tables = defaultdict(list)
    for table, each in rows:
        tables[table].append(each)
    bench, query = Bench(tables, TABLES), calendar_query()
    bench.define(named_macros(query, calendar_macros()))
    return [*map(Times.of, calendars_of(bench.arrow(query)).values())]


def test_a_gap_is_counted_with_its_length_and_its_slots_have_no_data() -> None:
    """It is more than a second or a tenth of an interval."""
    [found] = times_of(row(0, 600, mq_version="10.0.0"), row(1800, 600), row(3600, 600))
    said = found.calendar.facts
    assert found.mq_version == "10.0.0"
    assert (said["gaps"], said["gap_seconds"], said["restarts"], found.slots) == (2, 2400, 0, 7)
    assert found.covered.tolist() == [600, 0, 0, 600, 0, 0, 600]
    for start, seconds, gaps in ((601, 600, 0), (601.1, 600, 1), (5.5, 5, 0), (5.6, 5, 1)):
        [found] = times_of(row(0, seconds), row(start, seconds))
        assert found.calendar.facts["gaps"] == gaps


def test_accounting_gives_the_times_of_its_minutes_where_there_are_no_statistics() -> None:
    [found] = times_of(*(row(60 * each, 0, "wtid") for each in (0, 10, 20)))
    said = found.calendar.facts
    assert (said["intervals"], said["interval_seconds"], found.slots) == (0, 0, 20)
    [found] = times_of(row(0, 0, "wtid"))
    assert found.slots == 1
    [found] = times_of(row(600, 600), row(0, 0, "wtid"), row(9000, 0, "wtid"))
    assert (found.first, found.last) == (600 * SECOND_US, 1200 * SECOND_US)
    assert found.calendar.facts["intervals"] == 1


def test_covered_time_is_that_of_minutes_with_data() -> None:
    [found] = times_of(row(0, 600), row(600, 300), row(2400, 1200))
    there = {*range(15), *range(40, 60)}
    spans = [(begin, begin + length) for begin in range(-10, 70) for length in range(0, 60, 7)]
    begins, ends = np.array(spans).T * 60 * SECOND_US
    expected = [60 * len(there.intersection(range(*each))) for each in spans]
    assert found.calendar.covered(begins, ends).tolist() == expected


def test_rows_of_a_stub_or_that_go_back_before_all_intervals_are_odd() -> None:
    [found] = times_of(row(0, 600), row(600, 600), row(1200, 600), row(3600, 60), row(3660, 600))
    odd, others = ((3600, 60), (-30000, 30600)), ((60, 60), (-60, 600))
    for start, seconds in odd + others:
        rows = np.array([start]) * SECOND_US, np.array([float(seconds)])
        assert found.calendar.is_odd(*rows).tolist() == [(start, seconds) in odd], start


def test_each_queue_manager_has_its_own_times() -> None:
    found = times_of(row(0, 600), row(60, 60, qmgr="QM02"), row(0, 60, system="SYS0", qmgr=ABSENT))
    assert [(each.system, each.qmgr, each.calendar.typical) for each in found] == [
        ("SYS0", "", 60), ("SYS1", "QM01", 600), ("SYS1", "QM02", 60),
    ]  # fmt: skip
