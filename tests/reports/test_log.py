"""The report log: every figure that was published comes out, and none is invented."""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from smfparse import reports
from smfparse.cli import main
from smfparse.inputs import open_inputs
from smfparse.query import Catalog
from smfparse.reports import TOTAL
from tests.support.builders import Write
from tests.support.fact_blocks import facts
from tests.support.goldens import LOGS, log_of
from tests.support.paths import FIXTURES, GOLDEN
from tests.support.real import REAL_DATA, needs_real_data
from tests.support.report_runs import cells, report_lines, report_rows
from tests.support.smf import LOG_START, Io, Log, log_record

COUNTERS = {
    name: int(row["offset"])
    for name, row in facts()["QJST"].items()
    if (row["kind"], row["width"], row["combine"]) == ("int", "4", "sum") and row["since"] < "8"
    if name != "qjstll"
}
"""Counters of every release since 7.0.1, each with a number that no other has: its offset."""


PUBLISHED_COUNTERS = """\
Write_Wait         0, Write_Nowait  311222, Write_Force       1564,
Read_Stor          4, Read_Active        0, Read_Archive         0,
BSDS_Reqs       3157, CIs_Created    28743, BFWR            172880,
ALW                0, CIs_Offload        0, LLCheckpoints     1564
Read_delayed       0, Tape_Lookahead     0, Lookahead_Mount      0"""

BUSY_LOGGER = Log(
    counters={
        "qjstwrnw": 311222,
        "qjstwrf": 1564,
        "qjstrbuf": 4,
        "qjstbsds": 3157,
        "qjstbffl": 28743,
        "qjstbfwr": 172880,
        "qjstllcp": 1564,
        "qjstlogw": 102400,
        "qjstciwr": 1126400,
    },
    io={
        (1, 1): Io(1200, 1200, 300_000, 400_000, 900, dt.datetime(2023, 10, 2, 9, 52, 53), "L101"),
        (1, 2): Io(50000, 562000, 9_000_000, 9_066_000, 2500, None, "L101"),
        (2, 1): Io(1200, 1200, 310_000, 390_000, 950, None, "L201"),
        (2, 2): Io(50000, 562000, 9_010_000, 9_016_000, 2400, None, "L201"),
    },
    sleep_us=10_000,
)
"""10 s of a logger that is full: 220 MB/s a copy, 11 pages an I/O, 94.66 % and 99.9 % busy."""

OLD_LOGGER = Log(counters={"qjstciwr": 579460, "qjstlogw": 458698})


def line_of(lines: list[str], start: str) -> str:
    """Return the only line that starts so."""
    (found,) = [each for each in lines if each.startswith(start)]
    return found


FIELDS_OF_THE_BLOCK = [
    *("qjstwrw", "qjstwrnw", "qjstwrf", "qjstrbuf", "qjstract"),
    *("qjstrarh", "qjstbsds", "qjstbffl", "qjstbfwr", "qjstalw"),
    *("qjstciof", "qjstllcp", "qjstwur", "qjstlama", "qjstlams"),
]
"""The fields of the counter block, in the order in which MP1B prints them."""


def test_every_counter_of_the_block_is_that_of_its_field(write: Write) -> None:
    """Each counter of QJST has a number of its own: its offset."""
    lines = report_lines("log", write(log_record(Log(counters=COUNTERS))))
    printed = [int(number) for number in re.findall(r"\d+", "\n".join(lines[-5:]))]
    assert printed == [COUNTERS[name] for name in FIELDS_OF_THE_BLOCK]


def test_the_figures_above_the_block_are_those_of_their_fields(write: Write) -> None:
    numbers = COUNTERS | {"qjstrbuf": 1000, "qjstract": 200, "qjstrarh": 30}
    wide = {"qjstcmpuncmp": 2**40, "qjstcmpcomp": 2**39}
    (row,) = report_rows("log", write(log_record(Log(counters=numbers | wide))))
    figures = {
        "waits_for_buffers": COUNTERS["qjstwtb"],
        "pages_written": COUNTERS["qjstciwr"],
        "write_requests": COUNTERS["qjstlogw"],
        "read_requests": 1230,
        "reads_delayed_maxrtu": COUNTERS["qjsttvc"],
        "compressions": COUNTERS["qjstcmpreq"],
        "compressions_failed": COUNTERS["qjstcmpfail"],
        "compressed_from": 2**40,
        "compressed_to": 2**39,
        "decompressions": COUNTERS["qjstdecreq"],
        "decompressions_failed": COUNTERS["qjstdecfail"],
    }
    assert {name: row[name] for name in figures} == figures


def test_a_section_of_mq_9_3_starts_as_published(write: Write) -> None:
    lines = report_lines("log", write(log_record(BUSY_LOGGER)))
    assert lines[:2] == [
        "MVCA,MQPV,2023/10/02,11:53:02,VRM:930,",
        "From 2023/10/02,11:52:52 to 2023/10/02,11:53:02, duration 10 seconds.",
    ]


def test_a_section_of_mq_8_gives_the_interval_in_microseconds(write: Write) -> None:
    start = dt.datetime(2014, 3, 18, 12, 45, 0, 15_222)
    record = log_record(
        BUSY_LOGGER,
        release="800",
        start=start,
        duration_us=900_068_408,
        east=dt.timedelta(hours=-4),
    )
    assert report_lines("log", write(record))[:2] == [
        "MVCA,MQPV,2014/03/18,13:00:00,VRM:800,",
        "From 2014/03/18,12:45:00.015222 to 2014/03/18,13:00:00.083630 duration 900.068408 seconds",
    ]


def test_mq_10_is_named_with_six_digits(write: Write) -> None:
    lines = report_lines("log", write(log_record(BUSY_LOGGER, release="946", qsg="QSG1")))
    assert lines[0] == "MVCA,MQPV,2023/10/02,11:53:02,VRM:100000,"
    assert lines[1].endswith(", duration 10 seconds.")


@pytest.mark.parametrize(
    ("release", "length"), [("800", 576), ("912", 592), ("930", 596), ("940", 720)]
)
def test_every_length_with_an_io_block_gives_the_same_figures(
    write: Write, release: str, length: int
) -> None:
    lines = report_lines("log", write(log_record(BUSY_LOGGER, release=release, length=length)))
    assert "Pages written per I/O:    11" in lines
    assert "Log write rate:          220MB/s per copy" in lines
    assert "Logger I/O busy:         94.66%" in lines
    assert "Logger task busy:        99.9%" in lines
    assert "\n".join(lines).endswith(f"\n{PUBLISHED_COUNTERS}")


def test_a_logger_before_mq_8_has_no_rate_and_no_busy_figures(write: Write) -> None:
    lines = report_lines("log", write(log_record(OLD_LOGGER, release="700")))
    assert lines[2:10] == [
        "Wait for buffers(should be 0): 0",
        "Total Number of pages written: 579460",
        "Total Number of write requests: 458698",
        "Total number of read requests: 0",
        "Pages written per I/O:     1",
        "Log write rate:            -",
        "Logger I/O busy:         -",
        "Logger task busy:        -",
    ]


def test_a_logger_before_mq_8_has_no_io_times_and_no_compression(write: Write) -> None:
    lines = report_lines("log", write(log_record(OLD_LOGGER, release="700")))
    absent = [each for each in lines if each.startswith(("Copy ", "Compress", "Decompr"))]
    assert len(absent) == 6
    for line in absent:
        figures = line.replace("one-page", "").replace("multi-page", "")
        assert not re.search(r"\d", figures.removeprefix("Copy 1").removeprefix("Copy 2")), line
    assert re.fullmatch(
        r"Copy 1 one-page I/O +-, pages +-, average +-, longest +- at - on -",
        line_of(lines, "Copy 1 one-page"),
    )


def test_a_logger_without_an_interval_still_shows_its_counters(write: Write) -> None:
    lines = report_lines("log", write(log_record(OLD_LOGGER, release="700", start=None)))
    assert lines[0] == "MVCA,MQPV,2023/10/02,11:53:02,VRM:700,"
    assert "Total Number of pages written: 579460" in lines
    assert lines[1].count("-") == 3
    assert lines[1].count("duration") == 1


def test_an_idle_logger_shows_zeros_and_a_dash_only_for_what_no_io_has(write: Write) -> None:
    lines = report_lines("log", write(log_record(Log(sleep_us=10_000_000))))
    assert "Pages written per I/O:     -" in lines
    assert "Log write rate:            0MB/s per copy" in lines
    assert "Logger I/O busy:         0%" in lines
    assert "Logger task busy:        0%" in lines
    assert "Total Number of pages written: 0" in lines
    for copy in (1, 2):
        for what in ("one-page", "multi-page"):
            assert re.fullmatch(
                rf"Copy {copy} {what} I/O +0, pages +0, average +-, longest +- at - on -",
                line_of(lines, f"Copy {copy} {what}"),
            )


def test_an_interval_of_no_length_has_counts_but_nothing_by_time(write: Write) -> None:
    lines = report_lines("log", write(log_record(BUSY_LOGGER, duration_us=0)))
    assert "Pages written per I/O:    11" in lines
    assert "Log write rate:            -" in lines
    assert "Logger I/O busy:         -" in lines
    assert "Logger task busy:        -" in lines


def test_the_published_rate_of_39_is_truncated_not_rounded(write: Write) -> None:
    """579460 pages in 57 s are 39.7 MB/s; 458698 I/Os give 1.26 pages: printed as 39 and 1."""
    log = Log(io={(1, 2): Io(458698, 579460)})
    lines = report_lines("log", write(log_record(log, duration_us=57_000_000)))
    assert "Log write rate:           39MB/s per copy" in lines
    assert "Pages written per I/O:     1" in lines


def test_the_rate_is_that_of_the_copy_that_wrote_most(write: Write) -> None:
    log = Log(
        io={(1, 1): Io(100, 100), (1, 2): Io(10, 1180), (2, 1): Io(100, 100), (2, 2): Io(20, 2460)}
    )
    (row,) = report_rows("log", write(log_record(log)))
    assert row["pages_per_copy"] == 2560
    assert row["mb_written"] == 10
    assert row["log_write_rate"] == 1
    assert row["pages_per_write"] == (1280 + 2560) / (110 + 120)


def test_the_copies_are_not_added_to_more_than_the_interval(write: Write) -> None:
    log = Log(io={(1, 1): Io(9, 9, 0, 8_000_000), (2, 1): Io(9, 9, 0, 9_000_000)})
    (row,) = report_rows("log", write(log_record(log)))
    assert row["io_busy"] == 90


def test_average_and_longest_io_belong_to_their_copy_and_type(write: Write) -> None:
    lines = report_lines("log", write(log_record(BUSY_LOGGER)))
    assert re.fullmatch(
        r"Copy 1 one-page I/O +1200, pages +1200, average +250 uS, longest +900 uS"
        r" at 2023/10/02,11:52:53\.000000 on L101",
        line_of(lines, "Copy 1 one-page"),
    )
    assert re.fullmatch(
        r"Copy 2 multi-page I/O +50000, pages +562000, average +180 uS, longest +2400 uS"
        r" at - on L201",
        line_of(lines, "Copy 2 multi-page"),
    )


def several(write: Write) -> Path:
    """Two queue managers on two systems, written out of order."""
    noon = dt.datetime(2024, 1, 1, 12)
    records = [
        log_record(BUSY_LOGGER, start=noon + dt.timedelta(seconds=after), qmgr=qmgr, system=system)
        for after, qmgr, system in [
            (20, "QM2", "SYS2"),
            (0, "QM2", "SYS2"),
            (10, "QM1", "SYS1"),
            (5, "QM2", "SYS2"),
            (0, "QM1", "SYS1"),
        ]
    ]
    return write(*records)


def test_the_word_duration_stands_on_one_line_a_section(write: Write) -> None:
    lines = report_lines("log", several(write))
    assert sum("duration" in line for line in lines) == 5
    assert sum(line.count("duration") for line in lines) == 5


def test_sections_come_in_time_order_whatever_the_queue_manager(write: Write) -> None:
    heads = [line for line in report_lines("log", several(write)) if ",VRM:" in line]
    assert heads == [
        "SYS1,QM1,2024/01/01,12:00:10,VRM:930,",
        "SYS2,QM2,2024/01/01,12:00:10,VRM:930,",
        "SYS2,QM2,2024/01/01,12:00:15,VRM:930,",
        "SYS1,QM1,2024/01/01,12:00:20,VRM:930,",
        "SYS2,QM2,2024/01/01,12:00:30,VRM:930,",
    ]


def test_sections_are_separated_by_one_empty_line(write: Write) -> None:
    sections = "\n".join(report_lines("log", several(write))).split("\n\n")
    assert len(sections) == 5
    assert all(section.startswith("SYS") for section in sections)
    assert all("" not in section.splitlines() for section in sections)


def test_a_section_takes_only_the_io_of_its_own_record(write: Write) -> None:
    quiet = Log(io={(1, 1): Io(5, 5)}, sleep_us=10_000_000)
    rows = report_rows(
        "log",
        write(
            log_record(BUSY_LOGGER),
            log_record(quiet, start=dt.datetime(2023, 10, 2, 11, 53, 2)),
        ),
    )
    assert [row["io_1_1_count"] for row in rows] == [1200, 5]
    assert [row["io_2_2_count"] for row in rows] == [50000, 0]


@pytest.mark.parametrize(
    ("pages", "seconds", "as_mp1b", "exact"),
    [(1, 60, "0", "0.000"), (148_711, 1792.884543, "0", "0.324"), (579_460, 57, "39", "39.711")],
)
def test_a_low_rate_is_shown_below_the_line_of_mp1b(
    write: Write, pages: int, seconds: float, as_mp1b: str, exact: str
) -> None:
    """In CSV it has a column of its own; so have megabytes, which are truncated as well."""
    log = Log(counters={"qjstbffl": pages}, io={(1, 1): Io(pages, pages)})
    path = write(log_record(log, duration_us=round(seconds * 1e6)))
    lines = report_lines("log", path)
    at = lines.index(f"Log write rate:          {as_mp1b:>3}MB/s per copy")
    assert lines[at + 1] == f"Log write rate: {exact} MB/s per copy"
    (row,) = cells(report_lines("log", path, form="csv"))
    assert (row["MB/SEC"], row["Log write MB/s per copy"]) == (as_mp1b, exact)
    for truncated, whole in (("MB Written", "Log MB written per copy"), ("MB Used", "Log MB used")):
        assert row[truncated] == str(pages // 256)
        assert row[whole] == f"{pages / 256:.3f}"


@needs_real_data
def test_the_low_rate_of_a_real_log_is_shown() -> None:
    """Pages of the copy that wrote most, over the interval: from the table, in polars."""
    path = REAL_DATA / "TEST115.dat"
    inputs = open_inputs([path])
    pages = pl.DataFrame(inputs.arrow("qjst_io")).group_by("copy").agg(pl.col("qjstioci").sum())
    seconds = pl.DataFrame(inputs.arrow("qjst"))["interval_seconds"].item()
    rate = pages["qjstioci"].max() / 256 / seconds
    assert f"Log write rate: {rate:.3f} MB/s per copy" == "Log write rate: 0.324 MB/s per copy"
    assert f"Log write rate: {rate:.3f} MB/s per copy" in report_lines("log", path)


def test_the_same_record_of_two_files_makes_two_sections(write: Write) -> None:
    first = write(log_record(BUSY_LOGGER), name="one.smf")
    second = write(log_record(OLD_LOGGER, release="700"), name="two.smf")
    rows = report_rows("log", first, second)
    assert sorted(row["pages_written"] for row in rows) == [579460, 1126400]
    assert sorted(row["io_1_1_count"] or 0 for row in rows) == [0, 1200]


def test_the_csv_starts_with_the_columns_of_mp1b(write: Write) -> None:
    header = report_lines("log", write(log_record(BUSY_LOGGER)), form="csv")[0]
    assert header.startswith(
        "z/OS,QM,Date,Time,MB Written,MB/SEC,MB Used,Pages per I/O,Checkpoints"
    )


def test_the_csv_gives_the_published_line(write: Write) -> None:
    """400 MB in 900 s, 399 MB of new pages, 34 pages an I/O; the date is as in all our CSV."""
    log = Log(
        counters={"qjstbffl": 399 * 256 + 255, "qjstllcp": 0},
        io={(copy, 2): Io(3000, 400 * 256 + 100) for copy in (1, 2)},
    )
    record = log_record(
        log,
        release="800",
        start=dt.datetime(2010, 9, 29, 15, 17, 18),
        duration_us=900_000_000,
        system="MPX1",
        qmgr="QML1",
    )
    lines = report_lines("log", write(record), form="csv")
    assert lines[1].startswith("MPX1,QML1,2010-09-29,15:32:18,400,0,399,34,0,")


def test_absent_figures_are_empty_cells(write: Write) -> None:
    (row,) = cells(report_lines("log", write(log_record(OLD_LOGGER, release="700")), form="csv"))
    assert row["Pages written"] == "579460"
    for name in (
        "MB Written",
        "MB/SEC",
        "Log write MB/s per copy",
        "Logger I/O busy %",
        "Logger task busy %",
        "I/Os copy 1 one-page",
        "Average I/O uS copy 2 multi-page",
        "Longest I/O at copy 1 one-page",
        "Compression requests",
        "QSG",
    ):
        assert row[name] == "", name


@pytest.mark.parametrize("qmgr", ["=1+1", "+SUM", "-QM1", "@QM1", "-INF"])
def test_no_queue_manager_name_becomes_a_formula(write: Write, qmgr: str) -> None:
    (row,) = cells(report_lines("log", write(log_record(BUSY_LOGGER, qmgr=qmgr)), form="csv"))
    assert row["QM"] == f"'{qmgr}"


def test_a_name_with_a_comma_and_a_quote_survives_the_csv(write: Write) -> None:
    (row,) = cells(report_lines("log", write(log_record(BUSY_LOGGER, qmgr='A,"B')), form="csv"))
    assert row["QM"] == 'A,"B'


def test_a_negative_number_stays_a_number_in_the_csv(write: Write) -> None:
    log = Log(counters={"qjstlogw": -5})
    (row,) = cells(report_lines("log", write(log_record(log)), form="csv"))
    assert row["Write requests"] == "-5"


def test_the_csv_gives_moments_in_the_local_time_of_the_system(write: Write) -> None:
    (row,) = cells(report_lines("log", write(log_record(BUSY_LOGGER)), form="csv"))
    assert row["Longest I/O at copy 1 one-page"] == "2023-10-02 11:52:53.000000"
    assert row["Interval start"] == "2023-10-02 11:52:52.000000"
    assert float(row["Interval seconds"]) == 10


def json_sections(path: Path) -> list[dict[str, Any]]:
    found = json.loads("\n".join(report_lines("log", path, form="json")))
    assert found["report"] == "log"
    sections: list[dict[str, Any]] = found["rows"]
    return sections


def test_json_gives_numbers_in_full(write: Write) -> None:
    log = Log(io={(1, 2): Io(458698, 579460)}, sleep_us=1)
    (section,) = json_sections(write(log_record(log, duration_us=57_000_000)))
    assert section["log_write_rate"] == pytest.approx(579460 / 256 / 57, rel=1e-12)
    assert section["pages_per_write"] == pytest.approx(579460 / 458698, rel=1e-12)
    assert section["task_busy"] == pytest.approx(100 * (1 - 1e-6 / 57), rel=1e-12)
    assert section["interval_seconds"] == 57


def test_json_gives_moments_in_utc_and_in_local_time(write: Write) -> None:
    (section,) = json_sections(write(log_record(BUSY_LOGGER)))
    assert section["time"] == "2023-10-02T09:53:02+00:00"
    assert section["time_local"] == "2023-10-02T11:53:02+02:00"
    assert section["interval_start"] == "2023-10-02T09:52:52+00:00"
    assert section["interval_start_local"] == "2023-10-02T11:52:52+02:00"
    assert section["io_1_1_longest_at"] == "2023-10-02T09:52:53+00:00"
    assert section["io_1_1_longest_at_local"] == "2023-10-02T11:52:53+02:00"
    assert section["smf_time"] == "2023-10-02T11:53:02"


def test_json_shows_what_is_absent_as_null(write: Write) -> None:
    (section,) = json_sections(write(log_record(OLD_LOGGER, release="700")))
    absent = ("mb_written", "io_busy", "task_busy", "io_1_1_count", "io_1_1_longest_at", "qsg")
    assert {name: section[name] for name in absent} == dict.fromkeys(absent)


WORST = dt.datetime(2023, 10, 2, 9, 53, 9, 123_456)
TWO_INTERVALS = (
    Log(
        counters={"qjstwrnw": 100, "qjstllcp": 3},
        io={(1, 1): Io(1000, 1000, 400_000, 1_000_000, 700, None, "ACTLG101")},
        sleep_us=9_000_000,
    ),
    Log(
        counters={"qjstwrnw": 11, "qjstllcp": 4},
        io={(1, 1): Io(10, 1560, 50_000, 20_000_000, 81_000, WORST, "ACTLG102")},
        sleep_us=3_000_000,
    ),
    Log(
        counters={"qjstwrnw": 1, "qjstllcp": 0},
        io={(1, 1): Io(0, 0, 0, 0, 500, None, "ACTLG103")},
        sleep_us=10_000_000,
    ),
)
DURATIONS = (10_000_000, 30_000_000, 10_000_000)


def intervals(write: Write, **keys: Any) -> Path:
    start = dt.datetime(2023, 10, 2, 11, 52, 52)
    records = []
    for log, duration in zip(TWO_INTERVALS, DURATIONS, strict=True):
        records.append(log_record(log, start=start, duration_us=duration, **keys))
        start += dt.timedelta(microseconds=duration)
    return write(*records)


def test_a_total_is_one_section_a_queue_manager(write: Write) -> None:
    rows = report_rows("log", several(write), sections=TOTAL)
    assert [(row["system"], row["qmgr"]) for row in rows] == [("SYS1", "QM1"), ("SYS2", "QM2")]
    assert [row["interval_seconds"] for row in rows] == [20, 30]
    assert [row["write_nowait"] for row in rows] == [2 * 311222, 3 * 311222]


def test_the_ratios_of_a_total_come_from_the_combined_counters(write: Write) -> None:
    (row,) = report_rows("log", intervals(write), sections=TOTAL)
    assert row["interval_seconds"] == 50
    assert row["mb_written"] == 10
    assert row["log_write_rate"] == pytest.approx(0.2)
    assert row["pages_per_write"] == pytest.approx(2560 / 1010)
    assert row["io_busy"] == pytest.approx(100 * 21 / 50)
    assert row["task_busy"] == pytest.approx(100 * (1 - 22 / 50))
    assert row["io_1_1_average"] == pytest.approx(450_000 / 1010)


def test_the_longest_io_of_a_total_keeps_its_own_time_and_log(write: Write) -> None:
    (row,) = report_rows("log", intervals(write), sections=TOTAL)
    assert row["io_1_1_longest"] == 81_000
    assert row["io_1_1_longest_at"] == WORST.replace(tzinfo=dt.UTC)
    assert row["io_1_1_longest_log"] == "ACTLG102"


def test_a_total_covers_from_the_first_start_for_the_recorded_time(write: Write) -> None:
    lines = report_lines("log", intervals(write), sections=TOTAL)
    assert lines[:2] == [
        "MVCA,MQPV,2023/10/02,11:53:42,VRM:930,",
        "From 2023/10/02,11:52:52 to 2023/10/02,11:53:42, duration 50 seconds.",
    ]


def test_a_total_over_a_gap_ends_with_its_last_interval(write: Write) -> None:
    late = dt.datetime(2023, 10, 2, 13, 0, 0)
    lines = report_lines(
        "log", write(log_record(BUSY_LOGGER), log_record(BUSY_LOGGER, start=late)), sections=TOTAL
    )
    assert lines[1] == "From 2023/10/02,11:52:52 to 2023/10/02,13:00:10, duration 20 seconds."


def test_a_total_keeps_queue_managers_of_one_name_on_two_systems_apart(write: Write) -> None:
    path = write(log_record(BUSY_LOGGER, system="SYS1"), log_record(BUSY_LOGGER, system="SYS2"))
    assert [row["system"] for row in report_rows("log", path, sections=TOTAL)] == ["SYS1", "SYS2"]


def test_a_total_over_a_migration_does_not_count_unmeasured_time_as_busy(write: Write) -> None:
    """10 s of an old release say nothing of the logger; in the 10 s of the new one it slept."""
    old = log_record(OLD_LOGGER, release="700", start=dt.datetime(2023, 10, 2, 11, 52, 42))
    new = log_record(Log(sleep_us=10_000_000))
    (row,) = report_rows("log", write(old, new), sections=TOTAL)
    assert row["task_busy"] in (None, 0)


def test_datasets_converted_from_files_of_one_name_stay_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each day's folder has its DUMP.smf, and convert is called in that folder."""
    from smfparse.writing import write_dataset

    days = {"monday": Log(io={(1, 1): Io(5, 5)}), "tuesday": Log(io={(1, 1): Io(7, 7)})}
    for number, (day, log) in enumerate(days.items()):
        (tmp_path / day).mkdir()
        record = log_record(log, start=LOG_START + number * dt.timedelta(days=1))
        (tmp_path / day / "DUMP.smf").write_bytes(record)
        monkeypatch.chdir(tmp_path / day)
        write_dataset(open_inputs(["DUMP.smf"]), tmp_path / f"{day}-tables")
    rows = report_rows("log", tmp_path / "monday-tables", tmp_path / "tuesday-tables")
    assert sorted(row["io_1_1_count"] for row in rows) == [5, 7]


def test_explain_gives_published_formulas_as_such() -> None:
    figures = {each.name: each for each in reports.report("log").figures}
    assert figures["mb_written"].evidence == "published"
    assert figures["read_requests"].formula == "QJSTRBUF + QJSTRACT + QJSTRARH"
    assert figures["io_busy"].evidence == "inferred"
    assert figures["task_busy"].evidence == "inferred"


def real(name: str) -> Path:
    assert REAL_DATA is not None
    return REAL_DATA / name


@needs_real_data
def test_the_real_file_of_qml1_gives_its_sixteen_sections() -> None:
    lines = report_lines("log", real("TESTCHL.dat"))
    heads = [line for line in lines if ",VRM:" in line]
    assert len(heads) == 16
    assert heads[0] == "MPX1,QML1,2016/02/27,18:01:33,VRM:800,"
    assert all(head.startswith("MPX1,QML1,2016/02/27,18:") for head in heads)
    assert heads == sorted(heads)
    assert sum("duration" in line for line in lines) == 16


@needs_real_data
def test_the_figures_of_a_real_file_agree_with_the_numbers_of_ibms_formatter() -> None:
    """119883 + 7457 I/Os and 119883 + 28813 pages a copy; copy 2 suspended 152.575 + 12.005 s."""
    (row,) = report_rows("log", real("TEST115.dat"))
    assert row["pages_per_write"] == pytest.approx((119883 + 28813) / (119883 + 7457))
    assert row["log_write_rate"] == pytest.approx((119883 + 28813) / 256 / 1792.884543)
    assert row["io_busy"] == pytest.approx(100 * (152.575383 + 12.005393) / 1792.884543, abs=1e-4)
    assert row["task_busy"] == pytest.approx(100 * (1 - 1626.633430 / 1792.884543))
    assert row["io_1_1_longest"] == pytest.approx(40108, abs=1)


@pytest.mark.parametrize("fixture", LOGS)
def test_the_report_of_a_fixture_is_the_golden_file(fixture: str) -> None:
    assert log_of(fixture) == (GOLDEN / f"log-{fixture}.txt").read_text(encoding="utf-8")


def test_a_file_is_counted_once_beside_its_dataset(
    tmp_path: Path,
) -> None:
    """Two datasets stay two sections."""
    from smfparse.writing import write_dataset

    dump = tmp_path / "DUMP.smf"
    dump.write_bytes(log_record(Log(io={(1, 1): Io(5, 5)})))
    for name in ("tables", "again"):
        write_dataset(open_inputs([dump]), tmp_path / name)
    rows = report_rows("log", dump, tmp_path / "tables")
    assert [row["io_1_1_count"] for row in rows] == [5]
    rows = report_rows("log", tmp_path / "again", tmp_path / "tables")
    assert [row["io_1_1_count"] for row in rows] == [5, 5]


def test_a_total_of_records_without_a_clock_still_names_them(tmp_path: Path) -> None:
    dump = tmp_path / "DUMP.smf"
    record = bytearray(log_record(Log()))
    area = int.from_bytes(record[28:32])
    record[area + 16 : area + 24] = bytes(8)  # QWHSSTCK
    dump.write_bytes(record)
    lines = report_lines("log", dump, sections=TOTAL)
    assert lines[0] == "MVCA,MQPV,2023/10/02,11:53:02,VRM:930,"
    assert lines[1] == "From - to -, duration - seconds."


def test_a_report_reads_each_file_once(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    from smfparse.inputs import SmfFile

    passes: list[list[str]] = []
    batches = SmfFile.batches

    def watched(file: SmfFile, wanted: Any, *how: Any) -> Any:
        passes.append(sorted(wanted))
        return batches(file, wanted, *how)

    monkeypatch.setattr(SmfFile, "batches", watched)
    assert len(report_rows("log", write(log_record(BUSY_LOGGER)))) == 1
    assert passes == [sorted(reports.report("log").tables)]


def test_one_catalog_gives_several_reports(write: Write) -> None:
    which = reports.report("log")
    with Catalog(open_inputs([write(log_record(BUSY_LOGGER))])) as catalog:
        first = list(reports.run_report(which, catalog))
        assert len(list(reports.run_report(which, catalog, TOTAL))) == 1
        assert list(reports.run_report(which, catalog)) == first


def test_a_report_is_written_as_parquet(tmp_path: Path) -> None:
    dump = FIXTURES / "qm80.smf"
    file = tmp_path / "log.parquet"
    arguments = ["report", "log", str(dump), "--format", "parquet", "--output", str(file)]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    with Catalog(open_inputs([dump])) as catalog:
        expected = reports.report_table(reports.report("log"), catalog)
    assert expected.num_rows
    assert pq.read_table(file).to_pylist() == expected.to_pylist()
    refused = CliRunner().invoke(main, ["report", "--list", "--format", "parquet"])
    assert refused.exit_code == 2
