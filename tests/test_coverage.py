"""Commands, options, rules and tests that docs/coverage.md names exist; its marks are true."""

from __future__ import annotations

import re
from typing import NamedTuple, cast

import click

from smfparse import advice
from smfparse.cli import main
from smfparse.planning import planner_names
from tests.support.paths import PROJECT

TESTS = PROJECT / "tests"
RULE = re.compile(r"\b(?:[A-Z]+(?:-[A-Z0-9]+)+|D\d+)\b")


class Row(NamedTuple):
    number: int
    answered: str
    mark: str
    missing: str


def rows() -> list[Row]:
    text = (PROJECT / "docs" / "coverage.md").read_text("utf-8")
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if re.match(r"\| \d+ \|", line)
    ]
    return [Row(int(each[0]), each[3], each[4], each[5]) for each in cells]


ROWS = rows()


def claims() -> set[int]:
    """Return the numbers of `pytest.mark.claim`, by reading the sources."""
    return {
        int(number)
        for path in TESTS.rglob("test_*.py")
        for held in re.findall(r"^@pytest\.mark\.claim\((.*)\)", path.read_text("utf-8"), re.M)
        for number in held.split(", ")
    }


def test_rows_have_numbers_and_marks_and_name_planners_by_their_names() -> None:
    assert [each.number for each in ROWS] == list(range(1, len(ROWS) + 1))
    assert {each.mark for each in ROWS} <= {"y", "p", "n", "x", "k"}
    of_planner = re.compile(r"\bP(1[0-5]|[1-9])\b")
    assert [each for each in ROWS if of_planner.search(each.missing + each.answered)] == []


def test_planners_that_rows_name_exist_with_their_options() -> None:
    commands = cast(click.Group, main.commands["capacity"]).commands
    parts = [part for row in ROWS for part in re.findall(r"\bcapacity [^;:]*", row.answered)]
    assert parts
    for part in parts:
        names = re.findall(r"(?:capacity|,) ([a-z]+)\b", part)
        assert set(names) <= set(planner_names()), part
        known = {each for param in commands[names[0]].params for each in param.opts}
        assert set(re.findall(r"--[a-z-]+", part)) <= known, part


def test_rules_and_tests_that_rows_name_exist() -> None:
    rules = {*advice.rules(), *advice.diagnoses()}
    files = {path.stem for path in TESTS.rglob("test_*.py")}
    for row in ROWS:
        for part in re.findall(r"check: ([^;]*)", row.answered):
            assert set(RULE.findall(part)) <= rules, row
        assert set(re.findall(r"\btest_\w+", row.answered)) <= files, row


def test_a_claim_is_answered_and_every_claim_of_a_planner_is_held_by_a_test() -> None:
    marks = {row.number: row.mark for row in ROWS}
    assert {marks[number] for number in claims()} <= {"y", "k"}
    planned = {row.number for row in ROWS if "capacity" in row.answered and row.mark == "y"}
    assert planned - claims() == set()
