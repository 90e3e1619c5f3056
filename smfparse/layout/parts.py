"""Parts of a field: columns of bytes that mean something in blocks of some codes only.

The thread cross-reference of a task holds a CICS transaction or an IMS program, by the connection
type of the block. A part is shown as a column of its own, beside that of its field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from construct import Bytes

from smfparse.layout.kinds import Combine, Kind, Mask, Raw, Shown
from smfparse.layout.numbers import Packed
from smfparse.layout.texts import ENCODING, Text


class PartOf(NamedTuple):
    """The declaration of a part.

    name    of its column
    kind    of its bytes
    field   the field of opaque bytes that it is in, and `at` its offset there
    code    the field that says what the bytes mean, a word of four bytes
    codes   values of that field for which the part exists
    unless  text at the start of the field that is no part
    """

    name: str
    kind: Text | Packed
    field: str
    at: int
    code: str
    codes: tuple[int, ...]
    doc: str
    unless: str = ""


class Part(Kind):
    """The bytes of a block from the code of a part to its field, or from the field to the code."""

    fact = "part"

    def __init__(self, declared: PartOf, field_at: int, code_at: int, width: int) -> None:
        super().__init__(Bytes(width), None, Combine.NONE)
        self.declared = declared
        self.inner = declared.kind
        self.at = field_at + declared.at
        """Offset of the part in these bytes."""
        self._field_at = field_at
        self._code_at = code_at
        self._unless = declared.unless.encode(ENCODING)

    @property
    def shown(self) -> tuple[Shown, ...]:
        (own,) = self.inner.shown
        return (own,)

    def picked(self, raw: Raw) -> tuple[Raw, Mask]:
        """Return the bytes of the part, one row per block, and where it exists.

        Where it does not, its bytes are zero.

        raw   uint8 (rows, width of this kind)
        """
        words = np.ascontiguousarray(raw[:, self._code_at : self._code_at + 4]).view(">i4")[:, 0]
        exists = np.isin(words, self.declared.codes)
        if self._unless:
            start = raw[:, self._field_at : self._field_at + len(self._unless)]
            exists &= (start != np.frombuffer(self._unless, np.uint8)).any(axis=1)
        found = raw[:, self.at : self.at + self.inner.width]
        return np.where(exists[:, None], found, np.uint8(0)), exists

    def of(self, values: Mapping[str, Any]) -> Any:
        """Return the value of the part, of what `Block.parse` gives; None where it has none."""
        code, whole = values[self.declared.code], values[self.declared.field]
        if code not in self.declared.codes or whole is None:
            return None
        data = bytes.fromhex(whole)
        if self._unless and data.startswith(self._unless):
            return None
        first = self.declared.at
        return self.inner.parse(data[first : first + self.inner.width]) or None
