"""QIST: data manager statistics, one per queue manager and interval."""

from smfparse.layout.blocks import block
from smfparse.layout.columns import header
from smfparse.layout.kinds import Count32, Reserved

QIST = block(
    "QIST",
    "Data manager statistics, one per queue manager and interval",
    header("qistid qistll qisteyec", "C90F", "QIST"),
    "qistmget" / Count32 * "Message get requests",
    "qistmput" / Count32 * "Message put requests",
    "qistmblr" / Count32 * "Browse-lock releases",
    "qistdcre" / Count32 * "Object create requests",
    "qistdput" / Count32 * "Object put (update) requests",
    "qistddel" / Count32 * "Object delete requests",
    "qistdget" / Count32 * "Object get requests",
    "qistdloc" / Count32 * "Object locate requests",
    "qistmcnt" / Count32 * "Message count requests",
    "qistalst" / Count32 * "Storage class change requests",
    "qistlomm" / Count32 * "Locate-marked-message requests",
    "qistdlmm" / Count32 * "Delete-marked-message requests",
    "qistenum" / Count32 * "Enumerate requests",
    "qistraio" / Count32 * "Read-ahead I/O count; never filled in by the queue manager",
    "qistrabp" / Count32 * "Read-ahead buffer pool hits; never filled in by the queue manager",
    "qistgetd" / Count32 * "Gets that read the message from the page set",
    "qistgetb" / Count32 * "Gets satisfied from the buffer pool",
    "FILLER___001" / Reserved(4) * "Reserved",
)
