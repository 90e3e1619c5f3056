"""QSGM: GETMAIN summary, one per caller."""

from smfparse.layout.blocks import block
from smfparse.layout.columns import header
from smfparse.layout.kinds import (
    Reserved,
    SCount32,
    SGauge32,
    SHigh32,
    SLow32,
    SWord32,
    Text,
    Word8,
)

QSGM = block(
    "QSGM",
    "GETMAIN summary, one per caller",
    header("qsgmid qsgmll qsgmeyec", "E20D", "QSGM"),
    "qsgmlvtot" / SGauge32("bytes (unverified)") * "Total storage obtained by this GETMAIN caller",
    "qsgmlvnew" / SCount32 * "New requests since last record",
    "qsgmlvmax" / SHigh32("bytes (unverified)") * "Largest request length",
    "qsgmlvmin" / SLow32("bytes (unverified)") * "Smallest request length",
    "qsgmcount" / SGauge32 * "Requests",
    "qsgmscls" / Word8 * "Storage class number",
    "filler__002" / Reserved(3) * "Reserved",
    "qsgmcsect" / Text(8) * "Calling module (CSECT) name, eight EBCDIC characters",
    "qsgmoffset" / SWord32 * "Offset in the module of the request",
    "filler__003" / Reserved(4) * "Reserved",
)
