"""Check finds what is planted in independent days, and nothing serious in healthy ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from smfparse.advice.declaration import diagnoses, rules
from tests.advice.independent.cases import cases, healthy
from tests.advice.independent.scoring import AT_ONCE, verdicts
from tests.support.searching import spread

TO_KNOW = 2
"""Findings of severity 4 that a healthy day may have; one on average is what is wanted."""
CLASS_3, DAYS = 3, 3
FEW = [*spread([*cases()], 6), *spread([*healthy()], 2)]
REST = [each for each in (*cases(), *healthy()) if each not in FEW]


def test_each_rule_of_severity_1_to_3_and_each_diagnosis_has_three_days() -> None:
    """D5 has days of its own kinds; D21 cannot stand beside a bigger cause."""
    serious = [each for each, rule in rules().items() if rule.severity <= CLASS_3]
    named = Counter(each for case in cases().values() for each in {*case.first, *case.absent})
    assert [each for each in (*serious, *diagnoses()) if named[each] < DAYS] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        FEW,
        *(
            pytest.param(REST[at : at + AT_ONCE], marks=pytest.mark.long)
            for at in range(0, len(REST), AT_ONCE)
        ),
    ],
    ids=lambda names: names[0],
)
def test_what_is_planted_is_found_first_and_nothing_serious_elsewhere(
    names: Sequence[str], tmp_path: Path
) -> None:
    found = list(verdicts(names, tmp_path))
    assert [each.name for each in found] == list(names)
    assert [each.wrong for each in found if each.wrong] == []
    assert [each.name for each in found if each.name in healthy() and each.to_know > TO_KNOW] == []
