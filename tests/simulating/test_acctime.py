"""Class 3 intervals (ACCTIME) apart from those of the statistics (STATIME)."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from smfparse.errors import RequestError
from smfparse.simulating import answer_key, load_estate
from tests.simulating.simulated import Day, simulated
from tests.simulating.test_random_sites import LAWS

pytestmark = pytest.mark.slow

HALF, TWO = dt.timedelta(minutes=30), dt.timedelta(hours=2)
COUNTS = """
    SELECT
        wtidccn, basename, sum(putn), sum(getn), sum(getdval), sum(openn), sum(closen),
        sum(putbytes), max(getmaxms), min(putminms), max(maxqdpth)
    FROM wqst JOIN wtid USING (record_no) GROUP BY ALL ORDER BY ALL
"""
UNITS = """
    SELECT wtidccn, sum(wtascmn), sum(wtasban), sum(wtasjwb), sum(wtaswqct) > 0
    FROM wtas JOIN wtid USING (record_no) GROUP BY ALL ORDER BY ALL
"""


@pytest.fixture(scope="module", params=["payments", "storm", "selectors", "restart"])
def days(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Day]:
    """Return a day with intervals of half an hour, and with class 3 intervals of four of them."""
    folder = tmp_path_factory.mktemp("acctime")
    (folder / "4").mkdir()
    return [
        simulated(folder, request.param, interval=HALF),
        simulated(folder / "4", request.param, interval=HALF, acctime=TWO),
    ]


@pytest.mark.parametrize("query", [COUNTS, UNITS], ids=["queues", "units"])
def test_longer_intervals_count_the_same(query: str, days: list[Day]) -> None:
    usual, longer = (day.rows(query) for day in days)
    assert usual == longer


def test_a_task_that_stays_is_recorded_every_two_hours(days: list[Day]) -> None:
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


def test_statistics_stay_as_they_are(days: list[Day]) -> None:
    for table in ("qmst", "qjst", "qpst", "qqst", "qcst", "qct_adp"):
        usual, longer = (
            day.rows(f"SELECT * EXCLUDE (source, record_no, record_offset) FROM {table}")
            for day in days
        )
        assert usual == longer


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_the_laws_hold(law: Any, days: list[Day]) -> None:
    law(days[1])


def test_a_class_3_interval_has_whole_intervals_of_statistics(tmp_path: Path) -> None:
    for length in (dt.timedelta(minutes=45), dt.timedelta(minutes=10), 24 * TWO):
        with pytest.raises(RequestError, match=r"acctime .*: a multiple of the interval"):
            answer_key(load_estate("payments", interval=HALF, acctime=length))
