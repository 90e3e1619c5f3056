"""Counters of the task blocks: units of work, the log, other calls, and cost of queues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from smfparse.simulating import costs
from smfparse.simulating.chunk import Chunk, Columns, spread
from smfparse.simulating.declaration import APPLICATION_KINDS, FORCED_TWICE
from smfparse.simulating.queue_work import QueueWork
from smfparse.simulating.tasks import Tasks
from smfparse.synthetic import Floats, Ints

_TWO_PHASE = (*FORCED_TWICE, "cics")
_ACTIVE, _ENDED = 0x00800000, 0x20800000
_OTHER, _CONTROL = 12.0, 3.0
_OWN = ("wtascm", "wtasot", "wtasct", "wtaspr", "wtasba")
_VERBS = ("open", "close", "get", "put", "put1")


@dataclass(frozen=True)
class Calls:
    """How many calls tasks made, and what these took: microseconds."""

    count: Any
    cpu: Any
    elapsed: Any


def works_by_application(chunk: Chunk, values: Any) -> Floats:
    """Add values of works up by application, a row an interval."""
    plan = chunk.plan
    total = np.zeros((chunk.times, len(plan.app_manager)))
    np.add.at(total.T, plan.app, values.T)
    return total


class TaskWork:
    """Rows as those of `tasks`: what their blocks count."""

    def __init__(self, chunk: Chunk, tasks: Tasks, queues: QueueWork) -> None:
        self._chunk, self._tasks, self._queues = chunk, tasks, queues
        used = queues.used
        self._draws = chunk.draws("tasks")
        self._two_phase = np.isin(tasks.kind, [APPLICATION_KINDS[each] for each in _TWO_PHASE])
        self.blocks: Ints = np.bincount(used.task, minlength=len(tasks))
        self.sums = {
            name: np.bincount(used.task, values, len(tasks))
            for name, values in queues.columns.items()
        }
        self.commits = self._commits()
        self.backouts = self._share(works_by_application(chunk, chunk.did["rolled"]))
        self.columns: Columns = {
            "wtaswqct": self.blocks,
            "wtasflag": np.where(tasks.ended, _ENDED, _ACTIVE),
            **self._units(),
            **self._log(),
            **self._others(),
            **self._pages(),
        }

    def _share(self, values: Floats) -> Ints:
        tasks = self._tasks
        total = np.rint(values[tasks.time, tasks.app])
        return spread(total, tasks.low, tasks.high)

    def _commits(self) -> Ints:
        plan, did = self._chunk.plan, self._chunk.did
        ends = np.where(plan.commit > 0, did["units"] / np.maximum(plan.commit, 1), 0)
        return self._share(works_by_application(self._chunk, np.ceil(ends)))

    def _units(self) -> Columns:
        """Return commits, prepares and backouts; the waits for the log are in them."""
        self._waits = self._log_waits()
        near = self._draws.near(len(self.commits), 0.1)
        commit = self.commits * costs.COMMIT * near
        prepared = np.where(self._two_phase, self.commits, 0)
        prepare, backout = prepared * costs.PREPARE * near, self.backouts * costs.BACKOUT * near
        first = np.where(self._two_phase, self._waits * 0.8, 0)
        return {
            "wtascmn": self.commits,
            "wtascmct": commit,
            "wtascmet": commit * 1.08 + (self._waits - first) * 1.01,
            "wtasprn": prepared,
            "wtasprct": prepare,
            "wtaspret": prepare * 1.08 + first * 1.01,
            "wtasban": self.backouts,
            "wtasbact": backout,
            "wtasbaet": backout * 2.4,
        }

    def _forces(self) -> Ints:
        """Return the writes that commits wait for: of tasks that log, two with a coordinator."""
        logs = self.sums["putjwn"] + self.sums["put1jwn"] + self.sums["getjwn"] > 0
        ends = self._share(works_by_application(self._chunk, self._chunk.did["logged_ends"]))
        twice = np.isin(self._tasks.kind, [APPLICATION_KINDS[each] for each in FORCED_TWICE])
        return np.where(logs, np.minimum(ends, self.commits) * np.where(twice, 2, 1), 0)

    def _log_waits(self) -> Floats:
        tasks = self._tasks
        wait = self._chunk.did["log_wait"][tasks.time, tasks.manager]
        waits: Floats = self._forces() * wait * self._draws.near(len(tasks), 0.05)
        return waits

    def _log(self) -> Columns:
        sums = self.sums
        forces = self._forces()
        written = sums["putjwn"] + sums["put1jwn"] + sums["getjwn"]
        return {
            "wtasjwn": written,
            "wtasjwet": sums["putjwet"] + sums["put1jwet"] + sums["getjwet"],
            "wtasjwb": self._share(
                works_by_application(self._chunk, self._chunk.did["work_bytes"])
            ),
            "wtasjcn": forces + sums["putjcn"] + sums["put1jcn"],
            "wtasjcet": self._waits + sums["putjcet"] + sums["put1jcet"],
            "wtassusn": forces + sums["putsusn"] + sums["put1susn"] + sums["getsusn"],
            "wtassuse": self._waits * 1.01
            + sums["putsuset"]
            + sums["put1suset"]
            + sums["getsuset"],
        }

    def _others(self) -> Columns:
        """Return the calls that belong to no queue: connects, and MQCTL of clients."""
        tasks = self._tasks
        fresh = np.where(tasks.started >= tasks.begin - 60_000_000, 1, 0)
        control = np.where(self._chunk.plan.app_column("stays")[tasks.app] > 0, 2, 0)
        other = 2 * fresh + tasks.ended
        return {
            "wtasotn": other,
            "wtasotct": other * _OTHER,
            "wtasotet": other * _OTHER * 1.1,
            "wtasctn": control,
            "wtasctct": control * _CONTROL,
            "wtasctet": control * _CONTROL * 1.2,
        }

    def _pages(self) -> Columns:
        """Return the pages that tasks got from the buffer manager: new ones for what they put."""
        used, plan = self._queues.used, self._chunk.plan
        own = ~used.shared
        size = costs.pages(used.size)
        new = np.where(own, (used.put + used.streamed) * size, 0)
        got = self._queues.columns["validget"] * plan.queue_pages[used.queue]
        old = np.where(own, got * 2, 0)
        rows = len(self._tasks)
        return {
            "wtasgpn": np.bincount(used.task, new, rows),
            "wtasgpo": np.bincount(used.task, old + 2 * new, rows),
        }

    def calls(self) -> Calls:
        """Return all calls of tasks, and their processor and elapsed time."""
        found = []
        for part in ("n", "ct", "et"):
            of_queues = sum(self.sums[f"{verb}{part}"] for verb in _VERBS)
            found.append(of_queues + sum(self.columns[f"{name}{part}"] for name in _OWN))
        return Calls(*found)
