"""The payload: the data that the scripts of a page draw, as a dict of names and rounded numbers."""

from __future__ import annotations

import base64
import gzip
import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from smfparse.advice.commands import Commands
from smfparse.dashboard.courses import MOST_POINTS, Course, Courses, Thinned
from smfparse.dashboard.declaration import TROUGH, Panel, panel_of, panels
from smfparse.dashboard.gathering import Day, Gathered, panel_sql
from smfparse.metrics.calendar import SECOND_US
from smfparse.rendering.figures import visible
from smfparse.summarizing.spreading import Axis
from smfparse.vectors import Floats

_MOST_LINES = {"lines": 8, "heat": 24}
"""Maximum number of objects drawn, by shape of the panel."""
_DIGITS, _EDGE_DIGITS = 4, 3
"""Number of digits of a value, and of the ends of a band, which are drawn but not printed."""


def payload(found: Gathered, before: Sequence[Day] = ()) -> dict[str, Any]:
    """Return the data of all queue managers for the scripts.

    before  days of an earlier period, drawn in the background of the charts

    Times are seconds since 1970, local time of the system; `offset` is local time minus UTC.
    """
    shown = {name for day in found.days for name in day.courses}
    earlier = {day.times.key: day for day in before}
    return {
        "panels": {
            name: _panel(panel, found.commands) for name, panel in panels().items() if name in shown
        },
        "days": [_day(each, earlier.get(each.times.key)) for each in found.days],
    }


def packed(facts: Mapping[str, Any]) -> str:
    """Return a payload as JSON, compressed by gzip, in base64. Equal payloads give equal texts."""
    text = json.dumps(facts, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()


def finding_panel(finding: Any, there: Mapping[str, Courses]) -> str:
    """Return the name of the panel for a finding, or for one that it explains; '': no panel."""
    explained = [each.rule for each in finding.explains]
    names = [finding.rule, *explained]
    return next((name for each in names if (name := panel_of([each])) in there), "")


def clock(day: Day, microseconds: int) -> float:
    """Return microseconds since 1970, UTC, as seconds since 1970, local time of the system."""
    return round(microseconds / SECOND_US + day.times.offset, 2)


def _panel(panel: Panel, commands: Commands) -> dict[str, Any]:
    return {
        "title": panel.title,
        "unit": panel.unit,
        "formula": panel.formula,
        "shape": panel.shape,
        "limit": panel.limit_value,
        "whole": panel.whole,
        "limit_of": panel.limit.partition(".")[0],
        "report": panel.report,
        "sql": visible(f"{commands.called('sql')} ") + _quoted(panel_sql(panel)),
    }


def _quoted(sql: str) -> str:
    """Return a query as a shell argument, in double quotes if possible."""
    return shlex.quote(sql) if any(each in sql for each in '"$`\\!') else f'"{sql}"'


def _day(day: Day, before: Day | None) -> dict[str, Any]:
    thin = Thinned.of(day.axis, MOST_POINTS)
    facts = {
        **_intervals(day, thin.axis),
        "qmgr": visible(day.times.qmgr),
        "system": visible(day.times.system),
        "offset": day.times.offset,
        "thinned": thin.is_thinner,
        "restarts": _restarts(day),
        "findings": [
            [*(clock(day, each) for each in (run.start, run.end)), finding.severity]
            for finding in day.findings
            for run in finding.runs[:200]
        ],
        "charts": {
            name: _chart(each, drawn_courses(each, before), thin, day)
            for name, each in day.courses.items()
        },
    }
    if before is not None:
        facts["before"] = _before(before, day)
    return facts


def _intervals(day: Day, axis: Axis) -> dict[str, Any]:
    first = clock(day, int(axis.starts[0]))
    begins, ends = ((each - axis.starts[0]) / SECOND_US for each in (axis.starts, axis.ends))
    return {"first": first, "start": _plain(begins, 2), "end": _plain(ends, 2)}


def _plain(values: Floats, digits: int) -> list[float | int]:
    return [*map(_short, np.round(values, digits).tolist())]


def _short(number: float) -> float | int:
    """Return a number in the form with the fewest characters in JSON."""
    return int(number) if number == int(number) else number


def _restarts(day: Day) -> list[float]:
    """Return the starts of the intervals that follow a restart of the queue manager."""
    calendar = day.times.calendar
    return [clock(day, each) for each in calendar.starts[calendar.restarts].tolist()]


def drawn_courses(courses: Courses, before: Day | None) -> Sequence[Course]:
    """Return the courses to draw, without courses that are always 0, unless all are."""
    if before is not None or courses.panel.measure == TROUGH:
        return courses.several
    return [each for each in courses.several if not each.is_zero] or courses.several


def _chart(courses: Courses, drawn: Sequence[Course], thin: Thinned, day: Day) -> dict[str, Any]:
    most = _MOST_LINES[courses.panel.shape]
    lines = []
    for each in drawn[:most]:
        line: dict[str, Any] = {"name": visible(each.object) or courses.panel.title}
        if thin.is_thinner:
            line["v"] = rounded(thin.means(each.values, day.axis.seconds))
            line["lo"], line["hi"] = (
                rounded(edge, _EDGE_DIGITS) for edge in thin.extremes(each.values)
            )
        else:
            line["v"] = rounded(each.values)
        lines.append(line)
    zero = len(courses.several) - len(drawn)
    return {"lines": lines, "more": max(len(drawn) - most, 0), "zero": zero}


def _before(before: Day, day: Day) -> dict[str, Any]:
    """Return the earlier courses of the drawn objects, moved by whole days to the time of `day`."""
    thin = Thinned.of(before.axis, MOST_POINTS)
    facts = _intervals(before, thin.axis)
    apart = clock(day, int(day.axis.starts[0])) - facts["first"]
    facts["first"] += round(apart / 86400) * 86400
    charts = {}
    for name, courses in day.courses.items():
        if name in before.courses and courses.panel.shape == "lines":
            drawn = {each.object for each in courses.several[: _MOST_LINES["lines"]]}
            charts[name] = {
                visible(each.object) or courses.panel.title: rounded(
                    thin.means(each.values, before.axis.seconds)
                )
                for each in before.courses[name].several
                if each.object in drawn
            }
    return {**facts, "charts": charts}


def rounded(values: Floats, digits: int = _DIGITS) -> list[float | int | None]:
    """Return values rounded to `digits` digits; whole parts are complete. NaN becomes None."""
    known = np.isfinite(values)
    sizes = np.abs(np.where(known & (values != 0), values, 1))
    scale = 10.0 ** np.clip(digits - 1 - np.floor(np.log10(sizes)), 0, 12)
    found = np.round(np.where(known, values, 0) * scale) / scale
    numbers: list[float | int | None] = found.tolist()
    for at in np.flatnonzero(found == np.trunc(found)).tolist():
        numbers[at] = int(found[at])
    for at in np.flatnonzero(~known).tolist():
        numbers[at] = None
    return numbers
