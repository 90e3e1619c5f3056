"""When the tasks of applications are connected: from when to when, without outages."""

from __future__ import annotations

import datetime as dt

import numpy as np

from smfparse.simulating.arrivals import DAY_US, since_midnight, window
from smfparse.simulating.declaration import Application, Incident
from smfparse.simulating.incidents import begins
from smfparse.simulating.plan import Plan
from smfparse.synthetic import Ints

_US = dt.timedelta(microseconds=1)


def stretches(plan: Plan, incidents: list[Incident], length: int) -> list[Ints]:
    """Return for each application the stretches in which it is connected.

    length  of the whole time, microseconds

    They are rows of two: microseconds from the start of the estate.
    """
    return [
        np.array(_without(_planned(each, plan, length), _outages(each, plan, incidents)), np.int64)
        for each in plan.estate.applications
    ]


def _planned(app: Application, plan: Plan, length: int) -> list[tuple[int, int]]:
    """Return when an application is to run: all the time, or in its window of every day."""
    if not app.window:
        return [(0, length)]
    first, last = window(app)
    early = since_midnight(plan.estate)
    days = range(-int(early > 0), int(length // DAY_US) + 2)
    found = [
        (max(int(day * DAY_US + first - early), 0), min(int(day * DAY_US + last - early), length))
        for day in days
    ]
    return [(begin, end) for begin, end in found if begin < end]


def _outages(app: Application, plan: Plan, incidents: list[Incident]) -> list[tuple[int, int]]:
    """Return when an application, or its queue manager, is down."""
    found = []
    for each in incidents:
        names = {"restart": app.queue_manager, "backlog": app.name}
        if names.get(each.kind) == each.target:
            begin = (begins(plan.estate, each) - plan.estate.start) // _US
            found.append((begin, begin + each.length // _US))
    return found


def _without(
    planned: list[tuple[int, int]], outages: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return stretches without those of other ones."""
    for down, up in outages:
        parts = [part for a, b in planned for part in ((a, min(b, down)), (max(a, up), b))]
        planned = [(a, b) for a, b in parts if a < b]
    return planned or [(0, 0)]
