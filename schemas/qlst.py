"""QLST: lock manager statistics, one per queue manager and interval."""

from smfparse.layout.blocks import block
from smfparse.layout.columns import header
from smfparse.layout.kinds import Count32, Reserved

QLST = block(
    "QLST",
    "Lock manager statistics, one per queue manager and interval",
    header("qlstid qlstll qlsteyec", "D30F", "QLST"),
    "qlstgetl" / Count32 * "Lock get requests",
    "qlsthldl" / Count32 * "Lock get requests for locks already held",
    "qlstrell" / Count32 * "Lock release requests",
    "filler__001" / Reserved(12) * "Reserved",
)
