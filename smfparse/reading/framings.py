"""The table of framings: how a file separates its records, and the walk that finds them.

To add a framing, write a `Walk` in its own module and add a row here: detection, `--framing` and
the messages use this table. It imports nothing, so that `--help` stays fast.
"""

from __future__ import annotations

from typing import NamedTuple


class Framed(NamedTuple):
    """A framing.

    walk        module of this package, and the class in it that finds the records
    title       the lengths or marks of records, in a few words
    about       the content of such a file
    instead_of  a framing whose walk also finds records in such a file, but not all: if this one
                finds some, the other is excluded
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
"""Every framing by name. If two fit a file equally well, the first is used."""
