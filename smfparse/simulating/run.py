"""From an estate to a dump, chunk by chunk, so memory does not grow with the number of days.

The load varies over the day, the week and the month, and grows over the year.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from smfparse.errors import RequestError
from smfparse.layout.clocks import UNIX_EPOCH, US_PER_SECOND
from smfparse.layout.members import version_key
from smfparse.schemas import REGISTRY
from smfparse.simulating.accounting import Accounting
from smfparse.simulating.channels import Movers
from smfparse.simulating.chunk import Chunk, Reporters
from smfparse.simulating.declaration import Application, Curve, Estate, Incident, check_times
from smfparse.simulating.draws import Draws, Floats, Ints
from smfparse.simulating.dump import Numbers, write_dump
from smfparse.simulating.engine import Engine
from smfparse.simulating.incidents import effects, placed, times_of, window
from smfparse.simulating.managers import Managers
from smfparse.simulating.plan import NONE, Plan
from smfparse.simulating.queue_statistics import QueueStatistics
from smfparse.simulating.records import Envelope, RecordParts, is_written
from smfparse.simulating.storage import storage_records

_US = dt.timedelta(microseconds=1)
_DAY_US = dt.timedelta(days=1) // _US
_EVEN, _UNEVEN = 0.02, 0.1
"""Maximum deviation of arrivals, as a share of their mean: from programs, and from people."""
_SATURDAY = 5
_LAST_DAYS = 28
"""First day of the month that counts as the end of the month."""
CHUNK_ROWS = 2_000
"""Approximate number of task rows of a chunk: 15 to 30 MB of records."""
_DAY = dt.timedelta(days=1)
_VERSION, _FIRST_VERSION = re.compile(r"\d+(\.\d+){0,2}"), (8,)
_FIRST_OF_KIND = 2_000
"""Number of the first record of each kind: as if the queue manager had run for days."""


def demand(plan: Plan, begin: Floats, length: float, factor: Floats, draws: Draws) -> Ints:
    """Return the units that become due, by interval and work; 0 for works without a rate.

    begin   starts of intervals, microseconds from the start of the estate
    factor  factors on the rates, by interval and work
    """
    estate = plan.estate
    middle = begin + length / 2
    share = {name: _level(curve, estate, middle) for name, curve in estate.curves.items()}
    growth = 1 + estate.growth * middle / _DAY_US
    units = np.zeros((len(begin), len(plan.app)), np.int64)
    for work in np.flatnonzero(plan.source == NONE):
        app = estate.applications[plan.app[work]]
        curve = share.get(app.curve, np.ones(len(begin)))
        present = overlap(app, estate, begin, length)
        noise = draws.near(len(begin), _deviation(estate, app)) * draws.near(len(begin), _EVEN)
        mean = plan.rate[work] * curve * growth * present * factor[:, work] * length / 1e6
        units[:, work] = np.floor(mean * noise + draws.uniform(len(begin)))
    return units


def _deviation(estate: Estate, app: Application) -> float:
    """Return the maximum deviation of arrivals: _EVEN for a constant curve, from a program."""
    curve = estate.curves.get(app.curve)
    return _EVEN if curve is None or len(set(curve.shares)) == 1 else _UNEVEN


def presence(plan: Plan, begin: Floats, length: float) -> Floats:
    """Return the share of each interval in which the application of each work runs."""
    estate = plan.estate
    shares = [overlap(each, estate, begin, length) for each in estate.applications]
    present: Floats = np.stack(shares, axis=1)[:, plan.app]
    return present


def overlap(app: Application, estate: Estate, begin: Floats, length: float) -> Floats:
    """Return the share of each interval in which an application runs."""
    if not app.window:
        return np.ones(len(begin))
    first, last = window(app)
    at = (begin + since_midnight(estate)) % _DAY_US
    share: Floats = np.clip(np.minimum(at + length, last) - np.maximum(at, first), 0, None) / length
    return share


def since_midnight(estate: Estate) -> float:
    """Return the time of day at which an estate starts, in microseconds."""
    return (estate.start - estate.start.replace(hour=0, minute=0, second=0, microsecond=0)) / _US


def _level(curve: Curve, estate: Estate, middle: Floats) -> Floats:
    at = middle + since_midnight(estate)
    hours = at % _DAY_US / _DAY_US * 24
    share: Floats = np.interp(hours, curve.hours, curve.shares, period=24)
    first = estate.start.date()
    days = [first + dt.timedelta(days=int(day)) for day in at // _DAY_US]
    weekend = np.array([day.weekday() >= _SATURDAY for day in days])
    last = np.array([day.day >= _LAST_DAYS for day in days])
    return share * np.where(weekend, curve.weekend, 1) * np.where(last, curve.month_end, 1)


def stretches(plan: Plan, incidents: list[Incident], length: int) -> list[Ints]:
    """Return for each application the stretches of time in which the application is connected.

    Each stretch is a row (from, to), in microseconds from the start of the estate.

    length  length of the simulated time, microseconds
    """
    apps = plan.estate.applications
    return [np.array(_connected(each, plan.estate, incidents, length), np.int64) for each in apps]


def _connected(
    app: Application, estate: Estate, incidents: list[Incident], length: int
) -> list[tuple[int, int]]:
    """Return the stretches of an application, without times at which an incident ends it."""
    found = _planned(app, estate, length)
    for each in incidents:
        ends = {"restart": app.queue_manager, "backlog": app.name}
        if ends.get(each.kind) == each.target:
            down, up = times_of(estate, each)
            parts = [part for a, b in found for part in ((a, min(b, down)), (max(a, up), b))]
            found = [(a, b) for a, b in parts if a < b]
    return found or [(0, 0)]


def _planned(app: Application, estate: Estate, length: int) -> list[tuple[int, int]]:
    """Return the planned stretches of an application: the whole time, or its window of each day."""
    if not app.window:
        return [(0, length)]
    first, last = window(app)
    early = since_midnight(estate)
    days = range(-int(early > 0), int(length // _DAY_US) + 2)
    found = [
        (max(int(day * _DAY_US + first - early), 0), min(int(day * _DAY_US + last - early), length))
        for day in days
    ]
    return [(begin, end) for begin, end in found if begin < end]


class Run:
    """The work in all intervals of an estate, chunk by chunk."""

    def __init__(self, estate: Estate, seed: int) -> None:
        _check(estate)
        self.estate, self.seed, self.plan = estate, seed, Plan(estate)
        self.incidents = placed(self.plan)
        self.length = estate.interval // _US
        self.count = max(estate.days * _DAY // estate.interval, 1)
        self._stretches = stretches(self.plan, self.incidents, self.count * self.length)
        self.start = (estate.start - estate.utc_offset - UNIX_EPOCH) // _US

    def chunks(self) -> Iterator[Chunk]:
        """Yield the chunks: each has a whole number of accounting intervals."""
        engine = Engine(self.plan, self.length / 1e6)
        tasks = sum(each.tasks for each in self.estate.applications)
        longer = self.plan.several
        several = max(CHUNK_ROWS // max(tasks, 1) // longer, 1) * longer
        for first in range(0, self.count, several):
            yield self._chunk(engine, first, min(several, self.count - first))

    def starts(self, manager: int) -> Ints:
        """Return the times at which a queue manager restarts, microseconds since 1970, in UTC."""
        name = self.plan.names[manager]
        ends = [
            times_of(self.estate, each)[1]
            for each in self.incidents
            if each.kind == "restart" and each.target == name
        ]
        return self.start + np.array(sorted(ends), np.int64)

    def _chunk(self, engine: Engine, first: int, times: int) -> Chunk:
        around = (first - 1 + np.arange(times + 2, dtype=np.float64)) * self.length
        wide = effects(self.plan, self.incidents, around, self.length)
        bent = wide.inner()
        draws = Draws(self.seed, 1 + first)
        present = presence(self.plan, around, self.length)
        bent.capacity *= present[1:-1]
        bent.lasts = present[2:] > 0
        bent.rate *= 1 - bent.down[:, self.plan.manager]
        due = demand(self.plan, around[1:-1], self.length, bent.rate, draws)
        return Chunk(
            plan=self.plan,
            did=engine.run(due, bent, draws),
            effects=bent,
            down=wide.down,
            stretches=self._stretches,
            begin=self.start + around[1:-1].astype(np.int64),
            length=self.length,
            first=first,
            seed=self.seed,
        )


def _check(estate: Estate) -> None:
    check_times(estate.start, estate.utc_offset, estate.interval)
    acctime = estate.acctime or estate.interval
    if acctime % estate.interval or not acctime <= _DAY:
        raise RequestError(f"acctime {acctime}: must be a multiple of the interval, up to 24 hours")
    known = _VERSION.fullmatch(estate.version) is not None
    if not known or version_key(estate.version) < _FIRST_VERSION:
        raise RequestError(f"MQ version {estate.version}: scenarios require MQ 8.0.0 or later")


def simulate(target: Path | BinaryIO, estate: Estate, seed: int = 1) -> None:
    """Write the SMF dump of an estate; the same estate and seed give the same bytes.

    Raises RequestError for an impossible estate, OutputError if the dump cannot be written.
    """
    run = Run(estate, seed)
    systems = [each.system for each in estate.queue_managers]
    plan = run.plan
    envelope = Envelope(systems, plan.names, estate.version, plan.offset, run.length, estate.group)
    numbers = Numbers([run.starts(each) for each in range(len(systems))], _FIRST_OF_KIND)
    most = envelope.most_queues()
    batches = (numbers.numbered([*_kinds(chunk, most)]) for chunk in run.chunks())
    end = run.start + run.count * run.length + US_PER_SECOND
    write_dump(target, envelope, run.start, end, batches)


def _kinds(chunk: Chunk, most: int) -> Iterator[RecordParts]:
    """Yield the records of a chunk, without blocks that this MQ version does not write."""
    reporters, accounting = Reporters(chunk), Accounting(chunk, most)
    version = chunk.plan.estate.version
    for kind in (
        *Managers(chunk, reporters, accounting).records(),
        *QueueStatistics(chunk, reporters, accounting).records(),
        *storage_records(chunk, reporters, accounting),
        *Movers(chunk, reporters, accounting).records(),
        *accounting.records(),
    ):
        known = REGISTRY[kind.record]
        blocks = {
            number: of
            for number, of in kind.blocks.items()
            if is_written(kind.record, known[number], version)
        }
        if blocks and len(kind.writers.when):
            yield replace(kind, blocks=blocks)
