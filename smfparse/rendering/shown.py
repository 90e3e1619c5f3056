"""Rows of queries as polars frames: exact numbers, and tables of safe texts for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

import polars as pl

from smfparse.rendering.document import DECIMALS, LEAST, NULL, Cells, Column, Table
from smfparse.rendering.figures import HIDDEN, visible


def changed(frame: pl.DataFrame, suspect: str, change: Callable[[str], str]) -> pl.DataFrame:
    """Return a frame with `change` applied to its texts.

    suspect  regular expression of polars that matches every text that `change` would change
    """
    texts = (each for each in frame.iter_columns() if each.dtype == pl.String)
    return frame.with_columns(
        pl.Series(each.name, [None if text is None else change(text) for text in each], pl.String)
        for each in texts
        if each.str.contains(suspect).any()
    )


def distinct(names: Sequence[str]) -> list[str]:
    """Return distinct names of columns: a repeated name gets the suffix '."""
    found: dict[str, None] = {}
    for name in names:
        while name in found:
            name += "'"
        found[name] = None
    return [*found]


_MOST = 1e15
"""Largest number that is shown with decimals."""
_CAST = (pl.String, pl.Boolean, pl.Date, pl.Datetime, pl.Time, pl.Decimal)
"""Types, in addition to numbers, that polars converts to text; Python converts other types."""


def exact(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame in which numbers have types that every format shows exactly."""
    kinds = frame.schema.items()
    decimals = {name: kind.scale for name, kind in kinds if isinstance(kind, pl.Decimal)}
    return frame.with_columns(
        *(
            pl.col(name).cast(pl.Float64 if scale else pl.Int128)
            for name, scale in decimals.items()
        ),
        pl.col(pl.Float32).cast(pl.String).cast(pl.Float64),
    )


def table(first: pl.DataFrame, others: Iterable[pl.DataFrame], caption: str) -> Table:
    """Return frames of the same columns, beginning with `first`, as a table of texts."""
    columns = [Column(name, kind.is_numeric()) for name, kind in first.schema.items()]
    return Table(columns, chain.from_iterable(map(_cells, chain([first], others))), caption)


def _cells(frame: pl.DataFrame) -> Iterator[Cells]:
    return zip(*map(_texts, frame), strict=True)


def _texts(values: pl.Series) -> list[str]:
    kind = values.dtype
    shown = _same_decimals(values) if kind == pl.Float64 else values
    if kind.is_numeric() or kind in _CAST:
        return shown.cast(pl.String).fill_null(NULL).to_list()
    return [NULL if value is None else str(value) for value in shown.to_list()]


def aligned_frame(frame: pl.DataFrame) -> list[str]:
    """Return the lines of a table: two heading lines, then one line per row."""
    seen = changed(frame, HIDDEN, visible)
    seen.columns = distinct([*map(visible, frame.columns)])
    numbers = [_same_decimals(each) for each in seen.select(pl.col(pl.Float64))]
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


def _same_decimals(numbers: pl.Series) -> pl.Series:
    """Return numbers with the same number of decimals, at most DECIMALS; otherwise unchanged.

    The result has a decimal type, which polars shows with all decimals.
    """
    sizes = numbers.abs().drop_nulls()
    if not sizes.filter(
        (sizes > _MOST) | (sizes > 0) & (sizes < LEAST) | ~sizes.is_finite()
    ).is_empty():
        return numbers
    short = numbers.round(DECIMALS)
    enough = (each for each in range(1, DECIMALS) if (short.round(each) == short).all())
    return short.cast(pl.Decimal(38, next(enough, DECIMALS)))
