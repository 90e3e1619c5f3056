"""SMF header, QWHS area and triplets: where the blocks are, whose they are, and from when."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from smfparse.decoding.arrow import wanted_tables
from smfparse.decoding.decoder import Decoder
from smfparse.decoding.matching import Needs
from smfparse.decoding.records import BlockIndex, Blocks, Records
from smfparse.errors import DamageLog
from smfparse.layout.blocks import Block
from smfparse.schemas.qct import QCT_DNS
from smfparse.schemas.qist import QIST
from smfparse.schemas.qmst import QMST
from tests.support import builders, smf
from tests.support.builders import NOTHING, UTC_NOON, Section, named_block, qwhs_long, smf_record

LONG = qwhs_long()
ONE = named_block("QIST", 80)


class Found:
    """The blocks of one sort in records, and the damage met on the way."""

    def __init__(self, which: Block, *records: bytes) -> None:
        self.log = DamageLog()
        chunk = builders.chunk_of(*records)
        blocks: Blocks = Records(chunk, self.log, BlockIndex([which])).blocks(which)
        self.owners, self.numbers = blocks.owner.tolist(), blocks.number.tolist()
        places = zip(blocks.at.tolist(), blocks.length.tolist(), strict=True)
        self.data = [chunk.buffer[at : at + length].tobytes() for at, length in places]

    @property
    def damage(self) -> list[str]:
        return [str(each) for each in self.log.details]


def qist(section: Section, *more: Section, area: bytes = LONG) -> bytes:
    """115/2 with `section` as its triplet 2, where QIST is."""
    return smf_record(115, 2, NOTHING, section, *more, area=area)


WTID_SECTION = Section([named_block("WTID", 208)])


def channels(dns: Section, **keys: Any) -> bytes:
    """115/231 with the triplet of DNS."""
    sections = [Section([named_block("QCCT", 48)]), NOTHING, NOTHING, NOTHING, dns]
    return smf_record(115, 231, *sections, **{"area": LONG} | keys)


def test_the_dns_triplet_is_found_though_mq_8_does_not_count_it():
    """Garbage for it is no row and no damage."""
    dns = bytes(range(48))
    found = Found(QCT_DNS, channels(Section([dns]), area=qwhs_long(triplets=5), release="800"))
    assert (found.data, found.damage) == ([dns], [])
    blanks = 0x40404040, 0x4040, 0x4040
    for garbage in (blanks, (900, 50, 1), (0, 48, 1), (64, 48, 5), (9000, 48, 1)):
        found = Found(QCT_DNS, channels(Section((), *garbage)))
        assert (found.data, found.damage) == ([], []), garbage


TWO_BLOCKS = [named_block("QIST", 80, 1), named_block("QIST", 80, 2)]
TOO_LONG, TOO_FAR = (Section(offset=60, length=480, count=1), Section((), 0xFFFFFFFF, 80, 1))
TOO_MANY = Section(TWO_BLOCKS, count=0xFFFF)
WRONG: list[tuple[Section, list[bytes], str]] = [
    (NOTHING, [], ""),
    (Section(offset=60, length=80, count=0), [], ""),
    (Section(offset=10**9, length=80, count=0), [], ""),
    (TOO_LONG, [], "QIST has 480 bytes at offset 60, but only 44 are left"),
    (TOO_FAR, [], "QIST cannot be at offset 4294967295 of 104 bytes"),
    (TOO_MANY, TWO_BLOCKS, "QIST has 5242800 bytes at offset 52, but only 212 are left"),
    (Section([ONE], length=0), [], "QIST cannot be 0 bytes long; the minimum is 80"),
    *(
        (Section([ONE], offset=offset), [], f"QIST cannot be at offset {offset} of 184 bytes")
        for offset in (0, 4, 28, 35, 51)
    ),
]
"""Triplets, the blocks that are found, and the damage; a triplet that counts nothing has none."""


def told(reason: str) -> list[str]:
    return [f"test.smf: record 1 at byte 0x0 (type 115 subtype 2): {reason}; skipped"]


def test_triplets_that_lead_astray_are_damage_that_says_where_and_how_much():
    """Once, however often it is met."""
    for section, blocks, reason in WRONG:
        found = Found(QIST, qist(section))
        assert found.data == blocks, reason
        assert found.damage == (told(f"{reason}. The record may be truncated") if reason else [])
    good, wrong = qist(Section([ONE])), qist(TOO_LONG)
    found = Found(QIST, good, wrong, good)
    assert found.owners == [0, 2]
    Records(builders.chunk_of(good, wrong, good), found.log, BlockIndex([QIST])).blocks(QIST)
    [damage] = found.log.details
    assert (damage.offset, damage.length, damage.record_no) == (len(good), 44, 2)
    assert (damage.type, damage.subtype, found.log.count) == (115, 2, 1)


def test_a_wrong_eye_catcher_is_damage_and_the_blocks_beside_it_are_used():
    found = Found(QIST, qist(Section([ONE, named_block("QMST", 80), ONE])))
    assert (found.owners, found.numbers) == ([0, 0], [1, 3])
    assert found.damage == told("X'D8D4E2E3' where the eye-catcher QIST should be")


def test_a_record_that_ends_in_its_triplets_has_no_blocks():
    assert Found(QIST, b"\0\x32" + qist(Section([ONE]))[2:50]).owners == []


def rows(table: str, *records: bytes) -> list[dict[str, Any]]:
    decoder = Decoder(Needs(wanted_tables([table])), DamageLog())
    batches = decoder.decode([builders.chunk_of(*records)])
    return [row for _, batch in batches for row in batch.to_pylist()]


def record_row(record: bytes) -> dict[str, Any]:
    [row] = rows("record", record)
    return row


def local(*clock: int) -> dt.datetime:
    return dt.datetime(2026, 3, 4, *clock)


def utc(*clock: int) -> dt.datetime:
    return dt.datetime(2026, 3, 4, *clock, tzinfo=dt.UTC)


def test_a_record_says_whose_it_is_and_from_when():
    row = record_row(smf_record(115, 2, area=LONG, system="MVS1", qmgr="CSQ1", release="930"))
    expected = {
        "system": "MVS1", "qmgr": "CSQ1", "qsg": None, "mq_version": "9.3.0",
        "smf_time": local(12, 0, 0, 250_000), "time": UTC_NOON, "utc_offset": 0,
        "source": "test.smf", "record_no": 1, "record_offset": 0, "block_no": None,
        "length": 28 + 8 + 52, "flags": 0x5E, "type": 115, "subtype": 2, "subsystem": "CSQ1",
        "qwhsssid": "MQ01",
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected
    for area, length in ((bytes(3), None), (builders.stub(), 1)):
        assert record_row(qist(Section([ONE]), area=area))["qwhslen"] == length


def test_the_version_is_the_release_in_the_header():
    """From MQ 10 on it is the long release of QWHX."""
    for release, area, version in (
        ("800", LONG, "8.0.0"),
        ("930", LONG, "9.3.0"),
        ("945", LONG, "9.4.5"),
        ("946", LONG + builders.qwhx(), "10.0.0"),
        ("946", LONG + builders.qwhx(release="100203"), "10.2.3"),
        ("946", LONG, None),
        ("946", LONG + builders.qwhx(release=""), None),
        ("", LONG, None),
        ("8X0", LONG, None),
    ):
        row = record_row(smf_record(115, 2, area=area, release=release))
        assert row["mq_version"] == version, (release, area)


def test_the_queue_sharing_group_is_in_the_extension_that_mq_10_writes():
    """The flags of class 3 records are garbage, and say nothing of one."""
    for area, release, qsg in (
        (LONG + builders.qwhx("QSG1"), "946", (16, "QSG1")),
        (builders.qwhs_short() + builders.qwhx("QSG1"), "946", (16, "QSG1")),
        (builders.stub() + builders.qwhx("QSG1"), "946", (16, "QSG1")),
        (LONG + builders.qwhx("QS"), "946", (16, "QS")),
        (LONG + builders.qwhx(""), "946", (16, None)),
        (LONG + builders.qwhx("\0\0\0\0"), "946", (16, None)),
        (LONG + builders.qwhx("QSG1"), "945", (None, None)),
        (LONG, "946", (None, None)),
        (builders.qwhs_short(), "946", (None, None)),
        (builders.stub(), "946", (None, None)),
    ):
        row = record_row(smf_record(115, 2, area=area, release=release))
        assert (row["qwhxlen"], row["qsg"]) == qsg, (area, release)
    area = builders.qwhs_short(flags=bytes.fromhex("5BBA1040"))
    row = record_row(smf_record(116, 1, area=area, release="800"))
    assert (row["qwhxlen"], row["mq_version"]) == (None, "8.0.0")


def test_the_offset_is_header_time_minus_capture_time():
    """It is rounded to 15 minutes."""
    for clock, offset in (
        ((12, 0, 0, 250_000), 0),
        ((12, 0, 0, 260_000), 0),
        ((8, 0, 0, 250_000), -4 * 3600),
        ((13, 0, 0, 240_000), 3600),
        ((17, 45, 0, 250_000), 5 * 3600 + 45 * 60),
    ):
        row = record_row(smf_record(115, 2, area=LONG, local=local(*clock)))
        found = (row["utc_offset"], row["smf_time"], row["time"])
        assert found == (offset, local(*clock), UTC_NOON)
    for captured, moment, offset in (
        (utc(3, 10, 4), dt.datetime(2026, 3, 3, 23, 10, 4), -4 * 3600),
        (UTC_NOON - dt.timedelta(days=3), None, None),
    ):
        row = record_row(smf_record(115, 2, area=qwhs_long(captured), local=moment))
        assert row["utc_offset"] == offset


def with_date(date: str) -> dict[str, Any]:
    record = bytearray(smf_record(115, 2, area=LONG, local=local(1, 2, 3, 40_000)))
    record[10:14] = bytes.fromhex(date)
    return record_row(bytes(record))


def test_the_date_of_the_header_is_packed_with_a_century():
    """A day that is not in the calendar is null."""
    for day, date in {
        "1999-12-31": "0099365F", "2000-02-29": "0100060F",
        "2024-12-31": "0124366F", "2041-12-31": "0141365F",
    }.items():  # fmt: skip
        assert with_date(date)["smf_time"] == dt.datetime.fromisoformat(f"{day}T01:02:03.040")
    for date in ("0126000F", "0126367F", "0089365F", "0142001F", "0999365F", "01A6063F"):
        row = with_date(date)
        assert (row["smf_time"], row["utc_offset"]) == (None, None), date


def test_the_interval_is_in_microseconds():
    """The channel initiator writes it in TOD units."""
    for smf_type, subtype, duration, seconds in (
        *((115, subtype, 60_500_000, 60.5) for subtype in (1, 2, 215, 216)),
        (115, 231, 60_500_000 * 4096, 60.5),
        (116, 10, 60_500_000 * 4096, 60.5),
        (115, 231, 0x390006D63C, 59.768941),
    ):
        end = utc(11, 58, 30) + dt.timedelta(seconds=seconds)
        area = qwhs_long(end, local(7, 58, 30), duration)
        row = record_row(smf_record(smf_type, subtype, area=area, local=local(7, 59, 31)))
        assert row["interval_start"] == utc(11, 58, 30)
        assert row["interval_seconds"] == pytest.approx(seconds, abs=5e-7)


def task_of(block: bytes) -> bytes:
    return smf_record(116, 1, WTID_SECTION, Section([block]), area=builders.qwhs_short(triplets=3))


def test_a_record_that_does_not_say_its_whole_interval_has_no_length():
    for record, start in (
        (smf_record(115, 5, area=builders.stub()), None),
        (smf_record(115, 7, area=builders.stub() + builders.qwhx(), release="946"), None),
        (smf_record(116, 0, area=builders.qwhs_short()), None),
        (smf_record(115, 2, area=LONG), None),
        (smf_record(116, 1, WTID_SECTION, area=builders.qwhs_short(triplets=2)), None),
        (task_of(smf.task(wtasints=None, wtasinte=None)), None),
        (task_of(smf.task(wtasints=None, wtasinte=utc(11, 45))), None),
        (task_of(smf.task(wtasints=utc(11, 30), wtasinte=None)), utc(11, 30)),
    ):
        row = record_row(record)
        assert (row["interval_start"], row["interval_seconds"]) == (start, None)


def test_a_record_of_an_unknown_type_is_in_the_inventory_with_its_header():
    """If it has a subtype, this and its subsystem are shown."""
    row = record_row(builders.foreign_record(30, local=local(1, 2, 3), system="MVS9"))
    expected = {"system": "MVS9", "smf_time": local(1, 2, 3), "length": 18}
    others = ["qmgr", "qsg", "mq_version", "time", "interval_start", "interval_seconds", "subtype"]
    expected |= dict.fromkeys([*others, "subsystem", "qwhslen", "qwhxlen"])
    expected |= {"flags": 0x1E, "type": 30}
    assert {name: row[name] for name in expected} == expected
    row = record_row(smf_record(30, 4, area=LONG, qmgr="JES2"))
    found = (row["type"], row["subtype"], row["subsystem"], row["qmgr"], row["mq_version"])
    assert found == (30, 4, "JES2", None, None)


def test_a_qwhs_that_says_more_than_its_area_has_no_fields_behind_it():
    area = (52).to_bytes(2) + builders.qwhs_short()[2:36]
    record = smf_record(115, 2, area=area)
    for row in rows("record", record, record):
        assert (row["qwhsstck"], row["qwhstime"], row["qwhsdurn"]) == (UTC_NOON, None, None)


def test_a_block_more_does_not_shift_the_next_record():
    """The QWHS area stands behind the blocks of its own record."""
    records = (qist(Section([ONE, ONE])), builders.foreign_record(2), qist(Section([ONE])))
    found = rows("qist", *records)
    assert [(row["record_no"], row["block_no"]) for row in found] == [(1, 1), (1, 2), (3, 1)]
    assert [row["record_offset"] for row in found] == [0, 0, len(records[0]) + len(records[1])]


@pytest.mark.parametrize(("at", "put"), [(34, b"\0\0"), (28, bytes([0, 0, 0, 20]))])
def test_a_record_whose_qwhs_cannot_be_read_is_damage_and_keeps_its_blocks(at: int, put: bytes):
    """By its length or its place; only its times are not known."""
    record = qist(Section([ONE]))
    log = DamageLog()
    decoder = Decoder(Needs(wanted_tables(["record", "qist"])), log)
    chunk = builders.chunk_of(record[:at] + put + record[at + len(put) :])
    found = {name: batch.to_pylist() for name, batch in decoder.decode([chunk])}
    [row] = found["qist"]
    assert (row["time"], row["utc_offset"], row["qmgr"]) == (None, None, "MQ01")
    assert found["record"][0]["qwhslen"] is None
    [damage] = log.details
    assert damage.reason == "no QWHS area that can be read; times are not known"


@pytest.mark.parametrize("lie", [0, 20, 40, 0xFFFFFFFF])
def test_a_triplet_that_cannot_be_costs_no_other_block(lie: int):
    managers = Section([named_block("QMST", 72)], offset=lie)
    record = smf_record(115, 2, managers, Section([ONE]), area=LONG)
    found, lost = Found(QIST, record), Found(QMST, record)
    assert (found.data, found.damage) == ([ONE], [])
    assert (lost.data, len(lost.damage)) == ([], 1)


def test_an_unknown_subtype_is_no_damage_whatever_is_in_it():
    for body in (b"", bytes(range(64)), bytes(8) + ONE):
        whole = smf_record(115, 999, area=LONG)[:28] + body
        log = DamageLog()
        decoder = Decoder(Needs(wanted_tables(["record", "qist"])), log)
        [(table, batch)] = decoder.decode([builders.chunk_of(len(whole).to_bytes(2) + whole[2:])])
        assert (table, batch.column("subtype").to_pylist(), log.count) == ("record", [999], 0)


def test_the_keys_of_a_table_do_not_depend_on_what_else_is_wanted():
    """A statistics record without its own clock says nothing of UTC, and nothing is made up."""
    managers = Section([named_block("QMST", 72)])
    hours = [(UTC_NOON + dt.timedelta(hours=each)).replace(tzinfo=None) for each in (1, 2)]
    records = [
        smf_record(115, 2, managers, area=LONG, local=hours[0]),
        smf_record(115, 215, Section([named_block("QPST", 104)]), area=LONG, local=hours[1]),
        smf_record(115, 2, managers, area=qwhs_long(captured=None), local=hours[1]),
    ]
    for wanted in (["qmst"], ["qmst", "qpst"], ["qmst", "record"]):
        decoder = Decoder(Needs(wanted_tables(wanted)), DamageLog())
        found = dict(decoder.decode([builders.chunk_of(*records)]))["qmst"]
        assert found.column("utc_offset").to_pylist() == [3600, None], wanted
