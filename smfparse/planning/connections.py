"""The number of connections that fit into the 31-bit storage of the queue manager."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from smfparse.planning.plans import Ask, Asked, Figure, Planner, said

CONNECTION_KB = {"bindings": 16.0, "1": 24.0, "10": 17.0, "1-shared": 29.5}
"""KB per connection, by kind. SHARECNV(10): KB per conversation, a tenth of 169.6 per channel."""
USABLE = 0.8
"""Share of the remaining storage that may be used."""


def storage_mb(connections: int, kb_each: float) -> float:
    """Return the MB that connections use."""
    return connections * kb_each / 1024


def connections_in(left_mb: float, kb_each: float) -> int:
    """Return the number of further connections that fit into the usable remaining storage."""
    return max(0, math.floor(left_mb * 1024 * USABLE / kb_each))


@dataclass(frozen=True)
class Connections(Asked):
    """Inputs; the defaults are the values of IBM's report."""

    connections: Annotated[int, Ask("Planned connections")] = 8000
    kind: Annotated[
        str,
        Ask(
            "Bindings (also for SHARECNV(0)), SHARECNV 1 or 10, or SHARECNV 1 with shared queues",
            among=tuple(CONNECTION_KB),
        ),
    ] = "bindings"
    left_mb: Annotated[
        float | None,
        Ask(
            "Remaining 31-bit storage",
            "MB",
            high=2048,
            measured="least of qsrsaval - qsrssos - qsrscrit - qsrsmvs",
        ),
    ] = None
    kb_each: Annotated[
        float | None,
        Ask(
            "Storage per connection, instead of the published value",
            "KB",
            low=0.1,
            measured="slope of qsrseloal over channels (qcctnocc)",
        ),
    ] = None
    objects: Annotated[int, Ask("Open objects per connection", high=32)] = 1


def _figures(asked: Connections) -> Sequence[Figure]:
    each = asked.kb_each or CONNECTION_KB[asked.kind]
    needed = storage_mb(asked.connections, each)
    found = [
        Figure(
            *("storage_mb", "Storage of the connections", needed, "MB"),
            *(f"{said(asked.connections)} x {said(each)} / 1024", 1),
        )
    ]
    if asked.left_mb is not None:
        found.append(
            Figure(
                *("more", "Additional connections", connections_in(asked.left_mb, each), ""),
                f"floor({said(asked.left_mb)} x 1024 x {USABLE} / {said(each)})",
            )
        )
    return found


PLANNER = Planner(
    "connections",
    "Maximum connections of the queue manager",
    Connections,
    _figures,
    (
        "MQ 9.3 performance report, chapter 2: 16, 24, 169.6 and 29.5 KB",
        "zCX use cases: one connection instead of 8,000 client connections freed 110 MB: 14.1 KB "
        "each",
    ),
    "At most 32 open objects per connection, small units of work, storage below the bar only.",
    ("storage of exits and large units of work", "connections without messages"),
    "START TRACE(STAT) CLASS(2)",
)
