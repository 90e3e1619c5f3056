"""When a record counts, and that every way to a span of time gives the same records."""

from __future__ import annotations

import datetime as dt
import itertools
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from smfparse.decoding.arrow import wanted_tables
from smfparse.decoding.decoder import Decoder
from smfparse.decoding.dictionary import RECORD, decoded_tables
from smfparse.decoding.matching import Needs
from smfparse.decoding.selected_rows import record_mask
from smfparse.decoding.selection import Selection
from smfparse.decoding.zones import counting_time
from smfparse.errors import DamageLog
from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.inputs.range import Log, Range
from smfparse.reading.chunks import Part
from smfparse.reading.reader import Input
from tests.support import builders, smf
from tests.support import short_records as short
from tests.support.command import run
from tests.support.paths import PROJECT

HOUR, NOON = short.HOUR, short.NOON
SECOND = dt.timedelta(seconds=1)
MICROSECOND = dt.timedelta(microseconds=1)
HALF_HOUR = HOUR / 2
MOMENT = dt.timedelta(milliseconds=10)
"""How long after an interval its record is written: what SMF headers can show."""
FIRST = dt.datetime(2026, 3, 2)
RULE = "A record usually counts at the middle of its interval"


def counts_at(*records: bytes) -> list[dt.datetime | None]:
    decoder = Decoder(Needs({RECORD: frozenset({"counted_at"})}), DamageLog())
    batches = [batch for _, batch in decoder.decode([builders.chunk_of(*records)])]
    return [moment for batch in batches for moment in batch["counted_at"].to_pylist()]


def seconds(amount: float) -> dt.timedelta:
    return dt.timedelta(seconds=amount)


STATISTICS = [
    (1800, seconds(0), NOON - HALF_HOUR / 2), (1800, MOMENT, NOON - MOMENT - HALF_HOUR / 2),
    (1800, -MOMENT, NOON + MOMENT - HALF_HOUR / 2), (0.000003, seconds(0), NOON - 2 * MICROSECOND),
    (3600, seconds(0), NOON - HALF_HOUR), (1800, 2 * HOUR, NOON - HALF_HOUR / 2),
    (1800, 2 * HOUR + MICROSECOND, NOON - HALF_HOUR / 2 - MICROSECOND),
    (1800, dt.timedelta(days=365), NOON - HALF_HOUR / 2),
    (1800, 5 * SECOND, NOON - 5 * SECOND - HALF_HOUR / 2), (1800, 6 * SECOND, NOON - HALF_HOUR / 2),
    (9.2e12, seconds(0), NOON),
]  # fmt: skip
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
    for make, cases in ((short.lasting, STATISTICS), (short.lasting_task, TASKS)):
        for length, late, expected in cases:
            assert counts_at(make(NOON, length, late)) == [expected], (make, length, late)


def test_a_116_2_counts_with_its_116_1_and_where_that_is_unknown_at_its_smf_time() -> None:
    later = NOON + SECOND
    task = short.lasting_task(NOON, 1800, MOMENT)
    found = counts_at(short.continuation(NOON), task, short.continuation(later))
    assert found == [NOON, *[NOON - MOMENT - HALF_HOUR / 2] * 2]
    far = NOON + 3 * HOUR
    assert counts_at(task, short.continuation(far))[1] == far


def test_a_record_without_an_interval_counts_at_its_smf_time() -> None:
    """Of class 1, of storage, of another type, or one that does not say start, UTC or length."""
    no_clock, ended = builders.qwhs_long(None, NOON - HOUR, 3600 * 10**6), short.utc(NOON)
    for record in (
        smf.connection_record(ended=ended, east=HOUR),
        short.storage(NOON),
        short.foreign(NOON),
        short.statistics(NOON),
        smf.record(smf.block("QIST"), start=NOON - HOUR, seconds=3600, interval=False),
        builders.smf_record(115, 215, area=no_clock, local=NOON),
        short.lasting(NOON, 0, MOMENT),
        smf.task_record(smf.task(wtasints=None, ended=ended), ended=ended, east=HOUR),
    ):
        assert counts_at(record) == [NOON], record
    dateless = short.lasting(NOON, 1800, MOMENT)
    assert counts_at(dateless[:10] + bytes.fromhex("0126000F") + dateless[14:]) == [None]


def test_a_change_of_clocks_within_an_interval_does_not_move_it() -> None:
    """Its start is by the old time, the SMF header and when it counts by the new one."""
    area = builders.qwhs_long(short.utc(NOON), NOON - HALF_HOUR, 1800 * 10**6)
    pool = builders.Section([builders.named_block("QPST", 104)])
    for taken in (NOON + HOUR, NOON - HOUR):
        record = builders.smf_record(115, 215, pool, area=area, local=taken)
        assert counts_at(record) == [taken - HALF_HOUR / 2]


NEAR_US, LONGEST_US = 2 * 3600 * 10**6, 1000 * 3600 * 10**6
EDGES = (0, 1, 2, 5_400_000_000, NEAR_US - 1, NEAR_US, NEAR_US + 1, LONGEST_US, LONGEST_US + 1)
"""Microseconds that an interval lasts, and that its record is early or late."""


def test_headers_leave_out_no_record_that_is_selected() -> None:
    known = np.ones(1, np.bool_)
    for local in (NOON, FIRST, FIRST - MOMENT):
        chunk = builders.chunk_of(short.foreign(local))
        taken = np.array([(local - dt.datetime(1970, 1, 1)) // MICROSECOND])
        for length, late in product(EDGES, (*EDGES, *(-each for each in EDGES))):
            start, seconds = taken - late - length, np.array([length / 1e6])
            (counted,) = counting_time(taken, start, seconds, known).tolist()
            moment = dt.datetime(1970, 1, 1) + counted * MICROSECOND
            at, clock = f"{moment:%Y-%m-%dT%H:%M}", f"{moment:%H%M}"
            for since, until in ((at, at), (clock, clock), (at, ()), ((), at)):
                asked = Selection.of(since=since, until=until)
                may_be = record_mask(asked, chunk.buffer, chunk.start, chunk.length)
                assert may_be is None or may_be[0], (local, length, late)


def broken(local: dt.datetime) -> bytes:
    """A 115/2 of an hour whose QIST cannot be where its triplet says."""
    area = builders.qwhs_long(short.utc(local), local - HOUR, 3600 * 10**6, triplets=3)
    lost = builders.Section([builders.named_block("QIST", 80)], offset=9999)
    return builders.smf_record(115, 2, builders.NOTHING, lost, area=area, local=local, qmgr="MQ01")


@pytest.mark.parametrize("tables", [["qist"], ["qist", "qsph"], [RECORD, "qist", "wtas"]])
def test_damage_is_that_of_records_that_count_then(tmp_path: Path, tables: list[str]) -> None:
    """Whichever tables are read, by one part or several, and with numbers or without."""
    made = [broken(NOON + number * HALF_HOUR) for number in range(4)]
    path = builders.put(tmp_path / "broken.smf", *made)
    asked, wanted = ReadOptions(Selection.of(since="2026-03-04T12:00")), wanted_tables(tables)
    inputs = open_inputs([path], asked)
    list(inputs.batches(wanted))
    assert [each.record_no for each in inputs.damage.details] == [2, 3, 4]
    log, part = Log(DamageLog()), Part(0, len(made[0]) * 2, None)
    list(Range(Input(path, str(path)), wanted, part, asked).batches(log))
    assert [each.offset for each in log.damage.details] == [len(made[0])]


def test_a_table_alone_has_the_rows_that_it_has_among_all(tmp_path: Path) -> None:
    """Although the 116/1 that says when a 116/2 counts is in no table that is wanted."""
    path, ends = tmp_path / "day.smf", [NOON + number * HALF_HOUR + MOMENT for number in range(6)]
    tasks = [(short.lasting_task(end, 1800, MOMENT), short.continuation(end)) for end in ends]
    others = short.storage(NOON + HOUR), short.statistics(NOON + HOUR)
    path.write_bytes(builders.rdw([*itertools.chain(*tasks), *others]))
    asked = ReadOptions(Selection.of(since="2026-03-04T12:10", until="2026-03-04T13:20"))
    expected = dict.fromkeys(decoded_tables(), 0)
    for table, batch in open_inputs([path], asked).batches(wanted_tables(decoded_tables())):
        expected[table] += batch.num_rows
    assert [expected[table] for table in ("wtid", "wtas", "wqst", "qsph")] == [6, 3, 6, 1]
    for table in ("wtid", "wqst", "wtas", "qist", "qsph"):
        found = open_inputs([path], asked).batches({table: frozenset({"system"})})
        assert sum(batch.num_rows for _, batch in found) == expected[table], table


def test_docs_and_help_give_the_rule_in_short_and_lead_to_the_whole_rule() -> None:
    for page in ("library", "selecting", "dataset", "what-did-the-migration-change", "sql"):
        text = (PROJECT / "docs" / f"{page}.md").read_text(encoding="utf-8")
        assert "#time-and-intervals)" in text, page
    rule = " ".join((PROJECT / "docs" / "selecting.md").read_text(encoding="utf-8").split())
    assert RULE in rule
    for words in (
        "* A record counts at the middle of its interval.",
        "* A record of more than an hour counts half an hour before its end.",
        "* A record without an interval counts at its SMF time.",
    ):
        assert words in rule
    text = " ".join(run("info", "--help").stdout.split())
    assert f"{RULE} (docs/selecting.md)." in text
    assert "--smf-time" in text
