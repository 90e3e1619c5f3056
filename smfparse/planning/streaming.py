"""The cost of streaming queues, estimated before they are enabled."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from smfparse.planning.pages import message_pages
from smfparse.planning.plans import Ask, Asked, Figure, Planner, between, published, said, source

_TABLES = {"private": "r93_ch6_put_private", "shared": "r93_ch6_put_shared"}
OPEN_CLOSE_US = (32.0, 20.0, 7.5)
"""CPU microseconds of opening and closing a shared queue and its stream queue, if another task has
none, one or both of these queues open.
"""
MUSTDUP_US = (1.0, 2.0)
SLOWER = (0.28, 0.45)
"""Minimum and maximum decrease of the put rate by streaming, for a program that only puts."""


def put_us(kb: float, kind: str, streamed: bool) -> float:
    """Return the CPU microseconds of a put: private or shared, with or without a streamed copy.

    Raises RequestError above 128 KB; messages below 2 KB count as 2 KB.
    """
    name = "with_" if streamed else "without"
    points = {float(row["kb"]): float(row[name]) for row in published(_TABLES[kind])}
    return between(points, max(kb, 2), "message_kb", "KB")


def put_ratio(kb: float, kind: str) -> float:
    """Return the CPU of a put with streaming divided by the CPU of a put without streaming."""
    return put_us(kb, kind, True) / put_us(kb, kind, False)


@dataclass(frozen=True)
class Streaming(Asked):
    """Inputs; the defaults are the values of IBM's report."""

    message_kb: Annotated[
        float, Ask("Size of messages", "KB", high=128, measured="putbytes over validput (wqst)")
    ] = 2
    kind: Annotated[str, Ask("Queues", among=tuple(_TABLES))] = "private"
    put_cost: Annotated[
        float | None,
        Ask("CPU per put now", "us", low=0.01, measured="putct + put1ct over puts (wqst)"),
    ] = None
    puts_s: Annotated[
        float, Ask("Messages put per second", measured="validput (wqst) over the time")
    ] = 1000
    share: Annotated[float, Ask("Share of puts to stream", "%", high=100)] = 100
    log_mb_s: Annotated[
        float | None,
        Ask(
            "Log write rate per copy",
            "MB/s",
            measured="CIs of the fuller copy (qjst_io) x share of puts",
        ),
    ] = None
    quality: Annotated[str, Ask("STRMQOS", among=("BESTEF", "MUSTDUP"))] = "BESTEF"


def _figures(asked: Streaming) -> Sequence[Figure]:
    ratio = put_ratio(asked.message_kb, asked.kind)
    now = asked.put_cost or put_us(asked.message_kb, asked.kind, False)
    strict = sum(MUSTDUP_US) / 2 if asked.quality == "MUSTDUP" else 0.0
    then = now * ratio + strict
    streamed = asked.puts_s * asked.share / 100
    cpu = streamed * (then - now) / 1000
    pages = message_pages(asked.message_kb * 1024)
    added = f" + {strict:g}" if strict else ""
    return [
        Figure("put_us", "CPU per put now", now, "us", _source(asked), 2),
        Figure(
            *("then_us", "CPU per streamed put", then, "us"),
            *(f"{said(now)} x {said(ratio)}{added}", 2),
        ),
        Figure(
            *("cpu_ms_s", "Additional CPU", cpu, "ms per second"),
            *(f"{said(streamed)} x ({said(then)} - {said(now)}) / 1000", 2),
        ),
        *_log_rate(asked),
        Figure(
            *("pages_s", "Additional new pages", 0 if asked.kind == "shared" else streamed * pages),
            *("per second", f"{said(streamed)} x {pages}"),
        ),
        Figure(
            *("adapter_ms_s", "Additional adapter time, at most", cpu, "ms per second"),
            *("if all messages arrive through client channels", 2),
        ),
        Figure(
            *("slower", "Slowdown of a program that only puts", 100 * sum(SLOWER) / 2, "%"),
            *("published: 28 to 45", 0, (100 * SLOWER[0], 100 * SLOWER[1])),
        ),
        *_opening(asked),
    ]


def _log_rate(asked: Streaming) -> list[Figure]:
    """Return the log write rate of streamed copies, which have the persistence of the originals."""
    if asked.log_mb_s is None:
        return []
    more = asked.log_mb_s * asked.share / 100
    formula = f"{said(asked.log_mb_s)} x {asked.share:g}%"
    return [Figure("log_mb_s", "Additional log write rate per copy", more, "MB/s", formula, 3)]


def _opening(asked: Streaming) -> list[Figure]:
    if asked.kind != "shared":
        return []
    return [
        Figure(
            *("open_us", "Open and close, if no other task has the queues open", OPEN_CLOSE_US[0]),
            *("us", "published; 20 if another task has one of them open, 7.5 if both", 1),
        )
    ]


def _source(asked: Streaming) -> str:
    if asked.put_cost is not None:
        return "measured, or given"
    return f"published, {said(asked.message_kb)} KB"


PLANNER = Planner(
    "streaming",
    "Cost of streaming queues",
    Streaming,
    _figures,
    (
        source(_TABLES["private"]),
        "MQ 9.3 performance report, chapter 6: 10 puts of 1 KB: 11 new pages, 22 with streaming",
        "MQ 9.3 performance report, chapter 6: on a saturated log, round trips take up to 10% "
        "longer for messages to 32 KB, 20% with 64 KB, and nearly twice as long from 1 MB",
        "MQ 9.3 performance report, chapter 6: MUSTDUP costs 1 to 2 us per put, and its rate is "
        "14% lower than with BESTEF (BESTEF 16% higher than MUSTDUP); streaming costs 18% less "
        "than publishing to 2 subscribers",
    ),
    "Messages of 2 to 128 KB. Queues that already stream are not measured. A copy stays on the "
    "stream queue until an application gets it, so plan for its depth. Class 3 accounting counts "
    "only the put of the application; its CPU includes both puts.",
    (
        "the share of puts to stream (--share)",
        "CPU of MSTR and of the coupling facility for shared stream queues: see RMF",
    ),
    "START TRACE(ACCTG) CLASS(3), START TRACE(STAT) CLASS(1)",
)
