"""QTST: topic manager statistics, one per queue manager and interval."""

from smfparse.layout.blocks import block
from smfparse.layout.clocks import Elapsed, HighElapsed
from smfparse.layout.columns import header
from smfparse.layout.kinds import Count32, High32, Low32, Reserved

QTST = block(
    "QTST",
    "Topic manager statistics, one per queue manager and interval",
    header("qtstid qtstll qtstdesc", "A302", "QTST"),
    "qtststot" / Count32 * "Subscription requests",
    "qtstsdur" / Count32 * "Durable subscription requests",
    "qtstshig" / High32[3] * "Highest number of subscriptions; entries are API, ADMIN, PROXY",
    "qtstslow" / Low32[3] * "Lowest number of subscriptions; entries are API, ADMIN, PROXY",
    "qtstsexp" / Count32 * "Subscriptions that expired",
    "qtsttmsg" / Count32 * "Messages put to subscribers' queues",
    "qtstsphw" / High32 * "Highest number of subscribers reached by one publish",
    "qtstptot" / Count32[3] * "Publish requests; entries are API, ADMIN, PROXY",
    "qtstphig" / High32 * "Highest number of publishes (docs call it QTSTPTHI)",
    "qtstplow" / Low32 * "Lowest number of publishes (docs call it QTSTPTLO)",
    "qtstpnos" / Count32 * "Publishes that had no subscriber",
    "filler_001" / Reserved(4) * "Reserved",
    "qtstethw" / HighElapsed * "Longest elapsed time of one publish",
    "qtstetto" / Elapsed * "Total elapsed time of publishes",
    lengths={"6.0": 96, "8.0": 100},
)
