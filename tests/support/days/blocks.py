"""Fields of blocks that are planted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Field:
    """A field of a block, and its value from one hour to another.

    of  number or name of the pool, page set, queue, channel, job or structure
    """

    block: str
    name: str
    value: float
    since: str = "0:00"
    until: str = "24:00"
    of: Any = None


class Planted:
    """Fields that are planted, by block; `at` gives those of an hour."""

    def __init__(self, fields: Sequence[Field], hour_of: Callable[[str], float]) -> None:
        self._of: dict[str, list[tuple[float, float, Field]]] = {}
        for each in fields:
            span = hour_of(each.since), hour_of(each.until), each
            self._of.setdefault(each.block, []).append(span)

    def at(self, hour: float, block: str, of: Any) -> dict[str, float]:
        """Return the fields of a block of an object in the interval with an hour in the middle."""
        return {
            each.name: each.value
            for since, until, each in self._of.get(block, ())
            if since <= hour < until and each.of in (None, of)
        }
