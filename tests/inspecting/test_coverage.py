"""Is this file complete? One answer of `info` and `summary`, with an exit code."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

from tests.support.builders import Write
from tests.support.command import in_json, run
from tests.support.paths import FIXTURES
from tests.support.real import case
from tests.support.smf import ENDED, MINUTE, WEST, block, record, task, task_record, task_token, who
from tests.support.traffic import put, using

NINE = dt.datetime(2026, 5, 11, 9)
TEN_MINUTES = dt.timedelta(minutes=10)


def statistics(*numbers: int, **more: Any) -> list[bytes]:
    """Records of intervals of ten minutes, by their numbers from 09:00 on."""
    return [
        record(block("QMST"), start=NINE + number * TEN_MINUTES, seconds=600, **more)
        for number in numbers
    ]


def coverage(path: Path, *more: object, code: int = 0) -> Any:
    return in_json("info", path, *more, code=code)["coverage"]


def test_data_without_a_gap_is_complete(write: Write) -> None:
    path = write(*statistics(0, 1, 2, 3))
    (found,) = coverage(path, "--strict")
    assert (found["answer"], found["missing"]) == ("complete", [])
    assert found["absent_classes"] == ["STAT(4)", "STAT(5)", "ACCTG(3)", "ACCTG(4)"]
    assert "VTS1 on MVAA: complete" in run("info", path).stdout.splitlines()


def test_a_gap_makes_it_incomplete_and_strict_ends_with_4(write: Write) -> None:
    path = write(*statistics(0, 1, 2, 5, 6, 9))
    (found,) = coverage(path)
    assert found["answer"] == "incomplete"
    assert found["missing"] == ["2 gaps in the statistics, 40 minutes in total"]
    for form in ("md", "html"):
        strict = run("info", path, "--strict", "--format", form)
        assert (strict.exit_code, "incomplete" in strict.stdout) == (4, True)
        assert "the data is incomplete" in strict.stderr
    said = run("summary", path).stdout.splitlines()[1]
    assert said.startswith("Incomplete: 6 intervals of 10 minutes, 2 gaps (40 minutes in all)")


def test_records_that_smf_lost_make_it_incomplete() -> None:
    (found,) = coverage(case("lost"), "--strict", code=4)
    assert found["missing"] == ["SMF of SYSX lost 48,211 records (type 7)"]


def test_damage_makes_it_incomplete(write: Write) -> None:
    path = write(*statistics(0, 1, 2, 3))
    path.write_bytes(path.read_bytes()[:-20])
    (found,) = coverage(path, code=4)
    assert (found["answer"], found["missing"]) == ("incomplete", ["damage at 1 place in the input"])
    said = run("summary", path).stdout.splitlines()[1]
    assert said.startswith(
        "Incomplete: 3 intervals of 10 minutes, no gap, no restart; damage at 1 "
    )


def test_hours_that_are_not_selected_are_not_missing(write: Write) -> None:
    """Three days of which the mornings are selected; of the second one, two intervals are lost."""
    path = write(*statistics(*(number for number in range(3 * 144) if number not in (151, 152))))
    (found,) = coverage(path, "--from", "0930", "--until", "1129")
    assert found["missing"] == ["1 gap in the statistics, 20 minutes in total"]
    for hours in ("0930 1009", "2200 0559"):
        since, until = hours.split()
        (found,) = coverage(path, "--from", since, "--until", until, "--strict")
        assert found["answer"] == "complete"
        marks = run("report", "msgm", path, "--from", since, "--until", until, "--total").stdout
        assert "gap" not in marks


def test_a_time_within_an_interval_says_where_it_counts(write: Write) -> None:
    path = write(*statistics(0, 1, 2), record(block("QCST"), start=NINE, seconds=120))
    window = ("--from", "2026-05-11T09:01", "--until", "2026-05-11T09:02")
    counts = "where an interval counts at its middle; select a longer time"
    for command in ("msgm", "dchs"):
        done = run("report", command, path, *window)
        assert (counts in done.stderr) == (command == "msgm"), done.stderr
    alone = run("report", "msgm", write(*statistics(0, 1), name="alone.smf"), *window)
    assert (alone.exit_code, counts in alone.stderr) == (8, True)


def test_the_time_while_a_queue_manager_was_down_is_not_missing(write: Write) -> None:
    started = record(block("QMST"), start=NINE + dt.timedelta(minutes=43), seconds=420)
    path = write(*statistics(0, 1, 2), started, *statistics(5, 6))
    assert [each["answer"] for each in coverage(path, "--strict")] == ["complete"]
    said = run("summary", path).stdout.splitlines()[1]
    assert said.startswith("Complete: 6 intervals of 10")
    assert "1 restart" in said


def test_objects_in_use_without_their_own_statistics_are_counted(write: Write) -> None:
    """OFF.Q and the channel OFF have none; a queue that no task used does not count."""
    by = who("CHIN", kind=6, wtidchl="OFF")
    path = write(
        record(block("QQST", qqstqnam="ON.Q"), block("QQST", qqstqnam="UNUSED"), seconds=60),
        record(block("QCST", qcstchnm="ON"), seconds=60),
        using("JOB", put("ON.Q", 5), put("OFF.Q", 5), put("OPENED.ONLY", 0), channel="ON"),
        task_record(task(task_token(7)), by=by),
    )
    (found,) = coverage(path)
    assert found["switched_off"] == [
        "STATQ is off for 1 of 2 queues in use",
        "STATCHL is off for 1 of 2 channels in use",
    ]
    assert "STATQ is off for 1 of 2" in run("summary", path).stdout.splitlines()[1]


def test_without_statistics_it_is_unknown_and_a_selection_makes_nothing_absent(write: Write):
    used = using("JOB", put("Q", 1))
    (found,) = coverage(write(used, name="used.smf"), "--strict")
    assert (found["answer"], found["missing"]) == ("completeness unknown", [])
    path = write(*statistics(0, 1, 2), used)
    (found,) = coverage(path, "--type", "115(2)")
    assert found["absent_classes"] == []
    assert coverage(path, "--job", "JOB") == []


def test_lengths_names_and_clocks_are_notes(write: Write) -> None:
    task_started = ENDED - dt.timedelta(minutes=30)
    longer = [
        task_record(task(task_token(n), ended=ENDED, wtasints=task_started), by=who("JOB"))
        for n in range(3)
    ]
    ended = (ENDED + WEST).replace(tzinfo=None)
    of_minutes = [
        record(block("QMST"), start=ended - n * MINUTE, seconds=60, east=WEST)
        for n in range(30, 0, -1)
    ]
    found = coverage(write(*of_minutes, *longer, *statistics(0, 1, system="OTHR")))
    notes = {each["system"]: each["notes"] for each in found}
    assert notes["MVAA"] == [
        "intervals of statistics are 1 minute, of class 3 30 minutes",
        "VTS1 is also the name of a queue manager on OTHR",
    ]
    assert notes["OTHR"] == ["VTS1 is also the name of a queue manager on MVAA"]


def test_a_change_of_clocks_is_a_note(write: Write) -> None:
    day, hour = dt.datetime(2026, 3, 29), dt.timedelta(hours=1)
    hours = ((0, hour), (1, hour), (3, 2 * hour), (4, 2 * hour))
    records = [
        record(block("QMST"), start=day + number * hour, seconds=3600, east=east)
        for number, east in hours
    ]
    (found,) = coverage(write(*records), "--strict")
    assert found["answer"] == "complete"
    assert found["notes"] == ["the clock changed by +60 minutes at 2026/03/29 03:00"]


def test_bytes_that_no_column_knows_are_counted_once() -> None:
    """The intervals are read after the records: 8 records, 8 bytes of each QSST, 4 of QTST."""
    found = in_json("info", FIXTURES / "qm01-930.smf")
    assert found["unknown_bytes"] == {"QSST": 64, "QTST": 32}
