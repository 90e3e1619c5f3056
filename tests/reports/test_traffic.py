"""Message flow: the reports flow, requests, clients, mft, cluster, channels and shared.

Cases of one report are in one input, at a queue manager each.
"""

from __future__ import annotations

import csv
import datetime as dt
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import smfparse
from smfparse.decoding.selection import Selection
from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.query.catalog import Catalog
from smfparse.reports.graph import graph_lines
from tests.support.builders import Write
from tests.support.command import run
from tests.support.paths import FACTS, PROJECT
from tests.support.real import REAL_DATA, needs_real_data
from tests.support.report_runs import Rows, by_qmgr, of, report_rows, rows_from, rows_in
from tests.support.report_runs import values as figures
from tests.support.searching import of_many, some
from tests.support.smf import block, record, structures
from tests.support.tools import tool
from tests.support.traffic import PAIR, got, put, using

KB = 1024
NEAR = pytest.approx
MARKED = re.compile(r"^\| (\d+) \|.*\| ([ypnxk]) \| [^|]* \|$", re.M)
HOURS = dt.timedelta(hours=2)
TRAFFIC = tool("traffic")


# -- simulated sites, whose answer keys say who puts and gets how much

Days = Callable[[str], tuple[Any, Path]]


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Days:
    """Make a day of a scenario once; return its estate, and the file."""
    folder = tmp_path_factory.mktemp("days")
    return cache(lambda scenario: TRAFFIC.day(scenario, 1, folder, interval=HOURS))


@pytest.mark.slow
@of_many("scenario", some(TRAFFIC.SCENARIOS, 3))
def test_edges_rates_and_requesters_are_those_of_the_answer_key(scenario: str, day: Days) -> None:
    estate, path = day(scenario)
    assert list(TRAFFIC.wrong(estate, 1, path)) == []


def test_messages_of_a_cluster_spread_as_they_were_given(day: Days) -> None:
    rows = report_rows("cluster", day("cluster")[1])
    shares = {row["partner"]: row["share"] for row in of("channel", rows) if row["qmgr"] == "QM01"}
    assert shares == {"QM02": NEAR(60, abs=0.5), "QM03": NEAR(40, abs=0.5)}
    (command,) = [row for row in of("queue", rows) if row["queue"].endswith("COMMAND.QUEUE")]
    assert command["note"] == "ready for business"


# -- claims of published reports

with (FACTS / "answers.csv").open(encoding="utf-8", newline="") as file:
    ANSWERS = list(csv.DictReader(file))
"""By claim: the scenario, the report, and its figures that answer it."""


@pytest.mark.slow
def test_reports_answer_claims_and_these_are_marked_so(day: Days) -> None:
    rows_of = cache(lambda scenario, name: report_rows(name, day(scenario)[1]))
    unanswered = [
        (each["claim"], figure)
        for each in ANSWERS
        for figure in each["figures"].split()
        if all(row[figure] is None for row in rows_of(each["scenario"], each["report"]))
    ]
    assert unanswered == []
    answered = {int(each["claim"]) for each in ANSWERS}
    page = (PROJECT / "docs" / "coverage.md").read_text("utf-8")
    marks = {int(number): mark for number, mark in MARKED.findall(page)}
    assert {marks[claim] for claim in (*answered, 86, 140, 156, 164)} == {"y"}


# -- request and reply


def pair(requests: int, replies: int, **keys: Any) -> list[bytes]:
    return [
        using("PAYSRV", got("REQUEST", requests), put("REPLY", replies), **keys),
        using("CICSA", put("REQUEST", requests), got("REPLY", requests, by_id=requests), **keys),
    ]


def test_requesters_and_servers_are_those_of_one_queue_manager_whose_counts_agree() -> None:
    """Counts are at least four fifths and at most five fourths of one another."""
    here, there = pair(60, 60, qmgr="QMA")[0], pair(60, 60, qmgr="QMB")[1]
    records = [
        *PAIR, here, there,
        using("JOBA", put("Q.ONE", 50), got("Q.TWO", 50), qmgr="LOOP"),
        using("JOBB", put("Q.TWO", 50), got("Q.ONE", 50), qmgr="LOOP"),
        using("CICSA", put("REQUEST", 60), got("REPLY", 60, by_id=60), qmgr="MANY"),
        *(using(job, put("REQUEST", 20), got("REPLY", 20, by_id=20), channel="WEB", qmgr="MANY")
          for job in ("CHIN1", "CHIN2")),
        using("SERVE1", got("REQUEST", 70), put("REPLY", 70), qmgr="MANY"),
        using("SERVE2", got("REQUEST", 30), put("REPLY", 30), qmgr="MANY"),
        *(each for n in (79, 80, 125, 126) for each in pair(100, n, qmgr=f"R{n}")),
    ]  # fmt: skip
    requests = by_qmgr(rows_from("requests", *records))
    assert requests.keys() == {"VTS1", "LOOP", "MANY", "R80", "R125"}
    (loop,) = requests["LOOP"]  # both get any message: they are there once
    assert loop["direction"] == "unknown"
    assert {loop["requester"], loop["server"]} == {"JOBA", "JOBB"}
    names = "requester server requests received by_id_share"
    assert [figures(row, names) for row in requests["MANY"]] == [
        ["CICSA", "SERVE1, SERVE2", 60, 60, 100],
        ["WEB", "SERVE1, SERVE2", 40, 40, 100],
    ]


# -- queues and channels of the flow

SHARED = {"cfstrucname": "APP1", "qsgdisp": 2}
SENDS, TAKES = 1, 3


def sending(qmgr: str, partner: str, kind: int, name: str = "QMC.QMD", **more: Any) -> bytes:
    values = {"qcstchnm": name, "qcstchty": kind, "qcstrqmn": partner, "qcstnmsg": 12}
    return record(block("QCST", **values | more), qmgr=qmgr, seconds=60)


FLOW = (
    using("PUTTER", put("SHARED.Q", 30, **SHARED), qmgr="QMA"),
    using("GETTER", got("SHARED.Q", 30, **SHARED), qmgr="QMB"),
    using("CICSA", put("IMS.BRIDGE.IN", 10), qmgr="IMS"),
    sending("QMC", "QMD", SENDS),
    sending("QMD", "QMC", TAKES),
    sending("QME", "FAR", SENDS, "QME.FAR"),
    sending("QMF", "FAR", TAKES, "FAR.QMF"),
    sending("QMG", "QMH", SENDS, "TWICE"),
    sending("QMH", "QMX", TAKES, "TWICE"),
)


@pytest.fixture(scope="module")
def flow() -> Rows:
    return rows_from("flow", *FLOW)


@pytest.mark.slow
def test_a_shared_queue_is_one_node_where_its_group_is_known(flow: Rows) -> None:
    in_group = [record(block("QCCT", qcctqsgn="QSG7"), qmgr=qmgr) for qmgr in ("QMA", "QMB")]
    told, asked = rows_from("flow", *FLOW, *in_group), rows_from("flow", *FLOW, qsg="qsg9")
    for rows, places in (
        (told, ["QSG7"]), (asked, ["QSG9"]), (flow, ["MVAA/QMA", "MVAA/QMB"]),
    ):  # fmt: skip
        found = [row for row in of("queue", rows) if row["queue"] == "SHARED.Q"]
        assert [row["place"] for row in found] == places
        assert all(("--qsg" in (row["note"] or "")) is (rows is flow) for row in found)


def test_the_queue_of_a_selected_job_is_of_the_group(write: Write) -> None:
    path = write(*FLOW, record(block("QCCT", qcctqsgn="QSG7"), qmgr="QMA"))
    options = ReadOptions(Selection.of(job="PUTTER"))
    with Catalog(open_inputs([path], options)) as catalog:
        places = {row["queue"]: row["place"] for row in of("queue", rows_in(catalog, "flow"))}
    assert places["SHARED.Q"] == "QSG7"


@pytest.mark.claim(86)
def test_a_queue_that_no_task_takes_from_may_be_that_of_the_ims_bridge(flow: Rows) -> None:
    (queue,) = [row for row in of("queue", flow) if row["queue"] == "IMS.BRIDGE.IN"]
    assert "go to IMS by the bridge" in queue["note"]


USERS = {
    "PUTTER": (put("APP.Q", 5), (0, 5, 0, 0, 0, 0, 0, 0)),
    "GETTER": (got("APP.Q", 4), (0, 0, 4, 0, 0, 0, 0, 0)),
    "BROWSER": ({"openn": 1, "getn": 6, "validget": 6, "getbrwa": 6}, (1, 0, 0, 6, 0, 0, 0, 0)),
    "OPENER": ({"openn": 3}, (3, 0, 0, 0, 0, 0, 0, 0)),
    "SETTER": ({"openn": 1, "setn": 2}, (1, 0, 0, 0, 0, 2, 0, 0)),
    "ASKER": ({"openn": 1, "inqn": 7}, (1, 0, 0, 0, 7, 0, 0, 0)),
    "FAILING": (
        {"openn": 1, "putn": 8, "put1n": 1, "getn": 2, "geterr": 2}, (1, 0, 0, 0, 0, 0, 9, 2)
    ),
}  # fmt: skip
"""All ways to use a queue: opens, puts, messages taken and browsed, inquiries, sets, puts and gets
that failed."""


def test_everyone_who_uses_a_queue_is_listed_as_in_the_report_of_tasks(write: Write) -> None:
    uses = (using(job, {"name": "APP.Q"} | used) for job, (used, _) in USERS.items())
    path = write(*uses, using("OTHER", put("OTHER.Q", 1)))
    named = smfparse.open(path, smfparse.Selection.of(queue="APP.Q"))
    users = of("user", named.report("flow").to_pylist())
    for name, others in {"PUTTER": "getters", "GETTER": "putters"}.items():
        alone = smfparse.open(path, smfparse.Selection.of(job=name))
        (queue,) = of("queue", alone.report("flow").to_pylist())
        assert queue["note"] == f"the selection can leave out their {others}"
    names = "opens puts gets browses inqs sets failed_puts failed_gets"
    assert {row["from_name"]: tuple(figures(row, names)) for row in users} == {
        job: counts for job, (_, counts) in USERS.items()
    }
    assert {row["wtidccn"] for row in named.report("tasksum").to_pylist()} == {*USERS}
    every = of("user", smfparse.open(path).report("flow").to_pylist())
    assert {row["from_name"] for row in every} == USERS.keys() - {"PUTTER", "GETTER"}


def test_a_channel_leads_to_its_other_end_or_to_the_name_of_a_queue_manager(flow: Rows) -> None:
    names = "from_kind from_name from_place to_kind to_name to_place messages"
    edges = [row for row in of("edge", flow) if "channel" in (row["from_kind"], row["to_kind"])]
    found = {(row["from_name"], row["from_kind"]): figures(row, names) for row in edges}
    assert found["QMC.QMD", "channel"] == [
        *("channel", "QMC.QMD", "MVAA/QMC", "channel", "QMC.QMD", "MVAA/QMD", 12)
    ]
    assert sorted([[*each[:2], *each[3:5]] for each in found.values() if each[1] != "QMC.QMD"]) == [
        ["channel", "QME.FAR", "queue manager", "FAR"],
        ["channel", "TWICE", "queue manager", "QMH"],
        ["queue manager", "FAR", "channel", "FAR.QMF"],
        ["queue manager", "QMX", "channel", "TWICE"],
    ]


def test_bytes_that_the_protocol_adds_the_wait_for_confirmation_and_ciphers() -> None:
    values = {"qcstnmsg": 100, "qcstnbyt": 10_000, "qcstbyst": 57_600, "qcstslcs": 0xC030}
    batches = {"qcstbatc": 20, "qcstntav": 300_000}
    numbers = {
        0: None,
        0x1302: "TLS_AES_256_GCM_SHA384",
        0x009C: "TLS_RSA_WITH_AES_128_GCM_SHA256",
        0x7777: "7777",
    }
    rows = rows_from(
        "channels",
        sending("QMA", "QMB", SENDS, **values, **batches),
        *(sending("QMA", "QMB", SENDS, f"C{each}", qcstslcs=each) for each in numbers),
    )
    channels = {row["channel"]: row for row in of("channel", rows)}
    row = channels.pop("QMC.QMD")
    assert row["added_bytes"] == 476
    assert row["confirm_share"] == NEAR(100 * 20 * 0.3 / 60)
    assert row["cipher"] == "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"
    assert {name: row["cipher"] for name, row in channels.items()} == {
        f"C{number}": name for number, name in numbers.items()
    }
    (cipher,) = [each for each in of("cipher", rows) if each["cipher"] == row["cipher"]]
    assert figures(cipher, "channels messages") == [1, 100]


# -- structures


def test_structures_are_of_all_members_and_the_group_in_the_record_goes_before_the_option() -> None:
    entry = {"qeststr": "APP1", "qestcsec": 10, "qestsstc": 100, "qestrsec": 1, "qestmnus": 5}
    more = entry | {"qestcsec": 30, "qestsstc": 900, "qestmnus": 9}
    new = structures({"qeststr": "APP1", "qestcsec": 7})
    rows = rows_from(
        "shared",
        record(structures(entry), qmgr="QMA"),
        record(structures(more), qmgr="QMB"),
        record(new, qmgr="QMC", release="946", qsg="QSG1"),
        qsg="QSG2",
    )
    found = {row["place"]: row for row in of("structure", rows)}
    assert figures(found["QSG2"], "members single_calls entries") == [2, 40, 9]
    assert figures(found["QSG2"], "single_us single_redriven") == NEAR([25, 5])
    assert figures(found["QSG1"], "members single_calls") == [1, 7]


# -- file transfer


DATA, REPLY, STATE = (f"SYSTEM.FTE.{each}" for each in ("DATA", "REPLY", "STATE"))
IN_FILES = {"cfstrucname": "FILES1"}
TRANSFERS = [
    using(
        "FTESRC",
        put(f"{DATA}.AGENT2", 4096, 256 * KB, putpwg=4002, putct=1000.0),
        got(f"{REPLY}.AGENT1", 409, by_id=409),
        put(f"{STATE}.AGENT1", 81, 8 * KB),
        got(f"{STATE}.AGENT1", 81, size=8 * KB),
    ),
    using("FTEDST", got(f"{DATA}.AGENT2", 4096, size=256 * KB), put(f"{REPLY}.AGENT1", 409, KB)),
    using("FTEDST", got(f"{DATA}.AGENT4", 5, size=256 * KB), got("PAY.OUT", 30),
          put("PAY.IN", 7), qmgr="QMA"),
    using("FTESRC", put(f"{DATA}.AGENT4", 5), qmgr="QMA"),
    using("FTEJOB", got(f"{DATA}.A", 5), got(f"{DATA}.B", 7), put(f"{REPLY}.C", 1), qmgr="QMB"),
    using("FTESRC", *(put(f"{DATA}.SHARED", count, 256 * KB, putpwg=count // 4, **IN_FILES)
                      for count in (60, 40)), qmgr="QMC"),
    using("FTEDST", got(f"{DATA}.SHARED", 100, size=256 * KB, **IN_FILES), qmgr="QMC"),
]  # fmt: skip


@pytest.mark.claim(140)
@pytest.mark.claim(147)
@pytest.mark.claim(164)
def test_agents_and_their_queues_are_worked_out_as_published() -> None:
    mft = rows_from("mft", *TRANSFERS, qsg="QSG1")
    agents = {row["agent"]: row for row in of("agent", mft)}
    names = "who mb_sent chunk_kb to_getter_share replies_a_state mb_a_checkpoint"
    (job, *sent), near = figures(agents["AGENT1"], names), {"abs": 0.01}
    assert (job, sent) == ("FTESRC", NEAR([1024, 256, 97.7, 5.05, 12.64], **near))
    job, *received = figures(agents["AGENT2"], "who mb_received window_size")
    assert (job, received) == ("FTEDST", NEAR([1024, 10.01], **near))
    # Messages that agents take and put elsewhere are counted.
    names = "who messages_to_files messages_of_files mb_received"
    assert figures(agents["AGENT4"], names) == ["FTEDST", 30, 7, 1.25]
    for of_one_job in ("A", "B"):
        assert figures(agents[of_one_job], "who window_size") == ["shared", None]
    queues = {(row["role"], row["agent"]): row for row in of("queue", mft)}
    assert queues["STATE", "AGENT1"]["kb_a_message"] == 8
    # Whether a message met a getter, and its bytes: large ones are in Db2 or SMDS.
    names = "structure kb_a_message to_getter_share"
    assert figures(queues["DATA", "SHARED"], names) == ["FILES1", 256, 25]
    (same,) = of("queue", rows_from("shared", *TRANSFERS, qsg="QSG1"))
    assert figures(same, "place structure queue") == ["QSG1", "FILES1", f"{DATA}.SHARED"]


# -- the graph


def test_names_are_text_in_a_graph() -> None:
    ends = {"from_kind": "job", "to_kind": "queue", "from_place": 'a"\\n', "to_place": ""}
    names = {"from_name": "x\x1b", "to_name": "<b>#1"}
    rows = [{"line": "edge", "messages": 3} | ends | names, {"line": "queue"}]
    assert list(graph_lines(rows, "dot"))[2:] == [
        '  "job x\\\\x1b a\\"\\\\n" [shape=box, label="x\\\\x1b\\na\\"\\\\n"];',
        '  "queue <b>#1" [shape=cylinder, label="<b>#1"];',
        '  "job x\\\\x1b a\\"\\\\n" -> "queue <b>#1" [label="3"];',
        "}",
    ]
    assert list(graph_lines(rows, "mermaid"))[1:] == [
        '  n0["x#92;x1b<br>a#34;#92;n"]',
        '  n1[("#60;b#62;#35;1")]',
        "  n0 -->|3| n1",
    ]


def test_only_reports_of_edges_can_be_drawn_and_a_group_has_four_characters(write: Write) -> None:
    path = write(*PAIR)
    drawn = run("report", "flow", path, "--format", "dot", code=0)
    assert '"job CICSA MVAA" -> "queue PAY.REQUEST MVAA/VTS1" [label="1000"];' in drawn.stdout
    refused = run("report", "log", path, "--format", "mermaid", code=2)
    assert "--format mermaid draws only the report flow, not log" in refused.stderr
    assert "at most 4 characters" in run("report", "flow", path, "--qsg", "TOOLONG", code=2).stderr


@needs_real_data
def test_cluster_queues_of_a_real_file() -> None:
    assert REAL_DATA
    users = of("user", report_rows("cluster", REAL_DATA / "TEST116.dat"))
    assert [
        [row["opened"], row["persistent"], round(row["put_cpu"], 1), round(row["open_cpu"], 1)]
        for row in users
    ] == [["ENT.LGR.AUDITTLG.OUTPUT", 0, 80.4, 83.3], ["ENT.LGR.FBE.OUTPUT", 1, 127.0, 75.4]]
