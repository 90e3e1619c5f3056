"""QSPH: storage pool, one per pool."""

from smfparse.layout.blocks import block
from smfparse.layout.columns import header
from smfparse.layout.kinds import Bit, Flags, Gauge16, Gauge32, Reserved, SGauge32, Text

QSPH = block(
    "QSPH",
    "Storage pool, one per pool",
    header("qsphid qsphll qspheyec", "E20E", "QSPH"),
    "qsphstor" / SGauge32("unverified") * "Current size of the storage pool",
    "qsphostor" / SGauge32("unverified") * "Size at the previous record",
    "qsphxstor" / SGauge32("unverified") * "Amount added when the pool expands",
    "qsphbsize" / Gauge16("bytes") * "Size of one block in a fixed pool",
    "qsphbcnt" / Gauge16 * "Blocks per segment",
    "qsphcount" / Gauge32 * "Pool headers merged in this entry",
    "qsphdspnm" / Text(8) * "Data space name, valid only when the data space flag is on",
    "qsphname" / Text(48) * "Pool description",
    "qsphflags"
    / Flags(
        1,
        Bit("QSPHFIXED", 0x80, "Fixed-length pool"),
        Bit("QSPHGLOB", 0x40, "Global pool"),
        Bit("QSPHDSPC", 0x20, "Pool is in a data space, whose name is valid"),
        Bit("QSPHIVSA", 0x10, "IVSA attribute"),
        Bit("QSPH64BIT", 0x8, "64-bit pool"),
    )
    * "Pool attribute byte",
    "filler__001" / Reserved(3) * "Reserved",
)
