"""The rows of queries as a document: tables of whatever columns, as they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import polars as pl

from smfparse.rendering.document import Cells, Column, Document, Frames, Section, Table
from smfparse.rendering.frames import changed, distinct
from smfparse.rendering.guard import HIDDEN, visible

_EXPLAINED = ["explain_key", "explain_value"]
_ALIGNED = 10_000
"""So many rows of text are looked at for the width of columns, at least."""
_LEAST, _MOST, _DECIMALS = 1e-3, 1e15, 6
"""Between which numbers people see no more decimals than that."""
_HEADING = 2
"""Lines of a table before its rows."""
_NULL = "null"
_CAST = (pl.String, pl.Boolean, pl.Date, pl.Datetime, pl.Time, pl.Decimal)
"""Types, besides numbers, that polars makes texts of; Python does of others."""


class RowsDocument(Document):
    """The results of queries, one after another.

    results  each query with its pyarrow.Tables of the same plain columns, at least one
    """

    title = "Query results"

    def __init__(self, results: Iterable[tuple[str, Iterable[Any]]]) -> None:
        self._results = results

    def tables(self) -> Iterator[Frames]:
        """Yield the rows of each query."""
        for _, parts in self._results:
            yield Frames(_exact(pl.DataFrame(each)) for each in parts)

    def facts(self) -> Iterator[Frames]:
        """Yield the rows of each query."""
        return self.tables()

    def sections(self) -> Iterator[Section]:
        """Yield one table per query, with the query above it."""
        for query, parts in self._results:
            frames = (_exact(pl.DataFrame(each)) for each in parts)
            yield Section("", [_table(next(frames), frames, " ".join(query.split()))])

    def printed(self) -> Iterator[str]:
        """Yield tables, an empty line between two; the lines of a plan as they are."""
        for number, table in enumerate(self.tables()):
            if number:
                yield ""
            yield from _text(table.frames)


def _exact(frame: pl.DataFrame) -> pl.DataFrame:
    """Return numbers that every format shows exactly, without digits that they do not have."""
    kinds = frame.schema.items()
    decimals = {name: kind.scale for name, kind in kinds if isinstance(kind, pl.Decimal)}
    return frame.with_columns(
        *(
            pl.col(name).cast(pl.Float64 if scale else pl.Int128)
            for name, scale in decimals.items()
        ),
        pl.col(pl.Float32).cast(pl.String).cast(pl.Float64),
    )


def _table(first: pl.DataFrame, others: Iterable[pl.DataFrame], caption: str) -> Table:
    columns = [Column(name, kind.is_numeric()) for name, kind in first.schema.items()]
    return Table(columns, chain.from_iterable(map(_cells, chain([first], others))), caption)


def _cells(frame: pl.DataFrame) -> Iterator[Cells]:
    """Yield the rows of a frame as texts."""
    return zip(*map(_texts, frame), strict=True)


def _texts(values: pl.Series) -> list[str]:
    kind = values.dtype
    shown = _even(values) if kind == pl.Float64 else values
    if kind.is_numeric() or kind in _CAST:
        return shown.cast(pl.String).fill_null(_NULL).to_list()
    return [_NULL if value is None else str(value) for value in shown.to_list()]


def _text(frames: Iterator[pl.DataFrame]) -> Iterator[str]:
    first: list[pl.DataFrame] = []
    for frame in frames:
        first.append(frame)
        if sum(each.height for each in first) >= _ALIGNED:
            break
    if first and first[0].columns == _EXPLAINED:
        yield from "\n".join(pl.concat(first)["explain_value"]).split("\n")
    elif first:
        yield from _aligned(pl.concat(first))
        for frame in frames:
            yield from _aligned(frame)[_HEADING:]


def _aligned(frame: pl.DataFrame) -> list[str]:
    """Return the lines of a table: two of heading, and one a row."""
    seen = changed(frame, HIDDEN, visible)
    seen.columns = distinct([*map(visible, frame.columns)])
    numbers = [_even(each) for each in seen.select(pl.col(pl.Float64))]
    with pl.Config(
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=-1,
        fmt_str_lengths=10_000,
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
        tbl_formatting="ASCII_MARKDOWN",
        tbl_cell_numeric_alignment="RIGHT",
        fmt_float="full",
    ):
        return str(seen.with_columns(numbers)).split("\n")


def _even(numbers: pl.Series) -> pl.Series:
    """Return numbers with the same count of decimals, six at most; as they are if some need more.

    They are as decimal numbers then, which polars shows with all their decimals.
    """
    sizes = numbers.abs().drop_nulls()
    if not sizes.filter(
        (sizes > _MOST) | (sizes > 0) & (sizes < _LEAST) | ~sizes.is_finite()
    ).is_empty():
        return numbers
    short = numbers.round(_DECIMALS)
    enough = (each for each in range(1, _DECIMALS) if (short.round(each) == short).all())
    return short.cast(pl.Decimal(38, next(enough, _DECIMALS)))
