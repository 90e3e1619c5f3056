"""Check finds what the answer keys of simulated days name: `make score` does it for more seeds."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smfparse.simulating import answer_key, load_estate, scenario_names
from tests.support.paths import PROJECT

pytestmark = pytest.mark.slow
SEEDS = range(1, 4)
HEALTHY = "payments"


@pytest.fixture(scope="module")
def score() -> Iterator[Any]:
    """The tool."""
    sys.path.insert(0, str(PROJECT / "tools"))
    yield importlib.import_module("score")
    sys.path.remove(str(PROJECT / "tools"))


def _named() -> list[str]:
    return [each for each in scenario_names() if answer_key(load_estate(each)).answers()]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scenario", [*_named(), HEALTHY])
def test_the_first_finding_is_what_the_key_names(
    scenario: str, seed: int, score: Any, tmp_path: Path
) -> None:
    ((_, trouble),) = score.troubles(scenario, range(seed, seed + 1), tmp_path)

    assert trouble == ""
