"""When a record counts, and that every way to a span of time gives the same records."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import smfparse
from smfparse.decoding import Decoder, Needs
from smfparse.errors import DamageLog
from smfparse.inputs import ReadOptions, open_inputs
from smfparse.inputs.log import Log
from smfparse.inputs.range import Range
from smfparse.reading import Part
from smfparse.selecting import Selection, counted_mask, counting_time, record_mask
from smfparse.tables import RECORD, decoded_tables, wanted_tables
from smfparse.writing import write_dataset
from tests.support import smf
from tests.support.builders import (
    NOTHING,
    Section,
    chunk_of,
    named_block,
    qwhs_long,
    rdw,
    smf_record,
)
from tests.support.command import run
from tests.support.paths import PROJECT
from tests.support.searching import search
from tests.support.short_records import (
    HOUR,
    NOON,
    foreign,
    lasting,
    lasting_task,
    statistics,
    storage,
    utc,
)

DAY = dt.timedelta(days=1)
SECOND = dt.timedelta(seconds=1)
MICROSECOND = dt.timedelta(microseconds=1)
HALF_HOUR = HOUR / 2
MINUTE = dt.timedelta(minutes=1)
MOMENT = dt.timedelta(milliseconds=10)
"""How long after an interval its record is written: what SMF headers can show."""
FIRST = dt.datetime(2026, 3, 2)
RULE = (
    "a record counts at the middle of its interval, and one of more than an hour half an hour "
    "before its end"
)


def counts_at(*records: bytes) -> list[dt.datetime | None]:
    """Return when records count."""
    decoder = Decoder(Needs({RECORD: frozenset({"counted_at"})}), DamageLog())
    batches = [batch for _, batch in decoder.decode([chunk_of(*records)])]
    return [moment for batch in batches for moment in batch["counted_at"].to_pylist()]


def seconds(amount: float) -> dt.timedelta:
    return dt.timedelta(seconds=amount)


# The rule ---------------------------------------------------------------------------------------


STATISTICS = [
    (1800, seconds(0), NOON - HALF_HOUR / 2),
    (1800, MOMENT, NOON - MOMENT - HALF_HOUR / 2),
    (1800, -MOMENT, NOON + MOMENT - HALF_HOUR / 2),
    (0.000003, seconds(0), NOON - 2 * MICROSECOND),
    (0.000001, seconds(0), NOON - MICROSECOND),
    (3600, seconds(0), NOON - HALF_HOUR),
    (3602, seconds(0), NOON - HALF_HOUR),
    (24 * 3600, seconds(0), NOON - HALF_HOUR),
    (1800, 2 * HOUR, NOON - HALF_HOUR / 2),
    (1800, -2 * HOUR, NOON - HALF_HOUR / 2),
    (1800, 2 * HOUR + MICROSECOND, NOON - HALF_HOUR / 2 - MICROSECOND),
    (1800, 365 * DAY, NOON - HALF_HOUR / 2),
    (1800, 5 * SECOND, NOON - 5 * SECOND - HALF_HOUR / 2),
    (1800, 6 * SECOND, NOON - HALF_HOUR / 2),
    (9.2e12, seconds(0), NOON),
]
"""Seconds of an interval, how late its record is written, and when it counts."""
TASKS = [
    *STATISTICS[:3],
    (40 * 24 * 3600, MOMENT, NOON - MOMENT - HALF_HOUR),
    (1800, 2 * HOUR, NOON - 2 * HOUR - HALF_HOUR / 2),
    (1800, 2 * HOUR + MICROSECOND, NOON),
    (1800, -2 * HOUR - MICROSECOND, NOON),
]


def test_records_count_at_the_middle_but_no_more_than_half_an_hour_before_their_end() -> None:
    """The end of statistics is QWHSSTCK, however far QWHSTIME is: within seconds it is exact."""
    for make, cases in ((lasting, STATISTICS), (lasting_task, TASKS)):
        for length, late, expected in cases:
            assert counts_at(make(NOON, length, late)) == [expected], (make, length, late)


def more_queues(local: dt.datetime) -> bytes:
    keys: dict[str, Any] = {"east": HOUR, "system": "SYS1", "qmgr": "MQ01"}
    return smf.more_queues(smf.queue("Q"), ended=utc(local), **keys)


def test_a_116_2_counts_with_its_116_1_and_where_that_is_unknown_at_its_smf_time() -> None:
    later = NOON + SECOND
    found = counts_at(more_queues(NOON), lasting_task(NOON, 1800, MOMENT), more_queues(later))
    assert found == [NOON, *[NOON - MOMENT - HALF_HOUR / 2] * 2]
    far = NOON + 3 * HOUR
    assert counts_at(lasting_task(NOON, 1800, MOMENT), more_queues(far))[1] == far


def test_a_record_without_an_interval_counts_at_its_smf_time() -> None:
    """Of class 1, of storage, of another type, or one that does not say start, UTC or length."""
    for record in (
        smf.connection_record(ended=utc(NOON), east=HOUR),
        storage(NOON),
        foreign(NOON),
        statistics(NOON),
        smf.record(smf.block("QIST"), start=NOON - HOUR, seconds=3600, interval=False),
        smf_record(115, 215, area=qwhs_long(None, NOON - HOUR, 3600 * 10**6), local=NOON),
        lasting(NOON, 0, MOMENT),
        smf.task_record(smf.task(wtasints=None, ended=utc(NOON)), ended=utc(NOON), east=HOUR),
    ):
        assert counts_at(record) == [NOON], record


def test_a_record_whose_smf_date_is_none_counts_at_no_time() -> None:
    record = bytearray(lasting(NOON, 1800, MOMENT))
    record[10:14] = bytes.fromhex("0126000F")
    assert counts_at(bytes(record)) == [None]


@pytest.mark.parametrize("hour", [HOUR, -HOUR])
def test_a_change_of_clocks_within_an_interval_does_not_move_it(hour: dt.timedelta) -> None:
    """Its start is by the old time, the SMF header and when it counts by the new one."""
    taken = NOON + hour
    area = qwhs_long(utc(NOON), NOON - HALF_HOUR, 1800 * 10**6)
    pool = Section([named_block("QPST", 104)])
    record = smf_record(115, 215, pool, area=area, local=taken)
    assert counts_at(record) == [taken - HALF_HOUR / 2]


# Headers show what may be selected ----------------------------------------------------------------

MINUTE_US = 60_000_000
HOUR_US = 60 * MINUTE_US
NEAR_US, LONGEST_US = 2 * HOUR_US, 1000 * HOUR_US
clocks = st.sampled_from(
    [None, *(f"{hour:02}{minute:02}" for hour in range(24) for minute in (0, 59))]
)
hours = st.integers(-48, 48).map(lambda number: NOON + number * HOUR)


@st.composite
def spans(draw: st.DrawFn) -> Selection:
    start, end = sorted((draw(hours), draw(hours)))
    given_start, given_end = draw(st.booleans()), draw(st.booleans())
    since = [f"{start:%Y-%m-%dT%H:%M}"] if given_start else []
    until = [f"{end:%Y-%m-%dT%H:%M}"] if given_end else []
    return Selection.of(
        since=[*since, *filter(None, [draw(clocks)])],
        until=[*until, *filter(None, [draw(clocks)])],
    )


edges = st.sampled_from([0, 1, 2, NEAR_US - 1, NEAR_US, NEAR_US + 1, LONGEST_US, LONGEST_US + 1])
lengths = st.one_of(st.integers(0, 30 * HOUR_US), edges)
lates = st.one_of(st.integers(-3 * HOUR_US, 3 * HOUR_US), edges, edges.map(lambda each: -each))


@search(150)
@given(
    asked=spans(),
    taken=st.integers(-50 * 60, 50 * 60),
    length=lengths,
    late=lates,
)
def test_headers_leave_out_no_record_that_is_selected(
    asked: Selection, taken: int, length: int, late: int
) -> None:
    local = NOON + taken * MINUTE
    smf_time = np.array([(local - dt.datetime(1970, 1, 1)) // MICROSECOND])
    start = smf_time - late - length
    known = np.ones(1, np.bool_)
    counted = counting_time(smf_time, start, np.array([length / 1e6]), known)
    chunk = chunk_of(foreign(local))
    may_be = record_mask(asked, chunk.buffer, chunk.start, chunk.length)
    if asked.time_column is None or counted_mask(asked, lambda _: (counted, known))[0]:
        assert may_be is None or may_be[0]


def day_of(midnight: dt.datetime) -> list[bytes]:
    """Return the records of 48 half hours of a queue manager."""
    keys: dict[str, Any] = {"system": "SYS1", "qmgr": "MQ01", "east": HOUR}
    made = []
    for number in range(1, 49):
        end = midnight + number * HALF_HOUR + MOMENT
        made += [
            smf.record(smf.block("QJST"), start=end - HALF_HOUR, seconds=1800, **keys),
            lasting_task(end, 1800, MOMENT),
            more_queues(end),
            storage(end),
            smf.connection_record(ended=utc(end), **keys),
        ]
    return made


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two days, a file each."""
    folder = tmp_path_factory.mktemp("days")
    paths = [folder / "d1.smf", folder / "d2.smf"]
    for number, path in enumerate(paths):
        path.write_bytes(rdw(day_of(FIRST + number * DAY)))
    return paths


@pytest.fixture(scope="module")
def stored(days: list[Path]) -> Path:
    folder = days[0].parent / "tables"
    write_dataset(open_inputs(days), folder, partition=True)
    return folder


def of_day(frame: pl.DataFrame) -> pl.DataFrame:
    """Return which rows, in order."""
    return frame.select("source", "record_no", "block_no").sort("source", "record_no", "block_no")


@pytest.mark.slow
def test_every_way_to_a_day_gives_the_same_rows(days: list[Path], stored: Path) -> None:
    asked = Selection.of(since="2026-03-02", until="2026-03-02")
    end = FIRST + DAY
    for table in ("record", "qjst", "wqst", "qsph"):
        whole = smfparse.open(days)
        frame = pl.DataFrame(whole.arrow(table))
        in_day = pl.col("counted_at").is_between(FIRST, end, closed="left")
        expected = of_day(frame.filter(in_day))
        assert 0 < expected.height < frame.height, table
        found = [smfparse.open(each, asked).arrow(table) for each in (days, stored)]
        found += [
            smfparse.open(each).polars(table).filter(in_day).collect() for each in (days, stored)
        ]
        found += [
            smfparse.open(each).sql(f"FROM {table} WHERE counted_at::DATE = DATE '2026-03-02'")
            for each in (days, stored)
        ]
        found += [smfparse.open(each, asked).sql(f"FROM {table}") for each in (days, stored)]
        found.append(pl.read_parquet(stored / table / "date=2026-03-02" / "**" / "*.parquet"))
        for number, each in enumerate(found):
            assert of_day(pl.DataFrame(each)).equals(expected), (table, number)


def broken(local: dt.datetime, length: float, qmgr: str = "MQ01") -> bytes:
    """A 115/2 whose QIST cannot be where its triplet says."""
    start = local - seconds(length)
    area = qwhs_long(utc(local), start, round(length * 1e6), triplets=3)
    lost = Section([named_block("QIST", 80)], offset=9999)
    return smf_record(115, 2, NOTHING, lost, area=area, local=local, qmgr=qmgr)


@pytest.mark.parametrize("tables", [["qist"], ["qist", "qsph"], [RECORD, "qist", "wtas"]])
def test_damage_is_that_of_records_that_count_in_the_time(
    tmp_path: Path, tables: list[str]
) -> None:
    """Whichever tables are read, by one part or several, and with numbers or without."""
    noon = dt.datetime(2026, 3, 4, 12)
    made = [broken(noon + number * HALF_HOUR, 3600) for number in range(4)]
    path = tmp_path / "broken.smf"
    path.write_bytes(rdw(made))
    asked = ReadOptions(Selection.of(since="2026-03-04T12:00"))
    inputs = open_inputs([path], asked)
    list(inputs.batches(wanted_tables(tables)))
    assert [each.record_no for each in inputs.damage.details] == [2, 3, 4]
    log = Log(DamageLog())
    (source,) = inputs.sources
    part = Part(0, len(made[0]) * 2, None)
    list(Range(source.input, wanted_tables(tables), part, asked).batches(log))  # type: ignore[attr-defined]
    assert [each.offset for each in log.damage.details] == [len(made[0])]


def test_a_table_alone_has_the_rows_that_it_has_among_all(days: list[Path]) -> None:
    """Although the 116/1 that says when a 116/2 counts is in no table that is wanted."""
    asked = ReadOptions(Selection.of(since="2026-03-02T12:00", until="2026-03-03T11:59"))
    expected = dict.fromkeys(decoded_tables(), 0)
    for table, batch in open_inputs(days, asked).batches(wanted_tables(decoded_tables())):
        expected[table] += batch.num_rows
    assert expected["wtid"] == 2 * 48
    for table in ("wtid", "wqst", "wtas", "qmac", "qjst"):
        found = open_inputs(days, asked).batches({table: frozenset({"system"})})
        assert sum(batch.num_rows for _, batch in found) == expected[table], table


def test_docs_and_help_give_the_rule_in_the_same_words() -> None:
    for page in ("library", "selecting", "dataset", "compare", "cookbook"):
        text = (PROJECT / "docs" / f"{page}.md").read_text(encoding="utf-8")
        assert RULE in " ".join(text.split()) or "](time.md)" in text, page
    for command in ("info", "report", "sql", "convert", "compare"):
        text = " ".join(run(command, "--help").stdout.split())
        assert RULE in text.replace("A record counts", "a record counts"), command
        assert "--smf-time" in text
