"""The simulation: the work of each interval, and the backlog for the next one.

A step is an interval. What depends on the interval before (depths, pages, the waits for the log)
is stepped; everything else is worked out for many intervals at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from smfparse.simulating.incidents import Effects
from smfparse.simulating.logger import Logs
from smfparse.simulating.messages import EXPIRY_SECONDS, Messages
from smfparse.simulating.plan import NONE, Plan
from smfparse.simulating.storage import Storage
from smfparse.simulating.workers import Workers
from smfparse.synthetic import Draws, Floats, Ints

_ROUNDS = 3
"""How often works and the log are worked out anew: works wait for what they load."""
_BRIEF = 1100.0
"""Microseconds that a message is on a queue whose getter waits for it."""
_MOST_WAITING = 50_000
"""Units that wait outside of MQ to be done; what is more goes elsewhere."""


class Engine:
    """Steps an estate through its intervals, and keeps what is on the queues between them."""

    def __init__(self, plan: Plan, seconds: float) -> None:
        self.plan = plan
        self.seconds = seconds
        self._logs, self._storage = Logs(plan), Storage(plan)
        self._workers, self._messages = Workers(plan, seconds), Messages(plan, seconds)
        self._waiting: Ints = np.zeros(len(plan.app), np.int64)
        self._wait = self._logs.first_wait
        self._page_wait: Floats = np.zeros(len(plan.pools))

    def run(self, demand: Ints, effects: Effects, draws: Draws) -> dict[str, Any]:
        """Return what is done in intervals: arrays with a row each.

        demand  units of work that come due
        """
        shape = (len(demand), len(self.plan.queue_no))
        noise = draws.uniform(2 * shape[0] * shape[1]).reshape(2, *shape)
        rows = [self._step(time, demand[time], effects, noise[:, time]) for time in range(shape[0])]
        did = {name: np.stack([row[name] for row in rows]) for name in rows[0]}
        return did | self._extremes(did, noise[1])

    def _step(self, time: int, demand: Ints, effects: Effects, noise: Floats) -> dict[str, Any]:
        before = self._messages.depth
        self._messages.lose_plain(effects.down[time])
        skipped = self._workers.skipped(effects.unindexed[time], self._messages.depth)
        due = demand + self._waiting
        rolled = np.floor(effects.rolled[time] * self.seconds).astype(np.int64)
        for _ in range(_ROUNDS):
            most = self._workers.capacity(time, effects, self._wait, self._page_wait, skipped)
            flow = self._messages.flow(due, most, effects, time, noise[0])
            logged = self._workers.logged(flow, rolled)
            every, forced = logged["log_bytes"] / self.seconds, logged["log_forced"] / self.seconds
            load = self._logs.load(every, forced, effects.log[time])
            self._wait = load.wait
            self._page_wait = (self._page_wait + self._pressed(flow)) / 2
        late = np.where(self.plan.source == NONE, due - flow["units"], 0)
        self._waiting = late.clip(0, _MOST_WAITING)
        flow |= self._messages.settle(flow)
        flow["wave"] = self._wave(flow, noise[1])
        points = self._logs.checkpoints(logged)
        return {
            **flow,
            **logged,
            **self._storage.step(before, flow, points["checkpoints"], self.seconds),
            **points,
            "skipped": skipped,
            "log_writes": load.writes * self.seconds,
            "log_pages": load.pages * self.seconds,
            "log_wait": load.wait,
            "rolled": rolled,
            "before": before,
        }

    def _pressed(self, flow: dict[str, Ints]) -> Floats:
        """Return what pages that are put wait for, by pool, if that is what flows."""
        none = np.zeros_like(flow["came"])
        return self._storage.page_wait(flow | {"expired": none, "wave": none}, self.seconds)

    def _wave(self, flow: dict[str, Ints], noise: Floats) -> Ints:
        """Return by how much queues were deeper within an interval than at either end of it."""
        rate = flow["came"] / self.seconds
        wave = np.floor(noise * (2 + rate * 0.05)).astype(np.int64)
        old = np.where(flow["expired"] > 0, np.floor(rate * EXPIRY_SECONDS), 0).astype(np.int64)
        return np.where(flow["came"] > 0, wave + old, 0)

    def _extremes(self, did: dict[str, Any], noise: Floats) -> dict[str, Any]:
        """Return how many messages queues had at most and at least, and how long they had them."""
        before, depth, came = did["before"], did["depth"], did["came"]
        emptied = (did["went"] > 0) & (np.minimum(before, depth) * 50 <= came)
        mean = (before + depth) / 2 / np.maximum(did["went"], 1) * self.seconds * 1e6
        brief = _BRIEF * (0.6 + 0.8 * noise)
        return {
            "latency": np.where(emptied, brief, np.maximum(mean, brief)),
            "depth_most": np.maximum(before, depth) + did["wave"],
            "depth_least": np.where(emptied, 0, np.minimum(before, depth)),
        }
