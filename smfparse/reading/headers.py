"""SMF headers and triplets: type, time, system, subtype and implied length of records."""

from __future__ import annotations

import struct
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smfparse.layout.clocks import US_PER_DAY, smf_moments
from smfparse.layout.kinds import ENCODING, Numeric, Raw, Values
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
"""Layout of the SMF header. The bytes of its numbers stay in the byte order of the file."""
HEADER_END = QWST.size
SMF_HEADER = QWST.field("sm115sid").end
"""Number of bytes from the RDW to the end of the system id: the minimum length of an SMF record."""
MOST_TRIPLETS = 16
"""Maximum number of triplets of a record (115/1 has 12)."""
_TRIPLET = np.dtype([(each.name, each.kind.wire) for each in TRIPLET.fields])
TRIPLETS_END = HEADER_END + MOST_TRIPLETS * TRIPLET.size
"""Number of bytes from the RDW to the end of triplet MOST_TRIPLETS."""
_NO_TRIPLET = np.iinfo(np.uint32).max
_FLAG, _TYPE, _TIME, _DATE, _SYSTEM, _SUBTYPE = (
    QWST.field(f"sm115{name}").offset for name in ("flg", "rty", "tme", "dte", "sid", "stf")
)
_TIME_DATE = struct.Struct(">II")
_SIGN = _SYSTEM - 1
"""Offset of the byte with the sign of the packed date."""
_FIRST_YEAR, _END_YEAR = 0x0060000, 0x0200000
"""First packed date without its sign, and the value after the last: 1960 to 2099."""
_OF_KNOWN_LENGTH = frozenset({DUMP_HEADER, DUMP_TRAILER, STATISTICS, ACCOUNTING})
_EXTENDED_FLAGS, _EXTENDED_LENGTH, _EXTENDED_VERSION, _END_TYPE = 0x60, 32, 1, 2048
"""Values in an extended header: flag bits for a subtype and an extended header, length of the
extended part in bytes, its version, and the number after the last valid type. Source of these
values and of the offsets below: "Generating records with Extended headers" in IBM's SMF manual.
"""
_EXTENDED_AT, _VERSION_AT, REAL_TYPE = 24, 26, slice(52, 54)
"""Offsets of the length and the version of the extended part; slice of the extended type."""
EXTENDED_END = 56
"""Number of bytes from the RDW to the end of an extended header."""
_FLAG_BITS, _FLAG_ON = 0x1F, 0x1E
_IN_NAMES = np.zeros(256, np.bool_)
_IN_NAMES[list("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789$#@ ".encode(ENCODING))] = True
_PIECE = 1 << 18
"""Number of bytes searched in one step: they fit into the processor's cache."""
_DAY_HUNDREDTHS = US_PER_DAY // 10_000
DATE_END = QWST.field("sm115dte").end
"""Number of bytes from the RDW to the end of the date."""
SUBTYPE_END = QWST.field("sm115stf").end
"""Number of bytes from the RDW to the end of the subtype."""


class Headers:
    """The SMF headers of records in a buffer; QWST declares the names of their fields.

    start, length  int64 (records,): as in `Chunk`
    """

    def __init__(self, buffer: Bytes, start: Ints, length: Ints) -> None:
        self._header = gather(buffer, start, QWST.size).view(_LAYOUT)[:, 0]
        self._length = length
        self.type = types_of(buffer, start, length)
        """SMF record types, as returned by `types_of`."""

    def raw(self, name: str) -> Raw:
        """Return the wire bytes of a field, uint8 (records, width)."""
        column = np.ascontiguousarray(self._header[name])
        return column.view(np.uint8).reshape(len(column), column.itemsize)

    def number(self, name: str) -> Values:
        """Return the values of a numeric field, one per record."""
        kind = QWST.field(name).kind
        assert isinstance(kind, Numeric)
        return kind.values(self.raw(name))[0]

    @cached_property
    def is_mq(self) -> Bools:
        """Whether each record is an MQ record."""
        found: Bools = (self.type == STATISTICS) | (self.type == ACCOUNTING)
        return found

    @cached_property
    def has_subtype(self) -> Bools:
        """Whether each header has a subtype: records of SMF itself have none."""
        flagged: Bools = self.is_mq | ((self.number("sm115flg") & SUBTYPE_VALID.mask) != 0)
        return flagged & (self._length >= SUBTYPE_END)

    @cached_property
    def subtype(self) -> Ints:
        """Record subtypes; -1: none."""
        return np.where(self.has_subtype, self.number("sm115stf").astype(np.int64), -1)

    @cached_property
    def time(self) -> tuple[Ints, Bools]:
        """SMF times (microseconds since 1970, local time of the system), and which are valid."""
        return smf_moments(self.number("sm115tme"), self.number("sm115dte"))


def kinds_of(buffer: Bytes, start: Ints) -> Ints:
    """Return type << 16 | subtype of records. Records that consist of one block have subtype 0."""
    kinds: Ints = buffer[start + _TYPE].astype(np.int64) << 16
    kinds |= buffer[start + _SUBTYPE].astype(np.int64) << 8
    kinds |= buffer[start + _SUBTYPE + 1]
    for smf_type in WHOLE_RECORDS:
        kinds[kinds >> 16 == smf_type] = smf_type << 16
    return kinds


def plausible(buffer: Bytes, start: Ints) -> Bools:
    """Return which headers have a valid SMF time and packed date."""
    words = np.ndarray((buffer.size - 7,), ">u8", buffer, strides=(1,))[start + _TIME]
    time, date = words >> 32, words & 0xFFFFFFFF
    digits = date >> 4
    tens = (digits + 0x6666666 ^ digits) & 0x11111110
    day = digits & 0xFFF
    is_date: Bools = (tens == 0) & (date & 15 >= 10) & (day >= 1) & (day <= 0x366)
    is_date &= (digits >= _FIRST_YEAR) & (digits < _END_YEAR)
    return is_date & (time < _DAY_HUNDREDTHS)


def is_plausible(buffer: Bytes, at: int) -> bool:
    """Return the result of `plausible` for one header, faster."""
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
    """Whether an SMF header starts at `at`, by the same test as `headers_in`."""
    view = buffer.data
    return (
        view[at + _FLAG] & _FLAG_BITS == _FLAG_ON
        and is_plausible(buffer, at)
        and all(_IN_NAMES[each] for each in view[at + _SYSTEM : at + SMF_HEADER])
    )


def headers_in(buffer: Bytes, low: int, end: int) -> Ints:
    """Return the places of the SMF headers in buffer[low:end], in order.

    The place of a header is the place of its RDW, at or after `low`. Each header has a valid time
    and date, system indicator byte and system id. The system id ends at or before `end`.
    """
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
    """Return which headers have a system indicator byte that z/OS writes."""
    found: Bools = np.equal(buffer[start + _FLAG] & _FLAG_BITS, _FLAG_ON)
    return found


def has_system(buffer: Bytes, start: Ints) -> Bools:
    """Return which headers have a system id of letters, digits, national characters and blanks."""
    found: Bools = np.all(_IN_NAMES[gather(buffer, start + _SYSTEM, SMF_HEADER - _SYSTEM)], axis=1)
    return found


def are_sound(buffer: Bytes, start: Ints) -> Bools:
    """Return which headers have a system indicator byte and a system id, as z/OS writes them."""
    return has_flag(buffer, start) & has_system(buffer, start)


def is_mq(buffer: Bytes, start: Ints) -> Bools:
    """Return which records are MQ records, by their type."""
    found: Bools = (buffer[start + _TYPE] == STATISTICS) | (buffer[start + _TYPE] == ACCOUNTING)
    return found


def packed_dates(buffer: Bytes, start: Ints) -> Ints:
    """Return the packed dates of records without their sign: 0x0126063 is day 63 of 2026."""
    found: Ints = gather(buffer, start + _DATE, 4).view(">u4")[:, 0].astype(np.int64) >> 4
    return found


def types_of(buffer: Bytes, start: Ints, length: Ints) -> Ints:
    """Return the types of records. The type in an extended header can be above 255.

    A record of type 126 keeps type 126 if its extended header is not valid, or contains a type of
    MQ or of the dump program. Records of these types never have an extended header.
    """
    types: Ints = buffer[start + _TYPE].astype(np.int64)
    candidates = np.flatnonzero(types == EXTENDED)
    if candidates.size:
        at = start[candidates]
        size, extended = (
            gather(buffer, at + each, 2).view(">u2")[:, 0]
            for each in (_EXTENDED_AT, REAL_TYPE.start)
        )
        sound = (buffer[at + _FLAG] & _EXTENDED_FLAGS == _EXTENDED_FLAGS) & (extended < _END_TYPE)
        sound &= (size == _EXTENDED_LENGTH) & (buffer[at + _VERSION_AT] == _EXTENDED_VERSION)
        sound &= (length[candidates] >= EXTENDED_END) & ~np.isin(extended, [*_OF_KNOWN_LENGTH])
        types[candidates[sound]] = extended[sound]
    return types


def begins_dump(buffer: Bytes, start: Ints) -> Bools:
    """Return which records are dump headers. Each dump header starts a dump."""
    found: Bools = buffer[start + _TYPE] == DUMP_HEADER
    if found.any():
        found[found] = ~_is_signature(buffer, start[found])
    return found


def is_dump(buffer: Bytes, start: Ints) -> Bools:
    """Return which records are the dump headers and trailers of the SMF dump program."""
    found: Bools = begins_dump(buffer, start) | (buffer[start + _TYPE] == DUMP_TRAILER)
    return found


def _is_signature(buffer: Bytes, start: Ints) -> Bools:
    """Return which records of type 2 are signatures of a signed log stream, by their subtype."""
    flagged = (buffer[start + _FLAG] & SUBTYPE_VALID.mask) != 0
    found: Bools = flagged & np.isin(kinds_of(buffer, start) & 0xFFFF, SIGNATURES)
    return found


def least_offset(number: Any) -> Any:
    """Return the minimum offset that triplet `number`, counted from 0, can contain: its own end."""
    return HEADER_END + (number + 1) * TRIPLET.size


def existing_triplets(buffer: Bytes, start: Ints, length: Ints, most: int) -> tuple[Any, Bools]:
    """Return the first `most` triplets of MQ records, (records, most), and which of them exist.

    The number of triplets in QWHSNSDA is not used: it is one too low in 115/231 of MQ 8.0.0.
    """
    raw = gather(buffer, start + HEADER_END, most * TRIPLET.size).view(_TRIPLET)
    offsets = raw["offset"].T.astype(np.uint32, order="C")
    least = least_offset(np.arange(most, dtype=np.uint32))[:, None]
    return raw, np.ascontiguousarray((triplets_end(offsets, length) >= least).T)


def triplets_end(offsets: NDArray[np.uint32], length: Ints) -> NDArray[np.uint32]:
    """Return the limit for the end of each triplet, uint32 (triplets, records).

    offsets  uint32 (triplets, records): the offset in each triplet, or other data if the triplet
             does not exist
    length   int64 (records,): bytes of each record

    The triplets of a record end where the first block starts, so row n of the result is the least
    offset in the triplets before triplet n. An offset into the triplets themselves is ignored.
    Triplet n exists if it ends at or before this limit.
    """
    least = least_offset(np.arange(len(offsets), dtype=np.uint32))[:, None]
    ends = np.empty_like(offsets)
    ends[0] = length
    ends[1:] = np.where(offsets >= least, offsets, _NO_TRIPLET)[:-1]
    found: NDArray[np.uint32] = np.minimum.accumulate(ends, axis=0)
    return found


def triplet_count(record: bytes) -> int:
    """Return the number of triplets of an MQ record; `record` includes its RDW."""
    most = (len(record) - HEADER_END) // TRIPLET.size
    if most < 1:
        return 0
    buffer, length = np.frombuffer(record, np.uint8), np.array([len(record)])
    _, exists = existing_triplets(buffer, np.zeros(1, np.int64), length, most)
    return int(exists.sum())


def has_triplets(buffer: Bytes, start: Ints, length: Ints) -> Bools:
    """Return which MQ records have all triplets in their first `length` bytes.

    length  int64 (records,)
    """
    _, exists = _all_triplets(buffer, start)
    found: Bools = least_offset(exists.sum(axis=1) - 1) <= length
    return found


def content_end(buffer: Bytes, start: Ints) -> Ints:
    """Return the length of MQ records, implied by their triplets: the end of the last block."""
    raw, exists = _all_triplets(buffer, start)
    size = raw["length"].astype(np.int64) * raw["count"]
    end = np.where(exists & (size > 0), raw["offset"] + size, HEADER_END)
    longest: Ints = end.max(axis=1, initial=HEADER_END)
    return longest


def _all_triplets(buffer: Bytes, start: Ints) -> tuple[Any, Bools]:
    """Return the same as `existing_triplets`, for records of unknown length."""
    unknown = np.full(len(start), _NO_TRIPLET, np.int64)
    return existing_triplets(buffer, start, unknown, MOST_TRIPLETS)


def tells_length(buffer: Bytes, at: int) -> bool:
    """Whether `implied_length` can be known for the type of the record at `at`."""
    return buffer[at + _TYPE] in _OF_KNOWN_LENGTH


def implied_length(buffer: Bytes, start: Ints) -> Ints:
    """Return the length of records, implied by their contents; 0: unknown for this type."""
    length: Ints = np.where(is_dump(buffer, start), SMF_HEADER, 0)
    mq = is_mq(buffer, start)
    if mq.any():
        length[mq] = content_end(buffer, start[mq])
    return length
