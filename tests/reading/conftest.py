"""What tests of reading share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from smfparse.reading.detection import probe
from tests.support.reading import Read, Reading


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of no telling name."""
    return tmp_path / "input"


@pytest.fixture
def read(path: Path) -> Read:
    """Return what comes of reading some bytes as a file of no telling name."""

    def reading(data: bytes, detected: str | None = None, **options: Any) -> Reading:
        path.write_bytes(data)
        assert detected is None or probe(path)[1].name == detected
        return Reading(path, **options)

    return reading
