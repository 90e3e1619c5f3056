"""Whether compression of a channel saves CPU, and the minimum compressibility for a saving."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Annotated

from smfparse.planning.plans import Ask, Asked, Figure, Planner, between, published, said, source

_TABLE = "channel_compression_v1.1"
COST = "transaction cost, CPU us"
COMPRESSION = "compression time, us (COMPTIME)"
CHANNELS = {
    "none": "none",
    "tls12-ecdhe-cbc": "TLS1.2 ECDHE_RSA_256_CBC_SHA384",
    "tls12-rsa-cbc": "TLS1.2 TLS_RSA_WITH_AES_256_CBC_SHA256",
    "tls13-gcm": "TLS1.3 TLS_AES_128_GCM_SHA256",
    "tls13-chacha": "TLS1.3 TLS_CHACHA20_POLY1305_SHA256",
}
"""Channels in the published tables, by short name."""
_CHUNK_KB = {True: 16, False: 32}
"""KB of a chunk, the unit of compression; True: with TLS."""


@cache
def _rows(figure: str) -> Mapping[tuple[str, str, float], Mapping[float, float]]:
    """Return {(channel, COMPMSG, size in KB): {compressibility in %: value}} for a figure."""
    return {
        (row["channel"], row["compmsg"], float(row["size_kb"])): {
            float(percent): value for percent, value in row["by_compressibility"].items()
        }
        for row in published(_TABLE)
        if row["figure"] == figure
    }


def compression_figure(
    figure: str, channel: str, compmsg: str, size_kb: float, percent: float
) -> float:
    """Return a figure of the tables, interpolated linearly between sizes and compressibilities.

    figure  COST or COMPRESSION; channel  key of CHANNELS; compmsg  NONE, RLE, ZLIBFAST, ZLIBHIGH

    Raises RequestError outside the measured range.
    """
    sizes = {
        size: between(values, percent, "compressible", "%")
        for (of, by, size), values in _rows(figure).items()
        if of == CHANNELS[channel] and by == compmsg
    }
    return between(sizes, size_kb, "message_kb", "KB")


def break_even(channel: str, size_kb: float, compmsg: str = "ZLIBFAST") -> float | None:
    """Return the minimum compressibility, %, for which compression saves CPU; None: no saving."""
    points = [0.0, 20.0, 40.0, 60.0, 80.0]
    more = [
        compression_figure(COST, channel, compmsg, size_kb, each)
        - compression_figure(COST, channel, "NONE", size_kb, each)
        for each in points
    ]
    if more[0] <= 0:
        return 0.0
    for (low, before), (high, after) in pairwise(zip(points, more, strict=True)):
        if after <= 0:
            return low + (high - low) * before / (before - after)
    return None


def compression_chunks(size_kb: float, tls: bool) -> int:
    """Return the number of chunks of a message; each chunk is compressed separately."""
    return int(-(-size_kb // _CHUNK_KB[tls]))


def compression_us(size_kb: float, tls: bool, comptime_us: float) -> float:
    """Return the microseconds of compressing a message; COMPTIME is the time of each chunk."""
    return compression_chunks(size_kb, tls) * comptime_us


@dataclass(frozen=True)
class Compression(Asked):
    """Inputs; the defaults are values of IBM's tables."""

    channel_kind: Annotated[str, Ask("TLS of the channel", among=tuple(CHANNELS))] = (
        "tls12-ecdhe-cbc"
    )
    message_kb: Annotated[
        float,
        Ask("Size of messages", "KB", low=2, high=100, measured="qcstnbyt over qcstnmsg"),
    ] = 32
    compressible: Annotated[
        float, Ask("Size reduction of messages by compression", "%", high=80, measured="qcstcpra")
    ] = 60
    compmsg: Annotated[str, Ask("COMPMSG", among=("RLE", "ZLIBFAST", "ZLIBHIGH"))] = "ZLIBFAST"
    messages_s: Annotated[float, Ask("Messages per second", measured="qcstnmsg over the time")] = (
        1000
    )
    comptime: Annotated[float | None, Ask("COMPTIME of a chunk, from DISPLAY CHSTATUS", "us")] = (
        None
    )


def _figures(asked: Compression) -> Sequence[Figure]:
    at = (asked.message_kb, asked.compressible)
    without = compression_figure(COST, asked.channel_kind, "NONE", *at)
    with_it = compression_figure(COST, asked.channel_kind, asked.compmsg, *at)
    tls = asked.channel_kind != "none"
    number = compression_chunks(asked.message_kb, tls)
    mb = asked.messages_s * asked.message_kb / 1024
    found = [
        Figure(
            "without_us", "CPU per transaction without compression", without, "us", "published", 2
        ),
        Figure("with_us", f"CPU with {asked.compmsg}", with_it, "us", "published", 2),
        Figure(
            *("saved_us", "CPU saved", without - with_it, "us"),
            *(f"{said(without)} - {said(with_it)}", 2),
        ),
        *_break_even(asked),
        Figure(
            *("mb_s", "Network rate with compression", mb * (1 - asked.compressible / 100), "MB/s"),
            *(f"{said(mb)} x (1 - {asked.compressible:g}%)", 2),
        ),
        Figure(
            *("chunks", "Chunks per message", number, ""),
            f"ceil({said(asked.message_kb)} / {_CHUNK_KB[tls]})",
        ),
    ]
    if asked.comptime is not None:
        us = compression_us(asked.message_kb, tls, asked.comptime)
        found.append(
            Figure(
                *("chunks_us", "Compression time per message", us, "us"),
                f"{number} x {said(asked.comptime)}",
            )
        )
    return found


def _break_even(asked: Compression) -> list[Figure]:
    percent = break_even(asked.channel_kind, asked.message_kb, asked.compmsg)
    if percent is None:
        return []
    return [
        Figure(
            *(
                "break_even_percent",
                "Compression saves CPU if the reduction is at least",
                percent,
                "%",
            ),
            *("where both costs are equal, by linear interpolation", 1),
        )
    ]


PLANNER = Planner(
    "compression",
    "CPU saving by channel compression",
    Compression,
    _figures,
    (
        source(_TABLE),
        "Same source: 63 KB with TLS are 4 chunks: 36 us with ZLIBFAST, 464 with ZLIBHIGH. For 100 "
        "KB that compress by 95%, the source prints 188 us of decompression, but 4 x 46 is 184",
    ),
    "z16, requester and server on z/OS, a new key per MB. Hardware compresses data of 1 KB or more "
    "(z15 and later). If the line 'Compression saves CPU' is missing, compression saves no "
    "CPU up to a reduction of 80%. Messages encrypted by AMS do not become smaller.",
    (
        "the reduction of messages on channels without compression: try it on one channel",
        "the cost of the network",
    ),
    "START TRACE(ACCTG) CLASS(4)",
)
