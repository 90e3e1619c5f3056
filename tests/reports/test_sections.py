"""Sections of a report: what goes into which, and what is odd about it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from smfparse.inputs import open_inputs
from smfparse.reports import TOTAL, every
from smfparse.writing import write_dataset
from tests.support import smf
from tests.support.builders import Write
from tests.support.report_runs import lines_of, report_rows
from tests.support.small_site import write_small_site
from tests.support.smf import EAST, LOG_START, MINUTE, Log, log_record

pytestmark = pytest.mark.slow


def interval(start: float, seconds: float, pages: int = 1, **keys: Any) -> bytes:
    """A 115/1 record of an interval, by seconds since LOG_START."""
    log = Log(counters={"qjstciwr": pages, "qjstlogw": 1})
    return log_record(
        log,
        start=LOG_START + dt.timedelta(seconds=start),
        duration_us=round(seconds * 1_000_000),
        **keys,
    )


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
    nine = dt.datetime(2026, 3, 4, 9)
    spans = [[nine + each * MINUTE for each in span] for span in ((2, 15), (2, 16), (10, 24))]
    path = write(*(task(number, *span) for number, span in enumerate(spans)))
    found = report_rows("qputs", path, sections=every("15m"))
    assert [(row["bucket"], row["putn"], row["marks"]) for row in found] == [
        (nine, 11, None),
        (nine + 15 * MINUTE, 100, "spanning: 1 of 1 began before"),
    ]


def test_an_interval_that_cannot_be_spoils_no_other(write: Write) -> None:
    """QWHSDURN of a damaged record: thousands of years, and beyond what a date can be."""
    whole, minute = interval(60, 60), (60_000_000).to_bytes(8)
    place = whole.rindex(minute)
    for seconds in (4e11, 9.2e12):
        absurd = whole[:place] + round(seconds * 1e6).to_bytes(8) + whole[place + 8 :]
        path = write(interval(0, 60), absurd)
        assert len(report_rows("log", path)) == 2
        for sections in (TOTAL, every("1h")):
            rows = report_rows("log", path, sections=sections)
            assert [row["intervals"] for row in rows] == [1]
            assert lines_of("log", rows)


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


def test_a_section_has_the_keys_that_all_its_queue_managers_have(tmp_path: Path) -> None:
    path = write_small_site(tmp_path / "site.smf")
    across = report_rows("smf-volume", path)[0]
    assert across["source"] == str(path)
    assert {across[name] for name in ("qsg", "mq_version", "utc_offset", "record_no")} == {None}


def test_a_section_of_one_queue_manager_has_the_keys_of_its_last_record(write: Write) -> None:
    path = write(interval(0, 60, release="930"), interval(60, 60, release="940"))
    (row,) = report_rows("log", path, sections=TOTAL)
    assert (row["mq_version"], row["record_no"]) == ("9.4.0", 2)
