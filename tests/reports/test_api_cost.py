"""The report api-cost: what its golden does not show, as 100 tasks, releases, bands of sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from smfparse import reports
from smfparse.inputs import ReadOptions, open_inputs
from smfparse.limits import Limits
from smfparse.query import Catalog
from tests.support.paths import SMF
from tests.support.report_runs import Rows, lines_of, of, rows_from
from tests.support.smf import (
    queue,
    task,
    task_record,
    task_token,
    who,
)

pytestmark = pytest.mark.slow

WHICH = reports.report("api-cost")
US = pytest.approx
SHARES = (50, 90, 99)
DYNAMIC = ["REPLY.D5F0123456789ABC", "REPLY.D5F0123456789ABD"]
SEVERAL = (1, 2, 9, 10, 99, 100)
"""Numbers of tasks that put to a queue together."""


def of_job(rows: Rows, job: str) -> dict[str, dict[str, Any]]:
    """Return the verbs of a job."""
    return {row["verb"]: row for row in of("verb", rows) if row["job"] == job}


def queue_records() -> list[bytes]:
    found = []
    for number in range(max(SEVERAL)):
        token, call = task_token(1000 + number), {"putn": 1, "putct": number, "putet": 2 * number}
        used = [queue(f"OF{of:03}", token, **call) for of in SEVERAL if number < of]
        found.append(task_record(task(token), *used))
    once = {"putn": 1, "putct": 1}
    for number, name in enumerate(DYNAMIC):
        token = task_token(2000 + number)
        found.append(task_record(task(token), queue("MODEL", token, basename=name, **once)))
    token = task_token(2002)
    return [*found, task_record(task(token), queue(DYNAMIC[0], token, **once))]


@pytest.fixture(scope="module")
def by_queue() -> Rows:
    return rows_from("api-cost", *queue_records(), by="queue")


def test_a_percentile_is_one_of_so_many_tasks_that_one_is_beyond_it(by_queue: Rows) -> None:
    """Tasks put to queues called as many as they are; the puts take 0, 1, 2, ... microseconds."""
    percentiles = {
        row["tasks"]: [row[f"{what}_p{part}"] for what in ("cpu", "elapsed") for part in SHARES]
        for row in of("verb", by_queue)
        if row["queue"].startswith("OF")
    }
    none = None
    assert percentiles == {
        1: [none, none, none, none, none, none],
        2: [US(0.5), none, none, US(1), none, none],
        9: [US(4), none, none, US(8), none, none],
        10: [US(4.5), US(8.1), none, US(9), US(16.2), none],
        99: [US(49), US(88.2), none, US(98), US(176.4), none],
        100: [US(49.5), US(89.1), US(98.01), US(99), US(178.2), US(196.02)],
    }


def test_dynamic_queues_of_a_model_are_one(by_queue: Rows) -> None:
    found = {
        row["queue"]: row["calls"]
        for row in of("verb", by_queue)
        if row["queue"].startswith("REPLY")
    }
    assert found == {"REPLY.*": 2, DYNAMIC[0]: 1}


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
    text = lines_of("api-cost", of_old.values())
    (shown,) = (line.split() for line in text if " open " in line)
    assert shown[-6:] == ["-"] * 6


BY_MEAN = {0: 1, 1: 1, 1024: 1, 1025: 2, 2048: 2, 5000: 8, 65_537: 128}
"""Mean bytes of the messages of a queue to the kilobytes of its band."""


@pytest.mark.claim(74)
def test_calls_are_told_apart_by_the_mean_size_of_their_messages() -> None:
    records = []
    for number, mean in enumerate(BY_MEAN):
        moved = {"putn": 2, "validput": 2, "putbytes": 2 * mean, "putct": 8}
        other = {"put1n": 1, "put1ct": 4, "getn": 3, "getct": 6, "openn": 1, "openct": 1}
        token = task_token(number)
        block = queue("Q", token, cf={(3, 10): (4, 4, 8, 0, 0)}, **moved, **other)
        records.append(task_record(task(token), block, by=who(f"J{mean}")))
    rows = rows_from("api-cost", *records, by="job,size")
    for mean, band in BY_MEAN.items():
        bands = {verb: row["size"] for verb, row in of_job(rows, f"J{mean}").items()}
        assert bands == {"put": band, "put1": band, "get": None, "open": None}
        requested = [row["size"] for row in of("cf", rows) if row["job"] == f"J{mean}"]
        assert requested == [band]
        assert of_job(rows, f"J{mean}")["put"]["call_cf_sync"] == 4


def test_top_takes_rows_of_the_same_cost_by_name() -> None:
    records = [
        task_record(task(task_token(n)), queue("Q", task_token(n), putn=1, putct=7), by=who(job))
        for n, job in enumerate(["CHARLIE", "ALPHA", "DELTA", "BRAVO"])
    ]
    rows = of("verb", rows_from("api-cost", *records, by="job", top=3))
    assert [row["job"] for row in rows] == ["ALPHA", "BRAVO", "CHARLIE"]


NAMES = {"wtidccn", "wtidopid", "wtidchl", "wtidatyp", "wtidatyp_text", "objname", "basename"}


@pytest.mark.parametrize(
    ("by", "read"),
    [
        ("qmgr,system,hour", set()),
        ("job", {"wtidccn"}),
        ("user,channel,connection-type", {"wtidopid", "wtidchl", "wtidatyp_text"}),
        ("queue", {"objname", "basename"}),
    ],
)
def test_only_what_rows_are_told_apart_by_is_decoded(
    monkeypatch: pytest.MonkeyPatch, by: str, read: set[str]
) -> None:
    asked: set[str] = set()
    inputs = open_inputs([SMF], ReadOptions(limits=Limits(whole_bytes=0)))
    batches = type(inputs).batches

    def watched(self: Any, wanted: Mapping[str, frozenset[str] | None]) -> Any:
        for columns in wanted.values():
            assert columns is not None
            asked.update(columns)
        return batches(self, wanted)

    monkeypatch.setattr(type(inputs), "batches", watched)
    with Catalog(inputs) as catalog:
        assert list(reports.run_report(WHICH, catalog, by=by))
    assert "putct" in asked
    assert asked & NAMES == read
