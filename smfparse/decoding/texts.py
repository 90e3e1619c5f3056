"""The texts of key columns, each stored once per source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from smfparse.layout.kinds import Mask, Raw, Values
from smfparse.layout.texts import ENCODING, Text
from smfparse.schemas import QWHX_RELEASE
from smfparse.vectors import distinct, strings


class TextColumn:
    """The distinct texts of a key column of a source; rows contain codes of these texts."""

    def __init__(self, spell: Callable[[bytes], str | None]) -> None:
        self._spell = spell
        self._codes: dict[bytes, int] = {}
        self._texts: list[str | None] = []

    def codes(self, raw: Raw) -> Values:
        """Return the code of each row of `raw`, uint8 (rows, width): int32 (rows,)."""
        places, each = distinct(raw)
        return np.array([self._code(word.tobytes()) for word in each], np.int32)[places]

    def __len__(self) -> int:
        return len(self._texts)

    def _code(self, raw: bytes) -> int:
        if raw not in self._codes:
            self._codes[raw] = len(self._texts)
            self._texts.append(self._spell(raw))
        return self._codes[raw]

    def array(self) -> Any:
        """Return the texts by code, as an Arrow array."""
        return strings(word or "" for word in self._texts)

    def known(self, codes: Values) -> Mask:
        """Return which codes have a text; None: all."""
        if None not in self._texts:
            return None
        return np.array([word is not None for word in self._texts])[codes]


def _no_blanks(spell: Callable[[bytes], str]) -> Callable[[bytes], str | None]:
    return lambda raw: spell(raw) or None


def text_columns() -> dict[str, TextColumn]:
    """Return the storage for the texts of the key columns of one source, by column."""
    return {
        "system": TextColumn(Text(4).spell),
        "qmgr": TextColumn(Text(4).spell),
        "qsg": TextColumn(_no_blanks(Text(4).spell)),
        "mq_version": TextColumn(_version),
        "subsystem": TextColumn(Text(4).spell),
    }


def _version(releases: bytes) -> str | None:
    """Return the version, such as 9.3.0 for 930, or 10.0.0 for 946 with 100000 in QWHXREL."""
    release, long_release = (part.decode(ENCODING) for part in (releases[:3], releases[3:]))
    if releases[:3] >= QWHX_RELEASE:
        parts = [long_release[at : at + 2] for at in (0, 2, 4)]
    else:
        parts = list(release)
    if not all(part.isdecimal() for part in parts):
        return None
    return ".".join(str(int(part)) for part in parts)
