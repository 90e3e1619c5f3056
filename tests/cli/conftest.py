"""Fixtures of tests of commands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command import run


@pytest.fixture
def temporary(temporary: Path) -> Iterator[Path]:
    """The folder of temporary files; nothing is left there."""
    yield temporary
    assert not list(temporary.iterdir())


@pytest.fixture(scope="session")
def slow_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated day whose log is slow from 14:20 to 14:50."""
    path = tmp_path_factory.mktemp("day") / "log-slow.smf"
    made = run("generate", path, "--scenario", "log-slow")
    assert made.exit_code == 0, made.stderr
    return path
