"""Check finds what the answer keys of simulated days name: `make score` does it for more seeds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.tools import tool

pytestmark = pytest.mark.slow
SEEDS = range(1, 4)
SCORE = tool("score")


@pytest.mark.parametrize("scenario", SCORE.scored())
def test_the_first_finding_is_what_the_key_names(scenario: str, tmp_path: Path) -> None:
    troubles = dict(SCORE.troubles(scenario, SEEDS, tmp_path))

    assert troubles == dict.fromkeys(SEEDS, "")
