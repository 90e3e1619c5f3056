"""Check finds what the answer keys of simulated days name: `make score` does it for more seeds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.searching import of_many, pairs
from tests.support.tools import tool

pytestmark = pytest.mark.slow
SEEDS = range(1, 4)
SCORE = tool("score")


@of_many("scenario, seed", pairs(SCORE.scored(), SEEDS))
def test_the_first_finding_is_what_the_key_names(scenario: str, seed: int, tmp_path: Path) -> None:
    assert dict(SCORE.troubles(scenario, [seed], tmp_path)) == {seed: ""}
