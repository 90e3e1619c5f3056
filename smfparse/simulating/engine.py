"""The simulation: the work of each interval, and the backlog for the next interval.

Values that depend on the previous interval (depths, pages, waits for the log) are computed interval
by interval, other values for many intervals in one operation. A work is defined in `plan`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from smfparse.simulating import costs
from smfparse.simulating.declaration import FORCED_TWICE
from smfparse.simulating.draws import Draws, Floats, Ints
from smfparse.simulating.managers import Logs
from smfparse.simulating.plan import NONE, Effects, Plan
from smfparse.simulating.storage import Storage

UNDER_WAY, _UNDER_WAY_MOST = 0.004, 1.3
"""Messages in transit to a getter: seconds of arrivals, and maximum of additional messages."""
_EXPIRY_SECONDS = 300.0
"""Seconds from one scan for expired messages to the next (EXPRYINT)."""
_KEPT_ARRIVALS = 200


class Messages:
    """The messages on queues between intervals of `seconds`.

    depth  number of messages by queue
    """

    def __init__(self, plan: Plan, seconds: float) -> None:
        self._plan, self._seconds = plan, seconds
        self.depth: Ints = np.zeros(len(plan.queue_no), np.int64)
        self._age = np.zeros(len(self.depth))
        self._arrived: list[Ints] = []
        self._by_id = plan.of_app("by_id")
        expiry = [each.expiry + _EXPIRY_SECONDS for each in plan.estate.queues if each.expiry]
        ends = np.array([bool(each.expiry) for each in plan.estate.queues], bool)
        self._expiry = np.full(len(self.depth), np.inf)
        self._expiry[ends] = expiry

    def lose_plain(self, down: Floats) -> None:
        """Remove the nonpersistent messages of queue managers that end."""
        ended = (down > 0)[self._plan.queue_manager] & ~self._plan.shared
        self.depth = np.where(ended & ~self._plan.queue_persistent, 0, self.depth)

    def flow(
        self, due: Ints, most: Floats, effects: Effects, time: int, noise: Floats
    ) -> dict[str, Ints]:
        """Return the numbers of messages put, got and streamed, and of units of work done.

        Each work gets the messages that earlier works in the flow put or did not get.

        due   number of due units of each work that has a rate
        most  maximum number of units of each work
        time  index of the interval in the effects
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
        """Return the number of messages that stay on queues: in transit, or without a getter.

        noise  random share of _UNDER_WAY_MOST; 0: no more messages arrive, so all messages are got
        """
        lately = (came / self._seconds * UNDER_WAY + noise * _UNDER_WAY_MOST) * (noise > 0)
        lately = np.where(came > 0, lately, 0)
        stays = np.where(orphaned > 0, self.depth + orphaned * came, 0)
        kept: Ints = np.floor(np.maximum(stays, np.minimum(lately, there))).astype(np.int64)
        return np.minimum(kept, there)

    def _ready(self, left: Ints, works: Ints, due: Ints) -> Floats:
        """Return the messages for each work: an equal share, or by id in proportion to requests."""
        plan = self._plan
        gets = plan.source[works] != NONE
        queue = np.where(gets, plan.source[works], 0)
        own = np.bincount(plan.app, due, len(plan.app_manager))[plan.app[works]]
        weight = np.where(self._by_id[works], np.maximum(own, 1), 1)
        users = np.bincount(queue, weight * gets, len(left))
        ready: Floats = np.floor(left[queue] * weight / np.maximum(users, 1)[queue])
        return ready

    def settle(self, flow: dict[str, Ints]) -> dict[str, Ints]:
        """Update `depth` at the end of an interval; return expired messages, depth, oldest age."""
        before = self.depth
        expired = self._expired(flow["depth"], flow["came"])
        self.depth = flow["depth"] - expired
        return {"expired": expired, "depth": self.depth, "age": self._ages(before, flow)}

    def _expired(self, there: Ints, came: Ints) -> Ints:
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
        rate = flow["came"] / self._seconds
        wait = np.where(rate > 0, self.depth / np.maximum(rate, 1e-9), self._seconds)
        stuck = (flow["went"] == 0) & (before > 0)
        older = self._age + self._seconds
        oldest = np.minimum(np.where(stuck, older, wait), np.minimum(older, self._expiry))
        self._age = np.where(self.depth > 0, oldest, 0)
        return np.floor(self._age).astype(np.int64)


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
        """Return the maximum number of units of each work.

        wait       microseconds that a commit waits for the log, by queue manager
        page_wait  microseconds that a put waits per page while other pages are written, by pool
        skipped    number of messages that a get skips before its own message, by work
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
        """Return the maximum number of messages that a channel sends, a round trip per batch."""
        channel = self._plan.channel(int(self._plan.app[work]))
        number = self._plan.channel_no[channel.name]
        batch = float(effects.batch[time, number]) or channel.batch
        trip = channel.network * effects.network[time, number] / batch
        most: float = self._seconds * 1e6 * self._tasks[work] / (channel.message + trip)
        return most * float(effects.capacity[time, work])

    def skipped(self, unindexed: Floats, depth: Ints) -> Floats:
        """Return the number of messages that a get by id skips before its own message, by work."""
        got = np.where(self._plan.source != NONE, self._plan.source, 0)
        found: Floats = np.where(self._by_id, unindexed[got] * depth[got] / 2, 0) + self._scans
        return found

    def logged(self, flow: dict[str, Ints], rolled: Ints) -> dict[str, Floats]:
        """Return bytes, records and forced writes of the logs, by queue manager.

        rolled  number of units that are backed out, by work; gets of these units are logged
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


_ROUNDS = 3
"""Number of iterations that compute work and log times, which depend on each other."""
_BRIEF = 1100.0
"""Microseconds for which a message is on a queue with a waiting getter."""
_MOST_WAITING = 50_000
"""Maximum number of units of a work that wait outside MQ; further units are dropped."""


class Engine:
    """Simulates an estate interval by interval, and keeps the state of queues between intervals."""

    def __init__(self, plan: Plan, seconds: float) -> None:
        self.plan = plan
        self.seconds = seconds
        self._logs, self._storage = Logs(plan), Storage(plan)
        self._workers, self._messages = Workers(plan, seconds), Messages(plan, seconds)
        self._waiting: Ints = np.zeros(len(plan.app), np.int64)
        self._wait = self._logs.first_wait
        self._page_wait: Floats = np.zeros(len(plan.pools))

    def run(self, demand: Ints, effects: Effects, draws: Draws) -> dict[str, Any]:
        """Return the work done: arrays by name, with one row per interval.

        demand  numbers of units that become due, by interval and work
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
        """Return the microseconds of waiting per page put in this flow, by pool."""
        none = np.zeros_like(flow["came"])
        return self._storage.page_wait(flow | {"expired": none, "wave": none}, self.seconds)

    def _wave(self, flow: dict[str, Ints], noise: Floats) -> Ints:
        """Return each queue's maximum depth minus the higher of its depths at start and end."""
        rate = flow["came"] / self.seconds
        wave = np.floor(noise * (2 + rate * 0.05)).astype(np.int64)
        old = np.where(flow["expired"] > 0, np.floor(rate * _EXPIRY_SECONDS), 0).astype(np.int64)
        return np.where(flow["came"] > 0, wave + old, 0)

    def _extremes(self, did: dict[str, Any], noise: Floats) -> dict[str, Any]:
        """Return highest and lowest depths of queues, and the time that a message is on a queue."""
        before, depth, came = did["before"], did["depth"], did["came"]
        emptied = (did["went"] > 0) & (np.minimum(before, depth) * 50 <= came)
        mean = (before + depth) / 2 / np.maximum(did["went"], 1) * self.seconds * 1e6
        brief = _BRIEF * (0.6 + 0.8 * noise)
        return {
            "latency": np.where(emptied, brief, np.maximum(mean, brief)),
            "depth_most": np.maximum(before, depth) + did["wave"],
            "depth_least": np.where(emptied, 0, np.minimum(before, depth)),
        }
