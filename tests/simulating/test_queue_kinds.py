"""What is declared once and stands for more: cluster and model queues, aliases, agents."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from smfparse.errors import RequestError
from smfparse.simulating import read_estate, simulate
from tests.simulating.simulated import Day, simulated

pytestmark = pytest.mark.slow

OWN = {"queue_manager": "QM01", "kind": "batch", "curve": "flat", "persistent": False}
OPENED = """
    SELECT
        wtidccn, objname, basename, any_value(qtype_text), sum(putn)::BIGINT, sum(getdval)::BIGINT
    FROM wqst JOIN wtid USING (record_no) GROUP BY ALL ORDER BY ALL
"""


def site(queues: dict[str, Any], applications: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a site of one queue manager; queues and applications are its own."""
    manager = {"pools": {"1": {}}, "page_sets": {"4": {"pool": 1}}}
    return {
        "site": {"interval": "2h"},
        "curves": {"flat": {}},
        "queue_managers": {"QM01": manager},
        "queues": {name: {"queue_manager": "QM01", **each} for name, each in queues.items()},
        "applications": {name: {**OWN, "job": name, **each} for name, each in applications.items()},
        **more,
    }


def made(folder: Path, declared: dict[str, Any]) -> Day:
    simulate(folder / "day.smf", read_estate("kinds", declared))
    return Day(folder / "day.smf")


CLUSTERED = site(
    {"XMIT.A": {}, "XMIT.B": {}, "CLAIMS": {"cluster": {"XMIT.A": 0.75, "XMIT.B": 0.25}}},
    {
        "PUT": {"rate": 4.0, "put": {"CLAIMS": 1}},
        "SEND": {"get": ["XMIT.A", "XMIT.B"]},
    },
)


def test_what_is_put_to_a_cluster_queue_goes_to_transmission_queues(tmp_path: Path) -> None:
    day = made(tmp_path, CLUSTERED)
    put = {
        (opened, queue): (kind, count)
        for _, opened, queue, kind, count, _ in day.rows(OPENED)
        if count
    }
    whole = sum(count for _, count in put.values())
    assert {name: kind for name, (kind, _) in put.items()} == {
        ("CLAIMS", "XMIT.A"): "Cluster queue",
        ("CLAIMS", "XMIT.B"): "Cluster queue",
    }
    assert put["CLAIMS", "XMIT.A"][1] == pytest.approx(0.75 * whole, rel=0.001)
    assert day.rows("SELECT DISTINCT qqstqnam FROM qqst WHERE qqstqnam = 'CLAIMS'") == []


ASKING = site(
    {"ASK": {}, "ANSWER.MODEL": {"model": "ANSWER.", "index": "correlid"}},
    {
        "ASKER": {
            "rate": 6.0,
            "tasks": 3,
            "put": {"ASK": 1},
            "get": ["ANSWER.MODEL"],
            "by_id": True,
            "window": "08:00-18:00",
        },
        "SERVER": {"get": ["ASK"], "put": {"ANSWER.MODEL": 1}},
    },
)


def test_each_task_that_opens_a_model_queue_has_a_queue_of_its_own(tmp_path: Path) -> None:
    day = made(tmp_path, ASKING)
    rows = day.rows(OPENED)
    asked = [
        (opened, queue) for job, opened, queue, *_ in rows if job == "ASKER" and queue != "ASK"
    ]
    assert [opened for opened, _ in asked] == 3 * ["ANSWER.MODEL"]
    names = {queue for _, queue in asked}
    assert len(names) == 3
    assert names == {queue for job, _, queue, *_ in rows if job == "SERVER" and queue != "ASK"}
    assert day.one("SELECT count(*) FROM (SELECT DISTINCT wtasstrt, wtaswtas FROM wtas)") == 4
    assert day.rows("SELECT sum(qistdcre), sum(qistddel) FROM qist") == [(3, 3)]
    put, got = (sum(row[place] for row in rows if row[2] in names) for place in (4, 5))
    assert put == got > 100_000


def test_a_queue_may_be_opened_by_an_alias(tmp_path: Path) -> None:
    declared = site({"IN": {}}, {"PUT": {"rate": 1.0, "put": {"IN": 1}, "opens": {"IN": "OUT"}}})
    ((_, opened, queue, kind, *_),) = made(tmp_path, declared).rows(OPENED)
    assert (opened, queue, kind) == ("OUT", "IN", "Alias queue")


def test_an_agent_sends_files_acknowledges_them_and_saves_its_state(tmp_path: Path) -> None:
    day = simulated(tmp_path, "mft", interval=dt.timedelta(hours=2))
    sizes = {
        (job, queue): (put, got, size)
        for job, queue, put, got, size in day.rows("""
            SELECT
                wtidccn, basename, sum(putn)::BIGINT, sum(getdval)::BIGINT,
                sum(putbytes)::DOUBLE / sum(validput)
            FROM wqst JOIN wtid USING (record_no) WHERE basename LIKE 'SYSTEM.FTE.%' GROUP BY ALL
        """)
    }
    data = sizes["FILESRC", "SYSTEM.FTE.DATA.FILEDST"]
    assert data[2] == pytest.approx(262_144, rel=0.02)
    assert sizes["FILEDST", "SYSTEM.FTE.DATA.FILEDST"][1] == data[0]
    acknowledged = sizes["FILEDST", "SYSTEM.FTE.REPLY.FILESRC"]
    assert acknowledged[0] == pytest.approx(data[0] / 10, rel=0.001)
    for job in ("FILESRC", "FILEDST"):
        state = sizes[job, f"SYSTEM.FTE.STATE.{job}"]
        assert state[0] == pytest.approx(data[0] / 50, rel=0.02)
        assert state[2] == pytest.approx(8192, rel=0.02)


def test_a_channel_over_lu_62_has_the_name_of_an_lu(tmp_path: Path) -> None:
    declared = site(
        {"OUT": {}},
        {
            "PUT": {"rate": 2.0, "put": {"OUT": 1}},
            "SEND": {"kind": "channel", "channel": "TO.OLD", "get": ["OUT"]},
        },
        channels={
            "TO.OLD": {
                "queue_manager": "QM01",
                "type": "sender",
                "lu62": True,
                "connection": "NET1.OLDLU",
            }
        },
    )
    declared["queue_managers"]["QM01"]["channel_initiator"] = {
        "tcp_channels": 150,
        "lu62_channels": 7,
    }
    day = made(tmp_path, declared)
    assert day.rows("SELECT DISTINCT qcctmxtp, qcctmxlu FROM qcct") == [(150, 7)]
    assert day.rows("SELECT DISTINCT qcstcnnm FROM qcst") == [("NET1.OLDLU",)]
    declared["channels"]["TO.OLD"]["cipher"] = 49200
    with pytest.raises(RequestError, match=r"TO\.OLD: cipher needs TCP/IP"):
        read_estate("kinds", declared)


PUT = {"rate": 1.0, "put": {"C": 1}}
REFUSED = {
    "unknown name 'X'": site({"C": {"cluster": {"X": 1}}}, {"P": PUT}),
    "C is a cluster queue": site({"C": {"cluster": {"X": 1}}, "X": {}}, {"P": {"get": ["C"]}}),
    "puts to X by two names": site(
        {"C": {"cluster": {"X": 1}}, "X": {}}, {"P": {"rate": 1.0, "put": {"C": 1, "X": 1}}}
    ),
    "0 applications get": site({"M": {"model": "M."}}, {"P": {"rate": 1.0, "put": {"M": 1}}}),
    "who opens M stays connected": site({"M": {"model": "M."}}, {"P": {"get": ["M"], "stays": 5}}),
    "unknown name 'B'": site({}, {}, agents={"A": {"queue_manager": "QM01", "sends_to": "B"}}),
    "did you mean sends_to": site({}, {}, agents={"A": {"queue_manager": "QM01", "send_to": "A"}}),
    "did you mean model": site({"Q": {"models": "A."}}, {}),
}


def test_impossible_queues_are_refused() -> None:
    for reason, declared in REFUSED.items():
        with pytest.raises(RequestError, match=reason):
            read_estate("kinds", declared)
