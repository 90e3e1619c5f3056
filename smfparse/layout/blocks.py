"""Declare a control block once; parse it, build it, and know it as table columns.

    QIST = block(
        "QIST",
        "Data manager statistics, one per queue manager and interval",
        header("qistid qistll qisteyec", "C90F", "QIST"),
        "qistmget" / Count32 * "Message get requests",
        since("9.0", "qistnew" / Count32 * "..."),
    )

`QIST.parse(data)` gives a construct Container with a value for every field, None for a field that
the data is too short or too old to hold; `QIST.build({"qistmget": 5})` gives bytes. `QIST.columns`
and `QIST.children` say where each table column lies in the bytes, for the column decoder.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from construct import (
    Array,
    Construct,
    ConstructError,
    Container,
    Renamed,
    Struct,
    stream_read_entire,
    stream_write,
)

from smfparse.errors import LayoutError
from smfparse.layout.kinds import (
    BLANK,
    ENCODING,
    Combine,
    Header,
    Hex,
    Kind,
    Numeric,
    Part,
    Text,
    Word16,
)

ALWAYS = ""
"""`since` of a field that every known version writes."""

Cell: TypeAlias = tuple[int | str, ...]
"""The index values of one entry of a repeated group: (copy, io_type), (latch,) ..."""


class Repeat(Array):
    """A group that occurs several times in a block: its entries become rows of a child table.

    `index` names the child table's index columns and their labels, outermost first; a label that is
    not a sequence is the same for every entry: `phase="commit", request=range(20)`.

    An entry is a row if one of its numbers is not zero; with `used`, if the text field of that name
    starts above X'40', the EBCDIC blank. `about` describes the child table, if the meaning of the
    first field or group does not.
    """

    def __init__(
        self,
        table: str,
        subcon: Construct,
        *,
        used: str | None = None,
        about: str = "",
        **index: Sequence[int | str] | int | str,
    ) -> None:
        labels = [
            (each,) if isinstance(each, int | str) else tuple(each) for each in index.values()
        ]
        self.table = table
        self.used = used
        self.about = about
        self.index = tuple(index)
        self.cells: tuple[Cell, ...] = tuple(itertools.product(*labels))
        super().__init__(len(self.cells), subcon)


@dataclass(frozen=True)
class Since:
    """Fields that came with an MQ version ("9.1.2") or with a version word ("wqver 5")."""

    version: str
    members: tuple[Any, ...]


def since(version: str, *members: Any) -> Since:
    """Mark `members` as written since `version`: an MQ version, or a version field and its value.

    Fields of an MQ version are told by the block's length; fields of a version word also need that
    word to say so (`wqver`, `wtasver`).
    """
    return Since(version, members)


def header(names: str, ident: str, eyecatcher: str) -> tuple[Any, ...]:
    """Declare the 8 bytes most blocks start with: id, length, eye-catcher; no columns.

    `names` are IBM's three field names, `ident` is the id, in hex, that real records carry.
    """
    ident_name, length_name, eyecatcher_name = names.split()
    return (
        ident_name / Header(Hex(2), ident) * "Block identifier",
        length_name / Header(Word16, None)("bytes") * "Block length",
        eyecatcher_name / Header(Text(4), eyecatcher) * "Eye-catcher",
    )


@dataclass(frozen=True)
class Field:
    """One field of a block, as IBM maps it."""

    name: str
    offset: int
    kind: Kind
    doc: str
    since: str
    gate: int | None
    """The least version word, where one gates the field."""
    count: int = 1
    """More than one: an array."""

    @property
    def end(self) -> int:
        """Offset of the first byte behind the field."""
        return self.offset + self.kind.width * self.count


@dataclass(frozen=True)
class Column:
    """One table column: a part of a field, or of one entry of an array.

    `offset` counts from the start of the block; in a child table it is that of the first entry,
    and `stride` is the bytes from one entry to the next.
    """

    name: str
    field: Field
    part: Part
    offset: int
    entry: int | None = None
    stride: int = 0

    def cell(self, values: Mapping[str, Any]) -> Any:
        """Pick this column's value out of what `Block.parse` gives."""
        value = values[self.field.name]
        return self.part.cell(value if self.entry is None else value[self.entry])

    @property
    def doc(self) -> str:
        """Meaning, with what the part adds to it."""
        return self.part.doc if self.part.name else _joined(self.field.doc, self.part.doc)

    @property
    def unit(self) -> str | None:
        """Unit of the value, None for words and bits."""
        return None if self.part.arrow in ("string", "bool") else self.field.kind.unit

    @property
    def combine(self) -> Combine:
        """How the column combines over intervals; words and bits do not."""
        if self.part.arrow in ("string", "bool"):
            return Combine.NONE
        return self.field.kind.combine


def _joined(doc: str, more: str) -> str:
    return f"{doc}: {more}" if more else doc


def _columns(fields: Sequence[Field]) -> Iterator[Column]:
    """Flatten fields into columns; an array becomes `name_1`, `name_2`, ..."""
    for each in fields:
        for part in each.kind.parts:
            name = (part.name or each.name + part.suffix).lower()
            if each.count == 1:
                yield Column(name, each, part, each.offset)
            else:
                for entry in range(each.count):
                    offset = each.offset + entry * each.kind.width
                    yield Column(f"{name}_{entry + 1}", each, part, offset, entry)


def _entry_columns(fields: Sequence[Field], stride: int) -> Iterator[Column]:
    """Flatten the fields of one entry of a repeated group; its entries are rows."""
    for each in fields:
        for part in each.kind.parts:
            name = (part.name or each.name + part.suffix).lower()
            yield Column(name, each, part, each.offset, stride=stride)


@dataclass(frozen=True)
class Child:
    """The table that a repeated group becomes.

    title    what the entries are
    index    names of the index columns
    cells    their values, an entry each, in the order of the bytes
    columns  of one entry
    used     name of the text field that tells a used entry; None: a number that is not zero does
    whole    offset and length of all entries, None where they are arrays side by side
    """

    table: str
    title: str
    index: tuple[str, ...]
    cells: tuple[Cell, ...]
    columns: tuple[Column, ...]
    used: str | None
    whole: tuple[int, int] | None
    sources: tuple[tuple[str, int, bool], ...] = field(repr=False)
    """Repeat name, first cell and whether its entries are structs, for the scalar path."""


class Block(Construct):
    """A control block: a construct that knows its fields, columns and child tables.

    name      IBM's name (QJST)
    title     one line
    lengths   {MQ version: length its records have}, oldest first; the last is the whole map
    least     length below which it is no such block: no release wrote a shorter one
    version   the version word that gates fields, or None; `version_words` by MQ version
    only_whole, kept_length  as in `block`
    """

    def __init__(
        self,
        name: str,
        title: str,
        members: Sequence[Any],
        *,
        since: str,
        lengths: Mapping[str, int] | None,
        version_words: Mapping[str, int] | None,
        only_whole: bool,
        kept_length: int | None,
    ) -> None:
        super().__init__()
        self.name = name
        self.title = title
        self.members: dict[str, tuple[int, Construct]] = {}
        self.fields: list[Field] = []
        self._repeats: dict[str, list[tuple[str, Repeat, list[Field]]]] = {}
        self._titles: dict[str, str] = {}
        end = first = 0
        for member, version in _flat(members, since):
            end = self._add(member, version, end)
            first = end if version == since else first
        self.size = end
        self.only_whole = only_whole
        self.kept_length = kept_length
        self.lengths = dict(lengths or {since: end})
        self.least = min(first, *self.lengths.values())
        self.version_words = dict(version_words or {})
        inside = {
            id(each)
            for groups in self._repeats.values()
            for _, _, inner in groups
            for each in inner
        }
        own = [each for each in self.fields if id(each) not in inside]
        self.columns = tuple(_columns(own))
        self.children = tuple(self._child(table) for table in self._repeats)
        self.version = self._version_word()
        self.eyecatcher = self._eyecatcher()
        self._check()

    def _add(self, member: Renamed, version: str, offset: int) -> int:
        name, subcon, doc = _named(member)
        if name in self.members:
            raise LayoutError(f"{self.name}: {name} occurs twice")
        self.members[name] = (offset, subcon)
        if isinstance(subcon, Repeat):
            self._add_repeat(name, subcon, doc, version, offset)
        elif isinstance(subcon, Array):
            self.fields.append(_field(name, offset, subcon.subcon, doc, version, subcon.count))
        else:
            self.fields.append(_field(name, offset, subcon, doc, version))
        return offset + int(subcon.sizeof())

    def _add_repeat(self, name: str, group: Repeat, doc: str, version: str, offset: int) -> None:
        entry = group.subcon
        if isinstance(entry, Struct):
            inner, at = [], offset
            for member in entry.subcons:
                entry_name, kind, meaning = _named(member)
                inner.append(_field(entry_name, at, kind, meaning, version))
                at += inner[-1].kind.width
        else:
            inner = [_field(name, offset, entry, doc, version, len(group.cells))]
        self.fields.extend(inner)
        self._repeats.setdefault(group.table, []).append((name, group, inner))
        self._titles.setdefault(group.table, group.about or doc)

    def _child(self, table: str) -> Child:
        cells: list[Cell] = []
        columns: list[Column] = []
        sources: list[tuple[str, int, bool]] = []
        for name, group, inner in self._repeats[table]:
            whole = isinstance(group.subcon, Struct)
            stride = group.subcon.sizeof()
            if whole and cells:  # the same struct again: its entries must go on evenly
                if inner[0].offset != columns[0].offset + stride * len(cells):
                    raise LayoutError(f"{self.name}: {table}: {name} does not go on evenly")
            else:  # the first group, or another array over the same index
                columns += _entry_columns(inner, stride)
            sources.append((name, len(cells) if whole else 0, whole))
            cells = [*cells, *group.cells] if whole else list(group.cells)
        first = self._repeats[table][0][1]
        return Child(
            table,
            self._titles[table],
            first.index,
            tuple(cells),
            tuple(columns),
            first.used,
            (columns[0].offset, columns[0].stride * len(cells)) if sources[0][2] else None,
            tuple(sources),
        )

    def _version_word(self) -> Field | None:
        words = {each.since.split()[0] for each in self.fields if each.gate is not None}
        if len(words) > 1:
            raise LayoutError(f"{self.name}: more than one version word: {sorted(words)}")
        return self.field(words.pop()) if words else None

    def _eyecatcher(self) -> tuple[int, bytes] | None:
        for each in self.fields:
            if isinstance(each.kind, Header) and each.kind.fact == "ebcdic":
                return each.offset, bytes(each.kind.build(None))
        return None

    def _check(self) -> None:
        names = [column.name for column in self.columns]
        if len(set(names)) != len(names):
            raise LayoutError(f"{self.name}: a column occurs twice")
        if max(self.lengths.values()) < self.size:
            raise LayoutError(f"{self.name}: maps {self.size} bytes, recorded {self.lengths}")

    def field(self, name: str) -> Field:
        """Return the field IBM calls `name`."""
        for each in self.fields:
            if each.name == name:
                return each
        raise LayoutError(f"{self.name} has no field {name}")

    def inside(self, wanted: Field) -> str | None:
        """Return the lower-case name of the repeated group that a field is in, None: in none."""
        for groups in self._repeats.values():
            for name, _, inner in groups:
                if any(wanted is each for each in inner):
                    return name.lower()
        return None

    def length_at(self, version: str) -> int:
        """Return the length that blocks of MQ `version` ("9.3.0") have."""
        return _at_version(self.lengths, version)

    def version_word_at(self, version: str) -> int | None:
        """Return the version word that blocks of MQ `version` carry, None where there is none."""
        return _at_version(self.version_words, version) if self.version_words else None

    def holds(self, each: Field, offset: int, length: int, version: int | None) -> bool:
        """Whether a block of `length` bytes and this version word has a field at `offset`.

        False for a field that the block is too short or too old for.
        """
        if self.only_whole and length != self.size:
            return False
        if each.gate is not None and version is not None and version < each.gate:
            return False
        return offset + each.kind.width <= length

    def _sizeof(self, context: Any, path: str) -> int:
        return self.size

    def _parse(self, stream: Any, context: Any, path: str) -> Container:
        data = stream_read_entire(stream, path)
        version = self._read_version(data)
        values = Container()
        for name, (_, subcon) in self.members.items():
            if isinstance(subcon, Repeat):
                values[name] = self._parse_repeat(name, subcon, data, version)
            elif isinstance(subcon, Array):
                each = self.field(name)
                values[name] = [
                    self._parse_field(each, each.offset + number * each.kind.width, data, version)
                    for number in range(each.count)
                ]
            else:
                each = self.field(name)
                values[name] = self._parse_field(each, each.offset, data, version)
        values["tail"] = data[self.size :]
        return values

    def _read_version(self, data: bytes) -> int | None:
        word = self.version
        if word is None or word.end > len(data):
            return None
        return int(word.kind.parse(data[word.offset : word.end]))

    def _parse_field(self, each: Field, offset: int, data: bytes, version: int | None) -> Any:
        if not self.holds(each, offset, len(data), version):
            return None
        return each.kind.parse(data[offset : offset + each.kind.width])

    def _parse_repeat(
        self, name: str, group: Repeat, data: bytes, version: int | None
    ) -> list[Any]:
        inner = next(
            fields for groups in self._repeats.values() for at, _, fields in groups if at == name
        )
        entries: list[Any] = []
        for number in range(len(group.cells)):
            step = number * group.subcon.sizeof()
            values = {
                each.name: self._parse_field(each, each.offset + step, data, version)
                for each in inner
            }
            entries.append(
                Container(values) if isinstance(group.subcon, Struct) else values[inner[0].name]
            )
        return entries

    def _build(self, obj: Mapping[str, Any] | None, stream: Any, context: Any, path: str) -> Any:
        values = dict(obj or {})
        unknown = set(values) - set(self.members) - {"tail"}
        if unknown:
            raise LayoutError(f"{self.name} has no field {', '.join(sorted(unknown))}")
        length = context.get("length", self._length_of(values))
        data = b"".join(
            self._built(name, subcon, values.get(name), length)
            for name, (_, subcon) in self.members.items()
        )
        data = (data + values.get("tail", b"")).ljust(length, b"\0")[:length]
        stream_write(stream, data, length, path)
        return obj

    def _built(self, name: str, subcon: Construct, value: Any, length: int) -> bytes:
        try:
            return self._build_member(subcon, value, length)
        except (ConstructError, ValueError, TypeError, LayoutError) as error:
            raise LayoutError(f"{self.name}.{name} cannot hold {value!r}: {error}") from error

    def _length_of(self, values: Mapping[str, Any]) -> int:
        """Return the length the values ask for: their length field, or map and tail."""
        for each in self.fields:
            if isinstance(each.kind, Header) and each.kind.value is None and each.name in values:
                return int(values[each.name])
        return self.size + len(values.get("tail", b""))

    def _build_member(self, subcon: Construct, value: Any, length: int) -> bytes:
        if isinstance(subcon, Array):
            entries = value or [None] * subcon.count
            return b"".join(_build_entry(subcon.subcon, each) for each in entries)
        if value is None and isinstance(subcon, Header) and subcon.value is None:
            value = length
        return bytes(subcon.build(value))

    def rows(self, values: Container) -> tuple[dict[str, Any], dict[str, list[dict[str, Any]]]]:
        """Turn what `parse` gives into table rows: the block's own, and those of its children."""
        own = {column.name: column.cell(values) for column in self.columns}
        return own, {child.table: list(_child_rows(child, values)) for child in self.children}


def _build_entry(entry: Construct, value: Any) -> bytes:
    if not isinstance(entry, Struct):
        return bytes(entry.build(value))
    given = value or {}
    return b"".join(kind.build(given.get(name)) for name, kind, _ in map(_named, entry.subcons))


def _child_rows(child: Child, values: Container) -> Iterator[dict[str, Any]]:
    for number, cell in enumerate(child.cells):
        entry = {}
        for name, first, whole in child.sources:
            group = values[name]
            if not whole:
                entry[name] = group[number]
            elif first <= number < first + len(group):
                entry.update(group[number - first])
        if _is_used(child, entry):
            row: dict[str, Any] = dict(zip(child.index, cell, strict=True))
            row |= {column.name: column.cell(entry) for column in child.columns}
            yield row


def _named(member: Any) -> tuple[str, Construct, str]:
    """Take `"name" / kind * "meaning"` apart: construct wraps once for the name, once for docs."""
    if not isinstance(member, Renamed):
        raise LayoutError(f"{member!r} has no name")
    kind = member.subcon
    while isinstance(kind, Renamed):
        kind = kind.subcon
    return str(member.name), kind, str(member.docs)


def _is_used(child: Child, entry: Mapping[str, Any]) -> bool:
    if child.used is not None:
        return str(entry[child.used] or "")[:1].encode(ENCODING) > BLANK
    return any(
        entry[column.field.name]
        for column in child.columns
        if isinstance(column.field.kind, Numeric)
    )


def _field(
    name: str, offset: int, kind: Construct, doc: str, version: str, count: int = 1
) -> Field:
    if not isinstance(kind, Kind):
        raise LayoutError(f"{name}: {kind!r} is not a kind of smfparse.fields")
    gate = int(version.split()[1]) if " " in version else None
    return Field(name, offset, kind, doc, version, gate, count)


def _flat(members: Sequence[Any], version: str) -> Iterator[tuple[Renamed, str]]:
    for member in members:
        if isinstance(member, Since):
            yield from _flat(member.members, member.version)
        elif isinstance(member, tuple):
            yield from _flat(member, version)
        else:
            yield member, version


def _at_version(table: Mapping[str, int], version: str) -> int:
    wanted = version_key(version)
    known = [value for first, value in table.items() if version_key(first) <= wanted]
    return known[-1] if known else next(iter(table.values()))


def version_key(version: str) -> tuple[int, ...]:
    """Return "9.3.0" as (9, 3, 0), to compare; "" comes before all."""
    return tuple(int(part) for part in version.split(".")) if version else ()


def block(
    name: str,
    title: str,
    *members: Any,
    since: str = ALWAYS,
    lengths: Mapping[str, int] | None = None,
    version_words: Mapping[str, int] | None = None,
    only_whole: bool = False,
    kept_length: int | None = None,
) -> Block:
    """Declare a control block.

    name           IBM's name, upper case
    title          one line: what it holds, one per what
    members        fields in the order of the bytes: `"name" / kind * "meaning"`, `since(...)`,
                   `header(...)`, and groups: `"name" / Repeat(...)`
    since          the MQ version that introduced the block
    lengths        {first MQ version: recorded length}, where it changed
    version_words  {first MQ version: version word}, where fields are gated by one
    only_whole     another length is another map: nothing of such a block is known
    kept_length    a block of another length holds garbage and is no row

    Raises LayoutError where the declaration does not hold together.
    """
    return Block(
        name,
        title,
        members,
        since=since,
        lengths=lengths,
        version_words=version_words,
        only_whole=only_whole,
        kept_length=kept_length,
    )
