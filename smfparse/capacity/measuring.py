"""Measures the inputs of planners from SMF data, by one query each, in `definitions`.

A row is a queue manager; a column has the name of an input. If a value is a list of points, the
input is their slope. `about` names the object of the figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smfparse.planning.asking import Wanted, wanted
from smfparse.planning.plans import Planner
from smfparse.planning.slopes import slope, too_few

if TYPE_CHECKING:
    from smfparse.query.catalog import Catalog

_FOLDER = Path(__file__).with_name("definitions")
_KEYS = ("system", "qmgr", "about")


@dataclass(frozen=True)
class Measured:
    """The values measured from the SMF data of a queue manager.

    about      the object of the values; '': the whole queue manager
    values     by input
    intervals  confidence intervals of the inputs that are slopes
    refused    reasons, by input, for unusable values: outside the range, or no slope
    """

    system: str
    qmgr: str
    about: str
    values: Mapping[str, Any] = field(default_factory=dict)
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)


def measuring_sql(name: str) -> str:
    """Return the query that measures the inputs of a planner."""
    return (_FOLDER / f"{name}.sql").read_text("utf-8")


def measuring_query(catalog: Catalog, which: Planner, given: Mapping[str, Any]) -> str:
    """Return the query that measures the inputs of a planner; a catalog can run it now.

    given  inputs of the user; free texts, such as name patterns, become variables of the query
    """
    from smfparse.calendar.intervals import calendar_macros
    from smfparse.metrics.figures import with_figures
    from smfparse.metrics.views import named_macros

    own = (_FOLDER / "macros.sql").read_text("utf-8")
    query = with_figures(measuring_sql(which.name), own)
    catalog.define(named_macros(query, calendar_macros(catalog.inputs.selection) + own))
    catalog.set_variable("of_queues", catalog.of_queues)
    for each in wanted(which.asked):
        if each.kind is str and not each.ask.among:
            catalog.set_variable(each.name, given.get(each.name, each.default))
    return query


def measured_rows(which: Planner, rows: Iterable[Mapping[str, Any]]) -> list[Measured]:
    """Return the measured values in the rows of a planner's query, by system and name."""
    inputs = {each.name: each for each in wanted(which.asked)}
    ordered = sorted(rows, key=lambda row: [row[each] or "" for each in ("system", "qmgr")])
    return [_of_row(row, inputs) for row in ordered]


def _of_row(row: Mapping[str, Any], inputs: Mapping[str, Wanted]) -> Measured:
    values: dict[str, Any] = {}
    intervals: dict[str, tuple[float, float]] = {}
    refused: dict[str, str] = {}
    for name in row.keys() - _KEYS:
        value = row[name]
        if isinstance(value, list):
            found = slope(value)
            if found is None:
                refused[name] = too_few()
                continue
            value = found.value
            intervals[name] = (found.low, found.high)
        if value is None:
            continue
        value = inputs[name].fitted(value)
        if reason := inputs[name].refusal(value):
            shown = value if isinstance(value, str) else f"{value:g}"
            refused[name] = f"{shown} {reason}"
            intervals.pop(name, None)
        else:
            values[name] = value
    return Measured(row["system"], row["qmgr"], row.get("about") or "", values, intervals, refused)
