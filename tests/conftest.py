"""Fixtures that the tests of several modules use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.builders import Write, rdw
from tests.support.real import REAL_DATA, needs_real_data


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests of real files slow; searches are by `search`, other slow tests where they are."""
    for item in items:
        if _is_of_real_data(item):
            item.add_marker(pytest.mark.slow)


def _is_of_real_data(item: pytest.Item) -> bool:
    call = getattr(item, "callspec", None)
    paths = [each for each in call.params.values() if isinstance(each, Path)] if call else []
    return needs_real_data.mark in item.iter_markers() or any(
        REAL_DATA in each.parents for each in paths
    )


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
