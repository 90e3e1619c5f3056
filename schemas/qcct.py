"""QCCT: channel initiator control information, one per interval."""

from smfparse.layout.blocks import block
from smfparse.layout.columns import header, since
from smfparse.layout.kinds import Gauge32, Gauge64, High32, Text

QCCT = block(
    "QCCT",
    "Channel initiator control information, one per interval",
    header("qcctid qcctll qccteyec", "E741", "QCCT"),
    "qcctjobn" / Text(8) * "Channel initiator job name",
    "qcctqsgn" / Text(4) * "Queue sharing group name, blank if none",
    "qcctnocc" / High32 * "High-water count of current channels in the interval",
    "qcctmxcc" / Gauge32 * "Configured limit for current channels (MAXCHL)",
    "qcctnoac" / High32 * "High-water count of active channels in the interval",
    "qcctmxac" / Gauge32 * "Configured limit for active channels (ACTCHL)",
    "qcctmxtp" / Gauge32 * "Configured limit for TCP/IP channels (TCPCHL)",
    "qcctmxlu" / Gauge32 * "Configured limit for LU 6.2 channels (LU62CHL)",
    "qcctstus" / Gauge32("MB") * "31-bit storage used by the channel initiator address space",
    since(
        "9.3.5",
        "qcctstab" / Gauge64("MB") * "64-bit (above-the-bar) storage used by the channel initiator",
        "qcctslim"
        / Gauge64("MB")
        * "64-bit storage limit of the channel initiator; 17592186040320: none",
    ),
    since="8.0",
    lengths={"8.0": 48, "9.3.5": 64},
)
