"""Batches of single items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

Each = TypeVar("Each")


def some_at_a_time(items: Iterable[Each], most: int) -> Iterator[list[Each]]:
    """Yield lists of `most` items, and the rest; where an error ends them, first what came."""
    some: list[Each] = []
    try:
        for each in items:
            some.append(each)
            if len(some) == most:
                yield some
                some = []
    except (Exception, KeyboardInterrupt):
        yield some
        raise
    yield some
