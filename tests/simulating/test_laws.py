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
FEW = ("channel-batch", "restart", "shared", "streaming")
FULL = 2**32 - 1
"""A counter that does not show any more how many bytes a task logged."""
HALF, TWO = dt.timedelta(minutes=30), dt.timedelta(hours=2)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(each, marks=[] if each in FEW else pytest.mark.long)
        for each in scenario_names()
    ],
)
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


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    ["storm", *(pytest.param(each, marks=pytest.mark.long) for each in ("payments", "restart"))],
)
def test_class_3_intervals_of_two_hours_count_the_same(name: str, tmp_path: Path) -> None:
    """Statistics are written every half hour."""
    (tmp_path / "longer").mkdir()
    days = (
        simulated(tmp_path, name, interval=HALF),
        simulated(tmp_path / "longer", name, interval=HALF, acctime=TWO),
    )
    for query in (
        """
        SELECT
            wtidccn, basename, sum(putn), sum(getn), sum(getdval), sum(openn), sum(closen),
            sum(putbytes), max(getmaxms), min(putminms), max(maxqdpth)
        FROM wqst JOIN wtid USING (record_no) GROUP BY ALL ORDER BY ALL
        """,
        """
        SELECT wtidccn, sum(wtascmn), sum(wtasban), sum(wtasjwb), sum(wtaswqct) > 0
        FROM wtas JOIN wtid USING (record_no) GROUP BY ALL ORDER BY ALL
        """,
        *(
            f"SELECT * EXCLUDE (source, record_no, record_offset) FROM {table}"
            for table in ("qmst", "qjst", "qpst", "qqst", "qcst", "qct_adp")
        ),
    ):
        usual, longer = (day.rows(query) for day in days)
        assert usual == longer, query
    (usual, brief), (longer, as_brief) = (
        day.rows("""
            SELECT count(*) FILTER (NOT brief), count(*) FILTER (brief)
            FROM (SELECT wtasints = wtasstrt AND wtasaeot AS brief FROM wtas)
        """)[0]
        for day in days
    )
    assert usual / 4 <= longer <= usual / 2.5
    assert abs(brief - as_brief) <= 4
    lengths = "SELECT max(epoch(wtasinte) - epoch(wtasints)) FROM wtas"
    assert [round(day.one(lengths)) for day in days] == [1800, 7200]
    assert broken(days[1]) == []


def test_a_class_3_interval_has_whole_intervals_of_statistics() -> None:
    for length in (dt.timedelta(minutes=45), dt.timedelta(minutes=10), 24 * TWO):
        with pytest.raises(RequestError, match=r"acctime .*: a multiple of the interval"):
            answer_key(load_estate("payments", interval=HALF, acctime=length))
