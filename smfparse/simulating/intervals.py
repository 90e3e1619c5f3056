"""Class 3 intervals that are longer than those of the statistics: rows of a task become one.

A task is recorded when its interval (ACCTIME) ends, and when it ends itself. What its rows count in
the intervals of the statistics (STATIME) before that is added up.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from smfparse.simulating.chunk import Chunk, Columns
from smfparse.simulating.coupling import Coupling
from smfparse.simulating.queue_work import QueueWork
from smfparse.simulating.task_work import TaskWork
from smfparse.simulating.tasks import Tasks
from smfparse.synthetic import Ints

_LEAST, _MOST, _LAST = (
    ("minms", "minlatnt"),
    ("maxms", "maxlatnt", "maxln", "maxqdpth"),
    "use_count",
)
_OF_TASKS = ("app", "number", "manager", "kind", "started", "time", "end", "ended")
_OF_QUEUES = ("slot", "queue", "manager", "shared", "size", "persistent", "time")


class _Groups:
    """Rows that become one: those with equal keys, in the order of the keys.

    of     the group of each row
    first  the first row of each group; `last`: the last one
    """

    def __init__(self, *keys: Ints) -> None:
        order = np.lexsort(keys[::-1])
        new = np.zeros(len(order), bool)
        for key in keys:
            new[1:] |= key[order][1:] != key[order][:-1]
        new[:1] = True
        start = np.flatnonzero(new)
        self._order, self._start = order, start
        self.of: Ints = np.empty(len(order), np.int64)
        self.of[order] = np.cumsum(new) - 1
        self.first: Ints = order[start]
        self.last: Ints = order[np.append(start[1:], len(order)) - 1] if len(order) else order

    def combined(self, how: np.ufunc, values: Any) -> Any:
        """Return a value a group."""
        return (
            how.reduceat(np.asarray(values)[self._order], self._start) if len(self.of) else values
        )


def merged(
    chunk: Chunk, tasks: Tasks, queues: QueueWork, work: TaskWork
) -> tuple[Tasks, QueueWork, TaskWork]:
    """Return tasks, queues and work with a row for each interval of class 3."""
    longer = (chunk.first + tasks.time) // chunk.plan.several
    groups = _Groups(tasks.app, tasks.number, tasks.started, longer)
    found = copy.copy(tasks)
    for name in _OF_TASKS:
        setattr(found, name, getattr(tasks, name)[groups.last])
    found.begin = tasks.begin[groups.first]
    queues = _queues(queues, groups)
    return found, queues, _work(work, found, queues, groups)


def _queues(queues: QueueWork, tasks: _Groups) -> QueueWork:
    used = queues.used
    groups = _Groups(tasks.of[used.task], used.slot)
    merged_use = copy.copy(used)
    for name in _OF_QUEUES:
        setattr(merged_use, name, getattr(used, name)[groups.last])
    merged_use.task = tasks.of[used.task][groups.last]
    for name in ("put", "opened", "closed"):
        setattr(merged_use, name, groups.combined(np.add, getattr(used, name)))
    found = copy.copy(queues)
    found.used = merged_use
    found.columns = _columns(queues.columns, groups)
    found.coupling = _coupling(queues.coupling, groups)
    return found


def _columns(columns: Mapping[str, Any], groups: _Groups) -> Columns:
    found: Columns = {}
    for name, values in columns.items():
        if name == _LAST:
            found[name] = values[groups.last]
        elif name.endswith(_MOST):
            found[name] = groups.combined(np.maximum, values)
        elif name.endswith(_LEAST):
            none = np.iinfo(np.int64).max
            least = groups.combined(np.minimum, np.where(values > 0, values, none))
            found[name] = np.where(least == none, 0, least)
        else:
            found[name] = groups.combined(np.add, values)
    return found


def _coupling(coupling: Coupling, groups: _Groups) -> Coupling:
    found = copy.copy(coupling)
    for name in ("requests", "committed"):
        of = getattr(coupling, name)
        setattr(found, name, {key: groups.combined(np.add, of[key]) for key in of})
    for name in ("single", "several", "took"):
        setattr(found, name, groups.combined(np.add, getattr(coupling, name)))
    every = found.single + found.several
    usual = coupling.each[groups.last]
    found.each = np.where(every > 0, found.took / np.maximum(every, 1), usual)
    return found


def _work(work: TaskWork, tasks: Tasks, queues: QueueWork, groups: _Groups) -> TaskWork:
    found = copy.copy(work)
    found.blocks = np.bincount(queues.used.task, minlength=len(tasks))
    found.columns = _columns(work.columns, groups) | {
        "wtaswqct": found.blocks,
        "wtasflag": work.columns["wtasflag"][groups.last],
    }
    found.sums = _columns(work.sums, groups)
    for name in ("commits", "backouts"):
        setattr(found, name, groups.combined(np.add, getattr(work, name)))
    return found
