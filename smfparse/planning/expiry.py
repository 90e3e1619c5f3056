"""The number of expiring messages on a queue, and the cost of their expiry."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from smfparse.planning.pages import message_pages, page_set_pages
from smfparse.planning.plans import Ask, Asked, Figure, Planner, said

PRIVATE_US = {"buffers": 4.0, "page-set": 7.0}
"""CPU microseconds per expired message of a private queue, by location of the message."""
SCAN_US, EXPIRE_US = 3.9, 3.1
"""Coupling facility microseconds per message: of a scan, and of each of the two expiry steps."""


def depths(rate: float, capexpry: float, expryint: float) -> tuple[float, float]:
    """Return the lowest and highest depth of a queue without a consumer.

    rate      messages per second
    capexpry  CAPEXPRY in tenths of a second, as in MQ
    expryint  EXPRYINT in seconds
    """
    life = capexpry / 10
    return rate * life, rate * (life + expryint)


def scan_s(messages: float) -> float:
    """Return the coupling facility seconds of scanning all messages."""
    return messages * SCAN_US / 1e6


def expire_s(messages: float) -> float:
    """Return the coupling facility seconds of expiring messages."""
    return 2 * messages * EXPIRE_US / 1e6


@dataclass(frozen=True)
class Expiry(Asked):
    """Inputs; the defaults are IBM's example."""

    rate: Annotated[
        float,
        Ask(
            "Messages put per second", measured="puts per second (qqst) of the queue with the most"
        ),
    ] = 200
    capexpry: Annotated[float, Ask("CAPEXPRY", "tenths of a second", high=999_999_999)] = 12_000
    expryint: Annotated[float, Ask("EXPRYINT", "seconds", low=1, high=99_999_999)] = 300
    message_kb: Annotated[
        float,
        Ask(
            "Size of messages", "KB", high=102_400, measured="bytes over puts of that queue (qqst)"
        ),
    ] = 1
    place: Annotated[str, Ask("Location of the messages", among=(*PRIVATE_US, "shared"))] = (
        "buffers"
    )


def _figures(asked: Expiry) -> Sequence[Figure]:
    low, high = depths(asked.rate, asked.capexpry, asked.expryint)
    expired = asked.rate * asked.expryint
    life = said(asked.capexpry / 10)
    found = [
        Figure("low", "Lowest depth", low, "messages", f"{said(asked.rate)} x {life}"),
        Figure(
            *("high", "Highest depth", high, "messages"),
            f"{said(asked.rate)} x ({life} + {said(asked.expryint)})",
        ),
        Figure(
            *("oldest_min", "Oldest message", (asked.capexpry / 10 + asked.expryint) / 60, "min"),
            *(f"({life} + {said(asked.expryint)}) / 60", 1),
        ),
        Figure(
            *("expired", "Messages expired per run", expired, "messages"),
            f"{said(asked.rate)} x {said(asked.expryint)}",
        ),
    ]
    return [*found, *(_shared if asked.place == "shared" else _private)(asked, high, expired)]


def _private(asked: Expiry, high: float, expired: float) -> list[Figure]:
    us = PRIVATE_US[asked.place]
    pages = page_set_pages(high, message_pages(asked.message_kb * 1024))
    return [
        Figure(
            "cpu_s", "CPU per run", expired * us / 1e6, "s", f"{said(expired)} x {said(us)} us", 2
        ),
        Figure(
            *("page_set_gb", "Page set", pages * 4096 / 2**30, "GB"),
            *(f"{pages} pages of 4,096 bytes", 2),
        ),
    ]


def _shared(asked: Expiry, high: float, expired: float) -> list[Figure]:
    scan, expire = scan_s(high), expire_s(expired)
    share = (scan + expire) / asked.expryint * 100
    return [
        Figure("scan_s", "Scan of all messages", scan, "s", f"{said(high)} x {SCAN_US} us", 3),
        Figure(
            *("expire_s", "Expiry of the messages of a run", expire, "s"),
            *(f"2 x {said(expired)} x {EXPIRE_US} us", 3),
        ),
        Figure(
            *("busy_percent", "Share of EXPRYINT used by a run", share, "%"),
            *(
                f"({said(scan)} + {said(expire)}) / {said(asked.expryint)}; must stay below 100",
                2,
            ),
        ),
    ]


PLANNER = Planner(
    "expiry",
    "Depth of a queue with expiring messages",
    Expiry,
    _figures,
    (
        "MQ 9.3 performance report, chapter 6: 200 per second for 20 minutes, scanned every 300 s: "
        "240,000 to 300,000 messages",
        "MQ 9.3 performance report, chapter 6: 4 us per message in buffers, 7 us in page sets; "
        "shared queues: 225,000 messages scanned in 0.877 s, and expired by 450,000 requests in "
        "1.4 s",
    ),
    "No application gets the messages; the rate is constant; EXPRYINT is on. At most 250,000 "
    "messages of private queues expire per CPU second.",
    ("CAPEXPRY and EXPRYINT: not in SMF", "expiry set by applications"),
    "START TRACE(STAT) CLASS(5)",
)
