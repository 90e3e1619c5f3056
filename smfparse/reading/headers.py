"""The SMF headers of records: the facts known before any block is searched."""

from __future__ import annotations

import struct
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smfparse.layout.clocks import US_PER_DAY, smf_moments
from smfparse.layout.kinds import Numeric, Raw, Values
from smfparse.layout.texts import ENCODING
from smfparse.schemas import (
    ACCOUNTING,
    DUMP_HEADER,
    DUMP_TRAILER,
    EXTENDED,
    QWST,
    SIGNATURES,
    STATISTICS,
    SUBTYPE_VALID,
    TRIPLET,
    WHOLE_RECORDS,
)
from smfparse.vectors import NUMBER_WIDTHS, Bools, Bytes, Ints, gather

_LAYOUT = np.dtype(
    [
        (each.name, f"{'u' if each.kind.width in NUMBER_WIDTHS else 'V'}{each.kind.width}")
        for each in QWST.fields
    ]
)
"""The SMF header; numbers as in the file."""
HEADER_END = QWST.size
SMF_HEADER = QWST.field("sm115sid").end
"""Bytes from the RDW to the end of the system id: every SMF record has these."""
MOST_TRIPLETS = 16
"""No record has more triplets (115/1 has 12)."""
_TRIPLET = np.dtype([(each.name, each.kind.wire) for each in TRIPLET.fields])
TRIPLETS_END = HEADER_END + MOST_TRIPLETS * TRIPLET.size
"""Bytes from the RDW to the end of the last triplet that a record may have."""
_NO_TRIPLET = np.iinfo(np.uint32).max
_FLAG, _TYPE, _TIME, _DATE, _SYSTEM, _SUBTYPE = (
    QWST.field(f"sm115{name}").offset for name in ("flg", "rty", "tme", "dte", "sid", "stf")
)
_TIME_DATE = struct.Struct(">II")
_SIGN = _SYSTEM - 1
"""Offset of the byte with the sign of the packed date."""
_FIRST_YEAR, _END_YEAR = 0x0060000, 0x0200000
"""Limits of a packed date without its sign: no SMF record is older than 1960."""
_TELLING = frozenset({DUMP_HEADER, DUMP_TRAILER, STATISTICS, ACCOUNTING})
_EXTENDED_FLAGS, _EXTENDED_LENGTH, _EXTENDED_VERSION, _END_TYPE = 0x60, 32, 1, 2048
"""Values in an extended header: the bits for a subtype and an extended header, bytes of the
extended part, its version, and the maximum type. Source: "Generating records with Extended headers"
in IBM's SMF manual, for the offsets as well."""
_EXTENDED_AT, _VERSION_AT, REAL_TYPE = 24, 26, slice(52, 54)
"""Where the length and the version of the extended part are, and the type."""
EXTENDED_END = 56
"""Bytes from the RDW to the end of an extended header."""
_FLAG_BITS, _FLAG_ON = 0x1F, 0x1E
_IN_NAMES = np.zeros(256, np.bool_)
_IN_NAMES[list("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789$#@ ".encode(ENCODING))] = True
_PIECE = 1 << 18
"""Bytes that are searched in one step, so that they stay in the processor's cache."""
_DAY_HUNDREDTHS = US_PER_DAY // 10_000
DATE_END = QWST.field("sm115dte").end
"""Bytes from the RDW to the end of the date."""
SUBTYPE_END = QWST.field("sm115stf").end
"""Bytes from the RDW to the end of the subtype."""


class Headers:
    """The SMF headers of records in a buffer, one row per record, in QWST's names.

    start, length  int64 (records,): as in `Chunk`
    """

    def __init__(self, buffer: Bytes, start: Ints, length: Ints) -> None:
        self._header = gather(buffer, start, QWST.size).view(_LAYOUT)[:, 0]
        self._length = length
        self.type = types_of(buffer, start, length)
        """SMF record type; that of the extended header, where there is one."""

    def raw(self, name: str) -> Raw:
        """Return the wire bytes of a field, uint8 (records, width)."""
        column = np.ascontiguousarray(self._header[name])
        return column.view(np.uint8).reshape(len(column), column.itemsize)

    def number(self, name: str) -> Values:
        """Return a number, one value per record."""
        kind = QWST.field(name).kind
        assert isinstance(kind, Numeric)
        return kind.values(self.raw(name))[0]

    @cached_property
    def is_mq(self) -> Bools:
        """Whether the record is one of MQ."""
        found: Bools = (self.type == STATISTICS) | (self.type == ACCOUNTING)
        return found

    @cached_property
    def has_subtype(self) -> Bools:
        """Whether the header has a subtype: SMF's own records have none."""
        says: Bools = self.is_mq | ((self.number("sm115flg") & SUBTYPE_VALID.mask) != 0)
        return says & (self._length >= SUBTYPE_END)

    @cached_property
    def subtype(self) -> Ints:
        """Record subtype, -1 if none."""
        return np.where(self.has_subtype, self.number("sm115stf").astype(np.int64), -1)

    @cached_property
    def time(self) -> tuple[Ints, Bools]:
        """Microseconds since 1970, local time of the system, and whether each is plausible."""
        return smf_moments(self.number("sm115tme"), self.number("sm115dte"))


def kinds_of(buffer: Bytes, start: Ints) -> Ints:
    """Return type << 16 | subtype of records; subtype 0 for records that consist of one block."""
    kinds: Ints = buffer[start + _TYPE].astype(np.int64) << 16
    kinds |= buffer[start + _SUBTYPE].astype(np.int64) << 8
    kinds |= buffer[start + _SUBTYPE + 1]
    for smf_type in WHOLE_RECORDS:
        kinds[kinds >> 16 == smf_type] = smf_type << 16
    return kinds


def plausible(buffer: Bytes, start: Ints) -> Bools:
    """Whether the SMF time and the packed date of each header are valid."""
    words = np.ndarray((buffer.size - 7,), ">u8", buffer, strides=(1,))[start + _TIME]
    time, date = words >> 32, words & 0xFFFFFFFF
    digits = date >> 4
    tens = (digits + 0x6666666 ^ digits) & 0x11111110
    day = digits & 0xFFF
    is_date: Bools = (tens == 0) & (date & 15 >= 10) & (day >= 1) & (day <= 0x366)
    is_date &= (digits >= _FIRST_YEAR) & (digits < _END_YEAR)
    return is_date & (time < _DAY_HUNDREDTHS)


def is_plausible(buffer: Bytes, at: int) -> bool:
    """Whether `plausible` is true of one place: for few places this is faster."""
    time, date = _TIME_DATE.unpack_from(buffer.data, at + _TIME)
    digits = date >> 4
    return (
        time < _DAY_HUNDREDTHS
        and date & 15 >= 10
        and _FIRST_YEAR <= digits < _END_YEAR
        and not (digits + 0x6666666 ^ digits) & 0x11111110
        and 1 <= digits & 0xFFF <= 0x366
    )


def is_header(buffer: Bytes, at: int) -> bool:
    """Whether a header of z/OS is at a place, as `headers_in` finds them."""
    view = buffer.data
    return (
        view[at + _FLAG] & _FLAG_BITS == _FLAG_ON
        and is_plausible(buffer, at)
        and all(_IN_NAMES[each] for each in view[at + _SYSTEM : at + SMF_HEADER])
    )


def headers_in(buffer: Bytes, low: int, end: int) -> Ints:
    """Return, in order, every place from `low` on at which a header of z/OS ends before `end`."""
    found = [np.zeros(0, np.int64)]
    high = end - SMF_HEADER + 1
    for start in range(low, high, _PIECE):
        stop = min(start + _PIECE, high)
        sign = buffer[start + _SIGN : stop + _SIGN]
        piece = np.flatnonzero((sign & 15) >= 10) + start
        piece = piece[(buffer[piece + _TIME] == 0) & (buffer[piece + _DATE] <= 1)]
        piece = piece[plausible(buffer, piece)]
        found.append(piece[are_sound(buffer, piece)])
    return np.concatenate(found)


def has_flag(buffer: Bytes, start: Ints) -> Bools:
    """Whether the system indicator byte is one that z/OS writes."""
    found: Bools = np.equal(buffer[start + _FLAG] & _FLAG_BITS, _FLAG_ON)
    return found


def has_system(buffer: Bytes, start: Ints) -> Bools:
    """Whether the system id is plausible: letters, digits, national characters, then blanks."""
    found: Bools = np.all(_IN_NAMES[gather(buffer, start + _SYSTEM, SMF_HEADER - _SYSTEM)], axis=1)
    return found


def are_sound(buffer: Bytes, start: Ints) -> Bools:
    """Return which headers have a system indicator byte and a system id, as z/OS writes them."""
    return has_flag(buffer, start) & has_system(buffer, start)


def is_mq(buffer: Bytes, start: Ints) -> Bools:
    """Whether records are of MQ, by their type."""
    found: Bools = (buffer[start + _TYPE] == STATISTICS) | (buffer[start + _TYPE] == ACCOUNTING)
    return found


def packed_dates(buffer: Bytes, start: Ints) -> Ints:
    """Return the dates of records as their digits: 0x0126063 is day 63 of 2026."""
    found: Ints = gather(buffer, start + _DATE, 4).view(">u4")[:, 0].astype(np.int64) >> 4
    return found


def types_of(buffer: Bytes, start: Ints, length: Ints) -> Ints:
    """Return the types of records; for an extended header, its type, which can be above 255.

    A record of type 126 keeps this type if its extended header is not valid, or contains a type
    that has no extended headers: those of MQ and of the dump program.
    """
    types: Ints = buffer[start + _TYPE].astype(np.int64)
    some = np.flatnonzero(types == EXTENDED)
    if some.size:
        at = start[some]
        size, found = (
            gather(buffer, at + each, 2).view(">u2")[:, 0]
            for each in (_EXTENDED_AT, REAL_TYPE.start)
        )
        sound = (buffer[at + _FLAG] & _EXTENDED_FLAGS == _EXTENDED_FLAGS) & (found < _END_TYPE)
        sound &= (size == _EXTENDED_LENGTH) & (buffer[at + _VERSION_AT] == _EXTENDED_VERSION)
        sound &= (length[some] >= EXTENDED_END) & ~np.isin(found, [*_TELLING])
        types[some[sound]] = found[sound]
    return types


def begins_dump(buffer: Bytes, start: Ints) -> Bools:
    """Whether records are those with which a dump starts."""
    found: Bools = buffer[start + _TYPE] == DUMP_HEADER
    if found.any():
        found[found] = ~_is_signature(buffer, start[found])
    return found


def is_dump(buffer: Bytes, start: Ints) -> Bools:
    """Whether records are those with which the SMF dump program starts and ends a dump."""
    found: Bools = begins_dump(buffer, start) | (buffer[start + _TYPE] == DUMP_TRAILER)
    return found


def _is_signature(buffer: Bytes, start: Ints) -> Bools:
    """Whether records of type 2 are signatures of a signed log stream: they have a subtype."""
    flagged = (buffer[start + _FLAG] & SUBTYPE_VALID.mask) != 0
    found: Bools = flagged & np.isin(kinds_of(buffer, start) & 0xFFFF, SIGNATURES)
    return found


def least_offset(number: Any) -> Any:
    """Return the first byte that triplet `number` can point to: the byte after it."""
    return HEADER_END + (number + 1) * TRIPLET.size


def existing_triplets(buffer: Bytes, start: Ints, length: Ints, most: int) -> tuple[Any, Bools]:
    """Return the first `most` triplets of MQ records, (records, most), and which of them exist.

    QWHSNSDA contains the number of triplets too, but in 115/231 at MQ 8.0.0 without the last one.
    """
    raw = gather(buffer, start + HEADER_END, most * TRIPLET.size).view(_TRIPLET)
    offsets = raw["offset"].T.astype(np.uint32, order="C")
    least = least_offset(np.arange(most, dtype=np.uint32))[:, None]
    return raw, np.ascontiguousarray((triplets_end(offsets, length) >= least).T)


def triplets_end(offsets: NDArray[np.uint32], length: Ints) -> NDArray[np.uint32]:
    """Return where the triplets of records end: at the start of the first block they point to.

    offsets  uint32 (triplets, records): the offset in each triplet, if it exists
    length   int64 (records,): bytes of each record

    Row n of the result is the end according to the triplets before triplet n, which exists if it
    ends there or earlier. An offset into the triplets themselves is ignored.
    """
    least = least_offset(np.arange(len(offsets), dtype=np.uint32))[:, None]
    ends = np.empty_like(offsets)
    ends[0] = length
    ends[1:] = np.where(offsets >= least, offsets, _NO_TRIPLET)[:-1]
    found: NDArray[np.uint32] = np.minimum.accumulate(ends, axis=0)
    return found


def triplet_count(record: bytes) -> int:
    """Return the number of triplets of an MQ record, given with its RDW."""
    most = (len(record) - HEADER_END) // TRIPLET.size
    if most < 1:
        return 0
    buffer, length = np.frombuffer(record, np.uint8), np.array([len(record)])
    _, exists = existing_triplets(buffer, np.zeros(1, np.int64), length, most)
    return int(exists.sum())


def has_triplets(buffer: Bytes, start: Ints, length: Ints) -> Bools:
    """Return which MQ records have all of their triplets in their first `length` bytes."""
    _, exists = _all_triplets(buffer, start)
    found: Bools = least_offset(exists.sum(axis=1) - 1) <= length
    return found


def content_end(buffer: Bytes, start: Ints) -> Ints:
    """Return the length of MQ records by their triplets: to the end of the last block."""
    raw, exists = _all_triplets(buffer, start)
    size = raw["length"].astype(np.int64) * raw["count"]
    end = np.where(exists & (size > 0), raw["offset"] + size, HEADER_END)
    longest: Ints = end.max(axis=1, initial=HEADER_END)
    return longest


def _all_triplets(buffer: Bytes, start: Ints) -> tuple[Any, Bools]:
    """Return the triplets of MQ records whose length is not known, and which of them exist."""
    unknown = np.full(len(start), _NO_TRIPLET, np.int64)
    return existing_triplets(buffer, start, unknown, MOST_TRIPLETS)


def tells_length(buffer: Bytes, at: int) -> bool:
    """Whether `implied_length` is usually known for records of this type."""
    return buffer[at + _TYPE] in _TELLING


def implied_length(buffer: Bytes, start: Ints) -> Ints:
    """Return the length of records implied by their contents; 0: not known for this type."""
    length: Ints = np.where(is_dump(buffer, start), SMF_HEADER, 0)
    mq = is_mq(buffer, start)
    if mq.any():
        length[mq] = content_end(buffer, start[mq])
    return length
