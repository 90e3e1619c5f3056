"""What docs/coverage.md names is there: commands, options, rules, tests; and its marks are true."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple, cast

import click
import pytest

from smfparse import advice
from smfparse.cli import main
from smfparse.planning import planner_names
from tests.support.paths import PROJECT

MARKS = {"y", "p", "n", "x", "k"}
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


ROWS = {each.number: each for each in rows()}
CAPACITY = cast(click.Group, main.commands["capacity"])
every_row = pytest.mark.parametrize("row", ROWS.values(), ids=lambda each: str(each.number))


def claims() -> dict[int, set[str]]:
    """Return the tests that are marked with each claim, by reading the sources."""
    found: dict[int, set[str]] = {}
    for path in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                for each in node.decorator_list:
                    if ast.unparse(each).startswith("pytest.mark.claim("):
                        for number in cast(ast.Call, each).args:
                            found.setdefault(ast.literal_eval(number), set()).add(node.name)
    return found


def test_claims_have_numbers_of_their_own() -> None:
    assert sorted(ROWS) == [each.number for each in rows()] == list(range(1, len(ROWS) + 1))


@every_row
def test_a_row_has_a_mark_and_names_no_planner_that_is_not_there(row: Row) -> None:
    assert row.mark in MARKS
    assert not re.search(r"\bP(1[0-5]|[1-9])\b", row.missing + row.answered)


@every_row
def test_planners_that_a_row_names_are_there_with_their_options(row: Row) -> None:
    for part in re.findall(r"\bcapacity [^;:]*", row.answered):
        names = re.findall(r"(?:capacity|,) ([a-z]+)\b", part)
        options = re.findall(r"--[a-z-]+", part)
        assert set(names) <= set(planner_names()), part
        for option in options:
            assert option in {
                each for param in CAPACITY.commands[names[0]].params for each in param.opts
            }


@every_row
def test_rules_that_a_row_names_are_there(row: Row) -> None:
    known = {*advice.rules(), *advice.diagnoses()}
    for part in re.findall(r"check: ([^;]*)", row.answered):
        assert set(RULE.findall(part)) <= known


@every_row
def test_tests_that_a_row_names_are_there(row: Row) -> None:
    there = {path.stem for path in TESTS.rglob("test_*.py")}
    assert set(re.findall(r"\btest_\w+", row.answered)) <= there


def test_marked_tests_hold_claims_that_are_answered() -> None:
    held = claims()
    assert {number for number in held if ROWS[number].mark not in {"y", "k"}} == set()


def test_every_claim_that_a_planner_answers_is_held_by_a_test() -> None:
    answered = {
        row.number for row in ROWS.values() if "capacity" in row.answered and row.mark == "y"
    }
    assert answered - claims().keys() == set()
