"""Numbers in words: as formulas, bounds and inputs show them."""

from __future__ import annotations


def said(value: float) -> str:
    """Return a number as formulas show it: whole, or with six digits."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.6g}"
