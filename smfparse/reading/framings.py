"""The table of framings: how a file keeps its records apart, and which walk finds them.

To add a framing, write a `Walk` in a module of its own and add a row here: detection, `--framing`
and the messages take it from this table. It imports nothing, so that `--help` stays fast.
"""

from __future__ import annotations

from typing import NamedTuple


class Framed(NamedTuple):
    """A framing.

    walk        module of this package, and the class in it that finds the records
    title       what a record of such a file has
    about       what is in such a file
    instead_of  a framing whose walk finds records in such a file too, but not all: where this one
                finds some, that one is out
    """

    walk: str
    title: str
    about: str
    instead_of: str | None = None


FRAMINGS = {
    "bdw": Framed(
        "blocked:BdwWalk",
        "block and record descriptor words",
        "block descriptor words (LL LL 00 00 or extended) and record descriptor words",
        instead_of="rdw",
    ),
    "rdw": Framed(
        "rdw:RdwWalk",
        "record descriptor words",
        "record descriptor words (LL LL S 00); long records are whole or in segments",
    ),
    "length": Framed(
        "length:LengthWalk",
        "4-byte lengths",
        "a 4-byte length before each record, which does not include itself",
    ),
    "ftp-block": Framed(
        "ftp:FtpBlockWalk",
        "headers of FTP block mode",
        "descriptor and 2-byte length of FTP block mode, as transmitted",
    ),
    "ftp-record": Framed(
        "ftp:FtpRecordWalk",
        "marks of FTP record structure",
        "FF 01 after each record, and FF FF in place of FF",
        instead_of="none",
    ),
    "none": Framed("bare:BareWalk", "no lengths", "nothing between the records"),
}
"""Every framing by name; of two that fit a file alike the first is meant."""
