"""Members of a declaration other than fields: block headers, versions, repeated groups."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from construct import Array, Construct, Renamed

from smfparse.errors import LayoutError
from smfparse.layout.numbers import Word16
from smfparse.layout.texts import Header, Hex, Text

Cell: TypeAlias = tuple[int | str, ...]
"""The index values of one entry of a repeated group: (copy, io_type), (latch,) ..."""


class Repeat(Array):
    """A group that occurs several times in a block: its entries become rows of a child table.

    `index` names the child table's index columns and their labels, outermost first; a label that is
    not a sequence is the same for every entry: `phase="commit", request=range(20)`. A mapping says
    what each label means: `io_type={1: "one page"}`.

    An entry is a row if one of its numbers is not zero; with `used`, if the text field of that name
    starts above X'40', the EBCDIC blank. `about` describes the child table, where the meaning of
    the first field or group does not.
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
    """Fields that came with an MQ version ("9.1.2") or with a version word ("wqver 5")."""

    version: str
    members: tuple[Any, ...]


def since(version: str, *members: Any) -> Since:
    """Mark `members` as written since `version`: an MQ version, or a version field and its value.

    A block long enough for fields of an MQ version holds them; fields of a version word also need
    that value, or a greater one, in the word (`wqver`, `wtasver`).
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


def flat(members: Sequence[Any], version: str) -> Iterator[tuple[Renamed, str]]:
    """Yield the members of a declaration, with the version that each came with."""
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
    """Return "9.3.0" as (9, 3, 0), to compare; "" comes before all."""
    return tuple(int(part) for part in version.split(".")) if version else ()


def at_version(table: Mapping[str, int], version: str) -> int:
    """Return the value that `table`, {first MQ version: value}, has at an MQ version."""
    wanted = version_key(version)
    known = [value for first, value in table.items() if version_key(first) <= wanted]
    return known[-1] if known else next(iter(table.values()))
