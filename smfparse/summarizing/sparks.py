"""Figures over time in one line of characters."""

from __future__ import annotations

from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"
_NO_DATA = " "


def sparkline(values: Sequence[float | None], full: float = 0.0) -> str:
    """Return a character for each value: its height is the share of the greatest one.

    None: no data, a blank.

    full  what a full block stands for; 0: the greatest of the values
    """
    full = full or max((each for each in values if each is not None), default=0.0)
    return "".join(_block(each, full) for each in values)


def _block(value: float | None, full: float) -> str:
    if value is None:
        return _NO_DATA
    share = max(value, 0.0) / full if full > 0 else 0.0
    return BLOCKS[min(int(share * len(BLOCKS)), len(BLOCKS) - 1)]
