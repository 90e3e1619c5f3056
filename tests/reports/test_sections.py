"""Sections of a report: what goes into which, and what is odd about it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from smfparse.inputs import open_inputs
from smfparse.reports import TOTAL, Sections, every
from smfparse.writing import write_dataset
from tests.support import smf
from tests.support.builders import Write
from tests.support.report_runs import report_lines, report_rows
from tests.support.small_site import write_small_site
from tests.support.smf import EAST, LOG_START, Log, log_record

pytestmark = pytest.mark.slow

MIDNIGHT = dt.datetime(2026, 3, 4)


def interval(start: float, seconds: float, pages: int = 1, **keys: Any) -> bytes:
    """A 115/1 record of an interval, by seconds since LOG_START."""
    log = Log(counters={"qjstciwr": pages, "qjstlogw": 1})
    return log_record(
        log,
        start=LOG_START + dt.timedelta(seconds=start),
        duration_us=round(seconds * 1_000_000),
        **keys,
    )


def marks(path: Path, sections: Sections | None = None) -> list[str | None]:
    return [row["marks"] for row in report_rows("log", path, sections=sections)]


def test_gaps_and_overlaps_are_told_with_the_interval_behind_them(write: Write) -> None:
    path = write(*(interval(start, 60) for start in (0, 60, 240, 360, 390)))
    marks = ["gap: 120 seconds", "gap: 60 seconds", "overlap: 30 seconds"]
    assert [row["marks"] for row in report_rows("log", path)] == [None, None, *marks]
    (total,) = report_rows("log", path, sections=TOTAL)
    assert total["marks"] == "gap: 180 seconds; overlap: 30 seconds"


def task(number: int, begins: dt.datetime, ends: dt.datetime) -> bytes:
    """A 116/1 record of an interval of a task that put a message, times local."""
    begin, end = ((each - EAST).replace(tzinfo=dt.UTC) for each in (begins, ends))
    used = smf.queue("Q1", version=6, putn=10**number, validput=1)
    return smf.task_record(smf.task(ended=end, wtasints=begin), used, ended=end, east=EAST)


def test_an_interval_of_a_task_goes_whole_where_its_middle_is_and_is_marked(write: Write) -> None:
    def at(minutes: float) -> dt.datetime:
        return MIDNIGHT + dt.timedelta(hours=9, minutes=minutes)

    spans = [(2, 15), (2, 16), (10, 24), (15, 30)]
    path = write(*(task(number, at(begin), at(end)) for number, (begin, end) in enumerate(spans)))
    found = report_rows("qputs", path, sections=every("15m"))
    assert [(row["bucket"], row["putn"]) for row in found] == [
        (at(0), 11),
        (at(15), 1100),
    ]
    assert [row["marks"] for row in found] == [None, "spanning: 1 of 2 began before"]


@pytest.mark.parametrize("seconds", [4e11, 9.2e12])
def test_an_interval_that_cannot_be_spoils_no_other(write: Write, seconds: float) -> None:
    """QWHSDURN of a damaged record: thousands of years, and beyond what a date can be."""
    path = write(interval(0, 60), interval_of_any_length(seconds))
    assert len(report_rows("log", path)) == 2
    for sections in (TOTAL, every("1h")):
        (row,) = report_rows("log", path, sections=sections)
        assert row["intervals"] == 1
        assert report_lines("log", path, sections=sections)


def interval_of_any_length(seconds: float) -> bytes:
    """The record of an interval of a minute that says that it is longer."""
    data = bytearray(interval(60, 60))
    minute = (60_000_000).to_bytes(8)
    place = data.rindex(minute)
    data[place : place + 8] = round(seconds * 1e6).to_bytes(8)
    return bytes(data)


def test_the_same_interval_of_two_datasets_is_told_as_an_overlap(
    write: Write, tmp_path: Path
) -> None:
    path = write(*(interval(60 * n, 60) for n in range(3)))
    datasets = [tmp_path / "tables", tmp_path / "again"]
    for each in datasets:
        write_dataset(open_inputs([path]), each)
    (row,) = report_rows("log", *datasets, sections=TOTAL)
    assert row["intervals"] == 6
    assert row["marks"] == "overlap: 180 seconds"


def test_a_section_of_several_queue_managers_has_the_keys_that_all_of_them_have(
    tmp_path: Path,
) -> None:
    path = write_small_site(tmp_path / "site.smf")
    across = report_rows("smf-volume", path)[0]
    assert across["source"] == str(path)
    assert {across[name] for name in ("qsg", "mq_version", "utc_offset", "record_no")} == {None}


def test_a_section_of_one_queue_manager_has_the_keys_of_its_last_record(write: Write) -> None:
    path = write(interval(0, 60, release="930"), interval(60, 60, release="940"))
    (row,) = report_rows("log", path, sections=TOTAL)
    assert (row["mq_version"], row["record_no"]) == ("9.4.0", 2)
