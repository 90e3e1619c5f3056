"""From a catalog to what a page shows: one scan for rules, panels, flows and what SMF held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from smfparse.advice import Checked, Finding, run_rules
from smfparse.calendar import CALENDAR, calendar_query
from smfparse.dashboard.axes import Axis, axis_of
from smfparse.dashboard.courses import Courses, Manager, courses
from smfparse.dashboard.declaration import Panel
from smfparse.dashboard.planners import held_plans, plan_queries
from smfparse.dashboard.querying import FLOWS, GROUPS, HELD, ROWS, queries
from smfparse.errors import DamageLog
from smfparse.summarizing import Times, held_times, hold, with_macros

if TYPE_CHECKING:
    from smfparse.query import Catalog
    from smfparse.rendering import Section


@dataclass(frozen=True)
class Day:
    """What a queue manager's data shows.

    findings  ranked, the most serious first
    flows     edges: who puts to which queue, who takes from it
    group     its queue-sharing group; '': it has none, or does not say it
    plans     what planners say of it, by part
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
    """What inputs show.

    held     records and bytes by system, queue manager, type and subtype
    damage   what could not be used, in words
    inputs   as they were named, for the commands that have more
    """

    days: Sequence[Day] = ()
    checked: Checked = field(default_factory=Checked)
    held: Sequence[Mapping[str, Any]] = ()
    damage: Sequence[str] = ()
    inputs: Sequence[str] = ()


def gathered(catalog: Catalog, damage: DamageLog, inputs: Sequence[str] = ()) -> Gathered:
    """Gather what a page shows of the inputs of a catalog; SMF files are read once.

    damage  of the inputs; looked at when they are read
    inputs  as they were named
    """
    asked = {**plan_queries(catalog), **with_macros(catalog, queries())}
    checked = run_rules(catalog, also=asked)
    found = catalog.connection.table
    rows, flows, held, members = (
        found(each).to_arrow_table() for each in (ROWS, FLOWS, HELD, GROUPS)
    )
    edges: dict[Manager, list[Mapping[str, Any]]] = {}
    for edge in flows.to_pylist():
        edges.setdefault(_key(edge), []).append(edge)
    groups = {_key(each): each["name"] for each in members.to_pylist()}
    plans = held_plans(catalog)
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
        for times, axis, several in _days(catalog, rows)
    ]
    words = [str(each) for each in damage.details]
    return Gathered(days, checked, held.to_pylist(), words, inputs)


def gathered_panels(catalog: Catalog, some: Sequence[Panel]) -> list[Day]:
    """Return days that have the courses of some panels alone, and no findings."""
    hold(catalog, with_macros(catalog, {CALENDAR: calendar_query(), **queries(some)}))
    rows = catalog.connection.table(ROWS).to_arrow_table()
    return [Day(times, axis, [], several, []) for times, axis, several in _days(catalog, rows)]


def _days(catalog: Catalog, rows: Any) -> list[tuple[Times, Axis, Mapping[str, Courses]]]:
    times = {each.key: each for each in held_times(catalog)}
    axes = {key: axis_of(each) for key, each in times.items()}
    found = courses(rows, axes)
    return [(each, axes[key], found[key]) for key, each in times.items()]


def _key(row: Mapping[str, Any]) -> Manager:
    return row["system"] or "", row["qmgr"] or ""
