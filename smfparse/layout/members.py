"""Members of a declaration other than fields, and fields whose parts are columns.

The thread cross-reference of a task contains a CICS transaction or an IMS program, depending on the
connection type. Such a part is a separate column, in addition to the column of the field.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from construct import Array, Bytes, Construct, Renamed

from smfparse.errors import LayoutError
from smfparse.layout.kinds import Combine, Kind, Mask, Raw, Shown
from smfparse.layout.numbers import Packed, Word16
from smfparse.layout.texts import ENCODING, Header, Hex, Text

Cell: TypeAlias = tuple[int | str, ...]
"""The index values of one entry of a repeated group: (copy, io_type), (latch,) ..."""


class Repeat(Array):
    """A group that occurs several times in a block: its entries become rows of a child table.

    `index` contains the index columns of the child table and their labels, outermost first; a
    single value is the label of every entry: `phase="commit", request=range(20)`. A mapping
    contains the meaning of each label: `io_type={1: "one page"}`.

    An entry is a row if a number in the entry is not zero; with `used`, if the text field `used`
    starts with a byte above X'40', the EBCDIC blank. `about` describes the child table; '': the
    meaning of the first field or group describes the table.
    """

    def __init__(
        self,
        table: str,
        subcon: Construct,
        *,
        used: str | None = None,
        about: str = "",
        **index: Mapping[int, str] | Sequence[int | str] | int | str,
    ) -> None:
        labels = [
            (each,) if isinstance(each, int | str) else tuple(each) for each in index.values()
        ]
        self.table = table
        self.used = used
        self.about = about
        self.index = tuple(index)
        self.words = {name: each for name, each in index.items() if isinstance(each, Mapping)}
        self.cells: tuple[Cell, ...] = tuple(itertools.product(*labels))
        super().__init__(len(self.cells), subcon)


@dataclass(frozen=True)
class Since:
    """Fields that exist since an MQ version ("9.1.2") or a version word ("wqver 5")."""

    version: str
    members: tuple[Any, ...]


def since(version: str, *members: Any) -> Since:
    """Mark `members` as written since `version`: an MQ version, or a version field and its value.

    A block has the fields of an MQ version if the block is long enough. Fields of a version word
    also require at least that value in the word (`wqver`, `wtasver`).
    """
    return Since(version, members)


def header(names: str, ident: str, eyecatcher: str) -> tuple[Any, ...]:
    """Declare the 8 bytes at the start of most blocks: id, length, eye-catcher; no columns.

    `names` are IBM's three field names, `ident` is the id, in hex, in real records.
    """
    ident_name, length_name, eyecatcher_name = names.split()
    return (
        ident_name / Header(Hex(2), ident) * "Block identifier",
        length_name / Header(Word16, None)("bytes") * "Block length",
        eyecatcher_name / Header(Text(4), eyecatcher) * "Eye-catcher",
    )


def flat(members: Sequence[Any], version: str) -> Iterator[tuple[Renamed, str]]:
    """Yield the members of a declaration, each with the version that introduced it."""
    for member in members:
        if isinstance(member, Since):
            yield from flat(member.members, member.version)
        elif isinstance(member, tuple):
            yield from flat(member, version)
        else:
            yield member, version


def taken_apart(member: Any) -> tuple[str, Construct, str]:
    """Return name, kind and meaning of `"name" / kind * "meaning"`.

    construct wraps a kind once for the name and once for the meaning.
    """
    if not isinstance(member, Renamed):
        raise LayoutError(f"{member!r} has no name")
    kind = member.subcon
    while isinstance(kind, Renamed):
        kind = kind.subcon
    return str(member.name), kind, str(member.docs)


def version_key(version: str) -> tuple[int, ...]:
    """Return "9.3.0" as (9, 3, 0), for comparisons; "" is less than any version."""
    return tuple(int(part) for part in version.split(".")) if version else ()


def at_version(table: Mapping[str, int], version: str) -> int:
    """Return the value of `table`, {first MQ version: value}, for an MQ version."""
    wanted = version_key(version)
    known = [value for first, value in table.items() if version_key(first) <= wanted]
    return known[-1] if known else next(iter(table.values()))


class PartOf(NamedTuple):
    """The declaration of a part.

    name    name of the column
    kind    kind of the bytes
    field   the field of opaque bytes that contains the part; `at` is the offset of the part in it
    code    the field that defines the meaning of the bytes, a word of four bytes
    codes   values of `code` for which the part exists
    unless  text at the start of the field that shows that the part does not exist
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
    """The bytes of a block from the code of a part to the field of the part, or the reverse."""

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
        """Return the bytes of the part, one row per block, and the blocks in which the part exists.

        In other blocks the returned bytes are zero.

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
        """Return the value of the part from the result of `Block.parse`; None: no value."""
        code, whole = values[self.declared.code], values[self.declared.field]
        if code not in self.declared.codes or whole is None:
            return None
        data = bytes.fromhex(whole)
        if self._unless and data.startswith(self._unless):
            return None
        first = self.declared.at
        return self.inner.parse(data[first : first + self.inner.width]) or None
