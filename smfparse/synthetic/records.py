"""From blocks to records: the reverse of decoding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from smfparse.layout import Raw, version_key
from smfparse.schemas import (
    CONTINUATION,
    QWHC,
    QWHS,
    QWHS_LONG,
    QWHS_SHORT,
    QWHS_SIZES,
    QWHS_STUB,
    QWHS_STUB_BYTES,
    QWHX,
    QWST,
    TASK,
    TRIPLET,
)
from smfparse.synthetic.draws import Ints, Rows, big_endian, clock
from smfparse.synthetic.smf_headers import SmfHeaders

_NO_NETWORK = "40" * 8 + "00" * 8
_CHINIT = 0xE7

CountedBlocks: TypeAlias = tuple[Raw, Ints]
"""Blocks of one kind, record by record, and how many each record has."""


@dataclass(frozen=True)
class Shape:
    """What a record is besides its blocks.

    triplets     with the one of the QWHS area
    trace        QWHSIID
    manager      QWHSRMID: resource manager, X'E7' the channel initiator
    qwhs_length  QWHSLEN
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
    """Who wrote each of some records, and when.

    qmgr   index of the queue manager
    when   capture, microseconds since 1970 in UTC
    begin  of the interval, the same
    length  of the interval in microseconds, None: that of all
    who    QWHC of each, None: blank
    agent  address of the agent's control element
    count  how many records of this trace, and of all, the queue manager wrote before each
    noise  int64: what the four flag bytes of QWHS hold, None: what they should
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
    """Records of one (type, subtype) before they are put together: writers, blocks by triplet."""

    record: tuple[int, int]
    writers: Writers
    blocks: Mapping[int, CountedBlocks]


@dataclass(frozen=True)
class RecordGroup:
    """Records of one length, a row each, and which of those asked for each is."""

    raw: Raw
    place: Ints


class Envelope:
    """Puts blocks into records of one MQ version.

    systems   SMF ids, that of each queue manager
    offset    local time minus UTC, microseconds
    interval  length of statistics intervals, microseconds
    group     queue-sharing group
    """

    def __init__(
        self,
        systems: tuple[str, ...],
        qmgrs: tuple[str, ...],
        version: str,
        offset: int,
        interval: int,
        group: str = "QSG1",
    ) -> None:
        self.group = group
        self.version = version
        self.offset = offset
        self.interval = interval
        self.headers = SmfHeaders(systems, qmgrs, version, offset)

    def area_bytes(self, shape: Shape) -> int:
        """Return the length of the QWHS area."""
        return QWHS_SIZES[shape.qwhs_length] + QWHX.size * self.headers.extended

    def records(self, unbuilt: RecordParts, which: Ints) -> Iterator[RecordGroup]:
        """Make the records `which` of some kind.

        Records with the same numbers of blocks make one group.
        """
        counts = np.stack([count[which] for _, count in unbuilt.blocks.values()], axis=1)
        alike, group = np.unique(counts, axis=0, return_inverse=True)
        first = {triplet: np.cumsum(own) - own for triplet, (_, own) in unbuilt.blocks.items()}
        for number, count in enumerate(alike):
            place = np.flatnonzero(group.reshape(-1) == number)
            rows = which[place]
            some = dict(zip(unbuilt.blocks, count.tolist(), strict=True))
            parts = {
                triplet: _take(raw, first[triplet][rows], some[triplet])
                for triplet, (raw, _) in unbuilt.blocks.items()
            }
            lengths = {
                triplet: (raw.shape[1], some[triplet])
                for triplet, (raw, _) in unbuilt.blocks.items()
            }
            yield RecordGroup(
                self._group(unbuilt.record, unbuilt.writers, rows, parts, lengths), place
            )

    def _group(
        self,
        record: tuple[int, int],
        writers: Writers,
        rows: Ints,
        parts: Mapping[int, Raw],
        lengths: Mapping[int, tuple[int, int]],
    ) -> Raw:
        shape = SHAPES.get(record, Shape(max(parts) + 1))
        triplets = shape.triplets
        if record == TASK and not lengths[triplets - 1][1]:
            triplets -= 1
        size = QWST.size + triplets * TRIPLET.size
        body = sum(part.shape[1] for part in parts.values())
        total = size + body + self.area_bytes(shape)
        header = self.headers.rows(record, writers.qmgr[rows], writers.when[rows], total)
        table = self._triplets(triplets, shape, size, lengths)
        area = self._area(record, triplets, writers, rows)
        pieces = [
            header,
            np.tile(table, (len(rows), 1)),
            *(parts[number] for number in sorted(parts)),
        ]
        pieces.insert(2 if shape.qwhs_length == QWHS_STUB else len(pieces), area)
        return np.hstack(pieces)

    def _triplets(
        self, count: int, shape: Shape, size: int, lengths: Mapping[int, tuple[int, int]]
    ) -> Raw:
        first = self.area_bytes(shape) if shape.qwhs_length == QWHS_STUB else 0
        at = size + first
        given = {}
        for number in sorted(lengths):
            length, times = lengths[number]
            if times:
                given[number] = {"offset": at, "length": length, "count": times}
            at += length * times
        given[0] = {"offset": size if first else at, "length": self.area_bytes(shape), "count": 1}
        data = b"".join(TRIPLET.build(given.get(number, {})) for number in range(count))
        return np.frombuffer(data, np.uint8)

    def _area(self, record: tuple[int, int], triplets: int, writers: Writers, rows: Ints) -> Raw:
        shape = SHAPES.get(record, Shape(triplets))
        size = QWHS_STUB_BYTES if shape.qwhs_length == QWHS_STUB else shape.qwhs_length
        fixed = {
            "qwhslen": shape.qwhs_length,
            "qwhstyp": 1,
            "qwhsrmid": shape.manager,
            "qwhsiid": shape.trace,
            "qwhsnsda": triplets,
            "qwhsrn": 0 if shape.manager == _CHINIT else 0x10,
            "qwhsflag1": 0x40 * self.headers.extended,
        }
        if shape.qwhs_length == QWHS_STUB:
            fixed["qwhsiid"] = 0
        area = Rows(QWHS, self.version, len(rows), fixed)
        area.set_bytes("qwhsssid", self.headers.names[writers.qmgr[rows]])
        area.set_bytes("qwhsstck", clock(writers.when[rows]))
        if shape.manager != _CHINIT:
            self._count(area, writers, rows)
        area.set("qwhstime", writers.begin[rows] + self.offset)
        length = self.interval if writers.length is None else writers.length[rows]
        area.set("qwhsdurn", length * (4096 if shape.manager == _CHINIT else 1))
        if writers.noise is not None:
            for number in range(4):
                area.set(f"qwhsflag{number + 1}", writers.noise[rows] >> 8 * number & 0xFF)
        pieces = [area.raw[:, :size]]
        if shape.qwhs_length == QWHS_SHORT:
            pieces.append(self._correlation(writers, rows))
        if self.headers.extended:
            pieces.append(self._extension(len(rows)))
        return np.hstack(pieces)

    def _count(self, area: Rows, writers: Writers, rows: Ints) -> None:
        """Set what the channel initiator leaves zero: the agent, and the records' numbers."""
        area.set("qwhsace", writers.agent[rows])
        for name, count in zip(("qwhsiseq", "qwhswseq"), writers.count or (), strict=False):
            area.set_bytes(name, big_endian(count[rows], 4))

    def _correlation(self, writers: Writers, rows: Ints) -> Raw:
        if writers.who is not None:
            return writers.who[rows]
        fixed = {"qwhclen": QWHC.size, "qwhctyp": 2, "qwhcnid": _NO_NETWORK}
        return Rows(QWHC, self.version, len(rows), fixed).raw

    def _extension(self, rows: int) -> Raw:
        release = "".join(f"{part:02}" for part in version_key(self.version))
        fixed = {"qwhxlen": QWHX.size, "qwhxtyp": 0x10, "qwhxqsg": self.group, "qwhxrel": release}
        return Rows(QWHX, self.version, rows, fixed).raw


def _take(raw: Raw, first: Ints, count: int) -> Raw:
    """Return `count` blocks each from those at `first` on, one row per record."""
    taken: Raw = raw[first[:, None] + np.arange(count)]
    return taken.reshape(len(first), count * raw.shape[1])
