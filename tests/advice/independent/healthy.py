"""Healthy days: nothing of severity 1 or 2 is to be found in them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from tests.advice.independent.cases import Case
from tests.advice.independent.sites import BANK, CARDS, GROUP, HUB, NIGHT, SHOP, STATS, TINY
from tests.support.days import PageSet, Pool, Site

_MONTH_END = tuple(replace(each, rate=2.4 * each.rate) for each in BANK.flows)
_CLIENTS = (SHOP.flows[0], replace(SHOP.flows[1], rate=60))
_LATER = replace(NIGHT.flows[1], hours=(21, 22), taken=(22.25, 24), rate=3, spare=6)
"""A queue that one job fills, and another empties when that has ended."""
_WEEKEND = tuple(replace(each, rate=0.1 * each.rate) for each in SHOP.flows)

_SITES: Mapping[str, Site] = {
    "payments": BANK,
    "shop": SHOP,
    "batch-only": replace(NIGHT, flows=NIGHT.flows[:2]),
    "batch-and-day": NIGHT,
    "cards": CARDS,
    "group": GROUP,
    "tiny": TINY,
    "hub": replace(HUB, minutes=15),
    "statistics-only": STATS,
    "clients-only": replace(SHOP, flows=_CLIENTS, channels=SHOP.channels[:2]),
    "month-end": replace(BANK, day=dt.date(2026, 10, 30), flows=_MONTH_END),
    "weekend": replace(SHOP, day=dt.date(2026, 10, 17), flows=_WEEKEND),
    "restart": replace(BANK, times={"gaps": [(13.5, 13.75)], "restarts": [13.75]}),
    "restart-at-night": replace(GROUP, times={"gaps": [(3, 3.5)], "restarts": [3.5]}),
    "spring-change": replace(BANK, day=dt.date(2026, 3, 29), east=1, times={"change": (2, 2)}),
    "autumn-change": replace(SHOP, day=dt.date(2026, 11, 1), times={"change": (2, -6)}),
    "late-trace": replace(BANK, times={"hours": (9.2, 24)}),
    "changed-interval": replace(BANK, minutes=30, times={"shorter": (12, 5)}),
    "small-pools": replace(NIGHT, pools={0: Pool(1000), 1: Pool(20_000), 2: Pool(20_000)}),
    "handed-over": replace(
        BANK, flows=tuple(replace(each, handed=0.75) for each in BANK.flows), minutes=30
    ),
    "batch-by-turns": replace(NIGHT, flows=(NIGHT.flows[0], _LATER, *NIGHT.flows[2:])),
    "mirrored-log": replace(BANK, log_us=720.0),
    "page-set-not-expanding": replace(
        BANK, page_sets={**BANK.page_sets, 6: PageSet(5, 500_000, 0.66, expands=False)}
    ),
    "eight-dispatchers": replace(HUB, dispatchers=8, minutes=30),
    "one-log-copy": replace(CARDS, copies=1),
    "below-the-bar": replace(
        STATS, pools={0: Pool(20_000, above=False), 3: Pool(30_000, above=False)}
    ),
}


@cache
def healthy() -> Mapping[str, Case]:
    return {f"healthy-{name}": Case(f"healthy-{name}", site, ()) for name, site in _SITES.items()}
