"""The data of a page, gathered in one scan of a catalog: findings, charts, flows, record counts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from smfparse.advice.commands import ANY_INPUT, Commands
from smfparse.advice.findings import Finding
from smfparse.advice.running import Checked, run_rules
from smfparse.dashboard.courses import Courses, axis_of, courses
from smfparse.dashboard.declaration import Panel, definition, panels, parts
from smfparse.errors import DamageLog, RequestError
from smfparse.metrics.calendar import CALENDAR, calendar_query
from smfparse.metrics.views import words_in
from smfparse.planning.answering import answer, measured_rows, measuring_query
from smfparse.planning.plans import planner
from smfparse.planning.printing import CapacityDocument
from smfparse.summarizing.figures import Times, held_times, hold, with_macros
from smfparse.summarizing.spreading import Axis, Manager, rows_query

if TYPE_CHECKING:
    from smfparse.inputs.opening import Inputs
    from smfparse.query.catalog import Catalog
    from smfparse.rendering.document import Section
    from smfparse.summarizing.compare_printing import ComparisonDocument

_ROWS, _FLOWS, _HELD, _GROUPS = (f"page_{each}" for each in ("rows", "flows", "held", "groups"))
"""Names under which the catalog holds the results of queries."""
_COMMON = re.compile(r"^(\w+) AS MATERIALIZED", re.M)


@dataclass(frozen=True)
class Day:
    """The data of a queue manager on a page.

    findings  findings, the most serious first
    courses   courses by panel
    flows     edges of the message flow: putters and getters of each queue
    group     queue-sharing group; '': none, or unknown
    plans     output of planners, by part
    """

    times: Times
    axis: Axis
    findings: Sequence[Finding]
    courses: Mapping[str, Courses]
    flows: Sequence[Mapping[str, Any]]
    group: str = ""
    plans: Mapping[str, Sequence[Section]] = field(default_factory=dict)


@dataclass(frozen=True)
class Gathered:
    """The data of a page.

    held      numbers of records and bytes by system, queue manager, type and subtype
    damage    sentences about damage
    commands  makes the commands that show more detail
    """

    days: Sequence[Day] = ()
    checked: Checked = field(default_factory=Checked)
    held: Sequence[Mapping[str, Any]] = ()
    damage: Sequence[str] = ()
    commands: Commands = ANY_INPUT


class Earlier(NamedTuple):
    """An earlier period for comparison with the period of a page.

    days     courses of the earlier period, one `Day` per queue manager
    changes  comparison of both periods
    """

    days: Sequence[Day]
    changes: ComparisonDocument


def gathered(catalog: Catalog, damage: DamageLog, commands: Commands = ANY_INPUT) -> Gathered:
    """Gather the data of a page from the inputs of a catalog; SMF files are read once.

    damage    damage log of the inputs; it is complete after the inputs are read
    commands  makes the commands that show more detail
    """
    asked = {**_plan_queries(catalog), **with_macros(catalog, _queries())}
    checked = run_rules(catalog, also=asked)
    edges: dict[Manager, list[Mapping[str, Any]]] = {}
    for edge in catalog.held[_FLOWS].to_pylist():
        edges.setdefault(_key(edge), []).append(edge)
    groups = {_key(each): each["name"] for each in catalog.held[_GROUPS].to_pylist()}
    plans = _held_plans(catalog)
    days = [
        Day(
            times,
            axis,
            [each for each in checked.findings if each.concerns(*times.key)],
            several,
            edges.get(times.key, []),
            groups.get(times.key, ""),
            plans.get(times.key, {}),
        )
        for times, axis, several in _days(catalog)
    ]
    words = [str(each) for each in damage.details]
    return Gathered(days, checked, catalog.held[_HELD].to_pylist(), words, commands)


def gathered_panels(catalog: Catalog, some: Sequence[Panel]) -> list[Day]:
    """Return one `Day` per queue manager with the courses of some panels, without findings."""
    hold(catalog, with_macros(catalog, {CALENDAR: calendar_query(), _ROWS: _rows_query(some)}))
    return [Day(times, axis, [], several, []) for times, axis, several in _days(catalog)]


def against(before: Inputs, after: Inputs) -> Earlier:
    """Return the data of an earlier period, compared with the period of a page.

    SMF files of `before` are read three times, and SMF files of `after` once more.
    """
    from smfparse.query.catalog import Catalog
    from smfparse.summarizing.changes import TOLERANCE, compared
    from smfparse.summarizing.compare_printing import ComparisonDocument
    from smfparse.summarizing.sides import measured

    with Catalog(before) as catalog:
        days = gathered_panels(catalog, [*panels().values()])
    first, second = measured(before), measured(after)
    return Earlier(days, ComparisonDocument(compared(first, second), first, second, TOLERANCE))


def _days(catalog: Catalog) -> list[tuple[Times, Axis, Mapping[str, Courses]]]:
    times = {each.key: each for each in held_times(catalog)}
    axes = {key: axis_of(each) for key, each in times.items()}
    found = courses(catalog.held[_ROWS], axes)
    return [(each, axes[key], found[key]) for key, each in times.items()]


def _key(row: Mapping[str, Any]) -> Manager:
    return row["system"] or "", row["qmgr"] or ""


def panel_sql(panel: Panel) -> str:
    """Return the query for the rows of a panel, complete, so that users can run it."""
    return _common_of([panel]) + panel.sql.strip()


def _queries() -> dict[str, str]:
    return {
        _ROWS: _rows_query(panels().values()),
        _FLOWS: definition("common.sql") + definition("flow.sql"),
        _HELD: definition("held.sql"),
        _GROUPS: definition("groups.sql"),
    }


def _common_of(some: Iterable[Panel]) -> str:
    """Return the SQL of common.sql if one of the panels uses it, otherwise ''."""
    common = definition("common.sql")
    named = words_in(" ".join(each.sql for each in some))
    return common if named.intersection(_COMMON.findall(common)) else ""


def _rows_query(some: Collection[Panel]) -> str:
    return _common_of(some) + rows_query("panel", ((each.name, each.sql) for each in some))


def _plan_queries(catalog: Catalog) -> dict[str, str]:
    return {
        f"plan_{part.name}": measuring_query(catalog, planner(part.planner), {})
        for part in parts().values()
        if part.planner
    }


def _held_plans(catalog: Catalog) -> dict[Manager, dict[str, list[Section]]]:
    """Return the output of the planners for each queue manager, by part.

    The catalog must contain the results of `_plan_queries`. A planner is omitted if a measured
    input is missing in the data, or outside its valid range.
    """
    found: dict[Manager, dict[str, list[Section]]] = {}
    for part in parts().values():
        if not part.planner:
            continue
        which = planner(part.planner)
        rows = catalog.held[f"plan_{part.name}"].to_pylist()
        try:
            several = [answer(which, {}, each) for each in measured_rows(which, rows)]
        except RequestError:
            continue
        for each in several:
            if each.of and each.of.qmgr and not each.missing and not each.of.refused:
                shown = [*CapacityDocument(which, [each]).sections()]
                found.setdefault((each.of.system, each.of.qmgr), {})[part.name] = shown
    return found
