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
    from smfparse.writing.compacting import Compacted as Compacted
    from smfparse.writing.compacting import compact_dataset as compact_dataset
    from smfparse.writing.database import write_database as write_database
    from smfparse.writing.dataset import write_dataset as write_dataset
    from smfparse.writing.files import write_files as write_files
    from smfparse.writing.files import write_set as write_set
    from smfparse.writing.formats import FILE_FORMATS as FILE_FORMATS
    from smfparse.writing.formats import is_lake as is_lake
    from smfparse.writing.lakes import Change as Change
    from smfparse.writing.lakes import commit_dataset as commit_dataset
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        append="Appended append_dataset",
        compacting="Compacted compact_dataset",
        database="write_database",
        dataset="write_dataset",
        files="write_files write_set",
        formats="FILE_FORMATS is_lake",
        lakes="Change commit_dataset",
    )
