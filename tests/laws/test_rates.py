"""No rate is higher than work ever was, and what is steady is shown as steady."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.asking import Row, opened, rows
from tests.support.clocks import PUT_US, SECOND, Clock, Site, Span, Task
from tests.support.command import in_json
from tests.support.drawing_clocks import sites
from tests.support.searching import search

ROUNDING = 1.001
"""A rate may be so many times that of the records: ends of intervals are rounded."""
NEAR = 1.02
"""Likewise in `summary`: two seconds, or 2%, may count in the slot of time beside theirs."""
SECTIONS = ("1m", "15m", "1h", "24h")


def highest(spans: Iterable[Span]) -> float:
    return max((each.rate for each in spans), default=0.0)


def of_task(clock: Clock, task: Task) -> list[Span]:
    return [each for each in clock.class_3 if each.task is task]


def by_job(site: Site) -> dict[str, tuple[Clock, Task]]:
    return {task.job: (clock, task) for clock in site.clocks for task in clock.tasks}


@search(2)
@given(site=sites(faults=False, early=False), length=st.sampled_from(SECTIONS))
def test_no_rate_of_a_section_is_higher_than_that_of_any_interval(
    site: Site, length: str, tmp_path: Path
) -> None:
    """Of clocks without first records that cover hours before the first statistics.

    `flow` divides by the time of statistics that class 3 covers, also for these records.
    """
    data = opened(site.write(tmp_path))
    jobs = by_job(site)
    for row in rows(data, "flow", interval=length):
        if row["line"] == "edge":
            clock, task = jobs[_job(row["from_name"], row["to_name"])]
            most = highest(of_task(clock, task)) * ROUNDING
            assert (row["rate"] or 0) <= most, (row["bucket"], task, row["rate"], most, clock)
    for row in rows(data, "msgm", interval=length):
        clock = site.clock(row["qmgr"])
        found = row["puts_per_second"] + row["gets_per_second"]
        most = ROUNDING * sum(
            max((getattr(each, verb) / each.seconds for each in clock.statistics), default=0)
            for verb in ("puts", "gets")
        )
        assert found <= most, (row["bucket"], found, most, clock)


def _job(*names: str) -> str:
    return next(each for each in names if "." not in each)


def figures_of(manager: Row, name: str) -> Iterator[Row]:
    yield from (each for each in manager["figures"] if each["name"] == name)


@pytest.mark.usefixtures("unjudged")
@search(2)
@given(site=sites(faults=False))
def test_summary_shows_no_rate_higher_than_that_of_any_interval(site: Site, tmp_path: Path) -> None:
    jobs = by_job(site)
    for manager in in_json("summary", site.write(tmp_path))["managers"]:
        clock = site.clock(manager["qmgr"])
        all_tasks = sum(highest(of_task(clock, each)) for each in clock.tasks)
        limits = [(figure, all_tasks) for figure in figures_of(manager, "verb-calls")]
        limits += [
            (figure, highest(of_task(*jobs[_job(*figure["object"].split(" > "))])))
            for figure in figures_of(manager, "flow")
        ]
        for figure, most in limits:
            shown = [figure["mean"], figure["highest"], *filter(None, figure["over_time"])]
            assert max(shown) <= most * NEAR, (figure, most, clock)


@pytest.mark.usefixtures("unjudged")
@search(3)
@given(site=sites(steady=True, interrupted=False, faults=False))
def test_summary_shows_steady_work_as_steady_and_from_when_to_when_there_is_data(
    site: Site, tmp_path: Path
) -> None:
    """Mean and highest are calls by the time that their intervals cover.

    There is data from the first to the last moment that statistics cover.
    """
    jobs = by_job(site)
    for manager in in_json("summary", site.write(tmp_path))["managers"]:
        clock = site.clock(manager["qmgr"])
        for figure in figures_of(manager, "flow"):
            _, task = jobs[_job(*figure["object"].split(" > "))]
            spans = of_task(clock, task)
            covered = sum(each.seconds for each in spans)
            expected = sum(each.calls for each in spans) / covered / (1 + task.more)
            assert figure["mean"] == pytest.approx(expected, rel=edge(clock)), (figure, clock)
            assert figure["highest"] == pytest.approx(expected, rel=0.01), (figure, clock)
        spans = clock.statistics
        ends = (clock.local(spans[0].start), clock.local(spans[-1].end))
        found = tuple(dt.datetime.fromisoformat(manager[each]) for each in ("start", "end"))
        changed = {dt.timedelta(0), clock.change[1] if clock.change else dt.timedelta(0)}
        for one, other in zip(found, ends, strict=True):
            near = min(abs(one - other - each) for each in changed | {-each for each in changed})
            assert near <= SECOND, (found, ends, clock)
        counts = (manager["intervals"], manager["gaps"], manager["restarts"])
        assert counts == (len(spans), 0, clock.starts), (manager, clock)


def edge(clock: Clock) -> float:
    """Return the share of the data that a first and a last slot can hold in part."""
    return 0.01 + 2 * max(clock.statime, clock.acctime) / clock.length


@search(2)
@given(site=sites(interrupted=False))
def test_a_wrapped_time_changes_no_average(site: Site, tmp_path: Path) -> None:
    """The calls of a record whose elapsed time is below zero are counted, their time is not."""
    data = opened(site.write(tmp_path))
    known: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for clock in site.clocks:
        for span in clock.class_3:
            known[clock.qmgr][0] += span.calls
            known[clock.qmgr][1] += 0 if span.wrapped else span.calls
    for row in rows(data, "api-cost", by="qmgr"):
        if row["verb"] in ("put", "get") and row["calls"]:
            check_average(row, known[row["qmgr"]], site.clock(row["qmgr"]))


def check_average(row: Row, known: list[int], clock: Clock) -> None:
    """Hold that an average is that of the calls whose time is known, or less by their share."""
    average: Any = row["call_elapsed"]
    if known[0] == known[1]:
        assert average == pytest.approx(PUT_US, rel=1e-6), (row, clock)
    else:
        assert average is None or 0 <= average <= PUT_US * 1.000001, (row, clock)
