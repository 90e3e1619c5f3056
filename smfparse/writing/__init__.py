"""All that `convert` writes: open inputs in; a dataset, files of other tools or a database out.

A target is complete or not there. Nothing is decoded here beyond what the inputs yield, and no
query is run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.writing.append import Appended as Appended
    from smfparse.writing.append import append_dataset as append_dataset
    from smfparse.writing.database import write_database as write_database
    from smfparse.writing.dataset import write_dataset as write_dataset
    from smfparse.writing.file_sets import write_set as write_set
    from smfparse.writing.files import write_files as write_files
    from smfparse.writing.formats import FILE_FORMATS as FILE_FORMATS
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        append="Appended append_dataset",
        database="write_database",
        dataset="write_dataset",
        file_sets="write_set",
        files="write_files",
        formats="FILE_FORMATS",
    )
