"""Fixtures of tests of commands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def temporary(temporary: Path) -> Iterator[Path]:
    """The folder of temporary files; nothing is left there."""
    yield temporary
    assert not list(temporary.iterdir())
