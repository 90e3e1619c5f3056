"""The reports of accounting: tasks, queues, connections.

Most cases are a job each of one input (`CASES`), of which every report is made once.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from smfparse.reports import TOTAL
from smfparse.schemas import enums
from tests.support.label_facts import numbered
from tests.support.published import published
from tests.support.report_runs import cells, lines_of, report_rows
from tests.support.smf import (
    more_queues,
    queue,
    task,
    task_record,
    task_token,
    who,
)

pytestmark = pytest.mark.slow

Rows = list[dict[str, Any]]
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
TYPES = [{"objname": f"T{kind}", "qtype": kind} for kind in enums.OBJECT_TYPE]
INDEXES = [{"objname": f"I{kind}", "indxtype": kind} for kind in enums.INDEX_TYPE]
KINDS = {f"KIND{kind:03}": kind for kind in [*enums.CONNECTION_TYPE, 77]}
"""Jobs with each type of connection, one of which nobody knows."""
SPREAD = [{"objname": f"Q{number}", "version": 8, "putn": 1, "putet": 10} for number in range(5)]

Case = tuple[dict[str, Any], list[dict[str, Any]]]
CASES: dict[str, Case] = {
    "ALONE": ({"wtasgpo": 32, "wtasgpn": 11}, [ALONE | {"objname": "LQ1000", "version": 8}]),
    "STREAMED": ({"wtasgpo": 64, "wtasgpn": 22}, [STREAMED | {"objname": "LQ1000"}]),
    **{
        f"BASE{number}": ({}, [{"objname": "TEAM1.STREAM.BASE", "version": 8} | each])
        for number, each in enumerate(STREAM_BASE)
    },
    "FIELDS": (numbered("task").fields, []),
    "QFIELDS": ({}, [{"objname": "NUMBERED"} | numbered("queue").fields]),
    "IDLE": ({}, []),
    "LATCHES": ({"latches": {16: (19723, 1813, 512), 5: (7, 1, 7)}}, []),
    "LATCHED": ({"latches": dict.fromkeys(range(1, 33), (1, 1, 1))}, []),
    "WORDS": ({}, [*TYPES, *INDEXES]),
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
    spread, by = task_token(1001), who("SPREAD")
    return [
        *found,
        task_record(task(task_token(1000)), by=channel),
        task_record(task(spread, wtaswqct=5), *queues(spread, SPREAD[:2]), by=by),
        more_queues(*queues(spread, SPREAD[2:4]), by=by),
        more_queues(*queues(spread, SPREAD[4:]), by=by),
        more_queues(queue("LOST.Q", task_token(1002), putn=7, putet=70), by=who("LOST")),
    ]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("accounting") / "jobs.smf"
    path.write_bytes(b"".join(records()))
    return path


@pytest.fixture(scope="module")
def tasks(path: Path) -> dict[str, Rows]:
    """The rows of `task` by job."""
    found: dict[str, Rows] = {}
    for row in report_rows("task", path):
        found.setdefault(row["wtidccn"], []).append(row)
    return found


@pytest.fixture(scope="module")
def texts(tasks: dict[str, Rows]) -> dict[str, list[str]]:
    """The lines of `task` by job, from the one with its name on."""
    return {job: lines_of("task", rows)[2:] for job, rows in tasks.items()}


@pytest.fixture(scope="module")
def sums(path: Path) -> dict[str, dict[str, Any]]:
    """The rows of `tasksum` by job."""
    return {row["wtidccn"]: row for row in report_rows("tasksum", path)}


def of_queue(rows: Rows, *names: str) -> Rows:
    return [row for row in rows if row["objname"] in names]


@pytest.fixture(scope="module")
def qall(path: Path) -> Rows:
    return report_rows("qall", path)


@pytest.fixture(scope="module")
def qputs(path: Path) -> Rows:
    return report_rows("qputs", path)


# The text of a task, of its queues, and of queues over all tasks.


def test_a_task_is_printed_as_published(texts: dict[str, list[str]]) -> None:
    head, _, _, *rest = words(texts["STREAMED"])
    assert [head, *rest] == published("task")
    as_published = published("task-alone")
    assert [each for each in texts["ALONE"] if each in as_published] == as_published
    alone = words(texts["ALONE"])
    for line in (
        "Open avg CPU time 37 uS",
        "Close avg elapsed time 8 uS",
        "Put avg CPU time 10 uS",
    ):
        assert f"{line} LQ1000" in alone
    assert not [line for line in alone if line.startswith("Streamed")]  # before 9.3.2


def test_queues_over_all_tasks_are_printed_as_published(qall: Rows, qputs: Rows) -> None:
    top, header, _, *lines = lines_of("qall", of_queue(qall, "TEAM1.STREAM.BASE"))
    assert top == "Queue data summarised by queue"
    assert header == "MVAA,VTS1,2022/07/07,10:42:10,VRM:930,"
    assert lines == published("qall")
    header, row = lines_of("qputs", of_queue(qputs, "TEAM1.STREAM.BASE"), "csv")
    assert header.startswith("Queue,Puts,Put1s,TotBytes,MaxMsgSz,MinMsgSz,")
    assert row.startswith("TEAM1.STREAM.BASE,51057,0,40845600,800,800,")
    (keys,) = cells([header, row])
    assert (keys["z/OS"], keys["QM"], keys["Date"]) == ("MVAA", "VTS1", "2022-07-07")


def labels_and_values(lines: list[str]) -> dict[str, str]:
    """Take lines of a task or queue apart: the label has 24 places."""
    return {line[:24].rstrip(): line[24:].split()[0] for line in lines}


def test_every_line_of_a_task_is_that_of_its_field(texts: dict[str, list[str]]) -> None:
    shown, expected = labels_and_values(texts["FIELDS"][3:]), numbered("task").shown
    assert {label: shown[label] for label in expected} == expected
    assert shown.keys() - expected.keys() == {"Total task elapsed time", "Total task CPU used"}


def test_every_line_of_a_queue_is_that_of_its_field(texts: dict[str, list[str]]) -> None:
    fields, expected = numbered("queue")
    lines = texts["QFIELDS"]
    shown = labels_and_values(lines[lines.index("Open name                NUMBERED") :])
    assert {label: shown[label] for label in expected} == expected
    totals = {
        "Total requests": sum(fields[f"{verb}n"] for verb in VERBS),
        "Total queue elapsed time": sum(fields[f"{verb}et"] for verb in VERBS),
        "Total queue CPU used": sum(fields[f"{verb}ct"] for verb in VERBS),
    }
    assert {label: int(shown[label]) for label in totals} == totals
    others = {"Open name", "Queue type:    QLocal", "Queue indexed by"}
    assert shown.keys() - expected.keys() == others | totals.keys()


NOT_IN_QALL = {
    "Current opens", "Page set ID", "Buffer pool", "Maximum depth", "Put bytes", "Get bytes",
    "Put size maximum", "Put size minimum", "Put size average",
    "Get size maximum", "Get size minimum", "Get size average",
}  # fmt: skip


def test_every_line_of_a_queue_over_all_tasks_is_that_of_its_field(qall: Rows) -> None:
    lines = lines_of("qall", of_queue(qall, "NUMBERED"))[3:]
    assert all(line.startswith("          0 ") for line in lines)
    shown, of_task = labels_and_values([line[12:] for line in lines]), numbered("queue").shown
    expected = {label: value for label, value in of_task.items() if label not in NOT_IN_QALL}
    assert {label: shown[label] for label in expected} == expected
    totals = {"Open name", "Total queue elapsed time", "Total queue CPU used"}
    assert shown.keys() - expected.keys() == totals


def test_a_task_without_anything_has_no_line_of_zeros(texts: dict[str, list[str]]) -> None:
    head, start, token, *rest = words(texts["IDLE"])
    assert head == "VTS1 Batch Jobname:IDLE Userid:PERFTASK"
    assert (start, token.startswith("Task token ")) == ("Task started 2022/07/07, 09:02:17", True)
    assert rest == ["Total task elapsed time 0 uS", "Total task CPU used 0 uS"]


def test_latches_are_shown_by_name_with_waits_and_the_longest(
    texts: dict[str, list[str]], tasks: dict[str, Rows]
) -> None:
    assert [line for line in texts["LATCHES"] if line.startswith("Latch")] == [
        "Latch 5, Total wait           7 uS, Waits          1, Longest           7 uS, Name -",
        "Latch 16, Total wait       19723 uS, Waits       1813, Longest         512 uS,"
        " Name BMXL2: page set",
    ]
    names = [row["latch_name"] for row in tasks["LATCHED"] if row["line"] == "latch"]
    known = {number: str(word) for number, word in enums.LATCH_CLASS.items()}
    assert names == [known.get(number) for number in range(1, 33)]


def test_connections_and_queues_have_the_words_of_mp1b(
    texts: dict[str, list[str]], sums: dict[str, dict[str, Any]]
) -> None:
    for job, kind in KINDS.items():
        word = enums.CONNECTION_TYPE[kind].mp1b if kind != 77 else "?77"
        assert texts[job][0] == f"VTS1 {word} Jobname:{job} Userid:PERFTASK"
        assert sums[job]["connection"] == word
    lines = words(texts["WORDS"])
    for kind, each in enums.OBJECT_TYPE.items():
        assert f"Queue type: {each.mp1b} T{kind}" in lines
    for kind, each in enums.INDEX_TYPE.items():
        assert f"Queue indexed by {each.mp1b} I{kind}" in lines
    assert texts["VTS1CHIN"][:3] == [
        "VTS1 Channel initiator Jobname:VTS1CHIN Userid:MQUSER",
        "Channel name             TO.VTS2",
        "Connection name          10.20.1.1(1414)",
    ]


def test_a_task_goes_on_in_the_records_behind_it(
    tasks: dict[str, Rows], sums: dict[str, dict[str, Any]]
) -> None:
    rows = tasks["SPREAD"]
    assert len({str(row["section"]) for row in rows}) == 1
    assert [row["objname"] for row in rows] == [None, "Q0", "Q1", "Q2", "Q3", "Q4"]
    assert (rows[0]["task_requests"], rows[0]["task_elapsed"]) == (5, 50)
    assert {row["intervals"] for row in rows} == {1}
    row = sums["SPREAD"]
    assert (row["tasks"], row["task_intervals"], row["requests"]) == (1, 1, 5)


def test_queues_whose_task_is_not_in_the_input_are_shown_with_their_job(
    path: Path, tasks: dict[str, Rows], sums: dict[str, dict[str, Any]]
) -> None:
    total = [row for row in report_rows("task", path, sections=TOTAL) if row["wtidccn"] == "LOST"]
    for head, block in (tasks["LOST"], total):
        assert (head["line"], head["task_requests"], head["task_elapsed"]) == ("task", 7, 70)
        assert head["wtascmn"] is None
        assert (block["objname"], block["put_elapsed"]) == ("LOST.Q", 10)
    row = sums["LOST"]
    assert (row["tasks"], row["task_intervals"], row["puts"], row["wtascmn"]) == (1, 0, 7, None)
