"""QCST: channel accounting, one per channel instance and interval."""

from smfparse.layout.blocks import block
from smfparse.layout.clocks import When
from smfparse.layout.columns import header, since
from smfparse.layout.kinds import (
    Code,
    Combine,
    Count32,
    Count64,
    Gauge32,
    Hex,
    High32,
    Number,
    Reserved,
    Text,
    Word16,
    Word32,
)
from smfparse.schemas.enums import (
    CHANNEL_DISPOSITION,
    CHANNEL_STATUS,
    CHANNEL_TYPE,
    MONITORING_LEVEL,
)

QCST = block(
    "QCST",
    "Channel accounting, one per channel instance and interval",
    header("qcstid qcstll qcsteyec", "E74A", "QCST"),
    "qcstcltm" / When * "When this channel snapshot was taken",
    "qcstchnm" / Text(20) * "Channel name",
    "qcstchdp" / Code(1, CHANNEL_DISPOSITION) * "Channel disposition",
    "qcstchty" / Code(1, CHANNEL_TYPE) * "Channel type",
    "qcstchst" / Code(1, CHANNEL_STATUS) * "Channel state",
    "qcststcl" / Code(1, MONITORING_LEVEL) * "Statistics collection level in force (STATCHL)",
    "qcstcnnm" / Text(48) * "Connection name of the partner",
    "qcststrt" / When * "When the channel instance started",
    "qcstludt" / When * "When the channel instance stopped",
    "qcstlmst" / When * "Last message or MQI call",
    "qcstcbsz" / Gauge32("messages") * "Negotiated batch size",
    "qcstnmsg" / Count32 * "Messages, or MQI calls for server-connection channels",
    "qcstnpmg" / Count32 * "Persistent messages",
    "qcstbatc" / Count32 * "Batches completed",
    "qcstfuba" / Count32 * "Batches that reached the batch size",
    "qcstbfst" / Count32 * "Transmission buffers sent",
    "qcstbfrc" / Count32 * "Transmission buffers received",
    "qcstcscv" / Gauge32 * "Conversations currently sharing the connection",
    "qcstnbyt" / Count64("bytes") * "Message data bytes",
    "qcstnpby" / Count64("bytes") * "Persistent message data bytes",
    "qcstbyst" / Count64("bytes") * "Bytes sent, data plus control",
    "qcstbyrc" / Count64("bytes") * "Bytes received, data plus control",
    "qcstcpra" / Word32("percent (unverified)") * "Compression rate",
    "qcstetav" / Word32("microseconds") * "Mean time in channel exits",
    "qcstetmn"
    / Number(4, combine=Combine.MIN, null=0x8FFFFFFF)("microseconds")
    * "Shortest exit time; X'8FFFFFFF' means no exit ran",
    "qcstetmx" / High32("microseconds") * "Longest exit time",
    "qcstetdt" / When * "When the longest exit time happened",
    "qcstdnrt" / Gauge32("microseconds") * "DNS resolution time for the connection",
    "qcstntav" / Word32("microseconds") * "Mean network round-trip time",
    "qcstntmn"
    / Number(4, combine=Combine.MIN, null=0x8FFFFFFF)("microseconds")
    * "Shortest network time; X'8FFFFFFF' is the unset value",
    "qcstntmx" / High32("microseconds") * "Longest network time",
    "qcstntdt" / When * "When the longest network time happened",
    "qcstrqmn"
    / Text(48)
    * "Partner queue manager, or client application name (right-most 28 characters)",
    "qcstslsn" / Hex(8) * "Serial number of the partner certificate",
    "qcstslcn" / Text(16) * "Common name of the partner certificate issuer",
    "qcstslcs" / Word32 * "TLS cipher specification number",
    "qcstptrc" / Count32 * "Put retries",
    "qcstqetc" / Count32 * "Number of times that the transmission queue was empty",
    "qcstcbit" / Gauge32("milliseconds (unverified)") * "Batch interval of the channel",
    "qcstcbdl" / Gauge32("kilobytes") * "Batch data limit of the channel",
    "qcstdspn" / Word16 * "Index of the dispatcher running the channel",
    "qcstrsv1" / Reserved(6) * "Reserved",
    since(
        "10.0.0",
        "qcstrpid" / Text(4) * "Partner product id (four characters, as in RPRODUCT)",
        "qcstrver" / Text(8) * "Partner product version (characters VVRRMMFF)",
        "qcstrsv2" / Reserved(4) * "Reserved",
    ),
    since="8.0",
    lengths={"8.0": 324, "10.0.0": 340},
)
