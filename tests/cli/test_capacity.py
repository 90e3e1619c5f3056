"""smfparse capacity: planners on the command line, with an input and without."""

from __future__ import annotations

import csv
import json
import re

import pytest

from smfparse.planning.plans import planner, planner_names
from tests.support.builders import Write, foreign_record
from tests.support.command import in_json, run
from tests.support.goldens import planners
from tests.support.paths import GOLDEN, SMF


@pytest.mark.claim(15)
def test_what_all_planners_print_of_published_values_is_the_golden_file() -> None:
    assert planners() == (GOLDEN / "capacity.txt").read_text(encoding="utf-8")


@pytest.mark.slow
def test_every_planner_explains_itself_and_one_answers_with_an_input() -> None:
    """What planners measure of an input, tests/planning and tests/library hold."""
    for name in planner_names():
        lines = run("capacity", name, "--explain").stdout.splitlines()
        assert lines[0] == planner(name).title
        assert "Required trace" in lines
        assert any("FROM " in each for each in lines)
    result = run("capacity", "log", SMF, "--format", "json", code=0)
    assert result.stderr == ""
    (answer, *_) = json.loads(result.stdout)["answers"]
    assert all(isinstance(each["value"], int | float) for each in answer["figures"])
    assert {each["from"] for each in answer["inputs"]} == {"measured", "published"}


def test_an_input_without_what_is_measured_says_the_trace(write: Write) -> None:
    lines = run("capacity", "batches", write(foreign_record(2)), code=0).stdout.splitlines()
    assert lines[0].endswith(": published values")
    assert "contains no measurements for this planner" in lines[1]
    assert "START TRACE(ACCTG) CLASS(4) writes them" in lines[1]


WRONG = {
    "channels --message-kb 128": "--message-kb 128: published values exist for 1 to 64 KB only",
    "channels --message-kb 5000": "--message-kb 5000: must be 0 to 4,096 KB",
    "channels --message-kb 5x": "'5x' is not a number, with or without KB",
    "channels --message-kb=": "'' is not a number, with or without KB",
    "log --copies 3": "--copies 3: must be 1 to 2",
    "cluster --gets-s 1 --puts-s 2": "--gets-s 1: must exceed 2, the puts per second",
    "expiry --rate nan": "--rate nan: must be 0 or more",
    "expiry --rate inf": "--rate inf: must be 0 or more",
    "log --explain --format csv": "--explain",
}


def test_a_wrong_value_is_refused_with_its_range() -> None:
    for call, message in WRONG.items():
        result = run("capacity", *call.split(), code=2)
        assert (result.stdout, message in result.stderr) == ("", True), call


def test_figures_and_inputs_are_shown_with_or_without_a_unit_and_rough_ones_as_such() -> None:
    rows = list(csv.DictReader(run("capacity", "tls", "--format", "csv").stdout.splitlines()))
    by_name = {row["name"]: (row["kind"], row["value"], row["how"]) for row in rows}
    assert by_name["message_us"][:2] == ("figure", "121.875")
    assert by_name["sslrkeyc"][::2] == ("input", "published")
    for form in ("md", "html"):
        text = run("capacity", "expiry", "--format", form).stdout
        assert ("300,000" in text, "Sources" in text) == (True, True)
    for option, values, wanted in (
        ("--log-io-time", ("92us", "92 us", "92"), 92),
        ("--log-size", ("4GB", "4096MB", "4194304 KB", "4"), 4),
    ):
        for value in values:
            inputs = in_json("capacity", "log", option, value)["answers"][0]["inputs"]
            (asked,) = (each["value"] for each in inputs if each["from"] == "given")
            assert asked == wanted, value
    given = ["--one-page-us", "1084.45", "--more-pages", "3.8639", "--more-pages-us", "1417.12"]
    lines = run("capacity", "log", *given).stdout.splitlines()
    (far,) = (each for each in lines if each.startswith("With 128 pages"))
    assert re.search("about 30 .*order of magnitude", far)


def test_what_if_shows_now_and_then() -> None:
    lines = run("capacity", "whatif", SMF, "--load", "2").stdout.splitlines()
    headings = {tuple(each.split()) for each in lines if each.startswith("Figure")}
    assert headings == {("Figure", "Now", "Then", "Unit", "How")}
    found = in_json("capacity", "whatif", "--load", "2")
    by_name = {each["name"]: each for each in found["answers"][0]["figures"]}
    assert by_name["log_mb_s"]["value"] == 2 * by_name["log_mb_s"]["now"]
