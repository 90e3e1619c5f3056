"""Fixtures that the tests of several modules use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.builders import Write, rdw


@pytest.fixture(scope="session", autouse=True)
def _no_disk_to_wait_for() -> Iterator[None]:
    """What tests write need not outlive a power cut, and waiting for the disk takes longer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda number: None)
        yield


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write records to a file."""

    def written(*records: bytes, name: str = "records.smf") -> Path:
        path = tmp_path / name
        path.write_bytes(rdw(records))
        return path

    return written
