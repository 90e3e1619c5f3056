"""smfparse summary: one screen a queue manager, whatever there is of its data."""

from __future__ import annotations

import csv
import datetime as dt
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

import smfparse.cli.output as output_module
from smfparse.cli.output import Output
from smfparse.simulating import load_estate, simulate
from smfparse.summarizing import BLOCKS, lines
from tests.support.builders import foreign_record, rdw
from tests.support.command import run
from tests.support.generated import generate_dump

without_rules = pytest.mark.usefixtures("unjudged")

ABSENT = {"structure", "structure-requests", "shared-messages", "file-data"}
"""Lines of what the simulated bank has not: shared queues, Managed File Transfer."""
ALONE = {"client-connects": 1, "client-messages": 1}
"""Lines with fewer objects than they can show: the bank has one client."""
FIXTURES = Path(__file__).resolve().parent.parent.parent / "fixtures"


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated day in which a queue fills, in intervals of an hour."""
    path = tmp_path_factory.mktemp("summary") / "day.smf"
    simulate(path, load_estate("restart", interval=dt.timedelta(minutes=30)))
    return path


def printed(*arguments: object) -> list[str]:
    result = run("summary", *arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout.splitlines()


def test_a_day_is_one_screen(day: Path) -> None:
    found = printed(day)
    assert len(found) <= 45
    assert max(map(len, found)) <= 118
    assert found[0] == "QM01 on SYSA, MQ 9.4.0, 2026/03/04 00:00 to 2026/03/05 00:00"
    assert found[1] == "48 intervals of 30 minutes, 1 gap (12 minutes in all), 1 restart"
    assert f"smfparse check {day}" in "\n".join(found[2:6])
    for line in lines().values():
        shown = [each for each in found if each.startswith(line.label)]
        assert len(shown) == (0 if line.name in ABSENT else ALONE.get(line.name, line.top))
        assert all(each.endswith(f" {line.report}") for each in shown)
        assert all(set(each) & set(BLOCKS) for each in shown)
    assert not any(each.startswith("No data") for each in found)


def test_what_check_finds_stands_first(day: Path) -> None:
    found = printed(day)
    (first, *_) = json.loads(run("check", day, "--format", "json").stdout)["findings"]
    assert found[2].startswith(f"  {first['class']} {first['rule']} {first['qmgr']}")


@without_rules
def test_a_terminal_without_blocks_gets_the_figures_alone(
    day: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Output, "can_show", lambda *_: False)
    found = "\n".join(printed(day))
    assert "Log written" in found
    assert not set(found) & set(BLOCKS)


@pytest.mark.parametrize(
    ("encoding", "can"), [("utf-8", True), ("latin-1", False), ("none", False)]
)
def test_blocks_are_for_terminals_that_have_them(
    encoding: str, can: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout", SimpleNamespace(encoding=encoding))
    assert Output("text", None, force=False).can_show(BLOCKS) is can
    assert Output("text", Path("x"), force=False).can_show(BLOCKS)


@without_rules
def test_json_has_managers_figures_and_courses(day: Path) -> None:
    (found,) = json.loads(run("summary", day, "--format", "json").stdout)["managers"]
    assert (found["system"], found["qmgr"], found["intervals"]) == ("SYSA", "QM01", 48)
    assert (found["gaps"], found["gap_seconds"], found["restarts"]) == (1, 720, 1)
    (log,) = (each for each in found["figures"] if each["name"] == "log-busy")
    assert len(log["over_time"]) == 48
    assert max(each for each in log["over_time"] if each is not None) == log["highest"]
    assert found["missing"] == []


@without_rules
def test_csv_has_a_row_for_each_figure(day: Path) -> None:
    rows = list(csv.DictReader(run("summary", day, "--format", "csv").stdout.splitlines()))
    assert {each["name"] for each in rows} == {*lines()} - ABSENT
    assert {each["qmgr"] for each in rows} == {"QM01"}
    (log,) = (each for each in rows if each["name"] == "log-written")
    assert 0 < float(log["usual"]) < float(log["highest"])


@without_rules
@pytest.mark.parametrize("written", ["md", "html"])
def test_documents_have_the_courses(day: Path, written: str) -> None:
    found = run("summary", day, "--format", written).stdout
    assert "Buffer pool used, %" in found
    assert set(found) & set(BLOCKS)


@without_rules
def test_a_selection_is_a_shorter_day(day: Path) -> None:
    found = printed(day, "--from", "0800", "--to", "0929")
    assert found[0].endswith("2026/03/04 08:00 to 09:30")
    assert found[1] == "3 intervals of 30 minutes, no gap, no restart"


@without_rules
def test_several_queue_managers_have_a_screen_each(tmp_path: Path) -> None:
    found = printed(generate_dump(tmp_path / "two.smf"))
    assert [each for each in found if " on SYSA, " in each] == [
        "QM01 on SYSA, MQ 9.3.0, 2026/03/04 09:00 to 10:30",
        "QM02 on SYSA, MQ 9.3.0, 2026/03/04 09:00 to 10:30",
    ]


@without_rules
def test_long_names_are_cut_in_their_middle(tmp_path: Path) -> None:
    found = printed(generate_dump(tmp_path / "long.smf", qmgrs=["QM01"], queues=9, count=60))
    assert max(map(len, found)) <= 118
    assert any(".." in each for each in found)


@without_rules
@pytest.mark.parametrize(
    ("types", "there", "absent"),
    [
        ("115", "Log written, MB/s", "START TRACE(ACCTG) CLASS(3): API calls/s"),
        ("116", "API calls/s", "START TRACE(STAT) CLASS(1): Log written"),
    ],
)
def test_the_trace_that_is_missing_is_named(types: str, there: str, absent: str, day: Path) -> None:
    found = printed(day, "--type", types)
    assert any(each.startswith(there) for each in found)
    assert any(absent in each for each in found)


@without_rules
def test_accounting_alone_has_no_intervals(day: Path) -> None:
    found = printed(day, "--type", "116")
    assert found[1] == "No statistics intervals: the times are those of accounting records"


@without_rules
def test_one_interval_is_a_summary(day: Path) -> None:
    found = printed(day, "--from", "0900", "--to", "0929")
    assert found[1] == "1 interval of 30 minutes, no gap, no restart"


@without_rules
def test_an_old_release_is_said_what_it_lacks() -> None:
    found = printed(FIXTURES / "qm60.smf")
    assert "Page set used (MQ 9.0.0 or newer)" in "\n".join(found)
    assert any(each.startswith("Log written") for each in found)


@without_rules
def test_no_data_of_mq_is_said(tmp_path: Path) -> None:
    header = foreign_record(2, local=dt.datetime(2026, 3, 4))
    (tmp_path / "header.smf").write_bytes(rdw([header]))
    assert printed(tmp_path / "header.smf") == [
        "No MQ statistics or accounting to summarize; smfparse info counts what there is."
    ]


@without_rules
def test_a_selection_of_nothing_is_said(day: Path) -> None:
    result = run("summary", day, "--qmgr", "NONE")
    assert result.exit_code == 0
    assert "the selection matches no record" in result.stderr


@without_rules
def test_a_damaged_file_is_summarized_and_ends_with_4(day: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.smf").write_bytes(day.read_bytes()[:-5])
    result = run("summary", tmp_path / "cut.smf")
    assert result.exit_code == 4
    assert "Log written" in result.stdout


@pytest.mark.parametrize("width", [80, 100])
def test_lines_are_no_wider_than_the_terminal(
    width: int, day: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output_module, "terminal_width", lambda: width)
    found = printed(day)
    assert any("From 00:00" in each for each in found) == (width == 100)
    checked = run("check", day).stdout.splitlines()
    assert any("  evidence  " in each for each in checked)
    assert all(len(each) <= width for each in (*found, *checked) if "smfparse " not in each)
