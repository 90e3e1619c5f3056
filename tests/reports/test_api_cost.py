"""The report api-cost: published tables, and the rules of its rows.

Queues of published tables are in one input, of which there is one report by queue; jobs with a case
each are in another, of which there is one by job.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from smfparse import reports
from smfparse.inputs import ReadOptions, open_inputs
from smfparse.limits import Limits
from smfparse.query import Catalog
from tests.support.corpora import Corpora, Corpus
from tests.support.paths import SMF
from tests.support.report_runs import cells, lines_of, rows_from
from tests.support.smf import (
    ENDED,
    MINUTE,
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
COMMIT, PUT, PUT1 = 0, 3, 4
"""Groups of coupling facility requests in WTAS and in WQST."""
US = pytest.approx
SHARES = (50, 90, 99)
"""Percentiles across tasks."""
Rows = list[dict[str, Any]]


def of_line(rows: Rows, line: str) -> Rows:
    return [row for row in rows if row["line"] == line]


def by_verb(rows: Rows, key: str) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row[key], row["verb"]): row for row in of_line(rows, "verb")}


# IBM's tables: MQ for z/OS 9.3 performance report, streaming queues. A task of its own makes CALLS
# calls on each queue; where the report gives the cost of two calls together, they are divided here.

CALLS = 1000
NUMBERS = {"new": 10, "write": 6, "move_ent": 12}


def requests(group: int, **counts: int) -> CfCounts:
    """Return coupling facility requests of a verb, so many a call, 8 microseconds each."""
    return {
        (group, NUMBERS[name]): (count * CALLS, count * CALLS, count * CALLS * 8, 0, 0)
        for name, count in counts.items()
    }


PRIVATE_OPENS = {
    "ALONE": {"openn": 1, "openct": 1, "openet": 1, "closen": 1, "closeet": 1},
    "STREAMED": {"openn": 1, "openct": 2, "openet": 2, "closen": 1, "closeet": 2},
    "TOPIC": {"openn": 1, "openct": 3, "openet": 5, "topicopensrb": 1.3},
}
SHARED_PUTS = {
    "PUT.ALONE": ("put", 7, requests(PUT, new=1)),
    "BESTEF": ("put", 15, requests(PUT, new=2)),
    "MUSTDUP": ("put", 22, requests(PUT, new=3, write=1, move_ent=1)),
    "IN.SYNCPOINT": ("put", 15, requests(PUT, new=2)),
    "OTHER.STRUCTURE": ("put", 14, requests(PUT, new=2)),
    "PUT1.ALONE": ("put1", 10, requests(PUT1, new=1)),
    "PUT1": ("put1", 32, requests(PUT1, new=2, write=2)),
}
"""Verb, CPU microseconds and requests of a put of 1 KB to a shared queue."""
CALLS_ON: Mapping[str, Mapping[str, float]] = PRIVATE_OPENS | {
    name: {f"{verb}n": 1, f"{verb}ct": cpu} for name, (verb, cpu, _) in SHARED_PUTS.items()
}
"""By queue: the fields of one call."""
DYNAMIC = ["REPLY.D5F0123456789ABC", "REPLY.D5F0123456789ABD"]
SEVERAL = (1, 2, 9, 10, 99, 100)
"""Numbers of tasks that put to a queue together."""


def queue_records() -> list[bytes]:
    found = []
    for number, (name, fields) in enumerate(CALLS_ON.items()):
        whole = {key: value * CALLS for key, value in fields.items()}
        token, cf = task_token(number), SHARED_PUTS.get(name, ("", 0, {}))[2]
        found.append(task_record(task(token), queue(name, token, cf=cf, **whole)))
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


def test_opening_a_private_queue_costs_what_was_published(by_queue: Rows) -> None:
    found = [
        (row["queue"], row["verb"], row["calls"], row["call_cpu"], row["call_elapsed"])
        for row in of_line(by_queue, "verb")
        if row["queue"] in PRIVATE_OPENS
    ]
    assert found == [
        ("ALONE", "open", 1000, 1, 1),
        ("ALONE", "close", 1000, 0, 1),
        ("STREAMED", "open", 1000, 2, 2),
        ("STREAMED", "close", 1000, 0, 2),
        ("TOPIC", "open", 1000, 3, 5),
    ]
    assert by_verb(by_queue, "queue")["TOPIC", "open"]["call_srb"] == US(1.3, abs=0.001)
    text = lines_of("api-cost", by_queue, by="queue")
    (words,) = (line.split() for line in text if line.startswith("TOPIC"))
    assert (words[:3], words[4], words[-1]) == (["TOPIC", "open", "1000"], "3.0", "1.3")


def cf_counts(rows: Rows, name: str) -> dict[tuple[str, str], float]:
    """Return requests a call by verb and kind of a queue."""
    return {
        (row["verb"], row["request_name"]): row["cfcount"] / CALLS
        for row in of_line(rows, "cf")
        if row["queue"] == name
    }


@pytest.mark.claim(43)
@pytest.mark.claim(51)
def test_putting_to_a_shared_queue_costs_what_was_published(by_queue: Rows) -> None:
    verbs = by_verb(by_queue, "queue")
    for name, (verb, cpu, _) in SHARED_PUTS.items():
        assert verbs[name, verb]["call_cpu"] == cpu, name
    assert verbs["MUSTDUP", "put"]["call_cf_sync"] == 8 * 5
    for verb, alone, streamed, expected in (
        ("put", "PUT.ALONE", "MUSTDUP", {"New": 2, "Write": 1, "MoveEnt": 1}),
        ("put1", "PUT1.ALONE", "PUT1", {"New": 1, "Write": 2}),
    ):
        before, with_copy = cf_counts(by_queue, alone), cf_counts(by_queue, streamed)
        more = {name: count - before.get((of, name), 0) for (of, name), count in with_copy.items()}
        assert {of for of, _ in with_copy} == {verb}
        assert more == expected
    table = lines_of("api-cost", by_queue, by="queue")
    at = table.index("Requests to the coupling facility in calls: microseconds a request")
    assert [line.split() for line in table[at:] if line.startswith("MUSTDUP")] == [
        ["MUSTDUP", "put", "Write", "1000", "1000", "8.0", "0", "-"],
        ["MUSTDUP", "put", "New", "3000", "3000", "8.0", "0", "-"],
        ["MUSTDUP", "put", "MoveEnt", "1000", "1000", "8.0", "0", "-"],
    ]


def test_a_percentile_is_one_of_so_many_tasks_that_one_is_beyond_it(by_queue: Rows) -> None:
    """Tasks put to queues called as many as they are; the puts take 0, 1, 2, ... microseconds."""
    percentiles = {
        row["tasks"]: [row[f"{what}_p{part}"] for what in ("cpu", "elapsed") for part in SHARES]
        for row in of_line(by_queue, "verb")
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
        for row in of_line(by_queue, "verb")
        if row["queue"].startswith("REPLY")
    }
    assert found == {"REPLY.*": 2, DYNAMIC[0]: 1}


# Jobs with a case each.

PUBLISHED_COMMITS = {
    "SAME": (14, 8, requests(COMMIT, new=1, write=1, move_ent=1)),
    "OTHER": (15, 18, requests(COMMIT, new=2, write=1, move_ent=2)),
}
"""A put and a commit of shared queues of one structure, and of another."""


def putting(count: int, cpu: int, **more: Any) -> dict[str, Any]:
    return {"name": "Q", "putn": count, "putct": cpu, "putet": 2 * cpu} | more


OPENS = {"name": "Q", "openn": 90, "openct": 90, "openet": 90}
TASKS: list[tuple[str, int, dict[str, Any], list[dict[str, Any]]]] = [
    # Three tasks of 1, 2 and 9 microseconds a put; the last writes two records, and two queues.
    ("SPREAD", 1, {}, [putting(10, 10)]),
    ("SPREAD", 2, {}, [putting(1, 2)]),
    ("SPREAD", 3, {}, [putting(1, 3), putting(1, 6, name="R")]),
    ("SPREAD", 3, {"ended": ENDED + MINUTE}, [putting(2, 27)]),
    # Two releases: the old one does not record how long MQOPEN was suspended, nor SRB time.
    ("RELEASES", 4, {"length": 712}, [OPENS | {"version": 4}]),
    ("RELEASES", 5, {}, [OPENS | {"openn": 10, "openct": 40, "opensuet": 50, "topicopensrb": 20}]),
    ("OLD", 6, {"length": 712},
     [{"name": "Q", "version": 4, "openn": 2, "putn": 1, "putct": 1, "putjwet": 7, "putpset": 5}]),
    # Transactions of two tasks, the first of which writes two records.
    ("TRANS", 7, {"wtascmn": 1, "wtascmct": 30}, [{"name": "A", "openn": 1, "openct": 20}]),
    ("TRANS", 7, {"wtasotn": 1, "wtasotct": 12}, []),
    ("TRANS", 8, {}, [{"name": "B", "putn": 2, "putct": 8, "putet": 10}]),
    ("MORE", 20, {"wtascmn": 1, "wtascmct": 3}, [putting(1, 5)]),
    ("CLASS1", 9, {"wtascmn": 2, "wtascmct": 9}, [putting(4, 30)]),
    *(
        (job, 10 + number, {"wtascmn": CALLS, "wtascmct": CALLS * commit, "cf": cf},
         [putting(CALLS, CALLS * put, cf=requests(PUT, new=2))])
        for number, (job, (put, commit, cf)) in enumerate(PUBLISHED_COMMITS.items())
    ),
]  # fmt: skip
"""By job: the number of its task, and fields of that and of its queues."""


def job_records() -> list[bytes]:
    found = []
    for job, number, own, used in TASKS:
        token, ended = task_token(number), own.get("ended", ENDED)
        blocks = [
            queue(each["name"], token, **{k: v for k, v in each.items() if k != "name"})
            for each in used
        ]
        found.append(task_record(task(token, **own), *blocks, by=who(job), ended=ended))
        if job == "MORE":
            more = queue("B", token, putn=2, putct=14), queue("C", token, getn=3, getct=6)
            found.append(more_queues(*more, by=who(job)))
    orphan = queue("B", task_token(21), putn=2, putct=14, cf=requests(PUT, new=1))
    return [*found, more_queues(orphan, by=who("ORPHAN"))]


CLASS_1 = [
    connection_record("CLASS1", cpu_us=40, puts=(1, 2, 3, 4), gets=(0, 0, 0, 0)),
    connection_record("CLASS1", cpu_us=10, puts=(0, 0, 0, 0), gets=(1, 0, 2, 2)),
    connection_record("ALONE", "SOMEONE", cpu_us=7),
]


@pytest.fixture(scope="module")
def by_job() -> Rows:
    return rows_from("api-cost", *job_records(), *CLASS_1, by="job")


def of_job(rows: Rows, job: str) -> dict[str, dict[str, Any]]:
    """Return the verbs of a job."""
    return {row["verb"]: row for row in of_line(rows, "verb") if row["job"] == job}


def test_committing_costs_what_was_published(by_job: Rows) -> None:
    for job, (put, commit, _) in PUBLISHED_COMMITS.items():
        found = {verb: row["call_cpu"] for verb, row in of_job(by_job, job).items()}
        assert found == {"put": put, "commit": commit}
    shown = {
        (row["Job"], row["Verb"], row["CF request"]): int(row["CF requests"]) / CALLS
        for row in cells(lines_of("api-cost", by_job, "csv", by="job"))
        if row["Line"] == "cf" and row["Job"] in PUBLISHED_COMMITS
    }
    assert shown == {
        ("SAME", "put", "New"): 2, ("OTHER", "put", "New"): 2,
        ("SAME", "commit", "New"): 1, ("SAME", "commit", "Write"): 1,
        ("SAME", "commit", "MoveEnt"): 1,
        ("OTHER", "commit", "New"): 2, ("OTHER", "commit", "Write"): 1,
        ("OTHER", "commit", "MoveEnt"): 2,
    }  # fmt: skip


def test_queues_of_continuation_records_belong_to_the_task_before_them(by_job: Rows) -> None:
    """Without its task, a record has a job of its own."""
    rows = of_job(by_job, "MORE")
    found = {verb: (row["calls"], row["tasks"], row["call_cpu"]) for verb, row in rows.items()}
    assert found == {"get": (3, 1, 2), "put": (3, 1, US(19 / 3)), "commit": (1, 1, 3)}
    lines = [(row["line"], row["verb"]) for row in by_job if row["job"] == "ORPHAN"]
    assert lines == [("verb", "put"), ("task", None), ("cf", "put")]


@pytest.mark.claim(55)
@pytest.mark.claim(56)
def test_class_1_is_shown_beside_class_3_and_changes_nothing_of_it(by_job: Rows) -> None:
    without = rows_from("api-cost", *job_records(), by="job")
    names = [each.name for each in WHICH.figures]
    for line in ("verb", "total", "cf"):
        assert [[row[name] for name in names] for row in of_line(by_job, line)] == [
            [row[name] for name in names] for row in of_line(without, line)
        ]
    assert not of_line(without, "class 1")
    other, mine = sorted(of_line(by_job, "class 1"), key=lambda row: str(row["job"]))
    assert (other["job"], mine["job"]) == ("ALONE", "CLASS1")
    bands = [f"qmac{verb}{band}" for verb in ("put", "get") for band in "abcd"]
    assert [mine[name] for name in bands] == [1, 2, 3, 4, 1, 0, 2, 2]
    assert (mine["connections"], mine["messages"]) == (2, 15)
    assert mine["message_cpu"] == US(50 / 15)
    assert [mine[f"cpu_p{part}"] for part in SHARES] == [US(3), None, None]
    assert mine["class_1_cpu_seconds"] == US(50e-6)
    assert (other["messages"], other["message_cpu"], other["cpu_p50"]) == (0, None, None)
    assert (mine["class_3_cpu_seconds"], mine["class_difference"]) == US(
        (39e-6, 100 * (50 / 39 - 1))
    )
    assert (other["class_3_cpu_seconds"], other["class_difference"]) == (None, None)
    text = lines_of("api-cost", by_job, by="job")
    (shown,) = (line.split() for line in text if line.startswith("ALONE"))
    assert shown[:4] == ["ALONE", "1", "0", "-"]


@pytest.mark.claim(77)
def test_all_calls_of_a_task_are_what_a_transaction_costs(by_job: Rows, by_queue: Rows) -> None:
    (found,) = (row for row in of_line(by_job, "task") if row["job"] == "TRANS")
    assert (found["tasks"], found["task_calls"]) == (2, 2.5)
    assert (found["task_cpu"], found["task_elapsed"]) == (US(35), US(5))
    (of_queues,) = of_line(by_queue, "task")
    assert of_queues["queue"] is None


def test_percentiles_are_across_tasks_whatever_number_of_records_they_wrote(by_job: Rows) -> None:
    row = of_job(by_job, "SPREAD")["put"]
    assert (row["tasks"], row["calls"], row["call_cpu"]) == (3, 15, US(48 / 15))
    assert [row[f"cpu_p{part}"] for part in SHARES] == [US(2), None, None]
    assert [row[f"elapsed_p{part}"] for part in SHARES] == [US(4), None, None]


def test_a_part_is_divided_among_the_calls_of_the_releases_that_record_it(by_job: Rows) -> None:
    row = of_job(by_job, "RELEASES")["open"]
    assert (row["calls"], row["call_cpu"]) == (100, US(1.3))
    assert (row["call_suspended"], row["call_srb"]) == (5, 2)


PARTS = ("log_wait", "page_set_wait", "suspended", "srb", "cf_sync", "cf_async")
"""What a call's time is made of."""


def test_what_a_release_does_not_record_is_not_shown_as_nothing(by_job: Rows) -> None:
    rows = of_job(by_job, "OLD")
    opened, put = rows["open"], rows["put"]
    assert [opened[f"call_{part}"] for part in PARTS] == [None] * 6
    assert (put["call_log_wait"], put["call_page_set_wait"], put["call_srb"]) == (7, 5, None)
    text = lines_of("api-cost", by_job, by="job")
    (shown,) = (line.split() for line in text if line.split()[:2] == ["OLD", "open"])
    assert shown[-6:] == ["-"] * 6


# Rows by the mean size of messages, by hours, by name; and by what they are told apart.

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
        requested = [row["size"] for row in of_line(rows, "cf") if row["job"] == f"J{mean}"]
        assert requested == [band]
        assert of_job(rows, f"J{mean}")["put"]["call_cf_sync"] == 4


def test_top_takes_rows_of_the_same_cost_by_name() -> None:
    records = [
        task_record(task(task_token(n)), queue("Q", task_token(n), putn=1, putct=7), by=who(job))
        for n, job in enumerate(["CHARLIE", "ALPHA", "DELTA", "BRAVO"])
    ]
    rows = of_line(rows_from("api-cost", *records, by="job", top=3), "verb")
    assert [row["job"] for row in rows] == ["ALPHA", "BRAVO", "CHARLIE"]


@pytest.fixture(scope="module")
def site(corpora: Corpora) -> Corpus:
    return corpora["site"]


def test_only_text_has_a_row_of_the_total_and_columns_of_what_is_asked_for(site: Corpus) -> None:
    rows = site.rows("api-cost", by="job,hour")
    assert len(of_line(rows, "total")) == 1
    text, table, objects = (
        lines_of("api-cost", rows, form, by="job,hour") for form in ("text", "csv", "json")
    )
    assert any(line.startswith("All calls") for line in text)
    headings = [line.split() for line in text if " Verb " in line]
    assert [heading[:3] for heading in headings] == [["Job", "Hour", "Verb"]] * 2
    shown, listed = cells(table), json.loads("\n".join(objects))["rows"]
    assert len(shown) == len(listed) == len(rows) - 1
    kinds = {"verb", "task", "cf", "class 1"}
    assert {row["Line"] for row in shown} == {row["line"] for row in listed} == kinds


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
