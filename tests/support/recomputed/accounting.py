"""Fields of accounting records (116) by what they count."""

from __future__ import annotations

BANDS = [f"qmac{verb}{band}" for verb in ("put", "get") for band in "abcd"]
"""Puts and gets by size of message."""
