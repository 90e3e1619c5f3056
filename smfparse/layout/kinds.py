"""Kinds of fields: one object decodes one value (construct) and a column (numpy).

A kind is an ordinary construct Adapter, so a control block is an ordinary construct declaration:

    "qistmget" / Count32 * "Message get requests"

The bytes and the table columns have separate types: the kind's wire type
(`width`, `fact`) and the Arrow type of each `Shown`. Most fields are shown as one column: their
value. A code adds its word, a flag word adds its bits, a 128-bit number adds its two halves.

A kind also defines how its values combine when intervals are added up (`Combine`). The kinds
themselves are in `numbers`, `clocks` and `texts`.
"""

from __future__ import annotations

import copy
import enum
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from construct import Adapter, Construct
from numpy.typing import NDArray

Raw: TypeAlias = NDArray[np.uint8]
"""Shape (rows, width): the bytes of one field, one row per block."""
Values: TypeAlias = NDArray[Any]
"""Shape (rows,), or (rows, 2) for a 128-bit number: the values that a kind decodes from `Raw`."""
Mask: TypeAlias = NDArray[np.bool_] | None
"""Shape (rows,): where a value is present; None: everywhere."""


class Combine(enum.StrEnum):
    """How the values of a column from several intervals combine into one."""

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
    """One table column that a field is shown as.

    Its name is the field's name and `suffix` ('' for the value itself), or `name` (for a bit).
    `cell` turns the field's scalar value into this column's value; `vector` does the same for a
    column of values; None: `cell` converts each distinct value once.
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
    combine  how values combine over intervals

    None is built as an empty field: zeros, blanks, or the number that means 'no value'.
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
        """Return the table columns that a field of this kind is shown as."""
        raise NotImplementedError


class Numeric(Kind):
    """A kind whose column is computed by numpy.

    wire    numpy type of the bytes on the wire, big-endian
    native  numpy type of a gathered column, before `settle`
    """

    wire: np.dtype[Any]
    native: np.dtype[Any]

    def settle(self, gathered: Values) -> tuple[Values, Mask]:
        """Turn gathered numbers into values, in place if possible; and where they are present.

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
