"""Channels at work: a row for each instance and interval, of the task that works for it."""

from __future__ import annotations

import numpy as np

from smfparse.simulating.accounting import Accounting
from smfparse.simulating.chunk import Chunk, Reporters
from smfparse.simulating.declaration import CHANNEL_TYPES
from smfparse.simulating.plan import NONE
from smfparse.synthetic import Bools, Floats, Ints, numbered

CLIENT = CHANNEL_TYPES["server-connection"]
_FIRST_ON_TASK = 10
"""Channels that a dispatcher takes before the next one gets any, if MAXCHL allows."""


class Instances:
    """Rows interval by interval, as queue managers report them.

    row         which report it belongs to
    task        row of its task
    channel     number of the channel, `type` its type
    moved       messages that it carried; `bytes` and `lasting`: persistent ones, of them
    dispatcher  which one runs it
    """

    def __init__(self, chunk: Chunk, reporters: Reporters, accounting: Accounting) -> None:
        self._chunk, self._reporters, self._tasks = chunk, reporters, accounting.tasks
        plan, tasks = chunk.plan, accounting.tasks
        apps, channels = plan.estate.applications, plan.estate.channels
        works = np.array([each.kind == "channel" for each in apps])
        numbers = np.array([plan.channel_no.get(each.channel, 0) for each in apps])
        mine = np.flatnonzero(works[tasks.app])
        row = reporters.row_of[tasks.time[mine], tasks.manager[mine]]
        mine, row = mine[row >= 0], row[row >= 0]
        names = np.argsort(np.argsort([each.name for each in apps]))
        order = np.lexsort((tasks.number[mine], names[tasks.app[mine]], row))
        self.task: Ints = mine[order]
        self.row: Ints = row[order]
        self.app: Ints = tasks.app[self.task]
        self.channel: Ints = numbers[self.app]
        kinds = np.array([CHANNEL_TYPES[each.type] for each in channels] or [0])
        self.type: Ints = kinds[self.channel]
        self.brief: Bools = tasks.brief[self.task]
        sums = accounting.work.sums
        self.moved = (sums["validget"] + sums["putn"] + sums["put1n"])[self.task]
        self.bytes = (sums["getbytes"] + sums["putbytes"])[self.task]
        lasting = sums["getpmsg"] + sums["putpmsg"] + sums["put1pmsg"]
        self.lasting = lasting[self.task]
        self.dispatcher = self._dispatcher()

    def _dispatcher(self) -> Ints:
        """Return the dispatcher of each: the first ones are filled one after the other."""
        count = np.bincount(self.row, minlength=len(self._reporters))
        channels, dispatchers = (
            self._reporters.limit(name)[self.row] for name in ("max_channels", "dispatchers")
        )
        size = np.clip(channels // dispatchers, 1, _FIRST_ON_TASK)
        found: Ints = numbered(count) // size % dispatchers
        return found

    def of_channel(self, name: str) -> Floats:
        """Return something that is declared of the channels, by row."""
        values = [getattr(each, name) for each in self._chunk.plan.estate.channels] or [0]
        found: Floats = np.array(values, np.float64)[self.channel]
        return found

    def of_application(self, name: str) -> Floats:
        """Return something that is declared of the applications, by row."""
        found: Floats = self._chunk.plan.app_column(name)[self.app]
        return found

    def summed(self, values: Floats) -> Floats:
        """Add values up by report."""
        return np.bincount(self.row, values, len(self._reporters)).astype(np.float64)

    def at_once(self) -> Floats:
        """Return how many channels ran at one time: a brief one counts for as long as it was."""
        return np.ceil(self.summed(self._tasks.present()[self.task]))

    def trip(self) -> Floats:
        """Return the round trips of channels, microseconds."""
        time = self._reporters.time[self.row]
        slower = self._chunk.effects.network[time, self.channel]
        near = self._chunk.draws("network").near(len(self.row), 0.08)
        return self.of_channel("network") * slower * near

    def backed_up(self) -> Bools:
        """Return whether messages wait for a channel, so that its batches are full."""
        plan, did = self._chunk.plan, self._chunk.did
        apps = plan.estate.applications
        queues = [plan.queue_no[each.get[0]] if each.get else NONE for each in apps]
        source = np.array(queues)[self.app]
        depth = did["depth"][self._reporters.time[self.row], source]
        found: Bools = (source != NONE) & (depth > 2 * self.batch())
        return found

    def batch(self) -> Floats:
        """Return the batch sizes of channels."""
        time = self._reporters.time[self.row]
        given = self._chunk.effects.batch[time, self.channel]
        return np.where(given > 0, given, self.of_channel("batch"))
