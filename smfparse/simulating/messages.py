"""The messages on the queues: where they come from and go to, and how old they grow."""

from __future__ import annotations

import numpy as np

from smfparse.simulating.incidents import Effects
from smfparse.simulating.plan import NONE, Plan
from smfparse.synthetic import Floats, Ints

UNDER_WAY, _UNDER_WAY_MOST = 0.004, 1.3
"""Seconds of arrivals that are on their way to a getter, and messages besides."""
EXPIRY_SECONDS = 300.0
"""Seconds from one scan for expired messages to the next (EXPRYINT)."""
_KEPT_ARRIVALS = 200


class Messages:
    """What is on the queues: `depth`, between intervals of `seconds`."""

    def __init__(self, plan: Plan, seconds: float) -> None:
        self._plan, self._seconds = plan, seconds
        self.depth: Ints = np.zeros(len(plan.queue_no), np.int64)
        self._age = np.zeros(len(self.depth))
        self._arrived: list[Ints] = []
        self._by_id = plan.of_app("by_id")
        expiry = [each.expiry + EXPIRY_SECONDS for each in plan.estate.queues if each.expiry]
        ends = np.array([bool(each.expiry) for each in plan.estate.queues], bool)
        self._expiry = np.full(len(self.depth), np.inf)
        self._expiry[ends] = expiry

    def lose_plain(self, down: Floats) -> None:
        """Empty the queues of nonpersistent messages of a queue manager that ends."""
        ended = (down > 0)[self._plan.queue_manager] & ~self._plan.shared
        self.depth = np.where(ended & ~self._plan.queue_persistent, 0, self.depth)

    def flow(
        self, due: Ints, most: Floats, effects: Effects, time: int, noise: Floats
    ) -> dict[str, Ints]:
        """Return the messages that move: works in order, each with what is there for it.

        due   units that are to be done, of works with a rate
        most  units that can be done
        time  which interval of the effects it is
        """
        plan, there = self._plan, self.depth.copy()
        copied = np.where(effects.streams[time] > 0, plan.stream, NONE)[plan.edge_queue]
        came, went = np.zeros_like(there), np.zeros_like(there)
        units = np.zeros(len(plan.app), np.int64)
        put = np.zeros(len(plan.edge_work), np.int64)
        going, comes = effects.lasts[time].copy(), np.zeros(len(there), bool)
        for works, edges in plan.levels:
            source = plan.source[works]
            driven = source != NONE
            going[works] &= ~driven | comes[source]
            kept = self._kept(there, came, effects.orphaned[time], noise * comes)
            ready = self._ready(there - kept, works, due)
            wanted = np.minimum(np.where(driven, ready, due[works]), most[works])
            units[works] = np.floor(wanted).astype(np.int64)
            taken = units[works][driven]
            np.subtract.at(there, source[driven], taken)
            np.add.at(went, source[driven], taken)
            done = units[plan.edge_work[edges]] * plan.ratio[edges]
            put[edges] = np.floor(done + 0.5).astype(np.int64)
            for queue in (plan.edge_queue[edges], copied[edges]):
                known = queue != NONE
                comes[queue[known & going[plan.edge_work[edges]]]] = True
                np.add.at(there, queue[known], put[edges][known])
                np.add.at(came, queue[known], put[edges][known])
        streamed = np.where(copied != NONE, put, 0)
        moved = {"units": units, "put": put, "streamed": streamed}
        return moved | {"came": came, "went": went, "depth": there}

    def _kept(self, there: Ints, came: Ints, orphaned: Floats, noise: Floats) -> Ints:
        """Return what stays on queues: what is on its way to its getter, and what nobody asks for.

        `noise` is 0 where no more will come: then everything is taken.
        """
        lately = (came / self._seconds * UNDER_WAY + noise * _UNDER_WAY_MOST) * (noise > 0)
        lately = np.where(came > 0, lately, 0)
        stays = np.where(orphaned > 0, self.depth + orphaned * came, 0)
        kept: Ints = np.floor(np.maximum(stays, np.minimum(lately, there))).astype(np.int64)
        return np.minimum(kept, there)

    def _ready(self, left: Ints, works: Ints, due: Ints) -> Floats:
        """Return what there is for works that get: evenly, or who asks by id gets its replies."""
        plan = self._plan
        gets = plan.source[works] != NONE
        queue = np.where(gets, plan.source[works], 0)
        own = np.bincount(plan.app, due, len(plan.app_manager))[plan.app[works]]
        weight = np.where(self._by_id[works], np.maximum(own, 1), 1)
        users = np.bincount(queue, weight * gets, len(left))
        ready: Floats = np.floor(left[queue] * weight / np.maximum(users, 1)[queue])
        return ready

    def settle(self, flow: dict[str, Ints]) -> dict[str, Ints]:
        """Take over what an interval leaves, and return what expired and how old the rest is."""
        before = self.depth
        expired = self._expired(flow["depth"], flow["came"])
        self.depth = flow["depth"] - expired
        return {"expired": expired, "depth": self.depth, "age": self._ages(before, flow)}

    def _expired(self, there: Ints, came: Ints) -> Ints:
        """Return the messages that are older than their queue lets them be."""
        self._arrived = [*self._arrived[-_KEPT_ARRIVALS:], came]
        expired = np.zeros_like(there)
        for number, queue in enumerate(self._plan.estate.queues):
            if queue.expiry:
                lasts = queue.expiry / self._seconds
                recent = [int(each[number]) for each in reversed(self._arrived)]
                kept = sum(part * min(max(lasts - age, 0), 1) for age, part in enumerate(recent))
                expired[number] = max(int(there[number]) - int(kept), 0)
        return expired

    def _ages(self, before: Ints, flow: dict[str, Ints]) -> Ints:
        """Return the seconds that the oldest message of each queue is on it."""
        rate = flow["came"] / self._seconds
        behind = np.where(rate > 0, self.depth / np.maximum(rate, 1e-9), self._seconds)
        stuck = (flow["went"] == 0) & (before > 0)
        older = self._age + self._seconds
        oldest = np.minimum(np.where(stuck, older, behind), np.minimum(older, self._expiry))
        self._age = np.where(self.depth > 0, oldest, 0)
        return np.floor(self._age).astype(np.int64)
