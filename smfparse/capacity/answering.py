"""Answers of planners, for each queue manager from its SMF data, or from published values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from smfparse.capacity.measuring import Measured, measured_rows, measuring_query
from smfparse.errors import RequestError
from smfparse.planning.asking import wanted
from smfparse.planning.plans import Plan, Planner
from smfparse.planning.registry import asked_of
from smfparse.planning.slopes import plan_within

if TYPE_CHECKING:
    from smfparse.query.catalog import Catalog

GIVEN, MEASURED, PUBLISHED = "given", "measured", "published"
"""Origins of the value of an input."""


@dataclass(frozen=True)
class Answer:
    """The plan of a queue manager.

    of       the queue manager and its measured values; its name is empty if the input contains no
             queue manager; None: no input
    origins  the origin of each input: given, measured or published
    by_name  the options that select rows by name; rows without names are then not measured
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
    """Answer the question of a planner: for each queue manager of a catalog, or without one.

    given  the inputs of the user; they override measured values, and these override published
           values

    Raises RequestError for a value outside the range of the planner.
    """
    if catalog is None:
        return [answer(which, given, None)]
    rows = catalog.arrow(measuring_query(catalog, which, given)).to_pylist()
    found = measured_rows(which, rows) or [Measured("", "", "")]
    by_name = [f"--{each}" for each in catalog.inputs.selection.by_name]
    return [replace(answer(which, given, each), by_name=by_name) for each in found]


def answer(which: Planner, given: Mapping[str, Any], of: Measured | None) -> Answer:
    """Answer the question of a planner for one queue manager, or with published values."""
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
