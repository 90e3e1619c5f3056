"""Answers of planners, for each queue manager from its SMF data, or from published values.

One query per planner, in `definitions`, measures its inputs: one row per queue manager, one column
per input. If a value is a list of points (x, y), the input is the slope of the points. The column
`about` names the measured object, if it is not the whole queue manager.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smfparse.errors import RequestError
from smfparse.planning.plans import (
    Plan,
    Planner,
    Wanted,
    asked_of,
    plan_within,
    slope,
    too_few,
    wanted,
)

if TYPE_CHECKING:
    from smfparse.query.catalog import Catalog

_FOLDER = Path(__file__).with_name("definitions")
_KEYS = ("system", "qmgr", "about")


@dataclass(frozen=True)
class Measured:
    """The values measured from the SMF data of a queue manager.

    about      the object of the values; '': the whole queue manager
    values     measured values, by input
    intervals  confidence intervals of inputs that are slopes, by input
    refused    reasons for unusable values (outside the range, or no slope), by input
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
    """Return the query that measures the inputs of a planner; define its macros in the catalog.

    given  inputs of the user; free texts, such as name patterns, become variables of the catalog
    """
    from smfparse.metrics.calendar import calendar_macros
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
    """Return the measured values in rows of `measuring_query`, by system and queue manager."""
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


GIVEN, MEASURED, PUBLISHED = "given", "measured", "published"
"""Origins of the value of an input."""


@dataclass(frozen=True)
class Answer:
    """The plan of a queue manager.

    of       queue manager ('': none in the SMF data) and measured values; None: no SMF data
    origins  the origin of each input: given, measured or published
    by_name  options in use that select rows by name and exclude rows without a name
    """

    of: Measured | None
    plan: Plan
    origins: Mapping[str, str]
    by_name: Sequence[str] = ()

    def __repr__(self) -> str:
        figures = ", ".join(
            f"{each.name}={each.value:.6g}{f' {each.unit}' * bool(each.unit)}"
            for each in self.plan.figures
        )
        return f"<{self.plan.planner.name}, {self.whose}: {figures}>"

    @property
    def whose(self) -> str:
        """The queue manager of the plan, in words."""
        if self.of is None or not self.of.system:
            return "published values"
        place = f"{self.of.qmgr} on {self.of.system}"
        return f"{place}, {self.of.about}" if self.of.about else place

    @property
    def missing(self) -> Sequence[str]:
        """The inputs of the planner that can be measured, but not in this data."""
        refused = self.of.refused if self.of else {}
        return [
            each.name
            for each in wanted(self.plan.planner.asked)
            if each.ask.measured
            and self.origins[each.name] == PUBLISHED
            and each.name not in refused
        ]


def answers(
    which: Planner, given: Mapping[str, Any], catalog: Catalog | None = None
) -> list[Answer]:
    """Return the answer of a planner for each queue manager of a catalog.

    given    inputs of the user: they override measured values, which override published values
    catalog  catalog of SMF data; None: one answer, without measured values

    Raises RequestError for a value outside the range of the planner.
    """
    if catalog is None:
        return [answer(which, given, None)]
    rows = catalog.arrow(measuring_query(catalog, which, given)).to_pylist()
    found = measured_rows(which, rows) or [Measured("", "", "")]
    by_name = [f"--{each}" for each in catalog.inputs.selection.by_name]
    return [replace(answer(which, given, each), by_name=by_name) for each in found]


def answer(which: Planner, given: Mapping[str, Any], of: Measured | None) -> Answer:
    """Return the answer of a planner for one queue manager; `of` None: no measured values."""
    values = {**(of.values if of else {}), **given}
    intervals = {
        name: interval
        for name, interval in (of.intervals if of else {}).items()
        if name not in given
    }
    try:
        plan = plan_within(which, asked_of(which, values), intervals)
    except RequestError as error:
        if of is None or not of.values:
            raise
        place = f"{of.qmgr} on {of.system}"
        raise RequestError(f"{place}: {error}", *error.parameters) from error
    origins = {
        each.name: GIVEN if each.name in given else MEASURED if each.name in values else PUBLISHED
        for each in wanted(which.asked)
    }
    return Answer(of, plan, origins)
