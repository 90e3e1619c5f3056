"""The rows of queries as a document: tables of any columns, written as they arrive.

If a text table is wider than the terminal, columns in the middle are omitted. This module formats
small tables of plain values, exactly as polars does. Other tables are formatted by polars, which
takes longer to load than most queries to run.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from smfparse.rendering.document import DECIMALS, LEAST, NULL, Document, Frames, Section
from smfparse.rendering.figures import is_plain

if TYPE_CHECKING:
    import polars as pl

_MOST_ROWS = 1_000
_MOST_TEXT = 1_000
"""Maximum number of characters of a text that every version of polars shows in full."""
_MOST = 1e9
"""Maximum absolute value of doubles that represent all shown decimals exactly."""
Column = Sequence[Any]


class _NotPlainError(Exception):
    """A value that only polars can format."""


class _Kind(NamedTuple):
    """How to show an Arrow type: function that formats values, and whether they align right."""

    texts: Callable[[Column], list[str]]
    right: bool = False


def plain_table(parts: Sequence[Any]) -> list[str] | None:
    """Return the lines of pyarrow.Tables of the same columns: two heading lines, one line per row.

    Returns None for too many rows, or for a value that only polars can format.
    """
    schema = parts[0].schema
    kinds = [_KINDS.get(str(each.type)) for each in schema]
    names = schema.names
    if sum(each.num_rows for each in parts) > _MOST_ROWS or not all(map(_is_shown, names)):
        return None
    try:
        columns = [
            _column(name, kind, [value for part in parts for value in part[place].to_pylist()])
            for place, (name, kind) in enumerate(zip(names, kinds, strict=True))
        ]
    except (
        _NotPlainError,
        OverflowError,
        ValueError,
    ):  # OverflowError and ValueError: times outside Python's range
        return None
    heading, *rows = (f"| {' | '.join(cells)} |" for cells in zip(*columns, strict=True))
    return [heading, f"|{'|'.join('-' * (len(each[0]) + 2) for each in columns)}|", *rows]


def _column(name: str, kind: _Kind | None, values: Column) -> list[str]:
    if kind is None:
        raise _NotPlainError
    formatted = iter(kind.texts([each for each in values if each is not None]))
    cells = [name, *(NULL if each is None else next(formatted) for each in values)]
    width = max(map(len, cells))
    return [each.rjust(width) if kind.right else each.ljust(width) for each in cells]


def _is_shown(text: str) -> bool:
    return 0 < len(text) <= _MOST_TEXT and is_plain(text)


def _texts(values: Column) -> list[str]:
    if not all(each == "" or _is_shown(each) for each in values):
        raise _NotPlainError
    return list(values)


def _moments(values: Column) -> list[str]:
    return [each.replace(tzinfo=None).isoformat(" ", _precision(each)) for each in values]


def _precision(moment: dt.datetime) -> str:
    if moment.microsecond == 0:
        return "seconds"
    return "microseconds" if moment.microsecond % 1000 else "milliseconds"


def _moments_in_utc(values: Column) -> list[str]:
    return [f"{each} UTC" for each in _moments(values)]


def _doubles(values: Column) -> list[str]:
    numbers = np.array(values, np.float64)
    sizes = np.abs(numbers)
    if not np.all((sizes == 0) | (sizes >= LEAST) & (sizes <= _MOST)):
        raise _NotPlainError
    short = np.round(numbers, DECIMALS) + 0.0  # no -0.0
    enough = (each for each in range(1, DECIMALS) if np.array_equal(np.round(short, each), short))
    decimals = next(enough, DECIMALS)
    return [f"{each:.{decimals}f}" for each in short.tolist()]


def _whole(values: Sequence[Decimal]) -> list[str]:
    return [f"{each:f}" for each in values]


def _each(shown: Callable[[Any], str]) -> Callable[[Column], list[str]]:
    return lambda values: [*map(shown, values)]


_KINDS = {
    **{
        f"{sign}int{bits}": _Kind(_each(str), True)
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    },
    "decimal128(38, 0)": _Kind(_whole, True),
    "double": _Kind(_doubles, True),
    "bool": _Kind(_each(lambda value: "true" if value else "false")),
    "string": _Kind(_texts),
    "date32[day]": _Kind(_each(str)),
    "timestamp[us]": _Kind(_moments),
    "timestamp[us, tz=UTC]": _Kind(_moments_in_utc),
}
"""Formats of the Arrow types that do not need polars, by name of the type."""


_LEFT_OUT = "..."
"""Text in place of omitted columns."""
_SEPARATOR_WIDTH = 3
"""Number of characters between the cells of two columns."""


class Elider:
    """Omits columns of a table that arrives in parts; each part omits the same columns.

    width    maximum characters of a line; None: no maximum
    columns  number of columns shown; None: determined by `width`; 0: all
    """

    def __init__(self, width: int | None, columns: int | None = None) -> None:
        self._width = width
        self._columns = columns
        self._kept: tuple[int, int] | None = None
        self.count = 0

    def elided(self, lines: list[str]) -> list[str]:
        """Return `lines`, a part of a table with two heading lines, with fewer columns."""
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
        """A line with the number of columns shown; empty if all columns are shown."""
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
            room = self._width - len(_LEFT_OUT) - _SEPARATOR_WIDTH - 1
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
"""Maximum number of rows that text output reads to determine the width of columns."""
_HEADING = 2
"""Number of lines of a table before its rows."""


class RowsDocument(Document):
    """The results of queries, one after another.

    results  each query with its pyarrow.Tables of the same columns, at least one table
    width    maximum characters of a line of text; None: no maximum
    columns  number of columns in text; None: determined by `width`; 0: all columns
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
        self._limits = width, columns

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
            yield from _text(iter(parts), Elider(*self._limits))


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
