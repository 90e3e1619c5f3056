"""Rows of any query as text, CSV or JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import polars as pl

_FORMULA_START = r"^([=+\-@])"


def lines(rows: Any, form: str) -> Iterator[str]:
    """Yield a pyarrow.Table of plain columns in the form text, csv or json.

    CSV and JSON come whole: a text can hold what ends a line.
    """
    frame = pl.DataFrame(rows)
    if form == "json":
        yield frame.write_json()
    elif form == "csv":
        yield csv(frame).removesuffix("\n")
    else:
        shown = pl.col(pl.String).str.replace_all(r"\p{Cc}|\p{Zl}|\p{Zp}", ".")
        yield from _table(frame.with_columns(shown)).splitlines()


def csv(frame: pl.DataFrame, *, header: bool = True) -> str:
    """Return rows as CSV, with or without the names of columns: no cell starts a formula."""
    texts = pl.col(pl.String).str.replace(_FORMULA_START, "'$1")
    safe = frame.with_columns(texts).rename(lambda name: re.sub(_FORMULA_START, r"'\1", name))
    return safe.write_csv(include_header=header)


def _table(frame: pl.DataFrame) -> str:
    with pl.Config(
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=-1,
        fmt_str_lengths=10_000,
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
        tbl_formatting="ASCII_MARKDOWN",
        tbl_cell_numeric_alignment="RIGHT",
    ):
        return str(frame)
