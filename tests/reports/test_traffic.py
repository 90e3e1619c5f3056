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
from smfparse.reports import graph_lines
from tests.support.builders import Write
from tests.support.command import run
from tests.support.paths import FACTS, PROJECT
from tests.support.real import REAL_DATA, needs_real_data
from tests.support.report_runs import Rows, by_qmgr, of, report_rows, rows_from
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

Day = tuple[Any, Path]


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Day]:
    """Make a day of a scenario once; return its estate, and the file."""
    folder = tmp_path_factory.mktemp("days")
    return cache(lambda scenario: TRAFFIC.day(scenario, 1, folder, interval=HOURS))


@pytest.fixture(scope="module")
def rows_of(day: Callable[[str], Day]) -> Callable[[str, str], Rows]:
    """Make a report over a day of a scenario once."""
    return cache(lambda scenario, name: report_rows(name, day(scenario)[1]))


@pytest.mark.slow
@of_many("scenario", some(TRAFFIC.SCENARIOS, 3))
def test_edges_rates_and_requesters_are_those_of_the_answer_key(
    scenario: str, day: Callable[[str], Day]
) -> None:
    estate, path = day(scenario)
    assert list(TRAFFIC.wrong(estate, 1, path)) == []


@pytest.mark.slow
def test_a_report_that_lacks_an_edge_does_not_agree_with_the_key(
    day: Callable[[str], Day],
) -> None:
    assert len(list(TRAFFIC.wrong(day("cluster")[0], 1, day("shared")[1]))) > 10


def test_messages_of_a_cluster_spread_as_they_were_given(
    rows_of: Callable[[str, str], Rows],
) -> None:
    rows = rows_of("cluster", "cluster")
    shares = {row["partner"]: row["share"] for row in of("channel", rows) if row["qmgr"] == "QM01"}
    assert shares == {"QM02": NEAR(60, abs=0.5), "QM03": NEAR(40, abs=0.5)}
    (command,) = [row for row in of("queue", rows) if row["queue"].endswith("COMMAND.QUEUE")]
    assert command["note"] == "ready for business"


# -- claims of published reports

with (FACTS / "answers.csv").open(encoding="utf-8", newline="") as file:
    ANSWERS = list(csv.DictReader(file))
"""By claim: the scenario, the report, and its figures that answer it."""


@pytest.mark.slow
def test_reports_answer_claims_and_these_are_marked_so(
    rows_of: Callable[[str, str], Rows],
) -> None:
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


@pytest.fixture(scope="module")
def requests() -> dict[str, Rows]:
    """The rows of the report by queue manager; each has a case of its own."""
    asks = using("CICSA", put("REQUEST", 60), got("REPLY", 60, by_id=60), qmgr="QMA")
    serves = using("SERVE", got("REQUEST", 60), put("REPLY", 60), qmgr="QMB")
    records = [
        *PAIR, asks, serves,
        using("JOBA", put("Q.ONE", 50), got("Q.TWO", 50), qmgr="LOOP"),
        using("JOBB", put("Q.TWO", 50), got("Q.ONE", 50), qmgr="LOOP"),
        using("CICSA", put("REQUEST", 60), got("REPLY", 60, by_id=60), qmgr="MANY"),
        using("CICSB", put("REQUEST", 40), got("REPLY", 40, by_id=40), qmgr="MANY"),
        using("SERVE1", got("REQUEST", 70), put("REPLY", 70), qmgr="MANY"),
        using("SERVE2", got("REQUEST", 30), put("REPLY", 30), qmgr="MANY"),
    ]  # fmt: skip
    for replies in (79, 80, 125, 126):
        keys = {"qmgr": f"R{replies}"}
        records += [
            using("PAYSRV", got("REQUEST", 100), put("REPLY", replies), **keys),
            using("CICSA", put("REQUEST", 100), got("REPLY", 100, by_id=100), **keys),
        ]
    return by_qmgr(rows_from("requests", *records))


def test_of_two_that_get_any_message_the_direction_is_not_known_and_they_are_there_once(
    requests: dict[str, Rows],
) -> None:
    (row,) = requests["LOOP"]
    assert row["direction"] == "unknown"
    assert {row["requester"], row["server"]} == {"JOBA", "JOBB"}


def test_counts_are_at_least_four_fifths_and_at_most_five_fourths_of_one_another_and_of_one_qmgr(
    requests: dict[str, Rows],
) -> None:
    assert requests.keys() == {"VTS1", "LOOP", "MANY", "R80", "R125"}


def test_several_requesters_of_a_server_have_a_row_each(requests: dict[str, Rows]) -> None:
    assert [figures(row, "requester server requests received") for row in requests["MANY"]] == [
        ["CICSA", "SERVE1, SERVE2", 60, 60],
        ["CICSB", "SERVE1, SERVE2", 40, 40],
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
)


@pytest.fixture(scope="module")
def flow() -> Rows:
    return rows_from("flow", *FLOW)


def places(rows: Rows) -> set[str]:
    return {row["place"] for row in of("queue", rows) if row["queue"] == "SHARED.Q"}


@pytest.mark.slow
def test_a_shared_queue_is_one_node_where_its_group_is_known(flow: Rows) -> None:
    in_group = [record(block("QCCT", qcctqsgn="QSG7"), qmgr=qmgr) for qmgr in ("QMA", "QMB")]
    assert places(rows_from("flow", *FLOW, *in_group)) == {"QSG7"}
    assert places(rows_from("flow", *FLOW, qsg="qsg9")) == {"QSG9"}
    assert places(flow) == {"MVAA/QMA", "MVAA/QMB"}
    unknown = [row for row in of("queue", flow) if row["queue"] == "SHARED.Q"]
    assert all("--qsg" in row["note"] for row in unknown)


@pytest.mark.claim(86)
def test_a_queue_that_no_task_takes_from_may_be_that_of_the_ims_bridge(flow: Rows) -> None:
    (queue,) = [row for row in of("queue", flow) if row["queue"] == "IMS.BRIDGE.IN"]
    assert "go to IMS by the bridge" in queue["note"]


ALL_USERS = (
    using("PUTTER", put("APP.Q", 5)),
    using("GETTER", got("APP.Q", 4)),
    using("BROWSER", {"name": "APP.Q", "openn": 1, "getn": 6, "validget": 6, "getbrwa": 6}),
    using("OPENER", {"name": "APP.Q", "openn": 3}),
    using("SETTER", {"name": "APP.Q", "openn": 1, "setn": 2}),
    using("ASKER", {"name": "APP.Q", "openn": 1, "inqn": 7}),
    using("FAILING", {"name": "APP.Q", "openn": 1, "putn": 8, "put1n": 1, "getn": 2, "geterr": 2}),
    using("OTHER", put("OTHER.Q", 1)),
)
"""All ways to use a queue, and a job that does not use it."""
USERS = {
    "PUTTER": (0, 5, 0, 0, 0, 0, 0, 0),
    "GETTER": (0, 0, 4, 0, 0, 0, 0, 0),
    "BROWSER": (1, 0, 0, 6, 0, 0, 0, 0),
    "OPENER": (3, 0, 0, 0, 0, 0, 0, 0),
    "SETTER": (1, 0, 0, 0, 0, 2, 0, 0),
    "ASKER": (1, 0, 0, 0, 7, 0, 0, 0),
    "FAILING": (1, 0, 0, 0, 0, 0, 9, 2),
}
"""Opens, puts, messages taken and browsed, inquiries, sets, puts and gets that failed."""


def test_everyone_who_uses_a_queue_is_listed_as_in_the_report_of_tasks(write: Write) -> None:
    path = write(*ALL_USERS)
    named = smfparse.open(path, smfparse.Selection.of(queue="APP.Q"))
    users = [row for row in named.report("flow").to_pylist() if row["line"] == "user"]
    names = "opens puts gets browses inqs sets failed_puts failed_gets"
    assert {row["from_name"]: tuple(figures(row, names)) for row in users} == USERS
    assert {row["wtidccn"] for row in named.report("tasksum").to_pylist()} == {*USERS}
    every = smfparse.open(path).report("flow").to_pylist()
    assert {row["from_name"] for row in every if row["line"] == "user"} == {
        *USERS.keys() - {"PUTTER", "GETTER"}
    }
    page = smfparse.open(path).report("application", job="PUTTER").to_pylist()
    others = {row["other_job"]: row["browses"] for row in page if row["line"] == "user"}
    assert others == {name: USERS[name][3] for name in USERS if name != "PUTTER"}


def test_a_channel_leads_to_its_other_end_or_to_the_name_of_a_queue_manager(flow: Rows) -> None:
    names = "from_kind from_name from_place to_kind to_name to_place messages"
    edges = [row for row in of("edge", flow) if "channel" in (row["from_kind"], row["to_kind"])]
    found = {row["from_name"]: figures(row, names) for row in edges}
    assert found["QMC.QMD"] == [
        *("channel", "QMC.QMD", "MVAA/QMC", "channel", "QMC.QMD", "MVAA/QMD", 12)
    ]
    assert found["QME.FAR"][:2] + found["QME.FAR"][3:5] == [
        *("channel", "QME.FAR", "queue manager", "FAR")
    ]
    assert found["FAR"][:2] + found["FAR"][3:5] == [*("queue manager", "FAR", "channel", "FAR.QMF")]
    assert len(edges) == 3
    other = rows_from("flow", *FLOW, sending("QMD", "QMX", TAKES))
    ends = [row["from_name"] for row in of("edge", other) if row["to_name"] == "QMC.QMD"]
    assert ends == ["QMC.QMD"]  # the other one of that name is of another queue manager


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


@pytest.fixture(scope="module")
def transfers() -> list[bytes]:
    data, reply, state = (f"SYSTEM.FTE.{each}" for each in ("DATA", "REPLY", "STATE"))
    shared = {"cfstrucname": "FILES1"}
    return [
        using(
            "FTESRC",
            put(f"{data}.AGENT2", 4096, 256 * KB, putpwg=4002, putct=1000.0),
            got(f"{reply}.AGENT1", 409, by_id=409),
            put(f"{state}.AGENT1", 81, 8 * KB),
            got(f"{state}.AGENT1", 81, size=8 * KB),
        ),
        using(
            "FTEDST", got(f"{data}.AGENT2", 4096, size=256 * KB), put(f"{reply}.AGENT1", 409, KB)
        ),
        using("FTEDST", got(f"{data}.AGENT4", 5, size=256 * KB), got("PAY.OUT", 30),
              put("PAY.IN", 7), qmgr="QMA"),
        using("FTESRC", put(f"{data}.AGENT4", 5), qmgr="QMA"),
        using("FTEJOB", got(f"{data}.A", 5), got(f"{data}.B", 7), put(f"{reply}.C", 1), qmgr="QMB"),
        using("FTESRC", put(f"{data}.SHARED", 100, size=256 * KB, putpwg=25, **shared), qmgr="QMC"),
        using("FTEDST", got(f"{data}.SHARED", 100, size=256 * KB, **shared), qmgr="QMC"),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def mft(transfers: list[bytes]) -> Rows:
    return rows_from("mft", *transfers, qsg="QSG1")


def test_what_an_agent_moves_is_worked_out_as_published(mft: Rows) -> None:
    agents = {row["agent"]: row for row in of("agent", mft)}
    one, two = agents["AGENT1"], agents["AGENT2"]
    assert figures(one, "who mb_sent chunk_kb") == ["FTESRC", 1024, 256]
    names = "to_getter_share replies_a_state mb_a_checkpoint"
    assert figures(one, names) == NEAR([97.7, 5.05, 12.64], abs=0.01)
    assert figures(two, "who mb_received") == ["FTEDST", 1024]
    assert two["window_size"] == NEAR(10.01, abs=0.01)
    (state,) = [row for row in of("queue", mft) if row["role"] == "STATE"]
    assert state["kb_a_message"] == 8


@pytest.mark.claim(147)
def test_messages_that_agents_take_and_put_elsewhere_are_counted(mft: Rows) -> None:
    (agent,) = [row for row in of("agent", mft) if row["agent"] == "AGENT4"]
    names = "who messages_to_files messages_of_files mb_received"
    assert figures(agent, names) == ["FTEDST", 30, 7, 1.25]


def test_agents_of_one_job_are_not_told_apart(mft: Rows) -> None:
    agents = [row for row in of("agent", mft) if row["agent"] in ("A", "B")]
    assert [figures(row, "who window_size") for row in agents] == [["shared", None]] * 2


@pytest.mark.claim(140)
@pytest.mark.claim(164)
def test_shared_queues_of_agents_are_shown_with_their_structure(
    mft: Rows, transfers: list[bytes]
) -> None:
    """With the bytes of a message, and whether it met a getter: large ones are in Db2 or SMDS."""
    name = "SYSTEM.FTE.DATA.SHARED"
    (queue,) = [row for row in of("queue", mft) if row["agent"] == "SHARED"]
    assert figures(queue, "structure kb_a_message to_getter_share") == ["FILES1", 256, 25]
    (same,) = of("queue", rows_from("shared", *transfers, qsg="QSG1"))
    assert figures(same, "place structure queue") == ["QSG1", "FILES1", name]


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
    drawn = run("report", "flow", path, "--format", "dot")
    assert drawn.exit_code == 0
    assert '"job CICSA MVAA" -> "queue PAY.REQUEST MVAA/VTS1" [label="1000"];' in drawn.stdout
    refused = run("report", "log", path, "--format", "mermaid")
    assert refused.exit_code == 2
    assert "choose another format, or the report flow" in refused.stderr
    refused = run("report", "flow", path, "--qsg", "TOOLONG")
    assert refused.exit_code == 2
    assert "at most 4 characters" in refused.stderr


@needs_real_data
def test_cluster_queues_of_a_real_file() -> None:
    assert REAL_DATA
    users = of("user", report_rows("cluster", REAL_DATA / "TEST116.dat"))
    assert [
        [row["opened"], row["persistent"], round(row["put_cpu"], 1), round(row["open_cpu"], 1)]
        for row in users
    ] == [["ENT.LGR.AUDITTLG.OUTPUT", 0, 80.4, 83.3], ["ENT.LGR.FBE.OUTPUT", 1, 127.0, 75.4]]
