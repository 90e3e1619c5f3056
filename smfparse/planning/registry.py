"""All planners by name; the module of each is imported on first use."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from smfparse.errors import RequestError
from smfparse.planning.asking import Asked, wanted
from smfparse.planning.plans import Plan, Planner

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

    values  values by input; None: not measured; optional figures that need the input are omitted
    """
    inputs = {each.name: each for each in wanted(planner(name).asked)}
    fitted = {key: inputs[key].fitted(value) for key, value in values.items()}
    if any(inputs[key].refusal(value) for key, value in fitted.items()):
        return None
    try:
        return planned(name, **fitted)
    except RequestError:  # the table ends within the range of the input
        return None
