"""What keeps records apart is wrong, in ten records: those that are whole are there.

tools/corrupt.py turns bits over, inserts and deletes in every framing, and asks the same; here is
what is known exactly: where a record ends whose length covers the next one, and what is told.
"""

from __future__ import annotations

import datetime as dt
from functools import cache
from itertools import product

import pytest

from tests.support.builders import (
    UTC_NOON,
    Section,
    foreign_record,
    named_block,
    qwhs_long,
    segments,
    smf_record,
)
from tests.support.reading import Read
from tests.support.variants import BY_NAME, Variant, Written

QIST, QMST, QJST = named_block("QIST", 80), named_block("QMST", 72), named_block("QJST", 720)


def record(*blocks: bytes, qmgr: int = 0, local: dt.datetime | None = None) -> bytes:
    """Return a record of MQ behind its RDW."""
    sections = [Section([each]) for each in blocks]
    keys = {"qmgr": f"QM{qmgr:02}", "system": f"SYS{qmgr}"}
    return smf_record(115, 2, *sections, area=qwhs_long(), local=local, **keys)


def mixed() -> list[bytes]:
    """Return ten records of several sizes, as of a dump."""
    contents = [[QIST], [QMST, QIST], [QJST], [QIST]] * 2
    records = [record(*each, qmgr=number) for number, each in enumerate(contents)]
    return [foreign_record(2)[4:], *(each[4:] for each in records), foreign_record(3)[4:]]


def alike() -> list[bytes]:
    """Return ten records of one size."""
    return [record(QIST, qmgr=number)[4:] for number in range(10)]


def foreign() -> list[bytes]:
    """Return ten records, most of which do not tell how long they are."""
    sizes = {30: 50, 70: 60, 71: 10, 42: 100, 80: 7}
    others = [foreign_record(kind)[4:] + bytes(range(size)) for kind, size in sizes.items()]
    mq = [record(each, qmgr=number)[4:] for number, each in enumerate([QIST, QJST, QIST])]
    last = foreign_record(3)[4:]
    return [foreign_record(2)[4:], *others[:2], mq[0], *others[2:4], *mq[1:], others[4], last]


DUMPS = {"mixed": mixed, "alike": alike, "foreign": foreign}


@cache
def dump(name: str, variant: Variant) -> Written:
    return variant.write(DUMPS[name]())


def turned(data: bytes, bit: int) -> bytes:
    """Return data of which one bit is another."""
    found = bytearray(data)
    found[bit // 8] ^= 1 << bit % 8
    return bytes(found)


def test_a_block_that_reads_as_one_record_is_not_the_whole_file(read: Read) -> None:
    """By its time of day, which reads as a date of 1963 where a block is taken for a record."""
    evening = UTC_NOON.replace(hour=18, minute=2, second=7, microsecond=350_000, tzinfo=None)
    bodies = [record(QIST, qmgr=number, local=evening)[4:] for number in range(10)]
    file = BY_NAME["bdw"].write(bodies)
    for start, _ in file.spans[::4]:
        for bit in range(8 * start, 8 * start + 32):
            found = read(turned(file.data, bit))
            assert len({*file.bodies} & {*found.bodies}) >= 9
            assert len(found.bodies) == 10 or found.damage


def covering(file: Written, number: int) -> bytes:
    """Return a file in which the length of record `number` covers the next one as well."""
    (start, end), size = file.spans[number], len(file.bodies[number])
    lengths = {at: int.from_bytes(file.data[at : at + 2], "big") for at in range(start, start + 8)}
    at = next(at for at, length in lengths.items() if length in (size, size + 4))
    length = lengths[at] + file.spans[number + 1][1] - end
    return file.data[:at] + length.to_bytes(2, "big") + file.data[at + 2 :]


@pytest.mark.parametrize("dumped", DUMPS)
def test_a_record_that_covers_the_next_is_parted_from_it(read: Read, dumped: str) -> None:
    first = 1 if dumped != "alike" else 0  # a header of a dump is one whatever its length says
    reason = "the length of this record covers the next one too; they are separated"
    for name, number in product(("rdw", "bdw", "length", "ftp-block"), range(first, 9, 2)):
        file = dump(dumped, BY_NAME[name])
        found = read(covering(file, number))
        assert found.bodies == list(file.bodies)
        assert [(each.length, each.reason) for each in found.damage] == [(0, reason)]


@pytest.mark.parametrize("dumped", ["mixed", "foreign"])
def test_pieces_of_two_records_are_parted_where_the_second_starts(read: Read, dumped: str) -> None:
    """In FTP block mode one bit says that a record ends."""
    file = dump(dumped, BY_NAME["ftp-block-short"])
    for start, _ in file.spans[:-1]:
        assert file.data[start] == 0x80
        found = read(turned(file.data, 8 * start + 7))
        assert (found.bodies, len(found.damage)) == ([*file.bodies], 1)


@pytest.mark.parametrize("cuts", [[20, 60], [20, 40, 60, 80], [200, 240]], ids=str)
def test_a_piece_that_covers_the_next_record_hides_nothing(read: Read, cuts: list[int]) -> None:
    """The first piece may be too short to tell how long the record is; the last one is parted."""
    bodies = [record(QIST, qmgr=each)[4:] for each in range(4)]
    pieces = segments(record(QIST, qmgr=1), cuts)
    behind = record(QIST, qmgr=2)
    for wrong in range(len(pieces)):
        broken = list(pieces)
        length = sum(map(len, pieces[wrong:])) + len(behind)
        broken[wrong] = length.to_bytes(2, "big") + broken[wrong][2:]
        found = read(b"".join([record(QIST), *broken, behind, record(QIST, qmgr=3)]))
        is_last = wrong == len(pieces) - 1
        assert found.bodies == (bodies if is_last else [*bodies[:1], *bodies[2:]])
        assert len(found.damage) == 1


@pytest.mark.parametrize(
    ("more", "told"),
    [(bytes(300), 0), (record(QIST)[4:] + bytes(40), 3)],
    ids=["bytes", "a header"],
)
def test_a_record_with_more_in_it_than_its_triplets_tell_is_kept(
    read: Read, more: bytes, told: int
) -> None:
    """A header in what is more, with nothing that leads to it, may be of a record: it is told."""
    long = record(QIST) + more
    long = len(long).to_bytes(2, "big") + long[2:]
    bodies = [record(QIST, qmgr=1)[4:], long[4:], record(QMST, qmgr=2)[4:]] * 3
    for name in ("rdw", "bdw", "length", "ftp-block"):
        found = read(BY_NAME[name].write(bodies).data)
        assert found.bodies == bodies
        assert [each.length for each in found.damage] == [0] * told


def test_a_sound_record_behind_damage_is_kept_though_an_orphan_follows_it(read: Read) -> None:
    first, last = segments(record(QJST), [200])
    lone = foreign_record(30) + bytes(range(20))
    lone = len(lone).to_bytes(2, "big") + lone[2:]
    for kept in (lone, record(QIST)):
        found = read(record(QMST) + b"\xff" * 9 + kept + last + record(QIST, qmgr=5) + first)
        assert found.bodies == [each[4:] for each in (record(QMST), kept, record(QIST, qmgr=5))]
        assert [each.length for each in found.damage] == [9, len(last), len(first)]


@pytest.mark.parametrize("dumped", ["mixed", "foreign"])
def test_garbage_between_ftp_records_costs_none_of_them(read: Read, dumped: str) -> None:
    file = dump(dumped, BY_NAME["ftp-record"])
    garbages = (b"\r\n", b"\n", b"250 OK\r\n", bytes(100))
    for garbage, (start, _) in product(garbages, file.spans[1::2]):
        found = read(file.data[:start] + garbage + file.data[start:], "ftp-record")
        assert (found.bodies, found.places) == ([*file.bodies], [(start, len(garbage))])


def test_a_mark_that_is_missing_is_told(read: Read) -> None:
    file = dump("mixed", BY_NAME["ftp-record"])
    for _, end in file.spans[:-1]:
        found = read(file.data[: end - 2] + file.data[end:])
        assert (found.bodies, found.places) == ([*file.bodies], [(end - 2, 0)])
