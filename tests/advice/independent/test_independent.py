"""Check finds what is planted in independent days, and nothing serious in healthy ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.advice.independent.cases import cases
from tests.advice.independent.healthy import healthy
from tests.advice.independent.scoring import AT_ONCE, verdicts
from tests.support.searching import spread

TO_KNOW = 2
"""Findings of severity 4 that a healthy day may have; one on average is what is wanted."""
FEW = [*spread([*cases()], 6), *spread([*healthy()], 2)]
REST = [each for each in (*cases(), *healthy()) if each not in FEW]


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
