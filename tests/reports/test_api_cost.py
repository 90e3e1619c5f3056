"""The report api-cost: published tables, figures worked out otherwise, and what has to hold."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse import reports
from smfparse.inputs import open_inputs
from smfparse.limits import LIMITS
from smfparse.query import Catalog
from smfparse.reports import TOTAL, Sections, every
from tests.support.builders import Write
from tests.support.generated import generate_dump
from tests.support.real import FILES
from tests.support.recomputed.accounting import BANDS
from tests.support.recomputed.api_cost import PARTS, QUEUE_VERBS, SHARES, TASK_VERBS
from tests.support.report_runs import cells, printed, report_rows
from tests.support.searching import search
from tests.support.smf import (
    ENDED,
    CfCounts,
    connection_record,
    more_queues,
    queue,
    task,
    task_record,
    task_token,
    who,
)

pytestmark = pytest.mark.slow

WHICH = reports.report("api-cost")
DIMENSIONS = [each.replace("-", "_") for each in WHICH.choices["by"]]
NEW, WRITE, MOVE_ENT = 10, 6, 12
COMMIT, PUT, PUT1 = 0, 3, 4
"""Groups of coupling facility requests in WTAS and in WQST."""
US = pytest.approx
Rows = list[dict[str, Any]]


def costs(*paths: Path, sections: Sections | None = None, **asked: Any) -> Rows:
    return report_rows("api-cost", *paths, sections=sections, **asked)


def of_line(rows: Rows, line: str) -> Rows:
    return [row for row in rows if row["line"] == line]


def lines(rows: Rows, form: str, **asked: Any) -> list[str]:
    return list(printed(WHICH, rows, form, **asked))


def csv_rows(rows: Rows, **asked: Any) -> list[dict[str, str]]:
    return cells(lines(rows, "csv", **asked))


def csv_verbs(rows: Rows, **asked: Any) -> list[dict[str, str]]:
    return [row for row in csv_rows(rows, **asked) if row["Line"] == "verb"]


# IBM's tables: MQ for z/OS 9.3 performance report, streaming queues. A task of its own puts to each
# queue; where the report tells the cost of two calls together, they are divided here.

CALLS = 1000
Fields = Mapping[str, float]


def tasks_of(queues: Mapping[str, Fields], **cf: CfCounts) -> list[bytes]:
    """Return a record for each queue; its fields are those of one of CALLS calls, but counts."""
    found = []
    for number, (name, fields) in enumerate(queues.items()):
        each = {key: value * CALLS for key, value in fields.items()}
        token = task_token(number)
        block = queue(name, token, cf=cf.get(name), **each)
        found.append(task_record(task(token), block, by=who(f"JOB{number}")))
    return found


def by_queue_and_verb(rows: Rows) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["queue"], row["verb"]): row for row in of_line(rows, "verb")}


def test_opening_a_private_queue_costs_what_was_published(write: Write) -> None:
    path = write(
        *tasks_of(
            {
                "ALONE": {"openn": 1, "openct": 1, "openet": 1, "closen": 1, "closeet": 1},
                "STREAMED": {"openn": 1, "openct": 2, "openet": 2, "closen": 1, "closeet": 2},
                "TOPIC": {"openn": 1, "openct": 3, "openet": 5, "topicopensrb": 1.3},
            }
        )
    )
    rows = costs(path, by="queue")
    found = [
        (row["queue"], row["verb"], row["calls"], row["call_cpu"], row["call_elapsed"])
        for row in of_line(rows, "verb")
    ]
    assert found == [
        ("ALONE", "open", 1000, 1, 1),
        ("ALONE", "close", 1000, 0, 1),
        ("STREAMED", "open", 1000, 2, 2),
        ("STREAMED", "close", 1000, 0, 2),
        ("TOPIC", "open", 1000, 3, 5),
    ]
    assert by_queue_and_verb(rows)["TOPIC", "open"]["call_srb"] == US(1.3, abs=0.001)
    (text,) = [line for line in lines(rows, "text", by="queue") if line.startswith("TOPIC")]
    words = text.split()
    assert words[:5] == ["TOPIC", "open", "1000", "1", "3.0"]
    assert words[-1] == "1.3"
    last = csv_verbs(rows, by="queue")[-1]
    assert (last["Queue"], last["CPU uS per call"], last["Elapsed uS per call"]) == (
        "TOPIC",
        "3.0",
        "5.0",
    )
    assert last["SRB CPU uS per call"] == "1.3"


@pytest.mark.parametrize(
    ("fields", "published", "total"),
    [
        (
            {
                "openet": 39.5, "openct": 37.25, "closeet": 8.25, "closect": 8.125,
                "putet": 111.75, "putct": 109.75,
            },
            {"open": (1, 39, 37), "close": (1, 8, 8), "put": (10, 11, 10)},
            (12, 159, 155),
        ),
        (
            {
                "openet": 44.5, "openct": 44.25, "closeet": 10.25, "closect": 10.125,
                "putet": 181.5, "putct": 180.0,
            },
            {"open": (1, 44, 44), "close": (1, 10, 10), "put": (10, 18, 18)},
            (12, 236, 234),
        ),
    ],
    ids=["alone", "streamed"],
)  # fmt: skip
def test_the_published_task_is_shown_with_and_without_streaming(
    write: Write,
    fields: Fields,
    published: Mapping[str, tuple[int, int, int]],
    total: tuple[int, int, int],
) -> None:
    """The report prints truncated microseconds."""
    path = write(task_record(task(), queue("LQ1000", openn=1, closen=1, putn=10, **fields)))
    rows = costs(path)
    assert {
        row["verb"]: (row["calls"], math.trunc(row["call_elapsed"]), math.trunc(row["call_cpu"]))
        for row in of_line(rows, "verb")
    } == published
    (whole,) = of_line(rows, "total")
    elapsed, cpu = 1e6 * whole["elapsed_seconds"], 1e6 * whole["cpu_seconds"]
    assert (whole["calls"], math.trunc(elapsed), math.trunc(cpu)) == total


PUT_BY_SIZE = {
    "PRIVATE": {
        2: (4.5, 9.5), 4: (5, 10.6), 8: (6, 12.9), 16: (8, 16.4), 32: (13, 26.6), 64: (21, 42.5),
        128: (36, 73.4),
    },
    "SHARED": {
        2: (7.3, 15.5), 4: (9, 18), 8: (11, 23), 16: (15.4, 32.3), 32: (23.4, 51.9),
        64: (25.4, 51.9), 128: (36.9, 74.6),
    },
}  # fmt: skip
"""CPU microseconds of MQPUT by kilobytes of the message, without and with a stream queue."""


@pytest.mark.parametrize("kind", sorted(PUT_BY_SIZE))
def test_putting_costs_what_was_published_for_each_size(write: Write, kind: str) -> None:
    table = PUT_BY_SIZE[kind]
    queues = {
        f"{kind}.{size}K.{what}": {"putn": 1, "putct": cost}
        for size, both in table.items()
        for what, cost in zip(("ALONE", "STREAMED"), both, strict=True)
    }
    rows = costs(write(*tasks_of(queues)), by="queue")
    shown = {row["Queue"]: row["CPU uS per call"] for row in csv_rows(rows, by="queue")}
    for size, both in table.items():
        found = tuple(float(shown[f"{kind}.{size}K.{what}"]) for what in ("ALONE", "STREAMED"))
        assert found == both


OPEN_AND_CLOSE = {
    "WITHOUT": 18, "WITH": 32, "WITHOUT.AVOIDED": 5.5, "CF.EVERY.TIME": 32, "BASE.HELD.OTHER": 20,
    "STREAM.HELD": 20, "BASE.HELD": 7.5, "BOTH.HELD": 7.5,
}  # fmt: skip
"""CPU microseconds of an open and close of a shared queue; as to first open and last close."""


def test_opening_and_closing_a_shared_queue_costs_what_was_published(write: Write) -> None:
    queues = {
        name: {"openn": 1, "closen": 1, "openct": both * 0.625, "closect": both * 0.375}
        for name, both in OPEN_AND_CLOSE.items()
    }
    found: dict[str, float] = defaultdict(float)
    for row in of_line(costs(write(*tasks_of(queues)), by="queue"), "verb"):
        found[row["queue"]] += row["call_cpu"]
    assert found == OPEN_AND_CLOSE


def requests(group: int, **counts: int) -> CfCounts:
    """Return coupling facility requests of a verb, so many a call, 8 microseconds each."""
    numbers = {"new": NEW, "write": WRITE, "move_ent": MOVE_ENT}
    return {
        (group, numbers[name]): (count * CALLS, count * CALLS, count * CALLS * 8, 0, 0)
        for name, count in counts.items()
    }


SHARED_PUTS = {
    "ALONE": ("put", 7, requests(PUT, new=1)),
    "BESTEF": ("put", 15, requests(PUT, new=2)),
    "MUSTDUP": ("put", 22, requests(PUT, new=3, write=1, move_ent=1)),
    "IN.SYNCPOINT": ("put", 15, requests(PUT, new=2)),
    "OTHER.STRUCTURE": ("put", 14, requests(PUT, new=2)),
    "PUT1.ALONE": ("put1", 10, requests(PUT1, new=1)),
    "PUT1": ("put1", 32, requests(PUT1, new=2, write=2)),
}
"""Verb, CPU microseconds and requests of a put of 1 KB to a shared queue."""


def cf_counts(rows: Rows, name: str) -> dict[tuple[str, str], float]:
    """Return requests a call by verb and kind of a queue."""
    return {
        (row["verb"], row["request_name"]): row["cfcount"] / CALLS
        for row in of_line(rows, "cf")
        if row["queue"] == name
    }


@pytest.mark.claim(43)
@pytest.mark.claim(51)
def test_putting_to_a_shared_queue_costs_what_was_published(write: Write) -> None:
    queues = {
        name: {f"{verb}n": 1, f"{verb}ct": cpu} for name, (verb, cpu, _) in SHARED_PUTS.items()
    }
    path = write(*tasks_of(queues, **{name: cf for name, (*_, cf) in SHARED_PUTS.items()}))
    rows = costs(path, by="queue")
    assert {key: row["call_cpu"] for key, row in by_queue_and_verb(rows).items()} == {
        (name, verb): cpu for name, (verb, cpu, _) in SHARED_PUTS.items()
    }
    put, duplicated = cf_counts(rows, "ALONE"), cf_counts(rows, "MUSTDUP")
    more = {key: count - put.get(key, 0) for key, count in duplicated.items()}
    assert more == {("put", "New"): 2, ("put", "Write"): 1, ("put", "MoveEnt"): 1}
    put1, streamed = cf_counts(rows, "PUT1.ALONE"), cf_counts(rows, "PUT1")
    more = {key: count - put1.get(key, 0) for key, count in streamed.items()}
    assert more == {("put1", "New"): 1, ("put1", "Write"): 2}
    assert by_queue_and_verb(rows)["MUSTDUP", "put"]["call_cf_sync"] == 8 * 5
    table = lines(rows, "text", by="queue")
    table = table[
        table.index("Requests to the coupling facility in calls: microseconds a request") :
    ]
    assert [line.split() for line in table if line.startswith("MUSTDUP")] == [
        ["MUSTDUP", "put", "Write", "1000", "1000", "8.0", "0", "-"],
        ["MUSTDUP", "put", "New", "3000", "3000", "8.0", "0", "-"],
        ["MUSTDUP", "put", "MoveEnt", "1000", "1000", "8.0", "0", "-"],
    ]


def test_committing_costs_what_was_published(write: Write) -> None:
    published = {
        "SAME": (14, 8, requests(COMMIT, new=1, write=1, move_ent=1)),
        "OTHER": (15, 18, requests(COMMIT, new=2, write=1, move_ent=2)),
    }
    records = []
    for number, (job, (put, commit, cf)) in enumerate(published.items()):
        token = task_token(number)
        block = task(token, wtascmn=CALLS, wtascmct=CALLS * commit, cf=cf)
        shared = queue("Q", token, putn=CALLS, putct=CALLS * put, cf=requests(PUT, new=2))
        records.append(task_record(block, shared, by=who(job)))
    rows = costs(write(*records), by="job")
    assert {(row["job"], row["verb"]): row["call_cpu"] for row in of_line(rows, "verb")} == {
        ("SAME", "put"): 14, ("SAME", "commit"): 8, ("OTHER", "put"): 15, ("OTHER", "commit"): 18,
    }  # fmt: skip
    shown = {
        (row["Job"], row["Verb"], row["CF request"]): int(row["CF requests"]) / CALLS
        for row in csv_rows(rows, by="job")
        if row["Line"] == "cf"
    }
    assert shown == {
        ("SAME", "put", "New"): 2, ("OTHER", "put", "New"): 2,
        ("SAME", "commit", "New"): 1, ("SAME", "commit", "Write"): 1,
        ("SAME", "commit", "MoveEnt"): 1,
        ("OTHER", "commit", "New"): 2, ("OTHER", "commit", "Write"): 1,
        ("OTHER", "commit", "MoveEnt"): 2,
    }  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four hours of two queue managers."""
    path = tmp_path_factory.mktemp("made") / "made.smf"
    generate_dump(
        path, start=dt.datetime(2026, 3, 4, 22, 40, 7), utc_offset=dt.timedelta(hours=2),
        version="9.4.0", seed=11, tasks=6, count=8,
    )  # fmt: skip
    return path


@pytest.fixture(params=[*FILES, None], ids=lambda path: path.name if path else "made")
def file(request: pytest.FixtureRequest, made: Path) -> Path:
    return request.param or made


# What has to hold.

TIMES = ("cpu_seconds", "elapsed_seconds")


def sums(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Return the calls and times of all verbs."""
    found = {"calls": 0.0, "cpu_seconds": 0.0, "elapsed_seconds": 0.0}
    for row in rows:
        for name in found:
            found[name] += row[name] or 0
    return found


def test_shares_of_a_section_are_a_hundred_percent(made: Path) -> None:
    for sections in (None, TOTAL, every("1h")):
        shares: dict[Any, list[float]] = defaultdict(lambda: [0, 0])
        for row in of_line(costs(made, sections=sections, by="job,queue"), "verb"):
            shares[row["bucket"]][0] += row["cpu_share"]
            shares[row["bucket"]][1] += row["elapsed_share"]
        assert len(shares) == (5 if sections == every("1h") else 1)
        assert all(each == US([100, 100]) for each in shares.values())


def test_the_verbs_of_a_task_are_its_total_in_the_report_of_tasks(file: Path) -> None:
    expected: dict[Any, list[float]] = defaultdict(lambda: [0, 0])
    for row in report_rows("task", file, sections=TOTAL):
        if row["line"] == "task":
            key = row["system"], row["qmgr"], row["wtidccn"], row["wtidopid"]
            expected[key][0] += row["task_cpu"]
            expected[key][1] += row["task_elapsed"]
    found: dict[Any, list[float]] = {key: [0, 0] for key in expected}
    for row in of_line(costs(file, by="system,qmgr,job,user"), "verb"):
        key = row["system"], row["qmgr"], row["job"], row["user"]
        found[key][0] += 1e6 * row["cpu_seconds"]
        found[key][1] += 1e6 * row["elapsed_seconds"]
    assert {key: US(value) for key, value in found.items()} == dict(expected)


def test_totals_are_the_same_by_whatever_rows_are_told_apart(made: Path) -> None:
    (total,) = of_line(costs(made), "total")
    class_1 = sum(row["class_1_cpu_seconds"] for row in of_line(costs(made), "class 1"))
    requests_made = sum(row["cfcount"] for row in of_line(costs(made), "cf"))
    assert all((total["calls"], class_1, requests_made))

    @search(5)
    @given(by=st.lists(st.sampled_from(DIMENSIONS), min_size=1, unique=True))
    def same(by: list[str]) -> None:
        rows = costs(made, by=by)
        assert sums(of_line(rows, "total")) == US(sums([total]))
        assert sums(of_line(rows, "verb")) == US(sums([total]))
        assert sum(row["class_1_cpu_seconds"] for row in of_line(rows, "class 1")) == US(class_1)
        assert sum(row["cfcount"] for row in of_line(rows, "cf")) == requests_made

    same()


@pytest.mark.parametrize("sort", WHICH.choices["sort"])
@pytest.mark.parametrize("top", [1, 5, 1000])
def test_top_gives_the_dearest_rows_in_that_order(made: Path, sort: str, top: int) -> None:
    everything = costs(made, by="job,queue")
    rows = costs(made, by="job,queue", top=top, sort=sort)
    name = f"{sort}_seconds"
    dearest = sorted((row[name] for row in of_line(everything, "verb")), reverse=True)
    assert [row[name] for row in of_line(rows, "verb")] == dearest[:top]
    assert sums(of_line(rows, "total")) == sums(of_line(everything, "total"))
    cpu = sorted(
        (row["class_1_cpu_seconds"] for row in of_line(everything, "class 1")), reverse=True
    )
    assert [row["class_1_cpu_seconds"] for row in of_line(rows, "class 1")] == cpu[:top]
    assert not of_line(rows, "cf")


def test_top_holds_for_each_section(made: Path) -> None:
    kept = of_line(costs(made, sections=every("1h"), by="job", top=3), "verb")
    buckets = [row["bucket"] for row in kept]
    assert [buckets.count(each) for each in sorted(set(buckets))] == [3] * 5


def test_top_takes_rows_of_the_same_cost_by_name(write: Write) -> None:
    records = [
        task_record(task(task_token(n)), queue("Q", task_token(n), putn=1, putct=7), by=who(job))
        for n, job in enumerate(["CHARLIE", "ALPHA", "DELTA", "BRAVO"])
    ]
    rows = of_line(costs(write(*records), by="job", top=3), "verb")
    assert [row["job"] for row in rows] == ["ALPHA", "BRAVO", "CHARLIE"]


@search(4)
@given(length=st.sampled_from(["1m", "5m", "15m", "1h", "12h", "1d"]))
def check_intervals(made: Path, length: str) -> None:
    figures = ("calls", *TIMES, "cfcount", "messages", "class_1_cpu_seconds")

    def added(sections: Sections) -> dict[tuple[Any, ...], float]:
        found: dict[tuple[Any, ...], float] = defaultdict(float)
        for row in costs(made, sections=sections, by="qmgr,job"):
            for name in figures:
                key = row["line"], row["qmgr"], row["job"], row["verb"], row["request_name"], name
                found[key] += row[name] or 0
        return found

    assert added(every(length)) == US(added(TOTAL))


def test_the_sums_of_intervals_are_those_of_the_whole(made: Path) -> None:
    check_intervals(made)


def test_what_queue_managers_have_in_common_is_one_row(made: Path) -> None:
    for by in ("job", "system", "qmgr"):
        rows = of_line(costs(made, by=by), "verb")
        keys = [(row[by], row["verb"]) for row in rows]
        assert len(set(keys)) == len(keys)
    verbs = [row["verb"] for row in of_line(costs(made, by="system"), "verb")]
    assert {"open", "put", "commit"} <= set(verbs)
    assert all(row["qmgr"] is None for row in costs(made, by="system"))
    both = {row["qmgr"] for row in of_line(costs(made), "verb")}
    assert both == {"QM01", "QM02"}


def test_only_text_has_a_row_of_the_total(made: Path) -> None:
    rows = costs(made)
    assert len(of_line(rows, "total")) == 1
    assert "All calls" in lines(rows, "text")
    others = len(rows) - 1
    table = csv_rows(rows)
    objects = json.loads("\n".join(lines(rows, "json")))["rows"]
    assert len(table) == len(objects) == others
    kinds = {"verb", "task", "cf", "class 1"}
    assert {row["Line"] for row in table} == {row["line"] for row in objects} == kinds


def test_text_has_a_column_for_what_rows_are_told_apart_by_and_no_other(made: Path) -> None:
    rows = costs(made, by="job,hour")
    headings = [line.split() for line in lines(rows, "text", by="job,hour") if " Verb " in line]
    assert [heading[:3] for heading in headings] == [["Job", "Hour", "Verb"]] * 2


def numbered() -> tuple[dict[str, int], dict[str, int]]:
    """Return fields of a queue and of its task: counts are 2, and times have numbers of their own.

    They are even, so that a call's are whole numbers.
    """
    parts = {field for fields in PARTS.values() for verb in fields.values() for field in verb}
    fields = [*parts, *(name for verb in (QUEUE_VERBS | TASK_VERBS).values() for name in verb[1:])]
    times = {str(name): 2 * (101 + number) for number, name in enumerate(sorted(map(str, fields)))}
    counts = {verb[0]: 2 for verb in (QUEUE_VERBS | TASK_VERBS).values() if verb[0]}
    both = {str(name): value for name, value in (times | counts).items()}
    of_task = {name: value for name, value in both.items() if name.startswith("wtas")}
    return {name: both[name] for name in sorted(both.keys() - of_task.keys())}, of_task


def test_every_figure_of_a_verb_is_that_of_its_fields(write: Write) -> None:
    of_queue, of_task = numbered()
    values = of_queue | of_task
    path = write(task_record(task(**of_task), queue("Q", **of_queue)))
    rows = of_line(costs(path), "verb")
    assert [row["verb"] for row in rows] == [
        "open", "close", "get", "put", "put1", "inq", "set", "cb", "sub", "subrq", "ctl", "stat",
        "topic", "commit", "backout", "prepare", "other",
    ]  # fmt: skip
    for row in rows:
        verb = row["verb"]
        _, elapsed, cpu = (QUEUE_VERBS | TASK_VERBS)[verb]
        assert (row["cpu_seconds"], row["elapsed_seconds"]) == US(
            (values[cpu] / 1e6, values[elapsed] / 1e6)
        )
        counted = verb != "topic"
        assert row["calls"] == (2 if counted else None)
        assert row["call_cpu"] == (values[cpu] / 2 if counted else None)
        assert row["call_elapsed"] == (values[elapsed] / 2 if counted else None)
        for part, fields in PARTS.items():
            told = sum(values[field] for field in fields[verb]) / 2 if verb in fields else None
            assert row[f"call_{part}"] == told, (verb, part)


CF_REQUESTS = [
    *("Lock", "Unlock", "Write list controls", "Signal XCF", "Signal CF", "Read", "Write"),
    *("Start monitoring", "Stop monitoring", "Read list", "New", "Move", "MoveEnt", "Delete"),
    *(f"type {number}" for number in range(14, 20)),
]


def test_every_request_to_the_cf_is_that_of_its_verb(write: Write) -> None:
    """And of its place in the block."""

    def counts(group: int, number: int) -> tuple[int, int, int, int, int]:
        one = 100 * (group + 1) + number
        return one, one - 1, 8 * (one - 1), 1, 70 + number

    of_queue = {(group, n): counts(group, n) for group in range(5) for n in range(20)}
    of_task = {(group, n): counts(group + 5, n) for group in range(2) for n in range(20)}
    times = {f"{verb}n": 1 for verb in ("open", "close", "get", "put", "put1")}
    block = task(wtascmn=1, wtasprn=1, cf=of_task)
    rows = costs(write(task_record(block, queue("Q", cf=of_queue, **times))))
    found = [
        tuple(
            row[name]
            for name in (
                "verb", "request_name", "cfcount", "cfsyncn", "sync_average", "cfasyncn",
                "async_average",
            )
        )
        for row in of_line(rows, "cf")
    ]  # fmt: skip
    verbs = ("open", "close", "get", "put", "put1", "commit", "prepare")
    assert found == [
        (verb, name, 100 * (group + 1) + n, 100 * (group + 1) + n - 1, 8, 1, 70 + n)
        for group, verb in enumerate(verbs)
        for n, name in enumerate(CF_REQUESTS)
    ]
    for group, row in enumerate(of_line(rows, "verb")):
        assert row["verb"] == verbs[group]
        assert row["call_cf_sync"] == sum(8 * (100 * (group + 1) + n - 1) for n in range(20))
        assert row["call_cf_async"] == sum(70 + n for n in range(20))


@pytest.mark.claim(55)
@pytest.mark.claim(56)
def test_class_1_is_shown_beside_class_3_and_changes_nothing_of_it(write: Write) -> None:
    class_3 = [task_record(task(wtascmn=2, wtascmct=9), queue("Q", putn=4, putct=30, putet=50))]
    class_1 = [
        connection_record(cpu_us=40, puts=(1, 2, 3, 4), gets=(0, 0, 0, 0)),
        connection_record(cpu_us=10, puts=(0, 0, 0, 0), gets=(1, 0, 2, 2)),
        connection_record("OTHER", "SOMEONE", cpu_us=7),
    ]
    alone = costs(write(*class_3), by="job")
    both = costs(write(*class_3, *class_1, name="both.smf"), by="job")
    names = [each.name for each in WHICH.figures]
    for line in ("verb", "total", "cf"):
        assert [[row[name] for name in names] for row in of_line(both, line)] == [
            [row[name] for name in names] for row in of_line(alone, line)
        ]
    assert not of_line(alone, "class 1")
    other, mine = of_line(both, "class 1")
    assert (other["job"], mine["job"]) == ("OTHER", "R001")
    assert [mine[name] for name in BANDS] == [1, 2, 3, 4, 1, 0, 2, 2]
    assert (mine["connections"], mine["messages"]) == (2, 15)
    assert mine["message_cpu"] == US(50 / 15)
    assert [mine[f"cpu_p{part}"] for part in SHARES] == [US(3), None, None]
    assert mine["class_1_cpu_seconds"] == US(50e-6)
    assert (other["messages"], other["message_cpu"], other["cpu_p50"]) == (0, None, None)
    assert (mine["class_3_cpu_seconds"], mine["class_difference"]) == US(
        (39e-6, 100 * (50 / 39 - 1))
    )
    assert (other["class_3_cpu_seconds"], other["class_difference"]) == (None, None)
    (shown,) = [line for line in lines(both, "text", by="job") if line.startswith("OTHER")]
    assert shown.split()[:4] == ["OTHER", "1", "0", "-"]


@pytest.mark.claim(77)
def test_all_calls_of_a_task_are_what_a_transaction_costs(write: Write) -> None:
    first, second = task_token(1), task_token(2)
    path = write(
        task_record(task(first, wtascmn=1, wtascmct=30), queue("A", first, openn=1, openct=20)),
        task_record(task(first, wtasotn=1, wtasotct=12)),
        task_record(task(second), queue("B", second, putn=2, putct=8, putet=10)),
    )
    rows = costs(path, by="connection-type")
    (found,) = of_line(rows, "task")
    assert (found["tasks"], found["task_calls"]) == (2, 2.5)
    assert (found["task_cpu"], found["task_elapsed"]) == (US(35), US(5))
    of_queues = of_line(costs(path, by="queue,qmgr"), "task")
    assert [(each["tasks"], each["queue"]) for each in of_queues] == [(2, None)]


def test_class_1_alone_is_a_report(write: Write) -> None:
    rows = costs(write(connection_record(cpu_us=30, puts=(0, 0, 10, 0))))
    assert [(row["line"], row["qmgr"], row["message_cpu"]) for row in rows] == [
        ("class 1", "VTS1", 3)
    ]


def test_queues_of_continuation_records_belong_to_the_task_before_them(write: Write) -> None:
    mine, other = task_token(1), task_token(2)
    path = write(
        task_record(
            task(mine, wtascmn=1, wtascmct=3), queue("A", mine, putn=1, putct=5), by=who("MINE")
        ),
        more_queues(
            queue("B", mine, putn=2, putct=14, cf=requests(PUT, new=1)),
            queue("C", mine, getn=3, getct=6),
            by=who("MINE"),
        ),
        task_record(task(other), queue("A", other, putn=4, putct=4), by=who("OTHER")),
    )
    rows = costs(path, by="job")
    found = {
        (row["job"], row["verb"]): (row["calls"], row["tasks"], row["call_cpu"])
        for row in of_line(rows, "verb")
    }
    assert found == {
        ("MINE", "get"): (3, 1, 2),
        ("MINE", "put"): (3, 1, US(19 / 3)),
        ("MINE", "commit"): (1, 1, 3),
        ("OTHER", "put"): (4, 1, 1),
    }
    assert [(row["job"], row["verb"]) for row in of_line(rows, "cf")] == [("MINE", "put")]


def test_a_continuation_record_without_its_task_has_its_own_identity(write: Write) -> None:
    """Job, user and connection are those of its own WTID."""
    path = write(more_queues(queue("B", putn=2, putct=14, cf=requests(PUT, new=1)), by=who("MINE")))
    rows = costs(path, by="job,queue")
    assert [(row["line"], row["job"], row["queue"]) for row in rows] == [
        ("verb", "MINE", "B"),
        ("total", None, None),
        ("task", "MINE", None),
        ("cf", "MINE", "B"),
    ]


def test_percentiles_are_across_tasks_whatever_number_of_records_they_wrote(write: Write) -> None:
    """Three tasks: 1, 2 and 9 microseconds a put; the last wrote two records and two queues."""
    one, two, three = (task_token(n) for n in (1, 2, 3))
    minute = dt.timedelta(minutes=1)
    path = write(
        task_record(task(one), queue("Q", one, putn=10, putct=10, putet=20)),
        task_record(task(two), queue("Q", two, putn=1, putct=2, putet=4)),
        task_record(
            task(three),
            queue("Q", three, putn=1, putct=3, putet=6),
            queue("R", three, putn=1, putct=6, putet=12),
        ),
        task_record(
            task(three, ended=ENDED + minute),
            queue("Q", three, putn=2, putct=27, putet=54),
            ended=ENDED + minute,
        ),
    )
    (row,) = of_line(costs(path), "verb")
    assert (row["tasks"], row["calls"], row["call_cpu"]) == (3, 15, US(48 / 15))
    assert [row[f"cpu_p{part}"] for part in SHARES] == [US(2), None, None]
    assert [row[f"elapsed_p{part}"] for part in SHARES] == [US(4), None, None]


def test_a_percentile_is_one_of_so_many_tasks_that_one_is_beyond_it(write: Write) -> None:
    """Tasks put to queues called as many as they are; the puts take 0, 1, 2, ... microseconds."""
    tasks = (1, 2, 9, 10, 99, 100)
    records = []
    for n in range(max(tasks)):
        token = task_token(n + 1)
        puts = [queue(f"Q{of:03}", token, putn=1, putct=n, putet=2 * n) for of in tasks if n < of]
        records.append(task_record(task(token), *puts))
    found = of_line(costs(write(*records), by="queue"), "verb")
    percentiles = {
        row["tasks"]: [row[f"{what}_p{part}"] for what in ("cpu", "elapsed") for part in SHARES]
        for row in found
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


def test_the_hour_is_that_which_has_the_middle_of_the_interval(write: Write) -> None:
    """Local time is four hours behind; one that ends a moment late is of the hour before."""
    hour, half = dt.datetime(2022, 7, 7, 14, tzinfo=dt.UTC), dt.timedelta(minutes=5)
    ends = [hour, hour + dt.timedelta(microseconds=200), hour + half]
    path = write(
        *(
            task_record(
                task(ended=ended, wtasints=ended - 2 * half),
                queue("Q", putn=1, putct=1),
                ended=ended,
            )
            for ended in ends
        )
    )
    rows = costs(path, by="hour")
    assert [(row["hour"], row["calls"]) for row in of_line(rows, "verb")] == [
        (dt.datetime(2022, 7, 7, 9), 2),
        (dt.datetime(2022, 7, 7, 10), 1),
    ]
    table = [line for line in lines(rows, "text", by="hour") if " put " in line]
    assert [line.split()[0] for line in table] == ["2022/07/07,09:00", "2022/07/07,10:00"]


def test_dynamic_queues_of_a_model_are_one(write: Write) -> None:
    names = ["REPLY.D5F0123456789ABC", "REPLY.D5F0123456789ABD"]
    records = [
        task_record(
            task(task_token(n)), queue("MODEL", task_token(n), basename=name, putn=1, putct=1)
        )
        for n, name in enumerate(names)
    ]
    fixed = task_record(task(task_token(3)), queue(names[0], task_token(3), putn=1, putct=1))
    rows = of_line(costs(write(*records, fixed), by="queue"), "verb")
    assert [(row["queue"], row["calls"]) for row in rows] == [("REPLY.*", 2), (names[0], 1)]


def test_a_part_is_divided_among_the_calls_of_the_releases_that_record_it(write: Write) -> None:
    """Before 7.1 nothing tells how long MQOPEN was suspended, nor SRB time before 8.0."""
    old, new = task_token(1), task_token(2)
    path = write(
        task_record(
            task(old, length=712), queue("Q", old, version=4, openn=90, openct=90, openet=90)
        ),
        task_record(
            task(new), queue("Q", new, openn=10, openct=40, openet=90, opensuet=50, topicopensrb=20)
        ),
    )
    (row,) = of_line(costs(path), "verb")
    assert (row["calls"], row["call_cpu"]) == (100, US(1.3))
    assert (row["call_suspended"], row["call_srb"]) == (5, 2)


def test_what_a_release_does_not_record_is_not_shown_as_nothing(write: Write) -> None:
    block = queue("Q", version=4, openn=2, openct=3, putn=1, putct=1, putjwet=7, putpset=5)
    rows = costs(write(task_record(task(length=712), block)))
    opened, put = of_line(rows, "verb")
    assert [opened[f"call_{part}"] for part in (*PARTS, "cf_sync", "cf_async")] == [None] * 6
    assert (put["call_log_wait"], put["call_page_set_wait"], put["call_srb"]) == (7, 5, None)
    (shown,) = [line for line in lines(rows, "text") if " open " in line]
    assert shown.split()[-6:] == ["-"] * 6


@pytest.mark.claim(74)
@pytest.mark.parametrize(
    ("mean", "band"), [(0, 1), (1, 1), (1024, 1), (1025, 2), (2048, 2), (5000, 8), (65_537, 128)]
)
def test_calls_are_told_apart_by_the_mean_size_of_their_messages(
    write: Write, mean: int, band: int
) -> None:
    moved = {"putn": 2, "validput": 2, "putbytes": 2 * mean, "putct": 8, "openn": 1, "openct": 1}
    failed = {"put1n": 1, "put1ct": 4, "getn": 3, "getct": 6}
    block = queue("Q", cf={(3, 10): (4, 4, 8, 0, 0)}, **moved, **failed)
    rows = costs(write(task_record(task(), block)), by="size")
    bands = {row["verb"]: row["size"] for row in of_line(rows, "verb")}
    assert bands == {"put": band, "put1": band, "get": None, "open": None}
    assert [(row["verb"], row["size"]) for row in of_line(rows, "cf")] == [("put", band)]
    (put,) = [row for row in of_line(rows, "verb") if row["verb"] == "put"]
    assert put["call_cf_sync"] == 4


@pytest.mark.parametrize(
    ("by", "read"),
    [
        ("qmgr,system,hour", set()),
        ("job", {"wtidccn"}),
        ("user", {"wtidopid"}),
        ("channel", {"wtidchl"}),
        ("connection-type", {"wtidatyp_text"}),
        ("queue", {"objname", "basename"}),
    ],
)
def test_only_what_rows_are_told_apart_by_is_decoded(
    made: Path, monkeypatch: pytest.MonkeyPatch, by: str, read: set[str]
) -> None:
    names = {"wtidccn", "wtidopid", "wtidchl", "wtidatyp", "wtidatyp_text", "objname", "basename"}
    asked: set[str] = set()
    inputs = open_inputs([made])
    batches = type(inputs).batches

    def watched(self: Any, wanted: Mapping[str, frozenset[str] | None]) -> Any:
        for columns in wanted.values():
            assert columns is not None
            asked.update(columns)
        return batches(self, wanted)

    monkeypatch.setattr(type(inputs), "batches", watched)
    monkeypatch.setitem(vars(LIMITS), "whole_bytes", 0)
    with Catalog(inputs) as catalog:
        assert list(reports.run_report(WHICH, catalog, by=by))
    assert "putct" in asked
    assert asked & names == read
