"""The rows of queries as a document: tables of whatever columns, as they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from smfparse.rendering.document import Document, Frames, Section
from smfparse.rendering.eliding import Elider
from smfparse.rendering.plain_rows import plain_table

if TYPE_CHECKING:
    import polars as pl

_EXPLAINED = ["explain_key", "explain_value"]
_ALIGNED = 10_000
"""So many rows of text are looked at for the width of columns, at least."""
_HEADING = 2
"""Lines of a table before its rows."""


class RowsDocument(Document):
    """The results of queries, one after another.

    results  each query with its pyarrow.Tables of the same plain columns, at least one
    width    characters of a line of text, for a terminal; None: any number
    columns  columns that text shows; None: as many as there is room for; 0: all
    local    as in `Frames`
    """

    title = "Query results"

    def __init__(
        self,
        results: Iterable[tuple[str, Iterable[Any]]],
        width: int | None = None,
        columns: int | None = None,
        local: frozenset[str] = frozenset(),
    ) -> None:
        self._results = results
        self._local = local
        self._room = width, columns

    def tables(self) -> Iterator[Frames]:
        """Yield the rows of each query."""
        for _, parts in self._results:
            yield Frames(map(_frame, parts), self._local)

    def facts(self) -> Iterator[Frames]:
        """Yield the rows of each query."""
        return self.tables()

    def sections(self) -> Iterator[Section]:
        """Yield one table per query, with the query above it."""
        from smfparse.rendering.shown import table

        for query, parts in self._results:
            frames = map(_frame, parts)
            yield Section("", [table(next(frames), frames, " ".join(query.split()))])

    def printed(self) -> Iterator[str]:
        """Yield tables, an empty line between two; the lines of a plan as they are."""
        for number, (_, parts) in enumerate(self._results):
            if number:
                yield ""
            yield from _text(iter(parts), Elider(*self._room))


def _frame(part: Any) -> pl.DataFrame:
    """Return rows as a polars frame of exact numbers. polars takes long to load."""
    import polars as pl

    from smfparse.rendering.shown import exact

    return exact(pl.DataFrame(part))


def _text(parts: Iterator[Any], elider: Elider) -> Iterator[str]:
    first: list[Any] = []
    for part in parts:
        first.append(part)
        if sum(each.num_rows for each in first) >= _ALIGNED:
            break
    if first and first[0].column_names == _EXPLAINED:
        texts = (text for part in first for text in part["explain_value"].to_pylist())
        yield from "\n".join(texts).split("\n")
    elif first:
        yield from elider.elided(_aligned(first))
        for part in parts:
            yield from elider.elided(_aligned([part]))[_HEADING:]
        yield from elider.count_line


def _aligned(parts: list[Any]) -> list[str]:
    """Return the lines of a table: two of heading, and one a row."""
    lines = plain_table(parts)
    if lines is not None:
        return lines
    import polars as pl

    from smfparse.rendering.shown import aligned_frame

    return aligned_frame(pl.concat(map(_frame, parts)))
