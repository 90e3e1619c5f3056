"""One day of two queue managers, and its page."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

import smfparse
from tests.support.generated import generate_dump
from tests.support.pages import page_of, payload_in


@pytest.fixture(scope="session")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """From 09:00 to 12:00 local time, which is two hours ahead."""
    path, east = tmp_path_factory.mktemp("dashboard") / "day.smf", dt.timedelta(hours=2)
    return generate_dump(path, version="10.0.0", count=6, utc_offset=east)


@pytest.fixture(scope="session")
def page(day: Path) -> str:
    """The text of page.html, which is beside the day."""
    return page_of(smfparse.open(day), day.parent)


@pytest.fixture(scope="session")
def payload(page: str) -> Any:
    return payload_in(page)
