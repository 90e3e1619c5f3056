"""Where things are, whichever folder a test is in."""

from __future__ import annotations

from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
FIXTURES = PROJECT / "fixtures"
GOLDEN = PROJECT / "tests" / "golden"
FACTS = PROJECT / "tests" / "facts"

FIXTURE_FILES = sorted(FIXTURES.glob("*.smf"))
SMF = FIXTURES / "qm01-930.smf"
"""The fixture of the newest queue manager, where one will do."""
