"""The effect of batches, latency and confirm waits on a channel."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from smfparse.planning.pages import message_pages
from smfparse.planning.plans import Ask, Asked, Figure, Planner, said, source


def message_us(active_s: float, batches: float, net_us: float, messages: float) -> float:
    """Return a channel's microseconds per message, without the wait `net_us` of each batch."""
    return max(active_s * 1e6 - batches * net_us, 0) / messages


def batch_rate(each_us: float, round_trip_us: float, batch: float) -> float:
    """Return the maximum messages per second with `batch` messages per batch."""
    return 1e6 / (each_us + round_trip_us / batch)


def most_in_a_batch(batchlim_kb: float, size: float, batchsz: int) -> int:
    """Return the maximum messages of `size` bytes per batch; `batchlim_kb` 0: no limit."""
    if not batchlim_kb:
        return batchsz
    return min(batchsz, math.floor(batchlim_kb * 1024 / size) + 1)


def least_gain(batch: float, new_batch: float) -> float:
    """Return the ratio of new to current rate if the channel only waits for confirmations."""
    return new_batch / batch


def client_flows(rate: float, slower: float, added_us: float) -> float:
    """Return the flows per message, from the rates without and with `added_us` per flow."""
    return (1e6 / slower - 1e6 / rate) / added_us


@dataclass(frozen=True)
class Batches(Asked):
    """Inputs; the defaults are IBM's example over a network of 50 ms one way.

    The default time of a message corresponds to 64.73 MB/s in messages of 32 KB, without latency.
    """

    messages_a_batch: Annotated[
        float, Ask("Messages per batch now", low=1, high=9999, measured="qcstnmsg over qcstbatc")
    ] = 34
    message_time: Annotated[
        float,
        Ask(
            "Time per message, without waits for confirmation",
            "us",
            low=0.1,
            measured="(active time - batches x qcstntav) over qcstnmsg",
        ),
    ] = 483
    net_ms: Annotated[
        float, Ask("NETTIME, the round trip of a batch", "ms", high=10_000, measured="qcstntav")
    ] = 100
    message_kb: Annotated[
        float,
        Ask("Size of messages", "KB", high=102_400, low=0.001, measured="qcstnbyt over qcstnmsg"),
    ] = 32
    batchsz: Annotated[int, Ask("Proposed BATCHSZ", low=1, high=9999)] = 50
    batchlim: Annotated[
        float, Ask("BATCHLIM (0: no limit)", "KB", high=999_999, measured="qcstcbdl")
    ] = 5000


def _figures(asked: Batches) -> Sequence[Figure]:
    net = asked.net_ms * 1000
    most = most_in_a_batch(asked.batchlim, asked.message_kb * 1024, asked.batchsz)
    now = batch_rate(asked.message_time, net, asked.messages_a_batch)
    then = batch_rate(asked.message_time, net, most)
    share = net / asked.messages_a_batch * now / 1e6 * 100
    each = f"{said(asked.message_time)} + {said(net)}"
    size = math.ceil(asked.message_kb * 1024)
    return [
        Figure(
            *("now_s", "Current maximum message rate", now, "per second"),
            *(f"1,000,000 / ({each} / {said(asked.messages_a_batch)})", 1),
        ),
        Figure(
            *("confirm_percent", "Share of time waiting for confirmations", share, "%"),
            *(f"{said(net)} / {said(asked.messages_a_batch)} x {said(now)} / 10,000", 1),
        ),
        Figure(
            *("batch", "Maximum messages per proposed batch", most, ""),
            f"least of {asked.batchsz}, floor({said(asked.batchlim)} x 1024 / {size}) + 1",
        ),
        Figure(
            *("then_s", "Maximum message rate with proposed batches", then, "per second"),
            *(f"1,000,000 / ({each} / {most})", 1),
        ),
        *_limits(asked, most),
    ]


def _limits(asked: Batches, most: int) -> list[Figure]:
    """Return minimum gain and pages of a batch, and the limit of the rate for any batch size."""
    size = math.ceil(asked.message_kb * 1024)
    return [
        Figure(
            *("times", "Ratio to the current rate, if only waits limit it"),
            *(least_gain(asked.messages_a_batch, most), "x"),
            *(f"{most} / {said(asked.messages_a_batch)}", 2),
        ),
        Figure(
            "pages",
            "Pages per batch in the buffer pool of the target",
            most * message_pages(size),
            "",
            f"{most} x {message_pages(size)}",
        ),
        Figure(
            *("pipe_s", "Maximum message rate for any batch size", 1e6 / asked.message_time),
            *("per second", f"1,000,000 / {said(asked.message_time)}", 1),
        ),
    ]


PLANNER = Planner(
    "batches",
    "Batches of a long-distance channel",
    Batches,
    _figures,
    (
        "zCX use cases: messages of 32 KB, one-way latency of 50 ms, packet loss: 28 messages per "
        "second with 34 per batch, 63 with 50. The ratio is 2.25 x, but 50 / 34 is only 1.47 x. So "
        "the ratio from waits alone is the minimum gain of larger batches",
        "zCX use cases: NETTIME is twice the one-way latency; from 40 ms, TCP adds to it",
        "zCX use cases: rate with fasp relative to TCP: streaming 10 KB: 4.8 x at 40 ms, 11.75 x "
        "at 50 ms; 1 MB: 1.17 x at 5 ms, 3.6 x at 25 ms, 22.4 x at 40 ms, 72.25 x at 50 ms; up to "
        "32 KB: 33% lower at 5 ms",
        "zCX use cases: less packet loss at 50 ms raises the rate: 10 KB from 0.57 to 2.19 MB/s "
        "with TCP, from 6.7 to 11.56 with fasp; 1 MB from 0.81 to 5.56 with TCP, from 58.77 to "
        "61.66 with fasp",
        f"{source('qrep_latency_mb_s')}: 150 us more per flow reduces the rate of clients with "
        "messages of 2 KB from 5.31 to 2.12 MB/s, and of batches of 200 messages from 16.16 to "
        "15.58",
    ),
    "An upper limit for one channel: one batch waits at a time, and enough messages wait to fill "
    "batches.",
    (
        "the TCP window and packet loss",
        "time in which the channel waited for messages: the time per message includes it. Select "
        "a busy time (--from, --until), or give --message-time",
        "one-way latency: half of NETTIME, without other waits",
    ),
    "START TRACE(ACCTG) CLASS(4)",
)
