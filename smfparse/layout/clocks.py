"""Durations and moments: in units of the TOD clock (STCK), 4,096 a microsecond, or as SMF has them.

SMF writes the hundredths of a second since midnight, then the date as packed decimals 0cyydddF.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
from construct import Int64ub

from smfparse.layout.kinds import Combine, Mask, Numeric, Raw, Shown, Values, wire_bytes

STCK_UNIX_EPOCH_US = 0x7D91048BCA000000 >> 12
"""Microseconds from the TOD clock's epoch, 1900-01-01, to 1970-01-01."""
STCK_UNITS_PER_US = 4096
US_PER_SECOND = 1_000_000
US_PER_DAY = 24 * 3600 * US_PER_SECOND
UNIX_EPOCH = dt.datetime(1970, 1, 1)
"""Moments in Arrow are microseconds since then: in UTC, or in the local time of a system."""
_HUNDREDTH_US = 10_000
_FIRST_YEAR, _CENTURY = 0x0060, 0x0100_0000
"""In packed dates: nothing is older than SMF, so a year before 1960 lacks its century."""
_FRACTION_BITS = 52
_BIAS = np.float64(2**40)
_BIAS_BITS = _BIAS.view(np.uint64)

TIMESTAMP = "timestamp[us, tz=UTC]"
LOCAL_TIMESTAMP = "timestamp[us]"


class Duration(Numeric):
    """A span in TOD clock units, as double microseconds: exact, as calls are faster than 1 us."""

    fact = "stck_duration"
    wire = np.dtype(">u8")
    native: np.dtype[Any] = np.dtype("u8")

    def __init__(self, combine: Combine = Combine.SUM) -> None:
        super().__init__(Int64ub, "microseconds", combine)

    def _decode(self, obj: int, context: Any, path: str) -> float:
        return float(np.float64(obj) / STCK_UNITS_PER_US)

    def _encode(self, obj: float | None, context: Any, path: str) -> int:
        return round((obj or 0) * STCK_UNITS_PER_US)

    def settle(self, gathered: Values) -> tuple[Values, Mask]:
        """Divide by 4096: in place, where the units fit the 52 bits of a double's fraction.

        Such a number with the exponent bits of 2**40 in front is 2**40 and its 4096th.
        """
        if gathered.size and int(gathered.max()) >> _FRACTION_BITS:
            return gathered / np.float64(STCK_UNITS_PER_US), None
        microseconds = np.bitwise_or(gathered, _BIAS_BITS, out=gathered).view(np.float64)
        return np.subtract(microseconds, _BIAS, out=microseconds), None

    def encode(self, values: Values) -> Raw:
        return wire_bytes(np.rint(values * STCK_UNITS_PER_US).astype(self.wire))

    @property
    def shown(self) -> tuple[Shown, ...]:
        return (Shown("double"),)


class LatchDuration(Duration):
    """A latch wait of WTAS: MQ 10.0.0 writes it in the high word and leaves the low word zero."""

    def _decode(self, obj: int, context: Any, path: str) -> float:
        return super()._decode(obj if obj & 0xFFFFFFFF else obj >> 32, context, path)

    def settle(self, gathered: Values) -> tuple[Values, Mask]:
        return super().settle(np.where(gathered & 0xFFFFFFFF, gathered, gathered >> 32))


class Instant(Numeric):
    """A TOD clock moment in UTC, or already in the system's local time; zero: it never happened."""

    fact = "stck_timestamp"
    wire = np.dtype(">u8")
    native = np.dtype("u8")

    def __init__(self, *, local: bool = False) -> None:
        super().__init__(Int64ub, None, Combine.NONE)
        self._arrow = LOCAL_TIMESTAMP if local else TIMESTAMP
        self._epoch = UNIX_EPOCH if local else UNIX_EPOCH.replace(tzinfo=dt.UTC)

    def _decode(self, obj: int, context: Any, path: str) -> dt.datetime | None:
        if obj == 0:
            return None
        return self._epoch + dt.timedelta(microseconds=(obj >> 12) - STCK_UNIX_EPOCH_US)

    def _encode(self, obj: dt.datetime | None, context: Any, path: str) -> int:
        if obj is None:
            return 0
        return ((obj - self._epoch) // dt.timedelta(microseconds=1) + STCK_UNIX_EPOCH_US) << 12

    def settle(self, gathered: Values) -> tuple[Values, Mask]:
        present = gathered != 0
        microseconds = np.right_shift(gathered, 12, out=gathered).view(np.int64)
        microseconds -= STCK_UNIX_EPOCH_US
        return microseconds, present

    def encode(self, values: Values) -> Raw:
        return wire_bytes(((values.astype(np.int64) + STCK_UNIX_EPOCH_US) << 12).astype(self.wire))

    @property
    def shown(self) -> tuple[Shown, ...]:
        return (Shown(self._arrow),)


def smf_moments(time: Values, date: Values) -> tuple[Values, Values]:
    """Return microseconds since 1970, local time, int64 (rows,), and where the date is one.

    time  (rows,): hundredths of a second since midnight
    date  (rows,): packed decimals 0cyydddF, as a number
    """
    time, date = time.astype(np.int64), date.astype(np.int64)
    digits = [(date >> shift) & 15 for shift in range(28, 0, -4)]
    year = 1900 + 100 * digits[1] + 10 * digits[2] + digits[3]
    day = 100 * digits[4] + 10 * digits[5] + digits[6]
    first = (year - 1970).astype("datetime64[Y]").astype("datetime64[D]").astype(np.int64)
    return (first + day - 1) * US_PER_DAY + time * _HUNDREDTH_US, (day >= 1) & (day <= 366)


class SmfMoment(Numeric):
    """A local moment as in the SMF header, time then date; NULL where it is none.

    The date of SMF7 is documented without a century: a year before 1960 is one of this century.
    """

    fact = "smf_moment"
    wire = np.dtype(">u8")
    native = np.dtype("u8")

    def __init__(self) -> None:
        super().__init__(Int64ub, None, Combine.NONE)

    def _decode(self, obj: int, context: Any, path: str) -> dt.datetime | None:
        moments, known = self._moments(np.array([obj], np.uint64))
        return UNIX_EPOCH + dt.timedelta(microseconds=int(moments[0])) if known[0] else None

    def _encode(self, obj: dt.datetime | None, context: Any, path: str) -> int:
        if obj is None:
            return 0
        midnight = obj.replace(hour=0, minute=0, second=0, microsecond=0)
        hundredths = (obj - midnight) // dt.timedelta(microseconds=_HUNDREDTH_US)
        return hundredths << 32 | int(f"{obj.year - 1900:04}{obj:%j}F", 16)

    def settle(self, gathered: Values) -> tuple[Values, Mask]:
        return self._moments(gathered)

    @staticmethod
    def _moments(gathered: Values) -> tuple[Values, Values]:
        time, date = gathered >> 32, gathered & 0xFFFFFFFF
        tens = [(date >> shift & 15) <= 9 for shift in range(28, 0, -4)]
        recent = np.where(date >> 16 < _FIRST_YEAR, date + _CENTURY, date)
        moments, known = smf_moments(time, recent)
        known = known & np.logical_and.reduce(tens) & (date & 15 >= 10)
        return moments, known & (time < US_PER_DAY // _HUNDREDTH_US)

    def encode(self, values: Values) -> Raw:
        epoch = [UNIX_EPOCH + dt.timedelta(microseconds=each) for each in values.tolist()]
        return wire_bytes(np.array([self._encode(each, None, "") for each in epoch], self.wire))

    @property
    def shown(self) -> tuple[Shown, ...]:
        return (Shown(LOCAL_TIMESTAMP),)


Elapsed = Duration()
HighElapsed = Duration(Combine.MAX)
LowElapsed = Duration(Combine.MIN)
GaugeElapsed = Duration(Combine.LAST)
LatchElapsed = LatchDuration()
HighLatchElapsed = LatchDuration(Combine.MAX)
When = Instant()
LocalWhen = Instant(local=True)
LocalMoment = SmfMoment()
