"""QCT: the tasks of the channel initiator (115/231)."""

from smfparse.layout.blocks import block
from smfparse.layout.clocks import Elapsed, HighElapsed, LocalWhen
from smfparse.layout.kinds import Count32, Gauge32, Word32

QCT_TASK = (
    "qcttskn" / Word32 * "TCB address used as the task identity",
    "qctreqn" / Count32 * "Requests handled by the task in the interval",
    "qctcptm" / Elapsed.of("qctreqn") * "CPU used by the task while busy",
    "qcteltm" / Elapsed.of("qctreqn") * "Summed elapsed time of the requests",
    "qctwttm" / Elapsed * "Time the task waited for work",
)

QCT_DSP = block(
    "QCT_DSP",
    "Dispatcher task of the channel initiator, one per task and interval",
    QCT_TASK,
    "qctchln" / Gauge32 * "Number of channels running on this dispatcher",
    since="8.0",
)


QCT_ADP = block(
    "QCT_ADP",
    "Adapter task of the channel initiator, one per task and interval",
    QCT_TASK,
    since="8.0",
)


QCT_SSL = block(
    "QCT_SSL",
    "TLS server task of the channel initiator, one per task and interval",
    QCT_TASK,
    "qctlstm"
    / LocalWhen
    * "When the longest TLS request of the interval happened, z/OS local time (as in QCT_DNS)",
    "qctlsdu" / HighElapsed * "Duration of the longest TLS request",
    since="8.0",
)


QCT_DNS = block(
    "QCT_DNS",
    "Name resolution (DNS) task of the channel initiator, one per interval",
    QCT_TASK,
    "qctlgtm"
    / LocalWhen
    * "When the longest DNS request of the interval happened, z/OS local time",
    "qctlgdu"
    / HighElapsed
    * "Duration of the longest DNS request (APAR PH69352: not reset at 9.4.0)",
    since="8.0",
    kept_length=48,
)
