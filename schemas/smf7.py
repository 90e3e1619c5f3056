"""SMF7: SMF's own record about records that it lost (type 7, data lost)."""

from smfparse.layout.blocks import block
from smfparse.layout.clocks import LocalMoment
from smfparse.layout.kinds import Bit, Count16, Count32, Flags, Reserved

SMF7 = block(
    "SMF7",
    "Data lost: SMF records of a system that were not written, one per loss",
    "smf7hdr" / Reserved(18) * "SMF header: its time and date are the end of the loss",
    "smf7nro" / Count16 * "Records lost, up to 65,535; zero where SMF7NRF is on",
    "smf7stm" / LocalMoment * "Local time when the loss began: SMF7STM, and the date in SMF7STD",
    "smf7fl1"
    / Flags(
        1,
        Bit("SMF7NRF", 0x80, "More than 65,535 records were lost: SMF7NROX contains the count"),
        Bit("SMF7LSD", 0x40, "The record is about a log stream"),
    )
    * "Flag byte",
    "filler_001" / Reserved(3) * "Reserved",
    "smf7nrox" / Count32 * "Records lost, as a longer count",
    lengths={"": 28, "2.1": 36},
)
"""The fields of the whole record, including its RDW; their length depends on the z/OS release.

The bytes after these fields, such as the name of the log stream, are not decoded.
"""
