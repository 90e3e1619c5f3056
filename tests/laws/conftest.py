"""Rules take most of the time of `check`; laws are about queue managers and their times."""

from __future__ import annotations

import pytest

from smfparse.advice.declaration import rules


@pytest.fixture
def one_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands find restarts only."""
    rule = "SMF-RESTART"
    monkeypatch.setattr("smfparse.advice.running.wanted", lambda limits: {rule: rules()[rule]})
