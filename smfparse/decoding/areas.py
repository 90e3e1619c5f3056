"""The places of QWHS, QWHC and QWHX in the QWHS area of each record of a chunk."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from smfparse.decoding.records import Blocks, Records
from smfparse.layout.blocks import Block
from smfparse.layout.kinds import Mask, Numeric, Raw, Values
from smfparse.schemas import (
    QWHC,
    QWHS,
    QWHS_SHORT,
    QWHS_SIZES,
    QWHS_STUB_BYTES,
    QWHX,
    QWHX_RELEASE,
)
from smfparse.vectors import Bools, Ints


class HeaderParts(NamedTuple):
    """The places of the parts of QWHS areas; int64 and bool (areas,).

    own       number of bytes of QWHS, which is also the offset of QWHC
    has_qwhc  whether the area contains QWHC
    qwhx      offset of QWHX in the area
    has_qwhx  whether the area contains QWHX, derived without the unreliable flag of QWHX
    """

    own: Values
    has_qwhc: Values
    qwhx: Values
    has_qwhx: Values


def header_parts(qwhslen: Values, length: Values, release: Raw) -> HeaderParts:
    """Return the places of QWHC and QWHX in QWHS areas.

    qwhslen  int64 (areas,): value of QWHSLEN
    length   int64 (areas,): bytes of the area
    release  uint8 (areas, 3): release in the SMF header
    """
    own = np.maximum(np.minimum(qwhslen, length), QWHS_STUB_BYTES)
    has_qwhc = (own == QWHS_SHORT) & (length >= QWHS_SIZES[QWHS_SHORT])
    qwhx = np.where(has_qwhc, QWHS_SIZES[QWHS_SHORT], own)
    places = np.array([1 << 16, 1 << 8, 1])
    late = release @ places >= np.frombuffer(QWHX_RELEASE, np.uint8) @ places
    return HeaderParts(own, has_qwhc, qwhx, late & (length >= qwhx + QWHX.size))


class HeaderAreas:
    """The QWHS areas of the records of a chunk."""

    def __init__(self, records: Records) -> None:
        self.records = records

    @cached_property
    def _parts(self) -> dict[str, Blocks]:
        """QWHS, QWHC and QWHX by name, for the records that contain them.

        `length` is the number of existing bytes, so missing fields of a shorter form are NULL.
        """
        area = self.records.area
        raw = self.records.read(area.at, QWHS.field("qwhslen"))
        own = raw.view(">u2")[:, 0].astype(np.int64)
        release = self.records.headers.raw("sm115rel")[area.owner]
        parts = header_parts(own, area.length, release)
        rest = area.length - parts.qwhx
        return {
            QWHS.name: Blocks(area.owner, area.at, parts.own, area.number),
            QWHC.name: Blocks(
                area.owner, area.at + parts.own, area.length - parts.own, area.number
            ).where(parts.has_qwhc),
            QWHX.name: Blocks(area.owner, area.at + parts.qwhx, rest, area.number).where(
                parts.has_qwhx
            ),
        }

    def part(self, block: Block) -> Blocks:
        """Return the places of QWHS, QWHC or QWHX, for the records that contain `block`."""
        return self._parts[block.name]

    def placed(self, block: Block, owner: Ints) -> tuple[Ints, Ints]:
        """Return place and length of `block` in the records `owner`; length 0: no such block."""
        found, records = self.part(block), self.records
        at, length = records.chunk.start.copy(), np.zeros(len(records), np.int64)
        at[found.owner], length[found.owner] = found.at, found.length
        return at[owner], length[owner]

    def number(self, name: str) -> tuple[Ints, Bools]:
        """Return a numeric field of QWHS, one value per record, and which records contain it."""
        each = QWHS.field(name)
        assert isinstance(each.kind, Numeric)
        found = self.part(QWHS)
        found = found.where(found.length >= each.end)
        values, present = each.kind.values(self.records.read(found.at, each))
        return self._spread(found, values.astype(np.int64), present)

    def _spread(self, found: Blocks, values: Ints, present: Mask) -> tuple[Ints, Bools]:
        rows = len(self.records)
        spread, known = np.zeros(rows, np.int64), np.zeros(rows, np.bool_)
        spread[found.owner] = values
        known[found.owner] = True if present is None else present
        return spread, known

    def extension(self, name: str) -> tuple[Values, Bools]:
        """Return the bytes of a field of QWHX, one row per record, and which records contain it."""
        each = QWHX.field(name)
        found, rows = self.part(QWHX), len(self.records)
        raw, held = np.zeros((rows, each.kind.width), np.uint8), np.zeros(rows, np.bool_)
        raw[found.owner] = self.records.read(found.at, each)
        held[found.owner] = True
        return raw, held
