"""Buffer pools that fill faster than they are written: behind, then by tasks, then none is free."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from smfparse.simulating import read_estate, simulate
from tests.simulating.simulated import Day

pytestmark = pytest.mark.slow

BUFFERS = 5000
IO, PAGE = 2000.0, 100.0
BEHIND = 16e6 / (IO + 16 * PAGE)
"""Pages a second that the page set takes, 16 at a time."""


APPLICATION = {
    "queue_manager": "QM01",
    "kind": "batch",
    "job": "JOB",
    "curve": "flat",
    "persistent": False,
    "commit": 0,
}


def backlog(folder: Path, rate: float) -> Day:
    """Return a day of messages of a page, `rate` a second, that nobody gets before the night."""
    site: dict[str, Any] = {
        "site": {"interval": "10m"},
        "curves": {"flat": {}},
        "queue_managers": {
            "QM01": {
                "pools": {"1": {"buffers": BUFFERS}},
                "page_sets": {"1": {"pool": 1, "pages": 20_000_000, "io": IO, "page": PAGE}},
            }
        },
        "queues": {"IN": {"queue_manager": "QM01", "page_set": 1}},
        "applications": {
            "PUT": {**APPLICATION, "rate": rate, "put": {"IN": 1}, "tasks": 4, "think": 100.0},
            "GET": {**APPLICATION, "get": ["IN"], "window": "23:00-23:10"},
        },
    }
    simulate(folder / "day.smf", read_estate("pool", site))
    return Day(folder / "day.smf")


POOL = """
    SELECT
        qpstnbuf, qpstcbsl, qpstdwt > 0, qpstdmc, qpstsos, qpstimw, qqstputs / 600,
        (SELECT sum(putpset) FROM wqst)
    FROM qpst JOIN qqst USING (interval_start)
    ORDER BY qpst.interval_start LIMIT 3 OFFSET 6
"""


@pytest.mark.parametrize(
    ("rate", "full"), [(0.6 * BEHIND, 85), (1.05 * BEHIND, 95), (2 * BEHIND, 100)]
)
def test_a_pool_fills_as_far_as_pages_come_faster_than_they_are_written(
    rate: float, full: int, tmp_path: Path
) -> None:
    rows = backlog(tmp_path, rate).rows(POOL)
    assert len(rows) == 3
    for buffers, least, behind, by_tasks, none_free, immediate, puts, waited in rows:
        assert behind
        assert immediate == by_tasks
        assert (by_tasks > 0) == (waited > 0) == (full >= 95)
        assert (none_free > 0) == (puts < 0.8 * rate) == (full == 100)
        used = 100 * (1 - least / buffers)
        assert used == full if full != 95 else 95 <= used < 100
