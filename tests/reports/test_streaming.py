"""The report streaming: what streaming queues copy, what that costs, and what is left."""

from __future__ import annotations

import datetime as dt
import itertools
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

from smfparse.cli import main
from smfparse.inputs import open_inputs
from smfparse.planning import planned
from smfparse.query import Catalog
from smfparse.reports import Sections, every
from smfparse.writing import write_dataset
from tests.support import smf
from tests.support.builders import Write, rdw
from tests.support.generated import generate_dump
from tests.support.report_runs import report_lines, report_rows
from tests.support.smf import ENDED, Io, Log, queue, task, task_record, task_token

pytestmark = pytest.mark.slow

Rows = list[dict[str, Any]]
KB = 1024
QUARTER = dt.timedelta(minutes=15)
US = pytest.approx


def run(*paths: Path, sections: Sections | None = None, **asked: Any) -> Rows:
    return report_rows("streaming", *paths, sections=sections, **asked)


def lines(*paths: Path, form: str = "text", **asked: Any) -> list[str]:
    return report_lines("streaming", *paths, form=form, **asked)


def of(line: str, rows: Rows) -> Rows:
    return [row for row in rows if row["line"] == line]


numbers = itertools.count(1)


def putting(
    name: str, *, version: int = 9, ended: dt.datetime = ENDED, times: Any = None, **counts: Any
) -> bytes:
    """The record of a task of its own that put to one queue."""
    token = task_token(next(numbers))
    counts = {"validput": counts.get("putn", 0) + counts.get("put1n", 0)} | counts
    block = queue(name, token, version=version, **counts)
    return task_record(task(token, ended=ended, **(times or {})), block, ended=ended)


# -- what streaming would cost, by the planner


def test_what_streaming_would_cost_is_as_the_planner_says(write: Write) -> None:
    start = ENDED - dt.timedelta(minutes=1)
    whole = {"times": {"wtasints": start}}
    often, copied = {"cfstrucname": "APPL1", "streamedn": 0}, {"streamedn": 600}
    records = [
        putting("PAID", putn=600, putct=6000, putbytes=600 * 4 * KB, putpmsg=300, **whole),
        putting("LARGE", putn=60, putct=600, putbytes=60 * 200 * KB, **whole),
        putting("OFTEN", putn=600, putct=3000, putbytes=600 * KB, putpmsg=600, **often, **whole),
        putting("COPIED", putn=600, putbytes=600 * 2 * KB, putpmsg=600, **copied, **whole),
        logged(256, 64, 20, 25),
    ]
    rows = {row["queue"]: row for row in of("plan", run(write(*records)))}
    assert list(rows) == ["OFTEN", "PAID", "LARGE"]
    # Persistent were 0.6 MB of OFTEN, half of PAID's 2.4, and 1.2 of COPIED: of a log of 1 MB/s.
    shares = {"OFTEN": 0.6 / 3, "PAID": 1.2 / 3, "LARGE": 0}
    for name, kind, kb, rate, cpu in (
        ("PAID", "private", 4, 10, 10),
        ("OFTEN", "shared", 1, 10, 5),
    ):
        row = rows[name]
        assert (row["kind"], row["put_kb"], row["class_3_rate"]) == (kind, kb, rate)
        assert (row["put_cpu"], row["persistent_log"]) == (US(cpu), US(shares[name]))
        inputs = {"message_kb": kb, "kind": kind, "put_cost": cpu, "puts_s": rate}
        plan = planned("streaming", log_mb_s=shares[name], **inputs)
        figures = ("then_us", "cpu_ms_s", "log_mb_s", "pages_s")
        shown = ("planned_put_cpu", "planned_cpu", "planned_log", "planned_pages")
        assert [row[each] for each in shown] == [US(plan[each]) for each in figures]
    by_hand = 10 * 10.6 / 5
    assert rows["PAID"]["planned_put_cpu"] == US(by_hand)
    assert rows["PAID"]["planned_cpu"] == US(10 * (by_hand - 10) / 1000)
    assert rows["PAID"]["planned_pages"] == 10 * 3
    assert rows["LARGE"]["planned_cpu"] is None
    assert rows["LARGE"]["note"] == "published up to 128 KB only"


def test_without_the_log_the_rest_is_planned(write: Write) -> None:
    (row,) = of("plan", run(write(putting("PAID", putn=60, putct=600, putbytes=60 * KB))))
    assert (row["persistent_log"], row["planned_log"]) == (None, None)
    assert row["planned_put_cpu"] == US(10 * 9.5 / 4.5)


# -- what streaming costs, as published


PRIVATE = {
    2: (4.5, 9.5, 5), 4: (5, 10.6, 5.6), 8: (6, 12.9, 6.9), 16: (8, 16.4, 8.4),
    32: (13, 26.6, 13.3), 64: (21, 42.5, 21.5), 128: (36, 73.4, 37.4),
}  # fmt: skip
"""KB of a message to CPU of an MQPUT: without, with, overhead. That of 32 KB is not the difference
of the two, which are rounded."""
SHARED = {
    2: (7.3, 15.5, 8.2), 4: (9, 18, 9), 8: (11, 23, 12), 16: (15.4, 32.3, 16.9),
    32: (23.4, 51.9, 28.5), 64: (25.4, 51.9, 26.5), 128: (36.9, 74.6, 37.7),
}  # fmt: skip
PUBLISHED = [("private", *each) for each in PRIVATE.items()]
PUBLISHED += [("shared", *each) for each in SHARED.items()]
PUTS = 10


def sized(name: str, kind: str, size: int, cpu: float, streamed: int, **more: Any) -> bytes:
    """A task with ten puts of a size, each of so much CPU."""
    structure = "APPL1" if kind == "shared" else ""
    return putting(
        name, cfstrucname=structure, putn=PUTS, putct=PUTS * cpu, putet=2 * PUTS * cpu,
        putbytes=PUTS * size, streamedn=streamed, **more,
    )  # fmt: skip


def check_cost(row: dict[str, Any], published: tuple[float, float, float]) -> None:
    without, streaming, overhead = published
    assert row["verb"] == "put"
    assert (row["calls_without"], row["calls_with"]) == (PUTS, PUTS)
    assert row["cpu_without"] == US(without, abs=1e-3)
    assert row["cpu_with"] == US(streaming, abs=1e-3)
    rounding = 0.3001 if published == PRIVATE[32] else 1e-3
    assert row["cpu_overhead"] == US(overhead, abs=rounding)
    assert row["cpu_factor"] == US(streaming / without, rel=1e-3)
    assert row["elapsed_overhead"] == US(2 * (streaming - without), abs=1e-3)
    assert row["elapsed_factor"] == US(streaming / without, rel=1e-3)


def test_what_streaming_costs_by_message_size_is_told_from_the_same_queue(write: Write) -> None:
    records = []
    for kind, kilobytes, published in PUBLISHED:
        name, size = f"{kind}.{kilobytes}".upper(), kilobytes * KB
        records += [
            sized(name, kind, size, published[0], 0),
            sized(name, kind, size, published[1], PUTS),
            sized(f"{name}.OTHER", kind, size, 99, 0),
        ]
    rows = run(write(*records))
    costs = {row["queue"]: row for row in of("cost", rows)}
    streamed = {row["queue"]: row["streamed"] for row in of("queue", rows)}
    assert len(costs) == len(PUBLISHED)
    for kind, kilobytes, published in PUBLISHED:
        name = f"{kind}.{kilobytes}".upper()
        check_cost(costs[name], published)
        assert costs[name]["compared_with"] == "same queue"
        assert (streamed[name], streamed[f"{name}.OTHER"]) == (PUTS, 0)


@pytest.mark.parametrize(("kind", "kilobytes", "published"), PUBLISHED[::4])
def test_what_streaming_costs_is_worked_out_from_like_queues(
    write: Write, kind: str, kilobytes: int, published: tuple[float, float, float]
) -> None:
    """Queues of the kind and message size that stream nothing."""
    size = kilobytes * KB
    unlike = "private" if kind == "shared" else "shared"
    rows = run(
        write(
            sized("BASE", kind, size, published[1], PUTS),
            sized("ALIKE", kind, size // 2 + 1, published[0], 0),
            sized("LARGER", kind, size + 1, 99, 0),
            sized("SMALLER", kind, size // 2, 99, 0),
            sized("UNLIKE", unlike, size, 99, 0),
            sized("UNKNOWN", kind, size, 99, 0, version=8),
            sized("PERSISTENT", kind, size, 99, 0, putpmsg=PUTS),
            sized("STREAMS", kind, size, 99, PUTS),
        )
    )
    cost, _ = of("cost", rows)
    check_cost(cost, published)
    assert cost["compared_with"] == f"other {kind} queues, {size // 2 + 1}-{size} bytes"


def test_persistent_messages_are_compared_with_persistent_ones(write: Write) -> None:
    rows = run(
        write(
            sized("BASE", "private", KB, 30, PUTS, putpmsg=PUTS),
            sized("ALIKE", "private", KB, 15, 0, putpmsg=PUTS // 2 + 1),
            sized("UNLIKE", "private", KB, 9, 0, putpmsg=PUTS // 2),
        )
    )
    (cost,) = of("cost", rows)
    assert (cost["cpu_without"], cost["cpu_factor"]) == (15, 2)
    assert cost["compared_with"] == "other private queues, 513-1024 bytes, persistent"


def test_a_difference_that_rounds_to_nothing_has_no_sign(write: Write) -> None:
    path = write(sized("BASE", "private", KB, 5.04, 0), sized("BASE", "private", KB, 5.01, PUTS))
    (cost,) = (line for line in lines(path) if line.startswith("BASE") and "same queue" in line)
    assert cost.split()[2:8] == ["10", "10", "5.0", "5.0", "0.0", "0.99"]


def test_without_a_queue_to_compare_with_there_is_no_overhead(write: Write) -> None:
    (cost,) = of("cost", run(write(sized("BASE", "private", KB, 5, PUTS))))
    assert cost["compared_with"] == "none"
    assert cost["cpu_with"] == US(5, abs=1e-3)
    names = ("calls_without", "cpu_without", "cpu_overhead", "cpu_factor", "elapsed_overhead")
    assert [cost[name] for name in names] == [None] * len(names)


def test_messages_without_data_are_of_a_size_too(write: Write) -> None:
    rows = run(write(sized("BASE", "private", 1, 8, PUTS), sized("Q", "private", 1, 4, 0)))
    (cost,) = of("cost", rows)
    assert cost["compared_with"] == "other private queues, 0-1 bytes"
    empty = run(write(sized("BASE", "private", 0, 8, PUTS), sized("Q", "private", 0, 4, 0)))
    assert of("cost", empty)[0]["compared_with"] == "other private queues, 0-1 bytes"


BATCH = {"openn": 1, "closen": 1, "putn": 10, "putbytes": 10240}
ALONE = BATCH | {
    "openet": 39, "openct": 37, "closeet": 8, "closect": 8, "putet": 110, "putct": 100,
    "streamedn": 0,
}  # fmt: skip
STREAMED = BATCH | {
    "openet": 44, "openct": 44, "closeet": 10, "closect": 10, "putet": 180, "putct": 180,
    "streamedn": 10,
}  # fmt: skip
TEXT = """\

Puts by queue, and what was streamed; pages a put (old and new) from tasks that put to this queue only
Queue                                             Kind           Puts    Failed    Streamed       %    Messages  Bytes a put  Pages a put   without      with
LQ1000                                            private          20         0          10      50          30         1024          6.5       4.3       8.6  not all were streamed: STREAMQ set for a time only, or BESTEF and the stream queue full

What streaming costs: microseconds a call without and with it; commits of tasks that put to this queue only
Queue                                             Verb    Calls without        with  CPU without       with   overhead   times  Elapsed without       with   overhead   times  Compared with
LQ1000                                            open                1           1         37.0       44.0        7.0    1.19             39.0       44.0        5.0    1.13  same queue
LQ1000                                            close               1           1          8.0       10.0        2.0    1.25              8.0       10.0        2.0    1.25  same queue
LQ1000                                            put                10          10         10.0       18.0        8.0     1.8             11.0       18.0        7.0    1.64  same queue
"""  # noqa: E501


@pytest.fixture
def batch(write: Write) -> Path:
    """The published task with ten puts of 1 KB, without and with streaming."""
    return write(
        putting("LQ1000", times={"wtasgpo": 32, "wtasgpn": 11}, **ALONE),
        putting("LQ1000", times={"wtasgpo": 64, "wtasgpn": 22}, **STREAMED),
    )


def test_the_published_batch_task_is_printed_without_and_with_streaming(batch: Path) -> None:
    assert lines(batch)[2 : 2 + len(TEXT.splitlines())] == TEXT.splitlines()


def test_csv_and_json_have_the_figures_of_text(batch: Path) -> None:
    header, first, *costs = lines(batch, form="csv")[:5]
    assert header.startswith("z/OS,QM,Date,Time,Line,")
    assert first.startswith("MVAA,VTS1,2022-07-07,10:42:10,queue,")
    assert [each.split(",")[4] for each in costs] == ["cost"] * 3
    found = json.loads("\n".join(lines(batch, form="json")))["rows"]
    assert [row["cpu_overhead"] for row in found if row["line"] == "cost"] == [7, 2, 8]


def test_pages_of_a_task_that_puts_to_two_queues_are_given_to_none(write: Write) -> None:
    token = task_token()
    put = {"putn": 5, "validput": 5, "version": 9}
    block = task(token, wtasgpo=10, wtasgpn=10)
    two = task_record(block, queue("A", token, **put), queue("B", token, **put))
    rows = of("queue", run(write(two, putting("B", putn=4, times={"wtasgpo": 8}))))
    assert [(row["queue"], row["pages_per_put"]) for row in rows] == [("B", 2), ("A", None)]


def test_commits_of_tasks_that_put_to_one_queue_are_compared(write: Write) -> None:
    def committing(cpu: float, streamed: int) -> bytes:
        times = {"wtascmn": 2, "wtascmct": 2 * cpu, "wtascmet": 4 * cpu}
        return putting("BASE", putn=2, streamedn=streamed, times=times)

    rows = of("cost", run(write(committing(8, 0), committing(18, 2))))
    commit = next(row for row in rows if row["verb"] == "commit")
    assert (commit["calls_without"], commit["calls_with"]) == (2, 2)
    assert (commit["cpu_without"], commit["cpu_with"], commit["cpu_factor"]) == (8, 18, 2.25)


def test_put1_has_figures_of_its_own(write: Write) -> None:
    shared = {"cfstrucname": "APPL1", "put1n": 10}
    rows = of(
        "cost",
        run(
            write(
                putting("BASE", put1ct=100, putn=5, putct=35, **shared),
                putting("BASE", put1ct=320, putn=5, putct=110, streamedn=15, **shared),
            )
        ),
    )
    assert [(row["verb"], row["cpu_without"], row["cpu_with"]) for row in rows] == [
        ("put", 7, 22), ("put1", 10, 32)
    ]  # fmt: skip


def test_an_interval_with_streaming_is_compared_with_one_without(write: Write) -> None:
    hour = dt.timedelta(hours=1)
    rows = run(
        write(
            sized("BASE", "private", KB, 5, 0, ended=ENDED - hour),
            sized("BASE", "private", KB, 11, PUTS, ended=ENDED),
        ),
        sections=every("1h"),
    )
    assert [row["streamed"] for row in of("queue", rows)] == [0, PUTS]
    (cost,) = of("cost", rows)
    assert (cost["cpu_without"], cost["cpu_with"]) == (5, 11)
    assert cost["compared_with"] == "same queue"


def test_another_queue_manager_is_not_compared_with(write: Write) -> None:
    token = task_token()
    there = task_record(
        task(token), queue("BASE", token, version=9, putn=1, validput=1, putct=5), qmgr="VTS2"
    )
    (cost,) = of("cost", run(write(there, putting("BASE", putn=1, putct=10, streamedn=1))))
    assert cost["compared_with"] == "none"


# -- what was streamed


def test_before_9_3_2_streaming_is_not_visible_and_the_report_says_so(write: Write) -> None:
    (row,) = of("queue", run(write(putting("BASE", version=8, putn=5, streamedn=5))))
    assert row["note"] == "not visible in class 3 before 9.3.2: use smfparse compare"
    names = ("streamed", "streamed_share", "messages")
    assert [row[name] for name in names] == [None] * len(names)
    assert row["puts"] == 5


def test_a_queue_with_puts_of_both_releases_says_that_some_do_not_tell(write: Write) -> None:
    old, new = putting("BASE", version=8, putn=5), putting("BASE", putn=3, streamedn=3)
    (row,) = of("queue", run(write(old, new)))
    assert (row["puts"], row["streamed"], row["messages"]) == (8, 3, None)
    assert row["note"].startswith("some puts are of MQ before 9.3.2")


def statistic(name: str, number: int = 0, *, length: int = 552, **values: Any) -> bytes:
    """A record of a queue's statistics over the quarter of an hour of this number."""
    block = smf.block("QQST", length, qqstqnam=name, **values)
    start = smf.START + number * QUARTER
    release = {84: "930", 120: "931", 552: "933"}[length]
    return smf.record(block, start=start, seconds=900, release=release)


def test_with_bestef_puts_go_on_when_the_stream_queue_is_full(write: Write) -> None:
    rows = run(
        write(
            putting("BASE", putn=500_000, streamedn=19_980),
            statistic("BASE", qqstputs=500_000, qqststrm=19_980),
            statistic("COPY", qqstputs=19_980, qqstflpt=480_020, qqstdpth=19_980),
        ),
        stream=["base=copy"],
    )
    (base,) = of("queue", rows)
    assert (base["puts"], base["failed"], base["streamed"]) == (500_000, 0, 19_980)
    assert base["messages"] == 519_980
    assert base["streamed_share"] == US(3.996)
    assert base["note"] == (
        "not all were streamed: STREAMQ set for a time only, or BESTEF and the stream queue full"
    )
    (copy,) = of("stream", rows)
    assert (copy["base"], copy["queue"], copy["puts"]) == ("BASE", "COPY", 19_980)
    assert (copy["streamed"], copy["statistics_streamed"]) == (19_980, 19_980)
    assert (copy["failed"], copy["depth_last"], copy["note"]) == (480_020, 19_980, None)


def test_with_mustdup_the_put_fails_when_the_stream_queue_is_full(write: Write) -> None:
    (row,) = of("queue", run(write(putting("B", putn=19_881, validput=19_880, streamedn=19_880))))
    assert (row["puts"], row["failed"], row["streamed"]) == (19_881, 1, 19_880)
    assert (row["messages"], row["streamed_share"], row["note"]) == (39_760, 100, None)


TOPICS: dict[str, tuple[dict[str, Any], str, int]] = {
    f"PRICES{number}": each
    for number, each in enumerate([
        ({"qtype": 8}, "publish", 2),
        ({"flags": "FTOPIC"}, "publish", 2),
        ({"qtype": 3, "objname": "ALIAS"}, "publish", 2),
        ({}, "stream to topic alias", 3),
        ({"streamedn": 1}, "stream to topic alias", 3),
        ({"version": 8}, "stream to topic alias", 3),
        ({"qtype": 3, "objname": "ALIAS", "streamedn": 1}, "stream to topic alias", 3),
    ])
}  # fmt: skip
"""Queues to what their records say, by what they are published, and how many messages there are."""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """The report of a put to each of TOPICS, which all have two subscribers."""
    path = tmp_path_factory.mktemp("topics") / "topics.smf"
    counts = {"putn": 1, "publishedn": 2, "topicputsrb": 2.5, "putct": 20}
    path.write_bytes(
        rdw([putting(name, **counts, **of_what) for name, (of_what, *_) in TOPICS.items()])
    )
    return run(path)


@pytest.mark.parametrize("name", TOPICS)
def test_two_subscribers_make_two_messages_and_streaming_keeps_one_more(
    name: str, published: Rows
) -> None:
    _, by, messages = TOPICS[name]
    rows = [each for each in published if each["queue"] == name]
    (row,) = of("topic", rows)
    assert row["published_by"] == by
    assert (row["puts"], row["published"], row["subscribers"]) == (1, 2, 2)
    assert row["messages"] == messages
    assert (row["put_cpu"], row["put_srb"]) == (20, 2.5)
    queues = [row["messages"] for row in of("queue", rows)]
    assert queues == ([] if by == "publish" else [messages])


# -- stream queues


def sawtooth(number: int) -> dict[str, Any]:
    """Depth of a queue with 200 puts a second in quarters of an hour, half of 5 minutes late.

    CAPEXPRY is 20 minutes; every 5 minutes (EXPRYINT) what is older is taken off.
    """
    rate, lifetime, scan = 200, 20 * 60, 5 * 60
    first, last = 3600 + 900 * number + 150, 3600 + 900 * (number + 1) + 150

    def depth(moment: int) -> int:
        return rate * (moment - (moment // scan * scan - lifetime))

    depths = [depth(moment) for moment in range(first, last + 1)]
    before_scan = [depth(moment - 1) + rate for moment in range(first, last + 1)]
    return {
        "qqstputs": rate * 900,
        "qqstexpr": rate * 900,
        "qqstdpth": depths[-1],
        "qqstdplo": min(depths),
        "qqstdphi": max(before_scan),
    }


def test_expiry_makes_a_sawtooth_between_20_and_25_minutes_of_puts(write: Write) -> None:
    path = write(*(statistic("COPY", number, **sawtooth(number)) for number in range(4)))
    (row,) = of("stream", run(path, stream=["BASE=COPY"]))
    assert (row["depth_lowest"], row["depth_highest"]) == (240_000, 300_000)
    assert (row["arrivals_lowest"], row["arrivals_highest"]) == (20, 25)
    assert (row["depth_last"], row["arrivals_last"]) == (270_000, 22.5)
    assert (row["put_rate"], row["expired"], row["depth_growth"]) == (200, 720_000, 0)


def test_without_expiry_the_depth_grows_by_what_is_put(write: Write) -> None:
    depths = [(number + 1) * 180_000 for number in range(3)]
    path = write(
        *(statistic("COPY", n, qqstputs=180_000, qqstdpth=depth) for n, depth in enumerate(depths))
    )
    (row,) = of("stream", run(path, stream=["BASE=COPY"]))
    assert (row["depth_first"], row["depth_last"]) == (180_000, 540_000)
    assert (row["depth_growth"], row["arrivals_last"]) == (720_000, 45)


def test_a_depth_that_a_partial_record_does_not_tell_is_left_out(write: Write) -> None:
    partial = {"qqstputs": 10, "qqstflag": "QQSTDISP QQSTPART"}
    path = write(
        statistic("COPY", 0, qqstputs=10, qqstdpth=7, qqstdphi=9, qqstflag="QQSTDISP"),
        statistic("COPY", 1, **partial),
    )
    (row,) = of("stream", run(path, stream=["BASE=COPY"]))
    assert (row["puts"], row["depth_last"], row["depth_highest"]) == (20, 7, 9)


@pytest.fixture
def copies(write: Write) -> Path:
    """A queue that streams, its stream queue, and others."""
    return write(
        putting("BASE", putn=70, streamedn=70),
        putting("LOCAL", putn=5, objname="ALIAS"),
        statistic("BASE", qqstputs=70, qqststrm=70),
        statistic("COPY", qqstputs=60, qqstput1=10, qqstdpth=70),
        statistic("LOCAL", qqstputs=5),
        statistic("QUIET"),
        statistic("UNSEEN", qqstputs=40),
    )


def test_queues_with_puts_in_statistics_and_none_in_class_3_are_candidates(copies: Path) -> None:
    rows = of("stream", run(copies))
    assert [(row["queue"], row["base"], row["puts"]) for row in rows] == [
        ("COPY", "BASE", 70), ("UNSEEN", None, 40)
    ]  # fmt: skip
    assert [row["note"] for row in rows] == [
        "candidate: as many puts as its base streamed, none by tasks in class 3",
        "candidate: puts in statistics, none by tasks in class 3",
    ]


def test_stream_queues_that_are_named_are_all_there_are(copies: Path) -> None:
    rows = of("stream", run(copies, stream=["BASE=COPY", "LOCAL=LOST"]))
    assert [(row["base"], row["queue"], row["puts"]) for row in rows] == [
        ("BASE", "COPY", 70), ("LOCAL", "LOST", None)
    ]  # fmt: skip
    assert [row["note"] for row in rows] == [
        None, "no statistics of it: TRACE(STAT) CLASS(5) and STATQ(ON)"
    ]  # fmt: skip
    assert of("stream", run(copies, stream=["NO=SUCH"])) == []


def test_without_class_3_no_queue_is_a_candidate(write: Write) -> None:
    (row,) = run(write(statistic("COPY", qqstputs=70)))
    assert (row["line"], row["statistics_streamed"]) == ("queue manager", 0)


def test_before_9_3_3_statistics_tell_depths_only(write: Write) -> None:
    path = write(
        statistic("COPY", 0, length=84, qqstdpth=4), statistic("COPY", 1, length=84, qqstdpth=9)
    )
    assert run(path) == []
    (row,) = of("stream", run(path, stream=["BASE=COPY"]))
    assert (row["depth_first"], row["depth_highest"], row["depth_growth"]) == (4, 9, 20)
    names = ("puts", "failed", "expired", "put_rate", "arrivals_last")
    assert [row[name] for name in names] == [None] * len(names)
    assert row["note"] == "puts are in statistics from 9.3.3 on"


def test_streams_are_named_on_the_command_line(copies: Path) -> None:
    found = CliRunner().invoke(
        main, ["report", "streaming", str(copies), "--stream", "BASE=COPY", "--format", "json"]
    )
    assert found.exit_code == 0, found.output
    rows = json.loads(found.stdout)["rows"]
    assert [row["queue"] for row in of("stream", rows)] == ["COPY"]


# -- the queue manager, its log, its adapters


def managed(qmst: dict[str, Any], qist: dict[str, Any]) -> list[bytes]:
    return [
        smf.record(smf.block(name, **values)) for name, values in (("QMST", qmst), ("QIST", qist))
    ]


def test_the_queue_manager_counts_streamed_puts_that_class_3_does_not(write: Write) -> None:
    rows = run(
        write(
            putting("BASE", putn=90, put1n=10, streamedn=100, ngen=3, putpwg=2, put1pwg=1),
            putting("TOPIC", qtype=8, putn=1, publishedn=2),
            statistic("BASE", qqststrm=100),
            *managed({"qmstput": 190, "qmstput1": 12}, {"qistmput": 205}),
        )
    )
    (row,) = of("queue manager", rows)
    assert (row["puts"], row["streamed"], row["statistics_streamed"]) == (101, 100, 100)
    assert (row["published"], row["generated"], row["to_getter"]) == (2, 3, 3)
    assert (row["message_manager_puts"], row["message_manager_excess"]) == (202, 101)
    assert (row["data_manager_puts"], row["data_manager_excess"]) == (205, 104)
    assert row["note"].startswith("an estimate")


def test_without_one_side_there_is_no_excess(write: Write) -> None:
    (row,) = of("queue manager", run(write(*managed({"qmstput": 9}, {"qistmput": 9}))))
    assert (row["message_manager_puts"], row["puts"]) == (9, None)
    assert (row["message_manager_excess"], row["data_manager_excess"]) == (None, None)
    assert row["note"] == "no class 3: START TRACE(ACCTG) CLASS(3)"
    (row,) = of("queue manager", run(write(putting("BASE", putn=9))))
    assert (row["puts"], row["data_manager_excess"]) == (9, None)
    assert row["note"] == "no class 1: START TRACE(STAT) CLASS(1)"


def logged(pages: int, ios: int, io_busy: float, task_busy: float) -> bytes:
    """A minute of two log copies, pages and I/Os a second each; per cent busy."""
    each = Io(ios=60 * ios, pages=60 * pages, suspended_us=round(io_busy * 600_000))
    log = Log(
        io={(1, 2): each, (2, 2): each}, sleep_us=60_000_000 - round(task_busy * 600_000)
    )  # fmt: skip
    keys = {"system": "MVAA", "qmgr": "VTS1"}
    return smf.log_record(log, duration_us=60_000_000, **keys)


def test_a_logger_that_is_full_for_its_workload_is_not_at_its_limit(write: Write) -> None:
    (row,) = run(write(logged(220 * 256, 220 * 256 // 11, 94.66, 99.9)))
    assert row["line"] == "log"
    assert (row["mb_per_second"], row["pages_per_write"], row["pages_left"]) == (220, 11, 117)
    assert (row["io_busy"], row["io_left"]) == (US(94.66), US(5.34))
    assert (row["task_busy"], row["task_left"]) == (US(99.9), US(0.1))
    assert row["note"] == "full for this workload; with more pages an I/O it can still take more"


@pytest.mark.parametrize(
    ("pages", "busy", "note"),
    [
        (100, 99.9, "near 128 pages an I/O: faster DASD, zHyperWrite, or a second queue manager"),
        (99, 94.9, None),
    ],
)
def test_a_logger_is_told_what_it_can_take(
    write: Write, pages: int, busy: float, note: str | None
) -> None:
    (row,) = run(write(logged(pages * 10, 10, busy, busy)))
    assert (row["pages_left"], row["note"]) == (128 - pages, note)


def test_before_8_0_the_log_does_not_say_how_busy_it_is(write: Write) -> None:
    log = Log(counters={"qjstciwr": 50, "qjstlogw": 10})
    (row,) = run(write(smf.log_record(log, release="700")))
    assert (row["pages_per_write"], row["task_left"], row["mb_per_second"]) == (5, None, None)
    assert row["note"] == "QJST shows how busy it is from MQ 8.0 on"


def adapters(*busy: float) -> bytes:
    """A record of adapters that were so busy, per cent of a minute."""
    blocks = [smf.block("QCT_ADP", qcteltm=each * 600_000) for each in busy]
    return smf.record(*blocks, of="QCT_ADP", seconds=60)


@pytest.mark.parametrize(
    ("busy", "note"),
    [
        ((20, 10, 0), "enough: they do the streamed puts of channels as well"),
        ((20, 10, 3), "all are in use; more may help: CHIADAPS"),
        ((60, 55, 51), "they do the streamed puts of channels as well: raise CHIADAPS"),
        ((95, 90, 10), "they do the streamed puts of channels as well: raise CHIADAPS"),
    ],
)
def test_adapters_that_streamed_puts_of_channels_take_are_shown(
    write: Write, busy: tuple[float, ...], note: str
) -> None:
    (row,) = run(write(adapters(*busy)))
    assert (row["line"], row["adapters"]) == ("adapters", len(busy))
    assert row["adapter_busy"] == US(sum(busy) / len(busy))
    assert (row["adapter_busiest"], row["adapter_last"]) == (US(max(busy)), US(busy[-1]))
    assert row["note"] == note


# -- files with everything


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("generated") / "generated.smf"
    generate_dump(
        path, utc_offset=dt.timedelta(hours=1), interval=dt.timedelta(minutes=15), version="9.4.0",
        seed=5, tasks=40, queues=4,
    )  # fmt: skip
    return path


def table(path: Path, name: str) -> pl.DataFrame:
    with Catalog(open_inputs([path])) as catalog:
        found = pl.from_arrow(catalog.arrow(f"SELECT * FROM {name}"))
    assert isinstance(found, pl.DataFrame)
    return found


def test_streams_of_a_file_are_those_of_its_dataset(generated: Path, tmp_path: Path) -> None:
    qqst = table(generated, "qqst")["qqstqnam"].unique().sort()
    base = next(row["queue"] for row in of("queue", run(generated)) if row["streamed"])
    pairs = [f"{base}={qqst[0]}", f"{qqst[1]}={qqst[2]}"]
    write_dataset(open_inputs([generated]), tmp_path / "dataset")
    rows = run(generated, stream=pairs)
    assert {row["base"] for row in of("stream", rows)} == {base, qqst[1]}
    found = run(tmp_path / "dataset", stream=pairs)
    for row in [*rows, *found]:
        row["section"].pop("input_no", None)
    assert found == rows
