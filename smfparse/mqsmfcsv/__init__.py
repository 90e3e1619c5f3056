"""The files of mq-smf-csv, the public formatter of IBM MQ's SMF records, and their Db2 DDL.

in    open inputs, a folder; `definitions/` says what is in each file
out   SMF-<block>.csv for each block that has rows, and MQTABLES.ddl
never decodes: it spells the columns of tables as that program does
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.mqsmfcsv.declared import Sheet as Sheet
    from smfparse.mqsmfcsv.declared import sheets as sheets
    from smfparse.mqsmfcsv.files import write_sheets as write_sheets
    from smfparse.mqsmfcsv.styles import STYLES as STYLES
else:
    __all__, __getattr__, __dir__ = face(
        __name__, declared="Sheet sheets", files="write_sheets", styles="STYLES"
    )
