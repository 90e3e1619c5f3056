"""Kinds of field: one object that decodes one value (construct) and a whole column (numpy).

A kind is an ordinary construct Adapter, so a control block is an ordinary construct declaration:

    "qistmget" / Count32 * "Message get requests"

What construct reads off the wire and what a table shows are two named things: the kind's wire type
(`width`, `fact`) and the Arrow type of each `Part`. A field shows itself as one part, usually: its
value. A code adds its word, a flag word adds its bits, a 128-bit number adds its two halves.

A kind also says how its values combine when intervals are added up (`Combine`).
"""

from __future__ import annotations

import copy
import datetime as dt
import decimal
import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from construct import (
    Adapter,
    Bytes,
    BytesInteger,
    Construct,
    Int8sb,
    Int8ub,
    Int16sb,
    Int16ub,
    Int32sb,
    Int32ub,
    Int64sb,
    Int64ub,
)
from numpy.typing import NDArray

from smfparse.errors import LayoutError

Raw: TypeAlias = NDArray[np.uint8]
"""Shape (rows, width): the bytes of one field, a row a block."""
Values: TypeAlias = NDArray[Any]
"""Shape (rows,), or (rows, 2) for a 128-bit number: what a kind makes of `Raw`."""
Mask: TypeAlias = NDArray[np.bool_] | None
"""Shape (rows,): where a value is present; None: everywhere."""

ENCODING = "cp500"
"""EBCDIC code page of text fields (agrees with 037 and 1047 for every character of an MQ name)."""

BLANK = b"\x40"

STCK_UNIX_EPOCH_US = 0x7D91048BCA000000 >> 12
"""Microseconds from the TOD clock's epoch, 1900-01-01, to 1970-01-01."""
STCK_UNITS_PER_US = 4096
_FRACTION_BITS = 52
_BIAS = np.float64(2**40)
_BIAS_BITS = _BIAS.view(np.uint64)

TIMESTAMP = "timestamp[us, tz=UTC]"
LOCAL_TIMESTAMP = "timestamp[us]"
WIDE_DIGITS = 38
"""Decimal digits of the widest exact Arrow and DuckDB number."""

_UNIX_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_DECIMAL = decimal.Context(prec=WIDE_DIGITS + 2)


class Combine(enum.StrEnum):
    """How the values of a column over several intervals make one."""

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    LAST = "last"
    NONE = "none"


def _wire(values: Values) -> Raw:
    """Return the bytes of numbers in wire order, a row a number."""
    columns = 1 if values.ndim == 1 else values.shape[1]
    raw: Raw = values.reshape(len(values), columns).view(np.uint8)
    return raw


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Part:
    """One table column that a field shows itself as.

    `suffix` goes behind the field's name ('' the value itself), or `name` replaces it (a bit).
    `cell` turns the field's scalar value into this column's value; `vector` does the same for a
    column of values, and is None where each distinct value is turned once by `cell`.
    """

    arrow: str
    suffix: str = ""
    name: str = ""
    doc: str = ""
    cell: Callable[[Any], Any] = _same
    vector: Callable[[Values], Values] | None = _same


class Kind(Adapter):
    """One kind of field.

    width    bytes on the wire
    fact     the wire type in the words of the fact tables: uint, int, ebcdic, bytes, flags,
             stck_timestamp, stck_duration, pad
    unit     of the decoded value, or None
    combine  over intervals

    Building None writes what a field holds when there is nothing to say: zeros, blanks, the
    sentinel.
    """

    fact: str

    def __init__(self, wire: Construct, unit: str | None, combine: Combine) -> None:
        super().__init__(wire)
        self.width: int = wire.sizeof()
        self.unit = unit
        self.combine = combine

    def __call__(self, unit: str) -> Kind:
        """Return the same kind with a unit: `Count64("bytes")`."""
        twin = copy.copy(self)
        twin.unit = unit
        return twin

    @property
    def parts(self) -> tuple[Part, ...]:
        """Return the columns this field becomes."""
        raise NotImplementedError


class Numeric(Kind):
    """A kind whose column is computed by numpy.

    wire    numpy type of the bytes on the wire, big-endian
    native  numpy type in which a column of it is gathered, before it is settled
    """

    wire: np.dtype[Any]
    native: np.dtype[Any]

    def settle(self, gathered: Values) -> tuple[Values, Mask]:
        """Turn gathered numbers into values, in place where that goes; and where they are present.

        gathered  (rows,) of the native type; (rows, 2) for a 128-bit number
        """
        raise NotImplementedError

    def values(self, raw: Raw) -> tuple[Values, Mask]:
        """Decode a column of wire bytes: values, and where they are present."""
        numbers = raw.view(self.wire)
        gathered = numbers[:, 0] if numbers.shape[1] == 1 else numbers
        return self.settle(gathered.astype(self.native))

    def encode(self, values: Values) -> Raw:
        """Return the wire bytes of a column: the reverse of `values`."""
        raise NotImplementedError


class Number(Numeric):
    """A big-endian integer; `null` is the one value that stands for 'nothing'."""

    _WIRE: Mapping[tuple[int, bool], Construct] = {
        (1, False): Int8ub,
        (1, True): Int8sb,
        (2, False): Int16ub,
        (2, True): Int16sb,
        (4, False): Int32ub,
        (4, True): Int32sb,
        (8, False): Int64ub,
        (8, True): Int64sb,
    }

    def __init__(
        self,
        width: int,
        *,
        signed: bool = False,
        combine: Combine = Combine.NONE,
        null: int | None = None,
    ) -> None:
        super().__init__(self._WIRE[width, signed], None, combine)
        self.fact = "int" if signed else "uint"
        self.wire = np.dtype(f">{'i' if signed else 'u'}{width}")
        self.native = self.wire.newbyteorder("=")
        self.null = null

    def _decode(self, obj: int, context: Any, path: str) -> int | None:
        return None if obj == self.null else obj

    def _encode(self, obj: int | None, context: Any, path: str) -> int:
        if obj is None:
            return 0 if self.null is None else self.null
        return obj

    def settle(self, gathered: Values) -> tuple[Values, Mask]:
        return gathered, None if self.null is None else gathered != self.null

    def encode(self, values: Values) -> Raw:
        return _wire(values.astype(self.wire))

    @property
    def arrow(self) -> str:
        """Arrow type of the number itself."""
        return f"{'int' if self.wire.kind == 'i' else 'uint'}{self.width * 8}"

    @property
    def parts(self) -> tuple[Part, ...]:
        return (Part(self.arrow),)


class Word(str):
    """The word of a code: ours as the string itself, MP1B's as `mp1b`."""

    mp1b: str

    def __new__(cls, ours: str, mp1b: str | None = None) -> Word:
        self = super().__new__(cls, ours)
        self.mp1b = ours if mp1b is None else mp1b
        return self


class Code(Number):
    """A number that stands for a word: the number stays, `<field>_text` gives the word."""

    def __init__(self, width: int, words: Mapping[int, Word], *, signed: bool = False) -> None:
        super().__init__(width, signed=signed)
        self.words = words

    def word(self, value: int | None) -> str | None:
        """Return the word of a code, `?7` for a code without one."""
        if value is None:
            return None
        bits = self.width * 8
        signed = value - (1 << bits) if value >> (bits - 1) == 1 else value
        word = self.words.get(value, self.words.get(signed))
        return f"?{value}" if word is None else str(word)

    @property
    def parts(self) -> tuple[Part, ...]:
        return (
            Part(self.arrow),
            Part("string", suffix="_text", doc="the word", cell=self.word, vector=None),
        )


@dataclass(frozen=True)
class Bit:
    """A documented bit of a flag word: IBM's name, the mask within the whole word, the meaning."""

    name: str
    mask: int
    doc: str


class Flags(Number):
    """A flag word: the number stays, each documented bit is a boolean column of its own."""

    def __init__(self, width: int, *bits: Bit) -> None:
        super().__init__(width)
        self.fact = "flags"
        self.bits = bits

    @property
    def parts(self) -> tuple[Part, ...]:
        return (Part(self.arrow), *(self._part(bit) for bit in self.bits))

    @staticmethod
    def _part(bit: Bit) -> Part:
        return Part(
            "bool",
            name=bit.name,
            doc=bit.doc,
            cell=lambda value: None if value is None else bool(value & bit.mask),
            vector=lambda values: (values & bit.mask) != 0,
        )


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
        """Divide by 4096: at once, where the units fit the 52 bits of a double's fraction.

        Such a number with the exponent bits of 2**40 in front is 2**40 and its 4096th.
        """
        if gathered.size and int(gathered.max()) >> _FRACTION_BITS:
            return gathered / np.float64(STCK_UNITS_PER_US), None
        microseconds = np.bitwise_or(gathered, _BIAS_BITS, out=gathered).view(np.float64)
        return np.subtract(microseconds, _BIAS, out=microseconds), None

    def encode(self, values: Values) -> Raw:
        return _wire(np.rint(values * STCK_UNITS_PER_US).astype(self.wire))

    @property
    def parts(self) -> tuple[Part, ...]:
        return (Part("double"),)


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
        self._epoch = _UNIX_EPOCH.replace(tzinfo=None) if local else _UNIX_EPOCH

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
        return _wire(((values.astype(np.int64) + STCK_UNIX_EPOCH_US) << 12).astype(self.wire))

    @property
    def parts(self) -> tuple[Part, ...]:
        return (Part(self._arrow),)


class Wide(Numeric):
    """A 128-bit number that IBM maps as two doublewords, high then low.

    The doublewords stay as `<field>_1` and `<field>_2`; `<field>` is the whole number, NULL where
    it has more than 38 digits (which no clock can reach).
    """

    fact = "uint"
    wire = np.dtype(">u8")
    native = np.dtype("u8")

    def __init__(self) -> None:
        super().__init__(BytesInteger(16), None, Combine.SUM)

    def _decode(self, obj: int, context: Any, path: str) -> int:
        return obj

    def _encode(self, obj: int | None, context: Any, path: str) -> int:
        return obj or 0

    def settle(self, gathered: Values) -> tuple[Values, Mask]:
        return gathered, None

    def encode(self, values: Values) -> Raw:
        return _wire(values.astype(self.wire))

    @staticmethod
    def _whole(value: int | None) -> decimal.Decimal | None:
        if value is None or value >= 10**WIDE_DIGITS:
            return None
        return _DECIMAL.create_decimal(value)

    @property
    def parts(self) -> tuple[Part, ...]:
        return (
            Part(
                "uint64",
                suffix="_1",
                doc="high doubleword",
                cell=lambda value: None if value is None else value >> 64,
                vector=lambda values: values[:, 0],
            ),
            Part(
                "uint64",
                suffix="_2",
                doc="low doubleword",
                cell=lambda value: None if value is None else value & 0xFFFFFFFFFFFFFFFF,
                vector=lambda values: values[:, 1],
            ),
            Part(f"decimal128({WIDE_DIGITS}, 0)", cell=self._whole),
        )


class Text(Kind):
    """EBCDIC text; trailing blanks and NULs are off, bytes inside are kept."""

    fact = "ebcdic"

    def __init__(self, width: int) -> None:
        super().__init__(Bytes(width), None, Combine.NONE)

    def _decode(self, obj: bytes, context: Any, path: str) -> str:
        return obj.rstrip(b"\x00" + BLANK).decode(ENCODING)

    def _encode(self, obj: str | None, context: Any, path: str) -> bytes:
        text = (obj or "").encode(ENCODING)
        if len(text) > self.width:
            raise LayoutError(f"{path}: {obj!r} is longer than {self.width} bytes")
        return text.ljust(self.width, BLANK)

    def spell(self, raw: bytes) -> str:
        """Decode the bytes of one field."""
        return self._decode(raw, None, "")

    @property
    def parts(self) -> tuple[Part, ...]:
        return (Part("string"),)


class Hex(Kind):
    """Opaque bytes, shown as hexadecimal text."""

    fact = "bytes"

    def __init__(self, width: int) -> None:
        super().__init__(Bytes(width), None, Combine.NONE)

    def _decode(self, obj: bytes, context: Any, path: str) -> str:
        return obj.hex().upper()

    def _encode(self, obj: str | None, context: Any, path: str) -> bytes:
        return bytes.fromhex(obj or "00" * self.width)

    @property
    def parts(self) -> tuple[Part, ...]:
        return (Part("string"),)


class Reserved(Kind):
    """Reserved bytes: kept when a block is parsed, no column."""

    fact = "pad"

    def __init__(self, width: int) -> None:
        super().__init__(Bytes(width), None, Combine.NONE)

    def _decode(self, obj: bytes, context: Any, path: str) -> bytes:
        return obj

    def _encode(self, obj: bytes | None, context: Any, path: str) -> bytes:
        return obj or bytes(self.width)

    @property
    def parts(self) -> tuple[Part, ...]:
        return ()


class Header(Kind):
    """The id, length or eye-catcher at the start of a block: `inner` says how it reads, no column.

    `value` is what every block carries; None for the length, which depends on the block.
    """

    def __init__(self, inner: Kind, value: str | None) -> None:
        super().__init__(inner, None, Combine.NONE)
        self.fact = inner.fact
        self.value = value

    def _decode(self, obj: Any, context: Any, path: str) -> Any:
        return obj

    def _encode(self, obj: Any, context: Any, path: str) -> Any:
        return self.value if obj is None else obj

    @property
    def parts(self) -> tuple[Part, ...]:
        return ()


def _numbers(combine: Combine, widths: Sequence[int], *, signed: bool = False) -> list[Number]:
    return [Number(width, signed=signed, combine=combine) for width in widths]


Count32, Count64 = _numbers(Combine.SUM, (4, 8))
SCount32, SCount64 = _numbers(Combine.SUM, (4, 8), signed=True)
High32, High64 = _numbers(Combine.MAX, (4, 8))
SHigh32, SHigh64 = _numbers(Combine.MAX, (4, 8), signed=True)
Low32, Low64 = _numbers(Combine.MIN, (4, 8))
SLow32, SLow64 = _numbers(Combine.MIN, (4, 8), signed=True)
Gauge8, Gauge16, Gauge32, Gauge64 = _numbers(Combine.LAST, (1, 2, 4, 8))
SGauge16, SGauge32 = _numbers(Combine.LAST, (2, 4), signed=True)
Word8, Word16, Word32, Word64 = _numbers(Combine.NONE, (1, 2, 4, 8))
SWord16, SWord32 = _numbers(Combine.NONE, (2, 4), signed=True)
Elapsed = Duration()
HighElapsed = Duration(Combine.MAX)
LowElapsed = Duration(Combine.MIN)
GaugeElapsed = Duration(Combine.LAST)
LatchElapsed = LatchDuration()
HighLatchElapsed = LatchDuration(Combine.MAX)
When = Instant()
LocalWhen = Instant(local=True)
SquareSum = Wide()
