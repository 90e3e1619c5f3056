"""The report api-cost: what its golden does not show, as 100 tasks, releases, bands of sizes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.report_runs import Rows, lines_of, of, rows_from
from tests.support.smf import queue, task, task_record, task_token, who

pytestmark = pytest.mark.slow

US = pytest.approx
SEVERAL = (1, 2, 9, 10, 99, 100)
"""Numbers of tasks that put to a queue together."""


def of_job(rows: Rows, job: str) -> dict[str, dict[str, Any]]:
    return {row["verb"]: row for row in of("verb", rows) if row["job"] == job}


def test_a_percentile_is_one_of_so_many_tasks_that_one_is_beyond_it() -> None:
    """Tasks put to queues called as many as they are; the puts take 0, 1, 2, ... microseconds."""
    records = []
    for number in range(max(SEVERAL)):
        token, call = task_token(1000 + number), {"putn": 1, "putct": number, "putet": 2 * number}
        used = [queue(f"OF{of:03}", token, **call) for of in SEVERAL if number < of]
        records.append(task_record(task(token), *used))
    rows = {row["queue"]: row for row in of("verb", rows_from("api-cost", *records, by="queue"))}
    shares = [f"{what}_p{part}" for what in ("cpu", "elapsed") for part in (50, 90, 99)]
    none = None
    for name, expected in {
        "OF001": [1, none, none, none, none, none, none],
        "OF002": [2, US(0.5), none, none, US(1), none, none],
        "OF009": [9, US(4), none, none, US(8), none, none],
        "OF010": [10, US(4.5), US(8.1), none, US(9), US(16.2), none],
        "OF099": [99, US(49), US(88.2), none, US(98), US(176.4), none],
        "OF100": [100, US(49.5), US(89.1), US(98.01), US(99), US(178.2), US(196.02)],
    }.items():
        assert [rows[name][each] for each in ("tasks", *shares)] == expected


def test_a_part_is_divided_among_the_calls_of_the_releases_that_record_it() -> None:
    """An old release records neither how long MQOPEN was suspended, nor SRB time."""
    opens = {"openn": 90, "openct": 90, "putn": 1, "putjwet": 7}
    old = queue("Q", task_token(1), version=4, **opens)
    new = {"openn": 10, "openct": 40, "opensuet": 50, "topicopensrb": 20}
    records = [
        task_record(task(task_token(1), length=712), old),
        task_record(task(task_token(2)), queue("Q", task_token(2), **new)),
    ]
    of_both, of_old = (
        {row["verb"]: row for row in of("verb", rows_from("api-cost", *each))}
        for each in (records, records[:1])
    )
    row = of_both["open"]
    assert (row["calls"], row["call_cpu"]) == (100, US(1.3))
    assert (row["call_suspended"], row["call_srb"]) == (5, 2)
    row = of_old["open"]
    names = ("call_suspended", "call_srb", "call_log_wait", "call_cf_sync", "call_cf_async")
    assert [row[name] for name in names] == [None] * 5
    assert (of_old["put"]["call_log_wait"], of_old["put"]["call_srb"]) == (7, None)
    (shown,) = (line.split() for line in lines_of("api-cost", of_old.values()) if " open " in line)
    assert shown[-6:] == ["-"] * 6


BY_MEAN = {0: 1, 1: 1, 1024: 1, 1025: 2, 2048: 2, 5000: 8, 65_537: 128}
"""Mean bytes of the messages of a queue to the kilobytes of its band."""


@pytest.mark.claim(74)
def test_calls_are_told_apart_by_the_mean_size_of_their_messages() -> None:
    records = []
    calls = {
        "putn": 2, "validput": 2, "putct": 8, "put1n": 1, "put1ct": 4, "getn": 3, "getct": 6,
        "openn": 1, "openct": 1, "cf": {(3, 10): (4, 4, 8, 0, 0)},
    }  # fmt: skip
    for number, mean in enumerate(BY_MEAN):
        token = task_token(number)
        block = queue("Q", token, putbytes=2 * mean, **calls)
        records.append(task_record(task(token), block, by=who(f"J{mean}")))
    rows = rows_from("api-cost", *records, by="job,size")
    for mean, band in BY_MEAN.items():
        bands = {verb: row["size"] for verb, row in of_job(rows, f"J{mean}").items()}
        assert bands == {"put": band, "put1": band, "get": None, "open": None}
        requested = [row["size"] for row in of("cf", rows) if row["job"] == f"J{mean}"]
        assert requested == [band]
        assert of_job(rows, f"J{mean}")["put"]["call_cf_sync"] == 4
