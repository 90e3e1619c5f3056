"""Check finds what the answer keys of simulated days name: `make score` does it for more seeds."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from smfparse.advice.findings import Finding
from smfparse.simulating.reading_toml import load_estate
from smfparse.simulating.run import AnswerKey
from tests.support.searching import LONG
from tests.support.tools import tool

SCORE = tool("score")
SEEDS = range(1, 4 if LONG else 2)


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize("scenario", SCORE.scored())
def test_the_first_findings_of_days_are_what_their_keys_name(scenario: str, tmp_path: Path) -> None:
    """All rows of a key are found as well, and nothing starts again but what it says."""
    estate = load_estate(scenario)
    for seed, findings in SCORE.days(scenario, SEEDS, tmp_path):
        assert SCORE.verdict_of(scenario, seed, findings).wrong == ""
        found = [each for top in findings for each in top.whole()]
        rows = AnswerKey(estate, seed).answers()
        for row in rows:
            assert beside(row, found) <= estate.interval, row
        named = {each["rule"] for each in rows}
        assert "SMF-RESTART" not in {each.rule for each in found} - named


def beside(row: Mapping[str, str], found: Sequence[Finding]) -> dt.timedelta:
    """Return how far beside the times of a row the nearest finding of it begins or ends."""
    start, end = (dt.datetime.fromisoformat(row[each]) for each in ("start", "end"))
    apart = [
        max(abs(each.start - start), abs(each.end - end))
        for each in found
        if (each.rule, each.qmgr, each.object) == (row["rule"], row["qmgr"], row["object"])
        and row["job"] in ("", each.job, *each.jobs)
    ]
    return min(apart, default=dt.timedelta.max)
