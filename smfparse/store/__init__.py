"""Where results are kept: rows and a target in, whole Parquet files and manifests on disk out.

A dataset is a folder with a manifest; one process at a time writes to it, and what it replaces
stays until the new is complete. Nothing is decoded here, and no input is opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.store.belonging import contents as contents
    from smfparse.store.belonging import interrupted as interrupted
    from smfparse.store.belonging import is_dataset as is_dataset
    from smfparse.store.belonging import ours as ours
    from smfparse.store.belonging import own_folders as own_folders
    from smfparse.store.belonging import own_names as own_names
    from smfparse.store.belonging import partials as partials
    from smfparse.store.belonging import strays as strays
    from smfparse.store.belonging import unfinished as unfinished
    from smfparse.store.days import day_name as day_name
    from smfparse.store.days import meets as meets
    from smfparse.store.days import meets_span as meets_span
    from smfparse.store.days import span_of as span_of
    from smfparse.store.folder import Folder as Folder
    from smfparse.store.folder import NewFile as NewFile
    from smfparse.store.hive import DATE as DATE
    from smfparse.store.hive import GROWING as GROWING
    from smfparse.store.hive import NO_DATE as NO_DATE
    from smfparse.store.hive import NO_QMGR as NO_QMGR
    from smfparse.store.hive import QMGR as QMGR
    from smfparse.store.hive import Layout as Layout
    from smfparse.store.hive import is_divided as is_divided
    from smfparse.store.hive import qmgr_name as qmgr_name
    from smfparse.store.hive import qmgr_value as qmgr_value
    from smfparse.store.keys import Keys as Keys
    from smfparse.store.keys import as_run as as_run
    from smfparse.store.keys import key_of as key_of
    from smfparse.store.locking import LOCK as LOCK
    from smfparse.store.locking import is_locked as is_locked
    from smfparse.store.locking import only_writer as only_writer
    from smfparse.store.manifest import EARLIER as EARLIER
    from smfparse.store.manifest import FORMAT as FORMAT
    from smfparse.store.manifest import GIVEN as GIVEN
    from smfparse.store.manifest import MANIFEST as MANIFEST
    from smfparse.store.manifest import MEANINGS as MEANINGS
    from smfparse.store.manifest import RECORDS as RECORDS
    from smfparse.store.manifest import VIEWS as VIEWS
    from smfparse.store.manifest import called_otherwise as called_otherwise
    from smfparse.store.manifest import dataset_files as dataset_files
    from smfparse.store.manifest import every_file as every_file
    from smfparse.store.manifest import has_fingerprints as has_fingerprints
    from smfparse.store.manifest import manifest_text as manifest_text
    from smfparse.store.manifest import meanings_text as meanings_text
    from smfparse.store.manifest import named_parts as named_parts
    from smfparse.store.manifest import part_number as part_number
    from smfparse.store.manifest import part_of as part_of
    from smfparse.store.manifest import part_text as part_text
    from smfparse.store.manifest import read_head as read_head
    from smfparse.store.manifest import read_manifest as read_manifest
    from smfparse.store.manifest import read_parts as read_parts
    from smfparse.store.manifest import smf_files as smf_files
    from smfparse.store.manifest import wanted_in as wanted_in
    from smfparse.store.objects import AnyFolder as AnyFolder
    from smfparse.store.objects import UrlFolder as UrlFolder
    from smfparse.store.parquet import Form as Form
    from smfparse.store.parquet import TableWriter as TableWriter
    from smfparse.store.parquet import WritingThread as WritingThread
    from smfparse.store.parquet import joined as joined
    from smfparse.store.parquet import parquet_options as parquet_options
    from smfparse.store.plain import check_plain as check_plain
    from smfparse.store.plain import checksum as checksum
    from smfparse.store.plain import plain_file as plain_file
    from smfparse.store.shapes import EXACT as EXACT
    from smfparse.store.shapes import SIGNED as SIGNED
    from smfparse.store.shapes import TYPES as TYPES
    from smfparse.store.shapes import Manifest as Manifest
    from smfparse.store.shapes import own_files as own_files
    from smfparse.store.targets import PARTIAL as PARTIAL
    from smfparse.store.targets import check_file as check_file
    from smfparse.store.targets import check_folder as check_folder
    from smfparse.store.targets import in_folder as in_folder
    from smfparse.store.targets import new_file as new_file
    from smfparse.store.targets import replacing as replacing
    from smfparse.store.views_sql import no_rows as no_rows
    from smfparse.store.views_sql import selected as selected
    from smfparse.store.views_sql import view_statements as view_statements
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        belonging="contents interrupted is_dataset ours own_folders own_names partials "
        "strays unfinished",
        days="day_name meets meets_span span_of",
        folder="Folder NewFile",
        hive="DATE GROWING NO_DATE NO_QMGR QMGR Layout is_divided qmgr_name qmgr_value",
        keys="Keys as_run key_of",
        locking="LOCK is_locked only_writer",
        manifest="EARLIER FORMAT GIVEN MANIFEST MEANINGS RECORDS VIEWS "
        "called_otherwise dataset_files every_file has_fingerprints manifest_text "
        "meanings_text named_parts part_number part_of part_text "
        "read_head read_manifest read_parts smf_files wanted_in",
        objects="AnyFolder UrlFolder",
        parquet="Form TableWriter WritingThread joined parquet_options",
        plain="check_plain checksum plain_file",
        shapes="EXACT SIGNED TYPES Manifest own_files",
        targets="PARTIAL check_file check_folder in_folder new_file replacing",
        views_sql="no_rows selected view_statements",
    )
