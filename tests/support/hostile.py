"""Texts that would do harm at a terminal or in a spreadsheet, and files that are full of them."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pyarrow as pa
from hypothesis import strategies as st

import smfparse
from tests.support.generated import generate_dump

LINK = "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\"
CLIPBOARD = "\x1b]52;c;cm0gLXJmIH4=\x07"
HARM = [
    *(LINK, CLIPBOARD, "\x9d52;c;cm0gLXJmIH4=\x9c", "\x1b[2J\x1b[31mred", "good\rbad", "rm\b\bls"),
    *("a\0b", "a\x7fb", "a\x85b", "a\nsmfparse: all is well", "\t=1+1", "\r=cmd|' /C calc'!A0"),
    *("\u202egnp.exe", "\u2066a\u2069", "\u200e\u200f\u061c", "a\u2028b\u2029c", "\u3164"),
    *("zero\u200bwidth\ufeff", "tag\U000e0041", "\\x1b", "=1+1", "\uff1d1+1", " =1+1"),
]
"""Each does something else to whoever shows it as it is."""
HARMFUL = st.one_of(
    st.sampled_from(HARM),
    st.text(max_size=6),
    st.text("\0\a\b\t\n\r\x1b\x7f\x85\x9b\xad\u200b\u202e\u2028\\=+ |\"',;x", max_size=6),
)
_KINDS = ("Cc", "Cf", "Cs", "Zl", "Zp")
EBCDIC = "\x1b\x07\x08\r\0\x85\x9b\x9d\x7f\xad\t=\n"
"""Characters that text in records can have: it is in Latin letters."""


def raw(text: str | bytes) -> list[str]:
    """Return the characters of an output, other than ends of lines, that should not be there."""
    shown = text.decode() if isinstance(text, bytes) else text
    return [each for each in shown if each != "\n" and unicodedata.category(each) in _KINDS]


def hostile_dump(path: Path, letters: str = EBCDIC) -> Path:
    """Write an SMF dump in which harm stands in all names: of jobs, queues, channels, systems."""
    generate_dump(path, version="10.0.0", count=2, tasks=4, qmgrs=["QMXX", "QMYY"], system="SYSA")
    data = path.read_bytes()
    for name in sorted(_names(path), key=len, reverse=True):
        data = data.replace(name.encode("cp500"), _poison(name, letters).encode("cp500"))
    path.write_bytes(data)
    return path


def _names(path: Path) -> set[str]:
    """Return what text columns have, other than what is told by a number in the record."""
    found: set[str] = set()
    opened = smfparse.open(path)
    for table in opened.tables:
        rows = opened.arrow(table)
        for name, kind in zip(rows.schema.names, rows.schema.types, strict=True):
            if pa.types.is_string(kind) and name not in ("source", "mq_version"):
                found.update(filter(None, rows[name].unique().to_pylist()))
    return {each for each in found if len(each) > 2 and not each.isdecimal() and each.isascii()}


def _poison(name: str, letters: str) -> str:
    """Return a name of the same length, another for each, that starts with its first letter."""
    start = sum(map(ord, name))
    return name[0] + "".join(
        letters[(start + number) % len(letters)] if number % 3 else letter
        for number, letter in enumerate(name[1:], 1)
    )
