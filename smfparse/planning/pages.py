"""Space of messages in page sets and buffer pools, and the time until a page set is full."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from smfparse.planning.plans import Ask, Asked, Figure, Planner, said

PAGE = 4096
_ONE_PAGE, _OF_A_PAGE = 3596, 4049
"""Maximum bytes on one page, and bytes per page of a longer message: not published by IBM."""
_LONG, _LONG_PAGES = 4 << 20, 1037
_HELD, _HELD_IN = 19_980, 20_157
"""IBM's example of a full page set: one-page messages, and pages including control pages."""
_USED_AT_PEAK = 0.85
_SPARE = 1.2
_FULL = 0.95
"""Used share at which a pool counts as full: tasks write pages, so the share does not rise."""
_YEAR_S = 366 * 86_400
"""Maximum time until full that is shown, in seconds."""


def message_pages(size: float) -> int:
    """Return the number of pages of a private message; size: bytes, with headers except MQMD."""
    whole, rest = divmod(math.ceil(size), _LONG)
    if whole and not rest:
        return whole * _LONG_PAGES
    if size <= _ONE_PAGE:
        return 1
    return whole * _LONG_PAGES + 1 + math.ceil(rest / _OF_A_PAGE)


def page_set_pages(depth: float, pages_each: float) -> int:
    """Return the number of pages of a page set for messages, including control pages."""
    return math.ceil(depth * pages_each * _HELD_IN / _HELD)


def data_buffers(messages: int, size: int) -> int:
    """Return the number of buffers for the data of messages, as in IBM's MFT reports."""
    return messages * math.ceil(size / PAGE)


def pool_floor(peak_pages: float) -> int:
    """Return the number of buffers of a pool in which 15% are free at the peak."""
    return math.ceil(peak_pages / _USED_AT_PEAK)


def seconds_to(limit: float, now: float, growth: float) -> float | None:
    """Return the seconds until a limit is reached; None: no growth."""
    return (limit - now) / growth if growth > 0 else None


@dataclass(frozen=True)
class Pages(Asked):
    """Inputs; the defaults are IBM's examples."""

    message_kb: Annotated[
        float,
        Ask(
            "Size of messages",
            "KB",
            high=102_400,
            measured="bytes over messages of tasks that only put (wqst)",
        ),
    ] = 1
    pages_each: Annotated[
        float | None,
        Ask(
            "Pages per message, instead of the formula",
            low=0.01,
            measured="wtasgpn over validput of tasks that only put",
        ),
    ] = None
    depth: Annotated[int, Ask("Messages to store in the page set", high=999_999_999)] = 19_980
    arrivals: Annotated[
        float | None, Ask("Messages put per second, for an outage", measured="qqst puts")
    ] = None
    outage_hours: Annotated[float, Ask("Consumer outage", "hours")] = 1
    peak_pages: Annotated[
        int, Ask("Maximum buffers in use in a pool", measured="qpstnbuf - qpstcbsl, largest")
    ] = 57_692
    pool_buffers: Annotated[
        int | None, Ask("Current buffers of that pool", measured="qpstnbuf of that pool")
    ] = None
    growth: Annotated[
        float | None,
        Ask(
            "Messages put per second minus messages got",
            low=-math.inf,
            measured="slope of qqstdpth of the queue that grows most",
        ),
    ] = None
    now: Annotated[int, Ask("Current queue depth", measured="qqstdpth of that queue")] = 0
    maxdepth: Annotated[int, Ask("MAXDEPTH")] = 999_999_999
    free_pages: Annotated[
        int | None,
        Ask(
            "Free pages of the page set",
            measured="last qis1unpg of the first page set to fill",
        ),
    ] = None
    page_growth: Annotated[
        float | None,
        Ask(
            "Growth of the page set, in pages per second",
            low=-math.inf,
            measured="slope of qis1topg - qis1unpg over the last 3 hours",
        ),
    ] = None


def _figures(asked: Pages) -> Sequence[Figure]:
    size = math.ceil(asked.message_kb * 1024)
    each = asked.pages_each or message_pages(size)
    needed = page_set_pages(asked.depth, each)
    floor = pool_floor(asked.peak_pages)
    is_full = asked.pool_buffers is not None and asked.peak_pages >= _FULL * asked.pool_buffers
    bound = "; the pool was full, so the peak can be higher" if is_full else ""
    return [
        Figure("pages_each", "Pages per message", each, "", _of_message(size, asked), 2),
        Figure(
            *("page_set_pages", "Page set size in pages", needed, ""),
            f"ceil({asked.depth} x {said(each)} x {_HELD_IN} / {_HELD})",
        ),
        Figure(
            *("page_set_gb", "Page set", needed * PAGE / 2**30, "GB", f"{needed} x 4096 / 2^30", 3)
        ),
        Figure(
            *("buffers_floor", "Minimum buffers" + ", at least" * is_full, floor, ""),
            f"ceil({asked.peak_pages} / {_USED_AT_PEAK}){bound}",
        ),
        Figure(
            *("buffers", "Buffers including 20% margin", math.ceil(floor * _SPARE), ""),
            f"{floor} x {_SPARE}{', at least' if is_full else ''}",
        ),
        *_outage(asked, each),
        *_until_full(asked, each),
    ]


def _of_message(size: int, asked: Pages) -> str:
    if asked.pages_each is not None:
        return "measured, or given"
    return f"1 up to {_ONE_PAGE} bytes, otherwise 1 + ceil({size} / {_OF_A_PAGE})"


def _outage(asked: Pages, each: float) -> list[Figure]:
    if asked.arrivals is None:
        return []
    depth = asked.arrivals * asked.outage_hours * 3600
    pages = page_set_pages(depth, each)
    return [
        Figure(
            *("outage_depth", "Messages after the outage", depth, ""),
            f"{said(asked.arrivals)} x {said(asked.outage_hours)} x 3600",
        ),
        Figure(
            *("outage_gb", "Page set for these messages", pages * PAGE / 2**30, "GB"),
            *(f"{pages} pages of 4096 bytes", 2),
        ),
    ]


def _until_full(asked: Pages, each: float) -> list[Figure]:
    found = []
    if asked.growth is not None:
        formula = f"({asked.maxdepth} - {asked.now}) / {said(asked.growth)} / 3600"
        deep = seconds_to(asked.maxdepth, asked.now, asked.growth)
        found += _hours("maxdepth_h", "Time until the queue reaches MAXDEPTH", deep, formula)
    pages, formula = asked.page_growth, f"{said(asked.page_growth or 0)}"
    if pages is None and asked.growth is not None:
        pages, formula = asked.growth * each, f"({said(asked.growth)} x {said(each)})"
    if pages is not None and asked.free_pages is not None:
        formula = f"{asked.free_pages} / {formula} / 3600"
        full = seconds_to(asked.free_pages, 0, pages)
        found += _hours("full_h", "Time until the page set is full", full, formula)
    return found


def _hours(name: str, label: str, seconds: float | None, formula: str) -> list[Figure]:
    """Return the figure of a time until full; []: never full, or not within a year."""
    if seconds is None or seconds >= _YEAR_S:
        return []
    return [Figure(name, label, seconds / 3600, "hours", formula, 1)]


PLANNER = Planner(
    "pages",
    "Space of messages in page sets and buffer pools",
    Pages,
    _figures,
    (
        "MQ 9.3 performance report, chapter 6: a page set of 20,157 pages held 19,980 messages of "
        "1 KB; 10 puts of 1 KB took 11 new pages",
        "MQFTE V7.0.1 for System z, 2009: 50 messages of 256 KB use 3,200 buffers for data "
        "alone; with headers the formula gives 3,300",
    ),
    "Messages of private queues. The constants 3,596, 4,049 and 1,037 of the formula are not "
    "published by IBM: measure the pages if 1% is important.",
    (
        "space still occupied by pages of old small messages",
        "other users of the page set or pool",
        "the expansion limit of the page set (EXPAND)",
        "the size of a backlog that exceeded a full pool",
    ),
    "START TRACE(STAT) CLASS(1,2,5), START TRACE(ACCTG) CLASS(3)",
)
