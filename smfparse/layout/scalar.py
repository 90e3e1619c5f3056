"""One block at a time: bytes to values, values to bytes, values to table rows.

For `dump`, tests and synthetic data; files are decoded by columns, never block by block.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from construct import Array, Construct, ConstructError, Container, Struct

from smfparse.errors import LayoutError
from smfparse.layout.columns import Child, Field, RepeatGroup
from smfparse.layout.kinds import Numeric
from smfparse.layout.members import Repeat, taken_apart
from smfparse.layout.texts import BLANK, ENCODING, Header

if TYPE_CHECKING:
    from smfparse.layout.blocks import Block

Row: TypeAlias = dict[str, Any]


def parsed(block: Block, data: bytes) -> Container:
    """Return a value for every member; None: the data does not contain the field.

    Bytes after the last member are `tail`.
    """
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
