"""Buffer pools and page sets: messages are in buffers until a pool is nearly full.

At 85 % changed pages are written behind until 75 % are left. If that is too slow, tasks write pages
themselves at 95 %, and wait for a buffer at 100 %. Pages that are written and then needed for
others have to be read when their message is got.
"""

from __future__ import annotations

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


class Storage:
    """The state of all buffer pools and page sets."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._own = np.flatnonzero(plan.queue_pool != NONE)
        self.size = np.array([of.pages for _, of in plan.page_sets], np.float64)
        self.expanded = np.zeros(len(self.size))
        self._written = np.zeros(len(plan.pools))
        self._in_use = np.full(len(plan.pools), _OWN_PAGES)
        self._io = np.array([of.io + PAGES_A_WRITE * of.page for _, of in plan.page_sets])

    def step(
        self, before: Ints, flow: dict[str, Ints], points: Floats, seconds: float
    ) -> dict[str, Any]:
        """Return what pools and page sets did in an interval.

        before  messages of each queue at its start
        flow    messages that were put and taken, those at its end, and by how much it had more
        points  checkpoints of each queue manager
        """
        pages = self._plan.queue_pages
        depth, came = flow["depth"], flow["came"]
        went = flow["went"] + flow["expired"]
        use = self._by_pool(depth * pages) + _OWN_PAGES
        came_in, out = self._by_pool(came * pages), self._by_pool(went * pages)
        read = self._read(before * pages, went * pages)
        self._written = np.clip(self._written - out, 0, use)
        changed, earlier = use - self._written, self._in_use - self._written
        most = np.maximum(changed, earlier) + self._by_pool(flow["wave"] * pages)
        wrote, late = self._write_behind(most, came_in / seconds, seconds)
        gone = np.minimum(wrote, self._above(WRITTEN_DOWN_TO, changed))
        stayed = np.minimum(self._by_pool(np.maximum(before - went, 0) * pages), use)
        stayed = stayed - self._written - gone
        kept = np.where(points[self._plan.pool_manager] > 0, np.maximum(stayed, 0), 0)
        self._written += gone + kept
        self._in_use = use
        return {
            "buffers_free": np.maximum(self._plan.buffers - (use - self._written), 0),
            "buffers_least": self._least(most, late),
            "pages_read": self._by_pool(read),
            "queue_read": read,
            "pages_behind": np.maximum(wrote - late, 0),
            "pages_immediate": np.minimum(late, wrote),
            "pages_kept": kept,
            "wrote_behind": np.ceil(wrote / ((DEFERRED - WRITTEN_DOWN_TO) * self._plan.buffers)),
            "pages_late": np.maximum(late - (IMMEDIATE - DEFERRED) * self._plan.buffers, 0),
            "pages_got": 2 * out + came_in,
            "pages_new": came_in,
            **self._sets(depth),
        }

    def _least(self, most: Floats, late: Floats) -> Floats:
        """Return the fewest buffers that were free: 15 % where pages are written fast enough."""
        buffers = self._plan.buffers
        return np.maximum(buffers - np.minimum(most, DEFERRED * buffers) - late, 0)

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

    def _write_behind(self, most: Floats, rate: Floats, seconds: float) -> tuple[Floats, Floats]:
        """Return pages that are written, and those among them for which the writing was too slow.

        most  changed pages that there were at one time
        rate  pages a second that come
        """
        buffers = self._plan.buffers
        wrote = np.where(most >= DEFERRED * buffers, self._above(WRITTEN_DOWN_TO, most), 0)
        can = np.full(len(buffers), np.inf)
        known = self._plan.set_pool != NONE
        np.minimum.at(can, self._plan.set_pool[known], PAGES_A_WRITE * 1e6 / self._io[known])
        late = np.maximum(rate - can, 0) * seconds
        return wrote, np.floor(np.minimum(np.where(wrote > 0, late, 0), wrote))

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
