"""Inputs that are open.

In come names and `ReadOptions`; out go tables as streams of batches, and a log of what was met.
It never decodes a record itself, and writes nothing but temporary files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.inputs.log import Log as Log
    from smfparse.inputs.named import check_apart as check_apart
    from smfparse.inputs.opening import Inputs as Inputs
    from smfparse.inputs.opening import called_apart as called_apart
    from smfparse.inputs.opening import decode_part as decode_part
    from smfparse.inputs.opening import open_file as open_file
    from smfparse.inputs.opening import open_inputs as open_inputs
    from smfparse.inputs.opening import with_all_names as with_all_names
    from smfparse.inputs.opening import with_all_records as with_all_records
    from smfparse.inputs.opening import with_times as with_times
    from smfparse.inputs.options import Options as Options
    from smfparse.inputs.options import ReadOptions as ReadOptions
    from smfparse.inputs.options import read_options as read_options
    from smfparse.inputs.parallel import in_order as in_order
    from smfparse.inputs.range import Batches as Batches
    from smfparse.inputs.sources import Dataset as Dataset
    from smfparse.inputs.sources import SmfFile as SmfFile
    from smfparse.inputs.sources import Source as Source
    from smfparse.inputs.sources import being_read as being_read
    from smfparse.inputs.sources import damage_rows as damage_rows
    from smfparse.inputs.sources import with_others as with_others
    from smfparse.inputs.stored import file_rows as file_rows
    from smfparse.inputs.temporary import TemporaryFolder as TemporaryFolder
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        log="Log",
        named="check_apart",
        opening="Inputs called_apart decode_part open_file open_inputs with_all_names "
        "with_all_records with_times",
        options="Options ReadOptions read_options",
        parallel="in_order",
        range="Batches",
        sources="Dataset SmfFile Source being_read damage_rows with_others",
        stored="file_rows",
        temporary="TemporaryFolder",
    )
