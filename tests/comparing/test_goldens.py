"""What compare divides by what: the golden of two sites, with names that differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import goldens
from tests.support.paths import GOLDEN


@pytest.mark.slow
def test_a_comparison_is_the_golden(tmp_path: Path) -> None:
    found = goldens.of_comparisons(tmp_path)
    assert goldens.difference(GOLDEN / "compare.json", found) is None
