"""Q5ST: Db2 manager statistics, one per queue manager and interval."""

from smfparse.layout.blocks import block
from smfparse.layout.clocks import Elapsed, HighElapsed
from smfparse.layout.columns import header
from smfparse.layout.kinds import Count32, Gauge32, High32, Reserved

Q5ST = block(
    "Q5ST",
    "Db2 manager statistics, one per queue manager and interval",
    header("q5stid q5stll q5steyec", "F50F", "Q5ST"),
    "numtask" / Gauge32 * "Db2 server tasks",
    "acttask" / Gauge32 * "Active Db2 server tasks",
    "conncnt" / Count32 * "Connect requests",
    "disccnt" / Count32 * "Disconnect requests",
    "dhigmax" / High32 * "Deepest request queue",
    "abndcnt" / Count32 * "Server task abends",
    "requcnt" / Count32 * "Requests queued again",
    "deadcnt" / Count32 * "Deadlock timeouts",
    "delecnt" / Count32 * "Object delete requests",
    "listcnt" / Count32 * "Object list requests",
    "readcnt" / Count32 * "Object read requests",
    "updtcnt" / Count32 * "Object update requests",
    "writcnt" / Count32 * "Object write requests",
    "scssel" / Count32 * "Shared-channel-status table selects",
    "scsins" / Count32 * "Shared-channel-status table inserts",
    "scsupd" / Count32 * "Shared-channel-status table updates",
    "scsdel" / Count32 * "Shared-channel-status table deletes",
    "ssksel" / Count32 * "Shared-sync-key table selects",
    "sskins" / Count32 * "Shared-sync-key table inserts",
    "sskdel" / Count32 * "Shared-sync-key table deletes",
    "scsbfts" / Count32 * "Shared-channel-status reads with a buffer too small",
    "scsmaxr" / High32 * "Highest number of rows from one shared-channel-status query",
    "filler__001" / Reserved(8) * "Reserved",
    "deletcuw" / Elapsed * "Total elapsed time seen by the calling thread, object delete",
    "deletmxw" / HighElapsed * "Longest elapsed time seen by the calling thread, object delete",
    "delescuw" / Elapsed * "Total time in the SQL (server) part, object delete",
    "delesmxw" / HighElapsed * "Longest time in the SQL (server) part, object delete",
    "listtcuw" / Elapsed * "Total elapsed time seen by the calling thread, object list",
    "listtmxw" / HighElapsed * "Longest elapsed time seen by the calling thread, object list",
    "listscuw" / Elapsed * "Total time in the SQL (server) part, object list",
    "listsmxw" / HighElapsed * "Longest time in the SQL (server) part, object list",
    "readtcuw" / Elapsed * "Total elapsed time seen by the calling thread, object read",
    "readtmxw" / HighElapsed * "Longest elapsed time seen by the calling thread, object read",
    "readscuw" / Elapsed * "Total time in the SQL (server) part, object read",
    "readsmxw" / HighElapsed * "Longest time in the SQL (server) part, object read",
    "updttcuw" / Elapsed * "Total elapsed time seen by the calling thread, object update",
    "updttmxw" / HighElapsed * "Longest elapsed time seen by the calling thread, object update",
    "updtscuw" / Elapsed * "Total time in the SQL (server) part, object update",
    "updtsmxw" / HighElapsed * "Longest time in the SQL (server) part, object update",
    "writtcuw" / Elapsed * "Total elapsed time seen by the calling thread, object write",
    "writtmxw" / HighElapsed * "Longest elapsed time seen by the calling thread, object write",
    "writscuw" / Elapsed * "Total time in the SQL (server) part, object write",
    "writsmxw" / HighElapsed * "Longest time in the SQL (server) part, object write",
    "scsstcuw"
    / Elapsed
    * "Total elapsed time seen by the calling thread, shared-channel-status select",
    "scsstmxw"
    / HighElapsed
    * "Longest elapsed time seen by the calling thread, shared-channel-status select",
    "scssscuw" / Elapsed * "Total time in the SQL (server) part, shared-channel-status select",
    "scsssmxw"
    / HighElapsed
    * "Longest time in the SQL (server) part, shared-channel-status select",
    "scsitcuw"
    / Elapsed
    * "Total elapsed time seen by the calling thread, shared-channel-status insert",
    "scsitmxw"
    / HighElapsed
    * "Longest elapsed time seen by the calling thread, shared-channel-status insert",
    "scsiscuw" / Elapsed * "Total time in the SQL (server) part, shared-channel-status insert",
    "scsismxw"
    / HighElapsed
    * "Longest time in the SQL (server) part, shared-channel-status insert",
    "scsutcuw"
    / Elapsed
    * "Total elapsed time seen by the calling thread, shared-channel-status update",
    "scsutmxw"
    / HighElapsed
    * "Longest elapsed time seen by the calling thread, shared-channel-status update",
    "scsuscuw" / Elapsed * "Total time in the SQL (server) part, shared-channel-status update",
    "scsusmxw"
    / HighElapsed
    * "Longest time in the SQL (server) part, shared-channel-status update",
    "scsdtcuw"
    / Elapsed
    * "Total elapsed time seen by the calling thread, shared-channel-status delete",
    "scsdtmxw"
    / HighElapsed
    * "Longest elapsed time seen by the calling thread, shared-channel-status delete",
    "scsdscuw" / Elapsed * "Total time in the SQL (server) part, shared-channel-status delete",
    "scsdsmxw"
    / HighElapsed
    * "Longest time in the SQL (server) part, shared-channel-status delete",
    "sskstcuw" / Elapsed * "Total elapsed time seen by the calling thread, shared-sync-key select",
    "sskstmxw"
    / HighElapsed
    * "Longest elapsed time seen by the calling thread, shared-sync-key select",
    "ssksscuw" / Elapsed * "Total time in the SQL (server) part, shared-sync-key select",
    "sskssmxw" / HighElapsed * "Longest time in the SQL (server) part, shared-sync-key select",
    "sskitcuw" / Elapsed * "Total elapsed time seen by the calling thread, shared-sync-key insert",
    "sskitmxw"
    / HighElapsed
    * "Longest elapsed time seen by the calling thread, shared-sync-key insert",
    "sskiscuw" / Elapsed * "Total time in the SQL (server) part, shared-sync-key insert",
    "sskismxw" / HighElapsed * "Longest time in the SQL (server) part, shared-sync-key insert",
    "sskdtcuw" / Elapsed * "Total elapsed time seen by the calling thread, shared-sync-key delete",
    "sskdtmxw"
    / HighElapsed
    * "Longest elapsed time seen by the calling thread, shared-sync-key delete",
    "sskdscuw" / Elapsed * "Total time in the SQL (server) part, shared-sync-key delete",
    "sskdsmxw" / HighElapsed * "Longest time in the SQL (server) part, shared-sync-key delete",
    "lmssel" / Count32 * "Large-message (BLOB) selects",
    "lmsins" / Count32 * "Large-message (BLOB) inserts",
    "lmsupd" / Count32 * "Large-message (BLOB) updates",
    "lmsdel" / Count32 * "Large-message (BLOB) deletes",
    "lmslis" / Count32 * "Large-message (BLOB) list requests",
    "filler_002" / Reserved(4) * "Reserved",
    "lmsstcuw" / Elapsed * "Total elapsed time seen by the calling thread, BLOB select",
    "lmsstmxw" / HighElapsed * "Longest elapsed time seen by the calling thread, BLOB select",
    "lmssscuw" / Elapsed * "Total time in the SQL (server) part, BLOB select",
    "lmsssmxw" / HighElapsed * "Longest time in the SQL (server) part, BLOB select",
    "lmsitcuw" / Elapsed * "Total elapsed time seen by the calling thread, BLOB insert",
    "lmsitmxw" / HighElapsed * "Longest elapsed time seen by the calling thread, BLOB insert",
    "lmsiscuw" / Elapsed * "Total time in the SQL (server) part, BLOB insert",
    "lmsismxw" / HighElapsed * "Longest time in the SQL (server) part, BLOB insert",
    "lmsutcuw" / Elapsed * "Total elapsed time seen by the calling thread, BLOB update",
    "lmsutmxw" / HighElapsed * "Longest elapsed time seen by the calling thread, BLOB update",
    "lmsuscuw" / Elapsed * "Total time in the SQL (server) part, BLOB update",
    "lmsusmxw" / HighElapsed * "Longest time in the SQL (server) part, BLOB update",
    "lmsdtcuw" / Elapsed * "Total elapsed time seen by the calling thread, BLOB delete",
    "lmsdtmxw" / HighElapsed * "Longest elapsed time seen by the calling thread, BLOB delete",
    "lmsdscuw" / Elapsed * "Total time in the SQL (server) part, BLOB delete",
    "lmsdsmxw" / HighElapsed * "Longest time in the SQL (server) part, BLOB delete",
    "lmsltcuw" / Elapsed * "Total elapsed time seen by the calling thread, BLOB list",
    "lmsltmxw" / HighElapsed * "Longest elapsed time seen by the calling thread, BLOB list",
    "lmslscuw" / Elapsed * "Total time in the SQL (server) part, BLOB list",
    "lmslsmxw" / HighElapsed * "Longest time in the SQL (server) part, BLOB list",
    lengths={"6.0": 668, "8.0": 672},
)
