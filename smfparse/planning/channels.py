"""The number of channels that fit into the 31-bit storage of a channel initiator."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from smfparse.planning.plans import Ask, Asked, Figure, Planner, between, published, said

USABLE = 0.8
"""Share of the storage that may be used, from IBM's example."""
MOST_CHANNELS = 9999
"""Maximum number of current channels of a channel initiator."""
CSA_KB = {"0": 2.47, "1": 4.9, "10": 2.7, "mca": 2.47}
"""KB of common storage (CSA) per connection, by SHARECNV; mca: as for a bindings connection.

IBM's values are per conversation: 2.47 KB for the conversation itself, and its share of the 2.47 KB
of the channel, which up to SHARECNV conversations use together.
"""
_SIZES = {"1KB": 1, "10KB": 10, "32KB": 32, "64KB": 64, "4MB": 4096}
_ABOVE_KB = 32
"""From 9.4 on, buffers of SVRCONN messages above this size are above the bar."""
_TABLES = {"9.4": "9.3"}
"""Release whose table is used, by release without a published table."""


def chin_kb(message_kb: float, sharecnv: str, release: str) -> float:
    """Return the KB of 31-bit storage that a channel uses, for its message size.

    sharecnv  0, 1, 10, or mca; release  9.1 to 9.4

    Raises RequestError above 64 KB (SVRCONN) or 4 MB (MCA): no published values.
    """
    if sharecnv == "mca":
        rows = published("r93_ch2_chin_kb_per_mca")
    else:
        rows = published("r93_ch2_chin_kb_per_svrconn")[_TABLES.get(release, release)][sharecnv]
    points: dict[float, float] = {_SIZES[size]: kb for size, kb in rows.items()}
    return between(points, max(message_kb, 1), "message_kb", "KB")


def usable_mb(total_mb: float) -> int:
    """Return the MB of the storage that may be used."""
    return math.floor(total_mb * 4 / 5)


def channels_in(room_mb: float, kb_each: float) -> int:
    """Return the number of further channels that fit into storage."""
    return max(0, math.floor(room_mb * 1024 / kb_each))


@dataclass(frozen=True)
class Channels(Asked):
    """Inputs; the defaults are IBM's example."""

    total_mb: Annotated[float, Ask("Used plus free storage, from CSQX004I", "MB")] = 1466
    used_mb: Annotated[float, Ask("Storage in use, from CSQX004I", "MB", measured="qcctstus")] = 120
    current: Annotated[int, Ask("Current channels", high=MOST_CHANNELS, measured="qcctnocc")] = 0
    message_kb: Annotated[
        float, Ask("Size of messages; maximum 64 KB for SVRCONN", "KB", high=4096)
    ] = 32
    sharecnv: Annotated[
        str, Ask("SHARECNV of client channels, or mca for others", among=("0", "1", "10", "mca"))
    ] = "1"
    release: Annotated[
        str, Ask("MQ release", among=("9.1", "9.2", "9.3", "9.4"), measured="mq_version")
    ] = "9.3"
    maxchl: Annotated[int, Ask("MAXCHL", low=1, high=MOST_CHANNELS, measured="qcctmxcc")] = (
        MOST_CHANNELS
    )
    kb_each: Annotated[
        float | None,
        Ask(
            "Storage per channel, instead of the published value",
            "KB",
            low=1,
            measured="slope of qcctstus over qcctnocc",
        ),
    ] = None


def _figures(asked: Channels) -> Sequence[Figure]:
    cap = usable_mb(asked.total_mb)
    room = cap - asked.used_mb
    each = asked.kb_each or chin_kb(asked.message_kb, asked.sharecnv, asked.release)
    more = channels_in(room, each)
    count = min(asked.current + more, asked.maxchl, MOST_CHANNELS)
    shared = max(int(asked.sharecnv), 1) if asked.sharecnv != "mca" else 0
    connections, csa = count * (shared or 1), CSA_KB[asked.sharecnv]
    from_table = f"published, {said(asked.message_kb)} KB" if asked.kb_each is None else "given"
    return [
        Figure("cap_mb", "Usable storage", cap, "MB", f"floor(0.8 x {said(asked.total_mb)})"),
        Figure("room_mb", "Free storage", room, "MB", f"{cap} - {said(asked.used_mb)}"),
        Figure("kb_each", "Storage per channel", each, "KB", from_table, 1),
        Figure(
            "more", "Additional channels", more, "", f"floor({said(room)} x 1024 / {said(each)})"
        ),
        Figure(
            *("channels", "Maximum channels", count, ""),
            f"least of {asked.current} + {more}, MAXCHL {asked.maxchl}, {MOST_CHANNELS}",
        ),
        *(
            [Figure("conversations", "Conversations", connections, "", f"{count} x {shared}")]
            if shared
            else []
        ),
        Figure(
            *("csa_mb", "Common storage (CSA)", connections * csa / 1024, "MB"),
            *(f"{connections} x {csa} / 1024; plus 6 MB per queue manager", 1),
        ),
        *_above(asked, count),
    ]


def _above(asked: Channels, count: int) -> list[Figure]:
    if asked.release != "9.4" or asked.sharecnv == "mca" or asked.message_kb <= _ABOVE_KB:
        return []
    extra = count * (asked.message_kb - _ABOVE_KB) / 1024
    return [
        Figure(
            *("memlimit_mb", "MEMLIMIT of the channel initiator", 2048 + extra, "MB"),
            f"2048 + {count} x ({said(asked.message_kb)} - {_ABOVE_KB}) / 1024",
        )
    ]


PLANNER = Planner(
    "channels",
    "Maximum channels of the channel initiator",
    Channels,
    _figures,
    (
        "MQ 9.3 performance report, chapter 2: 120 MB used, 1346 free, SHARECNV(1), 32 KB: "
        "4,643 channels",
        "zCX use cases: 8,000 SVRCONN of 4 KB used 700 MB, 89.6 KB each, as in the table",
        "IBM documentation 9.3.1: about 170 KB per channel (less precise)",
    ),
    "Stable message sizes, because a channel keeps its largest buffer until 10 smaller messages "
    "or a heartbeat follow. No values are published for client messages above 64 KB and others "
    "above 4 MB. From MQ 9.4, buffers of client messages above 32 KB are above the bar, so more "
    "channels fit.",
    (
        "free storage when the channel initiator starts (CSQX004I): not in SMF",
        "storage of exits",
    ),
    "START TRACE(STAT) CLASS(4)",
)
