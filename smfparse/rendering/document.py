"""A result for every output format: sections for people, rows and facts for programs.

A command makes one `Document`. A format reads its sections, tables, facts or printed lines from
iterators, and writes each row at once, so the number of rows is not limited.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import polars as pl

    from smfparse.rendering.text import Mark

NULL = "null"
"""The text for a missing value."""
LEAST, DECIMALS = 1e-3, 6
"""For people: the least number that is shown with decimals, and the maximum number of decimals."""

Cells: TypeAlias = Sequence[str]
"""A row: one text per column."""


class Column(NamedTuple):
    """A column of a table: its heading, and whether its cells are right-aligned, like numbers."""

    heading: str
    right: bool = False


class Table(NamedTuple):
    """A table of texts.

    rows     rows, read once
    caption  text above the table; '': none
    """

    columns: Sequence[Column]
    rows: Iterable[Cells]
    caption: str = ""


class Frames(NamedTuple):
    """A table of values: one or more polars frames with the same columns, read once.

    local  names of columns with local times; the column `utc_offset` contains the number of seconds
           by which local time is ahead of UTC
    """

    frames: Iterator[pl.DataFrame]
    local: frozenset[str] = frozenset()


class Values(NamedTuple):
    """A table of values, which formats for programs write as numbers and dates.

    name     short name of the table
    columns  heading and style (of STYLES) of each column; style '': values are shown unchanged
    rows     rows of str, int, float, bool, date, time, datetime (local) or None; read once
    """

    name: str
    columns: Sequence[tuple[str, str]]
    rows: Iterable[Sequence[Any]]

    @classmethod
    def of(cls, name: str, headings: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Values:
        """Return a table of the columns `headings` from rows with more columns."""
        found = ([row[each] for each in headings] for row in rows)
        return cls(name, [(each, "") for each in headings], found)


class Section(NamedTuple):
    """A part of a document for people.

    title    heading; '': none
    tables   tables below the notes
    notes    sentences below the heading
    drawing  lines of an SVG above the tables, for formats that show drawings; read once
    """

    title: str
    tables: Iterable[Table] = ()
    notes: Sequence[str] = ()
    drawing: Iterable[str] = ()


class Facts(NamedTuple):
    """Names and values for programs, of types that JSON supports.

    head    names and values that precede the rows
    rows    objects in the list named `rows`, read once; None: no such list
    indent  blanks per level of JSON, if rows is None
    """

    head: Mapping[str, Any]
    rows: Iterable[Mapping[str, Any]] | None = None
    indent: int | None = None


class Document:
    """Base class for the result of a command; subclasses implement the methods.

    title  title of the document
    room   maximum characters per line of the printed form; a narrower terminal lowers it
    marks  coloured parts of the text at a terminal
    """

    title = ""
    room = 118
    marks: Sequence[Mark] = ()

    def sections(self) -> Iterator[Section]:
        """Yield the sections for people: for Markdown, HTML and the like."""
        raise NotImplementedError

    def tables(self) -> Iterator[Table | Frames | Values]:
        """Yield the tables for programs, without sections: for CSV and spreadsheets."""
        for section in self.sections():
            yield from section.tables

    def facts(self) -> Iterator[Facts | Frames]:
        """Yield names and values, unrounded: for JSON and the like."""
        raise NotImplementedError

    def printed(self) -> Iterator[str] | None:
        """Return the lines of a special printed form; None: the sections are printed."""
        return None
