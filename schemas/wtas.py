"""WTAS: task accounting (class 3), one per task and interval."""

from smfparse.layout.blocks import block
from smfparse.layout.clocks import Elapsed, HighElapsed, HighLatchElapsed, LatchElapsed, When
from smfparse.layout.columns import Repeat, header, since
from smfparse.layout.kinds import (
    Bit,
    Code,
    Count32,
    Count64,
    Flags,
    Hex,
    High32,
    Reserved,
    SCount32,
    SWord32,
    Word32,
)
from smfparse.schemas.cfstat import CF_REQUESTS, CFSTAT
from smfparse.schemas.enums import LATCH_CLASS

LATCHES = range(1, 33)

WTAS = block(
    "WTAS",
    "Task accounting (class 3), one per task and interval",
    header("wtasshex wtaslen wtaseyec", "F701", "WTAS"),
    "wtasstrt" / When * "Start of the task; also bytes 0-7 of the join token",
    "wtasmthr" / SWord32 * "Internal thread word; bytes 8-11 of the join token",
    "wtaswtas" / SWord32 * "Internal WTAS address; bytes 12-15 of the join token",
    "wtaslatc" / Hex(8) * "Internal",
    "wtashshi" / SWord32 * "Internal",
    "wtasnext" / Word32 * "Internal chain pointer",
    "wtasflag"
    / Flags(
        4,
        Bit(
            "WTASAEOT",
            0x20000000,
            "Final record, written at the end of the task (inferred)",
        ),
    )
    * "Flag word; X'20000000' marks the final (end of task) record",
    "wtaswqct" / Count32 * "Queue (WQ) blocks built for this task",
    "wtaslwet"
    / Repeat("wtas_latch", LatchElapsed, about="Latch waits by class", latch=LATCHES)
    * "Total wait time per latch class 1-32",
    "wtaslwn" / Repeat("wtas_latch", SCount32, latch=LATCHES) * "Waits per latch class 1-32",
    "wtasotet" / Elapsed.of("wtasotn") * "Elapsed time of other API calls",
    "wtasotct" / Elapsed.of("wtasotn") * "CPU time of other API calls",
    "wtasotn" / SCount32 * "Other API calls",
    "wtasmlw" / HighLatchElapsed * "Wait total of the worst latch class (equals its wtaslwet)",
    "wtasmlwn" / Code(4, LATCH_CLASS, signed=True) * "Number (1-32) of the worst latch class",
    "wtaslown" / Hex(8) * "Identity of the longest-waited latch, internal hex",
    "wtascmet" / Elapsed.of("wtascmn") * "Elapsed time of commits",
    "wtascmct" / Elapsed.of("wtascmn") * "CPU time of commits",
    "wtascmn" / SCount32 * "Commits",
    "wtasbaet" / Elapsed.of("wtasban") * "Elapsed time of backouts",
    "wtasbact" / Elapsed.of("wtasban") * "CPU time of backouts",
    "wtasban" / SCount32 * "Backouts",
    "filler__007" / Reserved(4) * "Reserved",
    "wtasjwet" / Elapsed.of("wtasjwn") * "Elapsed time writing to the log",
    "wtasjwn" / Count32 * "Log writes",
    "wtasjwb" / Count32("bytes") * "Bytes written to the log",
    "wtasjcet" / Elapsed.of("wtasjcn") * "Elapsed time waiting for forced log writes",
    "wtasjcn" / Count32 * "Forced log writes",
    "wtassusn" / Count32 * "Task suspensions",
    "wtassuse" / Elapsed.of("wtassusn") * "Time suspended",
    "wtaspse0" / Elapsed.of("wtaspsn0") * "Elapsed time of page set 0 logging",
    "wtaspsn0" / Count32 * "Page set 0 logging requests",
    "wtasdbet" / Elapsed.of("wtasdbct") * "Elapsed time of Db2 requests seen by the thread",
    "wtasdbes" / Elapsed.of("wtasdbct") * "Elapsed time of Db2 requests in the server",
    "wtasdbmt" / HighElapsed * "Longest Db2 request seen by the thread",
    "wtasdbms" / HighElapsed * "Longest Db2 request in the server",
    "wtasdbct" / Count32 * "Db2 requests",
    "wtascsec" / Count32 * "CF single-entry (IXLLSTE) calls",
    "wtascmec" / Count32 * "CF multi-entry (IXLLSTM) calls",
    "wtasrsec" / Count32 * "Single-entry calls redriven",
    "wtasrmec" / Count32 * "Multi-entry calls redriven",
    "wtassstc" / Elapsed.of("wtascsec") * "Time in single-entry calls",
    "wtasmstc" / Elapsed.of("wtascmec") * "Time in multi-entry calls",
    since(
        "wtasver 5",
        "wtassmrs" / Count32 * "SMDS reads satisfied from saved buffers",
        "wtassmrb" / Count32("bytes") * "SMDS bytes read",
        "wtassmwb" / Count32("bytes") * "SMDS bytes written",
        "wtassmrp" / Count32("pages") * "SMDS pages read",
        "wtassmwp" / Count32("pages") * "SMDS pages written",
        "wtassmwt" / Elapsed * "SMDS I/O wait time",
    ),
    "wtasints" / When * "Start of the interval this record covers",
    "wtasinte" / When * "End of the interval this record covers",
    "wtasgpo" / SCount32 * "Existing pages got from the buffer manager",
    "wtasgpn" / SCount32 * "New pages got from the buffer manager",
    "wtascqf" / Word32 * "Internal queue-block chain head",
    "wtascqb" / Word32 * "Internal queue-block chain tail",
    "wtasver" / Word32 * "Version of this block",
    "filler__002" / Reserved(4) * "Reserved",
    "wtasdbpt" / Count64("bytes") * "Bytes written to Db2",
    since(
        "wtasver 4",
        "wtasdbgt" / Count64("bytes") * "Bytes read from Db2",
        "wtaspbhw" / Elapsed * "Wait time for buffer pool latches (renamed WTASLRUW by IBM)",
        "wtaspbtt" / Elapsed * "Time holding buffer pool latches (renamed WTASLRUH by IBM)",
        "wtastpet" / Elapsed * "Elapsed time of topic processing",
        "wtastpct" / Elapsed * "CPU time of topic processing",
        "wtastpn" / Word32 * "Unused",
        "wtassuet" / Elapsed.of("wtassun") * "Elapsed time of MQSUB",
        "wtassuct" / Elapsed.of("wtassun") * "CPU time of MQSUB",
        "wtassun" / Count32 * "MQSUB calls",
        "wtassusc" / Count32 * "MQSUB calls that used a selector",
        "wtassusl" / High32("bytes") * "Longest selector string",
        "wtassqet" / Elapsed.of("wtassqn") * "Elapsed time of MQSUBRQ",
        "wtassqct" / Elapsed.of("wtassqn") * "CPU time of MQSUBRQ",
        "wtassqn" / Count32 * "MQSUBRQ calls",
        "wtasctet" / Elapsed.of("wtasctn") * "Elapsed time of MQCTL",
        "wtasctct" / Elapsed.of("wtasctn") * "CPU time of MQCTL",
        "wtasctn" / Count32 * "MQCTL calls",
        "wtasstet" / Elapsed.of("wtasstn") * "Elapsed time of MQSTAT",
        "wtasstct" / Elapsed.of("wtasstn") * "CPU time of MQSTAT",
        "wtasstn" / Count32 * "MQSTAT calls",
        "filler__009" / Reserved(4) * "Reserved",
        "wtasctsr" / Elapsed * "SRB CPU time used for MQCTL",
        "filler__010" / Reserved(8) * "Reserved",
        "commitcf"
        / Repeat(
            "wtas_cf",
            CFSTAT,
            about="CF requests of commit and prepare, by type",
            phase="commit",
            request=CF_REQUESTS,
        )
        * "CF requests of commit",
        "prepcf"
        / Repeat("wtas_cf", CFSTAT, phase="prepare", request=CF_REQUESTS)
        * "CF requests of prepare",
        "filler__012" / Reserved(400) * "Reserved (one CFSTAT-sized block)",
    ),
    since(
        "wtasver 8",
        "wtaspret" / Elapsed.of("wtasprn") * "Elapsed time of prepare",
        "wtasprct" / Elapsed.of("wtasprn") * "CPU time of prepare",
        "wtasprn" / Count32 * "Prepares",
        "filler__013" / Reserved(4) * "Reserved",
        "wtaslmax"
        / Repeat("wtas_latch", HighElapsed, latch=LATCHES)
        * "Longest single wait per latch class 1-32",
    ),
    lengths={"6.0": 712, "8.0": 2344},
    version_words={"6.0": 1, "8.0": 8},
)
