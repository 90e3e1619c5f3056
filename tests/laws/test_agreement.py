"""All commands say the same of intervals, gaps and restarts."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given

from tests.laws.asking import opened, rows
from tests.support.clocks import SECOND, Clock
from tests.support.command import in_json
from tests.support.drawing_clocks import sites
from tests.support.searching import search

GAP = re.compile(r"gap: ([\d,.]+) seconds")


class Told(NamedTuple):
    """How many gaps and restarts there are, and the seconds of all gaps."""

    gaps: int
    gap_seconds: float
    restarts: int


def told_by_clock(clock: Clock) -> Told:
    ends = [(one.end, other.start) for one, other in pairwise(clock.statistics)]
    gaps = [(start - end) / SECOND for end, start in ends if start > end]
    return Told(len(gaps), sum(gaps), clock.starts)


def told_by_marks(path: Path) -> dict[str, Told]:
    """Return what `report msgm` marks, section by section."""
    marks: dict[str, list[str]] = defaultdict(list)
    for row in rows(opened(path), "msgm"):
        marks[row["qmgr"]].append(row["marks"] or "")
    found = {}
    for qmgr, texts in marks.items():
        gaps = [float(each.replace(",", "")) for text in texts for each in GAP.findall(text)]
        restarts = sum("restart" in each for each in texts)
        found[qmgr] = Told(len(gaps), sum(gaps), restarts)
    return found


@pytest.mark.usefixtures("one_rule")
@search(2)
@given(site=sites(faults=False))
def test_gaps_and_restarts_are_those_of_the_records(site: Any, tmp_path: Path) -> None:
    path = site.write(tmp_path)
    told = {
        command: {
            each["qmgr"]: Told(each["gaps"], each["gap_seconds"], each["restarts"])
            for each in in_json(command, path)["managers"]
        }
        for command in ("summary", "check")
    }
    told["report msgm"] = told_by_marks(path)
    for command, found in told.items():
        for clock in site.clocks:
            said, expected = found[clock.qmgr], told_by_clock(clock)
            context = (command, said, expected, clock)
            assert (said.gaps, said.restarts) == (expected.gaps, expected.restarts), context
            assert said.gap_seconds == pytest.approx(expected.gap_seconds, abs=1), context
