"""IBM MQ for z/OS SMF 115 and 116 records: decode, query, report.

data = smfparse.open("DUMP.smf")
data.arrow("wtas")  # pyarrow.Table, one row per task and interval
data.report("log")  # the figures of MP1B's LOG report
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smfparse.faces import face

__version__ = "0.1.0"

if TYPE_CHECKING:
    from smfparse.errors import SmfError as SmfError
    from smfparse.inputs import decode_part as decode_part
    from smfparse.library import SmfData as SmfData
    from smfparse.library import compare as compare
    from smfparse.library import convert as convert
    from smfparse.library import open as open  # noqa: A004 - as in gzip.open
    from smfparse.reading import Part as Part
    from smfparse.reading import plan as plan
    from smfparse.selecting import Selection as Selection
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        errors="SmfError",
        inputs="decode_part",
        library="SmfData compare convert open",
        reading="Part plan",
        selecting="Selection",
    )
    __all__ += ["__version__"]
