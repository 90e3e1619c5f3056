"""Rows of any query as text, CSV or JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl

from smfparse.rendering.figures import FORMULA_START, NUMBER

_EXPLAINED = ["explain_key", "explain_value"]
_ALIGNED = 10_000
"""So many rows of text are looked at for the width of columns, at least."""
_LEAST, _MOST, _DECIMALS = 1e-3, 1e15, 6
"""Between which numbers text has no more decimals than that."""
_HEADING = 2
"""Lines of a table before its rows."""


def lines(parts: Iterable[Any], form: str) -> Iterator[str]:
    """Yield pyarrow.Tables of the same plain columns in the form text, csv or json.

    CSV and JSON come by parts of many rows: a text can hold what ends a line.
    """
    frames = (_exact(pl.DataFrame(each)) for each in parts)
    return {"json": _json, "csv": _csv}.get(form, _text)(frames)


def _exact(frame: pl.DataFrame) -> pl.DataFrame:
    """Return numbers of which every form shows what they are, and no more digits."""
    kinds = frame.schema.items()
    decimals = {name: kind.scale for name, kind in kinds if isinstance(kind, pl.Decimal)}
    return frame.with_columns(
        *(
            pl.col(name).cast(pl.Float64 if scale else pl.Int128)
            for name, scale in decimals.items()
        ),
        pl.col(pl.Float32).cast(pl.String).cast(pl.Float64),
    )


def _csv(frames: Iterator[pl.DataFrame]) -> Iterator[str]:
    for number, frame in enumerate(frames):
        if number == 0 or frame.height:
            yield csv(frame, header=number == 0).removesuffix("\n")


def _json(frames: Iterator[pl.DataFrame]) -> Iterator[str]:
    """Yield one array, with an object a row."""
    local = pl.col(pl.Datetime("us", None)).dt.to_string("iso:strict")
    found = "["
    for frame in frames:
        rows = frame.with_columns(local).write_json()[1:-1]
        if rows and found != "[":
            yield f"{found},"
            found = ""
        found += rows
    yield f"{found}]"


def _text(frames: Iterator[pl.DataFrame]) -> Iterator[str]:
    first: list[pl.DataFrame] = []
    for frame in frames:
        first.append(frame)
        if sum(each.height for each in first) >= _ALIGNED:
            break
    if first and first[0].columns == _EXPLAINED:
        yield from "\n".join(pl.concat(first)["explain_value"]).splitlines()
    elif first:
        yield from _table(pl.concat(first))
        for frame in frames:
            yield from _table(frame)[_HEADING:]


def csv(frame: pl.DataFrame, *, header: bool = True) -> str:
    """Return rows as CSV, with or without the names of columns: no cell starts a formula."""
    texts = pl.col(pl.String)
    formula = texts.str.contains(FORMULA_START) & ~texts.str.contains(NUMBER)
    safe = frame.with_columns(pl.when(formula).then("'" + texts).otherwise(texts).name.keep())
    return safe.rename(lambda name: re.sub(f"({FORMULA_START})", r"'\1", name)).write_csv(
        include_header=header
    )


def _table(frame: pl.DataFrame) -> list[str]:
    """Return the lines of a table: two of heading, and one a row."""
    texts = pl.col(pl.String).str.replace_all(r"\p{Cc}|\p{Zl}|\p{Zp}", ".")
    numbers = [_even(each) for each in frame.select(pl.col(pl.Float64))]
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
        return str(frame.with_columns(texts, *numbers)).splitlines()


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
