"""Fixtures that the tests of several modules use."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import Write, rdw


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write records to a file."""

    def written(*records: bytes, name: str = "records.smf") -> Path:
        path = tmp_path / name
        path.write_bytes(rdw(records))
        return path

    return written
