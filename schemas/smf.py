"""The SMF record header, mapped by MQ as QWST (type 115) and QWAS (type 116), and the triplets."""

from typing import Any

from smfparse.layout.blocks import Block, block
from smfparse.layout.kinds import Bit, Flags, Reserved, SWord16, Text, Word8, Word16, Word32

SUBTYPE_VALID = Bit("SUBTYPE_VALID", 0x40, "Subtype field is used")


def _header(name: str, smf_type: int) -> Block:
    def field(suffix: str) -> Any:
        return f"sm{smf_type}{suffix}"

    return block(
        name,
        f"SMF record header, as MQ maps it for type {smf_type}",
        field("len") / Word16("bytes") * "Length of the record, or of its first segment (RDW)",
        field("sgd") / SWord16 * "Segment descriptor (RDW); zero for a record in one segment",
        field("flg") / Flags(1, SUBTYPE_VALID) * "System indicator byte",
        field("rty") / Word8 * "SMF record type",
        field("tme") / Word32("hundredths of a second") * "Local time when SMF wrote the record",
        field("dte") / Word32("packed 0cyydddF") * "Local date when SMF wrote the record",
        field("sid") / Text(4) * "SMF system identifier (LPAR)",
        field("SSI") / Text(4) * "Queue manager (subsystem) name",
        field("stf") / Word16 * "Record subtype",
        field("rel") / Text(3) * "Release; from MQ 10 on, 946, and QWHX contains the release",
        "filler_001" / Reserved(1) * "Reserved",
    )


QWST = _header("QWST", 115)
QWAS = _header("QWAS", 116)

TRIPLET = block(
    "TRIPLET",
    "Self-defining section: offset, length and count of the blocks of one kind",
    "offset" / Word32("bytes") * "Where the first block starts, counted from the RDW",
    "length" / Word16("bytes") * "Length of each block",
    "count" / Word16 * "Number of blocks; zero: none in this record",
)
