"""A copy of an SMF file without the names of its site.

In: an open SMF file, and where the copy goes. Out: the same bytes in the same framing, with other
names, and a count of these. Nothing is decoded but what names stand in.
"""

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.anonymising.copying import Replaced as Replaced
    from smfparse.anonymising.copying import anonymise as anonymise
    from smfparse.anonymising.fields import KINDS as KINDS
    from smfparse.anonymising.proving import Proof as Proof
    from smfparse.anonymising.proving import proof as proof
    from smfparse.anonymising.pseudonyms import Pseudonyms as Pseudonyms
    from smfparse.anonymising.pseudonyms import read_map as read_map
    from smfparse.anonymising.pseudonyms import write_map as write_map
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        copying="Replaced anonymise",
        fields="KINDS",
        proving="Proof proof",
        pseudonyms="Pseudonyms read_map write_map",
    )
