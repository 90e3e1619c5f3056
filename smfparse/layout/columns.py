"""The place of each table column in the bytes of a block: fields, columns and child tables.

The parts of a field can be columns of their own: the thread cross-reference of a task contains a
CICS transaction or an IMS program, depending on the connection type.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from construct import Array, Bytes, Construct, Renamed, Struct

from smfparse.errors import LayoutError
from smfparse.layout.kinds import (
    ENCODING,
    Combine,
    Header,
    Hex,
    Kind,
    Mask,
    Packed,
    Raw,
    Shown,
    Text,
    Word16,
)

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
    """The declaration of a part of a field that becomes a column of its own.

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
    """The kind of a `PartOf`: its bytes include both the field of the part and the code."""

    fact = "part"

    def __init__(self, declared: PartOf, field_at: int, code_at: int, width: int) -> None:
        super().__init__(Bytes(width), None, Combine.NONE)
        self.declared = declared
        self.inner = declared.kind
        self.at = field_at + declared.at
        """Offset of the part in the bytes of this kind."""
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


RepeatPlace: TypeAlias = tuple[str, int, bool]
"""Name of a repeated group, index of its first entry in the child, whether entries are structs."""


@dataclass(frozen=True)
class Field:
    """One field of a block, as IBM maps it."""

    name: str
    offset: int
    kind: Kind
    doc: str
    since: str
    gate: int | None
    """The minimum version word of blocks with the field; None: any version word."""
    count: int = 1
    """Number of values; more than 1: an array."""

    @property
    def end(self) -> int:
        """Offset of the first byte after the field."""
        return self.offset + self.kind.width * self.count


class Column(NamedTuple):
    """One table column. A field, or one entry of an array, is shown as one or more columns.

    `offset` counts from the start of the block; in a child table, `offset` is for the first entry,
    and `stride` is the number of bytes from one entry to the next.
    """

    name: str
    field: Field
    shown: Shown
    offset: int
    entry: int | None = None
    stride: int = 0

    def cell(self, values: Mapping[str, Any]) -> Any:
        """Return the value of this column from the result of `Block.parse`."""
        kind = self.field.kind
        if isinstance(kind, Part):
            return kind.of(values)
        value = values[self.field.name]
        return self.shown.cell(value if self.entry is None else value[self.entry])

    @property
    def place(self) -> str:
        """Byte offset of the value in its block, and IBM's name of the field."""
        kind = self.field.kind
        if isinstance(kind, Part):
            return f"{self.offset + kind.at:04X} {kind.declared.field}"
        return f"{self.offset:04X} {self.field.name}"

    @property
    def doc(self) -> str:
        """Meaning of the field and, if the field has several columns, of this column."""
        if self.shown.name:
            return self.shown.doc
        return f"{self.field.doc}: {self.shown.doc}" if self.shown.doc else self.field.doc

    @property
    def unit(self) -> str | None:
        """Unit of the value; None: no unit, as for words and bits."""
        return None if self.shown.arrow in ("string", "bool") else self.field.kind.unit

    @property
    def combine(self) -> Combine:
        """How values of the column from several intervals combine; NONE for words and bits."""
        if self.shown.arrow in ("string", "bool"):
            return Combine.NONE
        return self.field.kind.combine


@dataclass(frozen=True)
class Child:
    """The table for a repeated group.

    title    meaning of the entries
    index    names of the index columns
    words    meanings of labels, for some index columns
    cells    index values of each entry, in the order of the bytes
    columns  columns of one entry
    used     name of the text field that marks a used entry; None: any nonzero number marks the
             entry
    whole    offset and length of all entries; None: the entries are spread over parallel arrays
    """

    table: str
    title: str
    index: tuple[str, ...]
    words: Mapping[str, Mapping[int, str]]
    cells: tuple[Cell, ...]
    columns: tuple[Column, ...]
    used: str | None
    whole: tuple[int, int] | None
    sources: tuple[RepeatPlace, ...] = field(repr=False)
    """Places of the entries in values that `parse` returned."""


class RepeatGroup(NamedTuple):
    """A repeated group of a block: name, declaration, meaning, and fields of the first entry."""

    name: str
    repeat: Repeat
    doc: str
    fields: tuple[Field, ...]


def field_of(
    name: str, offset: int, kind: Construct, doc: str, version: str, count: int = 1
) -> Field:
    """Return the field of a declaration.

    version  an MQ version, or a version word and its minimum value ("wqver 5")

    Raises LayoutError if `kind` is not a Kind: other constructs have no columns.
    """
    if not isinstance(kind, Kind):
        raise LayoutError(f"{name}: {kind!r} is not a kind; take one of smfparse.layout")
    gate = int(version.split()[1]) if " " in version else None
    return Field(name, offset, kind, doc, version, gate, count)


def part_of(declared: PartOf, field: Field, code: Field) -> Field:
    """Return a part of `field` as if it was a field; `code` is the field with the code of the part.

    Raises LayoutError if the code is not a word, or the part is not inside the field.
    """
    if code.kind.width != 4 or declared.at + declared.kind.width > field.kind.width:
        raise LayoutError(f"{declared.name}: not a part of {field.name} by {code.name}")
    first = min(field.offset, code.offset)
    width = max(field.end, code.end) - first
    kind = Part(declared, field.offset - first, code.offset - first, width)
    return Field(declared.name, first, kind, declared.doc, field.since, None)


def group_of(name: str, repeat: Repeat, doc: str, version: str, offset: int) -> RepeatGroup:
    """Return a repeated group that starts at byte `offset`, with the fields of its first entry."""
    entry = repeat.subcon
    if not isinstance(entry, Struct):
        only = field_of(name, offset, entry, doc, version, len(repeat.cells))
        return RepeatGroup(name, repeat, doc, (only,))
    inner: list[Field] = []
    for member in entry.subcons:
        entry_name, kind, meaning = taken_apart(member)
        inner.append(field_of(entry_name, offset, kind, meaning, version))
        offset += inner[-1].kind.width
    return RepeatGroup(name, repeat, doc, tuple(inner))


def flat_columns(fields: Sequence[Field]) -> Iterator[Column]:
    """Flatten fields into columns; an array becomes `name_1`, `name_2`, ..."""
    for each in fields:
        for shown in each.kind.shown:
            name = _column_name(each, shown)
            if each.count == 1:
                yield Column(name, each, shown, each.offset)
            else:
                for entry in range(each.count):
                    offset = each.offset + entry * each.kind.width
                    yield Column(f"{name}_{entry + 1}", each, shown, offset, entry)


def _entry_columns(fields: Sequence[Field], stride: int) -> Iterator[Column]:
    for each in fields:
        for shown in each.kind.shown:
            yield Column(_column_name(each, shown), each, shown, each.offset, stride=stride)


def _column_name(each: Field, shown: Shown) -> str:
    return (shown.name or each.name + shown.suffix).lower()


def child_of(block: str, table: str, groups: Sequence[RepeatGroup]) -> Child:
    """Return the child table of groups of a block. Each group adds entries, or columns of entries.

    Raises LayoutError if a group of the same struct does not directly follow the earlier entries.
    """
    cells: list[Cell] = []
    columns: list[Column] = []
    sources: list[RepeatPlace] = []
    for each in groups:
        whole = isinstance(each.repeat.subcon, Struct)
        stride = each.repeat.subcon.sizeof()
        if whole and cells:  # the same struct again: its entries continue at the same distance
            if each.fields[0].offset != columns[0].offset + stride * len(cells):
                raise LayoutError(
                    f"{block}: {table}: {each.name} breaks the even spacing of the entries"
                )
        else:  # the first group, or another array over the same index
            columns += _entry_columns(each.fields, stride)
        sources.append((each.name, len(cells) if whole else 0, whole))
        cells = [*cells, *each.repeat.cells] if whole else list(each.repeat.cells)
    first = groups[0]
    return Child(
        table,
        first.repeat.about or first.doc,
        first.repeat.index,
        first.repeat.words,
        tuple(cells),
        tuple(columns),
        first.repeat.used,
        (columns[0].offset, columns[0].stride * len(cells)) if sources[0][2] else None,
        tuple(sources),
    )
