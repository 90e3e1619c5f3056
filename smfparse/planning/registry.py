"""All planners by name; the module of each is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from smfparse.errors import RequestError
from smfparse.planning.asking import Asked
from smfparse.planning.plans import Plan, Planner

_NAMES = (
    *("channels", "connections", "log", "cpu", "smf", "pages", "expiry", "batches", "cf", "tls"),
    *("compression", "mft", "cluster", "concentrator", "streaming", "whatif"),
)


def planner_names() -> tuple[str, ...]:
    """Return the names of all planners."""
    return _NAMES


def planner(name: str) -> Planner:
    """Return a planner. Raises RequestError for a name that there is not."""
    if name not in _NAMES:
        raise RequestError(f"there is no planner {name!r}; there are {', '.join(_NAMES)}")
    found: Planner = import_module(f"smfparse.planning.{name}").PLANNER
    return found


def planned(name: str, **inputs: Any) -> Plan:
    """Answer the question of a planner; inputs that are left out have their published values.

    Raises RequestError for an unknown name, and for a value outside the range of the planner.
    """
    which = planner(name)
    try:
        asked = which.asked(**inputs)
    except TypeError as error:
        raise RequestError(f"planner {name}: {error}") from error
    return plan_of(which, asked)


def plan_of(which: Planner, asked: Asked) -> Plan:
    """Answer the question of a planner for its inputs."""
    return Plan(which, asked, which.figures(asked))
