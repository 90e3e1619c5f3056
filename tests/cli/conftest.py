"""Summaries without the rules of check, which take most of the time that a small file needs."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from smfparse.advice import Checked
from smfparse.query import Catalog


@pytest.fixture
def unjudged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let summaries find nothing wrong."""

    def no_rules(catalog: Catalog, also: Mapping[str, str]) -> Checked:
        for name, table in zip(also, catalog.arrows([*also.values()]), strict=True):
            catalog.connection.register(name, table)
        return Checked()

    monkeypatch.setattr("smfparse.summarizing.running.run_rules", no_rules)
