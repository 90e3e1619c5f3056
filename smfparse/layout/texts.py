"""Texts and opaque bytes: names in EBCDIC, tokens in hexadecimal, reserved bytes, block headers."""

from __future__ import annotations

from typing import Any

from construct import Bytes

from smfparse.errors import LayoutError
from smfparse.layout.kinds import Combine, Kind, Shown

ENCODING = "cp500"
"""EBCDIC code page of text fields (equals 037 and 1047 for every character of an MQ name)."""
BLANK = b"\x40"


class Text(Kind):
    """EBCDIC text; trailing blanks and NULs are removed, others are kept."""

    fact = "ebcdic"

    def __init__(self, width: int) -> None:
        super().__init__(Bytes(width), None, Combine.NONE)

    def _decode(self, obj: bytes, context: Any, path: str) -> str:
        return obj.rstrip(b"\x00" + BLANK).decode(ENCODING)

    def _encode(self, obj: str | None, context: Any, path: str) -> bytes:
        try:
            text = (obj or "").encode(ENCODING)
        except UnicodeEncodeError as error:
            raise LayoutError(f"{path}: EBCDIC has no character for {obj!r}") from error
        if len(text) > self.width:
            raise LayoutError(f"{path}: {obj!r} is longer than {self.width} bytes")
        return text.ljust(self.width, BLANK)

    def spell(self, raw: bytes) -> str:
        """Decode the bytes of one field."""
        return self._decode(raw, None, "")

    @property
    def shown(self) -> tuple[Shown, ...]:
        return (Shown("string"),)


class Hex(Kind):
    """Opaque bytes, shown as hexadecimal text."""

    fact = "bytes"

    def __init__(self, width: int) -> None:
        super().__init__(Bytes(width), None, Combine.NONE)

    def _decode(self, obj: bytes, context: Any, path: str) -> str:
        return obj.hex().upper()

    def _encode(self, obj: str | None, context: Any, path: str) -> bytes:
        return bytes.fromhex(obj or "00" * self.width)

    @property
    def shown(self) -> tuple[Shown, ...]:
        return (Shown("string"),)


class Reserved(Kind):
    """Reserved bytes: `parse` returns them, but no column shows them."""

    fact = "pad"

    def __init__(self, width: int) -> None:
        super().__init__(Bytes(width), None, Combine.NONE)

    def _decode(self, obj: bytes, context: Any, path: str) -> bytes:
        return obj

    def _encode(self, obj: bytes | None, context: Any, path: str) -> bytes:
        return obj or bytes(self.width)

    @property
    def shown(self) -> tuple[Shown, ...]:
        return ()


class Header(Kind):
    """The id, length or eye-catcher at the start of a block, of the kind `inner`: no column.

    `value` is the same in every block; None: the length, which depends on the block.
    """

    def __init__(self, inner: Kind, value: str | None) -> None:
        super().__init__(inner, None, Combine.NONE)
        self.fact = inner.fact
        self.value = value

    def _decode(self, obj: Any, context: Any, path: str) -> Any:
        return obj

    def _encode(self, obj: Any, context: Any, path: str) -> Any:
        return self.value if obj is None else obj

    @property
    def shown(self) -> tuple[Shown, ...]:
        return ()
