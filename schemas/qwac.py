"""QWAC: accounting block of class 1 that MQ took over from Db2."""

from smfparse.layout.blocks import block
from smfparse.layout.clocks import GaugeElapsed, When
from smfparse.layout.kinds import Gauge32, Hex, Word32

QWAC = block(
    "QWAC",
    "Accounting block of class 1 that MQ took over from Db2",
    "qwacbsc" / When * "Start clock",
    "qwacesc" / When * "End clock",
    "qwacbjst" / GaugeElapsed * "CPU (TCB) at start",
    "qwacejst" / GaugeElapsed * "CPU (TCB) at end",
    "qwacbsrb" / GaugeElapsed * "SRB CPU at start",
    "qwacesrb" / GaugeElapsed * "SRB CPU at end",
    "qwacrinv" / Word32 * "Reason the record was cut",
    "qwacnid" / Hex(16) * "Network identifier",
    "qwaccomm" / Gauge32 * "Commits",
    "qwacback" / Gauge32 * "Backouts",
    "qwacasc" / GaugeElapsed * "Accumulated elapsed in subsystem",
    "qwacajst" / GaugeElapsed * "Accumulated CPU in subsystem",
    "qwacasrb" / GaugeElapsed * "Accumulated SRB in subsystem",
    "qwacawti" / GaugeElapsed * "Accumulated I/O wait",
    "qwacawtl" / GaugeElapsed * "Accumulated lock wait",
    "qwacarna" / Gauge32 * "Internal counter",
    "qwacarne" / Gauge32 * "Internal counter",
    "qwacawtr" / GaugeElapsed * "Accumulated read wait",
    "qwacawtw" / GaugeElapsed * "Accumulated write wait",
    "qwacawte" / GaugeElapsed * "Accumulated other wait",
    "qwacalog" / GaugeElapsed * "Accumulated log wait",
    "qwacarnl" / Gauge32 * "Internal counter",
    "qwacarnr" / Gauge32 * "Internal counter",
    "qwacarnw" / Gauge32 * "Internal counter",
    "qwacarns" / Gauge32 * "Internal counter",
    "qwacalct" / Gauge32 * "Internal counter",
    lengths={"6.0": 176, "10.0.0": 96},
    only_whole=True,
)
