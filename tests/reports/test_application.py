"""The report application: a job or a channel on one page, who else is there, and findings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import smfparse
from smfparse.errors import RequestError
from smfparse.simulating import load_estate, simulate
from tests.support.builders import Write
from tests.support.command import run
from tests.support.paths import FIXTURE_FILES
from tests.support.real import REAL_DATA, needs_real_data
from tests.support.report_runs import report_lines, report_rows
from tests.support.traffic import OTHER_PAIR, PAIR, got, put, using

Rows = list[dict[str, Any]]
US = pytest.approx


def page(*paths: Path, **asked: Any) -> Rows:
    return report_rows("application", *paths, **asked)


def of(line: str, rows: Rows) -> Rows:
    return [row for row in rows if row["line"] == line]


@pytest.fixture
def site(write: Write) -> Path:
    return write(
        *PAIR, *OTHER_PAIR, using("", put("PAY.REQUEST", 7), channel="TO.QM02"),
        using("QM01CHIN", put("PAY.REQUEST", 20), channel="PAY.CLIENT"),
    )  # fmt: skip


def test_who_else_uses_its_queues_is_there_though_only_one_is_asked_for(site: Path) -> None:
    rows = page(site, job="CICSA")
    assert {row["application"] for row in rows} == {"CICSA"}
    queues = {row["queue"]: row for row in of("queue", rows)}
    assert {name: (row["puts"], row["gets"]) for name, row in queues.items()} == {
        "PAY.REQUEST": (1000, 0),
        "PAY.REPLY": (0, 998),
    }
    others = {
        (row["queue"], row["other_job"], row["other_channel"]): (row["puts"], row["gets"])
        for row in of("user", rows)
    }
    assert others == {
        ("PAY.REPLY", "PAYSRV", None): (1000, 0),
        ("PAY.REQUEST", "PAYSRV", None): (0, 1000),
        ("PAY.REQUEST", "", "TO.QM02"): (7, 0),
        ("PAY.REQUEST", "QM01CHIN", "PAY.CLIENT"): (20, 0),
    }


def test_a_pattern_or_several_give_a_page_each(site: Path) -> None:
    names = [row["application"] for row in of("application", page(site, job="cics?"))]
    assert names == ["CICSA", "CICSC"]
    names = [row["application"] for row in of("application", page(site, job=["PAYSRV", "CICSC"]))]
    assert names == ["CICSC", "PAYSRV"]
    by_channel = of("application", page(site, channel="*"))
    assert [row["application"] for row in by_channel] == ["PAY.CLIENT", "TO.QM02"]
    both = of("application", page(site, job="QM01*", channel="*"))
    assert [row["application"] for row in both] == ["PAY.CLIENT"]


def test_a_job_that_nobody_knows_has_no_page(site: Path) -> None:
    assert page(site, job="NOBODY") == []
    done = run("report", "application", site, "--job", "NOBODY")
    assert (done.exit_code, "START TRACE(ACCTG) CLASS(3)" in done.stderr) == (0, True)


def test_without_a_name_it_lists_the_busiest_ten(site: Path, write: Write) -> None:
    jobs = [using(f"JOB{number:02}", put("Q", number, putct=1e6 * number)) for number in range(15)]
    path = write(*jobs, *PAIR, using("", put("Q", 1, putct=99e6), channel="FROM.QM02"), name="b")
    done = run("report", "application", path)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "give --job or --channel" in done.stderr
    told = [word for word in done.stderr.replace(",", "").split() if word.isupper()]
    assert told == ["CPU", "FROM.QM02", *(f"JOB{number:02}" for number in range(14, 5, -1))]
    with pytest.raises(RequestError, match=r"job=JOB14 \(14\.\d+\), job=JOB13"):
        smfparse.open(path).report("application")


def test_inputs_without_class_3_say_which_trace_is_missing() -> None:
    done = run("report", "application", FIXTURE_FILES[0], "--type", "115")
    assert done.exit_code == 0
    assert "START TRACE(ACCTG) CLASS(3)" in done.stderr


def test_parts_of_its_time_overlap_and_the_rest_is_what_is_left(write: Write) -> None:
    queue = put("Q", 10, putet=5000.0, putct=700.0, putpset=300.0)
    rows = page(write(using("A", queue)), job="A")
    parts = {row["part"]: row["elapsed_seconds"] for row in of("time", rows)}
    (whole,) = of("application", rows)
    assert whole["elapsed_seconds"] == pytest.approx(
        sum(row["elapsed_seconds"] for row in of("verb", rows))
    )
    assert parts["CPU"] == pytest.approx(whole["cpu_seconds"])
    assert parts["page sets"] == pytest.approx(300e-6)


def test_python_has_the_same_rows_as_json(site: Path) -> None:
    table = smfparse.open(site).report("application", job="CICSA")
    done = run("report", "application", site, "--job", "CICSA", "--format", "json")
    told = json.loads(done.stdout)["rows"]
    assert [row["line"] for row in table.to_pylist()] == [row["line"] for row in told]
    assert table.column("puts").to_pylist() == [row["puts"] for row in told]


def test_the_options_are_no_selection_here(site: Path) -> None:
    """Else nobody else would be there; elsewhere they are one."""
    rows = json.loads(
        run("report", "application", site, "--job", "PAYSRV", "--format", "json").stdout
    )["rows"]
    assert "CICSA" in {row["other_job"] for row in rows}
    tasks = run("report", "task", site, "--job", "PAYSRV").stdout
    assert "PAYSRV" in tasks
    assert "CICSA" not in tasks


def test_top_keeps_the_dearest_queues_of_each_page(write: Write) -> None:
    queues = [put(f"Q{number}", 10, putct=1000.0 * number) for number in range(5)]
    rows = page(write(using("A", *queues), using("B", got("Q4", 1), got("Q3", 1))), job="*", top=2)
    assert [(row["application"], row["queue"]) for row in of("queue", rows)][:2] == [
        ("A", "Q4"),
        ("A", "Q3"),
    ]


def test_findings_are_those_of_check_about_it_and_its_queues(tmp_path: Path) -> None:
    estate = load_estate("scan")
    simulate(tmp_path / "scan.smf", estate, 1)
    found = [
        each
        for each in smfparse.open(tmp_path / "scan.smf").check().findings
        if each.object or each.job
    ]
    first = next(each for each in found if each.job and each.object)
    rows = page(tmp_path / "scan.smf", job=first.job)
    shown = [(row["class"], row["rule"], row["object"]) for row in of("finding", rows)]
    assert (first.rank, first.rule, first.object) in shown
    queues = {row["queue"] for row in of("queue", rows)}
    assert {name for *_, name in shown} <= queues | {first.job, ""}
    assert shown == sorted(shown, key=lambda each: each[0])


@needs_real_data
def test_real_files_have_the_figures_that_their_tables_have() -> None:
    rows = page(REAL_DATA / "TESTCHL.dat", channel="ELKINSC*")
    (whole,) = of("application", rows)
    assert (whole["tasks"], whole["calls"], whole["commits"], whole["backouts"]) == (
        *(44, 6081),
        *(22, 64),
    )
    assert whole["elapsed_seconds"] == US(0.095210, abs=1e-6)
    assert whole["cpu_seconds"] == US(0.088821, abs=1e-6)
    (queue,) = of("queue", rows)
    assert (queue["queue"], queue["opens"], queue["puts"], queue["gets"]) == (
        *("ELKINSC.CLIENT.TEST", 22),
        *(1100, 1100),
    )
    assert queue["cpu_seconds"] == US(0.0785, abs=1e-6)
    assert queue["elapsed_seconds"] == US(0.081067, abs=1e-6)
    assert "CHL-CTL" in {row["rule"] for row in of("finding", rows)}


@needs_real_data
def test_the_page_of_a_real_job_says_how_much_of_its_time_mq_had() -> None:
    path = REAL_DATA / "TEST116.dat"
    rows = page(path, job="PRDC")
    parts = {row["part"]: row["elapsed_seconds"] for row in of("time", rows)}
    assert parts["forced log writes"] == US(0.006592, abs=1e-6)
    verbs = {row["verb"]: row["elapsed_seconds"] for row in of("verb", rows)}
    assert verbs["prepare"] == US(0.005540, abs=1e-6)
    assert verbs["commit"] == US(0.001218, abs=1e-6)
    lines = report_lines("application", path, job="PRDC")
    assert "MQ had 0.4 % of this job's time: 0.007254 of 1.831 seconds." in lines
