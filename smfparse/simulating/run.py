"""An estate at work: interval by interval, so that memory does not grow with the days."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import numpy as np

from smfparse.errors import RequestError
from smfparse.layout import UNIX_EPOCH, version_key
from smfparse.simulating.arrivals import demand, presence, stretches
from smfparse.simulating.chunk import Chunk, Uptime
from smfparse.simulating.declaration import Estate
from smfparse.simulating.engine import Engine
from smfparse.simulating.incidents import begins, effects, placed
from smfparse.simulating.plan import Plan
from smfparse.synthetic import Draws, Ints

CHUNK_ROWS = 2_000
"""Rows of tasks that are worked out at a time, about: 15 to 30 MB of records."""
_US = dt.timedelta(microseconds=1)
_DAY = dt.timedelta(days=1)
_FARTHEST = dt.timedelta(hours=14)
_FIRST_YEAR, _FIRST_VERSION = 1972, (8,)


class Run:
    """All intervals of an estate: what was done in them, chunk by chunk."""

    def __init__(self, estate: Estate, seed: int) -> None:
        _check_times(estate)
        self.estate, self.seed, self.plan = estate, seed, Plan(estate)
        self.incidents = placed(self.plan)
        self.length = estate.interval // _US
        self.count = max(estate.days * _DAY // estate.interval, 1)
        self._stretches = stretches(self.plan, self.incidents, self.count * self.length)
        self.start = (estate.start - estate.utc_offset - UNIX_EPOCH) // _US

    def chunks(self) -> Iterator[Chunk]:
        """Return what was done, some intervals at a time."""
        engine = Engine(self.plan, self.length / 1e6)
        tasks = sum(each.tasks for each in self.estate.applications)
        longer = self.plan.several
        several = max(CHUNK_ROWS // max(tasks, 1) // longer, 1) * longer
        for first in range(0, self.count, several):
            yield self._chunk(engine, first, min(several, self.count - first))

    def starts(self, manager: int) -> Ints:
        """Return when a queue manager starts again, microseconds since 1970, in UTC."""
        name = self.plan.names[manager]
        ends = (
            (begins(self.estate, each) - self.estate.start + each.length) // _US
            for each in self.incidents
            if each.kind == "restart" and each.target == name
        )
        return self.start + np.array(sorted(ends), np.int64)

    def _chunk(self, engine: Engine, first: int, times: int) -> Chunk:
        around = (first - 1 + np.arange(times + 2, dtype=np.float64)) * self.length
        wide = effects(self.plan, self.incidents, around, self.length)
        bent = wide.inner()
        draws = Draws(self.seed, 1 + first)
        present = presence(self.plan, around, self.length)
        bent.capacity *= present[1:-1]
        bent.lasts = present[2:] > 0
        due = demand(self.plan, around[1:-1], self.length, bent.rate, draws)
        return Chunk(
            plan=self.plan,
            did=engine.run(due, bent, draws),
            effects=bent,
            uptime=Uptime(wide.down, self.length),
            stretches=self._stretches,
            begin=self.start + around[1:-1].astype(np.int64),
            length=self.length,
            first=first,
            last=first + times == self.count,
            seed=self.seed,
        )


def _check_times(estate: Estate) -> None:
    """Raise RequestError for times and versions that records cannot be of."""
    if estate.utc_offset % dt.timedelta(minutes=15) or abs(estate.utc_offset) > _FARTHEST:
        raise RequestError(f"UTC offset {estate.utc_offset}: quarters of an hour, up to 14 hours")
    if not dt.timedelta(seconds=1) <= estate.interval <= _DAY:
        raise RequestError(f"interval {estate.interval}: from one second to 24 hours")
    acctime = estate.acctime or estate.interval
    if acctime % estate.interval or not acctime <= _DAY:
        raise RequestError(f"acctime {acctime}: a multiple of the interval, up to 24 hours")
    if estate.start.tzinfo is not None or estate.start.year < _FIRST_YEAR:
        raise RequestError(f"start {estate.start}: local time of the z/OS system, from 1972")
    if version_key(estate.version) < _FIRST_VERSION:
        raise RequestError(f"MQ version {estate.version}: scenarios are of MQ 8.0.0 or later")
