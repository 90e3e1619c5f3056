"""Figures over time in one line of characters."""

from __future__ import annotations

from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"
_NO_DATA = " "


def sparkline(values: Sequence[float | None]) -> str:
    """Return a character for each value: its height is the share of the greatest one.

    None: no data, a blank.
    """
    greatest = max((each for each in values if each is not None), default=0.0)
    return "".join(_block(each, greatest) for each in values)


def _block(value: float | None, greatest: float) -> str:
    if value is None:
        return _NO_DATA
    share = max(value, 0.0) / greatest if greatest > 0 else 0.0
    return BLOCKS[min(int(share * len(BLOCKS)), len(BLOCKS) - 1)]
