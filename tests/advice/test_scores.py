"""Check finds what the answer keys of simulated days name: `make score` does it for more seeds."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import PROJECT

pytestmark = pytest.mark.slow
SEEDS = range(1, 4)


def _tool() -> Any:
    sys.path.insert(0, str(PROJECT / "tools"))
    try:
        return importlib.import_module("score")
    finally:
        sys.path.remove(str(PROJECT / "tools"))


SCORE = _tool()


@pytest.mark.parametrize("scenario", SCORE.scored())
def test_the_first_finding_is_what_the_key_names(scenario: str, tmp_path: Path) -> None:
    troubles = dict(SCORE.troubles(scenario, SEEDS, tmp_path))

    assert troubles == dict.fromkeys(SEEDS, "")
