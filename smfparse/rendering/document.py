"""A result for every output format: sections for people, rows and facts for programs.

A command makes one `Document`, and a format uses one of its parts. The parts are iterators: rows
are written as they arrive, so their number is not limited.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import polars as pl

    from smfparse.rendering.colours import Mark

NULL = "null"
"""The text for a missing value."""
LEAST, DECIMALS = 1e-3, 6
"""From this size on, numbers are shown to people with fewer decimals."""

Cells: TypeAlias = Sequence[str]
"""A row: a text for each column."""


class Column(NamedTuple):
    """A column of a table: its heading, and whether its cells are right-aligned, like numbers."""

    heading: str
    right: bool = False


class Table(NamedTuple):
    """A table of texts.

    rows     are read once
    caption  what stands above it; '': nothing
    """

    columns: Sequence[Column]
    rows: Iterable[Cells]
    caption: str = ""


class Frames(NamedTuple):
    """A table of values: polars frames of the same columns, at least one, that are read once.

    local  names of columns of local times; the column `utc_offset` contains the seconds by which
           these are ahead of UTC
    """

    frames: Iterator[pl.DataFrame]
    local: frozenset[str] = frozenset()


class Values(NamedTuple):
    """A table of values, which formats for programs write as numbers and moments.

    name     the subject of the table, in a word or two
    columns  the heading of each, and one of STYLES; '': its values are shown as they are
    rows     str, int, float, bool, date, time, datetime (local) or None; read once
    """

    name: str
    columns: Sequence[tuple[str, str]]
    rows: Iterable[Sequence[Any]]

    @classmethod
    def of(cls, name: str, headings: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Values:
        """Return a table of rows by names of columns, of which some may not be shown."""
        found = ([row[each] for each in headings] for row in rows)
        return cls(name, [(each, "") for each in headings], found)


class Section(NamedTuple):
    """A part for people: a heading ('': none), sentences below it, then tables.

    drawing  lines of SVG above the tables, for formats that show it; read once
    """

    title: str
    tables: Iterable[Table] = ()
    notes: Sequence[str] = ()
    drawing: Iterable[str] = ()


class Facts(NamedTuple):
    """Names and values for programs, of types that JSON has.

    head    all of them, or those before the rows
    rows    more, under the name `rows`, which are read once; None: none
    indent  blanks a level, where rows are None
    """

    head: Mapping[str, Any]
    rows: Iterable[Mapping[str, Any]] | None = None
    indent: int | None = None


class Document:
    """A result: a command derives its own class and implements the parts.

    title  of the whole
    room   characters of a line of its printed form: a terminal may have fewer
    marks  the parts of its text that a terminal colours
    """

    title = ""
    room = 118
    marks: Sequence[Mark] = ()

    def sections(self) -> Iterator[Section]:
        """Yield the sections for people: for Markdown, HTML and the like."""
        raise NotImplementedError

    def tables(self) -> Iterator[Table | Frames | Values]:
        """Yield the tables for programs, which have no sections: for CSV and spreadsheets."""
        for section in self.sections():
            yield from section.tables

    def facts(self) -> Iterator[Facts | Frames]:
        """Yield names and values, unrounded: for JSON and the like."""
        raise NotImplementedError

    def printed(self) -> Iterator[str] | None:
        """Return the lines of a printed form of its own; None: its sections are printed."""
        return None
