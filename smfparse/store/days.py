"""Days as the manifest has them: texts that ascend as days do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def day_name(day: int) -> str:
    """Return the text of a date in an SMF header, given as its digits: 0126063."""
    return f"{day & 0xFFFFFFF:07x}"


def span_of(days: Iterable[str]) -> list[str]:
    """Return the first and the last of some days; [] where there are none."""
    found = sorted(days)
    return [found[0], found[-1]] if found else []


def meets_span(span: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two spans have a day in common."""
    return bool(span) and span[0] <= other[1] and other[0] <= span[1]
