"""Transfers, stored data and cost of Managed File Transfer."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from smfparse.errors import RequestError
from smfparse.planning.plans import Ask, Asked, Figure, Planner, between, published, said, source

_TABLE = "mft_v1.02_appendix_C"
_SIZES_MB = {"1MB": 1, "10MB": 10, "100MB": 100, "1GB": 1024}
_GB = 2**30
RATE, COST = "MB/s", "CPU s per GB"
_SYSTEMS = ("z/OS", "USS", "xLinux")
_QUEUES = ("Private", "Shared Db2", "Shared SMDS")
_AMS = ("N", "Integrity", "Privacy", "Confidentiality")
_KEYS = ("mode", "source", "target", "network", "queue", "zhpf", "tls", "ams", "compmsg")


def checkpoint_mb(chunk: int, window: int, frame: int, interval: int) -> float:
    """Return the MB between two checkpoints of a transfer; `chunk` in bytes."""
    return chunk * window * frame * interval / 2**20


def acknowledgements(messages: int, window: int) -> int:
    """Return the number of replies to `messages` data messages."""
    return messages // window


def state_updates(messages: int, window: int, frame: int, interval: int) -> int:
    """Return how often a transfer of `messages` messages gets and puts its STATE message."""
    return messages // (window * frame * interval)


def unacknowledged(window: int, frame: int) -> int:
    """Return the maximum number of data messages that wait for a reply."""
    return window * frame


def rate_bound(chunk: int, window: int, frame: int, round_trip_ms: float) -> float:
    """Return the maximum MB per second, limited by the round trip of replies."""
    return chunk * window * frame / 2**20 / (round_trip_ms / 1000)


def transfer_rows(figure: str, **setting: Any) -> Sequence[Mapping[str, Any]]:
    """Return the published rows of a figure (RATE, COST) for a setting: source, target, queue..."""
    return [
        row
        for row in published(_TABLE)
        if row["figure"] == figure and all(row[key] == value for key, value in setting.items())
    ]


def transfer_figure(row: Mapping[str, Any], mb: float) -> float:
    """Return the figure for files of `mb` MB, interpolated linearly over the logarithm of `mb`.

    Raises RequestError for files below 1 MB; files above 1 GB count as 1 GB.
    """
    if mb < 1:
        raise RequestError(f"file_mb={mb:g}: published values exist for 1 MB or more", "file_mb")
    points = {math.log(size): float(row[name]) for name, size in _SIZES_MB.items()}
    return between(points, math.log(min(mb, _SIZES_MB["1GB"])), "file_mb", "MB")


@dataclass(frozen=True)
class Mft(Asked):
    """Inputs; the defaults are the defaults of MFT agents, and values of a row of IBM's table."""

    chunk: Annotated[
        int,
        Ask(
            *("Chunk size (agentChunkSize)", "bytes", 1, 104_857_600),
            measured="bytes over messages of queues DATA (wqst)",
        ),
    ] = 262_144
    window: Annotated[
        int,
        Ask(
            "Window size (agentWindowSize)",
            low=1,
            high=10_000,
            measured="messages of DATA over those of REPLY",
        ),
    ] = 10
    frame: Annotated[
        int,
        Ask(
            "Frame size (agentFrameSize); a measured value includes agentCheckpointInterval",
            low=1,
            high=10_000,
            measured="messages of REPLY over puts to STATE",
        ),
    ] = 5
    checkpoints: Annotated[
        int, Ask("Checkpoint interval (agentCheckpointInterval)", low=1, high=10_000)
    ] = 1
    gb: Annotated[float, Ask("Data sent", "GB", measured="bytes of queues DATA (wqst)")] = 1
    file_mb: Annotated[float, Ask("Size of files", "MB", low=1)] = 1024
    round_trip_ms: Annotated[
        float, Ask("Round trip of a reply, as in NETTIME", "ms", low=0.001, measured="qcstntav")
    ] = 100
    transfers: Annotated[int, Ask("Concurrent transfers", low=1)] = 1
    mode: Annotated[str, Ask("Kind of transfer", among=("binary", "text"))] = "binary"
    source: Annotated[str, Ask("System of the source agent", among=_SYSTEMS)] = "z/OS"
    target: Annotated[str, Ask("System of the target agent", among=_SYSTEMS)] = "z/OS"
    network: Annotated[str, Ask("Network", among=("1Gb", "10Gb"))] = "1Gb"
    queue_kind: Annotated[str, Ask("Queues of the agents", among=_QUEUES)] = "Private"
    zhpf: Annotated[str, Ask("Use of zHPF", among=("Y", "N"))] = "Y"
    tls: Annotated[str, Ask("TLS of the channels", among=("N", "TLS 1.2", "TLS 1.3"))] = "N"
    ams: Annotated[str, Ask("AMS policy of the queues", among=_AMS)] = "N"
    compmsg: Annotated[
        str, Ask("COMPMSG of the channels", among=("N", "RLE", "ZLIBFAST", "ZLIBHIGH"))
    ] = "N"
    cpu_ratio: Annotated[
        float, Ask("Speed of a processor relative to z15 (planner cpu)", low=0.01)
    ] = 1


def _figures(asked: Mft) -> Sequence[Figure]:
    parts = (asked.chunk, asked.window, asked.frame)
    messages = math.ceil(asked.gb * _GB / asked.chunk)
    pending = unacknowledged(asked.window, asked.frame) * asked.transfers
    size = f"{asked.chunk} x {asked.window} x {asked.frame}"
    buffers = pending * math.ceil(asked.chunk / 4096)
    return [
        Figure("messages", "Data messages", messages, "", f"{said(asked.gb)} GB / {asked.chunk}"),
        Figure(
            *("replies", "Replies", acknowledgements(messages, asked.window), ""),
            f"floor({messages} / {asked.window})",
        ),
        Figure(
            *("states", "Updates of STATE"),
            *(state_updates(messages, asked.window, asked.frame, asked.checkpoints), ""),
            f"floor({messages} / ({asked.window} x {asked.frame} x {asked.checkpoints}))",
        ),
        Figure(
            *("checkpoint_mb", "Data between checkpoints"),
            *(checkpoint_mb(*parts, asked.checkpoints), "MB"),
            *(f"{size} x {asked.checkpoints} / 2^20", 1),
        ),
        Figure(
            *("pending", "Maximum messages without a reply", pending, ""),
            f"{asked.window} x {asked.frame} x {asked.transfers}",
        ),
        Figure(
            *("buffers", "Buffers for the data of these messages", buffers, ""),
            f"{pending} x ceil({asked.chunk} / 4096)",
        ),
        Figure(
            *(
                "bound_mb_s",
                "Maximum rate, limited by replies",
                rate_bound(*parts, asked.round_trip_ms),
            ),
            *("MB/s", f"{size} / 2^20 / {said(asked.round_trip_ms)} ms", 1),
        ),
        *_published(asked),
    ]


def _published(asked: Mft) -> list[Figure]:
    own = {key: getattr(asked, "queue_kind" if key == "queue" else key) for key in _KEYS}
    setting = own | {"put_to_getter": "Y", "batchint": 0}
    files = f"files of {said(asked.file_mb)} MB"
    found = [
        Figure("mb_s", "Rate measured by IBM", rate, "MB/s", f"{files}, z15", 2)
        for row in transfer_rows(RATE, **setting)
        for rate in [transfer_figure(row, asked.file_mb)]
    ]
    for row in transfer_rows(COST, **setting):
        cost = transfer_figure(row, asked.file_mb)
        found.append(
            Figure(
                *("cpu_s", "CPU", asked.gb * cost / asked.cpu_ratio, "s"),
                *(f"{said(asked.gb)} x {cost:.2f} / {asked.cpu_ratio:g}", 2),
            )
        )
    return found


PLANNER = Planner(
    "mft",
    "Transfers and cost of Managed File Transfer",
    Mft,
    _figures,
    (
        f"{source(_TABLE)}, 92 rows",
        "MQFTE V7.0.1 for System z, 2009: 12.5 MB between checkpoints; 100 MB with 8 intervals, "
        "2.5 MB with frame size 1; at most 50 waiting messages, 12,800 KB or 3,200 buffers",
        "Same source, on z10: 20 to 25 MB/s, 30 with two small transfers, at most 52, half the "
        "rate of FTP; 20% faster with chunks of 512 KB, 25% with a window of 40; 4 us less "
        "CPU per KB with 8 intervals between checkpoints, and more CPU with frame size 1",
        "Same source: a put to STATE takes 138 us for 16 KB, 2,561 for 1 MB; data sets use 18.9 "
        "tracks with BLKSIZE(27920), 21.0 with BLKSIZE(6400)",
    ),
    "Files of 1 MB or more, z15, one transfer after the other. The rate is shown only for settings "
    "in the published table. zIIPs can run 90% of text conversion; of all CPU, 60% for files "
    "below 100 MB, and 40% for larger files.",
    (
        "file sizes, and the CPU of agents: see SMF 30",
        "packet loss: IBM measured 0.74 MB/s with 0.5% at 10,000 km",
    ),
    "START TRACE(ACCTG) CLASS(3,4)",
)
