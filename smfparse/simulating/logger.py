"""The log of a queue manager: number and size of writes, and the wait of a commit.

A log writes one I/O after the other. What is committed meanwhile goes with the next one. So F
forced writes a second that take t seconds each become F / (1 + F t) writes, and the busier the log
is, the more pages each has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from smfparse.simulating.costs import (
    MOST_PAGES,
    USED_OF_CI,
    ZHYPERWRITE_LARGE,
    ZHYPERWRITE_PAGES,
    ZHYPERWRITE_SMALL,
)
from smfparse.simulating.declaration import QueueManager
from smfparse.simulating.plan import Plan
from smfparse.synthetic import Floats, Ints

_ROUNDS = 12
_IDLE_WRITES = 0.2
"""Writes a second of a queue manager that has nothing to do."""


@dataclass(frozen=True)
class LogLoad:
    """What logs do in an interval, a value a queue manager.

    writes, pages  a second: of one copy; pages written again because they were not full included
    wait           microseconds that a commit waits
    """

    writes: Floats
    pages: Floats
    wait: Floats


class Devices:
    """What the logs of queue managers are on."""

    def __init__(self, managers: Sequence[QueueManager]) -> None:
        logs = [each.log for each in managers]
        self.io = np.array([log.io for log in logs])
        self._page = np.array([log.page / log.stripes for log in logs])
        self._parallel = np.array([log.zhyperwrite == "enabled" for log in logs])

    def took(self, pages: Floats, managers: Ints) -> Floats:
        """Return the microseconds of a write of some pages to the log of each of some managers."""
        small = np.where(pages <= ZHYPERWRITE_PAGES, ZHYPERWRITE_SMALL, ZHYPERWRITE_LARGE)
        share = np.where(self._parallel[managers], small, 1.0)
        time: Floats = (self.io[managers] + self._page[managers] * pages) * share
        return time


class Logs:
    """The logs of all queue managers."""

    def __init__(self, plan: Plan) -> None:
        logs = [each.log for each in plan.estate.queue_managers]
        self._devices = Devices(plan.estate.queue_managers)
        self._every = np.arange(len(logs))
        self.first_wait: Floats = self._devices.io * 1.2
        self._load = np.array([log.load for log in logs])
        self._size = np.array([log.pages for log in logs])
        self._records, self._pages = np.zeros(len(logs)), np.zeros(len(logs))

    def load(self, logged: Floats, forced: Floats, slower: Floats) -> LogLoad:
        """Return what the logs do.

        logged  bytes a second
        forced  writes a second that tasks wait for
        slower  factor on the times of the device
        """
        new = logged / USED_OF_CI
        asked = forced + _IDLE_WRITES
        pages = np.ones(len(asked))
        took = self._devices.took(pages, self._every) * slower
        for _ in range(_ROUNDS):
            writes = asked / (1 + asked * took / 1e6)
            pages = np.minimum(new / writes + 1, MOST_PAGES)
            took = (took + self._devices.took(pages, self._every) * slower) / 2
        full = new * took / 1e6 / MOST_PAGES
        writes = np.where(full > 1, 1e6 / took, np.maximum(writes, new / MOST_PAGES))
        busy = np.minimum(writes * took / 1e6, 1)
        wait = took * (1 + busy / 2) * np.square(np.square(np.maximum(full, 1)))
        return LogLoad(writes, new + writes, wait)

    def checkpoints(self, logged: dict[str, Floats]) -> dict[str, Floats]:
        """Return checkpoints, and how often logs were full and the next one was taken."""
        self._records += logged["log_records"]
        self._pages += logged["log_bytes"] / USED_OF_CI
        points, switches = self._records // self._load, self._pages // self._size
        self._records -= points * self._load
        self._pages -= switches * self._size
        return {"checkpoints": points + switches, "switches": switches}
