"""Values of polars frames as texts that are safe to show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def changed(frame: pl.DataFrame, suspect: str, change: Callable[[str], str]) -> pl.DataFrame:
    """Return a frame with `change` applied to its texts.

    suspect  regular expression of polars that matches every text that `change` would change
    """
    import polars as pl

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
