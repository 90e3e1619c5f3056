"""Synthetic SMF data: a scenario in, the bytes of a dump out; the same scenario, the same bytes.

The declarations of schemas/ are read the other way here, from values to bytes. No file is read,
and nothing that decodes is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.synthetic.draws import NEVER as NEVER
    from smfparse.synthetic.draws import Bools as Bools
    from smfparse.synthetic.draws import Draws as Draws
    from smfparse.synthetic.draws import Floats as Floats
    from smfparse.synthetic.draws import Ints as Ints
    from smfparse.synthetic.draws import Rows as Rows
    from smfparse.synthetic.draws import big_endian as big_endian
    from smfparse.synthetic.draws import clock as clock
    from smfparse.synthetic.draws import encoded as encoded
    from smfparse.synthetic.draws import numbered as numbered
    from smfparse.synthetic.dump import SMF_LIMIT as SMF_LIMIT
    from smfparse.synthetic.dump import generate as generate
    from smfparse.synthetic.dump import most_queues as most_queues
    from smfparse.synthetic.dump import written as written
    from smfparse.synthetic.identity import correlation as correlation
    from smfparse.synthetic.records import Envelope as Envelope
    from smfparse.synthetic.records import RecordParts as RecordParts
    from smfparse.synthetic.records import Writers as Writers
    from smfparse.synthetic.segments import SegmentWriter as SegmentWriter
    from smfparse.synthetic.sequence import first_count as first_count
    from smfparse.synthetic.sequence import in_order as in_order
    from smfparse.synthetic.sequence import with_counts as with_counts
    from smfparse.synthetic.versions import VERSIONS as VERSIONS
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        draws="Bools Draws Floats Ints NEVER Rows big_endian clock encoded numbered",
        dump="SMF_LIMIT generate most_queues written",
        identity="correlation",
        records="Envelope RecordParts Writers",
        segments="SegmentWriter",
        sequence="first_count in_order with_counts",
        versions="VERSIONS",
    )
