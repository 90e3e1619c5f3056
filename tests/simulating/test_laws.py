"""Laws hold for simulated sites: scenarios, with class 3 intervals of their own, and drawn ones."""

from __future__ import annotations

import datetime as dt
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from smfparse.errors import RequestError
from smfparse.simulating import answer_key, load_estate, read_estate, scenario_names, simulate
from tests.simulating.drawn import sites
from tests.simulating.laws import broken
from tests.simulating.simulated import Day, simulated
from tests.support.searching import search

pytestmark = pytest.mark.slow
FULL = 2**32 - 1
"""A counter that does not show any more how many bytes a task logged."""
HALF, TWO = dt.timedelta(minutes=30), dt.timedelta(hours=2)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", scenario_names())
def test_the_laws_hold_for_a_scenario(name: str, tmp_path: Path) -> None:
    assert broken(simulated(tmp_path, name)) == []


@given(site=sites(), seed=st.integers(0, 1000))
@search(3)
def test_the_laws_hold_for_any_site(site: dict[str, Any], seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "site.smf"
        simulate(path, read_estate("site", site), seed)
        day = Day(path)
        assume(day.one("SELECT coalesce(max(wtasjwb), 0) FROM wtas") < FULL)
        assert broken(day) == []
        day.connection.close()


def test_a_class_3_interval_has_whole_intervals_of_statistics(tmp_path: Path) -> None:
    day = simulated(tmp_path, "storm", interval=HALF, acctime=TWO)
    assert broken(day) == []
    assert round(day.one("SELECT max(epoch(wtasinte) - epoch(wtasints)) FROM wtas")) == 7200
    for length in (dt.timedelta(minutes=45), dt.timedelta(minutes=10), 24 * TWO):
        with pytest.raises(RequestError, match=r"acctime .*: a multiple of the interval"):
            answer_key(load_estate("payments", interval=HALF, acctime=length))
