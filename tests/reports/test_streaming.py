"""The report streaming: what IBM published of its cost, and lines that its goldens do not have.

Cases are in one input (`records`), at a queue manager each, as queues of one are compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smfparse.planning.plans import planned
from tests.support import smf
from tests.support.builders import put
from tests.support.command import in_json
from tests.support.published import PUTS as published_puts
from tests.support.published import published
from tests.support.report_runs import Rows, by_qmgr, lines_of, of, report_rows, values
from tests.support.smf import ENDED, MINUTE, Io, Log, queue, task, task_record, task_token

pytestmark = pytest.mark.slow

KB = 1024
US = pytest.approx
PUTS = 10
numbers = itertools.count(1)


def putting(qmgr: str, name: str, *, of_task: Any = None, **counts: Any) -> bytes:
    """The record of a task of its own that put to one queue."""
    token = task_token(next(numbers))
    counts = {"version": 9, "validput": counts["putn"]} | counts
    return task_record(task(token, **(of_task or {})), queue(name, token, **counts), qmgr=qmgr)


def sized(qmgr: str, name: str, kind: str, size: int, cpu: float, **more: Any) -> bytes:
    """A task with ten puts of a size, each of so much CPU."""
    return putting(
        qmgr, name, cfstrucname="APPL1" if kind == "shared" else "", putn=PUTS, putct=PUTS * cpu,
        putet=2 * PUTS * cpu, putbytes=PUTS * size, **more,
    )  # fmt: skip


SIZE = 8 * KB
WITHOUT, STREAMING, OVERHEAD = published_puts["shared"][8]


def compared() -> Iterator[bytes]:
    """Yield puts with and without streaming; those that are not alike take 99 microseconds."""
    yield sized("LIKE", "BASE", "shared", SIZE, STREAMING, streamedn=PUTS)
    yield sized("LIKE", "ALIKE", "shared", SIZE // 2 + 1, WITHOUT)
    yield sized("LIKE", "LARGER", "shared", SIZE + 1, 99)
    yield sized("LIKE", "SMALLER", "shared", SIZE // 2, 99)
    yield sized("LIKE", "UNLIKE", "private", SIZE, 99)
    yield sized("LIKE", "UNKNOWN", "shared", SIZE, 99, version=8)
    yield sized("LIKE", "PERSISTENT", "shared", SIZE, 99, putpmsg=PUTS)
    yield sized("LIKE", "STREAMS", "shared", SIZE, 99, streamedn=PUTS)
    yield sized("SIGN", "BASE", "private", KB, 5.04)
    yield sized("SIGN", "BASE", "private", KB, 5.01, streamedn=PUTS)


# A task with ten puts of IBM's performance report of 9.3, alone and with a stream queue.
BATCH = {"openn": 1, "closen": 1, "putn": 10, "putbytes": 10240}
ALONE = BATCH | {
    "openet": 39, "openct": 37, "closeet": 8, "closect": 8, "putet": 110, "putct": 100,
}  # fmt: skip
STREAMED = BATCH | {
    "openet": 44, "openct": 44, "closeet": 10, "closect": 10, "putet": 180, "putct": 180,
    "streamedn": 10,
}  # fmt: skip


def logged(qmgr: str, pages: int, ios: int, io_busy: float, task_busy: float) -> bytes:
    """A minute of two log copies, pages and I/Os a second each; per cent busy."""
    each = Io(ios=60 * ios, pages=60 * pages, suspended_us=round(io_busy * 600_000))
    sleep = 60_000_000 - round(task_busy * 600_000)
    log = Log(io={(1, 2): each, (2, 2): each}, sleep_us=sleep)
    return smf.log_record(log, duration_us=60_000_000, system="MVAA", qmgr=qmgr)


NEAR_128 = "near 128 pages an I/O: faster DASD, zHyperWrite, or a second queue manager"
LOGS = {"LOG1": ((1000, 10, 99.9, 99.9), NEAR_128), "LOG2": ((990, 10, 94.9, 94.9), None)}
NO_CLASS_3 = "no class 3 in this section: START TRACE(ACCTG) CLASS(3), or a longer --interval"
RAISE = "they do the streamed puts of channels as well: raise CHIADAPS"
ADAPTERS = {
    "ADP1": ((20, 10, 3), "all are in use; more may help: CHIADAPS"),
    "ADP2": ((60, 55, 51), RAISE),
    "ADP3": ((95, 90, 10), RAISE),
}
"""By queue manager: per cent of a minute that each was busy, and the note."""


def records() -> Iterator[bytes]:
    yield from compared()
    minute = {"wtasints": ENDED - MINUTE}
    paid = {"putn": 600, "putct": 6000, "putbytes": 2400 * KB, "putpmsg": 300}
    yield putting("PLAN", "PAID", **paid, of_task=minute)
    yield putting("PLAN", "LARGE", putn=60, putct=600, putbytes=60 * 200 * KB, of_task=minute)
    yield logged("PLAN", 256, 64, 20, 25)
    yield putting("BOTH", "BASE", version=8, putn=5)
    yield putting("BOTH", "BASE", putn=3, streamedn=3)
    token = task_token(next(numbers))
    puts = {"version": 9, "qtype": 3, "putn": 5, "validput": 5}
    uses = [queue("TOPIC", token, **puts, publishedn=each) for each in (0, 5)]
    yield task_record(task(token, wtasgpn=10), *uses, qmgr="MIX")
    yield smf.more_queues(*uses, qmgr="MORE")  # Their interval would be in the 116/1.
    yield smf.record(smf.block("QQST", 552, qqstqnam="COPY", qqstputs=70), qmgr="NOC3")
    yield putting("VTS1", "LQ1000", of_task={"wtasgpo": 32, "wtasgpn": 11}, **ALONE)
    yield putting("VTS1", "LQ1000", of_task={"wtasgpo": 64, "wtasgpn": 22}, **STREAMED)
    for qmgr, (log, _) in LOGS.items():
        yield logged(qmgr, *log)
    for qmgr, (busy, _) in ADAPTERS.items():
        blocks = [smf.block("QCT_ADP", qcteltm=each * 600_000) for each in busy]
        yield smf.record(*blocks, of="QCT_ADP", seconds=60, qmgr=qmgr)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return put(tmp_path_factory.mktemp("streaming") / "streaming.smf", *records())


@pytest.fixture(scope="module")
def rows(path: Path) -> dict[str, Rows]:
    return by_qmgr(report_rows("streaming", path))


def test_what_streaming_would_cost_is_as_the_planner_says(rows: dict[str, Rows]) -> None:
    plans = {row["queue"]: row for row in of("plan", rows["PLAN"])}
    row = plans["PAID"]
    assert values(row, "kind put_kb class_3_rate put_cpu") == ["private", 4, 10, 10]
    assert row["persistent_log"] == US(1)
    plan = planned("streaming", log_mb_s=1, message_kb=4, put_cost=10, puts_s=10)
    expected = [plan[each] for each in ("then_us", "cpu_ms_s", "log_mb_s", "pages_s")]
    names = "planned_put_cpu planned_cpu planned_log planned_pages"
    assert values(row, names) == US(expected)
    assert row["planned_put_cpu"] == US(10 * 10.6 / 5)
    expected = [None, "published up to 128 KB only"]
    assert values(plans["LARGE"], "planned_cpu note") == expected
    assert [row["class_3_rate"] for row in of("plan", rows["MORE"])] == [None]


def test_what_streaming_costs_is_worked_out_from_like_queues(rows: dict[str, Rows]) -> None:
    """Queues of the kind and message size that stream nothing; puts take twice their CPU."""
    cost, _ = of("cost", rows["LIKE"])
    assert values(cost, "verb calls_without calls_with") == ["put", PUTS, PUTS]
    found = values(cost, "cpu_without cpu_with cpu_overhead elapsed_overhead")
    assert found == US([WITHOUT, STREAMING, OVERHEAD, 2 * OVERHEAD], abs=1e-3)
    factor = STREAMING / WITHOUT
    assert values(cost, "cpu_factor elapsed_factor") == US([factor] * 2, rel=1e-3)
    assert cost["compared_with"] == f"other shared queues, {SIZE // 2 + 1}-{SIZE} bytes"


def test_costs_are_printed_as_published(rows: dict[str, Rows]) -> None:
    """A difference that rounds to nothing has no sign."""
    text = published("streaming")
    assert lines_of("streaming", rows["VTS1"])[2 : 2 + len(text)] == text
    (cost,) = (line for line in lines_of("streaming", rows["SIGN"]) if "same queue" in line)
    assert cost.split()[2:8] == ["10", "10", "5.0", "5.0", "0.0", "0.99"]


OF_BOTH = "some puts are of MQ before 9.3.2, where streaming is not visible in class 3"
FOUND: dict[str, tuple[str, list[Any]]] = {
    "BOTH": ("puts streamed messages note", [8, 3, None, OF_BOTH]),
    # Pages of a task that also published are not of its puts.
    "MIX": ("puts pages_per_put", [5, None]),
    # Without class 3, no queue is a candidate.
    "NOC3": ("line note", ["queue manager", NO_CLASS_3]),
    **{qmgr: ("line note", ["log", note]) for qmgr, (_, note) in LOGS.items()},
    **{
        qmgr: (
            "adapters adapter_busy adapter_busiest adapter_last note",
            [len(busy), *map(US, (sum(busy) / len(busy), max(busy), busy[-1])), note],
        )
        for qmgr, (busy, note) in ADAPTERS.items()
    },
}
"""By queue manager: figures of its first line, and their values."""


def test_a_queue_manager_has_the_lines_of_its_case(rows: dict[str, Rows]) -> None:
    for qmgr, (names, expected) in FOUND.items():
        assert values(rows[qmgr][0], names) == expected
        assert len(rows[qmgr]) == 1 or qmgr in ("BOTH", "MIX")


def test_stream_queues_that_are_named_are_all_there_are(path: Path) -> None:
    asked = ("--qmgr", "BOTH", "--stream", "NO=SUCH", "--stream", "base=lost")
    rows = in_json("report", "streaming", path, *asked)["rows"]
    lost = "no statistics of it: TRACE(STAT) CLASS(5) and STATQ(ON)"
    assert [values(row, "base queue note") for row in of("stream", rows)] == [
        ["BASE", "LOST", lost]
    ]
