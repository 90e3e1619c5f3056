"""The reports of accounting: tasks, queues, connections."""

from __future__ import annotations

import csv
import datetime as dt
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse import reports
from smfparse.inputs import ReadOptions, open_inputs
from smfparse.query import Catalog
from smfparse.reports import TOTAL, Sections, every
from smfparse.schemas import enums
from smfparse.selecting import Selection
from tests.support.builders import Write
from tests.support.generated import generate_dump
from tests.support.report_runs import report_lines, report_rows
from tests.support.searching import search
from tests.support.smf import (
    ENDED,
    MINUTE,
    connection_record,
    more_queues,
    queue,
    task,
    task_record,
    task_token,
    who,
)

pytestmark = pytest.mark.slow

OPENED = dt.datetime(2022, 7, 7, 14, 42, 9, tzinfo=dt.UTC)
US = pytest.approx


def words(lines: list[str]) -> list[str]:
    """Leave out how far apart the words of lines are."""
    return [" ".join(line.split()) for line in lines]


PUTS = {
    "opentime": OPENED,
    "clostime": OPENED + dt.timedelta(milliseconds=300),
    "nps": 4,
    "nbuffpool": 3,
    "openn": 1,
    "closen": 1,
    "putn": 10,
    "validput": 10,
    "putbytes": 10240,
    "putmaxms": 1024,
    "putminms": 1024,
}
ALONE = PUTS | {
    "openet": 39.5, "openct": 37.25, "closeet": 8.25, "closect": 8.125,
    "putet": 111.75, "putct": 109.75,
}  # fmt: skip
STREAMED = PUTS | {
    "openet": 44.5, "openct": 44.25, "closeet": 10.25, "closect": 10.125,
    "putet": 181.5, "putct": 180.0,
}  # fmt: skip


def performance_task(counts: dict[str, Any], old: int, new: int, version: int = 8) -> bytes:
    block = task(wtasgpo=old, wtasgpn=new)
    return task_record(block, queue("LQ1000", version=version, **counts))


PUBLISHED_LINES = [
    "Open name                LQ1000",
    "Queue type:    QLocal                 LQ1000",
    "Queue indexed by         NONE         LQ1000",
    "First opened             2022/07/07, 10:42:09   LQ1000",
    "Total queue elapsed time   159 uS     LQ1000",
    "Total queue CPU used       155 uS     LQ1000",
]


def test_a_task_prints_the_lines_that_were_published(write: Write) -> None:
    lines = report_lines("task", write(performance_task(ALONE, 32, 11)))
    assert "VTS1 Batch Jobname:R001 Userid:PERFTASK" in lines
    assert [each for each in lines if each in PUBLISHED_LINES] == PUBLISHED_LINES


@pytest.mark.parametrize(
    ("counts", "pages", "published"),
    [
        (ALONE, (32, 11), {"open": (39, 37), "close": (8, 8), "put": (11, 10), "": (159, 155)}),
        (STREAMED, (64, 22), {
            "open": (44, 44), "close": (10, 10), "put": (18, 18), "": (236, 234)
        }),
    ],
    ids=["alone", "streamed"],
)  # fmt: skip
def test_a_task_shows_the_published_figures_of_a_queue(
    write: Write,
    counts: dict[str, Any],
    pages: tuple[int, int],
    published: dict[str, tuple[int, int]],
) -> None:
    """With and without streaming."""
    lines = words(report_lines("task", write(performance_task(counts, *pages))))
    assert [f"Pages old {pages[0]}", f"Pages new {pages[1]}"] == lines[5:7]
    block = lines[lines.index("Open name LQ1000") :]
    assert block == [
        "Open name LQ1000",
        "Queue type: QLocal LQ1000",
        "Queue indexed by NONE LQ1000",
        "First opened 2022/07/07, 10:42:09 LQ1000",
        "Last closed 2022/07/07, 10:42:09 LQ1000",
        "Page set ID 4 LQ1000",
        "Buffer pool 3 LQ1000",
        "Current opens 0 LQ1000",
        "Total requests 12 LQ1000",
        "Open count 1 LQ1000",
        f"Open avg elapsed time {published['open'][0]} uS LQ1000",
        f"Open avg CPU time {published['open'][1]} uS LQ1000",
        "Close count 1 LQ1000",
        f"Close avg elapsed time {published['close'][0]} uS LQ1000",
        f"Close avg CPU time {published['close'][1]} uS LQ1000",
        "Put count 10 LQ1000",
        f"Put avg elapsed time {published['put'][0]} uS LQ1000",
        f"Put avg CPU time {published['put'][1]} uS LQ1000",
        "Put + put1 valid count 10 LQ1000",
        "Put size maximum 1024 bytes LQ1000",
        "Put size minimum 1024 bytes LQ1000",
        "Put size average 1024 bytes LQ1000",
        "Put bytes 10240 bytes LQ1000",
        f"Total queue elapsed time {published[''][0]} uS LQ1000",
        f"Total queue CPU used {published[''][1]} uS LQ1000",
    ]


@pytest.mark.parametrize(("version", "shown"), [(8, None), (9, 10)])
def test_messages_that_were_streamed_are_shown_from_9_3_2_on(
    write: Write, version: int, shown: int | None
) -> None:
    path = write(performance_task(STREAMED | {"streamedn": 10}, 64, 22, version))
    (row,) = [each for each in report_rows("task", path) if each["line"] == "queue"]
    assert row["streamedn"] == shown
    found = [line for line in words(report_lines("task", path)) if line.startswith("Streamed")]
    assert found == (["Streamed messages 10 LQ1000"] if shown else [])


QALL = """\
          0 Open name                                  TEAM1.STREAM.BASE
          0 Put count                      51057       TEAM1.STREAM.BASE
          0 Put avg elapsed time            1171 uS    TEAM1.STREAM.BASE
          0 Put avg CPU time                  47 uS    TEAM1.STREAM.BASE
          0 Put + put1 valid count         51057       TEAM1.STREAM.BASE
          0 Inq count                          1       TEAM1.STREAM.BASE
          0 Inq avg elapsed time              14 uS    TEAM1.STREAM.BASE
          0 Inq avg CPU time                  14 uS    TEAM1.STREAM.BASE
          0 Total queue elapsed time    59803352 uS    TEAM1.STREAM.BASE
          0 Total queue CPU used         2406244 uS    TEAM1.STREAM.BASE"""
STREAM_BASE = {
    "validput": 51057, "putn": 51057, "putbytes": 40845600, "putmaxms": 800, "putminms": 800,
    "putet": 59803352 - 14, "putct": 2406244 - 14, "inqn": 1, "inqet": 14, "inqct": 14,
}  # fmt: skip


def parted(whole: dict[str, Any], parts: int) -> list[dict[str, Any]]:
    """Divide counts among several blocks; sizes are the same in each."""
    blocks = []
    for number in range(parts):
        block = {}
        for name, value in whole.items():
            share = value // parts
            first = value - share * (parts - 1)
            block[name] = value if name.endswith("ms") else share if number else first
        blocks.append(block)
    return blocks


@pytest.fixture
def stream_base(write: Write) -> Path:
    """The published queue, used by three tasks."""
    return write(
        *(
            task_record(
                task(task_token(number)), queue("TEAM1.STREAM.BASE", task_token(number), **counts)
            )
            for number, counts in enumerate(parted(STREAM_BASE, 3))
        )
    )


def test_a_queue_over_all_tasks_is_printed_as_published(stream_base: Path) -> None:
    top, *header, last = report_lines("qall", stream_base)[:4]
    assert top == "Queue data summarised by queue"
    assert header[0] == "MVAA,VTS1,2022/07/07,10:42:10,VRM:930,"
    assert last == QALL.splitlines()[0]
    assert report_lines("qall", stream_base)[3:] == QALL.splitlines()


def test_the_puts_of_a_queue_are_printed_as_published(stream_base: Path) -> None:
    header, row = report_lines("qputs", stream_base, form="csv")
    assert header.startswith("Queue,Puts,Put1s,TotBytes,MaxMsgSz,MinMsgSz,")
    assert row.startswith("TEAM1.STREAM.BASE,51057,0,40845600,800,800,")


def test_the_keys_of_queues_stand_behind_their_figures(stream_base: Path) -> None:
    (row,) = csv.DictReader(report_lines("qputs", stream_base, form="csv"))
    assert (row["z/OS"], row["QM"], row["Date"]) == ("MVAA", "VTS1", "2022-07-07")
    assert row["Intervals"] == "3"


def test_gets_have_sizes_browses_and_the_time_on_the_queue(write: Write) -> None:
    first = queue(
        "Q", getn=10, validget=8, getbytes=801, getmaxms=200, getminms=50, getbrwa=1, getbrws=2,
        getet=105, getct=59, geterr=2, maxlatnt=900, minlatnt=30, totlatnt=1000, getdval=5,
    )  # fmt: skip
    idle = queue("Q", task_token(2), openn=1)
    path = write(task_record(task(), first), task_record(task(task_token(2)), idle))
    header, row = report_lines("qgets", path, form="csv")
    assert header.startswith("Queue,Gets,ValidGets,TotBytes,MaxMsgSz,MinMsgSz,")
    assert row.startswith("Q,10,8,801,200,50,100,10,5,5,3,2,")
    (found,) = csv.DictReader([header, row])
    latencies = (found["MaxOnQueue"], found["MinOnQueue"], found["AvgOnQueue"])
    assert latencies == ("900", "30", "125")


def test_averages_of_tasks_are_truncated(write: Write) -> None:
    block = task(wtascmn=3, wtascmet=599, wtascmct=59, wtasotn=2, wtasotet=3, wtasotct=1)
    lines = words(report_lines("task", write(task_record(block))))
    expected = {
        "Commit avg elapsed time 199 uS", "Commit avg CPU time 19 uS",
        "Other avg elapsed time 1 uS", "Other avg CPU time 0 uS",
        "Total task elapsed time 602 uS", "Total task CPU used 60 uS",
    }  # fmt: skip
    assert expected <= set(lines)


TASK_LINES = {
    "wtasgpo": "Pages old", "wtasgpn": "Pages new", "wtascmn": "Commit count",
    "wtasprn": "Prepare count", "wtasban": "Backout count", "wtasotn": "Other count",
    "wtassun": "Sub count", "wtassusc": "Sub selector count", "wtassusl": "Sub selector longest",
    "wtassqn": "Subrq count", "wtasctn": "Ctl count", "wtasctsr": "Ctl SRB CPU time",
    "wtasstn": "Stat count", "wtastpet": "Topic elapsed time", "wtastpct": "Topic CPU time",
    "wtasjwn": "Log write count", "wtasjwb": "Log write bytes", "wtasjcn": "Log force count",
    "wtassusn": "Suspend count", "wtaspsn0": "Page set 0 log count",
    "wtasdbct": "Db2 request count", "wtasdbmt": "Db2 maximum time thread",
    "wtasdbms": "Db2 maximum time server", "wtasdbpt": "Db2 bytes written",
    "wtasdbgt": "Db2 bytes read", "wtascsec": "CF single count", "wtasrsec": "CF single redrives",
    "wtascmec": "CF multiple count", "wtasrmec": "CF multiple redrives",
    "wtassmrs": "SMDS reads from buffers", "wtassmrp": "SMDS pages read",
    "wtassmrb": "SMDS bytes read", "wtassmwp": "SMDS pages written",
    "wtassmwb": "SMDS bytes written", "wtassmwt": "SMDS I/O wait time",
    "wtaspbhw": "Buffer latch wait time", "wtaspbtt": "Buffer latch hold time",
}  # fmt: skip
TASK_AVERAGES = {
    "Commit avg elapsed time": ("wtascmet", "wtascmn"),
    "Commit avg CPU time": ("wtascmct", "wtascmn"),
    "Prepare avg elapsed time": ("wtaspret", "wtasprn"),
    "Prepare avg CPU time": ("wtasprct", "wtasprn"),
    "Backout avg elapsed time": ("wtasbaet", "wtasban"),
    "Backout avg CPU time": ("wtasbact", "wtasban"),
    "Other avg elapsed time": ("wtasotet", "wtasotn"),
    "Other avg CPU time": ("wtasotct", "wtasotn"),
    "Sub avg elapsed time": ("wtassuet", "wtassun"),
    "Sub avg CPU time": ("wtassuct", "wtassun"),
    "Subrq avg elapsed time": ("wtassqet", "wtassqn"),
    "Subrq avg CPU time": ("wtassqct", "wtassqn"),
    "Ctl avg elapsed time": ("wtasctet", "wtasctn"),
    "Ctl avg CPU time": ("wtasctct", "wtasctn"),
    "Stat avg elapsed time": ("wtasstet", "wtasstn"),
    "Stat avg CPU time": ("wtasstct", "wtasstn"),
    "Log write avg time": ("wtasjwet", "wtasjwn"),
    "Log force avg time": ("wtasjcet", "wtasjcn"),
    "Suspend avg time": ("wtassuse", "wtassusn"),
    "Page set 0 log avg time": ("wtaspse0", "wtaspsn0"),
    "Db2 avg time thread": ("wtasdbet", "wtasdbct"),
    "Db2 avg time server": ("wtasdbes", "wtasdbct"),
    "CF single avg time": ("wtassstc", "wtascsec"),
    "CF multiple avg time": ("wtasmstc", "wtascmec"),
}


def label_and_value(line: str) -> tuple[str, str]:
    """Take a line of a task or queue apart: the label has 24 places."""
    return line[:24].rstrip(), line[24:].split()[0]


def test_every_line_of_a_task_is_that_of_its_field(write: Write) -> None:
    """Each field has a number of its own; times are so many times their count."""
    counts = {name: 101 + number for number, name in enumerate(TASK_LINES)}
    averages = {label: 1001 + number for number, label in enumerate(TASK_AVERAGES)}
    times = {et: averages[label] * counts[n] for label, (et, n) in TASK_AVERAGES.items()}
    lines = report_lines("task", write(task_record(task(**counts, **times))))
    shown = dict(label_and_value(line) for line in lines[5:])
    expected = {label: str(counts[name]) for name, label in TASK_LINES.items()}
    expected |= {label: str(value) for label, value in averages.items()}
    assert {label: shown[label] for label in expected} == expected
    assert set(shown) - set(expected) == {"Total task elapsed time", "Total task CPU used"}


def test_a_task_without_anything_has_no_line_of_zeros(write: Write) -> None:
    lines = report_lines("task", write(task_record(task())))
    assert words(lines[2:]) == [
        "VTS1 Batch Jobname:R001 Userid:PERFTASK",
        "Task started 2022/07/07, 09:02:11",
        f"Task token {lines[4].split()[-1]}",
        "Total task elapsed time 0 uS",
        "Total task CPU used 0 uS",
    ]


QUEUE_LINES = {
    "maxqdpth": "Maximum depth", "openn": "Open count", "closen": "Close count",
    "getn": "Get count", "putn": "Put count", "put1n": "Put1 count",
    "validput": "Put + put1 valid count", "inqn": "Inq count", "setn": "Set count",
    "cbn": "Cb count", "validget": "Get valid count", "getdval": "Get destructive valid",
    "geterr": "Get error count", "geta": "Get any count", "gets": "Get specific count",
    "getbrwa": "Browse any count", "getbrws": "Browse specific count",
    "getmaxms": "Get size maximum", "getminms": "Get size minimum", "getbytes": "Get bytes",
    "putmaxms": "Put size maximum", "putminms": "Put size minimum", "putbytes": "Put bytes",
    "getpmsg": "Get persistent count", "putpmsg": "Put persistent count",
    "put1pmsg": "Put1 persistent count", "maxlatnt": "Time on queue maximum",
    "minlatnt": "Time on queue minimum", "getjwn": "Get log write count",
    "getjcn": "Get log force count", "putjwn": "Put log write count",
    "putjcn": "Put log force count", "put1jwn": "Put1 log write count",
    "put1jcn": "Put1 log force count", "setjwn": "Set log write count",
    "setjcn": "Set log force count", "getpsn": "Get page set read count",
    "putpsn": "Put page set read count", "put1psn": "Put1 page set read count",
    "opensun": "Open suspend count", "closesun": "Close suspend count",
    "getsusn": "Get suspend count", "putsusn": "Put suspend count",
    "put1susn": "Put1 suspend count", "getepage": "Get skipped pages",
    "getsmsg": "Get skipped messages", "getexmsg": "Get expired messages",
    "putpwg": "Put to waiting getter", "put1pwg": "Put1 to waiting getter",
    "putdsq": "Put to shared queue", "putigq": "Put by IGQ", "put1igq": "Put1 by IGQ",
    "ngen": "Generated messages", "publishedn": "Published messages",
    "putddly": "Delayed messages", "streamedn": "Streamed messages",
    "selcount": "Selector count", "selmaxln": "Selector longest",
    "topicopensrb": "Open topic SRB CPU", "topicclosesrb": "Close topic SRB CPU",
    "topicputsrb": "Put topic SRB CPU", "topicput1srb": "Put1 topic SRB CPU",
    "opencf0": "Open CF0 count", "closecf0": "Close CF0 count", "use_count": "Current opens",
    "nps": "Page set ID", "nbuffpool": "Buffer pool",
}  # fmt: skip
QUEUE_AVERAGES = {
    f"{verb.capitalize()} avg {what}": (f"{verb}{field}", f"{verb}n")
    for verb in ("open", "close", "get", "put", "put1", "inq", "set", "cb")
    for what, field in (("elapsed time", "et"), ("CPU time", "ct"))
} | {
    f"{verb.capitalize()} log {what} avg time": (f"{verb}{field}et", f"{verb}{field}n")
    for verb in ("get", "put", "put1", "set")
    for what, field in (("write", "jw"), ("force", "jc"))
}
QUEUE_AVERAGES |= {
    "Get page set read avg": ("getpset", "getpsn"),
    "Put page set read avg": ("putpset", "putpsn"),
    "Put1 page set read avg": ("put1pset", "put1psn"),
    "Open suspend avg time": ("opensuet", "opensun"),
    "Close suspend avg time": ("closesuet", "closesun"),
    "Get suspend avg time": ("getsuset", "getsusn"),
    "Put suspend avg time": ("putsuset", "putsusn"),
    "Put1 suspend avg time": ("put1suset", "put1susn"),
    "Time on queue average": ("totlatnt", "validget"),
    "Put size average": ("putbytes", "validput"),
    "Get size average": ("getbytes", "validget"),
}
NOT_IN_QALL = {
    *("Current opens", "Page set ID", "Buffer pool", "Maximum depth"),
    *("Put bytes", "Get bytes"),
    *(f"Put size {what}" for what in ("maximum", "minimum", "average")),
    *(f"Get size {what}" for what in ("maximum", "minimum", "average")),
}  # fmt: skip


def numbered_queue() -> tuple[dict[str, int], dict[str, str]]:
    """Return fields with a number of their own, and what the lines have to show."""
    counts = {name: 101 + number for number, name in enumerate(QUEUE_LINES)}
    averages = {label: 1001 + number for number, label in enumerate(QUEUE_AVERAGES)}
    times = {et: averages[label] * counts[n] for label, (et, n) in QUEUE_AVERAGES.items()}
    shown = {label: str((counts | times)[name]) for name, label in QUEUE_LINES.items()}
    return counts | times, shown | {label: str(value) for label, value in averages.items()}


def test_every_line_of_a_queue_is_that_of_its_field(write: Write) -> None:
    fields, expected = numbered_queue()
    path = write(task_record(task(), queue("Q", version=9, **fields)))
    lines = report_lines("task", path)
    block = lines[lines.index("Open name                Q") :]
    shown = dict(label_and_value(line) for line in block)
    assert {label: shown[label] for label in expected} == expected
    others = {"Open name", "Queue type:    QLocal", "Queue indexed by", "Total requests"}
    assert set(shown) - set(expected) == others | {
        "Total queue elapsed time",
        "Total queue CPU used",
    }
    verbs = ("open", "close", "get", "put", "put1", "inq", "set", "cb")
    assert shown["Total requests"] == str(sum(fields[f"{verb}n"] for verb in verbs))
    assert shown["Total queue elapsed time"] == str(sum(fields[f"{verb}et"] for verb in verbs))
    assert shown["Total queue CPU used"] == str(sum(fields[f"{verb}ct"] for verb in verbs))


def test_every_line_of_a_queue_over_all_tasks_is_that_of_its_field(write: Write) -> None:
    fields, expected = numbered_queue()
    path = write(task_record(task(), queue("Q", version=9, **fields)))
    lines = report_lines("qall", path)[3:]
    assert all(line.startswith("          0 ") for line in lines)
    shown = dict(label_and_value(line[12:]) for line in lines)
    expected = {label: value for label, value in expected.items() if label not in NOT_IN_QALL}
    assert {label: shown[label] for label in expected} == expected
    assert set(shown) - set(expected) == {
        "Open name",
        "Total queue elapsed time",
        "Total queue CPU used",
    }


def test_latches_are_shown_by_name_with_waits_and_the_longest(write: Write) -> None:
    waits = {16: (19723, 1813, 512), 12: (33, 2, 25), 5: (7, 1, 7)}
    lines = report_lines("task", write(task_record(task(latches=waits))))
    assert [line for line in lines if line.startswith("Latch")] == [
        "Latch 5, Total wait           7 uS, Waits          1, Longest           7 uS, Name -",
        "Latch 12, Total wait          33 uS, Waits          2, Longest          25 uS,"
        " Name buffer pool",
        "Latch 16, Total wait       19723 uS, Waits       1813, Longest         512 uS,"
        " Name BMXL2: page set",
    ]


def test_every_latch_class_has_the_name_it_has_elsewhere(write: Write) -> None:
    waits = dict.fromkeys(range(1, 33), (1, 1, 1))
    rows = report_rows("task", write(task_record(task(latches=waits))))
    named = {row["latch"]: row["latch_name"] for row in rows if row["line"] == "latch"}
    words = {number: str(word) for number, word in enums.LATCH_CLASS.items()}
    assert named == {n: words.get(n) for n in range(1, 33)}


CF_REQUESTS = [
    *("Lock", "Unlock", "Write list controls", "Signal XCF", "Signal CF", "Read", "Write"),
    *("Start monitoring", "Stop monitoring", "Read list", "New", "Move", "MoveEnt", "Delete"),
]


def test_requests_to_the_coupling_facility_are_shown_by_verb_and_name(write: Write) -> None:
    put = {(3, 10): (20, 18, 150, 2, 130), (0, 0): (1, 1, 31, 0, 0)}
    block = task(cf={(0, 10): (1, 1, 8, 0, 0), (1, 12): (3, 0, 0, 3, 91)})
    shared = queue("Q", cfstrucname="APP1", qsgdisp=2, cf=put, opencf0=4)
    lines = report_lines("task", write(task_record(block, shared)))
    assert [line for line in lines if " CF " in line] == [
        "Commit CF New                       1        sync 1 avg 8 uS, async 0 avg -",
        "Prepare CF MoveEnt                  3        sync 0 avg -, async 3 avg 30 uS",
        "Open CF Lock                        1        Q sync 1 avg 31 uS, async 0 avg -",
        "Put CF New                         20        Q sync 18 avg 8 uS, async 2 avg 65 uS",
    ]
    assert "CF structure name        APP1         Q" in lines
    assert "Open CF0 count               4        Q" in lines
    assert not [line for line in lines if line.startswith(("Page set ID", "Buffer pool"))]


def test_every_type_of_request_has_its_name(write: Write) -> None:
    block = task(cf={(0, number): (1, 0, 0, 0, 0) for number in range(16)})
    rows = report_rows("task", write(task_record(block)))
    found = [row["cf_request"] for row in rows if row["line"] == "cf"]
    assert found == [f"Commit CF {name}" for name in [*CF_REQUESTS, "type 14", "type 15"]]


def test_connections_have_the_words_of_mp1b(write: Write) -> None:
    kinds = {f"R{kind:03}": kind for kind in [*enums.CONNECTION_TYPE, 77]}
    expected = {
        job: enums.CONNECTION_TYPE[kind].mp1b if kind != 77 else "?77"
        for job, kind in kinds.items()
    }
    path = write(
        *(
            task_record(task(task_token(kind)), by=who(job, kind=kind))
            for job, kind in kinds.items()
        )
    )
    lines = report_lines("task", path)
    for job, word in expected.items():
        assert f"VTS1 {word} Jobname:{job} Userid:PERFTASK" in lines
    found = {row["wtidccn"]: row["connection"] for row in report_rows("tasksum", path)}
    assert found == expected


def test_queues_have_the_words_of_mp1b(write: Write) -> None:
    types = [queue(f"T{kind}", qtype=kind) for kind in enums.OBJECT_TYPE]
    indexes = [queue(f"I{kind}", indxtype=kind) for kind in enums.INDEX_TYPE]
    lines = words(report_lines("task", write(task_record(task(), *types, *indexes))))
    for kind, each in enums.OBJECT_TYPE.items():
        assert f"Queue type: {each.mp1b} T{kind}" in lines
    for kind, each in enums.INDEX_TYPE.items():
        assert f"Queue indexed by {each.mp1b} I{kind}" in lines


def test_a_task_of_the_channel_initiator_shows_its_channel(write: Write) -> None:
    by = who("VTS1CHIN", "MQUSER", 6, wtidchl="TO.VTS2", wtidchlc="10.20.1.1(1414)")
    lines = report_lines("task", write(task_record(task(), by=by)))
    assert lines[2:5] == [
        "VTS1 Channel initiator Jobname:VTS1CHIN Userid:MQUSER",
        "Channel name             TO.VTS2",
        "Connection name          10.20.1.1(1414)",
    ]


def test_a_base_queue_is_named_where_it_is_another(write: Write) -> None:
    path = write(task_record(task(), queue("AN.ALIAS", basename="THE.QUEUE"), queue("Q")))
    lines = report_lines("task", path)
    assert [line for line in lines if line.startswith("Base")] == [
        "Base name                THE.QUEUE    AN.ALIAS"
    ]
    assert [line for line in report_lines("qall", path) if "Base" in line] == [
        "          0 Base name                      THE.QUEUE  AN.ALIAS"
    ]


def minutes_of_a_task() -> list[bytes]:
    """Two intervals of one task, and between them one of another task."""
    first, other = task_token(1), task_token(2)
    later = ENDED + MINUTE
    return [
        task_record(
            task(first, wtascmn=2, wtascmet=30, wtasdbmt=7, latches={12: (5, 1, 5)}),
            queue("Q", first, opentime=OPENED, putn=3, validput=3, putet=90,
                  putmaxms=9, putminms=9),
            queue("R", first, getn=1, validget=1, minlatnt=50, maxlatnt=50, totlatnt=50),
        ),
        task_record(task(other), queue("Q", other, putn=100), by=who("OTHER")),
        task_record(
            task(first, ended=later, wtascmn=4, wtascmet=30, wtasdbmt=3, latches={12: (7, 2, 6)}),
            queue("Q", first, opentime=later, clostime=later, putn=1, validput=1, putet=10,
                  putmaxms=4, putminms=4, cf={(3, 10): (2, 2, 16, 0, 0)}),
            queue("R", first),
            ended=later,
        ),
    ]  # fmt: skip


@pytest.mark.parametrize("sections", [TOTAL, every("1h")], ids=str)
def test_the_intervals_of_a_task_are_added_into_one(write: Write, sections: Sections) -> None:
    rows = report_rows("task", write(*minutes_of_a_task()), sections=sections)
    assert [(row["wtidccn"], row["line"], row["objname"]) for row in rows] == [
        ("R001", "task", None),
        ("R001", "latch", None),
        ("R001", "queue", "Q"),
        ("R001", "queue cf", "Q"),
        ("R001", "queue", "R"),
        ("OTHER", "task", None),
        ("OTHER", "queue", "Q"),
    ]
    both, latch, puts, _, gets = rows[:5]
    assert (both["wtascmn"], both["commit_elapsed"], both["wtasdbmt"]) == (6, 10, 7)
    assert (both["task_queues"], both["task_requests"], both["task_elapsed"]) == (2, 5, 160)
    assert (latch["wtaslwn"], latch["wtaslwet"], latch["wtaslmax"]) == (3, 12, 6)
    assert (puts["putn"], puts["put_elapsed"]) == (4, 25)
    assert (puts["putmaxms"], puts["putminms"]) == (9, 4)
    assert (puts["opened"], puts["closed"]) == (OPENED, ENDED + MINUTE)
    assert gets["on_queue_minimum"] == 50
    assert {row["intervals"] for row in rows} == {3}


def test_each_interval_of_a_task_is_a_section_of_its_own(write: Write) -> None:
    rows = report_rows("task", write(*minutes_of_a_task()))
    assert [row["wtascmn"] for row in rows if row["line"] == "task"] == [2, 0, 4]
    assert {row["intervals"] for row in rows} == {1}
    assert {row["interval_seconds"] for row in rows} == {60}


def test_a_task_goes_on_in_the_records_behind_it(write: Write) -> None:
    token = task_token()
    queues = [queue(f"Q{number}", token, putn=1, putet=10) for number in range(5)]
    path = write(
        task_record(task(token, wtaswqct=5), *queues[:2]),
        more_queues(*queues[2:4]),
        more_queues(queues[4]),
    )
    rows = report_rows("task", path)
    assert len({json.dumps(row["section"]) for row in rows}) == 1
    assert [row["objname"] for row in rows] == [None, "Q0", "Q1", "Q2", "Q3", "Q4"]
    assert (rows[0]["task_requests"], rows[0]["task_elapsed"]) == (5, 50)
    assert {row["intervals"] for row in rows} == {1}
    (row,) = report_rows("tasksum", path)
    assert (row["tasks"], row["task_intervals"], row["requests"], row["intervals"]) == (1, 1, 5, 1)


@pytest.mark.parametrize("sections", [None, TOTAL], ids=str)
def test_queues_whose_task_is_not_in_the_input_are_shown_with_their_job(
    write: Write, sections: Sections | None
) -> None:
    path = write(more_queues(queue("Q", putn=7, putet=70), by=who("LOST")))
    head, block = report_rows("task", path, sections=sections)
    assert (head["line"], head["wtidccn"], head["task_requests"]) == ("task", "LOST", 7)
    assert (head["wtascmn"], head["task_elapsed"]) == (None, 70)
    assert (block["objname"], block["wtidccn"], block["put_elapsed"]) == ("Q", "LOST", 10)
    (row,) = report_rows("tasksum", path)
    assert (row["tasks"], row["task_intervals"], row["puts"], row["wtascmn"]) == (1, 0, 7, None)


def test_queues_whose_task_is_not_selected_are_shown_with_their_job(write: Write) -> None:
    token = task_token()
    path = write(
        task_record(task(token, wtaswqct=3), queue("Q1", token, putn=1), by=who("JOB1")),
        more_queues(queue("Q2", token, putn=2), by=who("JOB1")),
        more_queues(queue("Q3", token, putn=4), by=who("JOB1")),
    )
    selected = open_inputs([path], ReadOptions(Selection.of(type="116(2)")))
    with Catalog(selected) as catalog:
        head, *blocks = reports.run_report(reports.report("task"), catalog)
        (row,) = reports.run_report(reports.report("tasksum"), catalog)
    assert (head["line"], head["wtidccn"], head["task_requests"]) == ("task", "JOB1", 6)
    assert [(each["objname"], each["wtidccn"]) for each in blocks] == [
        ("Q2", "JOB1"),
        ("Q3", "JOB1"),
    ]
    assert (row["wtidccn"], row["tasks"], row["task_intervals"], row["puts"]) == ("JOB1", 1, 0, 6)


def test_what_an_old_release_does_not_write_is_absent(write: Write) -> None:
    path = write(task_record(task(length=712), queue("Q", version=1, putn=1, putet=5)))
    head, block = report_rows("task", path)
    assert [head[name] for name in ("wtasprn", "wtasdbgt", "wtassmrp")] == [None] * 3
    assert [block[name] for name in ("cbn", "putpwg", "streamedn", "opencf0")] == [None] * 4
    assert (head["task_elapsed"], block["queue_requests"], block["queue_elapsed"]) == (5, 1, 5)


def test_a_task_and_its_queues_are_lines_of_csv(write: Write) -> None:
    """Each has the job, the user and the connection."""
    path = write(performance_task(ALONE, 32, 11))
    found = list(csv.DictReader(report_lines("task", path, form="csv")))
    assert [(row["Line"], row["Queue"]) for row in found] == [("task", ""), ("queue", "LQ1000")]
    for row in found:
        assert (row["Connection"], row["Job"], row["User"]) == ("Batch", "R001", "PERFTASK")
    assert found[0]["Pages old"] == "32"
    assert found[1]["Put avg elapsed time"] == "11"


def test_local_and_shared_queues_are_in_one_tree_by_minutes(write: Write) -> None:
    mega = 1 << 20
    local = {"nps": 4, "nbuffpool": 3, "putbytes": 3 * mega, "validput": 3, "putn": 2, "put1n": 1}
    path = write(
        task_record(task(), queue("LOCAL", maxqdpth=5, **local)),
        task_record(task(task_token(2)), queue("LOCAL", task_token(2), maxqdpth=9, **local)),
        task_record(
            task(ended=ENDED + MINUTE),
            queue("SHARED", cfstrucname="APP1", getbytes=mega // 2, validget=7, getn=8, getpsn=1),
            ended=ENDED + MINUTE,
        ),
    )
    header, *rows = report_lines("qsum", path, form="csv")
    assert header.startswith(
        "Date,Time,Qmgr,Queue,Count,PS,BP,Structure,Put MB,Get MB,!,ValidPut,ValidGet,getpsn,MaxQD,"
    )
    assert [row.split(",z")[0].rsplit(",", 9)[0] for row in rows] == [
        "2022-07-07,10:41:00,VTS1,LOCAL,2,4,3,,6.000,0.000,!,6,0,0,9,6,0",
        "2022-07-07,10:42:00,VTS1,SHARED,1,,,APP1,0.000,0.500,!,0,7,1,0,0,8",
    ]
    title, *text = "\n".join(report_lines("qsum", path)).splitlines()
    assert title == "Queue tree"
    assert [line[:24] for line in text[1:]] == [
        "2022/07/07,10:41:00,VTS1", "2022/07/07,10:42:00,VTS1"
    ]  # fmt: skip
    (places,) = {tuple(at.start() for at in re.finditer(",", line)) for line in text}
    assert len(places) == 14


def test_a_kind_of_connection_job_and_user_have_their_tasks_summed(write: Write) -> None:
    rows = report_rows("tasksum", write(*minutes_of_a_task()))
    assert [(row["wtidccn"], row["tasks"], row["task_intervals"]) for row in rows] == [
        ("OTHER", 1, 1),
        ("R001", 1, 2),
    ]
    mine = rows[1]
    assert (mine["wtascmn"], mine["requests"], mine["puts"], mine["gets"]) == (6, 5, 4, 1)
    assert mine["elapsed_seconds"] == US(160e-6)
    assert (mine["request_elapsed"], mine["commit_elapsed"]) == (US(20), US(10))


def test_a_connection_of_class_1_has_its_calls_by_size(write: Write) -> None:
    path = write(
        connection_record(
            "JOB1", "USER1", cpu_us=1500, puts=(1, 2, 3, 4), gets=(5, 6, 7, 8),
            qwacbjst=100, qwacejst=2_000_100, qwacbsrb=0, qwacesrb=500_000, qwaccomm=9, qwacback=1,
            qwacbsc=ENDED - MINUTE, qwacesc=ENDED,
        )
    )  # fmt: skip
    (row,) = csv.DictReader(report_lines("class1", path, form="csv"))
    assert row | {
        "Connection": "Batch", "Job": "JOB1", "User": "USER1", "Connections": "1",
        "CPU seconds": "0.001500", "Puts 0-99": "1", "Puts 100-999": "2", "Puts 1000-9999": "3",
        "Puts 10000+": "4", "Gets 0-99": "5", "Gets 100-999": "6", "Gets 1000-9999": "7",
        "Gets 10000+": "8", "Puts": "10", "Gets": "26", "CPU uS per put or get": "41",
        "TCB seconds": "2.000000", "SRB seconds": "0.500000", "Connected seconds": "60.000000",
        "Commits": "9", "Backouts": "1",
    } == row  # fmt: skip
    (line,) = report_lines("class1", path)[1:]
    assert line.split() == [
        *("2022/07/07", "10:42:10", "VTS1", "Batch", "JOB1", "USER1", "1", "0.001500"),
        *"12345678",
    ]


def test_connections_of_several_records_are_added(write: Write) -> None:
    """Two records can be of one application: they are added."""
    path = write(
        connection_record("A", "U", cpu_us=10, puts=(1, 0, 0, 0)),
        connection_record("B", "U", cpu_us=40, puts=(5, 0, 0, 0)),
        connection_record("A", "U", cpu_us=20, puts=(2, 0, 0, 0)),
    )
    rows = report_rows("class1", path, sections=TOTAL)
    found = [(row["qwhccn"], row["connections"], row["puts"], row["request_cpu"]) for row in rows]
    assert found == [("A", 2, 3, 10), ("B", 1, 5, 8)]


def test_a_sum_that_fits_no_column_is_absent(write: Write) -> None:
    huge = {"putn": 1, "validput": 1, "putbytes": 2**64 - 1}
    path = write(
        *(task_record(task(task_token(n)), queue("Q", task_token(n), **huge)) for n in range(3))
    )
    (row,) = report_rows("qputs", path)
    assert (row["putn"], row["putbytes"], row["put_size"]) == (3, None, None)


@pytest.fixture(scope="module")
def hour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An hour of five-minute intervals of two queue managers."""
    path = tmp_path_factory.mktemp("hour") / "hour.smf"
    generate_dump(
        path, start=dt.datetime(2026, 3, 4, 23, 20, 7), utc_offset=dt.timedelta(hours=2),
        interval=dt.timedelta(minutes=5), version="9.4.0", seed=5, tasks=6, count=12,
    )  # fmt: skip
    return path


ADDITIVE = {
    "task": ("putn", "getn", "getbytes", "wtascmn", "wtasjwb", "task_requests", "task_cpu",
             "queue_elapsed", "wtaslwn", "cfcount", "cfsyncn"),
    "qall": ("putn", "getn", "putbytes", "queue_requests", "queue_cpu"),
    "qputs": ("putn", "putbytes", "validput"),
    "qgets": ("getn", "getbytes", "geterr"),
    "qsum": ("blocks", "validput", "validget", "getpsn", "put_mb"),
    "tasksum": ("task_intervals", "requests", "cpu_seconds", "wtasjwb", "wtasgpo"),
    "class1": ("connections", "puts", "gets", "cpu_seconds", "tcb_seconds", "qwaccomm"),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(ADDITIVE))
def test_what_is_added_is_the_same_for_intervals_of_every_length(name: str, hour: Path) -> None:
    @cache
    def sums(sections: Sections | None) -> list[Any]:
        rows = report_rows(name, hour, sections=sections)
        return [
            sum(row[figure] or 0 for row in rows if row["qmgr"] == qmgr)
            for figure in ADDITIVE[name]
            for qmgr in ("QM01", "QM02")
        ]

    @search(3)
    @given(length=st.sampled_from(["1s", "1m", "5m", "15m", "1h", "12h", "1d"]))
    def check(length: str) -> None:
        assert sums(every(length)) == [US(value) for value in sums(TOTAL)]

    check()
    assert sums(None) == [US(value) for value in sums(TOTAL)]
    assert all(sum(pair) > 0 for pair in zip(*[iter(sums(TOTAL))] * 2, strict=True))
