"""A site as columns for the simulation, and the effects of incidents on these columns.

A work is an activity of an application with one cause: a rate, or a message on a queue. An edge is
a work and a queue that the work puts to. A slot is an application and a queue that it uses: each
task of the application has one queue block per slot.
"""

from __future__ import annotations

import copy
import datetime as dt
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from smfparse.errors import RequestError
from smfparse.layout.clocks import US_PER_SECOND
from smfparse.simulating.costs import pages
from smfparse.simulating.declaration import (
    ALIAS,
    CHANNEL_TYPES,
    CLUSTER_QUEUE,
    INCIDENTS,
    LOCAL_QUEUE,
    Application,
    Estate,
    Incident,
)
from smfparse.simulating.draws import Bools, Floats, Ints
from smfparse.simulating.reading_toml import clock_time, unknown

NONE = -1
_MOST_LEVELS = 12


def column(things: Sequence[Any], name: str, *more: Any) -> Any:
    """Return a column: the attribute `name` of each thing, then the values `more`."""
    return np.array([*(getattr(each, name) for each in things), *more])


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, np.int64)


class Plan:
    """Columns of works, edges, queues, slots, pools and page sets, with indexes to each other.

    offset   local time minus UTC, microseconds
    several  number of statistics intervals in an accounting interval

    Pools and page sets are ordered by queue manager.
    """

    def __init__(self, estate: Estate) -> None:
        self.estate = estate
        self.offset = round(estate.utc_offset.total_seconds() * US_PER_SECOND)
        self.several = (estate.acctime or estate.interval) // estate.interval
        self.names = [each.name for each in estate.queue_managers]
        self.queue_no = {each.name: number for number, each in enumerate(estate.queues)}
        self.app_no = {each.name: number for number, each in enumerate(estate.applications)}
        self.channel_no = {each.name: number for number, each in enumerate(estate.channels)}
        self._storage()
        self._works()
        self._queues()
        self.levels = self._levels()
        self._slots()

    def manager_of(self, things: Sequence[Any]) -> Ints:
        """Return the number of the queue manager of each thing."""
        return _ints([self.names.index(each.queue_manager) for each in things])

    def _storage(self) -> None:
        managers = self.estate.queue_managers
        pools = [(m, pool) for m, each in enumerate(managers) for pool in each.pools]
        page_sets = [(m, of) for m, each in enumerate(managers) for of in each.page_sets]
        pool_no = {(m, pool.number): at for at, (m, pool) in enumerate(pools)}
        self.set_no = {(m, of.number): at for at, (m, of) in enumerate(page_sets)}
        self.pools = [pool for _, pool in pools]
        self.page_sets = [of for _, of in page_sets]
        self.pool_manager, self.set_manager = (
            _ints([m for m, _ in each]) for each in (pools, page_sets)
        )
        self.buffers: Floats = column(self.pools, "buffers").astype(np.float64)
        self.set_pool = _ints([pool_no.get((m, of.pool), NONE) for m, of in page_sets])

    def _works(self) -> None:
        rows: list[tuple[int, int, float]] = []
        edges: list[tuple[int, int, float]] = []
        for number, each in enumerate(self.estate.applications):
            for source, rate in _causes(each):
                if source is None or not each.rate:
                    edges += [
                        (len(rows), self.queue_no[name], share) for name, share in each.put.items()
                    ]
                queue = NONE if source is None else self.queue_no[source]
                rows.append((number, queue, rate))
        self.app = _ints([app for app, _, _ in rows])
        self.source = _ints([source for _, source, _ in rows])
        self.rate = np.array([rate for _, _, rate in rows], np.float64)
        self.edge_work = _ints([work for work, _, _ in edges])
        self.edge_queue = _ints([queue for _, queue, _ in edges])
        self.ratio = np.array([ratio for _, _, ratio in edges], np.float64)
        apps = self.estate.applications
        self.app_manager = self.manager_of(apps)
        self.manager = self.app_manager[self.app]
        self.size = self.of_app("size")
        self.commit = self.of_app("commit")
        self.persistent = self.of_app("persistent").astype(bool)

    def app_column(self, name: str) -> Any:
        """Return a declared property of applications, by application."""
        return column(self.estate.applications, name)

    def of_app(self, name: str) -> Any:
        """Return a declared property of applications, by work."""
        return self.app_column(name)[self.app]

    def _queues(self) -> None:
        queues = self.estate.queues
        self.queue_manager = self.manager_of(queues)
        self.wire: Bools = column(queues, "wire").astype(bool)
        self.shared: Bools = np.array([bool(each.structure) for each in queues], bool)
        self.queue_set = _ints(
            [
                NONE if each.structure or each.wire else self.set_no[int(m), each.page_set]
                for m, each in zip(self.queue_manager, queues, strict=True)
            ]
        )
        pools = np.append(self.set_pool, NONE)
        self.queue_pool: Ints = pools[self.queue_set]
        self.stream = _ints([self.queue_no.get(each.stream, NONE) for each in queues])
        self.queue_size = np.full(len(queues), 1000, np.int64)
        self.queue_persistent = np.zeros(len(queues), bool)
        for work, queue in zip(self.edge_work[::-1], self.edge_queue[::-1], strict=True):
            for each in (queue, self.stream[queue]):
                if each != NONE:
                    self.queue_size[each] = self.size[work]
                    self.queue_persistent[each] = self.persistent[work]
        self.queue_pages = pages(self.queue_size)

    def _levels(self) -> list[tuple[Ints, Ints]]:
        """Return levels of works in the order of the message flow, each level with its edges.

        A work is at a later level than the works that put to its queue. Works in a cycle are at the
        last level.
        """
        level = np.zeros(len(self.app), np.int64)
        for _ in range(_MOST_LEVELS):
            reached = np.zeros(len(self.estate.queues), np.int64)
            np.maximum.at(reached, self.edge_queue, level[self.edge_work] + 1)
            streamed = self.stream != NONE
            np.maximum.at(reached, self.stream[streamed], reached[streamed])
            level = np.where(self.source == NONE, 0, reached[self.source])
        level = np.minimum(level, _MOST_LEVELS)
        return [
            (np.flatnonzero(level == each), np.flatnonzero(level[self.edge_work] == each))
            for each in np.unique(level)
        ]

    def _slots(self) -> None:
        rows: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
        for work, (app, queue) in enumerate(zip(self.app, self.source, strict=True)):
            if queue != NONE and not self.wire[queue]:
                rows.setdefault((int(app), int(queue)), ([], []))[0].append(work)
        for edge, (work, queue) in enumerate(zip(self.edge_work, self.edge_queue, strict=True)):
            if not self.wire[queue]:
                rows.setdefault((int(self.app[work]), int(queue)), ([], []))[1].append(edge)
        keys = sorted(rows)
        self.slot_app = _ints([app for app, _ in keys])
        self.slot_queue = _ints([queue for _, queue in keys])
        self.slot_gets: Floats = np.zeros((len(self.app), len(keys)))
        self.slot_puts: Floats = np.zeros((len(self.edge_work), len(keys)))
        for at, key in enumerate(keys):
            works, edges = rows[key]
            self.slot_gets[works, at] = 1
            self.slot_puts[edges, at] = 1
        self.slot_opened, self.slot_type, self.slot_makes = _opened(
            self.estate, self.slot_app, self.slot_queue
        )
        self.slot_work = _ints([rows[key][0][0] if rows[key][0] else NONE for key in keys])

    def channel(self, app: int) -> Any:
        """Return the channel that an application represents or connects by; None: no channel."""
        name = self.estate.applications[app].channel
        return self.estate.channels[self.channel_no[name]] if name else None

    def batched(self, app: int) -> bool:
        """Whether an application is the sending end of a channel with batches."""
        channel = self.channel(app)
        senders = (CHANNEL_TYPES["sender"], CHANNEL_TYPES["cluster-sender"])
        return channel is not None and CHANNEL_TYPES[channel.type] in senders


def _causes(application: Application) -> list[tuple[str | None, float]]:
    """Return (queue, rate) for each work of an application; queue None: the cause is the rate."""
    own: list[tuple[str | None, float]] = [(None, application.rate)] if application.rate else []
    return own + [(name, 0.0) for name in application.get]


def _opened(estate: Estate, apps: Ints, queues: Ints) -> tuple[list[str], Ints, Bools]:
    """Return, for each slot, opened name, type of queue, and whether a dynamic queue is made."""
    used = zip(apps, queues, strict=True)
    pairs = [(estate.applications[app].opens, estate.queues[queue]) for app, queue in used]
    names = [opens.get(queue.name, queue.name) for opens, queue in pairs]
    named = np.array([queue.name in opens for opens, queue in pairs], bool)
    makes = named & np.array([bool(queue.model) for _, queue in pairs], bool)
    other = np.where(np.isin(names, estate.cluster_queues), CLUSTER_QUEUE, ALIAS)
    return names, np.where(named & ~makes, other, LOCAL_QUEUE), makes


_US = dt.timedelta(microseconds=1)
_DAY = dt.timedelta(days=1)


_MOSTLY = 0.5
"""Share of an interval above which an incident counts as covering the whole interval."""


class Effects:
    """The effects of incidents on the work of some intervals: one row per interval.

    rate            factors on the due units of works
    capacity        factors on the maximum units of works
    lasts           whether works continue in the next interval
    log             factors on the times of log writes
    cf              factors on the times of requests to structures, by queue
    rolled          units per second that are backed out, by work
    unindexed       share of the interval in which a queue has no index
    orphaned        share of the messages without a getter, by queue
    brief           messages per connection of an application's clients; 0: as declared
    down            share of the interval in which a queue manager is down
    lost            share of the interval in which records of a queue manager are lost
    batch           batch sizes of channels; 0: as declared
    streams         1: the streaming queue of a queue gets copies; 0: no copies
    network         factors on the round trips of channels
    leaked          megabytes of storage that a channel initiator has leaked so far
    """

    def __init__(self, plan: Plan, times: int) -> None:
        def ones(columns: int) -> Floats:
            return np.ones((times, columns))

        managers, works, queues = len(plan.names), len(plan.app), len(plan.queue_no)
        applications = len(plan.estate.applications)
        self.rate, self.capacity = ones(works), ones(works)
        self.lasts = ones(works) > 0
        self.log, self.cf = ones(managers), ones(queues)
        self.network = ones(len(plan.channel_no))
        self.batch = 0 * ones(len(plan.channel_no))
        self.streams = ones(queues)
        self.rolled = 0 * ones(works)
        self.unindexed, self.orphaned = 0 * ones(queues), 0 * ones(queues)
        self.brief = 0 * ones(applications)
        self.down, self.lost = 0 * ones(managers), 0 * ones(managers)
        self.leaked = 0 * ones(managers)

    def inner(self) -> Effects:
        """Return the effects on all intervals except the first and the last."""
        found = copy.copy(self)
        vars(found).update({name: values[1:-1] for name, values in vars(self).items()})
        return found


@dataclass(frozen=True)
class Strength:
    """The strength of an incident in each interval.

    overlap  share of the interval that the incident covers, 0 to 1
    hours    hours from the start of the incident to the end of the interval
    factor   factor of the incident
    """

    overlap: Floats
    hours: Floats
    factor: float

    @property
    def times(self) -> Floats:
        """Factor per interval: from 1 (no overlap) to `factor` (the whole interval is covered)."""
        return 1 + (self.factor - 1) * self.overlap

    @property
    def mostly(self) -> Bools:
        """Whether, per interval, the incident counts as covering the whole interval."""
        return self.overlap > _MOSTLY


_BENDS: Mapping[str, Mapping[str, Callable[[Strength, Floats], Any]]] = {
    "log-slow": {"log": lambda by, usual: usual * by.times},
    "backlog": {"capacity": lambda by, usual: usual * (1 - by.overlap)},
    "surge": {"rate": lambda by, usual: usual * by.times},
    "poison": {"rolled": lambda by, usual: usual + by.factor * by.overlap},
    "scan": {
        "unindexed": lambda by, _: by.overlap,
        "orphaned": lambda by, _: by.factor * by.overlap,
    },
    "storm": {"brief": lambda by, _: np.where(by.overlap > 0, by.factor, 0)},
    "restart": {"down": lambda by, _: by.overlap},
    "smf-loss": {"lost": lambda by, _: by.overlap},
    "network-slow": {"network": lambda by, usual: usual * by.times},
    "small-batch": {"batch": lambda by, _: np.where(by.mostly, by.factor, 0)},
    "streaming": {"streams": lambda by, _: by.mostly},
    "cf-slow": {"cf": lambda by, usual: usual * by.times},
    "storage-leak": {"leaked": lambda by, usual: usual + by.factor * by.hours},
}
"""Function from strength and old values to new values, by kind of incident and name of the effect.
"""


def _columns(plan: Plan, affects: str, target: str) -> Ints:
    """Return the indexes of the columns of an effect that belong to the target of an incident."""
    works = plan.app == plan.app_no.get(target, NONE)
    at_queue = plan.source == plan.queue_no.get(target, 2 * NONE)  # NONE: works with a rate
    names: dict[str, Any] = {
        "queue manager": plan.names,
        "client": plan.app_no,
        "indexed queue": plan.queue_no,
        "streaming queue": plan.queue_no,
        "sender channel": plan.channel_no,
        "structure": [each.structure for each in plan.estate.queues],
    }
    if affects in names:
        return np.flatnonzero(np.array([name == target for name in names[affects]]))
    if affects == "queue":
        return np.flatnonzero(at_queue)[:1]
    return np.flatnonzero(works & (plan.source != NONE) if affects == "consumer" else works)


def placed(plan: Plan) -> list[Incident]:
    """Return incidents with targets and factors. Raises RequestError for one without effect."""
    found = []
    for each in plan.estate.incidents:
        kind = INCIDENTS[each.kind]
        first, last = times_of(plan.estate, each)
        if last <= 0 or first >= plan.estate.days * _DAY // _US:
            raise RequestError(f"incident {each.kind}: not within the time of {plan.estate.name}")
        known = _candidates(plan, kind.affects)
        if each.target and each.target not in known:
            raise unknown(f"incident {each.kind}, {kind.affects}", each.target, known)
        if not known:
            raise RequestError(f"incident {each.kind}: {plan.estate.name} has no {kind.affects}")
        full = replace(each, factor=each.factor or kind.factor)
        targets = [each.target] if each.target else known
        fit = [name for name in targets if _changes(plan, replace(full, target=name))]
        if not fit:
            tried = each.target or f"every {kind.affects} of {plan.estate.name}"
            raise RequestError(f"incident {each.kind} does not change {tried}: {_WHY[each.kind]}")
        found.append(replace(full, target=fit[0]))
    return found


_IDLE = "no application that it affects runs at this time"
_WHY = dict.fromkeys(INCIDENTS, _IDLE) | {
    "storm": f"a client that stays connected (stays = 0) cannot connect again, or {_IDLE}",
    "small-batch": f"its batches are not the limit even if they are small, or {_IDLE}",
}
"""The reason why a kind of incident has no effect on a target, for messages."""


def _changes(plan: Plan, incident: Incident) -> bool:
    affects, name = INCIDENTS[incident.kind].affects, incident.target
    if affects in ("queue manager", "structure"):
        return True
    users = [each for each in plan.estate.applications if name in _used(each, affects)]
    if incident.kind == "storm":
        users = [each for each in users if each.stays]
    if incident.kind == "small-batch" and incident.listed:
        users = [each for each in users if _limits(plan, each, incident.factor)]
    return any(_runs_in(each, incident) for each in users)


def _used(app: Application, affects: str) -> Collection[str]:
    """Return the names that an application uses of objects of the kind `affects`."""
    if affects in ("queue", "indexed queue"):
        return app.get
    if affects == "streaming queue":
        return app.put
    return [app.channel if affects == "sender channel" else app.name]


def _limits(plan: Plan, app: Application, batch: float) -> bool:
    """Whether a channel with batches of this size sends fewer messages than arrive at the peak."""
    channel = plan.channel(plan.app_no[app.name])
    most = 1e6 * app.tasks / (channel.message + channel.network / batch)
    return bool(_peak(plan)[plan.app == plan.app_no[app.name]].sum() > most)


def _peak(plan: Plan) -> Floats:
    """Return the due units per second if every curve is at its peak, by work."""
    units, came = plan.rate.copy(), np.zeros(len(plan.queue_no))
    tasks = plan.of_app("tasks").astype(np.float64)
    getting = plan.source != NONE
    shared_by = np.bincount(plan.source[getting], tasks[getting], len(came))
    for works, edges in plan.levels:
        takers = works[getting[works]]
        sources = plan.source[takers]
        units[takers] = came[sources] * tasks[takers] / shared_by[sources]
        np.add.at(came, plan.edge_queue[edges], units[plan.edge_work[edges]] * plan.ratio[edges])
    return units


def window(app: Application) -> tuple[float, float]:
    """Return start and end of the time in which an application runs, in microseconds of the day."""
    begin, _, end = app.window.partition("-")
    return clock_time(begin) / _US, clock_time(end) / _US


def _runs_in(app: Application, incident: Incident) -> bool:
    if not app.window:
        return True
    first, last = window(app)
    begin, day = incident.at / _US, _DAY / _US
    end = begin + incident.length / _US
    return any(
        max(first + number * day, begin) < min(last + number * day, end)
        for number in range(int(end // day) + 1)
    )


def begins(estate: Estate, incident: Incident) -> dt.datetime:
    """Return the local time at which an incident begins."""
    midnight = estate.start.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + incident.day * _DAY + incident.at


def times_of(estate: Estate, incident: Incident) -> tuple[int, int]:
    """Return start and end of an incident, in microseconds from the start of the estate."""
    begin = begins(estate, incident) - estate.start
    return begin // _US, (begin + incident.length) // _US


def effects(plan: Plan, incidents: list[Incident], begin: Floats, length: float) -> Effects:
    """Return the effects of incidents on intervals.

    begin   starts of intervals, microseconds from the start of the estate
    length  length of every interval, microseconds
    """
    found = Effects(plan, len(begin))
    for each in incidents:
        first, last = times_of(plan.estate, each)
        overlap = np.minimum(begin + length, last) - np.maximum(begin, first)
        share = np.clip(overlap / length, 0, 1)
        hours = np.clip(np.minimum(begin + length, last) - first, 0, None) / 3.6e9
        by = Strength(share[:, None], hours[:, None], each.factor)
        columns = _columns(plan, INCIDENTS[each.kind].affects, each.target)
        for name, bent in _BENDS[each.kind].items():
            values = getattr(found, name)
            values[:, columns] = bent(by, values[:, columns])
    return found


def _candidates(plan: Plan, affects: str) -> list[str]:
    """Return the possible targets of an incident, the best match first."""
    estate = plan.estate
    apps = sorted(estate.applications, key=lambda each: -each.rate)
    clients = {each.name for each in estate.channels if each.type == "server-connection"}
    return {
        "queue manager": plan.names,
        "consumer": [each.name for each in _consumers(estate)],
        "application": [each.name for each in apps if each.rate],
        "client": [each.name for each in apps if each.channel in clients],
        "queue": [each.get[0] for each in _consumers(estate)],
        "indexed queue": [name for each in apps if each.by_id for name in each.get],
        "streaming queue": [each.name for each in estate.queues if each.stream],
        "structure": sorted({each.structure for each in estate.queues if each.structure}),
        "sender channel": [each.name for each in estate.channels if each.type.endswith("sender")],
    }[affects]


def _consumers(estate: Estate) -> list[Application]:
    """Return the applications that get messages of other applications, batch jobs last."""
    found = [each for each in estate.applications if each.get and not each.rate]
    found = [each for each in found if each.kind != "channel" and len(each.get) == 1]
    return sorted(found, key=lambda each: (each.kind == "batch", not each.persistent))
