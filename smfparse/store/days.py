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


def meets(span: Sequence[str] | None, days: Iterable[str]) -> bool:
    """Whether some of the days may be in a span; None: any may be."""
    return span is None or (bool(span) and any(span[0] <= each <= span[1] for each in days))


def meets_span(span: Sequence[str] | None, other: Sequence[str] | None) -> bool:
    """Whether two spans have a day in common; None: any day may be in it."""
    if span is None or other is None:
        return True
    return bool(span) and span[0] <= other[1] and other[0] <= span[1]
