"""Which parts the QWHS areas of records have: QWHS in its form, then QWHC, then QWHX."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from smfparse.layout import Raw, Values
from smfparse.schemas import FORMS, LONG_RELEASE, QWHX, SHORT, STUB_BYTES


class HeaderParts(NamedTuple):
    """Where the parts of QWHS areas are; int64 and bool (areas,).

    own       bytes of QWHS, behind which QWHC is
    has_qwhc  whether it is there
    qwhx      byte of the area at which QWHX is
    has_qwhx  whether it is there: the flag for it is not to be trusted
    """

    own: Values
    has_qwhc: Values
    qwhx: Values
    has_qwhx: Values


def header_parts(qwhslen: Values, length: Values, release: Raw) -> HeaderParts:
    """Return where QWHC and QWHX are in QWHS areas.

    qwhslen  int64 (areas,): what QWHSLEN says
    length   int64 (areas,): bytes of the area
    release  uint8 (areas, 3): that of the SMF header
    """
    own = np.maximum(np.minimum(qwhslen, length), STUB_BYTES)
    has_qwhc = (own == SHORT) & (length >= FORMS[SHORT])
    qwhx = np.where(has_qwhc, FORMS[SHORT], own)
    places = np.array([1 << 16, 1 << 8, 1])
    late = release @ places >= np.frombuffer(LONG_RELEASE, np.uint8) @ places
    return HeaderParts(own, has_qwhc, qwhx, late & (length >= qwhx + QWHX.size))
