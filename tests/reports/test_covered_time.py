"""What rates of class 3 are divided by: the time that their rows cover."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from smfparse.decoding.selection import Selection
from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.limits import Limits
from smfparse.query.catalog import Catalog
from smfparse.reports.declaration import report
from smfparse.reports.running import run_report
from smfparse.reports.sections import Sections, every
from tests.support.builders import Write
from tests.support.searching import of_many, pairs
from tests.support.smf import block, queue, record, task, task_record, token_of, who
from tests.support.traffic import got, put

MIDNIGHT = dt.datetime(2022, 7, 7, tzinfo=dt.UTC)
HOUR = 3600
KB = 1024
ASK, ANSWER = "PAY.ASK", "PAY.ANSWER"
DATA = "SYSTEM.FTE.DATA.AGENT2"
HALF_HOURS = every("30m")
RATES = {
    "flow": ("edge", "from_name", "rate"),
    "requests": ("pair", "requester", "rate"),
    "mft": ("queue", "agent", "mb_a_second"),
    "streaming": ("plan", "queue", "class_3_rate"),
}
"""By report: the line that has a rate, the figure that names it, and the rate."""
LONG = {
    "flow": {"JOB1": 1, "JOB2": 1, ASK: 1, ANSWER: 1, "FTESRC": 1, DATA: 1},
    "requests": {"JOB1": 1},
    "mft": {"AGENT2": 1 / KB},
    "streaming": {ASK: 1, ANSWER: 1, DATA: 1},
}
"""By report: the rates that one message per second gives, a KB each."""
BATCH = {"flow": {"BATCH": 1}, "requests": {}, "mft": {}, "streaming": {"LATE": 1}}
"""Those of a job that puts to a queue of its own."""
SELECTED = {"flow": ASK, "requests": "PAY.*", "mft": DATA, "streaming": ASK}
"""By report, the queues that are selected."""


def moment(hour: float) -> dt.datetime:
    return MIDNIGHT + dt.timedelta(hours=hour)


def using(
    job: str,
    first: float,
    last: float,
    *used: Mapping[str, Any],
    since: float | None = None,
    **header: Any,
) -> bytes:
    """The record of a task that used queues from one hour to another; `since`: when it started."""
    token, ended = token_of(sum(job.encode()), moment(since or first)), moment(last)
    blocks = [queue(token=token, version=9, **each) for each in used]
    own = task(token, ended=ended, wtasints=moment(first))
    return task_record(own, *blocks, by=who(job), ended=ended, **{"east": dt.timedelta(0)} | header)


def statistics(first: float, last: float, **header: Any) -> bytes:
    start = moment(first).replace(tzinfo=None)
    return record(block("QMST"), start=start, seconds=round((last - first) * HOUR), **header)


def talking(first: float, last: float, **header: Any) -> Iterator[bytes]:
    """A requester with its server, and two agents of file transfer: a message per second each."""
    count = round((last - first) * HOUR)
    asked = put(ASK, count, KB), got(ANSWER, count, by_id=count)
    yield using("JOB1", first, last, *asked, **header)
    yield using("JOB2", first, last, got(ASK, count), put(ANSWER, count, KB), **header)
    yield using("FTESRC", first, last, put(DATA, count, KB), **header)
    yield using("FTEDST", first, last, got(DATA, count, size=KB), **header)


def batch(first: float, last: float) -> bytes:
    return using("BATCH", first, last, put("LATE", round((last - first) * HOUR), KB))


def rates(
    name: str, path: Path, sections: Sections | None = None, *, slice_bytes: int = 0, **names: str
) -> dict[str, float]:
    """Return the rates of a report by what they are of; of sections the last one that has it."""
    limits = Limits(slice_bytes=slice_bytes) if slice_bytes else Limits()
    options = ReadOptions(Selection.of(**names), limits=limits)
    line, key, rate = RATES[name]
    with Catalog(open_inputs([path], options)) as catalog:
        found = run_report(report(name), catalog, sections)
        return {
            row[key]: row[rate] for row in found if row["line"] == line and row[rate] is not None
        }


def known(expected: Mapping[str, float]) -> dict[str, Any]:
    return {key: pytest.approx(each) for key, each in expected.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", RATES)
def test_six_hours_in_a_section_of_half_an_hour_are_divided_by_six_hours(name: str, write: Write):
    """21,600 messages: one per second. What is of half an hour is divided by that.

    So are intervals of accounting that begin before the first statistics or end after the last.
    """
    halves = [statistics(6 + half / 2, 6.5 + half / 2) for half in range(12)]
    path = write(*halves, *talking(6, 12), batch(11.5, 12))
    assert rates(name, path, HALF_HOURS) == known(LONG[name] | BATCH[name])
    records = (
        each for first in (9.75, 10.25, 10.75) for each in talking(first, first + 0.5, since=9)
    )
    path = write(*records, statistics(10, 10.5), statistics(10.5, 11))
    assert rates(name, path) == known(LONG[name])


def test_systems_with_other_clocks_share_the_hours_of_their_clocks(write: Write) -> None:
    """Two systems, an hour apart by UTC, each from 10:00 to 12:00 of its clock."""
    east = {"system": "EAST", "east": dt.timedelta(hours=1)}
    path = write(
        *talking(10, 12), *talking(9, 11, **east), statistics(10, 12), statistics(10, 12, **east)
    )
    with Catalog(open_inputs([path], ReadOptions())) as catalog:
        rows = [*run_report(report("flow"), catalog, every("1h"))]
    assert {row["rate"] for row in rows if row["line"] == "edge"} == {1}
    assert {(row["interval_seconds"], row["utc_offset"]) for row in rows} == {(2 * HOUR, 0)}


def test_a_channel_is_divided_by_its_own_time_where_class_3_is_off(write: Write) -> None:
    """Two intervals of half an hour, an hour apart: 3,600 messages."""
    sent = {"qcstchnm": "A.B", "qcstchty": 1, "qcstrqmn": "B", "qcstnmsg": 1800}
    starts = (moment(hour).replace(tzinfo=None) for hour in (10, 11.5))
    path = write(*(record(block("QCST", **sent), start=each, seconds=1800) for each in starts))
    assert rates("flow", path) == known({"A.B": 1})


# -- selected names


WAYS = [(None, 0), (None, 1), (HALF_HOURS, 0), (HALF_HOURS, 1)]
"""Sections, and bytes of a slice."""


@pytest.mark.sampled(2)
@pytest.mark.slow
@of_many("name, way", pairs([*RATES], WAYS))
def test_selected_queues_have_the_rates_that_they_have_among_all(
    name: str, way: tuple[Sections | None, int], write: Write
) -> None:
    """Others were used for longer; and the first record covers hours before the statistics."""
    halves = [statistics(9 + half / 2, 9.5 + half / 2) for half in range(6)]
    path = write(*talking(4, 10), *talking(10, 10.5), batch(9, 9.5), batch(11, 12), *halves)
    sections, slice_bytes = way
    all_rates = rates(name, path, sections)
    for selected in [{"queue": SELECTED[name]}, *([{"job": "FTE*"}] if name == "mft" else [])]:
        found = rates(name, path, sections, slice_bytes=slice_bytes, **selected)
        assert found == {key: pytest.approx(all_rates[key]) for key in found} != {}


def test_the_heading_of_selected_names_has_the_time_of_all(write: Write) -> None:
    path = write(*talking(6, 12), batch(11, 11.5), *map(statistics, (10, 11), (11, 12)))
    for selected in (Selection.of(queue=ASK), Selection.of(job="BATCH")):
        with Catalog(open_inputs([path], ReadOptions(selected))) as catalog:
            rows = run_report(report("flow"), catalog)
            spans = {(row["interval_start"], row["interval_end"]) for row in rows}
            assert spans == {(moment(10), moment(12))}
