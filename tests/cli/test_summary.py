"""smfparse summary: one screen a queue manager; smfparse trend: days against each other."""

from __future__ import annotations

import csv
import datetime as dt
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import smfparse.cli.output as output_module
from smfparse.cli.output import Output
from smfparse.inputs.opening import open_inputs
from smfparse.query.catalog import Catalog
from smfparse.rendering.formats import lines as written
from smfparse.simulating.reading_toml import load_estate
from smfparse.simulating.run import simulate
from smfparse.summarizing.figures import lines
from smfparse.summarizing.summary import BLOCKS, SummaryDocument, summarized
from smfparse.summarizing.trend import trended
from smfparse.summarizing.trend_printing import TrendDocument
from tests.support.builders import Write, foreign_record
from tests.support.command import run
from tests.support.generated import generate_dump
from tests.support.paths import FIXTURES

pytestmark = pytest.mark.slow
without_rules = pytest.mark.usefixtures("unjudged")

ABSENT = {"structure", "structure-requests", "shared-messages", "file-data"}
"""Lines of what the simulated bank has not: shared queues, Managed File Transfer."""
ALONE = {"client-connects": 1, "client-messages": 1}
"""Lines with fewer objects than they can show: the bank has one client."""
OLD = FIXTURES / "qm60.smf"
HEADER = foreign_record(2, local=dt.datetime(2026, 3, 4))


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated day in which a queue fills, in intervals of half an hour."""
    path = tmp_path_factory.mktemp("summary") / "day.smf"
    simulate(path, load_estate("restart", interval=dt.timedelta(minutes=30)))
    return path


def printed(*arguments: object) -> list[str]:
    result = run(*arguments, code=0)
    assert result.stderr == ""
    return result.stdout.splitlines()


def summary_of(path: Path) -> SummaryDocument:
    with Catalog(open_inputs([path])) as catalog:
        return SummaryDocument(summarized(catalog))


def test_a_day_is_one_screen_with_what_check_finds_first(day: Path) -> None:
    found = printed("summary", day)
    assert len(found) <= 45
    assert max(map(len, found)) <= 118
    assert found[0] == "QM01 on SYSA, MQ 9.4.0, 2026/03/04 00:00 to 2026/03/05 00:00"
    assert found[1] == "Complete: 48 intervals of 30 minutes, 1 gap (12 minutes in all), 1 restart"
    assert re.match(r"  SEV[1-5] [A-Z0-9-]+ QM01: ", found[2])
    for line in lines().values():
        shown = [each for each in found if each.startswith(line.label)]
        assert len(shown) == (0 if line.name in ABSENT else ALONE.get(line.name, line.top))
        assert all(each.endswith(f" {line.report}") for each in shown)
        assert all(set(each) & set(BLOCKS) for each in shown)
    assert not any(each.startswith("No data") for each in found)


@without_rules
def test_blocks_and_lines_are_what_a_terminal_can_show(monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding, can in (("utf-8", True), ("latin-1", False), ("none", False)):
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdout", SimpleNamespace(encoding=encoding))
            assert Output("text", None, force=False).can_show(BLOCKS) is can
            assert Output("text", Path("x"), force=False).can_show(BLOCKS)
    monkeypatch.setattr(Output, "can_show", lambda *_: False)
    for width in (118, 80):  # in 80 columns there is no room for a sparkline
        monkeypatch.setattr(output_module, "terminal_width", lambda width=width: width)
        found = printed("summary", OLD)
        text = "\n".join(found)
        assert ("\nLog written" in text, "From 09:00" in text) == (True, False)
        assert not {*text} & {*BLOCKS}
        assert all(len(each) <= width for each in found if "smfparse " not in each)


@without_rules
def test_programs_have_managers_figures_and_courses_also_of_one_interval(day: Path) -> None:
    document = summary_of(day)
    (found,) = json.loads("".join(written(document, "json")))["managers"]
    assert (found["system"], found["qmgr"], found["intervals"]) == ("SYSA", "QM01", 48)
    assert (found["gaps"], found["gap_seconds"], found["restarts"]) == (1, 720, 1)
    (log,) = (each for each in found["figures"] if each["name"] == "log-busy")
    assert len(log["over_time"]) == 48
    assert max(each for each in log["over_time"] if each is not None) == log["highest"]
    assert found["missing"] == []
    rows = list(csv.DictReader(written(document, "csv")))
    assert {each["name"] for each in rows} == {*lines()} - ABSENT
    (log,) = (each for each in rows if each["name"] == "log-written")
    assert 0 < float(log["mean"]) < float(log["highest"])
    short = printed("summary", day, "--from", "0800", "--to", "0829")
    assert short[0].endswith("2026/03/04 08:00 to 08:30")
    assert short[1] == "Complete: 1 interval of 30 minutes, no gap, no restart"


@without_rules
def test_queue_managers_have_a_screen_each_on_which_long_names_are_cut(tmp_path: Path) -> None:
    document = summary_of(generate_dump(tmp_path / "two.smf", queues=9, count=2))
    found = list(written(document, "text"))
    assert [each for each in found if " on SYSA, " in each] == [
        f"{qmgr} on SYSA, MQ 9.3.0, 2026/03/04 09:00 to 10:00" for qmgr in ("QM01", "QM02")
    ]
    assert max(map(len, found)) <= 118
    assert any(".." in each for each in found)
    page = "\n".join(written(document, "html"))
    assert "Buffer pool used, %" in page
    assert set(page) & set(BLOCKS)


@without_rules
def test_the_trace_or_release_that_is_missing_is_named() -> None:
    told = "Completeness unknown: no intervals of statistics, times are those of accounting records"
    for kind, words in {
        "115": ("\nLog written, MB/s", "CLASS(3): API calls/s", "\nNot written by MQ 6.0.0: "),
        "116": ("\nAPI calls/s", "START TRACE(STAT) CLASS(1): Log written", f"\n{told}\n"),
    }.items():
        found = "\n".join(printed("summary", OLD, "--type", kind))
        assert [each for each in words if each not in found] == []


@without_rules
def test_no_data_of_mq_is_said(write: Write) -> None:
    for command, purpose in (("summary", "summarize"), ("trend", "compare")):
        assert printed(command, write(HEADER)) == [
            f"No MQ statistics or class 3 accounting to {purpose}; "
            "smfparse info counts the records, smfparse report class1 shows class 1."
        ]


def test_the_last_day_is_compared_with_those_like_it_if_they_are_enough(tmp_path: Path) -> None:
    """Days from Wednesday to the Thursday of the next week, in intervals of six hours."""
    week = tmp_path / "week.smf"
    simulate(week, load_estate("payments", days=9, interval=dt.timedelta(hours=6)))
    assert printed("trend", week, "--to", "2026-03-06") == [
        "QM01 on SYSA, 3 days up to Friday 2026/03/06",
        "Too few days to compare: 2 earlier working days, but at least 3 are required.",
    ]
    found = printed("trend", week)
    assert found[0] == "QM01 on SYSA, 9 days up to Thursday 2026/03/12"
    assert found[1] == "The last day is compared with 6 earlier working days, hour by hour."
    assert max(map(len, found)) <= 118
    for label in ("Log written, MB/s", "31-bit storage used, %", "Job CPU, % of a CP"):
        assert any(each.startswith(label) for each in found)
    run("convert", week, "--to", tmp_path / "dataset", code=0)
    with Catalog(open_inputs([tmp_path / "dataset"])) as catalog:
        (trend,) = trended(catalog)
    document = TrendDocument([trend])
    assert list(written(document, "text")) == found
    (told,) = json.loads("".join(written(document, "json")))["managers"]
    assert (told["days"], told["last"], len(told["comparable"])) == (9, "2026-03-12", 6)
    assert told["new"] == {"channels": [], "queues": [], "jobs": []}
    rows = csv.DictReader(written(document, "csv"))
    for row, figure, course in zip(rows, told["figures"], trend.courses, strict=True):
        assert (row["name"], row["object"]) == (figure["name"], figure["object"])
        assert float(row["last"]) == figure["last"] == course.last
        assert (figure["usual_low"], figure["usual_high"]) == course.usual
