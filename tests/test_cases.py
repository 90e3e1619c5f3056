"""Small inputs after public questions and bug reports, whose right values are known.

They are beside the real data, with a README that says what is in them and what is right.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import smfparse
from smfparse import Selection
from tests.support.command import in_json, run
from tests.support.real import case, needs_real_data
from tests.support.searching import LONG

pytestmark = [pytest.mark.slow, needs_real_data]
without_rules = pytest.mark.usefixtures("unjudged")
both = pytest.mark.parametrize("name", ["edge", "leap27"])
HOURS = {"09:00": 3000, "10:00": 7000, "11:00": 11000}
"""Puts of the hours that edge.smf and leap27.smf have."""
STEADY = 1000 / 600
"""Gets per second of acct10.smf; those of stat1_acct30.smf are as many."""


def rows(name: str, report: str, **asked: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = smfparse.open(case(name)).report(report, **asked).to_pylist()
    return found


def manager(name: str, *more: object) -> dict[str, Any]:
    """Return what `summary` says of the only queue manager."""
    (found,) = in_json("summary", case(name), *more)["managers"]
    assert isinstance(found, dict)
    return found


def figure(told: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = (each for each in told["figures"] if each["name"] == name)
    assert isinstance(found, dict)
    return found


def page(name: str, folder: Path) -> str:
    path = folder / "page.html"
    run("dashboard", case(name), "--output", path, code=0)
    return path.read_text(encoding="utf-8")


def text(*arguments: object) -> str:
    """Return what a command prints, and what it says beside."""
    return run(*arguments).output


# Hours of class 3 ---------------------------------------------------------------------------------


@both
def test_hours_have_their_puts_in_every_report_by_themselves_and_if_selected(name: str) -> None:
    """`flow` of 10:00 to 10:59: 7000 messages, 1.944 a second."""
    for report, column in (("qputs", "putn"), ("msgm", "qmstput")):
        found = {f"{row['bucket']:%H:%M}": row[column] for row in rows(name, report, interval="1h")}
        assert found == HOURS
    costs = [row for row in rows(name, "api-cost", by="hour") if row["verb"] == "put"]
    calls = {str(row["hour"])[11:16]: row["calls"] for row in costs if row["calls"] is not None}
    assert calls == HOURS
    for hour in ("10:00", "09:00", "11:00") if LONG else ("10:00",):
        data = smfparse.open(case(name), Selection.of(since=hour, until=f"{hour[:2]}:59"))
        for report, column in (("qputs", "putn"), ("msgm", "qmstput"), ("flow", "messages")):
            found = data.report(report, total=True).to_pylist()
            (row,) = (each for each in found if each[column] is not None)
            assert row[column] == HOURS[hour], report
        assert row["rate"] == pytest.approx(HOURS[hour] / 3600, rel=1e-4)


# Intervals of class 3 alone -----------------------------------------------------------------------


@without_rules
def test_class_3_alone_has_the_rate_of_its_intervals_in_every_command(tmp_path: Path) -> None:
    """Six intervals of 10 minutes with 1000 gets each, from 9 to 10: 1.667 a second.

    Half of the first and of the last interval went once: 5,000 of 6,000. In stat1_acct30 intervals
    of statistics are shorter.
    """
    short, told = manager("stat1_acct30"), manager("acct10")
    assert (told["start"], told["end"]) == ("2026-05-11T09:00:00", "2026-05-11T10:00:00")
    for name in ("flow", "verb-calls"):
        found = figure(told, name)
        known = [each for each in found["over_time"] if each is not None]
        steady = [STEADY] * (len(known) + 2)
        assert [found["mean"], found["highest"], *known] == pytest.approx(steady, rel=1e-3)
        found = figure(short, name)
        assert (round(found["mean"], 2), round(found["highest"], 2)) == (1.67, 1.67)
    for asked in ({}, {"total": True}, {"interval": "10m"}):
        edges = [row for row in rows("acct10", "flow", **asked) if row["line"] == "edge"]
        assert edges
        assert [row["rate"] for row in edges] == pytest.approx([STEADY] * len(edges), rel=1e-3)
    shown = page("acct10", tmp_path)
    assert "6,000" in shown
    assert "5,000" not in shown
    for more in (("--job", "ONLYJOB"), ("--queue", "ONLY.Q"))[: None if LONG else 0]:
        found = figure(manager("acct10", *more), "flow")
        assert found["highest"] == pytest.approx(STEADY, rel=1e-3)
    (row,) = rows("acct10", "qgets", total=True)
    assert row["getn"] == 6000
    (cost,) = (each for each in rows("acct10", "api-cost") if each["verb"] == "get")
    assert (cost["calls"], cost["cpu_seconds"]) == (6000, pytest.approx(0.12))


def test_check_has_the_times_of_the_records() -> None:
    for name, shown, wrong in (
        ("acct10", "2026/05/11 09:00 to 10:00", "1970"),
        ("leap27", "2026/05/11 09:00 to 12:00", "09:00:27"),
        ("v701_115", "2012/03/05", "1970"),
    ):
        told = text("check", case(name))
        assert (shown in told, wrong in told) == (True, False), name


# Clocks and times ---------------------------------------------------------------------------------


@without_rules
def test_leap_seconds_of_the_tod_clock_are_taken_off() -> None:
    """Statistics and class 3 begin at 09:00:00, not at 09:00:27."""
    told = manager("leap27")
    assert (told["start"], told["end"]) == ("2026-05-11T09:00:00", "2026-05-11T12:00:00")
    query = """
        SELECT left(min({0})::VARCHAR, 19) AS start FROM {1} WHERE {0} IS NOT NULL
    """
    data = smfparse.open(case("leap27"))
    for names in (("interval_start", "qmst"), ("interval_start", "wqst"), ("wtasints", "wtas")):
        assert data.sql(query.format(*names)).to_pylist() == [{"start": "2026-05-11 07:00:00"}]
    said = text("info", case("leap27")).partition("Total")[2]
    assert "leap" in said
    assert "27" in said.replace("36,792", "").replace("leap27", "")


@without_rules
def test_records_without_intervals_are_of_their_smf_time(tmp_path: Path) -> None:
    told = manager("v701_115")
    assert told["start"].startswith("2012-03-05T09:")
    assert told["end"].startswith("2012-03-05T12:00")
    assert "1970-01-01" not in page("v701_115", tmp_path)
    for report in ("msgm", "log", "buff"):
        found = rows("v701_115", report)
        assert found
        for row in found:
            assert f"{row['smf_time']:%Y-%m-%d}" == "2012-03-05"
            for name in ("bucket", "interval_start", "interval_end"):
                assert row[name] is None or f"{row[name]:%Y-%m-%d}" == "2012-03-05"


# What SMF writes beside ---------------------------------------------------------------------------


@without_rules
def test_signature_records_are_no_damage_and_no_dump_headers() -> None:
    """They are counted by subtype."""
    for command in ("summary", "check", "info"):
        done = run(command, case("signed-none"), code=0)
        assert "no SMF record starts here" not in done.output
        assert "earlier dump" not in done.output
    assert done.stderr == ""
    (header,) = [each for each in done.stdout.splitlines() if "SMF dump header" in each]
    assert "SYSX" in header
    found = in_json("info", case("signed-none"))["groups"]
    assert {(each["type"], each["subtype"], each["records"]) for each in found} == {
        *((2, None, 1), (2, 1, 36), (2, 2, 12), (3, None, 1), (115, 2, 12), (116, 1, 36))
    }


def test_damage_near_the_start_does_not_hide_the_framing() -> None:
    """Doubled FF stay in `none`, and shift every byte behind them."""
    path = case("ftp-record-damaged")
    assert [each["framing"] for each in in_json("info", path, code=4)["inputs"]] == ["ftp-record"]
    sql = "SELECT qwhsdurn FROM record WHERE type = 115 AND subtype = 1 ORDER BY record_no LIMIT 1"
    assert smfparse.open(path).sql(sql)["qwhsdurn"].to_pylist() == [1792884543]


# Transactions -------------------------------------------------------------------------------------

TRANSACTIONS = {
    "ORD1": (40, 2600.0),
    "RPT9": (3, 27045.0),
    "PSBORD01": (1, 50.0),
    "PSBRPT02": (1, 100.0),
}
"""Tasks and CPU microseconds of the transactions and PSBs of tran.smf."""


def test_the_cost_of_a_region_is_known_by_transaction() -> None:
    def tasks_and_cpu(report: str, tasks: str = "tasks", **asked: Any) -> dict[str, Any]:
        return {
            row["transaction"]: (row[tasks], round(row["cpu_seconds"] * 1e6, 3))
            for row in rows("tran", report, by="transaction", **asked)
        }

    assert tasks_and_cpu("tasksum") == TRANSACTIONS
    connected = tasks_and_cpu("class1", "connections", total=True)
    assert connected == {name: TRANSACTIONS[name] for name in ("ORD1", "RPT9")}
    found = {
        row["transaction"]: (row["tasks"], round(row["task_cpu"] * row["tasks"], 3))
        for row in rows("tran", "api-cost", by="transaction")
        if row["line"] == "task"
    }
    assert found == TRANSACTIONS
    of_queues = rows("tran", "qall", by="transaction")
    assert {row["transaction"]: round(row["queue_cpu"], 3) for row in of_queues} == {
        name: cpu for name, (_, cpu) in TRANSACTIONS.items()
    }


@without_rules
def test_the_page_of_a_region_lists_its_transactions_and_that_of_a_transaction_is_its_own() -> None:
    region = rows("tran", "application", job="CICSAA1")
    found = {
        row["program"]: (row["tasks"], round(row["cpu_seconds"] * 1e6, 3))
        for row in region
        if row["line"] == "transaction"
    }
    assert found == {name: TRANSACTIONS[name] for name in ("ORD1", "RPT9")}
    (whole,) = (row for row in region if row["line"] == "application")
    assert (whole["gets"], whole["browses"]) == (0, 430)
    lines = rows("tran", "application", transaction="RPT9")
    (whole,) = (row for row in lines if row["line"] == "application")
    assert (whole["kind"], whole["application"], whole["tasks"]) == ("transaction", "RPT9", 3)
    assert round(whole["cpu_seconds"], 6) == 0.027045
    (queue,) = (row for row in lines if row["line"] == "queue")
    assert (queue["queue"], queue["opens"]) == ("ORD.IN", 3)


@without_rules
def test_a_transaction_is_selected_and_shown() -> None:
    named = smfparse.open(case("tran"), Selection.of(transaction="RPT9"))
    found = named.sql("SELECT job, transaction, cics_task, cpu FROM task ORDER BY cics_task")
    assert found.to_pylist() == [
        {"job": "CICSAA1", "transaction": "RPT9", "cics_task": number, "cpu": 9015.0}
        for number in (1040, 1041, 1042)
    ]
    shown = text("report", "task", case("tran"), "--transaction", "PSBRPT*")
    assert "IMS PSB                  PSBRPT02" in shown
    assert "CICS transaction" not in shown
    drawn = [each for each in manager("tran")["figures"] if each["name"] == "transaction-cpu"]
    assert [each["object"] for each in drawn][:2] == ["CICSAA1 RPT9", "CICSAA1 ORD1"]


def test_the_time_of_the_dump_job_is_not_that_of_the_records() -> None:
    for name in ("signed-none", "lost"):
        assert "duration 7200 seconds" in text("report", "smf-volume", case(name))
        (total,) = (it for it in text("info", case(name)).splitlines() if it.startswith("Total"))
        assert total.endswith("2026/05/11 09:10:00  2026/05/11 11:00:00")


def test_three_active_logs_last_90_minutes_at_the_peak() -> None:
    given = ("--log-size", "1GB", "--logs", "3", "--copies", "2")
    (answer,) = in_json("capacity", "log", case("active-log"), *given)["answers"]
    found = {each["name"]: each["value"] for each in answer["figures"]}
    inputs = {each["name"]: each["value"] for each in answer["inputs"]}
    near = {"hourly_gb": 0.8, "hour_gb": 2, "half_day_gb": 16.8}
    assert {name: inputs[name] for name in near} == pytest.approx(near, rel=1e-4)
    near = {"full_h": 3.75, "full_peak_h": 1.5, "full_half_day_h": 36 / 16.8, "log_minutes": 30}
    assert {name: found[name] for name in near} == pytest.approx(near, rel=1e-4)
    assert (found["logs_needed"], found["active_gb"]) == (17, 6)
    pages = smfparse.open(case("active-log")).sql("SELECT sum(qjstciof)::BIGINT AS n FROM qjst")
    assert found["behind_logs"] == pytest.approx(19.2 - pages.to_pylist()[0]["n"] / 2**18, rel=1e-4)
    shown = text("capacity", "log", case("active-log"), *given, "--outage-hours", "24")
    assert "Logs per copy for 24 hours without archiving                34" in shown
