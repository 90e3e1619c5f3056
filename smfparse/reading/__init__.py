"""Files to logical records.

In comes an SMF file in any framing and packing; out go chunks of records, contiguous in a buffer,
and the damage between them. It never looks into a record beyond its header and triplets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.reading.chunks import SLACK as SLACK
    from smfparse.reading.chunks import WHOLE_SOURCE as WHOLE_SOURCE
    from smfparse.reading.chunks import Chunk as Chunk
    from smfparse.reading.chunks import Joined as Joined
    from smfparse.reading.chunks import Part as Part
    from smfparse.reading.chunks import Pieces as Pieces
    from smfparse.reading.chunks import are_short as are_short
    from smfparse.reading.chunks import offset_of as offset_of
    from smfparse.reading.chunks import with_dumps as with_dumps
    from smfparse.reading.detection import Framing as Framing
    from smfparse.reading.detection import framing_named as framing_named
    from smfparse.reading.detection import probe as probe
    from smfparse.reading.framings import FRAMINGS as FRAMINGS
    from smfparse.reading.headers import DATE_END as DATE_END
    from smfparse.reading.headers import MOST_TRIPLETS as MOST_TRIPLETS
    from smfparse.reading.headers import REAL_TYPE as REAL_TYPE
    from smfparse.reading.headers import SUBTYPE_END as SUBTYPE_END
    from smfparse.reading.headers import Headers as Headers
    from smfparse.reading.headers import begins_dump as begins_dump
    from smfparse.reading.headers import existing_triplets as existing_triplets
    from smfparse.reading.headers import kinds_of as kinds_of
    from smfparse.reading.headers import least_offset as least_offset
    from smfparse.reading.headers import packed_dates as packed_dates
    from smfparse.reading.headers import triplet_count as triplet_count
    from smfparse.reading.headers import types_of as types_of
    from smfparse.reading.packing import PACKINGS as PACKINGS
    from smfparse.reading.packing import unpacked as unpacked
    from smfparse.reading.planning import Look as Look
    from smfparse.reading.planning import agree as agree
    from smfparse.reading.planning import is_cut as is_cut
    from smfparse.reading.planning import look_through as look_through
    from smfparse.reading.planning import parts_of as parts_of
    from smfparse.reading.planning import plan as plan
    from smfparse.reading.planning import ranges_of as ranges_of
    from smfparse.reading.planning import size_of as size_of
    from smfparse.reading.reader import Input as Input
    from smfparse.reading.reader import read_chunks as read_chunks
    from smfparse.reading.segments import RDW_SIZE as RDW_SIZE
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        chunks="SLACK WHOLE_SOURCE Chunk Joined Part Pieces are_short offset_of with_dumps",
        detection="Framing framing_named probe",
        framings="FRAMINGS",
        headers="DATE_END MOST_TRIPLETS REAL_TYPE SUBTYPE_END Headers begins_dump "
        "existing_triplets kinds_of least_offset packed_dates triplet_count types_of",
        packing="PACKINGS unpacked",
        planning="Look agree is_cut look_through ranges_of parts_of plan size_of",
        reader="Input read_chunks",
        segments="RDW_SIZE",
    )
