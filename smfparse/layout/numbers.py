"""Numbers, codes and flag words: `Count32` (sum), `High32` (maximum), `Gauge32` (last value).

The name of a kind shows how values of several intervals combine, whether values are signed
(`S...`), and the number of bits.
"""

from __future__ import annotations

import decimal
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from construct import (
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

from smfparse.layout.kinds import Combine, Mask, Numeric, Raw, Shown, Values, wire_bytes

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
    """The word of a code: the string is our word, `mp1b` is the word of MP1B."""

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
