"""WTID: identity of the task of a class 3 record."""

from smfparse.layout.blocks import block
from smfparse.layout.columns import header
from smfparse.layout.kinds import Code, Hex, Reserved, Text, Word32
from smfparse.schemas.enums import CONNECTION_TYPE
from smfparse.schemas.thread import thread_parts

WTID = block(
    "WTID",
    "Identity of the task of a class 3 record",
    header("wtidshex wtidlen wtideyec", "F700", "WTID"),
    "wtidatyp" / Code(4, CONNECTION_TYPE, signed=True) * "Kind of connecting environment",
    "wtidccn" / Text(8) * "Connection (job, subsystem or region) name",
    "wtidopid" / Text(8) * "User id of the transaction or operator",
    "wtidnid" / Hex(16) * "Network or recovery unit identifier",
    "wtidcori" / Hex(12) * "Thread cross-reference; character for IMS/CICS, binary for others",
    "wtiduowi" / Hex(24) * "Unit-of-work identifier, mixed character and binary",
    "wtidacct" / Hex(22) * "z/OS accounting token",
    "wtidchl" / Text(20) * "Channel name when the thread works for a channel",
    "wtidchlc" / Text(48) * "Channel connection name (network address)",
    "wtidctxt" / Hex(16) * "RRS or context token",
    "wtidtran" / Text(8) * "User id associated with the thread",
    "filler__001" / Reserved(2) * "Reserved",
    "wtidcfwd" / Word32 * "Internal chain pointer (not useful)",
    "wtidcbwd" / Word32 * "Internal chain pointer (not useful)",
    "wtidwtas" / Word32 * "Internal address of the related WTAS (not useful)",
    parts=thread_parts("wtidcori", "wtidatyp"),
)
