"""Declare a control block once; parse it, build it, and get its table columns.

    QIST = block(
        "QIST",
        "Data manager statistics, one per queue manager and interval",
        header("qistid qistll qisteyec", "C90F", "QIST"),
        "qistmget" / Count32 * "Message get requests",
        since("9.0", "qistnew" / Count32 * "..."),
    )

`QIST.parse(data)` returns a construct Container with a value for every field (None: the data is too
short or too old for the field); `QIST.build({"qistmget": 5})` returns bytes. `QIST.columns` and
`QIST.children` contain the place of each table column in the bytes, for the column decoder. Only
`dump`, tests and synthetic data parse and build single blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from smfparse.layout.columns import (
    Child,
    Field,
    PartOf,
    Repeat,
    RepeatGroup,
    at_version,
    child_of,
    field_of,
    flat,
    flat_columns,
    group_of,
    part_of,
    taken_apart,
)
from smfparse.layout.kinds import BLANK, ENCODING, Header, Numeric

Row: TypeAlias = dict[str, Any]


def parsed(block: Block, data: bytes) -> Container:
    """Return a value for every member (None: not in the data), and `tail`: the bytes after them."""
    version = _version_word(block, data)
    groups = {each.name: each for found in block.groups.values() for each in found}
    values = Container()
    for name, (_, member) in block.members.items():
        if isinstance(member, Repeat):
            values[name] = _entries(block, groups[name], data, version)
        elif isinstance(member, Array):
            each = block.field(name)
            values[name] = [
                _value(block, each, each.offset + number * each.kind.width, data, version)
                for number in range(each.count)
            ]
        else:
            each = block.field(name)
            values[name] = _value(block, each, each.offset, data, version)
    values["tail"] = data[block.size :]
    return values


def _version_word(block: Block, data: bytes) -> int | None:
    word = block.version
    if word is None or word.end > len(data):
        return None
    return int(word.kind.parse(data[word.offset : word.end]))


def _value(block: Block, each: Field, offset: int, data: bytes, version: int | None) -> Any:
    if not block.holds(each, offset, len(data), version):
        return None
    return each.kind.parse(data[offset : offset + each.kind.width])


def _entries(block: Block, group: RepeatGroup, data: bytes, version: int | None) -> list[Any]:
    entry = group.repeat.subcon
    found: list[Any] = []
    for number in range(len(group.repeat.cells)):
        step = number * entry.sizeof()
        values = {
            each.name: _value(block, each, each.offset + step, data, version)
            for each in group.fields
        }
        found.append(Container(values) if isinstance(entry, Struct) else values[group.name])
    return found


def built(block: Block, values: Mapping[str, Any], length: int | None) -> bytes:
    """Return the bytes of a block; fields without a value are empty.

    length  length of the block; None: value of its length field, or length of members and tail

    Raises LayoutError for an unknown name, or a value that its field cannot contain.
    """
    unknown = set(values) - set(block.members) - {"tail"}
    if unknown:
        raise LayoutError(f"{block.name} has no field {', '.join(sorted(unknown))}")
    if length is None:
        length = _length_of(block, values)
    data = b"".join(
        _built(block, name, member, values.get(name), length)
        for name, (_, member) in block.members.items()
    )
    whole: bytes = (data + values.get("tail", b"")).ljust(length, b"\0")
    return whole[:length]


def _length_of(block: Block, values: Mapping[str, Any]) -> int:
    for each in block.fields:
        if isinstance(each.kind, Header) and each.kind.value is None and each.name in values:
            return int(values[each.name])
    return block.size + len(values.get("tail", b""))


def _built(block: Block, name: str, member: Construct, value: Any, length: int) -> bytes:
    try:
        if isinstance(member, Array):
            entries = value or [None] * member.count
            return b"".join(_built_entry(member.subcon, each) for each in entries)
        if value is None and isinstance(member, Header) and member.value is None:
            value = length
        return bytes(member.build(value))
    except (ConstructError, ValueError, TypeError, LayoutError) as error:
        raise LayoutError(f"{block.name}.{name} cannot hold {value!r}: {error}") from error


def _built_entry(entry: Construct, value: Any) -> bytes:
    if not isinstance(entry, Struct):
        return bytes(entry.build(value))
    given = value or {}
    return b"".join(
        kind.build(given.get(name)) for name, kind, _ in map(taken_apart, entry.subcons)
    )


def table_rows(block: Block, values: Container) -> tuple[Row, dict[str, list[Row]]]:
    """Convert parsed values into the row of the block, and the rows of each child table."""
    own = {column.name: column.cell(values) for column in block.columns}
    return own, {child.table: list(_child_rows(child, values)) for child in block.children}


def _child_rows(child: Child, values: Container) -> Iterator[Row]:
    for number, cell in enumerate(child.cells):
        entry: Row = {}
        for name, first, whole in child.sources:
            group = values[name]
            if not whole:
                entry[name] = group[number]
            elif first <= number < first + len(group):
                entry.update(group[number - first])
        if _is_used(child, entry):
            row: Row = dict(zip(child.index, cell, strict=True))
            row |= {column.name: column.cell(entry) for column in child.columns}
            yield row


def _is_used(child: Child, entry: Mapping[str, Any]) -> bool:
    if child.used is not None:
        return str(entry[child.used] or "")[:1].encode(ENCODING) > BLANK
    return any(
        entry[column.field.name]
        for column in child.columns
        if isinstance(column.field.kind, Numeric)
    )


ALWAYS = ""
"""Value of `since` for a field that every known MQ version writes."""


class Block(Construct):
    """A control block: a construct with its fields, columns and child tables.

    name      IBM's name (QJST)
    title     one line
    members   {name: offset and construct}, in the order of the bytes
    fields    all fields
    own       the fields outside repeated groups
    groups    repeated groups, by child table
    lengths   {MQ version: length of the block}, oldest version first; the last is the whole length
    least     minimum length that any MQ version wrote; a shorter block is damage
    version   the version word: the field that decides whether later fields exist; None: no such
              field
    version_words  {MQ version: version word}
    parts, only_whole, kept_length  as in `block`
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
        parts: Sequence[PartOf],
        only_whole: bool,
        kept_length: int | None,
    ) -> None:
        super().__init__()
        self.name = name
        self.title = title
        self.members: dict[str, tuple[int, Construct]] = {}
        self.fields: list[Field] = []
        self.own: list[Field] = []
        self.groups: dict[str, list[RepeatGroup]] = {}
        self.size = first = 0
        for member, version in flat(members, since):
            self._add(member, version)
            first = self.size if version == since else first
        self.only_whole = only_whole
        self.kept_length = kept_length
        self.lengths = dict(lengths or {since: self.size})
        self.least = min(first, *self.lengths.values())
        self.version_words = dict(version_words or {})
        own_parts = [part_of(each, self.field(each.field), self.field(each.code)) for each in parts]
        self.columns = tuple(flat_columns([*self.own, *own_parts]))
        self.children: tuple[Child, ...] = tuple(
            child_of(name, table, groups) for table, groups in self.groups.items()
        )
        self.version = self._version_word()
        self.eyecatcher = _eyecatcher(self.fields)
        self._check()

    def _add(self, member: Renamed, version: str) -> None:
        name, subcon, doc = taken_apart(member)
        if name in self.members:
            raise LayoutError(f"{self.name}: {name} occurs twice")
        self.members[name] = (self.size, subcon)
        if isinstance(subcon, Repeat):
            group = group_of(name, subcon, doc, version, self.size)
            self.fields.extend(group.fields)
            self.groups.setdefault(subcon.table, []).append(group)
            self.size += int(subcon.sizeof())
        else:
            count = subcon.count if isinstance(subcon, Array) else 1
            kind = subcon.subcon if isinstance(subcon, Array) else subcon
            self.own.append(field_of(name, self.size, kind, doc, version, count))
            self.fields.append(self.own[-1])
            self.size += self.own[-1].kind.width * count  # sizeof() of construct takes longer

    def _version_word(self) -> Field | None:
        words = {each.since.split()[0] for each in self.fields if each.gate is not None}
        if len(words) > 1:
            raise LayoutError(f"{self.name}: more than one version word: {sorted(words)}")
        return self.field(words.pop()) if words else None

    def _check(self) -> None:
        names = [column.name for column in self.columns]
        if len(set(names)) != len(names):
            raise LayoutError(f"{self.name}: a column occurs twice")
        if max(self.lengths.values()) < self.size:
            raise LayoutError(
                f"{self.name}: maps {self.size} bytes, but is recorded with {self.lengths}"
            )

    def field(self, name: str) -> Field:
        """Return the field with IBM's name `name`."""
        for each in self.fields:
            if each.name == name:
                return each
        raise LayoutError(f"{self.name} has no field {name}")

    def inside(self, wanted: Field) -> str | None:
        """Return the lower-case name of the repeated group of a field; None: no group."""
        for groups in self.groups.values():
            for group in groups:
                if any(wanted is each for each in group.fields):
                    return group.name.lower()
        return None

    def length_at(self, version: str) -> int:
        """Return the length of blocks of MQ `version` ("9.3.0")."""
        return at_version(self.lengths, version)

    def version_word_at(self, version: str) -> int | None:
        """Return the version word of blocks of an MQ version; None: no version word."""
        return at_version(self.version_words, version) if self.version_words else None

    def holds(self, each: Field, offset: int, length: int, version: int | None) -> bool:
        """Whether a block with this length and version word has a field at `offset`.

        False if the block is too short or too old for the field.
        """
        if self.only_whole and length != self.size:
            return False
        if each.gate is not None and version is not None and version < each.gate:
            return False
        return offset + each.kind.width <= length

    def rows(self, values: Container) -> tuple[Row, dict[str, list[Row]]]:
        """Convert the result of `parse` into rows of the block and of its child tables."""
        return table_rows(self, values)

    def _sizeof(self, context: Any, path: str) -> int:
        return self.size

    def _parse(self, stream: Any, context: Any, path: str) -> Container:
        return parsed(self, stream_read_entire(stream, path))

    def _build(self, obj: Mapping[str, Any] | None, stream: Any, context: Any, path: str) -> Any:
        data = built(self, obj or {}, context.get("length"))
        stream_write(stream, data, len(data), path)
        return obj


def _eyecatcher(fields: Iterable[Field]) -> tuple[int, bytes] | None:
    for each in fields:
        if isinstance(each.kind, Header) and each.kind.fact == "ebcdic":
            return each.offset, bytes(each.kind.build(None))
    return None


def block(
    name: str,
    title: str,
    *members: Any,
    since: str = ALWAYS,
    lengths: Mapping[str, int] | None = None,
    version_words: Mapping[str, int] | None = None,
    parts: Sequence[PartOf] = (),
    only_whole: bool = False,
    kept_length: int | None = None,
) -> Block:
    """Declare a control block.

    name           IBM's name, upper case
    title          one line: contents of the block, and when MQ writes it
    members        fields in the order of the bytes: `"name" / kind * "meaning"`, `since(...)`,
                   `header(...)`, and groups: `"name" / Repeat(...)`
    since          the MQ version that introduced the block
    lengths        {first MQ version: recorded length}, if it changed
    version_words  {first MQ version: version word}, if fields exist only from some version word on
    parts          parts of fields that are separate columns
    only_whole     whether the map is unknown for blocks that do not have the whole length
    kept_length    the only valid length: other blocks contain garbage and have no row; None: any

    Raises LayoutError if the declaration contradicts itself.
    """
    return Block(
        name,
        title,
        members,
        since=since,
        lengths=lengths,
        version_words=version_words,
        parts=parts,
        only_whole=only_whole,
        kept_length=kept_length,
    )
