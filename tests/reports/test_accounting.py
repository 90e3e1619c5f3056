"""The reports of accounting: tasks, queues, connections.

Most cases are a job each of one input (`CASES`), of which every report is made once.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from smfparse.reports.sections import TOTAL
from smfparse.schemas import enums
from tests.support.builders import put
from tests.support.label_facts import numbered
from tests.support.published import published
from tests.support.report_runs import Rows, lines_of, report_rows, values
from tests.support.smf import more_queues, queue, task, task_record, task_token, who

pytestmark = pytest.mark.slow

OPENED = dt.datetime(2022, 7, 7, 14, 42, 9, tzinfo=dt.UTC)


def words(lines: list[str]) -> list[str]:
    """Leave out how far apart the words of lines are."""
    return [" ".join(line.split()) for line in lines]


# IBM's performance report of 9.3: a task with ten puts of 1 KB, alone and with a stream queue.

PUTS = {
    "opentime": OPENED, "clostime": OPENED + dt.timedelta(milliseconds=300), "nps": 4,
    "nbuffpool": 3, "openn": 1, "closen": 1, "putn": 10, "validput": 10, "putbytes": 10240,
    "putmaxms": 1024, "putminms": 1024,
}  # fmt: skip
ALONE = PUTS | {
    "openet": 39.5, "openct": 37.25, "closeet": 8.25, "closect": 8.125,
    "putet": 111.75, "putct": 109.75,
}  # fmt: skip
STREAMED = PUTS | {
    "openet": 44.5, "openct": 44.25, "closeet": 10.25, "closect": 10.125,
    "putet": 181.5, "putct": 180.0, "streamedn": 10,
}  # fmt: skip
STREAM_BASE = (
    {"putn": 51000, "validput": 51000, "putbytes": 40800000, "putet": 59803338 - 57 * 1171,
     "putct": 2406230 - 57 * 47, "putmaxms": 800, "putminms": 800},
    {"putn": 57, "validput": 57, "putbytes": 45600, "putet": 57 * 1171, "putct": 57 * 47,
     "putmaxms": 800, "putminms": 800},
    {"inqn": 1, "inqet": 14, "inqct": 14},
)  # fmt: skip
"""What three tasks did with the published queue."""

VERBS = ("open", "close", "get", "put", "put1", "inq", "set", "cb")
KINDS = {f"KIND{kind:03}": kind for kind in [*enums.CONNECTION_TYPE, 77]}
"""Jobs with each type of connection, one of which nobody knows."""

CASES: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {
    "ALONE": ({"wtasgpo": 32, "wtasgpn": 11}, [ALONE | {"objname": "LQ1000", "version": 8}]),
    "STREAMED": ({"wtasgpo": 64, "wtasgpn": 22}, [STREAMED | {"objname": "LQ1000"}]),
    **{
        f"BASE{number}": ({}, [{"objname": "TEAM1.STREAM.BASE", "version": 8} | each])
        for number, each in enumerate(STREAM_BASE)
    },
    "FIELDS": (numbered("task").fields, []),
    "QFIELDS": ({}, [{"objname": "NUMBERED"} | numbered("queue").fields]),
    "LATCHES": ({"latches": {16: (19723, 1813, 512), 5: (7, 1, 7)}}, []),
    **{job: ({"kind": kind}, []) for job, kind in KINDS.items()},
}
"""By job: fields of its task, and of its queues."""


def queues(token: bytes, wanted: list[dict[str, Any]]) -> list[bytes]:
    return [queue(each["objname"], token, **({"version": 9} | each)) for each in wanted]


def records() -> list[bytes]:
    found = []
    for number, (job, (fields, used)) in enumerate(CASES.items()):
        token, own = task_token(number), {k: v for k, v in fields.items() if k != "kind"}
        by = who(job, kind=fields.get("kind", 2))
        found.append(task_record(task(token, **own), *queues(token, used), by=by))
    channel = who("VTS1CHIN", "MQUSER", 6, wtidchl="TO.VTS2", wtidchlc="10.20.1.1(1414)")
    return [
        *found,
        task_record(task(task_token(1000)), by=channel),
        more_queues(queue("LOST.Q", task_token(1002), putn=7, putet=70), by=who("LOST")),
    ]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return put(tmp_path_factory.mktemp("accounting") / "jobs.smf", *records())


def by_job(rows: Rows) -> dict[str, Rows]:
    found: dict[str, Rows] = {}
    for row in rows:
        found.setdefault(row["wtidccn"], []).append(row)
    return found


@pytest.fixture(scope="module")
def tasks(path: Path) -> dict[str, Rows]:
    return by_job(report_rows("task", path))


@pytest.fixture(scope="module")
def texts(tasks: dict[str, Rows]) -> dict[str, list[str]]:
    """The lines of `task` by job, from the one with its name on."""
    return {job: lines_of("task", rows)[2:] for job, rows in tasks.items()}


@pytest.fixture(scope="module")
def sums(path: Path) -> dict[str, Rows]:
    return by_job(report_rows("tasksum", path))


@pytest.fixture(scope="module")
def qall(path: Path) -> Rows:
    return report_rows("qall", path)


def of_queue(rows: Rows, name: str) -> Rows:
    return [row for row in rows if row["objname"] == name]


# The text of a task, of its queues, and of queues over all tasks.


def test_a_task_is_printed_as_published(texts: dict[str, list[str]]) -> None:
    head, _, _, *rest = words(texts["STREAMED"])
    assert [head, *rest] == published("task")
    as_published = published("task-alone")
    assert [each for each in texts["ALONE"] if each in as_published] == as_published
    alone = words(texts["ALONE"])
    times = ("Open avg CPU time 37 uS", "Close avg elapsed time 8 uS", "Put avg CPU time 10 uS")
    assert {f"{line} LQ1000" for line in times} <= {*alone}
    assert not [line for line in alone if line.startswith("Streamed")]  # before 9.3.2


def test_queues_over_all_tasks_are_printed_as_published(path: Path, qall: Rows) -> None:
    top, header, _, *lines = lines_of("qall", of_queue(qall, "TEAM1.STREAM.BASE"))
    assert top == "Queue data summarised by queue"
    assert header == "MVAA,VTS1,2022/07/07,10:42:10,VRM:930,"
    assert lines == published("qall")
    qputs = of_queue(report_rows("qputs", path), "TEAM1.STREAM.BASE")
    header, row = lines_of("qputs", qputs, "csv")
    assert header.startswith("Queue,Puts,Put1s,TotBytes,MaxMsgSz,MinMsgSz,")
    assert row.startswith("TEAM1.STREAM.BASE,51057,0,40845600,800,800,")


def check_labels(lines: list[str], expected: Mapping[str, str], others: set[str]) -> dict[str, str]:
    """Lines have the numbers of their fields; others are there as well. Return all."""
    shown = {line[:24].rstrip(): line[24:].split()[0] for line in lines}
    assert {label: shown[label] for label in expected} == expected
    assert shown.keys() - expected.keys() == others
    return shown


def test_every_line_of_a_task_is_that_of_its_field(texts: dict[str, list[str]]) -> None:
    totals = {"Total task elapsed time", "Total task CPU used"}
    check_labels(texts["FIELDS"][3:], numbered("task").shown, totals)


def test_every_line_of_a_queue_is_that_of_its_field(texts: dict[str, list[str]]) -> None:
    fields, expected = numbered("queue")
    lines = texts["QFIELDS"]
    totals = {
        label: sum(fields[f"{verb}{suffix}"] for verb in VERBS)
        for label, suffix in (
            ("Total requests", "n"), ("Total queue elapsed time", "et"),
            ("Total queue CPU used", "ct"),
        )
    }  # fmt: skip
    others = {"Open name", "Queue type:    QLocal", "Queue indexed by", *totals}
    own = lines[lines.index("Open name                NUMBERED") :]
    shown = check_labels(own, expected, others)
    assert {label: int(shown[label]) for label in totals} == totals


NOT_IN_QALL = {
    "Current opens", "Page set ID", "Buffer pool", "Maximum depth", "Put bytes", "Get bytes",
    "Put size maximum", "Put size minimum", "Put size average",
    "Get size maximum", "Get size minimum", "Get size average",
}  # fmt: skip


def test_every_line_of_a_queue_over_all_tasks_is_that_of_its_field(qall: Rows) -> None:
    lines = lines_of("qall", of_queue(qall, "NUMBERED"))[3:]
    assert all(line.startswith("          0 ") for line in lines)
    shown = numbered("queue").shown
    expected = {label: value for label, value in shown.items() if label not in NOT_IN_QALL}
    totals = {"Open name", "Total queue elapsed time", "Total queue CPU used"}
    check_labels([line[12:] for line in lines], expected, totals)


def test_latches_are_shown_by_name_with_waits_and_the_longest(texts: dict[str, list[str]]) -> None:
    assert [line for line in texts["LATCHES"] if line.startswith("Latch")] == [
        "Latch 5, Total wait           7 uS, Waits          1, Longest           7 uS, Name -",
        "Latch 16, Total wait       19723 uS, Waits       1813, Longest         512 uS,"
        " Name BMXL2: page set",
    ]


def test_connections_have_the_words_of_mp1b(texts: dict[str, list[str]], sums: dict[str, Rows]):
    for job, kind in KINDS.items():
        word = enums.CONNECTION_TYPE[kind].mp1b if kind != 77 else "?77"
        assert texts[job][0] == f"VTS1 {word} Jobname:{job} Userid:PERFTASK"
        assert sums[job][0]["connection"] == word
    assert texts["VTS1CHIN"][:3] == [
        "VTS1 Channel initiator Jobname:VTS1CHIN Userid:MQUSER",
        "Channel name             TO.VTS2",
        "Connection name          10.20.1.1(1414)",
    ]


def test_queues_whose_task_is_not_in_the_input_are_shown_with_their_job(
    path: Path, tasks: dict[str, Rows], sums: dict[str, Rows]
) -> None:
    for found in (tasks, by_job(report_rows("task", path, sections=TOTAL))):
        head, block = found["LOST"]
        assert values(head, "line task_requests task_elapsed wtascmn") == ["task", 7, 70, None]
        assert values(block, "objname put_elapsed") == ["LOST.Q", 10]
    assert values(sums["LOST"][0], "tasks task_intervals puts wtascmn") == [1, 0, 7, None]
