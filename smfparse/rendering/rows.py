"""The rows of queries as a document: tables of any columns, written as they arrive.

In text tables wider than the terminal, columns in the middle are omitted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from smfparse.rendering.document import Document, Frames, Section
from smfparse.rendering.plain_rows import plain_table

if TYPE_CHECKING:
    import polars as pl

_LEFT_OUT = "..."
"""Text in place of omitted columns."""
_BESIDE = 3
"""Number of characters between the cells of two columns."""


class Elider:
    """Omits columns of a table that arrives in parts: the same columns in all parts.

    width    maximum characters of a line; None: no maximum
    columns  number of columns shown; None: determined by `width`; 0: all
    """

    def __init__(self, width: int | None, columns: int | None = None) -> None:
        self._width = width
        self._columns = columns
        self._kept: tuple[int, int] | None = None
        self.count = 0

    def elided(self, lines: list[str]) -> list[str]:
        """Return the lines of a part of a table, heading and rule included, with fewer columns."""
        widths = [len(each) for each in lines[1].split("|")[1:-1]]
        if any(len(line) != len(lines[1]) for line in lines):  # wide characters, or no columns
            return lines
        if self._kept is None:
            self._kept, self.count = self._fitting(widths), len(widths)
        left, right = self._kept
        if left + right >= len(widths):
            return lines
        ends = [0, *accumulate(each + 1 for each in widths)]
        first, last = ends[left], ends[len(widths) - right]
        gap = ("-" * (len(_LEFT_OUT) + 2), f" {_LEFT_OUT} ")
        return [
            f"{line[: first + 1]}{gap[number != 1]}{line[last:]}"
            for number, line in enumerate(lines)
        ]

    @property
    def count_line(self) -> list[str]:
        """Return a line with the number of columns shown; empty if all are shown."""
        if self._kept is None or sum(self._kept) >= self.count:
            return []
        return [f"{self.count} columns, {sum(self._kept)} shown"]

    def _fitting(self, widths: list[int]) -> tuple[int, int]:
        """Return the number of columns kept on the left and on the right."""
        count = len(widths)
        if self._columns is not None:
            most = min(self._columns or count, count)
        elif self._width is None or sum(widths) + count + 1 <= self._width:
            most = count
        else:
            room = self._width - len(_LEFT_OUT) - _BESIDE - 1
            most = next(
                (most for most in range(count - 1, 2, -1) if _size(widths, most) <= room), 2
            )
        left = most - most // 2
        return left, most - left


def _size(widths: list[int], most: int) -> int:
    """Return the total width of `most` columns, from the left and the right side."""
    left = most - most // 2
    kept = [*widths[:left], *widths[len(widths) - (most - left) :]]
    return sum(kept) + len(kept)


_EXPLAINED = ["explain_key", "explain_value"]
_ALIGNED = 10_000
"""Number of rows (or all, if fewer) that text output reads before it sets the width of columns."""
_HEADING = 2
"""Number of lines of a table before its rows."""


class RowsDocument(Document):
    """The results of queries, one after another.

    results  each query with its pyarrow.Tables of the same columns, at least one table
    width    maximum characters of a line of text; None: no maximum
    columns  number of columns in text; None: determined by `width`; 0: all
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
        """Yield tables, separated by empty lines; the lines of a query plan are unchanged."""
        for number, (_, parts) in enumerate(self._results):
            if number:
                yield ""
            yield from _text(iter(parts), Elider(*self._room))


def _frame(part: Any) -> pl.DataFrame:
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
    lines = plain_table(parts)
    if lines is not None:
        return lines
    import polars as pl

    from smfparse.rendering.shown import aligned_frame

    return aligned_frame(pl.concat(map(_frame, parts)))
