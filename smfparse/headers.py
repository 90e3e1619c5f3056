"""The SMF headers of records: what is told of a record before any of its blocks is looked for."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from smfparse.arrays import WORDS, gather
from smfparse.fields import Numeric, Raw, Values
from smfparse.framing import Bytes, Ints
from smfparse.schemas import ACCOUNTING, QWST, STATISTICS

Bools = NDArray[np.bool_]

_LAYOUT = np.dtype(
    [
        (each.name, f"{'u' if each.kind.width in WORDS else 'V'}{each.kind.width}")
        for each in QWST.fields
    ]
)
"""The SMF header; numbers as they stand on the wire."""
_SUBTYPE_VALID = 0x40
_SUBTYPE_END = QWST.field("sm115stf").end
_US = 1_000_000
_DAY_US = 24 * 3600 * _US


class Headers:
    """The SMF headers of records in a buffer, a row a record, in QWST's names.

    start, length  int64 (records,): as in `Chunk`
    """

    def __init__(self, buffer: Bytes, start: Ints, length: Ints) -> None:
        self._header = gather(buffer, start, QWST.size).view(_LAYOUT)[:, 0]
        self._length = length

    def raw(self, name: str) -> Raw:
        """Return the wire bytes of a field, uint8 (records, width)."""
        column = np.ascontiguousarray(self._header[name])
        return column.view(np.uint8).reshape(len(column), column.itemsize)

    def number(self, name: str) -> Values:
        """Return a number, a value a record."""
        kind = QWST.field(name).kind
        assert isinstance(kind, Numeric)
        return kind.values(self.raw(name))[0]

    @cached_property
    def type(self) -> Ints:
        """SMF record type."""
        return self.number("sm115rty").astype(np.int64)

    @cached_property
    def is_mq(self) -> Bools:
        """Whether the record is one of MQ."""
        found: Bools = (self.type == STATISTICS) | (self.type == ACCOUNTING)
        return found

    @cached_property
    def has_subtype(self) -> Bools:
        """False where the header says nothing of a subtype (SMF's own records)."""
        says: Bools = self.is_mq | ((self.number("sm115flg") & _SUBTYPE_VALID) != 0)
        return says & (self._length >= _SUBTYPE_END)

    @cached_property
    def subtype(self) -> Ints:
        """Record subtype, -1 where there is none."""
        return np.where(self.has_subtype, self.number("sm115stf").astype(np.int64), -1)

    @cached_property
    def time(self) -> tuple[Ints, Bools]:
        """Microseconds since 1970, local time of the system, and where the date is one."""
        date = self.number("sm115dte").astype(np.int64)
        digits = [(date >> shift) & 15 for shift in range(28, 0, -4)]
        year = 1900 + 100 * digits[1] + 10 * digits[2] + digits[3]
        day = 100 * digits[4] + 10 * digits[5] + digits[6]
        first = (year - 1970).astype("datetime64[Y]").astype("datetime64[D]").astype(np.int64)
        time = self.number("sm115tme").astype(np.int64) * (_US // 100)
        return (first + day - 1) * _DAY_US + time, (day >= 1) & (day <= 366)
