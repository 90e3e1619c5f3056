"""The time until a full repository is up to date, and the time of first opens of unknown names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from smfparse.errors import RequestError
from smfparse.planning.plans import Ask, Asked, Figure, Planner, said

OBJECTS, ZOS_S, ZCX_S = 6_000_000, 420, 25
"""IBM's test: queue definitions; seconds to process all definitions on z/OS, and on zCX."""
UNKNOWN_S = 1.0
"""Duration of the first open of a name that is not in the repository, seconds."""
_KNOWN_1000_S = 2.0


def drain_s(depth: float, gets_s: float, puts_s: float) -> float:
    """Return the seconds until the command queue is empty.

    Raises RequestError unless gets per second exceed puts per second.
    """
    if gets_s <= puts_s:
        raise RequestError(
            f"gets_s={gets_s:g}: must exceed {puts_s:g}, the puts per second", "gets_s"
        )
    return depth / (gets_s - puts_s)


@dataclass(frozen=True)
class Cluster(Asked):
    """Inputs; the defaults are the values of IBM's test."""

    depth: Annotated[
        float,
        Ask("Depth of SYSTEM.CLUSTER.COMMAND.QUEUE", measured="highest qqstdphi of that queue"),
    ] = 50_000
    gets_s: Annotated[
        float,
        Ask(
            "Messages got from the command queue per second",
            low=0.001,
            measured="highest qqstgets of that queue",
        ),
    ] = OBJECTS / ZOS_S
    puts_s: Annotated[
        float, Ask("Messages put to the command queue per second at the same time")
    ] = 0
    objects: Annotated[int, Ask("Objects defined in the cluster")] = OBJECTS
    unknown: Annotated[int, Ask("Names opened for the first time by applications")] = 1000


def _figures(asked: Cluster) -> Sequence[Figure]:
    seconds = drain_s(asked.depth, asked.gets_s, asked.puts_s)
    apart = f"({said(asked.gets_s)} - {said(asked.puts_s)})"
    return [
        Figure(
            *("drain_s", "Time until the command queue is empty", seconds, "s"),
            *(f"{said(asked.depth)} / {apart}", 1),
        ),
        Figure(
            *("zos_s", "Definition of all objects, z/OS", asked.objects * ZOS_S / OBJECTS, "s"),
            f"{asked.objects:,} / {said(OBJECTS // ZOS_S)} per second",
        ),
        Figure(
            *("zcx_s", "Definition of all objects, zCX", asked.objects * ZCX_S / OBJECTS, "s"),
            f"{asked.objects:,} / {said(OBJECTS / ZCX_S)} per second",
        ),
        Figure(
            *("unknown_s", "First opens of unknown names", asked.unknown * UNKNOWN_S, "s"),
            f"{asked.unknown} x 1 s",
        ),
        Figure(
            "known_s",
            "First opens of known names, less than",
            asked.unknown * _KNOWN_1000_S / 1000,
            "s",
            f"{asked.unknown} x 2 s / 1000",
            2,
        ),
    ]


PLANNER = Planner(
    "cluster",
    "Time of a full repository to process its changes",
    Cluster,
    _figures,
    (
        "zCX use cases, chapter 4: 6,000,000 definitions: z/OS 7 minutes, depth at most 50,000; "
        "zCX 25 s, depth more than 500,000 (1.2 GB)",
        "zCX use cases, chapter 4: first opens of 1,000 unknown names take 1,000 s, of "
        "known names less than 2 s",
    ),
    "The cluster is ready when the command queue of each full repository is empty. On z/OS the "
    "cluster cache starts with 2 MB. Together with the storage of all channels it must stay below "
    "2 GB.",
    (
        "the number of objects",
        "errors (MQRC 2085) of applications that do not wait",
        "opens and puts of 10 s while DISPLAY QCLUSTER runs: APAR PH63443 (9.3, 9.4)",
    ),
    "START TRACE(STAT) CLASS(5)",
)
