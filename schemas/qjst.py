"""QJST: log manager statistics, one per queue manager and interval."""

from construct import Struct

from smfparse.layout.blocks import block
from smfparse.layout.clocks import Elapsed, HighElapsed, HighMicros64, LowMicros64, Micros64, When
from smfparse.layout.columns import Repeat, header, since
from smfparse.layout.kinds import Count32, Reserved, SCount32, SCount64, SquareSum, Text

QJSTIO = Struct(
    "qjstiocount" / Count32 * "Write I/O requests of this log copy and type",
    "qjstioci" / Count32("control intervals") * "Control intervals written",
    "qjstiototio" / Elapsed.of("qjstiocount") * "Total I/O time",
    "qjstiototsus" / Elapsed * "Total time the writer task was suspended",
    "qjstiomaxio" / HighElapsed * "Longest I/O",
    "qjstiomaxioT" / When * "When the longest I/O happened",
    "qjstiomaxiol" / Text(8) * "Log identifier of the longest I/O, for example ACTLG107",
    "qjstiomaxsus" / HighElapsed * "Longest suspension",
    "qjstiomaxsusT" / When * "When the longest suspension happened",
    "qjstiomaxsusl" / Text(8) * "Log identifier of the longest suspension",
)

QJST = block(
    "QJST",
    "Log manager statistics, one per queue manager and interval",
    header("qjstid qjstll qjsteid", "0093", "QJST"),
    "qjstwrw" / SCount32 * "Log write requests that waited for the write",
    "qjstwrnw" / SCount32 * "Log write requests that did not wait",
    "qjstwrf" / SCount32 * "Log write requests that forced the buffer out",
    "qjstwtb" / SCount32 * "Number of times that no log buffer was available",
    "qjstrbuf" / SCount32 * "Log reads satisfied from the output buffer",
    "qjstract" / SCount32 * "Log reads satisfied from an active log",
    "qjstrarh" / SCount32 * "Log reads satisfied from an archive log",
    "qjsttvc" / SCount32 * "Log reads delayed because MAXRTU archive units were in use",
    "qjstbsds" / SCount32 * "Boot strap data set accesses",
    "qjstbffl" / SCount32("control intervals") * "Active log control intervals created",
    "qjstbfwr" / SCount32 * "Log buffer write calls",
    "qjstalr" / SCount32 * "Archive log read allocations",
    "qjstalw" / SCount32 * "Archive log write allocations",
    "qjstciof" / SCount32("control intervals") * "Control intervals offloaded to archive",
    "qjstllcp" / SCount32 * "Checkpoints; before MQ 9.0, only checkpoints caused by LOGLOAD",
    "qjstwur" / SCount32 * "Log reads delayed for other reasons",
    "qjstlama" / SCount32 * "Look-ahead tape mounts tried",
    "qjstlams" / SCount32 * "Look-ahead tape mounts that worked",
    "qjstlsus" / SCount32 * "Log requests that suspended the caller",
    "qjstlogw" / SCount32 * "Log write I/O calls",
    "qjstciwr" / SCount32("control intervals") * "Log control intervals written",
    "qjstserw" / SCount32 * "Serial (copy 1 then copy 2) log writes",
    "qjstthrw" / SCount32 * "Log writes started by the write threshold",
    "qjstbpag" / SCount32 * "Number of times that a log buffer page had to be paged in",
    "filler__001" / Reserved(16) * "Reserved",
    since(
        "7.0.1",
        "qjstcmpreq" / SCount32 * "Compression requests",
        "qjstcmpfail" / SCount32 * "Compression requests that failed",
        "qjstcmpuncmp" / SCount64("bytes") * "Bytes before compression",
        "qjstcmpcomp" / SCount64("bytes") * "Bytes after compression",
        "qjstdecreq" / SCount32 * "Decompression requests",
        "qjstdecfail" / SCount32 * "Decompression requests that failed",
        "qjstdecuncmp" / SCount64("bytes") * "Bytes after decompression",
        "qjstdeccomp" / SCount64("bytes") * "Bytes before decompression",
        "filler__002" / Reserved(96) * "Reserved (room for two more compression entries)",
    ),
    since(
        "8.0",
        "qjstio"
        / Repeat("qjst_io", QJSTIO, copy=(1, 2), io_type={1: "one page", 2: "several pages"})
        * "Log write I/O by copy and type",
        "qjstslptu" / Micros64 * "Time the log writer had nothing to do",
        "qjstiosqu"
        / SquareSum("microseconds squared (inferred)")
        * "Sum of squared I/O times; looks like one 128-bit value, high then low",
    ),
    since(
        "9.1.2",
        "qjstcp1n" / SCount32 * "New active logs opened, copy 1",
        "qjstcp2n" / SCount32 * "New active logs opened, copy 2",
        "qjsthwc" / SCount32 * "New logs capable of zHyperWrite",
        "qjsthwe" / SCount32 * "New logs with zHyperWrite enabled",
    ),
    since(
        "9.1.4",
        "qjstencr" / SCount32 * "New logs that are encrypted",
    ),
    since(
        "9.4.0",
        "filler__003" / Reserved(4) * "Reserved",
        "qjsthlsciw" / Count32 * "zHyperLink single-CI write requests",
        "qjsthlmciw" / Count32 * "zHyperLink multi-CI write requests",
        "qjsthlcicntw" / Count32("control intervals") * "Control intervals tried over zHyperLink",
        "qjsthlscis" / Count32 * "zHyperLink single-CI writes that worked",
        "qjsthlmcis" / Count32 * "zHyperLink multi-CI writes that worked",
        "qjsthlcicnts" / Count32("control intervals") * "Control intervals written over zHyperLink",
        "qjsthlscif" / Count32 * "Single-CI writes that fell back to ordinary I/O",
        "qjsthlmcif" / Count32 * "Multi-CI writes that fell back to ordinary I/O",
        "qjsthlcicntf"
        / Count32("control intervals")
        * "Control intervals that fell back to ordinary I/O",
        "qjsthlscicon" / Count32 * "Single-CI writes done while zHyperLink was being connected",
        "qjsthlmcicon" / Count32 * "Multi-CI writes done while zHyperLink was being connected",
        "qjsthlconcicnt"
        / Count32("control intervals")
        * "Control intervals written in the connect phase",
        "qjsthlsciwtmax"
        / HighMicros64("microseconds (unverified)")
        * "Longest zHyperLink single-CI write",
        "qjsthlsciwtmin"
        / LowMicros64("microseconds (unverified)")
        * "Shortest zHyperLink single-CI write",
        "qjsthlsciwttot"
        / Micros64("microseconds (unverified)")
        * "Total zHyperLink single-CI write time",
        "qjsthlmciwtmax"
        / HighMicros64("microseconds (unverified)")
        * "Longest zHyperLink multi-CI write",
        "qjsthlmciwtmin"
        / LowMicros64("microseconds (unverified)")
        * "Shortest zHyperLink multi-CI write",
        "qjsthlmciwttot"
        / Micros64("microseconds (unverified)")
        * "Total zHyperLink multi-CI write time",
        "qjsthliosqu"
        / SquareSum("microseconds squared (unverified)")
        * "Sum of squared zHyperLink times; probably one 128-bit value",
        "qjsthlc" / Count32 * "New logs capable of zHyperLink",
        "qjsthle" / Count32 * "New logs with zHyperLink enabled",
    ),
    lengths={"6.0": 120, "8.0": 576, "9.1.2": 592, "9.1.4": 596, "9.4.0": 720},
)
