"""Findings on a page: one card per incident, one row per finding.

An incident is a serious finding, with simultaneous findings and the metrics that changed.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from smfparse.advice.commands import Commands
from smfparse.advice.findings import Finding
from smfparse.advice.wording import finding_lines, frequency, peak, span_text
from smfparse.dashboard.declaration import TROUGH, Panel
from smfparse.dashboard.gathering import Day
from smfparse.dashboard.payload import finding_panel
from smfparse.metrics.calendar import SECOND_US
from smfparse.rendering.figures import plural, short
from smfparse.rendering.html import escaped
from smfparse.vectors import Bools, Floats

_MOST_INCIDENTS = 3
"""Maximum number of incidents shown."""
_MOVES = 8
"""Maximum number of changed metrics per incident."""
_WHOLE = 0.6
"""A finding that lasts at least this share of the time is the normal state, not an incident."""
_LAST_SEVERITY, _LAST_DIAGNOSED = 3, 4
"""Least serious severities of incidents: for rules, and for diagnoses."""
_UNKNOWN = ("SMF-GAP", "SMF-LOST", "SMF-RESTART")
"""Rules that are incidents at any severity: missing or incomplete data, and restarts."""
_BEFORE_US = 2 * 3600 * SECOND_US
_LITTLE = 0.02
"""Share of the highest value of a panel that is added to both values of a ratio."""
_LEAST_RATIO = 1.25
_OVER: Mapping[str, Callable[[Floats], Any]] = {"peak": np.max, TROUGH: np.min}
"""By measure: the function that combines values of several intervals; default: average."""


@dataclass(frozen=True)
class Move:
    """The change of a value: in the two hours before an incident, and during the incident.

    The value is the highest, lowest or average value, as the measure of the panel defines.
    """

    panel: Panel
    object: str
    before: float
    during: float


@dataclass(frozen=True)
class Incident:
    """A period with a problem: main finding, simultaneous findings, and changed metrics."""

    cause: Finding
    others: Sequence[Finding]
    moves: Sequence[Move]

    @property
    def start(self) -> dt.datetime:
        """The start of the incident, local time of the system."""
        return self.cause.start

    @property
    def end(self) -> dt.datetime:
        """The end of the incident, local time of the system."""
        return self.cause.end


def incidents(day: Day) -> list[Incident]:
    """Return the incidents of a queue manager, the most serious first."""
    length = day.axis.ends[-1] - day.axis.starts[0]
    left = [each for each in day.findings if _length(each) < _WHOLE * length]
    found: list[Incident] = []
    while len(found) < _MOST_INCIDENTS:
        cause = next(filter(_is_serious, left), None)
        if cause is None:
            return found
        others = [each for each in left if each is not cause and _together(cause, each)]
        found.append(Incident(cause, others, _moves(day, cause)))
        left = [each for each in left if each is not cause and each not in others]
    return found


def _is_serious(finding: Finding) -> bool:
    last = _LAST_DIAGNOSED if finding.explains else _LAST_SEVERITY
    is_brief = finding.severity == _LAST_SEVERITY and finding.crossed <= 1 and not finding.explains
    return (finding.severity <= last and not is_brief) or finding.rule in _UNKNOWN


def _length(finding: Finding) -> int:
    return round((finding.end - finding.start).total_seconds() * SECOND_US)


def _together(one: Finding, other: Finding) -> bool:
    return one.start < other.end and other.start < one.end


def _moves(day: Day, finding: Finding) -> list[Move]:
    """Return the metrics that became much worse during a finding, one object per panel.

    The largest ratio comes first. If a panel shows completed work, a decrease also counts as worse.
    """
    begin, end = (finding.clock.moment(each) for each in (finding.start, finding.end))
    middle = (day.axis.starts + day.axis.ends) // 2
    during = (middle >= begin) & (middle < end)
    before = (middle >= begin - _BEFORE_US) & (middle < begin)
    if not during.any() or not before.any():
        return []
    worst = [max(each, key=lambda one: one[0]) for each in _ratios(day, before, during) if each]
    worst.sort(key=lambda one: -one[0])
    return [move for ratio, move in worst[:_MOVES] if ratio >= _LEAST_RATIO]


def _ratios(day: Day, before: Bools, during: Bools) -> Iterator[list[tuple[float, Move]]]:
    """Yield for each panel the moves of its objects, each with its ratio; above 1: worse."""
    for courses in day.courses.values():
        found, panel = [], courses.panel
        little = _LITTLE * max(each.highest for each in courses.several)
        for each in courses.several:
            first, second = (_value(panel, each.values[part]) for part in (before, during))
            if little > 0 and first is not None and second is not None:
                ratio = (second + little) / (first + little)
                worse = 1 / ratio if panel.measure == TROUGH else ratio
                move = Move(panel, each.object, first, second)
                found.append((max(worse, 1 / worse) if panel.is_work else worse, move))
        yield found


def _value(panel: Panel, values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return float(_OVER.get(panel.measure, np.mean)(known)) if len(known) else None


MARKS = {
    1: ("✖", "Loss or outage near"),
    2: ("▲", "Constraint"),
    3: ("◆", "Waste"),
    4: ("●", "To know"),
    5: ("○", "Note"),
}
"""Symbol and words for each severity of findings."""
WASTE = 3
"""Least serious severity that determines the status of a queue manager."""
_STRIP = 240
"""Width in pixels of the time strip of a finding."""
_MOST = 60
_EPOCH = dt.datetime(1970, 1, 1)


def incident_cards(day: Day, number: int) -> Iterator[str]:
    """Yield the cards of a queue manager's incidents; `number`: as in `manager_lines`."""
    for each in incidents(day):
        yield from _card(each, day, number)


def _card(incident: Incident, day: Day, number: int) -> Iterator[str]:
    cause = incident.cause
    span = span_text(incident.start, incident.end)
    heading = f"{escaped(span)}: {escaped(cause.name)}"
    yield f'<article class="incident c{cause.severity}"><h3>{heading}</h3>'
    yield f"<p><b>{cause.rule}</b> {_place(cause)} {_zoom(cause, day, 'Show this time')}</p>"
    yield f"<p>{escaped(_sentence(cause))}</p>"
    if cause.cause.do:
        yield f"<p><b>What to do:</b> {escaped(cause.cause.do)}</p>"
    if incident.moves:
        yield (
            "<p>Changes compared with the previous two hours (worst values of depth, age and use; "
            'otherwise averages):</p><ul class="moves">'
        )
        yield from (_move(each, cause, number) for each in incident.moves)
        yield "</ul>"
    several = [*cause.explains, *incident.others]
    if several:
        yield f"<details><summary>{plural(len(several), 'finding')} at the same time</summary><ul>"
        for each in several:
            yield f'<li class="c{each.severity}">{_titled(each)}: {escaped(_measured(each))}</li>'
        yield "</ul></details>"
    yield "</article>"


def _move(move: Move, cause: Finding, number: int) -> str:
    """Return a changed metric with a link to its chart; without scripts, to its part."""
    panel, name = move.panel, f": <bdi>{escaped(move.object)}</bdi>" if move.object else ""
    begin, end = _seconds(cause)
    arrow = "up" if move.during > move.before else "down"
    return (
        f'<li><a class="zoom" href="#m{number}-{panel.section}" data-from="{begin:.0f}" '
        f'data-to="{end:.0f}" data-panel="{panel.name}"><small>{escaped(panel.title)}{name}'
        f'</small> <b class="{arrow}">{escaped(short(move.before))} → '
        f"{escaped(short(move.during))}</b> {escaped(panel.unit)}</a></li>"
    )


def finding_rows(day: Day, commands: Commands) -> Iterator[str]:
    """Yield the rows of a queue manager's findings, in order, with time and action.

    commands  makes the commands that show more detail
    """
    yield "<h3>Findings</h3>"
    if not day.findings:
        yield "<p>The rules of <code>smfparse check</code> find nothing in this data.</p>"
        return
    yield '<ol class="findings">'
    for each in day.findings[:_MOST]:
        yield from _row(each, day, commands)
    yield "</ol>"
    more = len(day.findings) - _MOST
    if more > 0:
        yield f"<p>{more} more: <code>smfparse check</code></p>"


def _row(finding: Finding, day: Day, commands: Commands) -> Iterator[str]:
    yield (
        f'<li class="c{finding.severity}"><details><summary>{_titled(finding)} '
        f"{_strip(finding, day)}<small>{escaped(_sentence(finding))}</small></summary>"
    )
    yield f"<p>{_zoom(finding, day, 'Show in the charts')}</p><dl>"
    for word, sentence in finding_lines(finding, commands):
        if sentence:
            yield f"<dt>{word}</dt><dd>{escaped(sentence)}</dd>"
    yield "</dl></details></li>"


def _titled(finding: Finding) -> str:
    symbol, words = MARKS[finding.severity]
    return (
        f'<span class="mark" title="{words}"><span aria-hidden="true">{symbol}</span>'
        f'<span class="hidden">{words}</span></span> <b>{finding.rule}</b> {_place(finding)}: '
        f"{escaped(finding.name)}"
    )


def _measured(finding: Finding) -> str:
    return "; ".join(filter(None, (peak(finding), frequency(finding))))


def _sentence(finding: Finding) -> str:
    text = _measured(finding)
    return text[:1].upper() + text[1:]


def _place(finding: Finding) -> str:
    names = (finding.qmgr or finding.system, finding.object, finding.job)
    return " ".join(f"<bdi>{escaped(each)}</bdi>" for each in names if each)


def _seconds(finding: Finding) -> tuple[float, float]:
    begin, end = ((each - _EPOCH).total_seconds() for each in (finding.start, finding.end))
    return begin, end


def _zoom(finding: Finding, day: Day, words: str) -> str:
    """Return a button that selects the time of a finding and scrolls to the finding's chart."""
    begin, end = _seconds(finding)
    panel = finding_panel(finding, day.courses)
    return (
        f'<button class="zoom scripted" type="button" data-from="{begin:.0f}" '
        f'data-to="{end:.0f}" data-panel="{panel}">{words}</button>'
    )


def _strip(finding: Finding, day: Day) -> str:
    """Return an SVG strip of the whole time with marks at the times of a finding."""
    first, length = int(day.axis.starts[0]), int(day.axis.ends[-1] - day.axis.starts[0])
    scale = _STRIP / length
    bars = "".join(
        f'<rect x="{(run.start - first) * scale:.1f}" '
        f'width="{max((run.end - run.start) * scale, 1):.1f}" height="8"/>'
        for run in finding.runs[:200]
    )
    return (
        f'<svg class="strip" viewBox="0 0 {_STRIP} 8" width="{_STRIP}" height="8" '
        f'aria-hidden="true">{bars}</svg>'
    )
