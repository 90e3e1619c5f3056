"""Capacity and cost of applications: the time of a unit of work, and its log bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from smfparse.simulating import costs
from smfparse.simulating.declaration import FORCED_TWICE
from smfparse.simulating.incidents import Effects
from smfparse.simulating.plan import NONE, Plan
from smfparse.synthetic import Floats, Ints


class Workers:
    """The tasks of all works, in intervals of `seconds`."""

    def __init__(self, plan: Plan, seconds: float) -> None:
        self._plan, self._seconds = plan, seconds
        apps = [plan.estate.applications[app] for app in plan.app]
        got = np.where(plan.source != NONE, plan.source, 0)
        put = costs.put_cpu(plan.size[plan.edge_work], plan.shared[plan.edge_queue]) * plan.ratio
        get = costs.GET_SHARE * costs.put_cpu(plan.queue_size[got], plan.shared[got])
        get = np.where(plan.source == NONE, 0, get)
        own = np.bincount(plan.edge_work, put, len(plan.app)) + get
        self._took = plan.of_app("think") + own + costs.COMMIT
        lasting = (plan.source != NONE) & plan.queue_persistent[got] & ~plan.wire[got]
        puts = np.bincount(plan.edge_work, plan.ratio, len(plan.app))
        self._logs: Any = lasting | plan.persistent & (puts > 0)
        logged = plan.size[plan.edge_work] + costs.RECORD_BYTES["put"]
        kept = plan.persistent[plan.edge_work] & ~plan.wire[plan.edge_queue]
        self._put_bytes = np.where(kept, logged, 0)
        self._get_bytes = np.where(lasting, costs.RECORD_BYTES["get"], 0)
        self._forces = np.where([each.kind in FORCED_TWICE for each in apps], 2, 1)
        self._tasks = plan.of_app("tasks").astype(np.float64)
        self._by_id = plan.of_app("by_id")
        self._pages = costs.pages(plan.size[plan.edge_work]) * plan.ratio
        listed = costs.CF_SYNC / costs.LIST_ENTRIES
        self._skips = np.where(plan.shared[got], listed, costs.SKIPPED)
        self._scans = plan.of_app("scans")
        self._clients = plan.of_app("stays") > 0
        self._batched = np.flatnonzero([plan.batched(int(app)) for app in plan.app])

    def capacity(
        self, time: int, effects: Effects, wait: Floats, page_wait: Floats, skipped: Floats
    ) -> Floats:
        """Return how many units the tasks of each work can do.

        wait       microseconds that a commit waits for the log, by queue manager
        page_wait  microseconds that a page which is put waits for others to be written, by pool
        skipped    messages that a get looks at before it finds its own
        """
        plan = self._plan
        stored = np.append(page_wait, 0)[plan.queue_pool[plan.edge_queue]] * self._pages
        waited = wait[plan.manager] * self._forces / np.maximum(plan.commit, 1)
        took = self._took + skipped * self._skips + np.where(self._logs, waited, 0)
        took = took + np.bincount(plan.edge_work, stored, len(plan.app))
        most = self._tasks * self._seconds * 1e6 / took * effects.capacity[time]
        most = np.maximum(most - effects.rolled[time] * self._seconds, 0)
        for work in self._batched.tolist():
            most[work] = min(most[work], self._sent(work, time, effects))
        up = 1 - effects.down[time, plan.manager]
        can: Floats = np.where(self._clients, np.inf, most * up)
        return np.where(up > 0, can, 0)

    def _sent(self, work: int, time: int, effects: Effects) -> float:
        """Return how many messages a channel can send, with a round trip for every batch."""
        channel = self._plan.channel(int(self._plan.app[work]))
        number = self._plan.channel_no[channel.name]
        batch = float(effects.batch[time, number]) or channel.batch
        trip = channel.network * effects.network[time, number] / batch
        most: float = self._seconds * 1e6 * self._tasks[work] / (channel.message + trip)
        return most * float(effects.capacity[time, work])

    def skipped(self, unindexed: Floats, depth: Ints) -> Floats:
        """Return how many messages a get by id looks at before it finds its own, by work."""
        got = np.where(self._plan.source != NONE, self._plan.source, 0)
        found: Floats = np.where(self._by_id, unindexed[got] * depth[got] / 2, 0) + self._scans
        return found

    def logged(self, flow: dict[str, Ints], rolled: Ints) -> dict[str, Floats]:
        """Return the bytes and records that queue managers log, and the writes that are forced.

        `rolled` is the units that are backed out: their gets were logged.
        """
        plan = self._plan
        works, managers = len(plan.app), len(plan.names)
        copies = flow["put"] + flow["streamed"]
        put = np.bincount(plan.edge_work, copies * self._put_bytes, works)
        records = np.bincount(plan.edge_work, copies * (self._put_bytes > 0), works)
        units = np.where(self._logs, flow["units"], 0)
        ends = np.where(plan.commit > 0, units / np.maximum(plan.commit, 1), 0)
        alone = (plan.commit == 0)[plan.edge_work] & (self._put_bytes > 0)
        single = np.bincount(plan.edge_work, np.where(alone, flow["put"], 0), works)
        got = flow["units"] + rolled
        of_work = put + got * self._get_bytes + ends * costs.RECORD_BYTES["unit"]
        records = records + got * (self._get_bytes > 0) + 2 * ends
        return {
            "logged_ends": np.ceil(ends),
            "work_bytes": of_work,
            "log_bytes": np.bincount(plan.manager, of_work, managers),
            "log_records": np.bincount(plan.manager, records, managers),
            "log_forced": np.bincount(plan.manager, ends * self._forces + single, managers),
        }
