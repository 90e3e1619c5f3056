"""The report application: a job or a channel on one page, who else is there, and findings."""

from __future__ import annotations

from pathlib import Path

import pytest

import smfparse
from smfparse.errors import RequestError
from tests.support.builders import Write
from tests.support.command import in_json, run
from tests.support.corpora import opened_corpus
from tests.support.paths import FIXTURE_FILES
from tests.support.real import REAL_DATA, needs_real_data
from tests.support.report_runs import Rows, lines_of, report_rows
from tests.support.report_runs import of as lines_of_kind
from tests.support.traffic import OTHER_PAIR, PAIR, put, using

NEAR = pytest.approx


def of(line: str, rows: Rows, application: str | None = None) -> Rows:
    return [row for row in lines_of_kind(line, rows) if application in (None, row["application"])]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("application") / "site.smf"
    queues = [put(f"Q{number}", 10, putct=1000.0 * number) for number in range(1, 4)]
    waiting = put("Q", 10, putet=5000.0, putct=700.0, putpset=300.0)
    records = [
        *PAIR, *OTHER_PAIR, using("", put("PAY.REQUEST", 7), channel="TO.QM02"),
        using("QM01CHIN", put("PAY.REQUEST", 20), channel="PAY.CLIENT"),
        using("MANY", *queues), using("WAITS", waiting),
    ]  # fmt: skip
    path.write_bytes(b"".join(records))
    return path


@pytest.mark.slow
def test_who_else_uses_its_queues_is_there_though_only_one_is_asked_for(site: Path) -> None:
    """The options are no selection here; Python has the same rows."""
    rows = in_json("report", "application", site, "--job", "CICSA")["rows"]
    assert {row["application"] for row in rows} == {"CICSA"}
    queues = {row["queue"]: (row["puts"], row["gets"]) for row in of("queue", rows)}
    assert queues == {"PAY.REQUEST": (1000, 0), "PAY.REPLY": (0, 998)}
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
    table = smfparse.open(site).report("application", job="CICSA")
    assert table.column("puts").to_pylist() == [row["puts"] for row in rows]


@pytest.mark.slow
def test_patterns_give_a_page_each_with_its_most_expensive_queues_and_times(site: Path) -> None:
    """TO.QM02 is a channel of no job."""
    with opened_corpus("site", site) as corpus:
        rows = corpus.rows("application", job=["cics?", "MANY", "waits"], top=2)
        of_channel = corpus.rows("application", channel="*", job="QM01*")
    names = [row["application"] for row in of("application", rows)]
    assert sorted(names) == ["CICSA", "CICSC", "MANY", "WAITS"]
    assert [row["queue"] for row in of("queue", rows, "MANY")] == ["Q3", "Q2"]
    parts = {row["part"]: row["elapsed_seconds"] for row in of("time", rows, "WAITS")}
    (whole,) = of("application", rows, "WAITS")
    verbs = of("verb", rows, "WAITS")
    assert whole["elapsed_seconds"] == NEAR(sum(row["elapsed_seconds"] for row in verbs))
    assert (parts["CPU"], parts["page sets"]) == NEAR((whole["cpu_seconds"], 300e-6))
    assert [row["application"] for row in of("application", of_channel)] == ["PAY.CLIENT"]


def test_without_a_page_the_command_says_why(site: Path) -> None:
    done = run("report", "application", site, "--job", "NOBODY", "--job", "NEITHER", code=8)
    assert done.stdout == ""
    assert done.stderr.startswith("smfparse: no records match job NEITHER,NOBODY; the input ")
    old = run("report", "application", FIXTURE_FILES[0], "--type", "115", "--job", "*", code=0)
    assert "no records for the report application match type 115; the input" in old.stderr


def test_without_a_name_it_lists_the_busiest_ten(write: Write) -> None:
    jobs = [using(f"JOB{number:02}", put("Q", number, putct=1e6 * number)) for number in range(15)]
    path = write(*jobs, *PAIR, using("", put("Q", 1, putct=99e6), channel="FROM.QM02"))
    done = run("report", "application", path)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "give --job or --channel" in done.stderr
    told = [word for word in done.stderr.replace(",", "").split() if word.isupper()]
    assert told == ["CPU", "FROM.QM02", *(f"JOB{number:02}" for number in range(14, 5, -1))]
    with pytest.raises(RequestError, match=r"job=JOB14 \(14\.\d+\), job=JOB13"):
        smfparse.open(path).report("application")


@needs_real_data
def test_the_page_of_a_real_job_says_how_much_of_its_time_mq_had() -> None:
    rows = report_rows("application", REAL_DATA / "TEST116.dat", job="PRDC")
    parts = {row["part"]: row["elapsed_seconds"] for row in of("time", rows)}
    verbs = {row["verb"]: row["elapsed_seconds"] for row in of("verb", rows)}
    found = (parts["forced log writes"], verbs["prepare"], verbs["commit"])
    assert found == NEAR((0.006592, 0.005540, 0.001218), abs=1e-6)
    lines = lines_of("application", rows, job="PRDC")
    assert "MQ used 0.4% of the time of this job: 0.007254 of 1.831 seconds." in lines
