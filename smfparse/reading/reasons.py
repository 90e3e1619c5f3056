"""Reasons for skipped bytes and doubtful records: the sentences of `damage`."""

from __future__ import annotations

from smfparse.reading.segments import line_end
from smfparse.vectors import Bytes

NO_TIME = "the SMF header has no time or date; the record is skipped"
NO_RECORD = "no SMF record starts here"
ZEROS = "zero bytes where a record should start"
WRONG_LENGTH = "the record that starts here has a length that leads to no other record"
NO_BLOCK = "a block descriptor word that does not fit its block"
COVERS_NEXT = "the length of this record covers the next one too; they are separated"
HIDDEN = "a record may start here, inside one with a damaged header or damaged triplets"
ESCAPED = (
    "the record may contain escapes of FTP record structure, which shift its bytes; "
    "use --framing ftp-record or --framing none"
)
NO_MARK = "a record starts here, but the one before has no end"
LINE_END = "a line end after a record, as added by a transfer in text mode"
LINE_ENDS = "line ends, one after each record, as added by a transfer in text mode"
CUT_RECORD = (
    "the file is cut in this record, or its triplets are damaged: they point beyond the end"
)


def cut_before_end(size: int) -> str:
    """Return the reason for the first bytes of a record whose end is behind the end of the file."""
    return f"the file is cut: {size} bytes of its last record are left"


def cut_in_block(size: int) -> str:
    """Return the reason for a block of which so many bytes are behind the end of the file."""
    return f"the file is cut: its last block has {size} bytes more"


def seen_in(buffer: Bytes, start: int, end: int) -> str:
    """Return the reason that bytes in no record show."""
    if start == end:
        return NO_MARK
    if not buffer[start:end].any():
        return ZEROS
    if end - start == line_end(buffer, start, end):
        return LINE_END
    return NO_RECORD
