"""SMF records of type 7, data lost: decoded, and said by the commands that show metrics of a time.

Values are worked out from IBM's map of the record, and from the README of the real cases.
"""

from __future__ import annotations

import datetime as dt
import json
import struct
from pathlib import Path

import pytest

import smfparse
from smfparse import Selection
from tests.support.builders import Write, foreign_record, lost_record, rdw
from tests.support.command import run
from tests.support.real import REAL_DATA, needs_real_data
from tests.support.short_records import statistics

pytestmark = pytest.mark.slow
START = dt.datetime(2026, 5, 11, 10, 2, 10)
END = dt.datetime(2026, 5, 11, 10, 6, 30)
NEXT_DAY = dt.datetime(2026, 5, 12, 0, 1, 2, 340_000)
LOST = "SELECT system, qmgr, lost_from, lost_until, lost_seconds, records FROM data_lost"
CASE = Path() if REAL_DATA is None else REAL_DATA / "cases" / "lost.smf"
IN_SHORT = "SMF lost 48,211 records, 2026/05/11 10:02:10 to 10:06:30"


@pytest.fixture
def day(write: Write) -> Path:
    """Two systems, of which one lost records; on that are two queue managers."""
    return write(
        statistics(START, "SYSX", "QA01"),
        statistics(START, "SYSX", "QA02"),
        statistics(START, "SYSY", "QB01"),
        lost_record(START, END, 48_211, system="SYSX"),
        statistics(END + dt.timedelta(minutes=5), "SYSX", "QA01"),
    )


def rows(path: Path, query: str = LOST, **selection: str) -> list[tuple[object, ...]]:
    found = smfparse.open(path, selection=Selection.of(**selection)).sql(query).to_pylist()
    return [tuple(each.values()) for each in found]


def test_the_count_is_the_short_one_unless_a_flag_says_that_it_overflowed(write: Write) -> None:
    for count, length in ((1, 28), (48_211, 36), (65_535, 28), (70_000, 36), (70_000, 90)):
        path = write(lost_record(START, END, count, system="SYSX", length=length))
        assert rows(path) == [("SYSX", None, START, END, 260.0, count)]
    path = write(lost_record(START, END, 70_000, length=30))
    assert rows(path, "SELECT records FROM data_lost") == [(None,)]
    assert "SMF lost an unknown number of records of SYS1 from" in run("info", path).stdout


def test_a_loss_goes_over_midnight_by_the_date_of_its_start(write: Write) -> None:
    """IBM documents that date as 00yydddF: one without its century is of this one."""
    path = write(lost_record(START, NEXT_DAY, 3))
    assert rows(path)[0][2:5] == (START, NEXT_DAY, (NEXT_DAY - START).total_seconds())
    record = bytearray(lost_record(START, END, 3))
    assert record[24:28] == bytes.fromhex("0126131F")
    record[24] = 0
    assert rows(write(bytes(record)))[0][2] == START


def test_a_start_that_is_no_moment_is_not_known_and_the_count_stays(write: Write) -> None:
    record = lost_record(START, END, 3)
    for moment in (
        struct.pack(">I", 8_640_000) + bytes.fromhex("0126131F"),
        struct.pack(">I", 1) + bytes.fromhex("012613AF"),
        struct.pack(">I", 1) + bytes.fromhex("0126000F"),
        struct.pack(">I", 1) + bytes.fromhex("01261311"),
        bytes(8),
    ):
        path = write(record[:20] + moment + record[28:])
        assert rows(path) == [("SYS1", None, None, END, None, 3)]
        assert "SMF lost 3 records of SYS1 from - to" in run("info", path).stdout


def test_a_record_too_short_for_its_start_is_damage(write: Write) -> None:
    path = write(lost_record(START, END, 3, length=24), lost_record(START, END, 4))
    assert rows(path, "SELECT records FROM data_lost") == [(4,)]
    result = run("info", path)
    assert result.exit_code == 4
    assert "record 1 at byte 0x0 (type 7): SMF7 cannot be 24 bytes long" in result.stdout


def test_the_bytes_of_its_start_are_not_taken_for_a_subtype(write: Write) -> None:
    path = write(lost_record(START, END, 3), foreign_record(30, END))
    assert rows(path, "SELECT type, subtype FROM record") == [(7, None), (30, None)]


def test_a_loss_is_of_all_queue_managers_of_its_system(day: Path, tmp_path: Path) -> None:
    assert run("convert", day, "--to", tmp_path / "tables", "--partition").exit_code == 0
    for path in (day, tmp_path / "tables"):
        assert len(rows(path, qmgr="QA02")) == len(rows(path, qmgr="none")) == 1
        assert sorted(rows(path, "SELECT type FROM record", qmgr="QA02")) == [(7,), (115,)]
        assert rows(path, qmgr="QA02", system="SYSY") == []
        assert rows(path, type="115") == []
        assert rows(path, since="2026-05-11T10:06:30") != []
        assert rows(path, since="2026-05-11T10:06:31") == []


def test_it_is_found_where_nothing_is_between_the_records(day: Path, tmp_path: Path) -> None:
    data, at, whole = b"", 0, day.read_bytes()
    while at < len(whole):
        length = int.from_bytes(whole[at : at + 2])
        data, at = data + whole[at + 4 : at + length], at + length
    bare = tmp_path / "bare.smf"
    bare.write_bytes(data)
    assert rows(bare) == rows(day)
    assert "none (" in run("info", bare).stdout


def test_info_names_it(day: Path) -> None:
    shown = run("info", day)
    assert shown.exit_code == 0
    assert [each.split()[-2:] for each in shown.stdout.splitlines() if "  7  " in each] == [
        ["lost", "data"]
    ]
    assert (
        "SMF lost 48,211 records of SYSX from 2026/05/11 10:02:10 to 2026/05/11 10:06:30"
        in shown.stdout
    )
    (lost,) = json.loads(run("info", day, "--format", "json").stdout)["lost"]
    assert lost == {
        "system": "SYSX",
        "start": "2026-05-11T10:02:10",
        "end": "2026-05-11T10:06:30",
        "records": 48_211,
    }


def test_check_has_one_finding_for_each_loss_of_a_system(day: Path, tmp_path: Path) -> None:
    """And shows the command that lists them."""
    several = tmp_path / "several.smf"
    later = lost_record(END + dt.timedelta(hours=1), END + dt.timedelta(hours=2), 7, system="SYSX")
    several.write_bytes(day.read_bytes() + rdw([later]))
    found = [
        each
        for each in json.loads(run("check", several, "--format", "json").stdout)["findings"]
        if each["rule"] == "SMF-LOST"
    ]
    assert [(each["system"], each["qmgr"], each["start"], each["total"]) for each in found] == [
        ("SYSX", "", "2026-05-11T10:02:10", 48_211),
        ("SYSX", "", "2026-05-11T11:06:30", 7),
    ]
    text = run("check", day, "--all").stdout
    assert "5 SMF-LOST SYSX 2026/05/11 10:02:10: SMF lost records" in text
    assert "48,211 records lost; in 260 s" in text
    assert "too low" in text
    assert f"smfparse sql {day} 'SELECT * FROM data_lost'" in text
    first = [each for each in text.splitlines() if " on SYS" in each]
    assert all("1 data quality" in each or "2 data quality" in each for each in first[:2])


def test_a_system_without_a_loss_has_no_finding_and_the_rule_has_its_data(write: Write) -> None:
    path = write(statistics(START, "SYSX", "QA01"))
    found = json.loads(run("check", path, "--format", "json").stdout)
    assert "SMF-LOST" not in {each["rule"] for each in found["findings"]}
    assert "SMF-LOST" not in {rule for each in found["not_evaluated"] for rule in each["rules"]}


def test_dump_explains_it(write: Write) -> None:
    shown = run("dump", write(lost_record(START, END, 48_211)), "--record", "1").stdout
    assert "smf7nro           48,211" in shown
    assert "smf7stm           2026-05-11 10:02:10.000000 local" in shown


def test_a_copy_has_the_start_moved_as_its_end(write: Write, tmp_path: Path) -> None:
    path, copy = write(lost_record(START, END, 3), statistics(END)), tmp_path / "copy.smf"
    result = run("anonymise", path, "--to", copy, "--shift-days", "-40")
    assert result.exit_code == 0, result.output
    moved = dt.timedelta(days=40)
    assert rows(copy)[0][2:] == (START - moved, END - moved, 260.0, 3)


@needs_real_data
def test_the_loss_of_the_case_is_said_by_every_command(tmp_path: Path) -> None:
    assert rows(CASE) == [("SYSX", None, START, END, 260.0, 48_211)]
    assert "SMF lost 48,211 records of SYSX from 2026/05/11 10:02:10" in run("info", CASE).stdout
    lines = run("summary", CASE).stdout.splitlines()
    assert lines[2].startswith(IN_SHORT)
    (manager,) = json.loads(run("summary", CASE, "--format", "json").stdout)["managers"]
    assert manager["lost"] == [
        {"start": START.isoformat(), "end": END.isoformat(), "records": 48_211}
    ]
    for more in ((), ("--qmgr", "QA01")):
        assert "48,211 records lost; in 260 s" in run("check", CASE, *more, "--all").stdout
    page = tmp_path / "page.html"
    assert run("dashboard", CASE, "--output", page).exit_code == 0
    text = page.read_text("utf-8")
    assert f"<p>{IN_SHORT}" in text
    assert "SMF-LOST" in text
