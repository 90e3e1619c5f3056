"""The real SMF files, which are not part of the project: tests of them are skipped without."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.paths import FIXTURE_FILES, PROJECT

_VARIABLE = "SMFPARSE_REAL_DATA"


def _real_data() -> Path | None:
    named = os.environ.get(_VARIABLE)
    if named is not None:
        return Path(named) if named else None
    beside = PROJECT.parent / "shared" / "data"
    return beside if beside.is_dir() else None


REAL_DATA: Path | None = _real_data()
"""The folder named by $SMFPARSE_REAL_DATA, else ../shared/data beside the project, else None."""

FILES = FIXTURE_FILES + sorted(REAL_DATA.glob("*.dat") if REAL_DATA else [])
"""All fixtures, and the real files where they are."""
every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
"""Run a test on each of them."""

needs_real_data = pytest.mark.skipif(
    REAL_DATA is None,
    reason=f"no real SMF files: set ${_VARIABLE} to their folder, or have ../shared/data",
)


def case(name: str) -> Path:
    """Return one of the small inputs after public questions; skip the test without it."""
    if REAL_DATA is None or not (path := REAL_DATA / "cases" / f"{name}.smf").exists():
        pytest.skip(f"no {name}.smf")
    return path
