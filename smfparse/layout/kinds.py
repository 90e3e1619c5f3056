"""Kinds of fields: an object decodes a single value (construct) or a column (numpy).

A kind is an ordinary construct Adapter, so a control block is an ordinary construct declaration:

    "qistmget" / Count32 * "Message get requests"

The bytes and the table columns have separate types: the wire type of the kind (`width`, `fact`) and
the Arrow type of each `Shown`. Most fields have one column, for the value. A code also
has a column for its word, a flag word has a column for each bit, and a 128-bit number a column for
each half. A kind also defines
how values of several intervals combine (`Combine`). The kinds are in `numbers`, `clocks` and
`texts`.
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
    fact     the wire type in the words of the fact tables: uint, int, ebcdic, bytes, flags,
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
