"""Findings: crossed conditions combined over intervals, with time, amount, cost and trend.

A trend is the change of a figure in the last hours, and the time until it reaches a limit.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from smfparse.advice.declaration import HOURS, Diagnosis, Rule, planner_inputs
from smfparse.advice.judging import (
    KEYS,
    Intervals,
    Judged,
    Run,
    State,
    crossed_rows,
    filled,
    held_rows,
    main_episode,
    runs,
    touches,
    trend_columns,
    value_column,
)
from smfparse.decoding.zones import Zone
from smfparse.metrics.calendar import SECOND_US, Calendar
from smfparse.planning.pages import seconds_to
from smfparse.planning.plans import LEAST_POINTS, plan_of_measured, slope

if TYPE_CHECKING:
    from smfparse.query.catalog import Catalog

MOST_JOBS = 5
"""Maximum number of jobs that a finding names."""
_SUSTAINED_SHARE = 0.5
_SUSTAINED_RUN = 3, 15 * 60
"""A run of this many intervals and seconds is sustained."""
_PEAK_SHARE = 0.1
_HOUR_US = 3600 * SECOND_US
_DIGITS = re.compile(r"([0-9]+)")


@dataclass(frozen=True)
class Figure:
    """A value and its phrase: `{}` in `text` is the place of the value; `style` is its format."""

    text: str
    value: Any
    style: str


@dataclass(frozen=True, eq=False)
class Finding:
    """The finding of a rule or a diagnosis about an object of a queue manager.

    start, end  of the episode with the most time over the limit; local time of the system
    has_namesake  whether another system has a queue manager of this name
    usual       median length of an interval, seconds
    evaluated   number of intervals in which the rule was evaluated; `seconds`: their total length
    crossed     number of crossed intervals; `seconds_crossed`: their total length
    runs        runs of consecutive crossed intervals, microseconds UTC
    intervals   the evaluated intervals, if the rule merges its findings; otherwise None
    planned     values that the planner of the rule computes from its figures
    inputs      inputs of this planner that the rule sets, by name; the planner measures the others
    explains    findings that this one explains
    jobs        responsible jobs; for a diagnosis without a responsible job, the waiting jobs
    untold      the trace that would show the waiting jobs; '': not required
    changed     limits that the site changed
    since       new, worse or as before, compared with a baseline; '': no baseline
    under       the diagnosis that explains this finding, if only the finding is shown; '': none
    """

    cause: Rule | Diagnosis
    severity: int
    system: str
    qmgr: str
    object: str
    job: str
    kind: str
    clock: Zone
    start: dt.datetime
    end: dt.datetime
    runs: Sequence[Run]
    usual: float
    has_namesake: bool = False
    evaluated: int = 0
    crossed: int = 0
    seconds: float = 0.0
    seconds_crossed: float = 0.0
    figure: Figure | None = None
    peak_at: dt.datetime | None = None
    typical: float | None = None
    total: float | None = None
    move: Move | None = None
    impact: tuple[str, float] | None = None
    evidence: Sequence[Figure] = ()
    planned: Sequence[Figure] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict)
    explains: Sequence[Finding] = ()
    jobs: Sequence[str] = ()
    untold: str = ""
    changed: Mapping[str, float] = field(default_factory=dict)
    since: str = ""
    under: str = ""
    intervals: Intervals | None = None

    def __repr__(self) -> str:
        place = " ".join(filter(None, self.key))
        return f"<{self.rule} {place}: {self.name}, {self.start} to {self.end}>"

    @property
    def rule(self) -> str:
        """The id of the rule or diagnosis."""
        return self.cause.id

    @property
    def name(self) -> str:
        """The condition, in a few words."""
        return self.cause.name

    @property
    def share(self) -> float:
        """Share of the evaluated time in which the condition is true."""
        return self.seconds_crossed / self.seconds if self.seconds else 0.0

    @property
    def main(self) -> Run:
        """The episode with the most crossed seconds."""
        return main_episode(self.runs, self.usual)

    @property
    def longest(self) -> Run | None:
        """The longest run of crossed intervals; None: not known."""
        return max(self.runs, key=lambda each: each.intervals, default=None)

    @property
    def persistence(self) -> str:
        """How the condition was distributed over time: see docs/check.md."""
        if self.crossed == 1:
            return "once"
        intervals, seconds = _SUSTAINED_RUN
        long = any(each.intervals >= intervals and each.seconds >= seconds for each in self.runs)
        if self.share >= _SUSTAINED_SHARE or long:
            return "sustained"
        if self._recurs:
            return "recurring"
        return "peak" if self.share < _PEAK_SHARE else "repeated"

    @property
    def _recurs(self) -> bool:
        """Whether the condition was true at the same hour of two days."""
        hours = set()
        for each in self.runs:
            offset = self.clock.offset(each.start) * SECOND_US
            first, last = each.start + offset, each.end + offset - 1
            hours |= set(range(first // _HOUR_US, last // _HOUR_US + 1))
        return len({each % 24 for each in hours}) < len(hours)

    @property
    def peak(self) -> float | None:
        """The worst value of the figure; None: no value."""
        return self.figure.value if self.figure else None

    @property
    def worst_is_lowest(self) -> bool:
        """Whether the lowest value of the figure is the worst value."""
        return isinstance(self.cause, Rule) and self.cause.lowest

    @property
    def key(self) -> tuple[str, str, str, str]:
        """System, queue manager, object and job; '': none."""
        return self.system, self.qmgr, self.object, self.job

    def whole(self) -> Iterator[Finding]:
        """Yield the finding and all findings that it explains."""
        yield self
        for each in self.explains:
            yield from each.whole()

    def concerns(self, system: str, qmgr: str) -> bool:
        """Whether the finding is about this queue manager, or about its system as a whole."""
        return self.system == system and self.qmgr in ("", qmgr)

    @property
    def place(self) -> tuple[Any, ...]:
        """Sort key of a finding: severity, then impact, share and names.

        The impact is the largest of the finding and of all findings that it explains.
        """
        amount = max(_in_seconds(each.impact) for each in self.whole())
        diagnosis = self.cause if isinstance(self.cause, Diagnosis) else None
        is_last = diagnosis is not None and diagnosis.is_last
        ranked = self.severity, is_last, -amount, diagnosis is None, -self.share
        return *ranked, self.rule, *map(natural, self.key)

    def local(self, microseconds: int) -> dt.datetime:
        """Return a moment in microseconds UTC as local time of the system."""
        return self.clock.local(microseconds)


def _in_seconds(impact: tuple[str, float] | None) -> float:
    """Return an impact in seconds per second, the common unit for ranking.

    A waiting message counts as 1, and a time of N hours to a limit as 1 / (1 + N).
    """
    kind, amount = impact or ("", 0.0)
    if kind == HOURS:
        return 1 / (1 + max(amount, 0.0))
    return amount / 3600 if kind == "cpu" else amount


def natural(name: str) -> list[Any]:
    """Return a sort key for names with numbers: 2 before 10."""
    parts = _DIGITS.split(name)
    return [int(part) if number % 2 else part for number, part in enumerate(parts)]


def found(
    judged: Judged, rule: Rule, states: NDArray[np.int8], catalog: Catalog
) -> Iterator[Finding]:
    """Yield the findings of a rule, one for each object for which the condition is true.

    states  states of the rule, from `Judged.states`
    """
    groups = judged.groups_of(states == State.CROSSED)
    if not len(groups):
        return
    values = judged.number(value_column(rule))
    sums = _summed(judged, rule, catalog)
    for group in groups:
        rows = judged.rows(group)
        rows = rows[(states[rows] >= 0) & (states[rows] < State.FEW_CLEAR)]
        crossed = states[rows] == State.CROSSED
        finding = _finding(judged, rule, rows, crossed, values[rows], sums[judged.keys[group]])
        if not judged.subject.has_intervals:
            finding = _by_intervals(finding, judged.calendar(rows[0]))
        if finding.share >= rule.least_share:
            yield finding


def _finding(
    judged: Judged,
    rule: Rule,
    rows: NDArray[np.int64],
    crossed: NDArray[np.bool_],
    values: NDArray[np.float64],
    sums: Mapping[str, Any],
) -> Finding:
    """Return the finding about one object or job, with its time, duration, frequency and amount.

    rows    the evaluated rows
    values  the figure in each of these rows
    sums    aggregates over the crossed rows; empty: not computed
    """
    starts, seconds = judged.starts[rows], judged.seconds[rows]
    its = runs(starts, seconds, crossed)
    usual = float(np.median(seconds))
    main = main_episode(its, usual)
    system, qmgr, name, job = judged.keys[judged.groups[rows[0]]]
    clock = judged.clock(rows[0])
    amounts = values[crossed]
    worst, known = _worst(amounts, lowest=rule.lowest), amounts[~np.isnan(amounts)]
    peak = float(amounts[worst])
    move = move_of(judged, rule, rows)
    total = sums.get("total")
    evidence = [
        Figure(each.text, _in_words(sums.get(f"e{number}"), clock), each.style)
        for number, each in enumerate(rule.evidence)
    ]
    return Finding(
        cause=rule,
        severity=int(sums.get("severity", rule.severity)),
        system=system,
        qmgr=qmgr,
        has_namesake=any(of == qmgr and on != system for on, of in judged.calendars),
        object=name,
        job=job,
        kind=judged.subject.object,
        clock=clock,
        start=clock.local(main.start),
        end=clock.local(main.end),
        runs=its,
        usual=usual,
        evaluated=len(rows),
        crossed=int(crossed.sum()),
        seconds=float(seconds.sum()),
        seconds_crossed=float(seconds[crossed].sum()),
        figure=Figure(rule.figure.text, None if np.isnan(peak) else peak, rule.figure.style),
        peak_at=clock.local(int(starts[crossed][worst])),
        typical=float(np.median(known)) if known.size else None,
        total=None if total is None else float(total),
        move=move,
        impact=_impact(rule, move, sums.get("impact")),
        evidence=[each for each in evidence if each.value is not None],
        **_planned(rule, sums),
        intervals=Intervals(starts, seconds, crossed) if rule.together else None,
    )


def _by_intervals(finding: Finding, calendar: Calendar | None) -> Finding:
    """Return a finding whose numbers and runs are of intervals, because its rows are not intervals.

    An interval is crossed if a crossed row overlaps it. The first and last second of a row are
    ignored, because class 3 records end after their interval.

    calendar  the calendar of the queue manager; None: its intervals are unknown
    """
    if calendar is None:
        return finding
    whole = np.column_stack((calendar.starts, calendar.ends))[calendar.whole]
    pairs = np.unique(whole, axis=0)  # intervals of tasks overlap
    starts, seconds = pairs[:, 0], (pairs[:, 1] - pairs[:, 0]) / SECOND_US
    inner = [_without_ends(each) for each in finding.runs]
    crossed = np.array([touches(inner, start - 1, end) for start, end in pairs.tolist()], bool)
    if not crossed.any():
        return finding
    return replace(
        finding,
        runs=runs(starts, seconds, crossed),
        usual=float(np.median(seconds)),
        evaluated=len(starts),
        crossed=int(crossed.sum()),
        seconds=float(seconds.sum()),
        seconds_crossed=float(seconds[crossed].sum()),
    )


def _without_ends(run: Run) -> Run:
    """Return a run without its first and last second; of a run of up to 2 seconds, the middle."""
    cut = min(SECOND_US, (run.end - run.start) // 2)
    return run._replace(start=run.start + cut, end=run.end - cut)


def _worst(amounts: NDArray[np.float64], *, lowest: bool) -> int:
    known = np.where(np.isnan(amounts), np.inf if lowest else -np.inf, amounts)
    return int(np.argmin(known) if lowest else np.argmax(known))


def _summed(
    judged: Judged, rule: Rule, catalog: Catalog
) -> Mapping[tuple[str, ...], Mapping[str, Any]]:
    """Return the aggregates of a rule over the intervals that crossed, by key."""
    columns = rule.aggregates() | {f"p_{name}": sql for name, sql in planner_inputs(rule).items()}
    asked = ", ".join(f"({filled(rule, sql)}) AS {name}" for name, sql in columns.items())
    keys = ", ".join(f"coalesce({each}, '') AS {each}" for each in KEYS)
    rows = held_rows(
        catalog,
        f"SELECT {keys}, {asked} FROM {judged.name} WHERE {crossed_rows(rule)} GROUP BY "
        + ", ".join(str(number + 1) for number in range(len(KEYS))),
    )
    return {
        tuple(each[name] for name in KEYS): {key: _finite(value) for key, value in each.items()}
        for each in rows
    }


def _finite(value: Any) -> Any:
    """Return a value; None for a division by 0."""
    return value if not isinstance(value, float) or math.isfinite(value) else None


def _in_words(value: Any, clock: Zone) -> Any:
    """Return a value; a datetime as local time of the system."""
    if not isinstance(value, dt.datetime):
        return value
    local = clock.local(round(1e6 * value.timestamp())) if value.tzinfo else value
    return f"{local:%Y/%m/%d %H:%M:%S}"


def _impact(rule: Rule, move: Move | None, amount: Any) -> tuple[str, float] | None:
    """Return the impact of a finding. Hours to a limit come from the trend of its figure."""
    kind, _ = rule.impact
    if kind == HOURS and rule.trend:
        amount = move.hours if move else None
    return None if amount is None else (kind, float(amount))


def _planned(rule: Rule, sums: Mapping[str, Any]) -> dict[str, Any]:
    """Return `planned` and `inputs` of a finding; empty: no planner, or an input is missing."""
    measured = {name: sums.get(f"p_{name}") for name in planner_inputs(rule)}
    plan = plan_of_measured(rule.plan, measured) if rule.planned else None
    if rule.planned is None or plan is None:
        return {}
    values = ((text, plan.get(name), style) for text, name, style in rule.planned.says)
    return {
        "planned": [Figure(*each) for each in values if each[1] is not None],
        "inputs": {name: getattr(plan.asked, name) for name in rule.planned.inputs},
    }


def seen_once(judged: Judged, rule: Rule, states: NDArray[np.int8]) -> Iterator[Finding]:
    """Yield findings about objects with a true condition only in intervals with too small samples.

    Their evidence and impact are empty. A finding without a value is omitted.

    states  states of the rule, from `Judged.states`
    """
    few = states == State.FEW_CROSSED
    if not few.any():
        return
    values = judged.number(value_column(rule))
    few &= ~np.isnan(values)
    for group in judged.groups_of(few):
        rows = judged.rows(group)
        if not (states[rows] == State.CROSSED).any():
            rows = rows[few[rows]]
            yield _finding(judged, rule, rows, few[rows], values[rows], {})


_HOUR = 3600
_RECENT = 3 * _HOUR
"""Number of seconds at the end of the data from which a trend is computed."""


class Move(NamedTuple):
    """The change of a figure.

    per_hour          change per hour, in `unit`
    unit              unit of the figure
    hours             hours until the figure reaches its limit; None: never, or no limit
    soonest, latest   90% confidence interval of `hours`; None: never
    """

    per_hour: float
    unit: str
    hours: float | None
    soonest: float | None
    latest: float | None


def move_of(judged: Judged, rule: Rule, rows: NDArray[np.int64]) -> Move | None:
    """Return the change of the figure in a rule's trend; None: no trend, or no clear change."""
    if rule.trend is None:
        return None
    value, limit = (judged.number(each)[rows] for each in trend_columns(rule))
    known = ~np.isnan(value)
    times, amounts = judged.starts[rows][known] / SECOND_US, value[known]
    if not len(times):
        return None
    recent = times >= times[-1] - _RECENT
    if recent.sum() >= LEAST_POINTS:
        times, amounts = times[recent], amounts[recent]
    found = slope(np.column_stack([times - times[0], amounts]).tolist())
    if found is None:
        return None
    steepest, flattest = sorted((found.low, found.high), key=abs, reverse=True)
    ends = [
        _hours(limit[known][-1], amounts[-1], each) for each in (found.value, steepest, flattest)
    ]
    return Move(found.value * _HOUR, rule.trend.unit, *ends)


def _hours(limit: float, now: float, growth: float) -> float | None:
    """Return the hours until a figure reaches a limit; None: never, or already reached."""
    toward = math.copysign(1, growth)
    seconds = seconds_to(toward * limit, toward * now, toward * growth)
    return seconds / _HOUR if seconds is not None and seconds > 0 else None
