"""Fixtures of tests of commands."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from smfparse.advice import Checked
from smfparse.query import Catalog
from tests.support.once import worked_out_once

__all__ = ["unjudged", "worked_out_once"]


@pytest.fixture
def unjudged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let summaries find nothing wrong."""

    def no_rules(catalog: Catalog, also: Mapping[str, str]) -> Checked:
        for name, table in zip(also, catalog.arrows([*also.values()]), strict=True):
            catalog.connection.register(name, table)
        return Checked()

    monkeypatch.setattr("smfparse.summarizing.running.run_rules", no_rules)
