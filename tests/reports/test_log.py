"""The report log: every figure that was published comes out, and none is invented.

Most cases are a queue manager each of one input (`records`): a section each, and one total each.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from smfparse import reports
from smfparse.inputs import SmfFile, open_inputs
from smfparse.query import Catalog
from smfparse.reports import TOTAL
from smfparse.writing import write_dataset
from tests.support.builders import Write
from tests.support.goldens import LOGS, log_of
from tests.support.paths import GOLDEN
from tests.support.published import published
from tests.support.real import REAL_DATA, needs_real_data
from tests.support.report_runs import cells, lines_of, report_lines, report_rows, rows_from
from tests.support.smf import LOG_START, Io, Log, facts, log_record

Rows = list[dict[str, Any]]
NEAR = pytest.approx
SECOND = dt.timedelta(seconds=1)
COUNTERS = {
    name: int(row["offset"])
    for name, row in facts()["QJST"].items()
    if (row["kind"], row["width"], row["combine"]) == ("int", "4", "sum") and row["since"] < "8"
    if name != "qjstll"
}
"""Counters of every release since 7.0.1, each with a number that no other has: its offset."""
PRINTED_COUNTERS = [
    *("qjstwrw", "qjstwrnw", "qjstwrf", "qjstrbuf", "qjstract"),
    *("qjstrarh", "qjstbsds", "qjstbffl", "qjstbfwr", "qjstalw"),
    *("qjstciof", "qjstllcp", "qjstwur", "qjstlama", "qjstlams"),
]
"""The fields of the counter block, in the order in which MP1B prints them."""
BUSY_LOGGER = Log(
    counters={
        "qjstwrnw": 311222, "qjstwrf": 1564, "qjstrbuf": 4, "qjstbsds": 3157, "qjstbffl": 28743,
        "qjstbfwr": 172880, "qjstllcp": 1564, "qjstlogw": 102400, "qjstciwr": 1126400,
    },
    io={
        (1, 1): Io(1200, 1200, 300_000, 400_000, 900, dt.datetime(2023, 10, 2, 9, 52, 53), "L101"),
        (1, 2): Io(50000, 562000, 9_000_000, 9_066_000, 2500, None, "L101"),
        (2, 1): Io(1200, 1200, 310_000, 390_000, 950, None, "L201"),
        (2, 2): Io(50000, 562000, 9_010_000, 9_016_000, 2400, None, "L201"),
    },
    sleep_us=10_000,
)  # fmt: skip
"""10 s of a logger that is full: 220 MB/s a copy, 11 pages an I/O, 94.66 % and 99.9 % busy."""
OLD_LOGGER = Log(counters={"qjstciwr": 579460, "qjstlogw": 458698})
IDLE_LOGGER = Log(sleep_us=10_000_000)
COPIES = Log(
    io={(1, 1): Io(100, 100), (1, 2): Io(10, 1180), (2, 1): Io(100, 100), (2, 2): Io(20, 2460)}
)
"""The second copy writes more."""
RATES = {"LOW0": (1, 1, 60, "0", "0.000"), "LOW1": (148_711, 148_711, 1792.884543, "0", "0.324"),
         "LOW2": (458_698, 579_460, 57, "39", "39.711")}  # fmt: skip
"""By queue manager: I/Os, pages, seconds, and the rate as MP1B shows it and in full."""
YEAR = dt.datetime(2024, 1, 1, 12)
SEVERAL = (("QM2", 20), ("QM2", 0), ("QM1", 10), ("QM2", 5), ("QM1", 0))
"""Queue managers, with seconds of intervals since YEAR; out of order."""
WORST = dt.datetime(2023, 10, 2, 9, 53, 9, 123_456)
INTERVALS = (
    (10, Log(counters={"qjstwrnw": 100}, sleep_us=9_000_000,
             io={(1, 1): Io(1000, 1000, 400_000, 1_000_000, 700, None, "ACTLG101")})),
    (30, Log(counters={"qjstwrnw": 11}, sleep_us=3_000_000,
             io={(1, 1): Io(10, 1560, 50_000, 20_000_000, 81_000, WORST, "ACTLG102")})),
    (10, Log(counters={"qjstwrnw": 1}, sleep_us=10_000_000,
             io={(1, 1): Io(0, 0, 0, 0, 500, None, "ACTLG103")})),
)  # fmt: skip
"""Intervals of one queue manager, which follow one another: seconds, and its log."""


def records() -> list[bytes]:
    """Return records of each case; the name of the queue manager says which."""
    eight = dt.datetime(2014, 3, 18, 12, 45, 0, 15_222)
    published = Log(
        counters={"qjstbffl": 399 * 256 + 255, "qjstllcp": 0},
        io={(copy, 2): Io(3000, 400 * 256 + 100) for copy in (1, 2)},
    )
    cases: list[tuple[str, Log, dict[str, Any]]] = [
        ("FULL", BUSY_LOGGER, {}),
        ("MQ08", BUSY_LOGGER, {"release": "800", "start": eight, "duration_us": 900_068_408,
                               "east": dt.timedelta(hours=-4)}),
        ("MQ10", BUSY_LOGGER, {"release": "946", "qsg": "QSG1"}),
        *((f"L{length}", BUSY_LOGGER, {"release": release, "length": length})
          for release, length in (("800", 576), ("912", 592), ("930", 596), ("940", 720))),
        ("NONE", OLD_LOGGER, {"release": "700", "start": None}),
        ("IDLE", IDLE_LOGGER, {}),
        ("ZERO", BUSY_LOGGER, {"duration_us": 0}),
        ("COPY", COPIES, {}),
        ("BOTH", Log(io={(1, 1): Io(9, 9, 0, 8_000_000), (2, 1): Io(9, 9, 0, 9_000_000)}), {}),
        ("CNTR", Log(counters=COUNTERS), {}),
        ("SOME", BUSY_LOGGER, {}),
        ("SOME", Log(io={(1, 1): Io(5, 5)}), {"start": LOG_START + 10 * SECOND}),
        *((name, Log(counters={"qjstbffl": pages}, io={(1, 1): Io(ios, pages)}),
           {"duration_us": round(seconds * 1e6)})
          for name, (ios, pages, seconds, *_) in RATES.items()),
        ("QML1", published, {"release": "800", "start": dt.datetime(2010, 9, 29, 15, 17, 18),
                             "duration_us": 900_000_000, "system": "MPX1"}),
        *((name, BUSY_LOGGER, {"start": YEAR + after * SECOND, "system": f"SYS{name[-1]}"})
          for name, after in SEVERAL),
        *(("TWO", log, {"start": LOG_START + before * SECOND, "duration_us": seconds * 1_000_000})
          for (seconds, log), before in zip(INTERVALS, (0, 10, 40), strict=True)),
        ("GAPS", BUSY_LOGGER, {}),
        ("GAPS", BUSY_LOGGER, {"start": dt.datetime(2023, 10, 2, 13)}),
        *(("SAME", BUSY_LOGGER, {"system": system}) for system in ("SYS1", "SYS2")),
        ("MIGR", OLD_LOGGER, {"release": "700", "start": LOG_START - 10 * SECOND}),
        ("MIGR", IDLE_LOGGER, {}),
    ]  # fmt: skip
    unclocked = bytearray(log_record(Log(), qmgr="CLCK"))
    area = int.from_bytes(unclocked[28:32])
    unclocked[area + 16 : area + 24] = bytes(8)  # QWHSSTCK
    return [bytes(unclocked), *(log_record(log, qmgr=name, **keys) for name, log, keys in cases)]


class Made:
    """The sections of an input, by queue manager."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def of(self, *qmgrs: str) -> Rows:
        return [row for row in self.rows if row["qmgr"] in qmgrs]

    def one(self, qmgr: str) -> dict[str, Any]:
        (row,) = self.of(qmgr)
        return row

    def text(self, *qmgrs: str) -> list[str]:
        return lines_of("log", self.of(*qmgrs))

    def cells(self, qmgr: str) -> dict[str, str]:
        (row,) = cells(lines_of("log", self.of(qmgr), "csv"))
        return row

    def json(self, qmgr: str) -> dict[str, Any]:
        found: list[dict[str, Any]] = json.loads("\n".join(lines_of("log", self.of(qmgr), "json")))[
            "rows"
        ]
        return found[0]


@pytest.fixture(scope="module")
def made() -> Made:
    return Made(rows_from("log", *records()))


@pytest.fixture(scope="module")
def totals() -> Made:
    return Made(rows_from("log", *records(), sections=TOTAL))


# Text.


def test_every_counter_of_the_block_is_that_of_its_field(made: Made) -> None:
    printed = [int(number) for number in re.findall(r"\d+", "\n".join(made.text("CNTR")[-5:]))]
    assert printed == [COUNTERS[name] for name in PRINTED_COUNTERS]


def test_the_heading_of_a_section_is_as_published_for_its_release(made: Made) -> None:
    assert made.text("FULL")[:2] == [
        "MVCA,FULL,2023/10/02,11:53:02,VRM:930,",
        "From 2023/10/02,11:52:52 to 2023/10/02,11:53:02, duration 10 seconds.",
    ]
    assert made.text("MQ08")[:2] == [
        "MVCA,MQ08,2014/03/18,13:00:00,VRM:800,",
        "From 2014/03/18,12:45:00.015222 to 2014/03/18,13:00:00.083630 duration 900.068408 seconds",
    ]
    lines = made.text("MQ10")
    assert lines[0] == "MVCA,MQ10,2023/10/02,11:53:02,VRM:100000,"
    assert lines[1].endswith(", duration 10 seconds.")


@pytest.mark.parametrize("length", [576, 592, 596, 720])
def test_every_length_with_an_io_block_gives_the_published_figures(made: Made, length: int) -> None:
    lines = made.text(f"L{length}")
    assert "Pages written per I/O:    11" in lines
    assert "Log write rate:          220MB/s per copy" in lines
    assert "Logger I/O busy:         94.66%" in lines
    assert "Logger task busy:        99.9%" in lines
    assert lines[-5:] == published("log")


def io_lines(lines: list[str]) -> dict[str, str]:
    """Return the lines of I/O by copy and type, with one blank between words."""
    found = [" ".join(line.split()) for line in lines if line.startswith("Copy ")]
    return {" ".join(line.split()[1:3]): line.partition("I/O ")[2] for line in found}


def test_an_idle_logger_shows_zeros_and_a_dash_only_for_what_no_io_has(made: Made) -> None:
    lines = made.text("IDLE")
    assert "Pages written per I/O:     -" in lines
    assert "Log write rate:            0MB/s per copy" in lines
    assert "Logger I/O busy:         0%" in lines
    assert "Logger task busy:        0%" in lines
    assert "Total Number of pages written: 0" in lines
    assert {*io_lines(lines).values()} == {"0, pages 0, average -, longest - at - on -"}


def test_an_interval_of_no_length_or_that_is_not_known_has_counts_but_nothing_by_time(
    made: Made,
) -> None:
    lines = made.text("NONE")
    assert lines[0] == "MVCA,NONE,2023/10/02,11:53:02,VRM:700,"
    assert lines[1].count("-") == 3
    assert "Total Number of pages written: 579460" in lines
    lines = made.text("ZERO")
    assert "Pages written per I/O:    11" in lines
    assert "Log write rate:            -" in lines
    assert "Logger I/O busy:         -" in lines
    assert "Logger task busy:        -" in lines


def test_average_and_longest_io_belong_to_their_copy_and_type(made: Made) -> None:
    found = io_lines(made.text("FULL"))
    assert found["1 one-page"] == (
        "1200, pages 1200, average 250 uS, longest 900 uS at 2023/10/02,11:52:53.000000 on L101"
    )
    assert found["2 multi-page"] == (
        "50000, pages 562000, average 180 uS, longest 2400 uS at - on L201"
    )
    rows = made.of("SOME")
    assert [row["io_1_1_count"] for row in rows] == [1200, 5]
    assert [row["io_2_2_count"] for row in rows] == [50000, 0]


@pytest.mark.parametrize("qmgr", RATES)
def test_a_low_rate_is_shown_below_the_line_of_mp1b(made: Made, qmgr: str) -> None:
    """In CSV it has a column of its own; so have megabytes, which are truncated as well."""
    ios, pages, _, as_mp1b, exact = RATES[qmgr]
    lines, row = made.text(qmgr), made.cells(qmgr)
    at = lines.index(f"Log write rate:          {as_mp1b:>3}MB/s per copy")
    assert lines[at + 1] == f"Log write rate: {exact} MB/s per copy"
    assert f"Pages written per I/O:     {pages // ios}" in lines
    assert (row["MB/SEC"], row["Log write MB/s per copy"]) == (as_mp1b, exact)
    for truncated, whole in (("MB Written", "Log MB written per copy"), ("MB Used", "Log MB used")):
        assert row[truncated] == str(pages // 256)
        assert row[whole] == f"{pages / 256:.3f}"


def test_the_rate_is_that_of_the_copy_that_wrote_most_and_copies_are_not_added(made: Made) -> None:
    row = made.one("COPY")
    assert (row["pages_per_copy"], row["mb_written"], row["log_write_rate"]) == (2560, 10, 1)
    assert row["pages_per_write"] == (1280 + 2560) / (110 + 120)
    assert made.one("BOTH")["io_busy"] == 90


def test_sections_come_in_time_order_and_are_separated_by_one_empty_line(made: Made) -> None:
    sections = "\n".join(made.text("QM1", "QM2")).split("\n\n")
    assert [section.partition("\n")[0] for section in sections] == [
        "SYS1,QM1,2024/01/01,12:00:10,VRM:930,",
        "SYS2,QM2,2024/01/01,12:00:10,VRM:930,",
        "SYS2,QM2,2024/01/01,12:00:15,VRM:930,",
        "SYS1,QM1,2024/01/01,12:00:20,VRM:930,",
        "SYS2,QM2,2024/01/01,12:00:30,VRM:930,",
    ]
    assert [section.count("duration") for section in sections] == [1] * 5
    assert all("" not in section.splitlines() for section in sections)


# CSV and JSON.


def test_the_csv_gives_the_published_line(made: Made) -> None:
    """400 MB in 900 s, 399 MB of new pages, 34 pages an I/O; the date is as in all our CSV."""
    header, row = lines_of("log", made.of("QML1"), "csv")
    assert header.startswith(
        "z/OS,QM,Date,Time,MB Written,MB/SEC,MB Used,Pages per I/O,Checkpoints"
    )
    assert row.startswith("MPX1,QML1,2010-09-29,15:32:18,400,0,399,34,0,")


def test_moments_are_local_in_csv_and_both_in_json(made: Made) -> None:
    row, section = made.cells("FULL"), made.json("FULL")
    assert row["Longest I/O at copy 1 one-page"] == "2023-10-02 11:52:53.000000"
    assert row["Interval start"] == "2023-10-02 11:52:52.000000"
    assert float(row["Interval seconds"]) == 10
    expected = {
        "time": "2023-10-02T09:53:02+00:00",
        "time_local": "2023-10-02T11:53:02+02:00",
        "interval_start": "2023-10-02T09:52:52+00:00",
        "interval_start_local": "2023-10-02T11:52:52+02:00",
        "io_1_1_longest_at": "2023-10-02T09:52:53+00:00",
        "io_1_1_longest_at_local": "2023-10-02T11:52:53+02:00",
        "smf_time": "2023-10-02T11:53:02",
    }
    assert {name: section[name] for name in expected} == expected


# Totals.


def test_a_total_is_one_section_a_queue_manager_of_a_system(totals: Made) -> None:
    rows = totals.of("QM1", "QM2")
    assert [(row["system"], row["qmgr"]) for row in rows] == [("SYS1", "QM1"), ("SYS2", "QM2")]
    assert [row["interval_seconds"] for row in rows] == [20, 30]
    assert [row["write_nowait"] for row in rows] == [2 * 311222, 3 * 311222]
    assert [row["system"] for row in totals.of("SAME")] == ["SYS1", "SYS2"]


def test_the_longest_io_of_a_total_keeps_its_own_time_and_log(totals: Made) -> None:
    row = totals.one("TWO")
    assert (row["io_1_1_longest"], row["io_1_1_longest_log"]) == (81_000, "ACTLG102")
    assert row["io_1_1_longest_at"] == WORST.replace(tzinfo=dt.UTC)


def test_a_total_covers_from_the_first_start_for_the_recorded_time(totals: Made) -> None:
    assert totals.text("TWO")[:2] == [
        "MVCA,TWO,2023/10/02,11:53:42,VRM:930,",
        "From 2023/10/02,11:52:52 to 2023/10/02,11:53:42, duration 50 seconds.",
    ]
    assert totals.text("GAPS")[1] == (
        "From 2023/10/02,11:52:52 to 2023/10/02,13:00:10, duration 20 seconds."
    )
    assert totals.text("CLCK")[:2] == [
        "MVCA,CLCK,2023/10/02,11:53:02,VRM:930,",
        "From - to -, duration - seconds.",
    ]


def test_a_total_over_a_migration_does_not_count_unmeasured_time_as_busy(totals: Made) -> None:
    """10 s of an old release say nothing of the logger; in the 10 s of the new one it slept."""
    assert totals.one("MIGR")["task_busy"] in (None, 0)


# Files and datasets.


def test_the_same_record_of_two_files_makes_two_sections(write: Write) -> None:
    first = write(log_record(BUSY_LOGGER), name="one.smf")
    second = write(log_record(OLD_LOGGER, release="700"), name="two.smf")
    rows = report_rows("log", first, second)
    assert sorted(row["pages_written"] for row in rows) == [579460, 1126400]
    assert sorted(row["io_1_1_count"] or 0 for row in rows) == [0, 1200]


def test_datasets_converted_from_files_of_one_name_stay_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each day's folder has its DUMP.smf, and convert is called in that folder."""
    days = {"monday": Log(io={(1, 1): Io(5, 5)}), "tuesday": Log(io={(1, 1): Io(7, 7)})}
    for number, (day, log) in enumerate(days.items()):
        (tmp_path / day).mkdir()
        record = log_record(log, start=LOG_START + number * dt.timedelta(days=1))
        (tmp_path / day / "DUMP.smf").write_bytes(record)
        monkeypatch.chdir(tmp_path / day)
        write_dataset(open_inputs(["DUMP.smf"]), tmp_path / f"{day}-tables")
    rows = report_rows("log", tmp_path / "monday-tables", tmp_path / "tuesday-tables")
    assert sorted(row["io_1_1_count"] for row in rows) == [5, 7]


def test_a_file_is_counted_once_beside_its_dataset_and_two_datasets_are_two(
    tmp_path: Path, write: Write
) -> None:
    dump = write(log_record(Log(io={(1, 1): Io(5, 5)})))
    for name in ("tables", "again"):
        write_dataset(open_inputs([dump]), tmp_path / name)
    rows = report_rows("log", dump, tmp_path / "tables")
    assert [row["io_1_1_count"] for row in rows] == [5]
    rows = report_rows("log", tmp_path / "again", tmp_path / "tables")
    assert [row["io_1_1_count"] for row in rows] == [5, 5]


def test_a_report_reads_each_file_once_and_a_catalog_gives_several(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes: list[list[str]] = []
    batches, which = SmfFile.batches, reports.report("log")

    def watched(file: SmfFile, wanted: Any, *how: Any) -> Any:
        passes.append(sorted(wanted))
        return batches(file, wanted, *how)

    monkeypatch.setattr(SmfFile, "batches", watched)
    with Catalog(open_inputs([write(log_record(BUSY_LOGGER))])) as catalog:
        first = list(reports.run_report(which, catalog))
        assert (len(first), passes) == (1, [sorted(which.tables)])
        assert len(list(reports.run_report(which, catalog, TOTAL))) == 1
        assert list(reports.run_report(which, catalog)) == first


@pytest.mark.parametrize("fixture", LOGS)
def test_the_report_of_a_fixture_is_the_golden_file(fixture: str) -> None:
    assert log_of(fixture) == (GOLDEN / f"log-{fixture}.txt").read_text(encoding="utf-8")


def real(name: str) -> Path:
    assert REAL_DATA is not None
    return REAL_DATA / name


@needs_real_data
def test_the_real_file_of_qml1_gives_its_sixteen_sections() -> None:
    lines = report_lines("log", real("TESTCHL.dat"))
    heads = [line for line in lines if ",VRM:" in line]
    assert heads[0] == "MPX1,QML1,2016/02/27,18:01:33,VRM:800,"
    assert all(head.startswith("MPX1,QML1,2016/02/27,18:") for head in heads)
    assert heads == sorted(heads)
    assert len(heads) == sum("duration" in line for line in lines) == 16


@needs_real_data
def test_the_figures_of_a_real_file_agree_with_the_numbers_of_ibms_formatter() -> None:
    """119883 + 7457 I/Os and 119883 + 28813 pages a copy; copy 2 suspended 152.575 + 12.005 s."""
    path = real("TEST115.dat")
    (row,) = rows = report_rows("log", path)
    assert row["pages_per_write"] == NEAR((119883 + 28813) / (119883 + 7457))
    assert row["log_write_rate"] == NEAR((119883 + 28813) / 256 / 1792.884543)
    assert row["io_busy"] == NEAR(100 * (152.575383 + 12.005393) / 1792.884543, abs=1e-4)
    assert row["task_busy"] == NEAR(100 * (1 - 1626.633430 / 1792.884543))
    assert row["io_1_1_longest"] == NEAR(40108, abs=1)
    pages = pl.DataFrame(open_inputs([path]).arrow("qjst_io")).group_by("copy")
    most = pages.agg(pl.col("qjstioci").sum())["qjstioci"].max()
    assert row["log_write_rate"] == NEAR(most / 256 / row["interval_seconds"])
    assert "Log write rate: 0.324 MB/s per copy" in lines_of("log", rows)
