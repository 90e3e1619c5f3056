"""Durations and moments: in TOD clock units (STCK, 4,096 per microsecond), or as SMF writes them.

SMF writes hundredths of a second since midnight, then the date as packed decimals 0cyydddF.
"""

from __future__ import annotations

import copy
import datetime as dt
from typing import Any

import numpy as np
from construct import Int64ub

from smfparse.layout.kinds import Combine, Mask, Number, Numeric, Raw, Shown, Values, wire_bytes

STCK_UNIX_EPOCH_US = 0x7D91048BCA000000 >> 12
"""Microseconds from the epoch of the TOD clock, 1900-01-01, to 1970-01-01."""
STCK_UNITS_PER_US = 4096
US_PER_SECOND = 1_000_000
US_PER_DAY = 24 * 3600 * US_PER_SECOND
UNIX_EPOCH = dt.datetime(1970, 1, 1)
"""Moments in Arrow are microseconds since this epoch: in UTC, or in the local time of a system."""
_HUNDREDTH_US = 10_000
_FIRST_YEAR, _CENTURY = 0x0060, 0x0100_0000
"""In packed dates, a year before 1960 lacks its century, because no SMF data is that old."""
EARLIEST_US = (dt.datetime(1990, 1, 1) - UNIX_EPOCH) // dt.timedelta(microseconds=1)
LATEST_US = (dt.datetime(2042, 1, 1) - UNIX_EPOCH) // dt.timedelta(microseconds=1)
"""Moments from EARLIEST_US to just before LATEST_US are accepted, in UTC and in local time.

MQ for z/OS was released after 1990; X'FF...FF' is 2042-09-17, the end of the TOD clock.
"""
LONGEST_SECONDS = 1e9
"""Maximum seconds of an interval or a task (thirty years); see `believed_seconds`."""
_SIGN_BIT = 63
_FRACTION_BITS = 52
_BIAS = np.float64(2**40)
_BIAS_BITS = _BIAS.view(np.uint64)

TIMESTAMP = "timestamp[us, tz=UTC]"
LOCAL_TIMESTAMP = "timestamp[us]"


def believed(microseconds: Values) -> Values:
    """Whether moments are possible: bool (rows,).

    microseconds  int64 (rows,): since 1970, in UTC or in local time
    """
    found: Values = (microseconds >= EARLIEST_US) & (microseconds < LATEST_US)
    return found


def believed_seconds(seconds: Values) -> Values:
    """Whether spans are possible, bool (rows,): from 0 to `LONGEST_SECONDS`."""
    found: Values = (seconds >= 0) & (seconds <= LONGEST_SECONDS)
    return found


def _not_negative(gathered: Values) -> Mask:
    """Return where the top bit of 64-bit numbers is off; None: everywhere."""
    present: Values = gathered < np.uint64(1 << _SIGN_BIT)
    return None if present.all() else present


class Duration(Numeric):
    """A span in TOD clock units, decoded to microseconds with a fraction, because calls are short.

    If the top bit is on, the span has no value: it is a negative time, written as unsigned. It is
    not a true span of 71 years or more, except in a sum over many waits (TOTLATNT).
    """

    fact = "stck_duration"
    wire = np.dtype(">u8")
    native: np.dtype[Any] = np.dtype("u8")
    counter: str | None = None
    """Field with the number of calls in the span, which gives the average; None: no such field."""

    def __init__(self, combine: Combine = Combine.SUM) -> None:
        super().__init__(Int64ub, "microseconds", combine)

    def of(self, counter: str) -> Duration:
        """Return a copy of this kind with the field that counts calls: `Elapsed.of("getn")`."""
        twin = copy.copy(self)
        twin.counter = counter
        return twin

    def _decode(self, obj: int, context: Any, path: str) -> float | None:
        return None if obj >> _SIGN_BIT else float(np.float64(obj) / STCK_UNITS_PER_US)

    def _encode(self, obj: float | None, context: Any, path: str) -> int:
        return round((obj or 0) * STCK_UNITS_PER_US)

    def settle(self, gathered: Values) -> tuple[Values, Mask]:
        """Divide by 4096, in place if all units have at most 52 bits, as the fraction of a double.

        A double with the exponent of 2**40 and the units as fraction is 2**40 + units / 4096.
        """
        if gathered.size and int(gathered.max()) >> _FRACTION_BITS:
            return gathered / np.float64(STCK_UNITS_PER_US), _not_negative(gathered)
        microseconds = np.bitwise_or(gathered, _BIAS_BITS, out=gathered).view(np.float64)
        return np.subtract(microseconds, _BIAS, out=microseconds), None

    def encode(self, values: Values) -> Raw:
        return wire_bytes(np.rint(values * STCK_UNITS_PER_US).astype(self.wire))

    @property
    def shown(self) -> tuple[Shown, ...]:
        return (Shown("double"),)


class MicrosecondCount(Number):
    """A span in whole microseconds, 64 bits. A negative span has no value, as in `Duration`."""

    def __init__(self, combine: Combine = Combine.SUM) -> None:
        super().__init__(8, combine=combine)
        self.unit = "microseconds"

    def _decode(self, obj: int, context: Any, path: str) -> int | None:
        return None if obj >> _SIGN_BIT else obj

    def settle(self, gathered: Values) -> tuple[Values, Mask]:
        return gathered, _not_negative(gathered)


class LatchDuration(Duration):
    """A latch wait of WTAS: MQ 10.0.0 writes the wait in the high word, and zero in the low word.

    Such a wait has 32 bits, up to 1.05 seconds, and the top bit is not a sign.
    """

    def _decode(self, obj: int, context: Any, path: str) -> float | None:
        return super()._decode(obj if obj & 0xFFFFFFFF else obj >> 32, context, path)

    def settle(self, gathered: Values) -> tuple[Values, Mask]:
        return super().settle(np.where(gathered & 0xFFFFFFFF, gathered, gathered >> 32))


class Instant(Numeric):
    """A TOD clock moment in UTC, or already in the local time of the system.

    Zero means that the event never happened. Zero and moments that are not `believed` have no
    value.
    """

    fact = "stck_timestamp"
    wire = np.dtype(">u8")
    native = np.dtype("u8")

    def __init__(self, *, local: bool = False) -> None:
        super().__init__(Int64ub, None, Combine.NONE)
        self._arrow = LOCAL_TIMESTAMP if local else TIMESTAMP
        self._epoch = UNIX_EPOCH if local else UNIX_EPOCH.replace(tzinfo=dt.UTC)

    def _decode(self, obj: int, context: Any, path: str) -> dt.datetime | None:
        microseconds = (obj >> 12) - STCK_UNIX_EPOCH_US
        if not EARLIEST_US <= microseconds < LATEST_US:
            return None
        return self._epoch + dt.timedelta(microseconds=microseconds)

    def _encode(self, obj: dt.datetime | None, context: Any, path: str) -> int:
        if obj is None:
            return 0
        return ((obj - self._epoch) // dt.timedelta(microseconds=1) + STCK_UNIX_EPOCH_US) << 12

    def settle(self, gathered: Values) -> tuple[Values, Mask]:
        microseconds = np.right_shift(gathered, 12, out=gathered).view(np.int64)
        microseconds -= STCK_UNIX_EPOCH_US
        return microseconds, believed(microseconds)

    def encode(self, values: Values) -> Raw:
        return wire_bytes(((values.astype(np.int64) + STCK_UNIX_EPOCH_US) << 12).astype(self.wire))

    @property
    def shown(self) -> tuple[Shown, ...]:
        return (Shown(self._arrow),)


def smf_moments(time: Values, date: Values) -> tuple[Values, Values]:
    """Return microseconds since 1970, local time, int64 (rows,), and whether each is possible.

    time  (rows,): hundredths of a second since midnight
    date  (rows,): packed decimals 0cyydddF, as a number
    """
    time, date = time.astype(np.int64), date.astype(np.int64)
    digits = [(date >> shift) & 15 for shift in range(28, 0, -4)]
    year = 1900 + 100 * digits[1] + 10 * digits[2] + digits[3]
    day = 100 * digits[4] + 10 * digits[5] + digits[6]
    first = (year - 1970).astype("datetime64[Y]").astype("datetime64[D]").astype(np.int64)
    moments = (first + day - 1) * US_PER_DAY + time * _HUNDREDTH_US
    known = (day >= 1) & (day <= 366) & (time < US_PER_DAY // _HUNDREDTH_US)
    known &= np.logical_and.reduce([each <= 9 for each in digits])
    return moments, known & believed(moments)


class SmfMoment(Numeric):
    """A local moment as in the SMF header: time, then date; NULL if the moment is impossible.

    The date of SMF7 is documented without a century: a year before 1960 is read as 20yy.
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
        recent = np.where(date >> 16 < _FIRST_YEAR, date + _CENTURY, date)
        moments, known = smf_moments(time, recent)
        return moments, known & (date & 15 >= 10)

    def encode(self, values: Values) -> Raw:
        epoch = [UNIX_EPOCH + dt.timedelta(microseconds=each) for each in values.tolist()]
        return wire_bytes(np.array([self._encode(each, None, "") for each in epoch], self.wire))

    @property
    def shown(self) -> tuple[Shown, ...]:
        return (Shown(LOCAL_TIMESTAMP),)


Micros64 = MicrosecondCount()
HighMicros64 = MicrosecondCount(Combine.MAX)
LowMicros64 = MicrosecondCount(Combine.MIN)
LengthMicros64 = MicrosecondCount(Combine.NONE)
Elapsed = Duration()
HighElapsed = Duration(Combine.MAX)
LowElapsed = Duration(Combine.MIN)
GaugeElapsed = Duration(Combine.LAST)
LatchElapsed = LatchDuration()
HighLatchElapsed = LatchDuration(Combine.MAX)
When = Instant()
LocalWhen = Instant(local=True)
LocalMoment = SmfMoment()
