"""Check finds what the answer keys of simulated days name: `make score` does it for more seeds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.tools import tool

pytestmark = pytest.mark.slow
SCORE = tool("score")
FEW = ("log-slow", "restart", "poison")


@pytest.mark.parametrize("scenario", FEW)
def test_the_first_finding_is_what_the_key_names(scenario: str, tmp_path: Path) -> None:
    assert dict(SCORE.troubles(scenario, [1], tmp_path)) == {1: ""}


@pytest.mark.long
@pytest.mark.parametrize("scenario", SCORE.scored())
def test_the_first_findings_of_days_are_what_their_keys_name(scenario: str, tmp_path: Path) -> None:
    wrong = {seed: text for seed, text in SCORE.troubles(scenario, range(1, 4), tmp_path) if text}
    assert wrong == {}
