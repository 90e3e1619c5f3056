"""A queue manager as a test declares it: queues and who uses them, pools, channels, structures.

Costs and times are from publications: see `Site`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Flow:
    """Messages of one queue: one job puts them, another gets them.

    rate    messages a second in the busiest hour
    each    messages a unit of work
    spare   times that rate which the getter can do
    lag     seconds that a message stays on the queue when the getter keeps up
    hours   in which it is put to; `taken` those in which the getter runs
    flat    the same rate at all times
    structure, channel  of a shared queue; that gets (or puts) instead of a job
    by_id   gets are by correlation identifier
    tasks   so many tasks of each job use it
    handed  share of messages that go straight to a getter that waits
    expires seconds after which messages expire
    model   name of the model queue of a dynamic one
    """

    queue: str
    putter: str
    getter: str
    rate: float = 20.0
    size: int = 2000
    persistent: bool = True
    page_set: int = 4
    each: int = 1
    spare: float = 3.0
    lag: float = 0.02
    hours: tuple[float, float] = (0, 24)
    taken: tuple[float, float] = (0, 24)
    flat: bool = False
    structure: str = ""
    channel: str = ""
    by_id: bool = False
    index: int = 0
    expires: float = 0.0
    model: str = ""
    tasks: int = 1
    handed: float = 0.0

    @property
    def pages(self) -> int:
        """Pages of a message in a pool: IBM SupportPac formula, planners P7."""
        data = self.size + 400
        return 1 if data <= 3596 else 1 + -(-data // 4049)


@dataclass(frozen=True)
class Pool:
    buffers: int = 50_000
    above: bool = True
    fixed: bool = True


@dataclass(frozen=True)
class PageSet:
    """A page set; `used` is the share that is used when the day begins, by nothing that moves."""

    pool: int = 3
    pages: int = 1_000_000
    used: float = 0.05
    expands: bool = True


_FIRST = PageSet(0, 20_000, 0.12)


@dataclass(frozen=True)
class Channel:
    """A channel: kind 1 sends, 3 receives, 7 serves clients.

    net_us   round trip of a batch's confirmation
    each_us  time of a message in the message channel agent
    """

    name: str
    kind: int = 1
    batch: int = 50
    net_us: float = 1500.0
    each_us: float = 250.0
    instances: int = 1
    partner: str = "QMB1"
    tls: bool = False
    dispatcher: int = 0


@dataclass(frozen=True)
class Site:
    """A queue manager and a day of it.

    log_us    an I/O of one page (zHPF, 4 KB: 173 us and more, ZCX ioping); log_page_us each page
              more (9.7 us: R93, two-point model); log_mb the size of an active log
    put_us    CPU of an MQPUT by the table of R93 ch. 6, at 2 KB 4.5 us and 0.25 us a KB more
    structures  by name, the time of a synchronous request (Z16: 4 to 15 us)
    is_rough  now and then an I/O or a round trip is long, pages are written at once, work fails
    connections  channels of clients that are up; `limit` MAXCHL and ACTCHL
    """

    qmgr: str = "BNK1"
    system: str = "SYSB"
    release: str = "940"
    qsg: str = ""
    flows: tuple[Flow, ...] = ()
    pools: Mapping[int, Pool] = field(default_factory=lambda: {0: Pool(20_000), 3: Pool()})
    page_sets: Mapping[int, PageSet] = field(default_factory=lambda: {0: _FIRST, 4: PageSet()})
    channels: tuple[Channel, ...] = ()
    structures: Mapping[str, float] = field(default_factory=dict)
    day: dt.date = dt.date(2026, 10, 14)
    east: float = 2.0
    minutes: float = 15.0
    times: Mapping[str, Any] = field(default_factory=dict)
    log_us: float = 210.0
    log_page_us: float = 10.0
    log_mb: float = 4096.0
    copies: int = 2
    limit: int = 500
    connections: int = 40
    region_mb: float = 900.0
    class3: bool = True
    statq: bool = True
    class4: bool = True
    night: float = 0.08
    dispatchers: int = 5
    adapters: int = 12
    ssl_tasks: int = 8
    db2_us: float = 900.0
    is_rough: bool = True
