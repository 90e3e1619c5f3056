"""smfparse capacity: planners on the command line, with an input and without."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import cast

import click
import pytest

from smfparse.cli import main
from smfparse.planning import planner, planner_names
from tests.support.builders import foreign_record, rdw
from tests.support.command import run
from tests.support.goldens import planners
from tests.support.paths import GOLDEN, SMF

GROUP = cast(click.Group, main.commands["capacity"])
every_planner = pytest.mark.parametrize("name", planner_names())


@pytest.mark.claim(15)
def test_without_an_input_the_published_example_is_answered() -> None:
    result = run("capacity", "channels")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == "How many channels the channel initiator has storage for: published values"
    (more,) = (each for each in lines if each.startswith("Channels more"))
    assert " ".join(more.split()) == "Channels more 4,643 floor(1,052 x 1024 / 232)"
    for title in ("What it stands on", "Where it holds", "What it cannot know"):
        assert title in lines


@every_planner
def test_every_planner_answers_with_an_input(name: str) -> None:
    result = run("capacity", name, SMF, "--format", "json")
    assert (result.exit_code, result.stderr) == (0, "")
    found = json.loads(result.stdout)
    assert found["planner"] == name
    for answer in found["answers"]:
        assert answer["figures"]
        for figure in answer["figures"]:
            assert isinstance(figure["value"], int | float)
        assert {each["from"] for each in answer["inputs"]} <= {"measured", "published"}


def test_times_of_a_zone_select_what_a_planner_measures() -> None:
    whole, utc, tokyo = (
        json.loads(run("capacity", "log", SMF, *asked, "--format", "json").stdout)["answers"]
        for asked in (
            (),
            ("--tz", "utc", "--from", "08:45", "--until", "09:15"),
            ("--tz", "Asia/Tokyo", "--from", "17:45", "--until", "18:15"),
        )
    )
    assert utc == tokyo != whole


@every_planner
def test_a_planner_explains_itself(name: str) -> None:
    lines = run("capacity", name, "--explain").stdout.splitlines()
    assert lines[0] == planner(name).title
    assert "Trace that MQ has to write" in lines
    assert any("FROM " in each for each in lines)


@every_planner
def test_the_help_of_an_option_begins_with_a_verb(name: str) -> None:
    options = [each for each in GROUP.commands[name].params if isinstance(each, click.Option)]
    for each in options:
        assert each.help is not None
        assert each.help.split()[0] in {
            "Set",
            "Print",
            "Select",
            "Colour",
            "Show",
            "Write",
            "Use",
            "Stop",
            "Keep",
            "Copy",
            "Replace",
        }, each.help
        assert each.help.endswith(".")
    names = [option for each in options for option in each.opts]
    assert len(names) == len(set(names))


def test_an_input_without_what_is_measured_says_the_trace(tmp_path: Path) -> None:
    path = tmp_path / "other.smf"
    path.write_bytes(rdw([foreign_record(2)]))
    result = run("capacity", "batches", path)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].endswith(": published values")
    assert "nothing that is measured for this" in lines[1]
    assert "START TRACE(ACCTG) CLASS(4) writes it" in lines[1]


@pytest.mark.parametrize("value", ["92us", "92 us", "92"])
def test_numbers_may_have_their_unit(value: str) -> None:
    found = json.loads(run("capacity", "log", "--log-io-time", value, "--format", "json").stdout)
    (asked,) = (each for each in found["answers"][0]["inputs"] if each["name"] == "log_io_time")
    assert (asked["value"], asked["from"]) == (92, "given")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["channels", "--message-kb", "128"],
            "--message-kb 128: published values are there for 1 to 64 KB only",
        ),
        (["channels", "--message-kb", "5000"], "--message-kb 5000: outside of 0 to 4,096 KB"),
        (["log", "--copies", "3"], "--copies 3: outside of 1 to 2"),
        (["cluster", "--gets-s", "1", "--puts-s", "2"], "--gets-s 1: the queue grows"),
        (["expiry", "--rate", "nan"], "--rate nan: outside of 0 and more"),
        (["expiry", "--rate", "inf"], "--rate inf: outside of 0 and more"),
    ],
)
def test_a_value_outside_the_range_is_refused_with_the_range(
    arguments: list[str], message: str
) -> None:
    result = run("capacity", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


@pytest.mark.parametrize(
    ("value", "message"),
    [("5x", "'5x' is not a number of KB"), ("", "'' is not a number of KB")],
)
def test_a_text_is_no_number(value: str, message: str) -> None:
    result = run("capacity", "channels", "--message-kb", value)
    assert result.exit_code == 2
    assert message in result.stderr


def test_csv_has_figures_and_inputs() -> None:
    rows = list(csv.DictReader(run("capacity", "tls", "--format", "csv").stdout.splitlines()))
    by_name = {row["name"]: row for row in rows}
    assert by_name["message_us"]["value"] == "121.875"
    assert by_name["message_us"]["kind"] == "figure"
    assert (by_name["sslrkeyc"]["kind"], by_name["sslrkeyc"]["how"]) == ("input", "published")


@pytest.mark.parametrize("form", ["md", "html"])
def test_documents_have_figures_and_sources(form: str) -> None:
    text = run("capacity", "expiry", "--format", form).stdout
    assert "300,000" in text
    assert "What it stands on" in text


def test_a_far_extrapolation_is_an_order_of_magnitude() -> None:
    given = ["--one-page-us", "1084.45", "--more-pages", "3.8639", "--more-pages-us", "1417.12"]
    result = run("capacity", "log", *given)
    (line,) = (each for each in result.stdout.splitlines() if each.startswith("With 128 pages"))
    assert "about 30 " in line
    assert "order of magnitude" in line


def test_explaining_prints_text_alone() -> None:
    result = run("capacity", "log", "--explain", "--format", "csv")
    assert result.exit_code == 2


def test_what_if_shows_now_and_then() -> None:
    lines = run("capacity", "whatif", SMF, "--load", "2").stdout.splitlines()
    headings = {tuple(each.split()) for each in lines if each.startswith("Figure")}
    assert headings == {("Figure", "Now", "Then", "Unit", "How")}
    found = json.loads(run("capacity", "whatif", "--load", "2", "--format", "json").stdout)
    by_name = {each["name"]: each for each in found["answers"][0]["figures"]}
    assert by_name["log_mb_s"]["value"] == 2 * by_name["log_mb_s"]["now"]


def test_what_all_planners_print_of_published_values_is_the_golden_file() -> None:
    assert planners() == (GOLDEN / "capacity.txt").read_text(encoding="utf-8")
