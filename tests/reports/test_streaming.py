"""The report streaming: what streaming queues copy, what that costs, and what is left.

Cases are in one input (`records`), at a queue manager each, as queues of one are compared. Two
reports are made of it: with stream queues that are named, and without.
"""

from __future__ import annotations

import datetime as dt
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smfparse.planning import planned
from tests.support import smf
from tests.support.builders import rdw
from tests.support.command import run
from tests.support.published import PUTS as published_puts
from tests.support.published import published
from tests.support.report_runs import Rows, by_qmgr, lines_of, of, report_rows, values
from tests.support.smf import ENDED, Io, Log, queue, task, task_record, task_token

pytestmark = pytest.mark.slow

KB = 1024
QUARTER, HOUR = dt.timedelta(minutes=15), dt.timedelta(hours=1)
US = pytest.approx
STREAMS = ["base=copy", "LOCAL=LOST"]


numbers = itertools.count(1)


def putting(qmgr: str, name: str, *, of_task: Any = None, **counts: Any) -> bytes:
    """The record of a task of its own that put to one queue."""
    token = task_token(next(numbers))
    counts = {"version": 9, "validput": counts["putn"]} | counts
    return task_record(task(token, **(of_task or {})), queue(name, token, **counts), qmgr=qmgr)


# IBM's tables: MQ for z/OS 9.3 performance report, streaming queues.

PUTS = 10
LIKE = {
    "LIKP": ("private", "shared", 2, published_puts["private"][2]),
    "LIKS": ("shared", "private", 8, published_puts["shared"][8]),
}
"""By queue manager: what is compared with like queues; the other kind, KB, and published CPU."""


def sized(qmgr: str, name: str, kind: str, size: int, cpu: float, **more: Any) -> bytes:
    """A task with ten puts of a size, each of so much CPU."""
    return putting(
        qmgr, name, cfstrucname="APPL1" if kind == "shared" else "", putn=PUTS, putct=PUTS * cpu,
        putet=2 * PUTS * cpu, putbytes=PUTS * size, **more,
    )  # fmt: skip


def compared() -> Iterator[bytes]:
    """Yield puts with and without streaming; those that are not alike take 99 microseconds."""
    for qmgr, (kind, unlike, kilobytes, (without, streaming, _)) in LIKE.items():
        size = kilobytes * KB
        yield sized(qmgr, "BASE", kind, size, streaming, streamedn=PUTS)
        yield sized(qmgr, "ALIKE", kind, size // 2 + 1, without)
        yield sized(qmgr, "LARGER", kind, size + 1, 99)
        yield sized(qmgr, "SMALLER", kind, size // 2, 99)
        yield sized(qmgr, "UNLIKE", unlike, size, 99)
        yield sized(qmgr, "UNKNOWN", kind, size, 99, version=8)
        yield sized(qmgr, "PERSISTENT", kind, size, 99, putpmsg=PUTS)
        yield sized(qmgr, "STREAMS", kind, size, 99, streamedn=PUTS)
    yield sized("SIGN", "BASE", "private", KB, 5.04)
    yield sized("SIGN", "BASE", "private", KB, 5.01, streamedn=PUTS)


BATCH = {"openn": 1, "closen": 1, "putn": 10, "putbytes": 10240}
ALONE = BATCH | {
    "openet": 39, "openct": 37, "closeet": 8, "closect": 8, "putet": 110, "putct": 100,
}  # fmt: skip
STREAMED = BATCH | {
    "openet": 44, "openct": 44, "closeet": 10, "closect": 10, "putet": 180, "putct": 180,
    "streamedn": 10,
}  # fmt: skip


def statistic(qmgr: str, name: str, number: int = 0, *, length: int = 552, **more: Any) -> bytes:
    """A record of a queue's statistics over the quarter of an hour of this number."""
    block = smf.block("QQST", length, qqstqnam=name, **more)
    start = smf.START + number * QUARTER
    release = {84: "930", 552: "933"}[length]
    return smf.record(block, start=start, seconds=900, release=release, qmgr=qmgr)


def logged(qmgr: str, pages: int, ios: int, io_busy: float, task_busy: float) -> bytes:
    """A minute of two log copies, pages and I/Os a second each; per cent busy."""
    each = Io(ios=60 * ios, pages=60 * pages, suspended_us=round(io_busy * 600_000))
    sleep = 60_000_000 - round(task_busy * 600_000)
    log = Log(io={(1, 2): each, (2, 2): each}, sleep_us=sleep)
    return smf.log_record(log, duration_us=60_000_000, system="MVAA", qmgr=qmgr)


NEAR_128 = "near 128 pages an I/O: faster DASD, zHyperWrite, or a second queue manager"
FULL = "full for this workload; with more pages an I/O it can still take more"
LOGS = {
    "LOG0": ((5120 * 11, 5120, 94.66, 99.9), FULL),
    "LOG1": ((1000, 10, 99.9, 99.9), NEAR_128),
    "LOG2": ((990, 10, 94.9, 94.9), None),
}
RAISE = "they do the streamed puts of channels as well: raise CHIADAPS"
ADAPTERS = {
    "ADP0": ((20, 10, 0), "enough: they do the streamed puts of channels as well"),
    "ADP1": ((20, 10, 3), "all are in use; more may help: CHIADAPS"),
    "ADP2": ((60, 55, 51), RAISE),
    "ADP3": ((95, 90, 10), RAISE),
}
"""By queue manager: per cent of a minute that each was busy, and the note."""


def planned_queues() -> Iterator[bytes]:
    """Yield puts of a minute of queues that do not stream, and a log of 1 MB/s."""
    whole = {"of_task": {"wtasints": ENDED - dt.timedelta(minutes=1)}}
    paid = {"putn": 600, "putct": 6000, "putbytes": 2400 * KB, "putpmsg": 300}
    yield putting("PLAN", "PAID", **paid, **whole)
    yield putting("PLAN", "LARGE", putn=60, putct=600, putbytes=60 * 200 * KB, **whole)
    yield logged("PLAN", 256, 64, 20, 25)


def streamed() -> Iterator[bytes]:
    """Yield puts and statistics of queues that stream, and of their stream queues."""
    yield putting("OLD1", "BASE", version=8, putn=5, streamedn=5)
    yield putting("OLD2", "BASE", version=8, putn=5)
    yield putting("OLD2", "BASE", putn=3, streamedn=3)
    yield putting("BEST", "BASE", putn=500_000, streamedn=19_980)
    yield statistic("BEST", "BASE", qqstputs=500_000, qqststrm=19_980)
    yield statistic("BEST", "COPY", qqstputs=19_980, qqstflpt=480_020, qqstdpth=19_980)
    yield statistic("Q930", "COPY", 0, length=84, qqstdpth=4)
    yield statistic("Q930", "COPY", 1, length=84, qqstdpth=9)
    yield putting("CAND", "BASE", putn=70, streamedn=70)
    yield putting("CAND", "LOCAL", putn=5, objname="ALIAS")
    yield statistic("CAND", "BASE", qqstputs=70, qqststrm=70)
    yield statistic("CAND", "COPY", qqstputs=60, qqstput1=10, qqstdpth=70)
    yield statistic("CAND", "LOCAL", qqstputs=5)
    yield statistic("CAND", "QUIET")
    yield statistic("CAND", "UNSEEN", qqstputs=40)
    yield statistic("NOC3", "COPY", qqstputs=70)


def records() -> Iterator[bytes]:
    yield from (*planned_queues(), *compared(), *streamed())
    yield putting("VTS1", "LQ1000", of_task={"wtasgpo": 32, "wtasgpn": 11}, **ALONE)
    yield putting("VTS1", "LQ1000", of_task={"wtasgpo": 64, "wtasgpn": 22}, **STREAMED)
    for qmgr, (log, _) in LOGS.items():
        yield logged(qmgr, *log)
    for qmgr, (busy, _) in ADAPTERS.items():
        blocks = [smf.block("QCT_ADP", qcteltm=each * 600_000) for each in busy]
        yield smf.record(*blocks, of="QCT_ADP", seconds=60, qmgr=qmgr)


ByQmgr = dict[str, Rows]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("streaming") / "streaming.smf"
    path.write_bytes(rdw(records()))
    return path


@pytest.fixture(scope="module")
def rows(path: Path) -> ByQmgr:
    return by_qmgr(report_rows("streaming", path))


# -- what streaming would cost, by the planner


def test_what_streaming_would_cost_is_as_the_planner_says(rows: ByQmgr) -> None:
    plans = {row["queue"]: row for row in of("plan", rows["PLAN"])}
    row = plans["PAID"]
    assert values(row, "kind put_kb class_3_rate put_cpu") == ["private", 4, 10, 10]
    assert row["persistent_log"] == US(1)
    plan = planned("streaming", log_mb_s=1, message_kb=4, put_cost=10, puts_s=10)
    expected = [plan[each] for each in ("then_us", "cpu_ms_s", "log_mb_s", "pages_s")]
    names = "planned_put_cpu planned_cpu planned_log planned_pages"
    assert values(row, names) == US(expected)
    assert row["planned_put_cpu"] == US(10 * 10.6 / 5)
    assert plans["LARGE"]["planned_cpu"] is None
    assert plans["LARGE"]["note"] == "published up to 128 KB only"


# -- what streaming costs, as published


@pytest.mark.parametrize("qmgr", LIKE)
def test_what_streaming_costs_is_worked_out_from_like_queues(rows: ByQmgr, qmgr: str) -> None:
    """Queues of the kind and message size that stream nothing; puts take twice their CPU."""
    (kind, _, kilobytes, (without, streaming, overhead)) = LIKE[qmgr]
    cost, _ = of("cost", rows[qmgr])
    assert values(cost, "verb calls_without calls_with") == ["put", PUTS, PUTS]
    found = values(cost, "cpu_without cpu_with cpu_overhead elapsed_overhead")
    assert found == US([without, streaming, overhead, 2 * overhead], abs=1e-3)
    assert values(cost, "cpu_factor elapsed_factor") == US([streaming / without] * 2, rel=1e-3)
    size = kilobytes * KB
    assert cost["compared_with"] == f"other {kind} queues, {size // 2 + 1}-{size} bytes"


def test_a_difference_that_rounds_to_nothing_has_no_sign(rows: ByQmgr) -> None:
    text = lines_of("streaming", rows["SIGN"])
    (cost,) = (line for line in text if line.startswith("BASE") and "same queue" in line)
    assert cost.split()[2:8] == ["10", "10", "5.0", "5.0", "0.0", "0.99"]


def test_the_published_batch_task_is_printed_without_and_with_streaming(rows: ByQmgr) -> None:
    text = published("streaming")
    assert lines_of("streaming", rows["VTS1"])[2 : 2 + len(text)] == text


# -- what was streamed, stream queues, the log, the adapters

NOT_VISIBLE = "not visible in class 3 before 9.3.2: use smfparse compare"
OF_BOTH = "some puts are of MQ before 9.3.2, where streaming is not visible in class 3"
AS_MANY = "candidate: as many puts as its base streamed, none by tasks in class 3"
UNSEEN = "candidate: puts in statistics, none by tasks in class 3"
LOST = "no statistics of it: TRACE(STAT) CLASS(5) and STATQ(ON)"
DEPTHS = "depth_first depth_highest depth_growth puts failed expired put_rate arrivals_last note"
FOUND: dict[str, tuple[str, str, list[list[Any]]]] = {
    "OLD1": ("queue", "puts streamed streamed_share messages note",
             [[5, None, None, None, NOT_VISIBLE]]),
    "OLD2": ("queue", "puts streamed messages note", [[8, 3, None, OF_BOTH]]),
    "BEST": ("queue", "puts failed streamed messages streamed_share",
             [[500_000, 0, 19_980, 519_980, US(3.996)]]),
    "CAND": ("stream", "queue base puts note",
             [["COPY", "BASE", 70, AS_MANY], ["UNSEEN", None, 40, UNSEEN]]),
    # Without class 3, no queue is a candidate.
    "NOC3": ("queue manager", "statistics_streamed", [[0]]),
    **{qmgr: ("log", "note", [[note]]) for qmgr, (_, note) in LOGS.items()},
    **{qmgr: ("adapters", "adapters adapter_busy adapter_busiest adapter_last note",
              [[len(busy), US(sum(busy) / len(busy)), US(max(busy)), US(busy[-1]), note]])
       for qmgr, (busy, note) in ADAPTERS.items()},
}  # fmt: skip
"""By queue manager: a kind of line, figures, and their values."""
ALONE_IN_ITS_SECTION = ("NOC3", *LOGS, *ADAPTERS)
NAMED = {
    "BEST": ("queue puts streamed statistics_streamed failed depth_last note",
             [["COPY", 19_980, 19_980, 19_980, 480_020, 19_980, None]]),
    "CAND": ("base queue puts note", [["BASE", "COPY", 70, None], ["LOCAL", "LOST", None, LOST]]),
    "Q930": (DEPTHS, [[4, 9, 20, *[None] * 5, "puts are in statistics from 9.3.3 on"]]),
}  # fmt: skip
"""Stream queues where these are named."""


@pytest.mark.parametrize("qmgr", FOUND)
def test_a_queue_manager_has_the_lines_of_its_case(rows: ByQmgr, qmgr: str) -> None:
    line, names, expected = FOUND[qmgr]
    assert [values(row, names) for row in of(line, rows[qmgr])] == expected
    assert len(rows[qmgr]) == 1 or qmgr not in ALONE_IN_ITS_SECTION


def test_stream_queues_that_are_named_are_all_there_are(rows: ByQmgr, path: Path) -> None:
    """Before 9.3.3 statistics tell depths only."""
    streams = by_qmgr(of("stream", report_rows("streaming", path, stream=STREAMS)))
    for qmgr, (names, expected) in NAMED.items():
        assert [values(row, names) for row in streams[qmgr]] == expected
    assert "Q930" not in rows
    asked = ("--qmgr", "CAND", "--stream", "NO=SUCH", "--stream", "BASE=COPY", "--format", "json")
    shown = of("stream", json.loads(run("report", "streaming", path, *asked).stdout)["rows"])
    assert [row["queue"] for row in shown] == ["COPY"]
