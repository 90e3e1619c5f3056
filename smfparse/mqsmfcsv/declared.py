"""The columns of each file of mq-smf-csv, as declared in `definitions/`.

The key `form` declares the form of a column. By default, a count is a number, a duration is seconds
and microseconds, a timestamp is date and time, a name is text of fixed width.
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from smfparse.declarations import Where, families
from smfparse.decoding.dictionary import TABLES, columns
from smfparse.layout.kinds import Hex, Text

KEYS = ("source", "record_no", "block_no")
"""Columns that identify a block, both in its table and in the child tables."""
_COMMON = "common"
_GROUP_WORDS = frozenset({"table", "label", "held", "columns"})
_OF_TYPE = {"double": "elapsed", "string": "text"}
"""Default forms by Arrow type; a timestamp has the form moment, any other type number."""


@dataclass(frozen=True)
class Cell:
    """A declared column of a file.

    form    one of `forms.FORMS`
    field   column of our table with the value
    width   number of characters of a text, padded with blanks
    words   (value, word) for each value of a code, or for `true` and `false` of a flag
    second  second column of our table: second half of a token, or flag of a marked text; "": none
    """

    heading: str
    form: str
    field: str
    width: int = 0
    words: tuple[tuple[str, str], ...] = ()
    second: str = ""

    @property
    def fields(self) -> set[str]:
        """Required columns of our table."""
        return {self.field, *filter(None, [self.second])}


@dataclass(frozen=True)
class Entry:
    """An entry of a repeated group: `label` replaces `#` in headings, `index` selects its rows."""

    label: str
    index: tuple[tuple[str, int | str], ...]


@dataclass(frozen=True)
class Group:
    """Columns for every entry of a repeated group.

    table    name of the child table
    held     column of the parent table that is NULL if a block has no such group; "": no column
    entries  entries, in order
    cells    columns of each entry
    """

    table: str
    held: str
    entries: tuple[Entry, ...]
    cells: tuple[Cell, ...]

    @property
    def fields(self) -> frozenset[str]:
        """Required columns of the child table."""
        index = {name for name, _ in self.entries[0].index}
        return frozenset(index.union(KEYS, *(each.fields for each in self.cells)))


Part: TypeAlias = Cell | Group


@dataclass(frozen=True)
class Sheet:
    """The file SMF-<name>.csv, and the Db2 table MQSMF.<name>.

    table  name of our table with the rows
    index  Db2 columns that get an index
    """

    name: str
    table: str
    parts: tuple[Part, ...]
    index: tuple[str, ...]

    @property
    def file(self) -> str:
        """File name."""
        return f"SMF-{self.name}.csv"

    @property
    def groups(self) -> list[Group]:
        """The repeated groups among the columns of the file."""
        return [each for each in self.parts if isinstance(each, Group)]

    @property
    def fields(self) -> frozenset[str]:
        """Required columns of our table."""
        found = {"utc_offset"}
        for each in self.parts:
            found |= each.fields if isinstance(each, Cell) else {*KEYS, *filter(None, [each.held])}
        return frozenset(found)


@cache
def sheets() -> tuple[Sheet, ...]:
    """Return all files, sorted by name."""
    folder = files(__package__) / "definitions"
    texts = {each.name.removesuffix(".toml"): each.read_text("utf-8") for each in folder.iterdir()}
    common = tomllib.loads(texts.pop(_COMMON))
    return tuple(_sheet(name, tomllib.loads(texts[name]), common) for name in sorted(texts))


def _sheet(name: str, spec: Mapping[str, Any], common: Mapping[str, Any]) -> Sheet:
    table = spec["table"]
    first = common["columns"] | (common["interval"] if spec.get("interval", True) else {})
    own = families(first | spec["columns"], spec.get("each", {}), Where(name))
    parts = _parts(table, ((heading, each) for _, heading, each in own), spec.get("groups", {}))
    return Sheet(name, table, tuple(parts), tuple(spec.get("index", ())))


def _parts(
    table: str, found: Iterable[tuple[str, Any]], groups: Mapping[str, Mapping[str, Any]]
) -> Iterator[Part]:
    for heading, spec in found:
        if isinstance(spec, dict) and "group" in spec:
            yield _group(groups[spec["group"]])
        else:
            yield _cell(table, heading, spec)


def _group(spec: Mapping[str, Any]) -> Group:
    cells = tuple(_cell(spec["table"], *each) for each in spec["columns"].items())
    return Group(spec["table"], spec.get("held", ""), tuple(_entries(spec)), cells)


def _entries(spec: Mapping[str, Any]) -> Iterator[Entry]:
    """Yield the entries of a group; the last index varies fastest. A number n means 1 to n."""
    indices = {
        name: {str(each): each for each in range(1, values + 1)}
        if isinstance(values, int)
        else values
        for name, values in spec.items()
        if name not in _GROUP_WORDS
    }
    for labels in itertools.product(*indices.values()):
        named = dict(zip(indices, labels, strict=True))
        values = tuple((name, indices[name][label]) for name, label in named.items())
        yield Entry(spec["label"].format(**named), values)


def _cell(table: str, heading: str, spec: str | Mapping[str, Any]) -> Cell:
    declared: Mapping[str, Any] = {"field": spec} if isinstance(spec, str) else spec
    words = tuple(declared.get("words", {}).items())
    form, width = _own_form(table, declared["field"])
    return Cell(
        heading,
        declared.get("form", "words" if words else form),
        declared["field"],
        declared.get("width", width),
        words,
        declared.get("second", ""),
    )


def _own_form(table: str, field: str) -> tuple[str, int]:
    spec = TABLES[table]
    for column in (*spec.columns, *(spec.extra.columns if spec.extra else ())):
        kind = column.field.kind
        if column.name == field and isinstance(kind, Text | Hex):
            return "hex" if isinstance(kind, Hex) else "text", kind.width
    arrow = next(each.arrow for each in columns(table) if each.name == field)
    return "moment" if arrow.startswith("timestamp") else _OF_TYPE.get(arrow, "number"), 0
