"""Channels at work, a row for each instance and interval, and their accounting (116/10)."""

from __future__ import annotations

import numpy as np

from smfparse.schemas import QCST
from smfparse.simulating.accounting import Accounting
from smfparse.simulating.chunk import Chunk, Columns, Reporters
from smfparse.simulating.declaration import CHANNEL_TYPES
from smfparse.simulating.plan import NONE
from smfparse.synthetic import NEVER, Bools, Floats, Ints, Rows, encoded, numbered

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


_INWARD = (CHANNEL_TYPES["receiver"], CHANNEL_TYPES["cluster-receiver"], CLIENT)
_RUNNING, _PRIVATE, _MEDIUM, _BATCH_KB = 3, 4, 33, 5000
_HEADER, _CONTROL = 476, 28
"""Bytes that a message has besides its data on a channel, and that a batch takes."""
_UNSET = 0x8FFFFFFF
_CALLS = 3
"""Calls of a client for a message."""
_LATER, _SINCE = 120_000, 900_000


def channel_records(
    chunk: Chunk, reporters: Reporters, accounting: Accounting, instances: Instances
) -> tuple[Rows, Ints]:
    """Return the blocks, and how many each queue manager and interval has."""
    mine = np.flatnonzero(~instances.brief)
    estate, tasks = chunk.plan.estate, accounting.tasks
    rows = Rows(QCST, estate.version, len(mine))
    columns = {**_described(instances), **_moved(instances), **_network(chunk, instances)}
    rows.set_all({name: values[mine] for name, values in columns.items()})
    for field, words in (
        ("qcstchnm", [each.shown for each in estate.channels]),
        ("qcstcnnm", [each.connection for each in estate.channels]),
        ("qcstrqmn", [each.partner for each in estate.channels]),
    ):
        rows.set_bytes(field, encoded(QCST.field(field).kind, words)[instances.channel[mine]])
    end, task = reporters.end[instances.row[mine]], instances.task[mine]
    rows.set_clocks(
        {
            "qcstcltm": end + _LATER,
            "qcststrt": tasks.started[task],
            "qcstludt": np.where(tasks.ended[task], tasks.end[task], NEVER),
            "qcstlmst": end - _SINCE,
        }
    )
    return rows, np.bincount(instances.row[mine], minlength=len(reporters))


def _described(of: Instances) -> Columns:
    """Return what channels are."""
    rows, client = len(of.row), of.type == CLIENT
    return {
        "qcstchty": of.type,
        "qcstchst": np.full(rows, _RUNNING),
        "qcstchdp": np.full(rows, _PRIVATE),
        "qcststcl": np.full(rows, _MEDIUM),
        "qcstcbsz": np.where(client, 0, of.batch()),
        "qcstcbdl": np.where(client, 0, _BATCH_KB),
        "qcstcscv": np.where(client, of.of_channel("sharing"), 0),
        "qcstcpra": of.of_channel("compression"),
        "qcstslcs": of.of_channel("cipher"),
        "qcstdspn": of.dispatcher,
    }


def _batches(of: Instances) -> tuple[Ints, Ints]:
    """Return batches, and full ones: one is full if messages wait, else the queue is empty."""
    client, most = of.type == CLIENT, np.maximum(of.batch(), 1)
    usual = np.minimum(np.maximum(of.of_application("commit"), 1), most)
    size = np.where(of.backed_up(), most, usual)
    batches = np.where(client, 0, np.ceil(of.moved / size)).astype(np.int64)
    full = np.where(~client & (size == most), np.floor(of.moved / most), 0)
    return batches, np.minimum(full, batches).astype(np.int64)


def _moved(of: Instances) -> Columns:
    """Return messages, batches and bytes."""
    client, inward = of.type == CLIENT, np.isin(of.type, _INWARD)
    messages = np.where(client, of.moved * _CALLS, of.moved)
    batches, full = _batches(of)
    squeezed: Floats = 1 - of.of_channel("compression") / 100
    data = of.bytes * squeezed + of.moved * _HEADER
    control = _CONTROL * (batches + np.where(client, messages, 0))
    return {
        "qcstnmsg": messages,
        "qcstnpmg": np.minimum(of.lasting, messages),
        "qcstbatc": batches,
        "qcstfuba": full,
        "qcstbfst": np.where(inward, batches + client * messages, of.moved + batches),
        "qcstbfrc": np.where(inward, of.moved + batches, batches),
        "qcstnbyt": of.bytes,
        "qcstnpby": np.where(of.lasting > 0, of.bytes, 0),
        "qcstbyst": np.where(inward, control, data + control),
        "qcstbyrc": np.where(inward, data + control, control),
        "qcstqetc": np.where(inward, 0, batches - full),
    }


def _network(chunk: Chunk, of: Instances) -> Columns:
    """Return round trips; no exit runs."""
    client, trip = of.type == CLIENT, of.trip()
    longest = trip * (2 + chunk.draws("longest trips").uniform(len(trip)))
    return {
        "qcstetmn": np.full(len(trip), _UNSET),
        "qcstntmn": np.where(client, _UNSET, np.floor(trip * 0.8)),
        "qcstntav": np.where(client, 0, np.floor(trip)),
        "qcstntmx": np.where(client, 0, np.floor(longest)),
    }
