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
`QIST.children` contain the place of each table column in the bytes, for the column decoder.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from construct import Array, Construct, Container, Renamed, stream_read_entire, stream_write

from smfparse.errors import LayoutError
from smfparse.layout.columns import (
    Child,
    Field,
    RepeatGroup,
    child_of,
    field_of,
    flat_columns,
    group_of,
    part_of,
)
from smfparse.layout.members import PartOf, Repeat, at_version, flat, taken_apart
from smfparse.layout.scalar import Row, built, parsed, table_rows
from smfparse.layout.texts import Header

ALWAYS = ""
"""Value of `since` for a field that every known MQ version writes."""


class Block(Construct):
    """A control block: a construct with its fields, columns and child tables.

    name      IBM's name (QJST)
    title     one line
    members   {name: offset and construct}, in the order of the bytes
    fields    all fields; `own`: the fields outside repeats
    groups    repeats, by child table
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
