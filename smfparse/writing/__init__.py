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
    from smfparse.writing.making import by_day as by_day
    from smfparse.writing.manifests import input_keys as input_keys
    from smfparse.writing.manifests import is_long as is_long
    from smfparse.writing.manifests import set_apart as set_apart
    from smfparse.writing.manifests import summed as summed
    from smfparse.writing.parts import Written as Written
    from smfparse.writing.placing import put_in_place as put_in_place
    from smfparse.writing.placing import write_last as write_last
    from smfparse.writing.placing import write_new as write_new
    from smfparse.writing.repacking import repacked as repacked
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
        making="by_day",
        manifests="input_keys is_long set_apart summed",
        parts="Written",
        placing="put_in_place write_last write_new",
        repacking="repacked",
    )
