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
from smfparse.advice.printing import CheckDocument
from smfparse.inputs.opening import open_inputs
from smfparse.query.catalog import Catalog
from smfparse.rendering.formats import lines
from smfparse.summarizing.summary import SummaryDocument, summarized
from tests.support.builders import Write, foreign_record, lost_record, put, rdw
from tests.support.command import in_json, run
from tests.support.real import case
from tests.support.short_records import statistics
from tests.support.variants import read_rdw

pytestmark = pytest.mark.slow
START = dt.datetime(2026, 5, 11, 10, 2, 10)
END = dt.datetime(2026, 5, 11, 10, 6, 30)
NEXT_DAY = dt.datetime(2026, 5, 12, 0, 1, 2, 340_000)
LOST = "SELECT system, qmgr, lost_from, lost_until, lost_seconds, records FROM data_lost"
LOSS = {"start": START.isoformat(), "end": END.isoformat(), "records": 48_211}
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
    counts = ((1, 28), (48_211, 36), (65_535, 28), (70_000, 36), (70_000, 90))
    path = write(
        *(lost_record(START, END, count, length=length) for count, length in counts),
        lost_record(START, END, 70_000, length=30, system="SYSX"),
    )
    wanted = [("SYS1", None, START, END, 260.0, count) for count, _ in counts]
    assert rows(path) == [*wanted, ("SYSX", None, START, END, 260.0, None)]
    assert "SMF lost an unknown number of records of SYSX from" in run("info", path).stdout


def test_a_loss_goes_over_midnight_by_the_date_of_its_start_unless_that_is_no_moment(write: Write):
    """IBM documents that date as 00yydddF: one without its century is of this one."""
    record = lost_record(START, END, 3)
    assert record[24:28] == bytes.fromhex("0126131F")
    wrong = (
        (8_640_000, "0126131F"),
        *((1, each) for each in ("012613AF", "0126000F", "01261311")),
        (0, "00000000"),
    )
    moments = (struct.pack(">I", time) + bytes.fromhex(date) for time, date in wrong)
    path = write(
        lost_record(START, NEXT_DAY, 3),
        record[:24] + b"\0" + record[25:],
        *(record[:20] + each + record[28:] for each in moments),
    )
    whole = (NEXT_DAY - START).total_seconds()
    assert [each[2:5] for each in rows(path)] == [
        *((START, NEXT_DAY, whole), (START, END, 260.0)),
        *[(None, END, None)] * len(wrong),
    ]
    assert "SMF lost 3 records of SYS1 from - to" in run("info", path).stdout


def test_a_record_too_short_for_its_start_is_damage(write: Write) -> None:
    path = write(lost_record(START, END, 3, length=24), lost_record(START, END, 4))
    assert rows(path, "SELECT records FROM data_lost") == [(4,)]
    result = run("info", path, code=4)
    assert "record 1 at byte 0x0 (type 7): SMF7 cannot be 24 bytes long" in result.stdout


def test_the_bytes_of_its_start_are_not_taken_for_a_subtype(write: Write) -> None:
    path = write(lost_record(START, END, 3), foreign_record(30, END))
    assert rows(path, "SELECT type, subtype FROM record") == [(7, None), (30, None)]


def test_a_loss_is_of_all_queue_managers_of_its_system(day: Path, tmp_path: Path) -> None:
    assert run("convert", day, "--to", tmp_path / "tables", "--partition").exit_code == 0
    for path in (day, tmp_path / "tables"):
        assert len(rows(path, qmgr="QA02")) == len(rows(path, qmgr="none")) == 1
        assert rows(path, qmgr="QA02", system="SYSY") == []
        assert rows(path, since="2026-05-11T10:06:31") == []
    assert sorted(rows(day, "SELECT type FROM record", qmgr="QA02")) == [(7,), (115,)]
    assert rows(day, type="115") == []
    assert rows(day, since="2026-05-11T10:06:30") != []


def test_it_is_found_where_nothing_is_between_the_records(day: Path, tmp_path: Path) -> None:
    bare = put(tmp_path / "bare.smf", *read_rdw(day.read_bytes()))
    assert rows(bare) == rows(day)
    assert "none (" in run("info", bare).stdout


def test_info_names_it_and_dump_explains_it(day: Path) -> None:
    shown = run("info", day, code=0)
    (line,) = [each for each in shown.stdout.splitlines() if "  7  " in each]
    assert line.split()[-2:] == ["lost", "data"]
    told = "SMF lost 48,211 records of SYSX from 2026/05/11 10:02:10 to 2026/05/11 10:06:30"
    assert told in shown.stdout
    (lost,) = in_json("info", day)["lost"]
    assert lost == {"system": "SYSX", **LOSS}
    shown = run("dump", day, "--record", "4")
    assert "smf7nro           48,211" in shown.stdout
    assert "smf7stm           2026-05-11 10:02:10.000000 local" in shown.stdout


def test_check_has_one_finding_for_each_loss_of_a_system(day: Path, write: Write) -> None:
    """And shows the command that lists them; the rule has its data where nothing is lost."""
    later = lost_record(END + dt.timedelta(hours=1), END + dt.timedelta(hours=2), 7, system="SYSX")
    day.write_bytes(day.read_bytes() + rdw([later]))
    checked = smfparse.open(day).check()
    found = [each for each in checked.findings if each.rule == "SMF-LOST"]
    assert [(each.system, each.qmgr, each.start, each.total) for each in found] == [
        ("SYSX", "", START, 48_211),
        ("SYSX", "", END + dt.timedelta(hours=1), 7),
    ]
    text = "\n".join(lines(CheckDocument(checked, checked.commands, at_length=True), "text"))
    assert "5 SMF-LOST SYSX 2026/05/11 10:02:10: SMF lost records" in text
    assert "48,211 records lost; in 260 s" in text
    assert "too low" in text
    assert f"smfparse sql {day} 'SELECT * FROM data_lost'" in text
    first = [each for each in text.splitlines() if " on SYS" in each]
    assert all("2 data quality" in each or "3 data quality" in each for each in first[:2])
    shown = run("check", case("lost"), "--qmgr", "QA01", "--all").stdout
    assert "48,211 records lost; in 260 s" in shown
    sound = smfparse.open(write(statistics(START, "SYSX", "QA01"))).check()
    assert "SMF-LOST" not in {each.rule for each in sound.findings}
    assert "SMF-LOST" not in {rule for _, each in sound.not_evaluated for rule in each}


def test_a_copy_has_the_start_moved_as_its_end(write: Write, tmp_path: Path) -> None:
    path, copy = write(lost_record(START, END, 3), statistics(END)), tmp_path / "copy.smf"
    run("anonymise", path, "--to", copy, "--shift-days", "-40", code=0)
    moved = dt.timedelta(days=40)
    assert rows(copy)[0][2:] == (START - moved, END - moved, 260.0, 3)


def test_the_loss_of_the_case_is_said_by_info_summary_and_page(tmp_path: Path) -> None:
    path, page = case("lost"), tmp_path / "page.html"
    assert rows(path) == [("SYSX", None, START, END, 260.0, 48_211)]
    assert "SMF lost 48,211 records of SYSX from 2026/05/11 10:02:10" in run("info", path).stdout
    with Catalog(open_inputs([path])) as catalog:
        document = SummaryDocument(summarized(catalog))
    (manager,) = json.loads("".join(lines(document, "json")))["managers"]
    assert manager["lost"] == [LOSS]
    assert [*lines(document, "text")][2].startswith(IN_SHORT)
    assert run("dashboard", path, "--output", page).exit_code == 0
    text = page.read_text("utf-8")
    assert f"<p>{IN_SHORT}" in text
    assert "SMF-LOST" in text
