"""Incidents: simultaneous findings of a queue manager, and the metrics that changed then."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from smfparse.advice.findings import Finding
from smfparse.dashboard.declaration import TROUGH, Panel
from smfparse.dashboard.gathering import Day
from smfparse.metrics.calendar import SECOND_US
from smfparse.vectors import Bools, Floats

_MOST = 3
"""Maximum number of incidents shown."""
_MOVES = 8
"""Maximum number of changed metrics per incident."""
_WHOLE = 0.6
"""Share of the time from which a finding is the normal state and not an incident."""
_LAST_SEVERITY, _LAST_DIAGNOSED = 3, 4
"""Least serious severities of incidents: of findings, and of diagnoses."""
_UNKNOWN = ("SMF-GAP", "SMF-LOST", "SMF-RESTART")
"""Rules that are incidents at any severity: missing or incomplete data, and restarts."""
_BEFORE_US = 2 * 3600 * SECOND_US
_LITTLE = 0.02
"""Share of the highest value of a panel that counts as negligible."""
_LEAST_RATIO = 1.25
_OVER: Mapping[str, Callable[[Floats], Any]] = {"peak": np.max, TROUGH: np.min}
"""Function that combines values of several intervals, by measure; default: average."""


@dataclass(frozen=True)
class Move:
    """The value of an object of a panel in the two hours before an incident, and during it.

    The value is the highest, lowest or average value, according to the measure of the panel.
    """

    panel: Panel
    object: str
    before: float
    during: float


@dataclass(frozen=True)
class Incident:
    """A period with a problem: its main finding, simultaneous findings, and changed metrics."""

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
    while len(found) < _MOST:
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
    """Return the metrics that became much worse than before a finding, one object per panel.

    The largest ratio comes first. If a panel shows completed work, a decrease is worse too.
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
    """Yield for each panel the ratios and moves of its objects, if the ratio is large enough."""
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
