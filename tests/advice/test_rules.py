"""Each rule, just above and just below its limit, below its sample, and where fields are absent."""

from __future__ import annotations

import csv
from collections import defaultdict
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from smfparse.advice import diagnoses, rules
from tests.support.advised import Case, cases, rank, states

FACTS = Path(__file__).parent.parent / "facts" / "advice.csv"
EXPECTED = {"above": {1}, "below": {0}, "few": {3}, "older": {None}, "alarm": {0, 2, 3, None}}
"""What at least one row of a case has to be; of `below` and `alarm` none is crossed."""


def _of_rank(case: Case) -> bool:
    """Whether a case says of which class a finding is: `rank_3`."""
    return case.name.startswith("rank_")


@pytest.mark.parametrize(
    "case",
    [each for each in cases() if not _of_rank(each)],
    ids=lambda each: f"{each.rule}-{each.name}",
)
def test_a_rule_crosses_where_it_is_said_to(case: Case) -> None:
    found = {state for state, _ in states(case.rule, case.rows, case.limits)}

    kind = case.name.split("_")[0]
    assert found & EXPECTED[kind]
    if kind != "above":
        assert 1 not in found


@pytest.mark.parametrize(
    "case", [*filter(_of_rank, cases())], ids=lambda each: f"{each.rule}-{each.name}"
)
def test_the_class_of_a_finding_depends_on_what_crossed(case: Case) -> None:
    assert rank(case.rule, case.rows) == int(case.name.split("_")[1])


def test_every_rule_has_its_cases() -> None:
    there = defaultdict(set)
    for case in cases():
        there[case.rule].add(case.name.split("_")[0])
    missing = {}
    for rule in rules().values():
        wanted = {"above", "below"} | ({"few"} if rule.minimum != "TRUE" else set())
        wanted |= {"older"} if rule.versions else set()
        wanted |= {"rank"} if rule.ranks else set()
        if lacks := wanted - there[rule.id]:
            missing[rule.id] = lacks

    assert not missing


def test_the_catalogue_is_what_is_published_and_nothing_else() -> None:
    with FACTS.open(encoding="utf-8") as file:
        published = {row["rule"]: set(row["classes"].split()) for row in csv.DictReader(file)}
    declared = {each.id: str(each.rank) for each in rules().values() if not each.is_sign}

    assert declared.keys() == published.keys()
    wrong = {name for name, rank in declared.items() if rank not in published[name]}
    assert not wrong


def test_diagnoses_name_rules_that_are_there() -> None:
    known = {*rules(), *diagnoses()}
    for which in diagnoses().values():
        named = {each.removesuffix("?") for group in which.needs for each in group}
        named |= {*which.core, *which.without, *which.explains} | {which.whose or which.core[0]}
        unknown = {each for each in named if not any(fnmatchcase(rule, each) for rule in known)}
        assert not unknown, which.id
    assert diagnoses().keys() == {f"D{number}" for number in range(1, 22)}


def test_texts_have_one_place_for_a_value() -> None:
    for rule in rules().values():
        for text in (rule.figure, *(text for text, _, _ in rule.evidence)):
            assert text.count("{}") == 1, rule.id
