"""Rows of a repeated group, read in parallel with the rows of its block.

Both are in the same order, so only the rows that are written next are in memory.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from smfparse.mqsmfcsv.declared import KEYS


class Beside:
    """The rows of a child table, to be requested in the order of the rows of its block.

    found  parts of the child table, in order
    """

    def __init__(self, found: Iterable[pl.DataFrame]) -> None:
        self._found = iter(found)
        self._held: pl.DataFrame | None = next(self._found, None)

    @property
    def is_left(self) -> bool:
        """Whether entries without a block remain."""
        return self._held is not None

    def of(self, rows: pl.DataFrame) -> pl.DataFrame | None:
        """Return entries of the next blocks, each with the `row` of its block; None: no entries.

        rows  the keys of blocks, numbered by `row`
        """
        parts = []
        while self._held is not None:
            parts.append(self._held.join(rows, on=KEYS, how="inner"))
            later = self._held.join(rows, on=KEYS, how="anti")
            if later.height:
                self._held = later
                break
            self._held = next(self._found, None)
        parts = [each for each in parts if each.height]
        return pl.concat(parts) if parts else None
