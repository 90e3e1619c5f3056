"""What a queue manager does in each interval: queues, log, pools, channels, from rates and times.

Numbers come from the site and from what is planted, with noise. Queues hold messages in the order
of their arrival, so that depths, ages and times on the queue belong together.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from tests.support.days.sites import Channel, Flow, Site
from tests.support.days.times import Interval, hour_of

NOISE = 0.05
"""Standard deviation of a rate in a quarter of an hour."""


@dataclass(frozen=True)
class Fault:
    """A number of the model that is another one from one hour to another.

    what  `log us`, `rate QUEUE`, `net CHANNEL`: see the calls of `Model.now`
    """

    what: str
    value: float
    since: str = "0:00"
    until: str = "24:00"


@dataclass
class Moved:
    """What went through a queue in an interval."""

    flow: Flow
    puts: int = 0
    gets: int = 0
    depth: int = 0
    low: int = 0
    high: int = 0
    age: float = 0.0
    time_us: float = 0.0
    expired: int = 0
    getters: int = 1
    polls: int = 0
    skipped: int = 0
    backed_out: int = 0
    late: int = 0
    batches: int = 0
    full: int = 0
    reads: int = 0

    def of(self, tasks: int) -> Moved:
        """Return the part of one of so many tasks."""
        if tasks == 1:
            return self
        counts = ("puts", "gets", "polls", "skipped", "backed_out", "reads")
        shares = {each: getattr(self, each) // tasks for each in counts}
        return replace(self, time_us=self.time_us / tasks, **shares)


@dataclass
class Log:
    """The log of an interval: pages and forces; I/Os of one page and of several, and their time."""

    pages: float = 0.0
    forces: int = 0
    one: int = 0
    more: int = 0
    pages_each: float = 2.0
    one_us: Sequence[float] = ()
    more_us: Sequence[float] = ()
    busy: float = 0.0
    io_busy: float = 0.0
    switches: int = 0
    archived: float = 0.0

    @property
    def force_us(self) -> float:
        """A forced write: the slower copy, and half of a write that is under way."""
        return max(self.one_us) * (1 + 0.5 * min(self.busy, 1) + 6 * max(self.busy - 0.9, 0))


@dataclass
class Shown:
    interval: Interval
    moved: list[Moved] = field(default_factory=list)
    log: Log = field(default_factory=Log)
    pages: dict[int, float] = field(default_factory=dict)
    peaks: dict[int, float] = field(default_factory=dict)


class Model:
    """A site with what is planted; `shown` yields its intervals."""

    def __init__(self, site: Site, faults: Sequence[Fault] = (), seed: int = 1) -> None:
        self.site = site
        self.rng = Random(f"{site.qmgr} {seed}")
        self._faults: dict[str, list[tuple[float, float, float]]] = {}
        for each in faults:
            span = hour_of(each.since), hour_of(each.until), each.value
            self._faults.setdefault(each.what, []).append(span)
        self._queues: dict[str, deque[list[float]]] = {each.queue: deque() for each in site.flows}
        self._log_pages = 0.0
        self._backlog = 0.0

    def now(self, what: str, usual: float, interval: Interval) -> float:
        """Return a number of the model in an interval: the usual, or in part what is planted."""
        spans = self._faults.get(what)
        if not spans:
            return usual
        first, last = interval.hour, interval.hour + interval.seconds / 3600
        found = usual
        for since, until, value in spans:
            share = max(min(last, until) - max(first, since), 0) / (last - first)
            found += share * (value - usual)
        return found

    def noise(self, of: float = NOISE) -> float:
        return max(self.rng.gauss(1, of), 0.3)

    def shown(self, intervals: Sequence[Interval]) -> Iterator[Shown]:
        for each in intervals:
            if each.number == 1:
                for queue in self._queues.values():
                    queue.clear()
            found = Shown(each, [self._move(flow, each) for flow in self.site.flows])
            found.log = self._logged(found)
            self._store(found)
            yield found

    def load(self, hour: float) -> float:
        """Return the share of the busiest hour: mornings and afternoons, less at noon."""
        of_day = hour % 24
        night = self.site.night
        if not 6 <= of_day <= 20:
            return night
        bell = 0.5 - 0.5 * math.cos(2 * math.pi * min(max((of_day - 6) / 14, 0), 1))
        return night + (1 - night) * bell**0.6 * (0.85 if 12 <= of_day < 13 else 1)

    def _move(self, flow: Flow, now: Interval) -> Moved:
        seconds, mid = now.seconds, now.middle
        found, hours = Moved(flow), seconds / 3600
        begin, end = flow.hours
        share = max(min(now.hour + hours, end) - max(now.hour, begin), 0) / hours
        shape = 1.0 if flow.flat else self.load(mid)
        rate = flow.rate * self.now(f"rate {flow.queue}", 1.0, now)
        found.puts = round(rate * shape * share * seconds * self.noise())
        is_taken = flow.taken[0] <= mid < flow.taken[1]
        spare = self.now(f"spare {flow.queue}", flow.spare, now) * is_taken
        room = flow.rate * spare * seconds
        channel = self._channel(flow)
        if channel and channel.kind == 1:
            room = min(room, self._room(channel, now))
        queue = self._queues[flow.queue]
        before = sum(each[1] for each in queue)
        middle = now.hour * 3600 + seconds / 2
        lag = self.now(f"lag {flow.queue}", flow.lag, now)
        queue.append([middle, found.puts])
        held = min(rate * shape * share * lag, found.puts)
        if not is_taken:
            held = 0.0
        left = found.gets = round(min(before + found.puts, room))
        found.late = round(min(before, found.gets))
        while left > 0 and queue:
            arrived, count = queue[0]
            some = min(count, left)
            is_old = arrived < middle
            wait = middle - arrived if is_old else (before / max(rate, 0.1) if before else lag)
            found.time_us += 1e6 * some * wait * self.noise(0.1)
            left -= some
            queue[0][1] -= some
            if not queue[0][1]:
                queue.popleft()
        self._expire(found, queue, now)
        found.depth = round(sum(each[1] for each in queue))
        found.high = round(max(before, found.depth, held, found.puts and 1))
        found.low = round(min(before, found.depth))
        if found.depth:
            found.age = now.hour * 3600 + seconds - queue[0][0]
            found.age += seconds / 2 * (queue[0][0] != middle)
        found.getters = round(self.now(f"getters {flow.queue}", 2.0 if is_taken else 0.0, now))
        found.polls = round(self.now(f"polls {flow.queue}", 0.0, now) * seconds)
        found.skipped = round(self.now(f"skipped {flow.queue}", 0.0, now) * found.gets)
        found.backed_out = round(self._failing(flow, now) * seconds)
        if channel and channel.kind == 1:
            self._batch(found, channel, now, is_full=found.depth > 5 * channel.batch)
        return found

    def _failing(self, flow: Flow, now: Interval) -> float:
        """Return the gets that are backed out a second."""
        usual = 0.003 if self.site.is_rough and flow.persistent and self.rng.random() < 0.1 else 0.0
        return self.now(f"backouts {flow.queue}", usual, now)

    def _expire(self, found: Moved, queue: deque[list[float]], now: Interval) -> None:
        limit = found.flow.expires
        while limit and queue and now.hour * 3600 + now.seconds - queue[0][0] > limit:
            found.expired += round(queue.popleft()[1])

    def _channel(self, flow: Flow) -> Channel | None:
        return next((each for each in self.site.channels if each.name == flow.channel), None)

    def _cycle(self, channel: Channel, now: Interval) -> tuple[float, float, float]:
        """Return the batch size of a channel, a message's time and a round trip."""
        size = self.now(f"batch {channel.name}", channel.batch, now)
        return size, channel.each_us, self.now(f"net {channel.name}", channel.net_us, now)

    def _room(self, channel: Channel, now: Interval) -> float:
        size, each_us, net_us = self._cycle(channel, now)
        retrying = self.now(f"retrying {channel.name}", 0.0, now)
        return (1 - retrying) * now.seconds * 1e6 * size / (size * each_us + net_us)

    def _batch(self, found: Moved, channel: Channel, now: Interval, *, is_full: bool) -> None:
        size, each_us, net_us = self._cycle(channel, now)
        a_us = found.gets / now.seconds / 1e6
        several = a_us * net_us / max(1 - a_us * each_us, 0.01)
        each = size if is_full else min(max(several, 1.15 * found.flow.each), size)
        found.batches = math.ceil(found.gets / each)
        found.full = found.batches if each >= 0.97 * size else round(0.01 * found.batches)

    def _logged(self, shown: Shown) -> Log:
        site, now = self.site, shown.interval
        log, seconds = Log(), now.seconds
        for each in shown.moved:
            flow = each.flow
            if not flow.persistent or flow.structure:
                continue
            log.pages += (each.puts * (flow.size + 900) + each.gets * 250) / 4000
            together = max(flow.each, 1)
            log.forces += round(each.puts / together + (each.batches or each.gets / together))
        log.pages += 0.02 * log.forces + seconds / 20
        log.pages += self.now("log mb", 0.0, now) * 256 * seconds
        log.forces += round(seconds / 10)
        slow = [self.now(f"log us {copy + 1}", site.log_us, now) for copy in range(site.copies)]
        slow = [self.now("log us", each, now) * self.noise(0.02) for each in slow]
        more_us = self.now("log page us", site.log_page_us, now)
        more_us *= max(self.now("log us", site.log_us, now) / site.log_us, 1)
        self._fit(log, seconds, slow, more_us)
        self._log_pages += log.pages
        full = site.log_mb * 256
        log.switches = int(self._log_pages // full)
        self._log_pages -= log.switches * full
        self._backlog += log.switches * full
        log.archived = min(self._backlog, self.now("archive mb_s", 400.0, now) * 256 * seconds)
        self._backlog -= log.archived
        return log

    @staticmethod
    def _fit(log: Log, seconds: float, slow: Sequence[float], more_us: float) -> None:
        """Share pages among I/Os: as many as are forced, or as many as fit."""
        worst, room = max(slow), 0.985 * seconds * 1e6
        ios = max(0.92 * log.forces, log.pages / 128, 1)
        extra = max(log.pages - ios, 0.08 * ios)
        if ios * worst + extra * more_us > room:
            ios = max((room - extra * more_us) / worst, log.pages / 128, 1)
            extra = max(log.pages - ios, 0.08 * ios)
        each = min(max(log.pages / ios, 1.02), 128.0)
        share = 0.9 / each
        log.one = round(ios * share)
        log.more = max(round(ios * (1 - share)), 1)
        log.pages_each = max((log.pages - log.one) / log.more, 2.0)
        log.one_us = slow
        log.more_us = [us + more_us * (log.pages_each - 1) for us in slow]
        spent = max(log.one * a + log.more * b for a, b in zip(slow, log.more_us, strict=True))
        log.io_busy = min(spent / seconds / 1e6, 0.985)
        log.busy = min(log.io_busy * 1.01 + 0.002, 0.995)

    def _store(self, shown: Shown) -> None:
        """Work out pages of messages in each page set, and at most in each pool."""
        for number, page_set in self.site.page_sets.items():
            an_hour = self.now(f"pages an hour {number}", 0.0, shown.interval)
            shown.pages[number] = an_hour * shown.interval.hour
            shown.pages[number] += self.now(f"pages {number}", 0.0, shown.interval)
            shown.peaks.setdefault(page_set.pool, 0.0)
        stored = [each for each in shown.moved if not each.flow.structure]
        for each in stored:
            shown.pages[each.flow.page_set] += each.depth * each.flow.pages
            shown.peaks[self._pool(each)] += each.high * each.flow.pages
        for each in stored:
            flow, peak = each.flow, shown.peaks[self._pool(each)]
            buffers = self.site.pools[self._pool(each)].buffers
            missing = max(1 - 0.93 * buffers / peak, 0) if peak else 0.0
            moved = each.late if each.depth or each.late else each.gets
            if flow.lag > 1 or self.now(f"lag {flow.queue}", flow.lag, shown.interval) > 1:
                moved = each.gets
            each.reads = round(missing * moved * flow.pages)

    def _pool(self, moved: Moved) -> int:
        return self.site.page_sets[moved.flow.page_set].pool
