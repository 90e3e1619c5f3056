"""What tests of reading share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.reading import Read, Reading


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Return what comes of reading some bytes as a file of no telling name."""

    def reading(data: bytes, **options: Any) -> Reading:
        path = tmp_path / "input"
        path.write_bytes(data)
        return Reading(path, **options)

    return reading
