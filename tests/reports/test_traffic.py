"""Who talks to whom: the reports flow, requests, clients, mft, cluster, channels and shared."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from smfparse.advice import rules
from smfparse.cli import main
from smfparse.reports import graph_lines
from tests.support.builders import Write
from tests.support.paths import PROJECT
from tests.support.real import REAL_DATA, needs_real_data
from tests.support.report_runs import report_rows
from tests.support.smf import block, record, structures
from tests.support.tools import tool
from tests.support.traffic import PAIR, got, put, using

Rows = list[dict[str, Any]]
KB = 1024
MARKED = re.compile(r"^\| (\d+) \|.*\| ([ypnxk]) \| [^|]* \|$", re.M)
HOURS = dt.timedelta(hours=2)
TRAFFIC = tool("traffic")


def real(name: str) -> Path:
    assert REAL_DATA
    return REAL_DATA / name


def of(line: str, rows: Rows) -> Rows:
    return [row for row in rows if row["line"] == line]


def figures(row: Mapping[str, Any], names: str) -> list[Any]:
    return [row[name] for name in names.split()]


# -- simulated sites, whose answer keys say who puts and gets how much


@pytest.mark.parametrize("scenario", TRAFFIC.SCENARIOS)
def test_edges_rates_and_requesters_are_those_of_the_answer_key(
    scenario: str, tmp_path: Path
) -> None:
    estate, path = TRAFFIC.day(scenario, 1, tmp_path, interval=HOURS)
    assert list(TRAFFIC.wrong(estate, 1, path)) == []


def test_a_report_that_lacks_an_edge_does_not_agree_with_the_key(tmp_path: Path) -> None:
    estate, _ = TRAFFIC.day("shared", 1, tmp_path, interval=HOURS)
    _, path = TRAFFIC.day("cluster", 1, tmp_path, interval=HOURS)
    assert len(list(TRAFFIC.wrong(estate, 1, path))) > 10


def test_agents_have_the_chunks_and_windows_that_they_were_given(tmp_path: Path) -> None:
    _, path = TRAFFIC.day("mft", 2, tmp_path, interval=HOURS)
    rows = {row["agent"]: row for row in of("agent", report_rows("mft", path))}
    assert rows["FILESRC"]["chunk_kb"] == pytest.approx(256, rel=0.01)
    assert rows["FILEDST"]["window_size"] == pytest.approx(10, rel=0.01)
    assert rows["FILESRC"]["replies_a_state"] == pytest.approx(5, rel=0.01)
    assert rows["FILEDST"]["mb_a_checkpoint"] == pytest.approx(12.5, rel=0.01)


def test_messages_of_a_cluster_spread_as_they_were_given(tmp_path: Path) -> None:
    _, path = TRAFFIC.day("cluster", 2, tmp_path, interval=HOURS)
    rows = report_rows("cluster", path)
    shares = {row["partner"]: row["share"] for row in of("channel", rows) if row["qmgr"] == "QM01"}
    assert shares == {"QM02": pytest.approx(60, abs=0.5), "QM03": pytest.approx(40, abs=0.5)}
    (command,) = [row for row in of("queue", rows) if row["queue"].endswith("COMMAND.QUEUE")]
    assert command["note"] == "ready for business"


def test_channels_of_a_cluster_lead_from_one_queue_manager_to_another(tmp_path: Path) -> None:
    _, path = TRAFFIC.day("cluster", 2, tmp_path, interval=HOURS)
    edges = of("edge", report_rows("flow", path))
    links = [row for row in edges if row["from_kind"] == row["to_kind"] == "channel"]
    assert sorted(figures(row, "from_name from_place to_place") for row in links) == [
        ["CLUS.QM02", "SYSA/QM01", "SYSB/QM02"],
        ["CLUS.QM03", "SYSA/QM01", "SYSB/QM03"],
    ]
    taken = {row["from_name"]: row["messages"] for row in edges if row["to_place"] == "SYSA/QM01"}
    sent = {row["from_name"]: row["messages"] for row in links}
    assert {f"SYSTEM.CLUSTER.TRANSMIT.{name[5:]}": count for name, count in sent.items()} == {
        name: taken[name] for name in taken if name.startswith("SYSTEM.CLUSTER.TRANSMIT")
    }


# -- claims of published reports

CLAIMS = {
    72: ("reqrep", "requests", "requester server rate request_ms reply_ms"),
    78: ("shared", "shared", "members single_calls multiple_calls"),
    79: ("shared", "flow", "from_place to_place messages"),
    84: ("cluster", "cluster", "partner share"),
    85: ("clients", "clients", "chinit_message_cpu chinit_mb_cpu"),
    90: ("clients", "clients", "connections messages_per_connection connection_cpu message_cpu"),
    103: ("cluster", "channels", "mb_a_second confirm_share"),
    109: ("cluster", "cluster", "queue opened job"),
    111: ("cluster", "cluster", "depth note"),
    113: ("cluster", "cluster", "opened open_slowest"),
    119: ("reqrep", "requests", "requests replies"),
    136: ("mft", "mft", "mb_a_second"),
    139: ("mft", "mft", "mb_a_second cpu_a_gb"),
    141: ("mft", "mft", "agent role kb_a_message"),
    151: ("mft", "channels", "mb_a_second"),
    155: ("mft", "mft", "role kb_a_message"),
    161: ("mft", "mft", "agent mb_sent mb_received cpu_a_gb"),
    163: ("cluster", "cluster", "depth highest"),
    170: ("mft", "mft", "to_getter_share"),
    171: ("mft", "mft", "kb_a_message cpu_seconds"),
    173: ("cluster", "channels", "added_bytes"),
    176: ("mft", "mft", "agent tasks"),
}
"""By claim: the scenario, the report, and its figures that answer it."""


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Rows]:
    """Rows of the reports of CLAIMS, by scenario and report."""
    folder, found = tmp_path_factory.mktemp("days"), dict[str, Rows]()
    for scenario in sorted({each for each, _, _ in CLAIMS.values()}):
        _, path = TRAFFIC.day(scenario, 1, folder, interval=HOURS)
        for name in {name for each, name, _ in CLAIMS.values() if each == scenario}:
            found[f"{scenario} {name}"] = report_rows(name, path)
    return found


@pytest.mark.parametrize(
    ("scenario", "name", "asked"),
    [pytest.param(*each, marks=pytest.mark.claim(claim)) for claim, each in CLAIMS.items()],
    ids=[f"claim {claim}" for claim in CLAIMS],
)
def test_a_report_answers_a_claim(
    scenario: str, name: str, asked: str, days: Mapping[str, Rows]
) -> None:
    rows = days[f"{scenario} {name}"]
    assert [each for each in asked.split() if all(row[each] is None for row in rows)] == []


def test_claims_that_reports_answer_are_marked_so() -> None:
    page = (PROJECT / "docs" / "coverage.md").read_text("utf-8")
    marks = {int(number): mark for number, mark in MARKED.findall(page)}
    assert {marks[claim] for claim in (*CLAIMS, 86, 140, 156, 164)} == {"y"}


@pytest.mark.claim(141)
def test_an_agent_has_five_queues(days: Mapping[str, Rows]) -> None:
    roles = {row["role"] for row in of("queue", days["mft mft"])}
    assert roles == {"COMMAND", "DATA", "EVENT", "REPLY", "STATE"}


@pytest.mark.claim(140)
@pytest.mark.claim(164)
def test_shared_queues_of_agents_are_told_with_their_structure(write: Write) -> None:
    """With the bytes of a message, and whether it met a getter: large ones are in Db2 or SMDS."""
    name, shared = "SYSTEM.FTE.DATA.AGENT2", {"cfstrucname": "FILES1"}
    path = write(
        using("FTESRC", put(name, 100, size=262144, putpwg=25, **shared)),
        using("FTEDST", got(name, 100, size=262144, **shared)),
    )
    (queue,) = of("queue", report_rows("mft", path, qsg="QSG1"))
    assert figures(queue, "structure kb_a_message to_getter_share") == ["FILES1", 256, 25]
    (same,) = of("queue", report_rows("shared", path, qsg="QSG1"))
    assert figures(same, "place structure queue") == ["QSG1", "FILES1", name]


@pytest.mark.claim(156)
def test_what_is_recommended_for_file_transfer_is_a_rule_each() -> None:
    assert {"MFT-SMALL", "MFT-STATE", "MFT-PERSISTENT", "MFT-DEPTH", "Q-PUT-TO-GETTER"} <= {
        *rules()
    }


@pytest.mark.claim(86)
def test_a_queue_that_no_task_takes_from_may_be_that_of_the_ims_bridge(write: Write) -> None:
    path = write(using("CICSA", put("IMS.BRIDGE.IN", 10)))
    (queue,) = of("queue", report_rows("flow", path))
    assert "go to IMS by the bridge" in queue["note"]


@pytest.mark.claim(147)
def test_messages_that_agents_take_and_put_elsewhere_are_counted(write: Write) -> None:
    taken = got("SYSTEM.FTE.DATA.AGENT2", 5, size=262144)
    path = write(
        using("FTEDST", taken, got("PAY.OUT", 30), put("PAY.IN", 7)),
        using("FTESRC", put("SYSTEM.FTE.DATA.AGENT2", 5)),
    )
    (agent,) = of("agent", report_rows("mft", path))
    assert figures(agent, "who messages_to_files messages_of_files") == ["FTEDST", 30, 7]
    assert agent["mb_received"] == 1.25


# -- request and reply


def test_who_gets_by_id_is_the_requester(write: Write) -> None:
    (row,) = report_rows("requests", write(*PAIR))
    names = "requester request_queue server reply_queue requests served replies received"
    expected = ["CICSA", "PAY.REQUEST", "PAYSRV", "PAY.REPLY", 1000, 1000, 1000, 998]
    assert figures(row, names) == expected
    assert figures(row, "unanswered by_id_share direction") == [2, 100, "known"]
    assert row["left_share"] == pytest.approx(0.2)
    assert row["request_ms"] == pytest.approx(2)
    assert row["round_trip_cpu"] == pytest.approx(9000 / 998)
    assert row["score"] == pytest.approx(0.998)


def test_of_two_that_get_any_message_the_direction_is_not_known_and_they_are_there_once(
    write: Write,
) -> None:
    loop = [
        using("JOBA", put("Q.ONE", 50), got("Q.TWO", 50)),
        using("JOBB", put("Q.TWO", 50), got("Q.ONE", 50)),
    ]
    (row,) = report_rows("requests", write(*loop))
    assert row["direction"] == "unknown"
    assert {row["requester"], row["server"]} == {"JOBA", "JOBB"}


@pytest.mark.parametrize(
    "replies", [79, 126], ids=["fewer than four fifths", "more than five fourths"]
)
def test_counts_that_do_not_agree_are_no_request_and_reply(write: Write, replies: int) -> None:
    other = using("PAYSRV", got("PAY.REQUEST", 100), put("PAY.REPLY", replies))
    asks = using("CICSA", put("PAY.REQUEST", 100), got("PAY.REPLY", 100, by_id=100))
    assert report_rows("requests", write(asks, other)) == []


def test_several_requesters_of_a_server_have_a_row_each(write: Write) -> None:
    rows = report_rows(
        "requests",
        write(
            using("CICSA", put("REQUEST", 60), got("REPLY", 60, by_id=60)),
            using("CICSB", put("REQUEST", 40), got("REPLY", 40, by_id=40)),
            using("SERVE1", got("REQUEST", 70), put("REPLY", 70)),
            using("SERVE2", got("REQUEST", 30), put("REPLY", 30)),
        ),
    )
    assert [figures(row, "requester server requests received") for row in rows] == [
        ["CICSA", "SERVE1, SERVE2", 60, 60],
        ["CICSB", "SERVE1, SERVE2", 40, 40],
    ]


def test_queues_of_one_name_at_two_queue_managers_are_no_pair(write: Write) -> None:
    asks = using("CICSA", put("REQUEST", 60), got("REPLY", 60, by_id=60), qmgr="QMA")
    serves = using("SERVE", got("REQUEST", 60), put("REPLY", 60), qmgr="QMB")
    assert report_rows("requests", write(asks, serves)) == []


# -- shared queues: one node of a group


SHARED = {"cfstrucname": "APP1", "qsgdisp": 2}
MEMBERS = (
    using("PUTTER", put("SHARED.Q", 30, **SHARED), qmgr="QMA"),
    using("GETTER", got("SHARED.Q", 30, **SHARED), qmgr="QMB"),
)
CHANNEL_INITIATORS = tuple(
    record(block("QCCT", qcctqsgn="QSG7"), qmgr=qmgr) for qmgr in ("QMA", "QMB")
)


def places(rows: Rows) -> set[str]:
    return {row["place"] for row in of("queue", rows)}


def test_a_shared_queue_is_one_node_where_its_group_is_known(write: Write) -> None:
    assert places(report_rows("flow", write(*MEMBERS, *CHANNEL_INITIATORS))) == {"QSG7"}
    assert places(report_rows("flow", write(*MEMBERS), qsg="qsg9")) == {"QSG9"}


def test_a_shared_queue_of_an_unknown_group_is_said_to_be_so(write: Write) -> None:
    rows = report_rows("flow", write(*MEMBERS))
    assert places(rows) == {"MVAA/QMA", "MVAA/QMB"}
    assert all("--qsg" in row["note"] for row in of("queue", rows))


def test_the_group_in_the_record_goes_before_the_option(write: Write) -> None:
    old = record(structures({"qeststr": "APP1", "qestcsec": 5}), qmgr="QMA")
    new = record(
        structures({"qeststr": "APP1", "qestcsec": 7}), qmgr="QMB", release="946", qsg="QSG1"
    )
    rows = report_rows("shared", write(old, new), qsg="QSG2")
    found = {row["place"]: row["single_calls"] for row in of("structure", rows)}
    assert found == {"QSG1": 7, "QSG2": 5}


def test_structures_are_of_all_members(write: Write) -> None:
    entry = {"qeststr": "APP1", "qestcsec": 10, "qestsstc": 100, "qestrsec": 1, "qestmnus": 5}
    more = entry | {"qestcsec": 30, "qestsstc": 900, "qestmnus": 9}
    made = [record(structures(entry), qmgr="QMA"), record(structures(more), qmgr="QMB")]
    (row,) = of("structure", report_rows("shared", write(*made), qsg="QSG1"))
    assert figures(row, "members single_calls entries") == [2, 40, 9]
    assert row["single_us"] == pytest.approx(25)
    assert row["single_redriven"] == pytest.approx(5)


# -- channels


def sending(qmgr: str, partner: str, kind: int, **more: Any) -> bytes:
    values = {"qcstchnm": "QMA.QMB", "qcstchty": kind, "qcstrqmn": partner, "qcstnmsg": 12}
    return record(block("QCST", **values | more), qmgr=qmgr, seconds=60)


SENDS, TAKES = 1, 3


def test_a_channel_leads_to_its_other_end_where_that_is_in_the_input(write: Write) -> None:
    rows = report_rows("flow", write(sending("QMA", "QMB", SENDS), sending("QMB", "QMA", TAKES)))
    names = "from_kind from_name from_place to_kind to_name to_place messages"
    assert [figures(row, names) for row in of("edge", rows)] == [
        ["channel", "QMA.QMB", "MVAA/QMA", "channel", "QMA.QMB", "MVAA/QMB", 12]
    ]


@pytest.mark.parametrize(
    ("kind", "first", "second"),
    [
        (SENDS, ("channel", "QMA.QMB"), ("queue manager", "QMB")),
        (TAKES, ("queue manager", "QMB"), ("channel", "QMA.QMB")),
    ],
    ids=["sender", "receiver"],
)
def test_of_a_queue_manager_that_is_not_in_the_input_the_name_is_known(
    write: Write, kind: int, first: tuple[str, str], second: tuple[str, str]
) -> None:
    (row,) = of("edge", report_rows("flow", write(sending("QMA", "QMB", kind))))
    found = (row["from_kind"], row["from_name"]), (row["to_kind"], row["to_name"])
    assert found == (first, second)


def test_bytes_that_the_protocol_adds_and_the_wait_for_confirmation(write: Write) -> None:
    values = {"qcstnmsg": 100, "qcstnbyt": 10_000, "qcstbyst": 57_600, "qcstslcs": 0xC030}
    batches = {"qcstbatc": 20, "qcstfuba": 5, "qcstntav": 300_000, "qcstcbsz": 50}
    rows = report_rows("channels", write(sending("QMA", "QMB", SENDS, **values, **batches)))
    (row,) = of("channel", rows)
    assert figures(row, "size added_bytes messages_a_batch full_share") == [100, 476, 5, 25]
    assert row["confirm_share"] == pytest.approx(100 * 20 * 0.3 / 60)
    assert row["cipher"] == "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"
    (cipher,) = of("cipher", rows)
    assert figures(cipher, "cipher channels messages") == [row["cipher"], 1, 100]


@pytest.mark.parametrize(
    ("number", "name"),
    [(0, None), (0x1302, "TLS_AES_256_GCM_SHA384"), (0x009C, None), (0x7777, "7777")],
)
def test_a_cipher_is_named_by_its_number(write: Write, number: int, name: str | None) -> None:
    (row,) = of(
        "channel", report_rows("channels", write(sending("A", "B", SENDS, qcstslcs=number)))
    )
    assert row["cipher"] == (name if number != 0x009C else "TLS_RSA_WITH_AES_128_GCM_SHA256")


# -- file transfer


def test_what_an_agent_moves_is_worked_out_as_published(write: Write) -> None:
    data, reply, state = (f"SYSTEM.FTE.{each}" for each in ("DATA", "REPLY", "STATE"))
    source = using(
        "FTESRC",
        put(f"{data}.AGENT2", 4096, 256 * KB, putpwg=4002, putct=1000.0),
        got(f"{reply}.AGENT1", 409, by_id=409),
        put(f"{state}.AGENT1", 81, 8 * KB),
        got(f"{state}.AGENT1", 81, size=8 * KB),
    )
    target = using(
        "FTEDST",
        got(f"{data}.AGENT2", 4096, size=256 * KB),
        put(f"{reply}.AGENT1", 409, KB),
    )
    rows = report_rows("mft", write(source, target))
    one, two = sorted(of("agent", rows), key=lambda row: row["agent"])
    assert figures(one, "agent who mb_sent chunk_kb") == ["AGENT1", "FTESRC", 1024, 256]
    assert one["to_getter_share"] == pytest.approx(97.7, abs=0.01)
    assert one["replies_a_state"] == pytest.approx(5.05, abs=0.01)
    assert one["mb_a_checkpoint"] == pytest.approx(12.64, abs=0.01)
    assert figures(two, "agent who mb_received") == ["AGENT2", "FTEDST", 1024]
    assert two["window_size"] == pytest.approx(10.01, abs=0.01)
    by_role = {row["role"]: row for row in of("queue", rows)}
    assert by_role["STATE"]["kb_a_message"] == 8


def test_agents_of_one_job_are_not_told_apart(write: Write) -> None:
    both = using(
        "FTEJOB",
        got("SYSTEM.FTE.DATA.A", 5),
        got("SYSTEM.FTE.DATA.B", 7),
        put("SYSTEM.FTE.REPLY.C", 1),
    )
    rows = of("agent", report_rows("mft", write(both)))
    assert {row["agent"]: row["who"] for row in rows if row["agent"] != "C"} == {
        "A": "shared",
        "B": "shared",
    }
    assert all(row["window_size"] is None for row in rows)


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


def test_only_reports_of_edges_can_be_drawn(write: Write) -> None:
    path = str(write(*PAIR))
    drawn = CliRunner().invoke(main, ["report", "flow", path, "--format", "dot"])
    assert drawn.exit_code == 0
    assert '"job CICSA MVAA" -> "queue PAY.REQUEST MVAA/VTS1" [label="1000"];' in drawn.stdout
    refused = CliRunner().invoke(main, ["report", "log", path, "--format", "mermaid"])
    assert refused.exit_code == 2
    assert "choose another format, or the report flow" in refused.stderr


def test_a_name_of_a_group_that_is_too_long_is_refused(write: Write) -> None:
    path = str(write(*PAIR))
    refused = CliRunner().invoke(main, ["report", "flow", path, "--qsg", "TOOLONG"])
    assert refused.exit_code == 2
    assert "at most 4 characters" in refused.stderr


# -- real files


@needs_real_data
def test_clients_of_a_real_file() -> None:
    rows = report_rows("clients", real("TESTCHL.dat"))
    first = of("channel", rows)[0]
    names = "channel connections without_messages messages messages_per_connection control_calls"
    assert figures(first, names) == ["ELKINSC.TEST.SVRCONN", 44, 22, 2200, 50, 3333]
    programs = [
        [row["program"][-8:], *figures(row, "instances calls"), round(row["bytes_out"])]
        for row in of("program", rows)
    ]
    assert programs == [["getc.exe", 12, 1155, 415], ["putc.exe", 11, 1144, 495]]
    (chinit,) = of("channel initiator", rows)
    assert round(chinit["chinit_message_cpu"], 1) == 198.7


@needs_real_data
def test_flow_of_real_files() -> None:
    edges = of("edge", report_rows("flow", real("TESTCHL.dat")))
    assert [figures(row, "from_name to_name messages") for row in edges] == [
        ["ELKINSC.TEST.SVRCONN", "ELKINSC.CLIENT.TEST", 1100],
        ["ELKINSC.CLIENT.TEST", "ELKINSC.TEST.SVRCONN", 1100],
    ]
    (edge,) = of("edge", report_rows("flow", real("TEST116.dat")))
    assert figures(edge, "from_name to_name messages") == [
        "PRDC",
        "SYSTEM.CLUSTER.TRANSMIT.QUEUE",
        2,
    ]


@needs_real_data
def test_structures_and_cluster_queues_of_real_files() -> None:
    rows = of("structure", report_rows("shared", real("TEST115.dat")))
    found = [
        [row["structure"], row["single_calls"], row["multiple_calls"], round(row["multiple_us"], 1)]
        for row in rows
    ]
    assert found == [
        ["NONPERSIST1", 7059, 2867, 40.5],
        ["CSQ_ADMIN", 1243, 68, 621.7],
        ["PERSIST1", 0, 6, 12.6],
    ]
    users = of("user", report_rows("cluster", real("TEST116.dat")))
    assert [
        [row["opened"], row["persistent"], round(row["put_cpu"], 1), round(row["open_cpu"], 1)]
        for row in users
    ] == [["ENT.LGR.AUDITTLG.OUTPUT", 0, 80.4, 83.3], ["ENT.LGR.FBE.OUTPUT", 1, 127.0, 75.4]]
