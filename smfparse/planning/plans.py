"""The answer of a planner: values, each with its formula, and their sources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from smfparse.planning.asking import Asked


@dataclass(frozen=True)
class Figure:
    """One number of a plan.

    name      for programs
    label     for people
    value     as the formula gives it, rounded down only where the formula says floor
    formula   with the numbers in it
    decimals  that people see
    interval  between what it lies in 90 of 100 cases; None: it is not measured
    before    what it is now, where the value is what it would be
    rough     whether it is far from what was measured: its order of magnitude alone is known
    """

    name: str
    label: str
    value: float
    unit: str = ""
    formula: str = ""
    decimals: int = 0
    interval: tuple[float, float] | None = None
    rough: bool = False
    before: float | None = None


@dataclass(frozen=True)
class Planner:
    """A question of capacity.

    figures    answers it
    stands_on  the published points that its formulas and values are from
    holds      in which range
    unknown    what it cannot know
    trace      the commands that make MQ write what is measured; '': nothing is
    """

    name: str
    title: str
    asked: type[Asked]
    figures: Callable[[Any], Sequence[Figure]]
    stands_on: Sequence[str]
    holds: str
    unknown: Sequence[str]
    trace: str = ""


@dataclass(frozen=True)
class Plan:
    """The answer of a planner for its inputs."""

    planner: Planner
    asked: Asked
    figures: Sequence[Figure]

    def __getitem__(self, name: str) -> float:
        """Return the number of that name. Raises KeyError where there is none."""
        value = self.get(name)
        if value is None:
            raise KeyError(name)
        return value

    def get(self, name: str) -> float | None:
        """Return the number of that name; None: it was left out."""
        return next((each.value for each in self.figures if each.name == name), None)
