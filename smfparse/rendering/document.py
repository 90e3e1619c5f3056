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
"""Numbers of at least LEAST are shown to people with at most DECIMALS decimals."""

Cells: TypeAlias = Sequence[str]
"""A row: a text for each column."""


class Column(NamedTuple):
    """A column of a table: its heading, and whether its cells are right-aligned, like numbers."""

    heading: str
    right: bool = False


class Table(NamedTuple):
    """A table of texts.

    rows     are read once
    caption  text above the table; '': none
    """

    columns: Sequence[Column]
    rows: Iterable[Cells]
    caption: str = ""


class Frames(NamedTuple):
    """A table of values: one or more polars frames with the same columns, read once.

    local  names of columns of local times; the column `utc_offset` contains the seconds by which
           these are ahead of UTC
    """

    frames: Iterator[pl.DataFrame]
    local: frozenset[str] = frozenset()


class Values(NamedTuple):
    """A table of values, which formats for programs write as numbers and moments.

    name     the subject of the table, in a word or two
    columns  heading and style (of STYLES) of each; style '': values are shown unchanged
    rows     str, int, float, bool, date, time, datetime (local) or None; read once
    """

    name: str
    columns: Sequence[tuple[str, str]]
    rows: Iterable[Sequence[Any]]

    @classmethod
    def of(cls, name: str, headings: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Values:
        """Return a table with the columns `headings` of rows; other columns are ignored."""
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
    """Names and values for programs, of types that JSON supports.

    head    all names and values, or those before the rows
    rows    objects for the name `rows`, read once; None: no rows
    indent  blanks per level of JSON, if rows is None
    """

    head: Mapping[str, Any]
    rows: Iterable[Mapping[str, Any]] | None = None
    indent: int | None = None


class Document:
    """A result: a command derives its own class and implements the parts.

    title  title of the document
    room   maximum characters per line of its printed form; a narrower terminal lowers it
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
