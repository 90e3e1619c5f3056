"""Build records with SMF headers from blocks, the reverse of decoding, and write them as a dump.

In a dump, records are in the order of their times, numbered, and spanned over dump blocks.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeAlias

import numpy as np

from smfparse.errors import OutputError
from smfparse.layout.blocks import Block
from smfparse.layout.clocks import US_PER_DAY
from smfparse.layout.columns import version_key
from smfparse.layout.kinds import ENCODING, Raw
from smfparse.progress import PROGRESS
from smfparse.schemas import (
    CONTINUATION,
    DUMP_HEADER,
    DUMP_TRAILER,
    QPST,
    QWHC,
    QWHS,
    QWHS_LONG,
    QWHS_SHORT,
    QWHS_SIZES,
    QWHS_STUB,
    QWHS_STUB_BYTES,
    QWHX,
    QWHX_RELEASE,
    QWST,
    REGISTRY,
    SUBTYPE_VALID,
    TASK,
    TRIPLET,
)
from smfparse.simulating.draws import Ints, Rows, big_endian, clock, encoded, numbered

_LONG_SINCE = (10,)
"""First MQ version that writes its release in QWHX, and QWHX_RELEASE in the SMF header."""
_DUMP_MARK = 0x1E
_MQ_MARK = _DUMP_MARK | SUBTYPE_VALID.mask
_MARKER_BYTES = 18
SMF_LIMIT = 32_756
"""Maximum bytes of a record that SMF accepts."""
_POOLS, _POOLS_SINCE = (115, 215), (8, 0)
"""Record of buffer pools, and first MQ version with this record; earlier versions use 115/2."""
_NO_NETWORK = "40" * 8 + "00" * 8
_CHINIT = 0xE7

CountedBlocks: TypeAlias = tuple[Raw, Ints]
"""Blocks of one kind, record by record, and the number of these blocks in each record."""


def is_written(record: tuple[int, int], block: Block, version: str) -> bool:
    """Whether an MQ version writes a block in a record."""
    if block is QPST:
        return (record == _POOLS) == (version_key(version) >= _POOLS_SINCE)
    return version_key(next(iter(block.lengths))) <= version_key(version)


def once(rows: Rows) -> CountedBlocks:
    """Return blocks that each record contains once."""
    return rows.raw, np.ones(len(rows), np.int64)


@dataclass(frozen=True)
class Shape:
    """The properties of a kind of record that do not depend on its blocks.

    triplets     number of triplets, including the triplet of the QWHS area
    trace        value of QWHSIID
    manager      value of QWHSRMID: resource manager; X'E7': channel initiator
    qwhs_length  value of QWHSLEN
    """

    triplets: int
    trace: int = 0
    manager: int = 0x1A
    qwhs_length: int = QWHS_LONG


SHAPES: Mapping[tuple[int, int], Shape] = {
    (115, 1): Shape(12, trace=1),
    (115, 2): Shape(9, trace=2),
    (115, 5): Shape(2, manager=0x80, qwhs_length=QWHS_STUB),
    (115, 6): Shape(2, manager=0x80, qwhs_length=QWHS_STUB),
    (115, 7): Shape(2, manager=0x80, qwhs_length=QWHS_STUB),
    (115, 201): Shape(2),
    (115, 215): Shape(2, trace=8),
    (115, 216): Shape(2),
    (115, 231): Shape(6, manager=_CHINIT),
    (116, 0): Shape(7, trace=3, qwhs_length=QWHS_SHORT),
    TASK: Shape(4, trace=0x19, manager=0xF7, qwhs_length=QWHS_SHORT),
    CONTINUATION: Shape(3, trace=0x19, manager=0xF7, qwhs_length=QWHS_SHORT),
    (116, 10): Shape(2, manager=_CHINIT),
}


@dataclass(frozen=True)
class Writers:
    """The writers and times of some records, one value per record.

    qmgr    index of the queue manager
    when    time at which the record is written, microseconds since 1970 in UTC
    begin   start of the interval, microseconds since 1970 in UTC
    length  length of the interval in microseconds; None: the interval of the envelope
    who     QWHC areas; None: blank
    agent   address of the agent's control element
    count   numbers of the records: among records of this trace, and among all records
    noise   int64: contents of the four flag bytes of QWHS; None: valid flags
    """

    qmgr: Ints
    when: Ints
    begin: Ints
    agent: Ints
    who: Raw | None = None
    noise: Ints | None = None
    count: tuple[Ints, Ints] | None = None
    length: Ints | None = None


@dataclass(frozen=True)
class RecordParts:
    """Parts of the records of one (type, subtype): writers, and blocks by number of the triplet."""

    record: tuple[int, int]
    writers: Writers
    blocks: Mapping[int, CountedBlocks]


class Envelope:
    """Puts blocks into records of one MQ version.

    systems   SMF system id of each queue manager
    qmgrs     names of the queue managers
    offset    local time minus UTC, microseconds
    interval  length of statistics intervals, microseconds
    group     name of the queue-sharing group
    """

    def __init__(
        self,
        systems: Sequence[str],
        qmgrs: Sequence[str],
        version: str,
        offset: int,
        interval: int,
        group: str = "QSG1",
    ) -> None:
        self._version, self._offset, self._interval, self._group = version, offset, interval, group
        self._systems = encoded(QWST.field("sm115sid").kind, systems)
        self._names = encoded(QWST.field("sm115SSI").kind, qmgrs)
        self._extended = version_key(version) >= _LONG_SINCE

    def most_queues(self) -> int:
        """Return the maximum number of queues in the record of a task."""
        shape = SHAPES[TASK]
        fixed = QWST.size + shape.triplets * TRIPLET.size + self._area_bytes(shape)
        wtid, wtas, wqst = (each.length_at(self._version) for each in REGISTRY[TASK].values())
        return (SMF_LIMIT - fixed - wtid - wtas) // wqst

    def marker(self, kind: int, when: int) -> memoryview:
        """Return the header or trailer record of a dump; `kind` is the record type."""
        fixed = {"sm115len": _MARKER_BYTES, "sm115flg": _DUMP_MARK, "sm115rty": kind}
        rows = Rows(QWST, self._version, 1, fixed)
        rows.set_bytes("sm115sid", self._systems[:1])
        self._stamp(rows, np.array([when], np.int64))
        return memoryview(rows.raw[0, :_MARKER_BYTES].tobytes())

    def records(self, parts: RecordParts, which: Ints) -> Iterator[tuple[Raw, Ints]]:
        """Yield groups of the records `which`: one row per record, and the indexes in `which`.

        All records of a group contain the same numbers of blocks.
        """
        counts = np.stack([count[which] for _, count in parts.blocks.values()], axis=1)
        alike, group = np.unique(counts, axis=0, return_inverse=True)
        first = {triplet: np.cumsum(own) - own for triplet, (_, own) in parts.blocks.items()}
        for number, count in enumerate(alike.tolist()):
            place = np.flatnonzero(group.reshape(-1) == number)
            rows = which[place]
            blocks = {
                triplet: raw[first[triplet][rows][:, None] + np.arange(times)]
                for (triplet, (raw, _)), times in zip(parts.blocks.items(), count, strict=True)
            }
            yield self._joined(parts, rows, blocks), place

    def _joined(self, parts: RecordParts, rows: Ints, blocks: Mapping[int, Raw]) -> Raw:
        """Return records, one row per record.

        blocks  blocks by number of the triplet: uint8 (records, blocks per record, bytes)
        """
        shape = SHAPES.get(parts.record, Shape(max(blocks) + 1))
        triplets = shape.triplets
        if parts.record == TASK and not blocks[triplets - 1].shape[1]:
            triplets -= 1
        size = QWST.size + triplets * TRIPLET.size
        body = [blocks[number].reshape(len(rows), -1) for number in sorted(blocks)]
        total = size + sum(each.shape[1] for each in body) + self._area_bytes(shape)
        table = np.tile(self._triplets(triplets, shape, size, blocks), (len(rows), 1))
        area = self._area(shape, triplets, parts.writers, rows)
        rest = [area, *body] if shape.qwhs_length == QWHS_STUB else [*body, area]
        return np.hstack([self._headers(parts, rows, total), table, *rest])

    def _headers(self, parts: RecordParts, which: Ints, total: int) -> Raw:
        release = (
            QWHX_RELEASE.decode(ENCODING) if self._extended else self._version.replace(".", "")
        )
        fixed = {
            "sm115len": total,
            "sm115flg": _MQ_MARK,
            "sm115rty": parts.record[0],
            "sm115stf": parts.record[1],
            "sm115rel": release,
        }
        qmgr = parts.writers.qmgr[which]
        rows = Rows(QWST, self._version, len(which), fixed)
        self._stamp(rows, parts.writers.when[which])
        rows.set_bytes("sm115sid", self._systems[qmgr])
        rows.set_bytes("sm115SSI", self._names[qmgr])
        return rows.raw

    def _stamp(self, rows: Rows, when: Ints) -> None:
        local = when + self._offset
        rows.set("sm115tme", local % US_PER_DAY // 10_000)
        rows.set("sm115dte", _packed_date(local // US_PER_DAY))

    def _triplets(self, count: int, shape: Shape, size: int, blocks: Mapping[int, Raw]) -> Raw:
        area = self._area_bytes(shape)
        before = area if shape.qwhs_length == QWHS_STUB else 0
        at = size + before
        given = {}
        for number in sorted(blocks):
            _, times, length = blocks[number].shape
            if times:
                given[number] = {"offset": at, "length": length, "count": times}
            at += length * times
        given[0] = {"offset": size if before else at, "length": area, "count": 1}
        data = b"".join(TRIPLET.build(given.get(number, {})) for number in range(count))
        return np.frombuffer(data, np.uint8)

    def _area_bytes(self, shape: Shape) -> int:
        return QWHS_SIZES[shape.qwhs_length] + QWHX.size * self._extended

    def _area(self, shape: Shape, triplets: int, writers: Writers, rows: Ints) -> Raw:
        """Return QWHS areas; those of the channel initiator have no agent and no record numbers."""
        chinit = shape.manager == _CHINIT
        fixed = {
            "qwhslen": shape.qwhs_length,
            "qwhstyp": 1,
            "qwhsrmid": shape.manager,
            "qwhsiid": shape.trace,
            "qwhsnsda": triplets,
            "qwhsrn": 0 if chinit else 0x10,
            "qwhsflag1": 0x40 * self._extended,
        }
        area = Rows(QWHS, self._version, len(rows), fixed)
        area.set_bytes("qwhsssid", self._names[writers.qmgr[rows]])
        area.set_bytes("qwhsstck", clock(writers.when[rows]))
        if not chinit:
            area.set("qwhsace", writers.agent[rows])
            for name, count in zip(("qwhsiseq", "qwhswseq"), writers.count or (), strict=False):
                area.set_bytes(name, big_endian(count[rows], 4))
        area.set("qwhstime", writers.begin[rows] + self._offset)
        length = self._interval if writers.length is None else writers.length[rows]
        area.set("qwhsdurn", length * (4096 if chinit else 1))
        if writers.noise is not None:
            for number in range(4):
                area.set(f"qwhsflag{number + 1}", writers.noise[rows] >> 8 * number & 0xFF)
        stub = shape.qwhs_length == QWHS_STUB
        pieces = [area.raw[:, : QWHS_STUB_BYTES if stub else shape.qwhs_length]]
        if shape.qwhs_length == QWHS_SHORT:
            pieces.append(self._correlation(writers, rows))
        if self._extended:
            pieces.append(self._extension(len(rows)))
        return np.hstack(pieces)

    def _correlation(self, writers: Writers, rows: Ints) -> Raw:
        if writers.who is not None:
            return writers.who[rows]
        fixed = {"qwhclen": QWHC.size, "qwhctyp": 2, "qwhcnid": _NO_NETWORK}
        return Rows(QWHC, self._version, len(rows), fixed).raw

    def _extension(self, rows: int) -> Raw:
        release = "".join(f"{part:02}" for part in version_key(self._version))
        fixed = {"qwhxlen": QWHX.size, "qwhxtyp": 0x10, "qwhxqsg": self._group, "qwhxrel": release}
        return Rows(QWHX, self._version, rows, fixed).raw


def _packed_date(days: Ints) -> Ints:
    years = days.astype("datetime64[D]").astype("datetime64[Y]")
    year = years.astype(np.int64) + 1970
    day = days - years.astype("datetime64[D]").astype(np.int64) + 1
    digits = (year // 100 - 19, year // 10 % 10, year % 10, day // 100, day // 10 % 10, day % 10)
    packed = np.zeros_like(days)
    for digit in digits:
        packed = packed << 4 | digit
    return packed << 4 | 0xF


BLOCK_BYTES = 27_994
"""Bytes for segments in a block of a dump: BLKSIZE 27,998 minus the block descriptor word."""
_AT_ONCE = 1 << 20
"""Minimum number of bytes that are written in one step."""
_LEAST_SEGMENT = 36
"""Minimum number of bytes in the first segment of a record: SMF header and a triplet."""
_RDW = struct.Struct(">HBB")
_WHOLE, _FIRST, _LAST, _MIDDLE = range(4)


class SegmentWriter:
    """Writes records as in a dump data set: spanned over blocks, without block descriptor words."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._left = BLOCK_BYTES

    def write(self, records: Iterator[memoryview]) -> None:
        """Write records, each with its RDW."""
        out = bytearray()
        for record in records:
            if len(record) <= self._left:
                out += record
                self._left -= len(record)
            else:
                self._span(record, out)
            if len(out) >= _AT_ONCE:
                PROGRESS.add(self._stream.write(out))
                out = bytearray()
        PROGRESS.add(self._stream.write(out))

    def _span(self, record: memoryview, out: bytearray) -> None:
        if self._left < _LEAST_SEGMENT:
            self._left = BLOCK_BYTES
        at = _RDW.size
        while at < len(record):
            size = min(len(record) - at, self._left - _RDW.size)
            out += _RDW.pack(_RDW.size + size, _code(at == _RDW.size, at + size == len(record)), 0)
            out += record[at : at + size]
            at += size
            self._left -= _RDW.size + size
            if self._left <= _RDW.size:
                self._left = BLOCK_BYTES


def _code(first: bool, last: bool) -> int:
    if first:
        return _WHOLE if last else _FIRST
    return _LAST if last else _MIDDLE


PIECE = 1000
"""Number of records that are built in one step."""
_FIRST_COUNT = 1_390_000


def write_dump(
    target: Path | BinaryIO,
    envelope: Envelope,
    start: int,
    end: int,
    batches: Iterable[Sequence[RecordParts]],
) -> None:
    """Write a dump to a path or a stream; raise OutputError if a path cannot be written.

    start, end  times at which the header and the trailer of the dump were written
    """
    if not isinstance(target, Path):
        writer = SegmentWriter(target)
        writer.write(iter([envelope.marker(DUMP_HEADER, start)]))
        for records in map(
            partial(in_order, envelope), batches
        ):  # a loop variable would keep a batch in memory
            writer.write(records)
        writer.write(iter([envelope.marker(DUMP_TRAILER, end)]))
        return
    try:
        with target.open("wb") as stream:
            write_dump(stream, envelope, start, end, batches)
    except OSError as error:
        raise OutputError(f"{target}: {error.strerror or error}") from error


class Numbers:
    """Numbers the records of each queue manager, by kind and in total, from 1 after a start.

    starts  times at which each queue manager starts within the dump
    first   number of the first record of each kind in the dump; None: as for all records
    """

    def __init__(self, starts: Sequence[Ints], first: int | None = None) -> None:
        self._starts = starts
        self._runs = 1 + max(map(len, starts))
        every = _FIRST_COUNT * (1 + np.arange(len(starts)))
        self._first = self._from(every if first is None else np.full(len(starts), first))
        self._count: dict[tuple[int, int] | None, Ints] = {None: self._from(every)}

    def _from(self, count: Ints) -> Ints:
        """Return the first number in each run of each queue manager: `count`, then 1 per start."""
        first = np.ones((len(count), self._runs), np.int64)
        first[:, 0] = count
        return first.reshape(-1)

    def numbered(self, kinds: Sequence[RecordParts]) -> list[RecordParts]:
        """Number each record among the records of its kind, and among all records of its run."""
        runs = [self._run(kind) for kind in kinds]
        when = np.concatenate([kind.writers.when for kind in kinds])
        ends = np.cumsum([len(each) for each in runs])[:-1]
        total = np.split(self._numbers(None, np.concatenate(runs), when), ends)
        return [
            replace(kind, writers=replace(kind.writers, count=(own, every)))
            for kind, run, every in zip(kinds, runs, total, strict=True)
            for own in [self._numbers(kind.record, run, kind.writers.when)]
        ]

    def _run(self, kind: RecordParts) -> Ints:
        """Return the run of each record: a run is the time between starts of a queue manager."""
        found = kind.writers.qmgr * self._runs
        for manager, starts in enumerate(self._starts):
            own = kind.writers.qmgr == manager
            found[own] += np.searchsorted(starts, kind.writers.when[own], side="right")
        return found

    def _numbers(self, record: tuple[int, int] | None, run: Ints, when: Ints) -> Ints:
        before = self._count.get(record, self._first)
        every = np.bincount(run, minlength=len(before))
        self._count[record] = before + every
        number = np.empty(len(run), np.int64)
        number[np.lexsort((when, run))] = numbered(every)
        found: Ints = number + before[run]
        return found


def in_order(envelope: Envelope, kinds: Sequence[RecordParts]) -> Iterator[memoryview]:
    """Yield records, each with its RDW, in the order of the times at which they were written.

    Records are built in pieces of PIECE records, to limit memory.
    """
    which = np.repeat(np.arange(len(kinds)), [len(kind.writers.when) for kind in kinds])
    rows = np.concatenate([np.arange(len(kind.writers.when)) for kind in kinds])
    order = np.argsort(np.concatenate([kind.writers.when for kind in kinds]), kind="stable")
    for at in range(0, len(order), PIECE):
        piece = order[at : at + PIECE]
        yield from _piece(envelope, kinds, which[piece], rows[piece])


def _piece(
    envelope: Envelope, kinds: Sequence[RecordParts], which: Ints, rows: Ints
) -> list[memoryview]:
    records = [memoryview(b"")] * len(rows)
    for number, kind in enumerate(kinds):
        mine = np.flatnonzero(which == number)
        if not len(mine):
            continue
        for raw, places in envelope.records(kind, rows[mine]):
            data, length = raw.reshape(-1).data, raw.shape[1]
            for nth, place in enumerate(mine[places].tolist()):
                records[place] = data[nth * length : (nth + 1) * length]
    return records
