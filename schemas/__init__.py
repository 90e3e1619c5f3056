"""The registry: the control block of each triplet of each SMF record.

    (SMF type, subtype): {triplet number: block}

Triplet 0 of every record is the QWHS area. A block can be in several kinds of records. Triplets
that are not listed are IBM-internal. WHOLE_RECORDS contains SMF's own records, which consist of one
block. The registry imports all blocks at once, because every reader needs all of them.
"""

from __future__ import annotations

from smfparse.layout.blocks import Block
from smfparse.schemas.q5st import Q5ST
from smfparse.schemas.qcct import QCCT
from smfparse.schemas.qcst import QCST
from smfparse.schemas.qct import QCT_ADP, QCT_DNS, QCT_DSP, QCT_SSL
from smfparse.schemas.qesd import QESD
from smfparse.schemas.qest import QEST
from smfparse.schemas.qis1 import QIS1
from smfparse.schemas.qist import QIST
from smfparse.schemas.qjst import QJST
from smfparse.schemas.qlst import QLST
from smfparse.schemas.qmac import QMAC
from smfparse.schemas.qmst import QMST
from smfparse.schemas.qpst import QPST
from smfparse.schemas.qqst import QQST
from smfparse.schemas.qsgm import QSGM
from smfparse.schemas.qsph import QSPH
from smfparse.schemas.qsrs import QSRS
from smfparse.schemas.qsst import QSST
from smfparse.schemas.qtst import QTST
from smfparse.schemas.qwac import QWAC
from smfparse.schemas.qwhs import (
    QWHC,
    QWHS,
    QWHS_LONG,
    QWHS_SHORT,
    QWHS_SIZES,
    QWHS_STUB,
    QWHS_STUB_BYTES,
    QWHX,
    QWHX_RELEASE,
)
from smfparse.schemas.smf import QWAS, QWST, SUBTYPE_VALID, TRIPLET
from smfparse.schemas.smf7 import SMF7
from smfparse.schemas.wqst import WQST
from smfparse.schemas.wtas import WTAS
from smfparse.schemas.wtid import WTID

STATISTICS = 115
ACCOUNTING = 116
DUMP_HEADER, DUMP_TRAILER = 2, 3
"""SMF types of the first and last record that IFASMFDP writes to its output."""
DATA_LOST = 7
"""SMF type of the records in which SMF reports how many records it lost."""
SIGNATURES = (1, 2)
"""Subtypes of type 2 in a signed log stream: signature of a record group, and of an interval."""
EXTENDED = 126
"""SMF type in the header of a record whose real type is in the extended header that follows."""

REGISTRY: dict[tuple[int, int], dict[int, Block]] = {
    (115, 1): {9: QSST, 11: QJST},
    (115, 2): {1: QMST, 2: QIST, 3: QPST, 4: QLST, 5: Q5ST, 6: QEST, 7: QTST, 8: QESD},
    (115, 5): {1: QSPH},
    (115, 6): {1: QSGM},
    (115, 7): {1: QSRS},
    (115, 201): {1: QIS1},
    (115, 215): {1: QPST},
    (115, 216): {1: QQST},
    (115, 231): {1: QCCT, 2: QCT_DSP, 3: QCT_ADP, 4: QCT_SSL, 5: QCT_DNS},
    (116, 0): {1: QWAC, 2: QMAC},
    (116, 1): {1: WTID, 2: WTAS, 3: WQST},
    (116, 2): {1: WTID, 2: WQST},
    (116, 10): {1: QCST},
}
"""QPST is in 115/2 before MQ 8.0, in 115/215 from then on; 116/2 continues a full 116/1."""

WHOLE_RECORDS: dict[int, Block] = {DATA_LOST: SMF7}
"""By SMF type: records without triplets. The whole record, with its RDW, is one block."""

TRACES: dict[tuple[int, int], str] = {
    (115, 1): "STAT 1",
    (115, 2): "STAT 1",
    (115, 5): "STAT 2 or 3",
    (115, 6): "STAT 2 or 3",
    (115, 7): "STAT 2 or 3",
    (115, 201): "STAT 1",
    (115, 215): "STAT 1",
    (115, 216): "STAT 5",
    (115, 231): "STAT 4",
    (116, 0): "ACCTG 1",
    (116, 1): "ACCTG 3",
    (116, 2): "ACCTG 3",
    (116, 10): "ACCTG 4",
}
"""Kind and CLASS of the START TRACE that writes a record. Sources disagree on 115/5 to 115/7."""

TASK, CONTINUATION = (116, 1), (116, 2)
"""Class 3 accounting: record of a task, and record of queues that do not fit into the first."""

TASK_RECORDS = frozenset({TASK, CONTINUATION})
"""Records of class 3 accounting. Their rows have the column `task_record_no`."""

STUB_RECORDS = frozenset({(115, 5), (115, 6), (115, 7)})
"""Records whose QWHS is a stub of four bytes."""

STATISTICS_RECORDS = frozenset({(115, 1), (115, 2), (115, 201), (115, 215), (115, 216)})
"""Statistics of a queue manager in an interval; QWHSISEQ is the number of the interval."""

APPENDED = {"QMAC": QWHC}
"""Blocks of a record's QWHS area whose columns are appended to the table of another block."""

__all__ = [
    "ACCOUNTING",
    "APPENDED",
    "CONTINUATION",
    "DATA_LOST",
    "DUMP_HEADER",
    "DUMP_TRAILER",
    "EXTENDED",
    "Q5ST",
    "QCCT",
    "QCST",
    "QCT_ADP",
    "QCT_DNS",
    "QCT_DSP",
    "QCT_SSL",
    "QEST",
    "QIS1",
    "QIST",
    "QJST",
    "QLST",
    "QMAC",
    "QMST",
    "QPST",
    "QQST",
    "QSGM",
    "QSPH",
    "QSRS",
    "QSST",
    "QTST",
    "QWAC",
    "QWAS",
    "QWHC",
    "QWHS",
    "QWHS_LONG",
    "QWHS_SHORT",
    "QWHS_SIZES",
    "QWHS_STUB",
    "QWHS_STUB_BYTES",
    "QWHX",
    "QWHX_RELEASE",
    "QWST",
    "REGISTRY",
    "SIGNATURES",
    "SMF7",
    "STATISTICS",
    "STATISTICS_RECORDS",
    "STUB_RECORDS",
    "SUBTYPE_VALID",
    "TASK",
    "TASK_RECORDS",
    "TRACES",
    "TRIPLET",
    "WHOLE_RECORDS",
    "WQST",
    "WTAS",
    "WTID",
]
