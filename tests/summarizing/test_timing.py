"""When there is data of a queue manager: gaps, restarts, and what its first interval covers."""

from __future__ import annotations

import datetime as dt
from typing import Any

from smfparse.summarizing.timing import Times, times_of

STATISTICS, ACCOUNTING = 1, 3
SECOND_US = 1_000_000


def row(start: float, seconds: float, kind: int = STATISTICS, **changes: Any) -> dict[str, Any]:
    """Return a row as `times.sql` gives it; `start` is in seconds."""
    return {
        "system": "SYS1",
        "qmgr": "QM01",
        "kind": kind,
        "start": round(start * SECOND_US),
        "seconds": seconds,
        "utc_offset": 3600,
        "mq_version": "9.3.0",
    } | changes


def only(*rows: dict[str, Any]) -> Times:
    (found,) = times_of(rows)
    return found


def test_intervals_that_follow_each_other_have_no_gap() -> None:
    found = only(row(0, 600), row(600, 600), row(1200.01, 600))
    assert (found.intervals, found.gaps, found.restarts, found.usual) == (3, 0, 0, 600)
    assert (found.first, found.last) == (0, 1_800_010_000)
    assert found.slots == 3
    assert found.local(found.first) == dt.datetime(1970, 1, 1, 1)


def test_a_gap_is_counted_with_its_length() -> None:
    found = only(row(0, 600), row(1800, 600), row(3600, 600))
    assert (found.gaps, found.gap_seconds, found.restarts, found.slots) == (2, 2400, 0, 7)


def test_a_short_interval_behind_a_gap_follows_a_restart() -> None:
    found = only(row(0, 600), row(600, 600), row(1500, 300), row(1800, 600))
    assert (found.gaps, found.restarts) == (1, 1)
    assert only(row(0, 600), row(600, 600), row(1500, 570), row(2070, 600)).restarts == 0


def test_a_gap_is_more_than_intervals_are_apart_anyway() -> None:
    assert only(row(0, 600), row(612, 600)).gaps == 0
    assert only(row(0, 600), row(612.5, 600)).gaps == 1
    assert only(row(0, 10), row(11, 10)).gaps == 0
    assert only(row(0, 10), row(11.5, 10)).gaps == 1


def test_a_first_interval_that_covers_days_before_the_trace_does_not_count() -> None:
    found = only(row(-90_000, 90_000), *(row(600 * each, 600) for each in range(3)))
    assert (found.first, found.intervals, found.gaps) == (0, 3, 0)


def test_longer_intervals_after_a_change_of_the_setting_count() -> None:
    found = only(*(row(60 * each, 60) for each in range(5)), row(300, 1800), row(2100, 1800))
    assert (found.intervals, found.last) == (7, 3900 * SECOND_US)


def test_one_interval_is_enough() -> None:
    found = only(row(0, 90_000))
    assert (found.intervals, found.slots, found.usual) == (1, 1, 90_000)


def test_accounting_alone_gives_the_times_of_its_minutes() -> None:
    found = only(*(row(60 * each, 0, ACCOUNTING) for each in (0, 10, 20)))
    assert (found.intervals, found.usual, found.slots) == (0, 0, 20)
    assert only(row(0, 0, ACCOUNTING)).slots == 1


def test_statistics_go_before_accounting() -> None:
    found = only(row(600, 600), row(0, 0, ACCOUNTING), row(9000, 0, ACCOUNTING))
    assert (found.first, found.last, found.intervals) == (600 * SECOND_US, 1200 * SECOND_US, 1)


def test_each_queue_manager_has_its_own_times() -> None:
    found = times_of([row(0, 600), row(60, 60, qmgr="QM02"), row(0, 60, system="SYS0", qmgr=None)])
    assert [(each.system, each.qmgr, each.usual) for each in found] == [
        ("SYS0", "", 60),
        ("SYS1", "QM01", 600),
        ("SYS1", "QM02", 60),
    ]
