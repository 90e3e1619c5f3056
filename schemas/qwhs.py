"""The MQ header area (triplet 0): QWHS, then QWHC in 116/0-2, then QWHX from MQ 10."""

from smfparse.layout.blocks import block
from smfparse.layout.clocks import LengthMicros64, LocalWhen, When
from smfparse.layout.kinds import (
    ENCODING,
    Bit,
    Code,
    Flags,
    Hex,
    Reserved,
    SWord16,
    Text,
    Word8,
    Word32,
)
from smfparse.schemas.enums import CONNECTION_TYPE
from smfparse.schemas.thread import thread_parts

QWHS = block(
    "QWHS",
    "MQ header of every record",
    "qwhslen"
    / SWord16("bytes")
    * "Length of this header part: 52 long form, 36 short form, 1 stub form",
    "qwhstyp" / Word8 * "Header type byte (01 in samples)",
    "qwhsrmid"
    / Word8
    * "Resource manager id byte (1A queue manager, E7 channel initiator, F7 class-3 accounting)",
    "qwhsiid" / SWord16 * "Trace (IFCID-like) identifier of the event",
    "qwhsnsda" / Word8 * "Number of self-defining triplets, counting the one for the QWHS itself",
    "qwhsrn"
    / Word8
    * "Release indicator byte (10 from the queue manager, 00 from the channel initiator)",
    "qwhsace" / Word32 * "Internal agent control element address; not useful outside a dump",
    "qwhsssid" / Text(4) * "Queue manager (subsystem) name",
    "qwhsstck" / When * "UTC time the data was captured; interval end for statistics",
    "qwhsiseq" / Word32 * "Sequence count per trace id; zero from the channel initiator",
    "qwhswseq" / Word32 * "Sequence count per trace destination; zero from the channel initiator",
    "qwhsflag1"
    / Flags(
        1,
        Bit(
            "QWHSSMFC",
            0x80,
            "More SMF records follow for this interval (chinit records); off means last or only",
        ),
        Bit("QWHSQWHX", 0x40, "A QWHX extension follows (trust only when release >= 946)"),
    )
    * "Header flag byte; unreliable garbage in type 116 subtypes 1 and 2",
    "qwhsflag2" / Word8 * "Reserved flag byte; may hold garbage",
    "qwhsflag3" / Word8 * "Reserved flag byte; may hold garbage",
    "qwhsflag4" / Word8 * "Reserved flag byte; may hold garbage",
    "qwhstime" / LocalWhen * "Start of the interval in z/OS local time; do not shift for time zone",
    "qwhsdurn"
    / LengthMicros64("microseconds; TOD units in 115/231 and 116/10")
    * "Length of the interval covered by the record",
)


QWHC = block(
    "QWHC",
    "Correlation header, right after a 36-byte QWHS; filled in 116/0 only",
    "qwhclen" / SWord16("bytes") * "Length of this block (92)",
    "qwhctyp" / Word8 * "Header type byte (02 in samples)",
    "filler__001" / Reserved(1) * "Reserved",
    "qwhcaid" / Text(8) * "User id under which the connecting job runs",
    "qwhccv"
    / Hex(12)
    * "Thread cross-reference; layout depends on connection type (CICS, IMS, chinit)",
    "qwhccn" / Text(8) * "Connection (job or subsystem) name",
    "filler__002" / Reserved(8) * "Reserved",
    "qwhcopid" / Text(8) * "User id of the transaction or operator",
    "qwhcatyp" / Code(4, CONNECTION_TYPE) * "Kind of connecting environment",
    "qwhctokn" / Hex(22) * "z/OS accounting token of the user",
    "qwhcnid" / Hex(16) * "Network or recovery unit identifier",
    "filler__003" / Reserved(2) * "Reserved",
    parts=thread_parts("qwhccv", "qwhcatyp"),
)


QWHX = block(
    "QWHX",
    "Header extension of MQ 10: queue sharing group and long release",
    "qwhxlen" / SWord16("bytes") * "Length of this extension (16)",
    "qwhxtyp" / Word8 * "Header type byte (10 in samples)",
    "res1" / Reserved(1) * "Reserved",
    "qwhxqsg" / Text(4) * "Queue sharing group name, blank when the queue manager is not in one",
    "qwhxrel" / Text(6) * "Six-character release VVRRMM, for example 100000 for MQ 10.0.0",
    "res2" / Reserved(2) * "Reserved",
    since="10.0.0",
)

QWHS_LONG, QWHS_SHORT, QWHS_STUB = QWHS.size, QWHS.field("qwhstime").offset, 1
"""QWHSLEN of each form of QWHS: long (with an interval), short (before QWHC), stub (four bytes)."""
QWHS_STUB_BYTES = 4
QWHS_SIZES = {QWHS_LONG: QWHS_LONG, QWHS_SHORT: QWHS_SHORT + QWHC.size, QWHS_STUB: QWHS_STUB_BYTES}
"""Bytes of the QWHS area up to QWHX, by QWHSLEN."""
QWHX_RELEASE = "946".encode(ENCODING)
"""Lowest release in the SMF header at which QWHX is written; QWHX then contains the release."""
