"""Kinds of fields: an object decodes a single value (construct) or a column (numpy).

A kind is an ordinary construct Adapter, so a control block is an ordinary construct declaration:

    "qistmget" / Count32 * "Message get requests"

The bytes and the table columns have separate types: the wire type of the kind (`width`, `fact`) and
the Arrow type of each `Shown`. Most fields have one column, for the value. A code also has a column
for its word, a flag word has a column for each bit, and a 128-bit number a column for each half.

A kind also defines how values of several intervals combine (`Combine`), as its name shows:
`Count32` (sum), `High32` (maximum), `Gauge32` (last value); the name also shows whether values are
signed (`S...`), and the number of bits. Kinds of moments and durations are in `clocks`.
"""

from __future__ import annotations

import copy
import decimal
import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

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
"""Shape (rows, width): the bytes of one field, one row per block."""
Values: TypeAlias = NDArray[Any]
"""Shape (rows,), or (rows, 2) for a 128-bit number: the values that a kind decodes from `Raw`."""
Mask: TypeAlias = NDArray[np.bool_] | None
"""Shape (rows,): where a value is present; None: everywhere."""


class Combine(enum.StrEnum):
    """The way to combine the values of a column from several intervals."""

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    LAST = "last"
    NONE = "none"


def wire_bytes(values: Values) -> Raw:
    """Return the bytes of numbers in wire order, one row per number."""
    columns = 1 if values.ndim == 1 else values.shape[1]
    raw: Raw = values.reshape(len(values), columns).view(np.uint8)
    return raw


def _same(value: Any) -> Any:
    return value


class Shown(NamedTuple):
    """One table column of a field.

    The name of the column is the name of the field and `suffix` ('': column of the value), or
    `name` (for a bit). `cell` converts a value of the field to a value of the column; `vector`
    converts an array of values; None: `cell` converts each distinct value once.
    """

    arrow: str
    suffix: str = ""
    name: str = ""
    doc: str = ""
    cell: Callable[[Any], Any] = _same
    vector: Callable[[Values], Values] | None = _same


class Kind(Adapter):
    """One kind of field.

    width    number of bytes
    fact     the wire type, as named in tests/facts/layouts.csv: uint, int, ebcdic, bytes, flags,
             stck_timestamp, stck_duration, pad
    unit     unit of the decoded value; None: no unit
    combine  how values of several intervals combine

    None is encoded as an empty field: zeros, blanks, or the number that means 'no value'.
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
    def shown(self) -> tuple[Shown, ...]:
        """Return the table columns of a field of this kind."""
        raise NotImplementedError


class Numeric(Kind):
    """A kind whose column is computed by numpy.

    wire    numpy type of the bytes on the wire, big-endian
    native  numpy type of a gathered column, before `settle`
    """

    wire: np.dtype[Any]
    native: np.dtype[Any]

    def settle(self, gathered: Values) -> tuple[Values, Mask]:
        """Convert gathered numbers to values, in place if possible; also return the mask of values.

        gathered  (rows,) of the native type; (rows, 2) for a 128-bit number
        """
        raise NotImplementedError

    def values(self, raw: Raw) -> tuple[Values, Mask]:
        """Decode a column of wire bytes: return values, and the mask of values."""
        numbers = raw.view(self.wire)
        gathered = numbers[:, 0] if numbers.shape[1] == 1 else numbers
        return self.settle(gathered.astype(self.native))

    def encode(self, values: Values) -> Raw:
        """Return the wire bytes of a column: the reverse of `values`."""
        raise NotImplementedError


WIDE_DIGITS = 38
"""Maximum number of decimal digits of exact numbers in Arrow and DuckDB."""

_DECIMAL = decimal.Context(prec=WIDE_DIGITS + 2)


class Number(Numeric):
    """A big-endian integer; `null` is the integer that means 'no value'."""

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
        return wire_bytes(values.astype(self.wire))

    @property
    def arrow(self) -> str:
        """Arrow type of the number."""
        return f"{'int' if self.wire.kind == 'i' else 'uint'}{self.width * 8}"

    @property
    def shown(self) -> tuple[Shown, ...]:
        return (Shown(self.arrow),)


class Word(str):
    """The word for a code: the string is the word of smfparse, `mp1b` is the word of MP1B."""

    mp1b: str

    def __new__(cls, ours: str, mp1b: str | None = None) -> Word:
        self = super().__new__(cls, ours)
        self.mp1b = ours if mp1b is None else mp1b
        return self


class Code(Number):
    """A number with a word: one column for the number, `<field>_text` for the word."""

    def __init__(self, width: int, words: Mapping[int, Word], *, signed: bool = False) -> None:
        super().__init__(width, signed=signed)
        self.words = words

    def word(self, value: int | None) -> str | None:
        """Return the word of a code; `?7`: the code 7 has no word."""
        if value is None:
            return None
        bits = self.width * 8
        signed = value - (1 << bits) if value >> (bits - 1) == 1 else value
        word = self.words.get(value, self.words.get(signed))
        return f"?{value}" if word is None else str(word)

    @property
    def shown(self) -> tuple[Shown, ...]:
        return (
            Shown(self.arrow),
            Shown("string", suffix="_text", doc="the word", cell=self.word, vector=None),
        )


class Bit(NamedTuple):
    """A documented bit of a flag word: IBM's name, mask in the whole word, meaning."""

    name: str
    mask: int
    doc: str


class Flags(Number):
    """A flag word: one column for the number, and a boolean column for each documented bit."""

    def __init__(self, width: int, *bits: Bit) -> None:
        super().__init__(width)
        self.fact = "flags"
        self.bits = bits

    @property
    def shown(self) -> tuple[Shown, ...]:
        return (Shown(self.arrow), *(self._shown(bit) for bit in self.bits))

    @staticmethod
    def _shown(bit: Bit) -> Shown:
        return Shown(
            "bool",
            name=bit.name,
            doc=bit.doc,
            cell=lambda value: None if value is None else bool(value & bit.mask),
            vector=lambda values: (values & bit.mask) != 0,
        )


class Wide(Numeric):
    """A 128-bit number that IBM maps as two doublewords: high, then low.

    Columns of the doublewords are `<field>_1` and `<field>_2`; `<field>` is the number, NULL if the
    number has more than 38 digits (no clock is that high).
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
        return wire_bytes(values.astype(self.wire))

    @staticmethod
    def _whole(value: int | None) -> decimal.Decimal | None:
        if value is None or value >= 10**WIDE_DIGITS:
            return None
        return _DECIMAL.create_decimal(value)

    @property
    def shown(self) -> tuple[Shown, ...]:
        return (
            Shown(
                "uint64",
                suffix="_1",
                doc="high doubleword",
                cell=lambda value: None if value is None else value >> 64,
                vector=lambda values: values[:, 0],
            ),
            Shown(
                "uint64",
                suffix="_2",
                doc="low doubleword",
                cell=lambda value: None if value is None else value & 0xFFFFFFFFFFFFFFFF,
                vector=lambda values: values[:, 1],
            ),
            Shown(f"decimal128({WIDE_DIGITS}, 0)", cell=self._whole),
        )


class Packed(Numeric):
    """A number of up to seven digits in four bytes: packed decimal, or binary.

    NULL if the bytes are zero, or are not in one of these forms, such as blanks.
    """

    fact = "packed"
    wire = np.dtype(">u4")
    native = np.dtype("u4")
    _MOST = 9_999_999
    _PLUS = (0xC, 0xF)
    """Last four bits of positive packed decimals."""

    def __init__(self) -> None:
        super().__init__(Int32ub, None, Combine.NONE)

    def _decode(self, obj: int, context: Any, path: str) -> int | None:
        digits = f"{obj:08X}"
        packed = digits[:-1].isdecimal() and obj & 0xF in self._PLUS
        value = int(digits[:-1]) if packed else obj
        return value if 0 < value <= self._MOST else None

    def _encode(self, obj: int | None, context: Any, path: str) -> int:
        return 0 if obj is None else int(f"{obj}C", 16)

    def settle(self, gathered: Values) -> tuple[Values, Mask]:
        digits = [gathered >> 4 * place & 0xF for place in range(1, 8)]
        packed = np.isin(gathered & 0xF, self._PLUS)
        whole = np.zeros_like(gathered)
        for place, digit in enumerate(digits):
            packed &= digit <= 9
            whole += digit * np.uint32(10**place)
        values = np.where(packed, whole, gathered)
        return values, (values > 0) & (values <= self._MOST)

    def encode(self, values: Values) -> Raw:
        whole = np.full(len(values), 0xC, np.uint32)
        for place in range(7):
            whole |= (values // 10**place % 10).astype(np.uint32) << np.uint32(4 * place + 4)
        return wire_bytes(whole.astype(self.wire))

    @property
    def shown(self) -> tuple[Shown, ...]:
        return (Shown("uint32"),)


def _numbers(combine: Combine, widths: Sequence[int], *, signed: bool = False) -> list[Number]:
    return [Number(width, signed=signed, combine=combine) for width in widths]


Count16, Count32, Count64 = _numbers(Combine.SUM, (2, 4, 8))
SCount32, SCount64 = _numbers(Combine.SUM, (4, 8), signed=True)
High32, High64 = _numbers(Combine.MAX, (4, 8))
SHigh32, SHigh64 = _numbers(Combine.MAX, (4, 8), signed=True)
Low32, Low64 = _numbers(Combine.MIN, (4, 8))
SLow32, SLow64 = _numbers(Combine.MIN, (4, 8), signed=True)
Gauge8, Gauge16, Gauge32, Gauge64 = _numbers(Combine.LAST, (1, 2, 4, 8))
SGauge16, SGauge32 = _numbers(Combine.LAST, (2, 4), signed=True)
Word8, Word16, Word32, Word64 = _numbers(Combine.NONE, (1, 2, 4, 8))
SWord16, SWord32 = _numbers(Combine.NONE, (2, 4), signed=True)
SquareSum = Wide()


ENCODING = "cp500"
"""EBCDIC code page of text fields (equals 037 and 1047 for every character of an MQ name)."""
BLANK = b"\x40"


class Text(Kind):
    """EBCDIC text; trailing blanks and NULs are removed, others are kept."""

    fact = "ebcdic"

    def __init__(self, width: int) -> None:
        super().__init__(Bytes(width), None, Combine.NONE)

    def _decode(self, obj: bytes, context: Any, path: str) -> str:
        return obj.rstrip(b"\x00" + BLANK).decode(ENCODING)

    def _encode(self, obj: str | None, context: Any, path: str) -> bytes:
        try:
            text = (obj or "").encode(ENCODING)
        except UnicodeEncodeError as error:
            raise LayoutError(f"{path}: EBCDIC has no character for {obj!r}") from error
        if len(text) > self.width:
            raise LayoutError(f"{path}: {obj!r} is longer than {self.width} bytes")
        return text.ljust(self.width, BLANK)

    def spell(self, raw: bytes) -> str:
        """Decode the bytes of one field."""
        return self._decode(raw, None, "")

    @property
    def shown(self) -> tuple[Shown, ...]:
        return (Shown("string"),)


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
    def shown(self) -> tuple[Shown, ...]:
        return (Shown("string"),)


class Reserved(Kind):
    """Reserved bytes: `parse` returns them, but no column shows them."""

    fact = "pad"

    def __init__(self, width: int) -> None:
        super().__init__(Bytes(width), None, Combine.NONE)

    def _decode(self, obj: bytes, context: Any, path: str) -> bytes:
        return obj

    def _encode(self, obj: bytes | None, context: Any, path: str) -> bytes:
        return obj or bytes(self.width)

    @property
    def shown(self) -> tuple[Shown, ...]:
        return ()


class Header(Kind):
    """The id, length or eye-catcher at the start of a block, of the kind `inner`: no column.

    `value` is the same in every block; None: the length, which depends on the block.
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
    def shown(self) -> tuple[Shown, ...]:
        return ()
