"""The answer of a planner: values, each with its formula, and their sources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from smfparse.planning.asking import Asked


@dataclass(frozen=True)
class Figure:
    """One number of a plan.

    name      name for programs
    label     name for people
    value     result of the formula, rounded down only if the formula contains floor
    formula   formula with its numbers
    decimals  number of decimals for people
    interval  90% confidence interval; None: not measured
    before    the current value, if `value` is the value after a change
    rough     whether `value` is only an order of magnitude: far outside the measured range
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

    figures      calculates the answer
    sources      the publications of its formulas and values
    valid_range  the range in which formulas and values are valid
    limitations  effects that the figures do not include
    trace        commands that start the traces with the measured data; '': no measured data
    """

    name: str
    title: str
    asked: type[Asked]
    figures: Callable[[Any], Sequence[Figure]]
    sources: Sequence[str]
    valid_range: str
    limitations: Sequence[str]
    trace: str = ""


@dataclass(frozen=True)
class Plan:
    """The answer of a planner for its inputs."""

    planner: Planner
    asked: Asked
    figures: Sequence[Figure]

    def __getitem__(self, name: str) -> float:
        """Return the value of the figure `name`. Raises KeyError if the plan has no such figure."""
        value = self.get(name)
        if value is None:
            raise KeyError(name)
        return value

    def get(self, name: str) -> float | None:
        """Return the value of the figure `name`; None: the plan has no such figure."""
        return next((each.value for each in self.figures if each.name == name), None)
