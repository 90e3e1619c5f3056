"""IBM's published values: tables by name, each with its document."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from smfparse.errors import RequestError

_FILE = Path(__file__).with_name("published.json")


@cache
def _published() -> Mapping[str, Mapping[str, Any]]:
    return MappingProxyType(json.loads(_FILE.read_text("utf-8")))


def published_names() -> tuple[str, ...]:
    """Return the names of all published tables."""
    return tuple(_published())


def published(name: str) -> Any:
    """Return a published table, a list of rows or a mapping; KeyError for an unknown name."""
    return _published()[name]["table"]


def source(name: str) -> str:
    """Return document, date, and place in the document of a published table."""
    found: str = _published()[name]["source"]
    return found


def between(points: Mapping[float, float], at: float, name: str, unit: str = "") -> float:
    """Return the value at `at`, interpolated linearly between published points.

    name, unit  name and unit of `at`, for the message

    Raises RequestError outside the published points.
    """
    xs = sorted(points)
    if not xs[0] <= at <= xs[-1]:
        ends = f"{xs[0]:g} to {xs[-1]:g} {unit}".rstrip()
        raise RequestError(f"{name}={at:g}: published values exist for {ends} only", name)
    right = bisect_left(xs, at)
    if xs[right] == at:
        return points[xs[right]]
    low, high = xs[right - 1], xs[right]
    return points[low] + (points[high] - points[low]) * (at - low) / (high - low)
