"""Each rule, just above and just below its limit, below its sample, and where fields are absent."""

from __future__ import annotations

from collections import defaultdict

import pytest

from smfparse.advice import rules
from tests.support.advised import Case, cases, rank, states

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
