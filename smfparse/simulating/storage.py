"""Buffer pools and page sets: messages are in buffers until a pool is nearly full.

At 85 % changed pages are written behind until 75 % are left. What comes faster than that fills the
pool: at 95 % tasks write pages themselves, one by one, and at 100 % they wait for a buffer. Pages
that are written and then needed for others have to be read when their message is got.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from smfparse.simulating.costs import DEFERRED, IMMEDIATE, PAGES_A_WRITE, WRITTEN_DOWN_TO
from smfparse.simulating.plan import NONE, Plan
from smfparse.synthetic import Floats, Ints

_OWN_PAGES = 40.0
"""Pages of a pool that hold no messages."""
_SET_PAGES = 60.0
"""Pages of a page set that hold no messages."""
_FULL, _MORE = 0.9, 0.1
"""How full a page set is when it expands, and by how much."""


@dataclass(frozen=True)
class _Written:
    """Pages that pools wrote in an interval because they were nearly full.

    every      all of them
    by_tasks   those that tasks wrote themselves: the pool was full to 95 %
    least      the fewest buffers that were free
    none_free  pages for which there was no buffer
    """

    every: Floats
    by_tasks: Floats
    least: Floats
    none_free: Floats


class Storage:
    """The state of all buffer pools and page sets."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._own = np.flatnonzero(plan.queue_pool != NONE)
        self.size = np.array([of.pages for _, of in plan.page_sets], np.float64)
        self.expanded = np.zeros(len(self.size))
        self._written = np.zeros(len(plan.pools))
        self._in_use = np.full(len(plan.pools), _OWN_PAGES)
        io = np.array([of.io for _, of in plan.page_sets])
        page = np.array([of.page for _, of in plan.page_sets])
        self._behind = self._of_sets(PAGES_A_WRITE * 1e6 / (io + PAGES_A_WRITE * page))
        self._singly = self._of_sets(1e6 / (io + page))

    def _of_sets(self, rates: Floats) -> Floats:
        """Return the pages a second that a pool can write: as its slowest page set does."""
        known = self._plan.set_pool != NONE
        slowest = np.full(len(self._plan.pools), np.inf)
        np.minimum.at(slowest, self._plan.set_pool[known], rates[known])
        return slowest

    def page_wait(self, flow: dict[str, Ints], seconds: float) -> Floats:
        """Return the microseconds that tasks write pages for a page that they put, by pool.

        `flow` is as for `step`, which takes it over.
        """
        came_in = self._by_pool(flow["came"] * self._plan.queue_pages)
        *_, wrote = self._levels(flow, seconds)
        return self._wait(came_in, wrote)

    def _wait(self, came_in: Floats, wrote: _Written) -> Floats:
        wait: Floats = wrote.by_tasks / self._singly * 1e6 / np.maximum(came_in, 1)
        return wait

    def _levels(
        self, flow: dict[str, Ints], seconds: float
    ) -> tuple[Floats, Floats, Floats, _Written]:
        """Return pages in use, those written earlier, those changed, and what is written.

        They are those at the end of an interval, before it writes any.
        """
        pages = self._plan.queue_pages
        use = self._by_pool(flow["depth"] * pages) + _OWN_PAGES
        out = self._by_pool((flow["went"] + flow["expired"]) * pages)
        written = np.clip(self._written - out, 0, use)
        changed, earlier = use - written, self._in_use - written
        most = np.maximum(changed, earlier) + self._by_pool(flow["wave"] * pages)
        rate = self._by_pool(flow["came"] * pages) / seconds
        return use, written, changed, self._write(most, rate, seconds)

    def step(
        self, before: Ints, flow: dict[str, Ints], points: Floats, seconds: float
    ) -> dict[str, Any]:
        """Return what pools and page sets did in an interval.

        before  messages of each queue at its start
        flow    messages that were put and taken, those at its end, and by how much it had more
        points  checkpoints of each queue manager
        """
        pages = self._plan.queue_pages
        went = flow["went"] + flow["expired"]
        came_in, out = self._by_pool(flow["came"] * pages), self._by_pool(went * pages)
        read = self._read(before * pages, went * pages)
        use, self._written, changed, wrote = self._levels(flow, seconds)
        gone = np.minimum(wrote.every, self._above(WRITTEN_DOWN_TO, changed))
        stayed = np.minimum(self._by_pool(np.maximum(before - went, 0) * pages), use)
        stayed = stayed - self._written - gone
        kept = np.where(points[self._plan.pool_manager] > 0, np.maximum(stayed, 0), 0)
        self._written += gone + kept
        self._in_use = use
        return {
            "buffers_free": np.maximum(self._plan.buffers - (use - self._written), 0),
            "buffers_least": wrote.least,
            "pages_read": self._by_pool(read),
            "queue_read": read,
            "pages_behind": wrote.every - wrote.by_tasks,
            "pages_immediate": wrote.by_tasks,
            "pages_refused": wrote.none_free,
            "pages_kept": kept,
            "wrote_behind": np.ceil(
                wrote.every / ((DEFERRED - WRITTEN_DOWN_TO) * self._plan.buffers)
            ),
            "page_wait": self._wait(came_in, wrote),
            "pages_got": 2 * out + came_in,
            "pages_new": came_in,
            **self._sets(flow["depth"]),
        }

    def _read(self, before: Ints, out: Ints) -> Floats:
        """Return the pages that gets of each queue read: what is deepest has left the pool."""
        held, plan = self._by_pool(before), self._plan
        gone = np.maximum(self._in_use - plan.buffers, 0) / np.maximum(held, 1)
        share = np.append(gone, 0)[plan.queue_pool]
        read: Floats = np.minimum(out, np.floor(before * share))
        return read

    def _above(self, share: float, pages: Floats) -> Floats:
        """Return the pages by which pools hold more than a share of their buffers."""
        return np.maximum(np.ceil(pages - share * self._plan.buffers), 0)

    def _write(self, most: Floats, rate: Floats, seconds: float) -> _Written:
        """Return the pages that are written.

        most  changed pages that there were at one time
        rate  pages a second that come
        """
        buffers = self._plan.buffers
        every = np.where(most >= DEFERRED * buffers, self._above(WRITTEN_DOWN_TO, most), 0)
        late = np.minimum(np.maximum(rate - self._behind, 0) * seconds, every)
        by_tasks = np.floor(np.maximum(late - (IMMEDIATE - DEFERRED) * buffers, 0))
        over = np.maximum(by_tasks - self._singly * seconds, 0)
        none_free = np.floor(np.maximum(over - (1 - IMMEDIATE) * buffers, 0))
        filled = np.minimum(late, (IMMEDIATE - DEFERRED) * buffers) + over
        least = np.maximum(buffers - np.minimum(most, DEFERRED * buffers) - filled, 0)
        return _Written(every, by_tasks, least, none_free)

    def _by_pool(self, values: Ints | Floats) -> Floats:
        pool, many = self._plan.queue_pool[self._own], len(self._plan.pools)
        return np.bincount(pool, values[self._own], many).astype(np.float64)

    def _sets(self, depth: Ints) -> dict[str, Any]:
        """Return how many pages of the page sets are in use, and what holds them."""
        plan, own = self._plan, self._own
        pages = depth[own] * plan.queue_pages[own]
        lasting = np.where(plan.queue_persistent[own], pages, 0)
        held = np.bincount(plan.queue_set[own], pages, len(self.size))
        persistent = np.bincount(plan.queue_set[own], lasting, len(self.size))
        used = held + _SET_PAGES
        grow = used > _FULL * self.size
        while grow.any():
            self.size = np.where(grow, np.floor(self.size * (1 + _MORE)), self.size)
            self.expanded += grow
            grow = used > _FULL * self.size
        return {
            "set_pages": self.size.copy(),
            "set_used": used,
            "set_persistent": persistent,
            "set_plain": held - persistent,
            "set_expanded": self.expanded.copy(),
        }
