"""The SMF headers of synthetic records, and the records that a dump starts and ends with."""

from __future__ import annotations

import numpy as np

from smfparse.layout import ENCODING, US_PER_DAY, Raw, version_key
from smfparse.schemas import DUMP_HEADER, DUMP_TRAILER, QWHX_RELEASE, QWST, SUBTYPE_VALID
from smfparse.synthetic.draws import Ints, Rows, encoded

_LONG_SINCE = (10,)
"""From this MQ version QWHX holds the release, and the SMF header QWHX_RELEASE."""
_DUMP_MARK = 0x1E
_MQ_MARK = _DUMP_MARK | SUBTYPE_VALID.mask
_MARKER_BYTES = 18


class SmfHeaders:
    """Makes the headers of records of one MQ version.

    systems   SMF ids, that of each queue manager
    offset    local time minus UTC, in microseconds
    names     of the queue managers, as headers hold them
    extended  whether the release is in QWHX
    """

    def __init__(
        self, systems: tuple[str, ...], qmgrs: tuple[str, ...], version: str, offset: int
    ) -> None:
        self.systems = encoded(QWST.field("sm115sid").kind, systems)
        self.version = version
        self.offset = offset
        self.names = encoded(QWST.field("sm115SSI").kind, qmgrs)
        self.extended = version_key(version) >= _LONG_SINCE

    def rows(self, record: tuple[int, int], qmgr: Ints, when: Ints, total: int) -> Raw:
        """Return the headers of records of `total` bytes, a row each."""
        release = QWHX_RELEASE.decode(ENCODING) if self.extended else self.version.replace(".", "")
        fixed = {
            "sm115len": total,
            "sm115flg": _MQ_MARK,
            "sm115rty": record[0],
            "sm115stf": record[1],
            "sm115rel": release,
        }
        rows = Rows(QWST, self.version, len(qmgr), fixed)
        self._stamp(rows, when)
        rows.set_bytes("sm115sid", self.systems[qmgr])
        rows.set_bytes("sm115SSI", self.names[qmgr])
        return rows.raw

    def dump_header(self, when: int) -> bytes:
        """Return the record that a dump starts with."""
        return self._marker(DUMP_HEADER, when)

    def dump_trailer(self, when: int) -> bytes:
        """Return the record that a dump ends with."""
        return self._marker(DUMP_TRAILER, when)

    def _marker(self, kind: int, when: int) -> bytes:
        fixed = {"sm115len": _MARKER_BYTES, "sm115flg": _DUMP_MARK, "sm115rty": kind}
        rows = Rows(QWST, self.version, 1, fixed)
        rows.set_bytes("sm115sid", self.systems[:1])
        self._stamp(rows, np.array([when], np.int64))
        return rows.raw[0, :_MARKER_BYTES].tobytes()

    def _stamp(self, rows: Rows, when: Ints) -> None:
        local = when + self.offset
        rows.set("sm115tme", local % US_PER_DAY // 10_000)
        rows.set("sm115dte", _packed_date(local // US_PER_DAY))


def _packed_date(days: Ints) -> Ints:
    """Return days since 1970 as SMF's packed date 0cyydddF."""
    years = days.astype("datetime64[D]").astype("datetime64[Y]")
    year = years.astype(np.int64) + 1970
    day = days - years.astype("datetime64[D]").astype(np.int64) + 1
    digits = (year // 100 - 19, year // 10 % 10, year % 10, day // 100, day // 10 % 10, day % 10)
    packed = np.zeros_like(days)
    for digit in digits:
        packed = packed << 4 | digit
    return packed << 4 | 0xF
