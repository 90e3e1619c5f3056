"""Fixtures of tests of commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from smfparse.advice import Checked
from smfparse.query import Catalog
from tests.support.command import run


@pytest.fixture
def unjudged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let summaries find nothing: rules take most of the time that a small input needs."""

    def no_rules(catalog: Catalog, also: Mapping[str, str]) -> Checked:
        for name, table in zip(also, catalog.arrows([*also.values()]), strict=True):
            catalog.connection.register(name, table)
        return Checked()

    monkeypatch.setattr("smfparse.summarizing.running.run_rules", no_rules)


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
