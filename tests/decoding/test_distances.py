"""How far apart in a file records may be that know of each other, and what is read to find them."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from smfparse.decoding.arrow import schema, wanted_tables
from smfparse.decoding.decoder import Before, Decoder
from smfparse.decoding.matching import Needs
from smfparse.decoding.tasks import TASK_KINDS
from smfparse.errors import DamageLog
from smfparse.limits import Limits
from smfparse.reading.chunks import Chunk
from smfparse.vectors import Ints
from tests.support import builders, smf
from tests.support.builders import UTC_NOON, Section, foreign_record, smf_record

NOON = UTC_NOON.replace(tzinfo=None)
HOUR = dt.timedelta(hours=1)


def clock(hours: int, system: str = "SYS1") -> bytes:
    return smf_record(115, 1, area=builders.qwhs_long(), local=NOON + hours * HOUR, system=system)


def other(system: str = "SYS1") -> bytes:
    return foreign_record(30, system=system)


def task(token: int = 1) -> bytes:
    block = smf.task(token.to_bytes(16), wtasints=UTC_NOON, wtasinte=UTC_NOON + HOUR)
    return smf_record(116, 1, Section(), Section([block]), area=builders.qwhs_short())


def more(*tokens: int) -> bytes:
    """A record with a queue of each task; none: of the first one."""
    queues = [smf.queue("Q", token.to_bytes(16), version=1) for token in tokens or [1]]
    return smf_record(116, 2, Section(), Section(queues), area=builders.qwhs_short())


def gap(size: int) -> bytes:
    """A record, so long, that neither shows an offset nor needs one."""
    least = len(smf_record(115, 99, Section([b""]), area=bytes(8)))
    return smf_record(115, 99, Section([bytes(size - least)]), area=bytes(8))


class Source:
    """Chunks of records that stand one behind the other, and how often they are read.

    chunks  the records of each
    reach   bytes, as `Limits.look_back_bytes`
    """

    def __init__(self, chunks: Sequence[Sequence[bytes]], reach: int) -> None:
        self.limits, self.looks = Limits(look_back_bytes=reach), list[str]()
        _, buffer, *columns = builders.chunk_of(*itertools.chain(*chunks))[:6]
        self.chunks: list[Chunk] = []
        edges = [0, *itertools.accumulate(map(len, chunks))]
        for part in map(slice, edges, edges[1:]):
            start, length, offset, number = (each[part] for each in columns)
            self.chunks.append(Chunk("x", buffer, start, length, offset, number, int(offset[0])))

    def column(self, table: str, name: str, first: int = 0, *, alone: bool = False) -> list[object]:
        """Return a column of the rows of the chunks from `first` on, decoded as a part.

        alone  whether no other column is wanted, though another table
        """
        before = Before(self.chunks[first].begin, lambda kinds: self._behind(first, kinds))
        decoder = Decoder(
            Needs(
                {table: frozenset([name]), "qist": frozenset()} if alone else wanted_tables([table])
            ),
            DamageLog(),
            lambda: self._ahead(first),
            before if first else None,
            limits=self.limits,
        )
        batches = decoder.decode(self.chunks[first:])
        own = (batch for made, batch in batches if made == table)
        return [value for batch in own for value in batch.column(name).to_pylist()]

    def _behind(self, first: int, kinds: Ints | None) -> Iterator[Chunk]:
        assert kinds is None or np.array_equal(kinds, TASK_KINDS)
        self.looks.append("back for clocks" if kinds is None else "back for tasks")
        yield from self.chunks[:first]

    def _ahead(self, first: int) -> Iterator[Chunk]:
        for number, chunk in enumerate(self.chunks[first:], first):
            self.looks.append(f"ahead in {number}")
            yield chunk


def in_chunks(records: Sequence[bytes], edges: Sequence[int]) -> list[Sequence[bytes]]:
    return [records[start:end] for start, end in itertools.pairwise([0, *edges, len(records)])]


REACHED = pytest.mark.parametrize(("less", "found"), [(0, True), (1, False)])


@REACHED
@pytest.mark.parametrize("edges", [[], [1], [2], [1, 2]], ids=str)
def test_a_task_is_found_up_to_the_reach(less: int, found: bool, edges: Sequence[int]) -> None:
    records = [task(), gap(2000), more()]
    source = Source(in_chunks(records, edges), len(records[0]) + 2000 - less)
    expected = {"task_record_offset": 0, "task_record_no": 1, "interval_seconds": 3600.0}
    for name, value in expected.items():
        assert source.column("wqst", name) == [value if found else None]
        if edges and name != "task_record_no":
            assert source.column("wqst", name, 1) == [value if found else None]


@pytest.mark.parametrize("edges", [[], [1], [2]], ids=str)
def test_a_record_is_of_the_task_of_its_first_queue(edges: Sequence[int]) -> None:
    records = [task(1), task(2), more(1, 2), more(2, 1), more(3, 1)]
    source = Source(in_chunks(records, edges), 1 << 20)
    assert source.column("wqst", "task_record_no") == [1, 1, 2, 2, None, None]


@REACHED
@pytest.mark.parametrize("later", [False, True], ids=["earlier", "later"])
def test_another_offset_is_found_up_to_the_reach(less: int, found: bool, later: bool) -> None:
    sizes = (5000, 2000) if later else (2000, 5000)
    records = [clock(2), gap(sizes[0]), other(), gap(sizes[1]), clock(-3)]
    reach = len(records[2 if later else 0]) + 2000 - less
    nearest = -3 * 3600 if later else 7200
    whole = [7200, None, nearest if found else None, None, -3 * 3600]
    for edges in ([], [1, 2], [2, 3, 4]):
        source = Source(in_chunks(records, edges), reach)
        for part, start in enumerate([0, *edges]):
            assert source.column("record", "utc_offset", part) == whole[start:]


@pytest.mark.parametrize(
    ("table", "records", "looks"),
    [
        ("wqst", [task(), more()], []),
        ("wqst", [gap(3000), more()], []),
        ("wqst", [gap(2999), more()], ["back for tasks"]),
        ("wqst", [gap(2000), more(2), more(3)], ["back for tasks"]),
        ("record", [clock(1), other()], []),
        ("record", [gap(3000), other(), clock(1)], []),
        ("record", [gap(2999), other(), clock(1)], ["back for clocks"]),
        ("record", [other(), clock(1), other("SYS2"), clock(1, "SYS2")], ["back for clocks"]),
    ],
)
def test_what_is_before_a_part_is_read_once_and_only_where_a_record_near_its_start_misses_it(
    table: str, records: Sequence[bytes], looks: Sequence[str]
) -> None:
    source = Source([[task(), clock(1)], records, [gap(3000), more(4)]], 3000)
    source.column(table, "utc_offset", 1)
    assert source.looks == looks


LONELY = [other("SYS9"), gap(1000)]


@pytest.mark.parametrize(
    ("chunks", "offset", "count"),
    [
        ([*[LONELY] * 8, [clock(1)]], None, 9),
        ([[other("SYS9"), clock(1, "SYS9")], [clock(1)]], 3600, 0),
        ([LONELY, *[[clock(1), gap(1000)]] * 8], None, 4),
        ([[other(), gap(3000), clock(1)], [clock(2)]], None, 0),
    ],
    ids=["as needed", "not behind the next", "within reach", "not if the next is too far"],
)
def test_records_ahead_are_read_once_and_only_where_they_may_be_near_enough(
    chunks: list[list[bytes]], offset: int | None, count: int
) -> None:
    source = Source(chunks, 2500)
    assert source.column("record", "utc_offset")[0] == offset
    assert source.looks == [f"ahead in {number}" for number in range(count)]


def test_nothing_is_read_ahead_where_no_offset_is_wanted() -> None:
    source = Source([LONELY, [clock(1, "SYS9")]], 1 << 20)
    assert source.column("record", "type", alone=True) == [30, 115, 115]
    assert source.looks == []
    stub = smf.record(smf.block("QSPH"), start=NOON, seconds=0, system="SYS1")
    assert Source([[clock(1), stub]], 1 << 20).column("qsph", "utc_offset", alone=True) == [3600]
    for name in schema("record").names:
        assert source.column("record", name, alone=True) == source.column("record", name), name
