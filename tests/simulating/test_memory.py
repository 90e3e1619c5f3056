"""A month of three queue managers takes no more memory than three days of them."""

from __future__ import annotations

import datetime as dt
import os
import tracemalloc

import pytest

from smfparse.simulating import load_estate, simulate

pytestmark = pytest.mark.slow


def most(days: int) -> int:
    """Return the bytes that were allocated at most while some days were written to nowhere."""
    estate = load_estate("cluster", days=days, interval=dt.timedelta(hours=4))
    assert len(estate.queue_managers) == 3
    tracemalloc.start()
    try:
        with open(os.devnull, "wb") as nowhere:
            simulate(nowhere, estate)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_days(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks are of some hours here, so that a day has several."""
    monkeypatch.setattr("smfparse.simulating.run.CHUNK_ROWS", 100)
    most(1)
    assert most(30) < 1.3 * most(3)
