"""A site as columns for the simulation.

A work is an activity of an application with one cause: a rate, or a message on a queue. An edge is
a work and a queue that the work puts to. A slot is an application and a queue that it uses: each
task of the application has one queue block per slot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from smfparse.layout.clocks import US_PER_SECOND
from smfparse.simulating.costs import pages
from smfparse.simulating.declaration import (
    ALIAS,
    CHANNEL_TYPES,
    CLUSTER_QUEUE,
    LOCAL_QUEUE,
    Application,
    Estate,
)
from smfparse.simulating.draws import Bools, Floats, Ints

NONE = -1
_MOST_LEVELS = 12


def column(things: Sequence[Any], name: str, *more: Any) -> Any:
    """Return the attribute `name` of each thing as a column, and the values `more` after it."""
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
        """Return the channel that an application is, or connects by; None: no channel."""
        name = self.estate.applications[app].channel
        return self.estate.channels[self.channel_no[name]] if name else None

    def batched(self, app: int) -> bool:
        """Whether an application is the sending end of a channel with batches."""
        channel = self.channel(app)
        senders = (CHANNEL_TYPES["sender"], CHANNEL_TYPES["cluster-sender"])
        return channel is not None and CHANNEL_TYPES[channel.type] in senders


def _causes(application: Application) -> list[tuple[str | None, float]]:
    """Return queue and rate of each work of an application; queue None: work at a rate."""
    own: list[tuple[str | None, float]] = [(None, application.rate)] if application.rate else []
    return own + [(name, 0.0) for name in application.get]


def _opened(estate: Estate, apps: Ints, queues: Ints) -> tuple[list[str], Ints, Bools]:
    """Return for each slot: the opened name, its type, and whether a dynamic queue is made."""
    used = zip(apps, queues, strict=True)
    pairs = [(estate.applications[app].opens, estate.queues[queue]) for app, queue in used]
    names = [opens.get(queue.name, queue.name) for opens, queue in pairs]
    named = np.array([queue.name in opens for opens, queue in pairs], bool)
    makes = named & np.array([bool(queue.model) for _, queue in pairs], bool)
    other = np.where(np.isin(names, estate.cluster_queues), CLUSTER_QUEUE, ALIAS)
    return names, np.where(named & ~makes, other, LOCAL_QUEUE), makes
