"""QEST: coupling facility manager statistics, one per structure in use and interval."""

from construct import Struct

from smfparse.layout.blocks import block
from smfparse.layout.clocks import Elapsed
from smfparse.layout.columns import Repeat, header
from smfparse.layout.kinds import Count32, High32, Reserved, Text, Word32

QESTSTUC = Struct(
    "qeststr" / Text(12) * "Coupling facility structure name; binary zeros in an unused slot",
    "qeststrn" / Word32 * "Structure number",
    "qestcsec" / Count32 * "IXLLSTE (single-entry) calls",
    "qestcmec" / Count32 * "IXLLSTM (multi-entry) calls",
    "qestsstc" / Elapsed.of("qestcsec") * "Total time in IXLLSTE calls",
    "qestmstc" / Elapsed.of("qestcmec") * "Total time in IXLLSTM calls",
    "qestrsec" / Count32 * "IXLLSTE calls redriven",
    "qestrmec" / Count32 * "IXLLSTM calls redriven",
    "qestsful" / Count32 * "Structure-full conditions",
    "qestmnus" / High32 * "Highest number of list entries in use",
    "qestmlus" / High32 * "Highest number of list elements in use",
    "filler__001" / Reserved(4) * "Reserved",
)

QEST = block(
    "QEST",
    "Coupling facility manager statistics, one per structure in use and interval",
    header("qestid qestll qesteyec", "C513", "QEST"),
    "qeststuc" / Repeat("qest", QESTSTUC, used="qeststr", slot=range(64)) * "Structure slots",
)
