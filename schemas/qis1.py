"""QIS1: page set statistics, one per page set and interval."""

from smfparse.layout.blocks import block
from smfparse.layout.clocks import Elapsed
from smfparse.layout.columns import header
from smfparse.layout.kinds import (
    Bit,
    Code,
    Count32,
    Flags,
    Gauge8,
    Gauge16,
    Gauge32,
    High32,
    Reserved,
    Word32,
)
from smfparse.schemas.enums import PAGE_SET_EXPAND, PAGE_SET_STATUS

QIS1 = block(
    "QIS1",
    "Page set statistics, one per page set and interval",
    header("qis1id qis1ll qis1eyec", "C927", "QIS1"),
    "qis1psno" / Word32 * "Page set number",
    "qis1bpno" / Gauge32 * "Buffer pool the page set uses",
    "qis1topg" / Gauge32("4 KB pages") * "Pages in the page set",
    "qis1unpg" / Gauge32("4 KB pages") * "Unused pages",
    "qis1ppg" / Gauge32("4 KB pages") * "Pages holding persistent messages",
    "qis1nppg" / Gauge32("4 KB pages") * "Pages holding nonpersistent messages",
    "qis1full" / Count32 * "Number of times that the page set was full",
    "qis1pchi" / High32("page number") * "Highest position of the put cursor",
    "qis1dwpn" / Count32 * "Deferred-write I/O operations",
    "qis1dwpp" / Count32("4 KB pages") * "Pages written by deferred-write I/O",
    "qis1dwpt" / Elapsed.of("qis1dwpn") * "Deferred-write I/O time",
    "qis1imwn" / Count32 * "Immediate-write I/O operations",
    "qis1imwp" / Count32("4 KB pages") * "Pages written by immediate-write I/O",
    "qis1imwt" / Elapsed.of("qis1imwn") * "Immediate-write I/O time",
    "qis1getn" / Count32 * "Page read I/O operations",
    "qis1getp" / Count32("4 KB pages") * "Pages read",
    "qis1gett" / Elapsed.of("qis1getn") * "Page read I/O time",
    "qis1ckpp" / Count32("4 KB pages") * "Pages written by checkpoints",
    "qis1expn" / Gauge16 * "Expansions since restart",
    "qis1strn" / Gauge8 * "Data set stripes",
    "qis1expm" / Code(1, PAGE_SET_EXPAND) * "Expansion method of the page set",
    "qis1stat" / Code(1, PAGE_SET_STATUS) * "Page set status",
    "reserved" / Reserved(3) * "Reserved",
    "qis1flag"
    / Flags(
        4,
        Bit("QIS1EXPF", 0x80000000, "Page set is allowed to expand"),
        Bit("QIS1ENCF", 0x40000000, "Page set data set is encrypted"),
    )
    * "Flag word; two top bits used",
    since="9.0",
)
