"""The report log: every figure that was published comes out, and none is invented.

Most cases are a queue manager each of one input (`records`): a section each, and one total each.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from smfparse.reports.sections import TOTAL
from tests.support.goldens import LOGS, log_of
from tests.support.paths import GOLDEN
from tests.support.published import published
from tests.support.real import REAL_DATA, needs_real_data
from tests.support.report_runs import by_qmgr, lines_of, report_rows, rows_from
from tests.support.smf import LOG_START, Io, Log, log_record

NEAR = pytest.approx
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


def records() -> list[bytes]:
    """Return records of each case; the name of the queue manager says which."""
    cases: list[tuple[str, Log, dict[str, Any]]] = [
        ("FULL", BUSY_LOGGER, {}),
        ("ZERO", BUSY_LOGGER, {"duration_us": 0}),
        ("GAPS", BUSY_LOGGER, {}),
        ("GAPS", BUSY_LOGGER, {"start": dt.datetime(2023, 10, 2, 13)}),
        ("MIGR", OLD_LOGGER, {"release": "700", "start": LOG_START - dt.timedelta(seconds=10)}),
        ("MIGR", IDLE_LOGGER, {}),
    ]  # fmt: skip
    unclocked = bytearray(log_record(Log(), qmgr="CLCK"))
    area = int.from_bytes(unclocked[28:32])
    unclocked[area + 16 : area + 24] = bytes(8)  # QWHSSTCK
    return [bytes(unclocked), *(log_record(log, qmgr=name, **keys) for name, log, keys in cases)]


UNKNOWN = [
    *("Log write rate:            -", "Logger I/O busy:         -", "Logger task busy:        -"),
    "Pages written per I/O:    11",
]


def test_an_interval_is_printed_as_published_without_what_is_not_known() -> None:
    rows = by_qmgr(rows_from("log", *records()))
    full, zero = (lines_of("log", rows[qmgr]) for qmgr in ("FULL", "ZERO"))
    shown = ("Pages written per I/O:    11", "Log write rate:          220MB/s per copy",
             "Logger I/O busy:         94.66%", "Logger task busy:        99.9%")  # fmt: skip
    assert {*shown} <= {*full}
    assert full[-5:] == published("log")
    assert {*UNKNOWN} <= {*zero}  # of no length, it has counts but nothing by time


def test_a_total_covers_from_the_first_start_for_the_recorded_time() -> None:
    totals = by_qmgr(rows_from("log", *records(), sections=TOTAL))
    assert lines_of("log", totals["GAPS"])[1] == (
        "From 2023/10/02,11:52:52 to 2023/10/02,13:00:10, duration 20 seconds."
    )
    assert lines_of("log", totals["CLCK"])[:2] == [
        "MVCA,CLCK,2023/10/02,11:53:02,VRM:930,",
        "From - to -, duration - seconds.",
    ]
    # The logger of the new release slept; the old one does not show it.
    assert totals["MIGR"][0]["task_busy"] in (None, 0)


@pytest.mark.parametrize("fixture", LOGS)
def test_the_report_of_a_fixture_is_the_golden_file(fixture: str) -> None:
    assert log_of(fixture) == (GOLDEN / f"log-{fixture}.txt").read_text(encoding="utf-8")


@needs_real_data
def test_the_figures_of_a_real_file_agree_with_the_numbers_of_ibms_formatter() -> None:
    """119883 + 7457 I/Os and 119883 + 28813 pages a copy; copy 2 suspended 152.575 + 12.005 s."""
    assert REAL_DATA
    (row,) = rows = report_rows("log", REAL_DATA / "TEST115.dat")
    assert row["pages_per_write"] == NEAR((119883 + 28813) / (119883 + 7457))
    assert row["log_write_rate"] == NEAR((119883 + 28813) / 256 / 1792.884543)
    assert row["io_busy"] == NEAR(100 * (152.575383 + 12.005393) / 1792.884543, abs=1e-4)
    assert row["task_busy"] == NEAR(100 * (1 - 1626.633430 / 1792.884543))
    assert row["io_1_1_longest"] == NEAR(40108, abs=1)
    assert "Log write rate: 0.324 MB/s per copy" in lines_of("log", rows)
