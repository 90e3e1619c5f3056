"""Planners: inputs, figures, plans, and tables of values that IBM published.

The inputs of a planner are the fields of a dataclass, which define text, unit and bounds. The
options of the command line, their help, and the check of values are derived from these fields. The
module of a planner is imported on first use.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib import import_module
from itertools import product
from pathlib import Path
from statistics import fmean
from types import MappingProxyType, UnionType
from typing import Any, NamedTuple, get_args, get_type_hints

from smfparse.errors import RequestError


def said(value: float) -> str:
    """Return a number as text in formulas: a whole number in full, otherwise six digits."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.6g}"


def option(name: str) -> str:
    """Return the option of the command line for an input."""
    return f"--{name.replace('_', '-')}"


@dataclass(frozen=True)
class Ask:
    """The description of an input.

    low, high  lowest and highest number for which the planner is valid
    among      all valid texts; (): any text
    measured   SMF fields from which the input is measured; '': cannot be measured
    needs      requirements of the measurement in addition to the trace: `12 hours of data`
    """

    text: str
    unit: str = ""
    low: float = 0.0
    high: float = math.inf
    among: tuple[str, ...] = ()
    measured: str = ""
    needs: str = ""

    @property
    def bounds(self) -> str:
        """The accepted values in words, with their unit."""
        if self.among:
            return ", ".join(self.among)
        unit = self.unit if self.unit in ("", "%") else f" {self.unit}"
        if math.isinf(self.low):
            return "any number"
        if math.isinf(self.high):
            one = unit.removesuffix("s") if self.low == 1 else unit
            return f"{said(self.low)}{one} or more"
        return f"{said(self.low)} to {said(self.high)}{unit}"


@dataclass(frozen=True)
class Wanted:
    """An input of a planner by its name.

    kind     int, float, str or bool
    default  published value; None: not published, so figures that need the input may be omitted
    """

    name: str
    kind: type
    default: Any
    ask: Ask

    @property
    def values(self) -> str:
        """The accepted values in words, with their unit; '': any text."""
        is_text = self.kind is str and not self.ask.among
        return "" if is_text else self.ask.bounds

    def fitted(self, value: Any) -> Any:
        """Return a measured value in the type of the input; for an int, the value is rounded."""
        if value is None or self.kind not in (int, float):
            return value
        number = float(value)
        return round(number) if self.kind is int and math.isfinite(number) else number

    def refusal(self, value: Any) -> str:
        """Return the reason why a value is refused; '': the value is accepted."""
        if value is None:
            return "" if self.default is None else "a value is required"
        if self.kind is not str and not isinstance(value, int | float):
            return "not a number"
        if self.kind in (str, bool):
            known = not self.ask.among or value in self.ask.among
            return "" if known else f"must be one of {self.ask.bounds}"
        if self.ask.low <= value <= self.ask.high and math.isfinite(value):
            return ""
        return f"must be {self.ask.bounds}"


@dataclass(frozen=True)
class Asked:
    """The inputs of a planner. Raises RequestError for a value outside the bounds of its input."""

    def __post_init__(self) -> None:
        for each in wanted(type(self)):
            value = getattr(self, each.name)
            if reason := each.refusal(value):
                given = f"{value:g}" if isinstance(value, int | float) else repr(value)
                raise RequestError(f"{each.name}={given}: {reason}", each.name)


def wanted(asked: type[Asked]) -> tuple[Wanted, ...]:
    """Return the inputs of a planner, in order."""
    hints: Mapping[str, Any] = get_type_hints(asked, include_extras=True)
    found = []
    for each in fields(asked):
        hint, ask = get_args(hints[each.name])
        kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
        found.append(Wanted(each.name, kinds[0], each.default, ask))
    return tuple(found)


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

    figures      function that calculates the figures from the inputs
    sources      publications of the formulas and values
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
    """Return the source of a published table: document, date, and place in the document."""
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


LEAST_POINTS = 10
LEAST_CHANGE = 0.2
"""Minimum range of the x values of points, as a share of the mean x."""
_Z = 1.6448536269514722
"""The value that a standard normal variable exceeds with a probability of 5%."""


class Slope(NamedTuple):
    """A slope by least squares, with its 90% confidence interval."""

    value: float
    low: float
    high: float


def too_few() -> str:
    """Return a phrase: why points have no slope."""
    return f"fewer than {LEAST_POINTS} intervals, or only random changes in them"


def slope(points: Sequence[Sequence[float]]) -> Slope | None:
    """Return the slope of points (x, y); None: too few points, x too similar, or slope maybe 0."""
    xs, ys = [each[0] for each in points], [each[1] for each in points]
    if len(points) < LEAST_POINTS or max(xs) - min(xs) <= LEAST_CHANGE * abs(fmean(xs)):
        return None
    x, y = fmean(xs), fmean(ys)
    sxx = math.fsum((each - x) ** 2 for each in xs)
    value = math.fsum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sxx
    rest = math.fsum((b - y - value * (a - x)) ** 2 for a, b in zip(xs, ys, strict=True))
    free = len(points) - 2
    around = _student(free) * math.sqrt(rest / free / sxx)
    found = Slope(value, value - around, value + around)
    return None if found.low <= 0 <= found.high else found


def _student(free: int) -> float:
    """Return the value that Student's t exceeds in 5% of cases, to three digits."""
    first = (_Z**3 + _Z) / (4 * free)
    return _Z + first + (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / (96 * free**2)


def plan_within(which: Planner, asked: Asked, intervals: Mapping[str, tuple[float, float]]) -> Plan:
    """Return the answer of a planner; figures that depend on uncertain inputs have intervals.

    intervals  confidence intervals of uncertain inputs, by name
    """
    figures = which.figures(asked)
    bounds = {each.name: each.ask for each in wanted(type(asked))}
    ends = [
        [min(max(end, bounds[name].low), bounds[name].high) for end in interval]
        for name, interval in intervals.items()
    ]
    corners = [
        {
            each.name: each.value
            for each in which.figures(replace(asked, **dict(zip(intervals, some, strict=True))))
        }
        for some in product(*ends)
    ]
    return Plan(which, asked, [_within(each, corners) for each in figures])


def _within(figure: Figure, corners: Sequence[Mapping[str, float]]) -> Figure:
    found = [each[figure.name] for each in corners if figure.name in each]
    if len(set(found)) < 2:
        return figure
    return replace(figure, interval=(min(found), max(found)))


_NAMES = (
    *("channels", "connections", "log", "cpu", "smf", "pages", "expiry", "batches", "cf", "tls"),
    *("compression", "mft", "cluster", "concentrator", "streaming", "whatif"),
)


def planner_names() -> tuple[str, ...]:
    """Return the names of all planners."""
    return _NAMES


def planner(name: str) -> Planner:
    """Return a planner. Raises RequestError for an unknown name."""
    if name not in _NAMES:
        raise RequestError(f"unknown planner {name!r}; planners: {', '.join(_NAMES)}")
    found: Planner = import_module(f"smfparse.planning.{name}").PLANNER
    return found


def planned(name: str, **inputs: Any) -> Plan:
    """Return the answer of a planner; the defaults of inputs are published values.

    Raises RequestError for an unknown name, and for a value outside the range of the planner.
    """
    which = planner(name)
    return plan_of(which, asked_of(which, inputs))


def asked_of(which: Planner, inputs: Mapping[str, Any]) -> Asked:
    """Return the inputs of a planner; the defaults are published values.

    Raises RequestError for an unknown name, and for a value outside the range of the planner.
    """
    known_names = [each.name for each in wanted(which.asked)]
    for name in inputs:
        if name not in known_names:
            known = ", ".join(known_names)
            raise RequestError(f"planner {which.name}: unknown input {name}; inputs: {known}", name)
    return which.asked(**inputs)


def plan_of(which: Planner, asked: Asked) -> Plan:
    """Return the answer of a planner for its inputs."""
    return Plan(which, asked, which.figures(asked))


def plan_of_measured(name: str, values: Mapping[str, Any]) -> Plan | None:
    """Return the answer for measured values; None: a required value is absent or out of range.

    values  values by input; a value None (not measured) omits optional figures that need the input
    """
    inputs = {each.name: each for each in wanted(planner(name).asked)}
    fitted = {key: inputs[key].fitted(value) for key, value in values.items()}
    if any(inputs[key].refusal(value) for key, value in fitted.items()):
        return None
    try:
        return planned(name, **fitted)
    except RequestError:  # the table ends within the range of the input
        return None
