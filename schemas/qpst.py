"""QPST: buffer manager statistics, one per buffer pool and interval."""

from smfparse.layout.blocks import block
from smfparse.layout.columns import header
from smfparse.layout.kinds import Bit, Flags, Reserved, SCount32, SGauge32, SLow32, SWord32

QPST = block(
    "QPST",
    "Buffer manager statistics, one per buffer pool and interval",
    header("qpstid qpstll qpsteyec", "D70F", "QPST"),
    "qpstpool" / SWord32 * "Buffer pool number",
    "qpstnbuf" / SGauge32("buffers") * "Buffers in the pool",
    "qpstcbsl" / SLow32("buffers") * "Lowest number of stealable buffers seen in the interval",
    "qpstcbs" / SGauge32("buffers") * "Stealable buffers when the data was taken",
    "qpstgetp" / SCount32 * "Page get requests for existing pages",
    "qpstgetn" / SCount32 * "Page get requests for new pages (no read needed)",
    "qpstrio" / SCount32 * "Page reads from disk",
    "qpststw" / SCount32 * "Page updates (set-write requests)",
    "qpsttpw" / SCount32("4 KB pages") * "Pages written to disk",
    "qpstwio" / SCount32 * "Page write I/O operations",
    "qpstimw" / SCount32 * "Synchronous page writes",
    "qpstdwt" / SCount32 * "Number of times that the deferred-write threshold was reached",
    "qpstdmc" / SCount32 * "Number of times that the synchronous-write threshold was reached",
    "qpststl" / SCount32 * "Buffer steals for a page not found in the pool",
    "qpststla" / SCount32 * "Hash chain changes during buffer steal",
    "qpstsos" / SCount32 * "Suspensions because no buffer was available",
    "qpstflag"
    / Flags(
        4,
        Bit("QPSTLOC", 0x80000000, "On: pool above the bar (64-bit); off: below"),
        Bit("QPSTF4KB", 0x40000000, "On: buffers page-fixed; off: pageable"),
    )
    * "Flag word; pool location and page-fix bits",
    "filler__001" / Reserved(28) * "Reserved",
)
