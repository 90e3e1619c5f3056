"""QMAC: message manager accounting (class 1), cumulative since the task connected."""

from smfparse.layout.blocks import block
from smfparse.layout.clocks import GaugeElapsed
from smfparse.layout.columns import header
from smfparse.layout.kinds import Gauge32

QMAC = block(
    "QMAC",
    "Message manager accounting (class 1), cumulative since the task connected",
    header("qmacid qmacll qmaceyec", "D414", "QMAC"),
    "qmaccput" / GaugeElapsed * "CPU used by API calls since the thread connected",
    "qmacputa" / Gauge32 * "Puts with 0 to 99 bytes of data",
    "qmacputb" / Gauge32 * "Puts with 100 to 999 bytes of data",
    "qmacputc" / Gauge32 * "Puts with 1000 to 9999 bytes of data",
    "qmacputd" / Gauge32 * "Puts with 10000 or more bytes of data",
    "qmacgeta" / Gauge32 * "Gets that returned 0 to 99 bytes",
    "qmacgetb" / Gauge32 * "Gets that returned 100 to 999 bytes",
    "qmacgetc" / Gauge32 * "Gets that returned 1000 to 9999 bytes",
    "qmacgetd" / Gauge32 * "Gets that returned 10000 or more bytes",
)
