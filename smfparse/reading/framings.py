"""The table of framings. A framing is the way in which a file separates its records.

To add a framing, write a `Walk` in its own module and add a row here: detection, `--framing` and
the messages use this table. The module imports no walk, so that `--help` stays fast.
"""

from __future__ import annotations

from typing import NamedTuple


class Framed(NamedTuple):
    """A row of the table of framings.

    walk        `module:class` in this package: the class finds the records of a file
    title       lengths or marks of the records, in a few words
    about       content of such a file
    instead_of  framing that is excluded if this framing finds records, because it would find only
                some of these records
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
        "unblocked:RdwWalk",
        "record descriptor words",
        "record descriptor words (LL LL S 00); long records are whole or in segments",
    ),
    "length": Framed(
        "unblocked:LengthWalk",
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
    "none": Framed("unblocked:BareWalk", "no lengths", "nothing between the records"),
}
"""All framings by name. If two framings fit a file equally well, the first is used."""
