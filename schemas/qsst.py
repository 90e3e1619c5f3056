"""QSST: storage manager statistics, one per queue manager and interval."""

from smfparse.layout.blocks import block
from smfparse.layout.columns import header
from smfparse.layout.kinds import Count32

QSST = block(
    "QSST",
    "Storage manager statistics, one per queue manager and interval",
    header("qsstid qsstlen qsstdesc", "003C", "QSST"),
    "qsstgplf" / Count32 * "Fixed pools created",
    "qsstfplf" / Count32 * "Fixed pools freed",
    "qsstfref" / Count32 * "Fixed pool segments freed",
    "qsstexpf" / Count32 * "Fixed pool expansions",
    "qsstconf" / Count32 * "Fixed pool contractions",
    "qsstgplv" / Count32 * "Variable pools created",
    "qsstfplv" / Count32 * "Variable pools freed",
    "qsstfrev" / Count32 * "Variable pool segments freed",
    "qsstexpv" / Count32 * "Variable pool expansions",
    "qsstconv" / Count32 * "Variable pool contractions",
    "qsstgetm" / Count32 * "GETMAIN requests",
    "qsstfrem" / Count32 * "FREEMAIN requests",
    "qsstrcnz" / Count32 * "Storage requests with non-zero return code",
    "qsstcont" / Count32 * "Short-on-storage contractions",
    "qsstcrit" / Count32 * "Number of times that short-on-storage was set",
    "qsstabnd" / Count32 * "Abends caused by lack of storage",
    lengths={"6.0": 72, "8.0": 80},
)
