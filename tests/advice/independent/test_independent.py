"""Check finds what is planted in independent days, and nothing serious in healthy ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.advice.independent.cases import cases
from tests.advice.independent.healthy import healthy
from tests.advice.independent.scoring import verdicts

pytestmark = pytest.mark.slow
TO_KNOW = 2
"""Findings of severity 4 that a healthy day may have; one on average is what is wanted."""


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", cases())
def test_what_is_planted_is_found_first(name: str, tmp_path: Path) -> None:
    (found,) = verdicts([name], tmp_path)
    assert found.wrong == ""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", healthy())
def test_a_healthy_day_has_nothing_serious(name: str, tmp_path: Path) -> None:
    (found,) = verdicts([name], tmp_path)
    assert found.wrong == ""
    assert found.to_know <= TO_KNOW
