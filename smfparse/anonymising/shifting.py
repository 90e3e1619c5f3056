"""Shifts of the times in records by whole days: SMF times, clocks in blocks, and tokens."""

from __future__ import annotations

import datetime as dt

import numpy as np

from smfparse.anonymising.places import Named
from smfparse.errors import RequestError
from smfparse.reading.chunks import Chunk
from smfparse.schemas import QWST, WHOLE_RECORDS
from smfparse.vectors import Bytes, Ints, each_of, gather

_DATE = QWST.field("sm115dte")
"""Field of the date in the SMF header of every record: 0CYYDDDF."""
_TYPE = QWST.field("sm115rty").offset
_CLOCK = 8
"""Number of bytes of a TOD clock value."""
_DAY = 86_400_000_000 << 12
"""Number of units of the TOD clock per day."""
_CENTURY = 1900


def shift_times(buffer: Bytes, named: Named, days: int) -> None:
    """Shift the times in the records of a chunk, in `buffer`, by `days`.

    Raises RequestError if a date would be before 1900 or after 2041, the last year of the clock.
    """
    if not days:
        return
    at = _dates(named.chunk)
    rows = gather(buffer, at, _DATE.kind.width)
    dates, which = np.unique(rows.view(">u4")[:, 0], return_inverse=True)
    moved = np.array([_moved(each, days) for each in dates.tolist()], ">u4")
    _put(buffer, at, moved[which].view(np.uint8).reshape(-1, _DATE.kind.width))
    for at in named.clocks():
        clocks = gather(buffer, at, _CLOCK).view(">u8")[:, 0]
        set_clocks = clocks != 0
        later = (clocks[set_clocks].astype(np.int64) + days * _DAY).astype(">u8")
        _put(buffer, at[set_clocks], later.view(np.uint8).reshape(-1, _CLOCK))


def _dates(chunk: Chunk) -> Ints:
    """Return the places of packed dates: in headers, and in records that consist of one block."""
    found = [chunk.start + _DATE.offset]
    for smf_type, block in WHOLE_RECORDS.items():
        for field in block.own:
            if field.kind.fact == "smf_moment":
                dated = (chunk.buffer[chunk.start + _TYPE] == smf_type) & (
                    chunk.length >= field.end
                )
                found.append(chunk.start[dated] + field.end - _DATE.kind.width)
    return np.concatenate(found)


def _put(buffer: Bytes, at: Ints, rows: Bytes) -> None:
    buffer[each_of(at, rows.shape[1])] = rows


def _moved(packed: int, days: int) -> int:
    """Return a packed date `days` later; a value that is not a date is returned unchanged."""
    digits = f"{packed:08X}"
    if not (digits[:-1].isdecimal() and digits[-1] in "CF"):
        return packed
    year, day = _CENTURY + int(digits[:-4]), int(digits[-4:-1])
    date = dt.date(year, 1, 1) + dt.timedelta(days=day - 1 + days)
    if not _CENTURY <= date.year <= 2041:
        raise RequestError(
            f"shift_days={days}: {date} is outside the range of SMF dates and TOD clocks; shift by "
            "fewer days",
            "shift_days",
        )
    return int(f"{date.year - _CENTURY:04}{date:%j}{digits[-1]}", 16)
