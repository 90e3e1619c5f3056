"""The inputs of a planner: a dataclass whose fields define text, unit and bounds.

The options of the command line, their help and bounds, and the check of values from Python are
derived from these fields.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import UnionType
from typing import Any, get_args, get_type_hints

from smfparse.errors import RequestError


def said(value: float) -> str:
    """Return a number in the form used in formulas: whole, or with six digits."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.6g}"


def option(name: str) -> str:
    """Return the option of the command line for an input."""
    return f"--{name.replace('_', '-')}"


@dataclass(frozen=True)
class Ask:
    """The description of an input.

        low, high  lowest and highest number for which the planner is valid
    among      all values of a text; (): any
    measured   the SMF fields from which it is measured; '': none
    needs      other requirements of the measurement than the trace: `12 hours of data`
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
    default  the published value; None: without a value, the planner omits the lines that need it
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
        """Return a measured value for the planner: whole numbers are rounded."""
        if value is None or self.kind not in (int, float):
            return value
        number = float(value)
        return round(number) if self.kind is int and math.isfinite(number) else number

    def refusal(self, value: Any) -> str:
        """Return why a value is refused; '': it is accepted."""
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
    """The inputs of a planner. Raises RequestError for a value that is outside its bounds."""

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
