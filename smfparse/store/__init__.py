"""Where results are kept: rows and a target in, whole Parquet files and manifests on disk out.

A dataset is a folder with a manifest; one process at a time writes to it, and what it replaces
stays until the new is complete. Nothing is decoded here, and no input is opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.store.belonging import contents as contents
    from smfparse.store.belonging import has_manifest as has_manifest
    from smfparse.store.belonging import interrupted as interrupted
    from smfparse.store.belonging import is_dataset as is_dataset
    from smfparse.store.belonging import ours as ours
    from smfparse.store.belonging import own_names as own_names
    from smfparse.store.database import FORMAT as FORMAT
    from smfparse.store.database import MANIFEST as MANIFEST
    from smfparse.store.database import interrupted_in as interrupted_in
    from smfparse.store.database import take_back as take_back
    from smfparse.store.days import day_name as day_name
    from smfparse.store.days import meets_span as meets_span
    from smfparse.store.folder import Folder as Folder
    from smfparse.store.folder import NewFile as NewFile
    from smfparse.store.hive import DATE as DATE
    from smfparse.store.hive import GROWING as GROWING
    from smfparse.store.hive import NO_DATE as NO_DATE
    from smfparse.store.hive import NO_QMGR as NO_QMGR
    from smfparse.store.hive import QMGR as QMGR
    from smfparse.store.hive import Layout as Layout
    from smfparse.store.hive import qmgr_name as qmgr_name
    from smfparse.store.hive import qmgr_value as qmgr_value
    from smfparse.store.manifest import EXACT as EXACT
    from smfparse.store.manifest import GIVEN as GIVEN
    from smfparse.store.manifest import MEANINGS as MEANINGS
    from smfparse.store.manifest import RECORDS as RECORDS
    from smfparse.store.manifest import SIGNED as SIGNED
    from smfparse.store.manifest import VIEWS as VIEWS
    from smfparse.store.manifest import Manifest as Manifest
    from smfparse.store.manifest import NamedFile as NamedFile
    from smfparse.store.manifest import NamedRun as NamedRun
    from smfparse.store.manifest import called_otherwise as called_otherwise
    from smfparse.store.manifest import has_fingerprints as has_fingerprints
    from smfparse.store.manifest import part_number as part_number
    from smfparse.store.manifest import read_files as read_files
    from smfparse.store.manifest import read_inputs as read_inputs
    from smfparse.store.manifest import read_runs as read_runs
    from smfparse.store.manifest import smf_files as smf_files
    from smfparse.store.manifest import wanted_in as wanted_in
    from smfparse.store.objects import AnyFolder as AnyFolder
    from smfparse.store.parquet import Form as Form
    from smfparse.store.parquet import TableWriter as TableWriter
    from smfparse.store.parquet import WritingThread as WritingThread
    from smfparse.store.parquet import joined as joined
    from smfparse.store.parquet import parquet_options as parquet_options
    from smfparse.store.plain import check_plain as check_plain
    from smfparse.store.plain import checksum as checksum
    from smfparse.store.plain import plain_file as plain_file
    from smfparse.store.targets import PARTIAL as PARTIAL
    from smfparse.store.targets import check_file as check_file
    from smfparse.store.targets import check_folder as check_folder
    from smfparse.store.targets import in_folder as in_folder
    from smfparse.store.targets import new_file as new_file
    from smfparse.store.targets import replacing as replacing
    from smfparse.store.views_sql import no_rows as no_rows
    from smfparse.store.views_sql import selected as selected
    from smfparse.store.writer import DamageKey as DamageKey
    from smfparse.store.writer import News as News
    from smfparse.store.writer import Writer as Writer
    from smfparse.store.writer import only_writer as only_writer
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        belonging="contents has_manifest interrupted is_dataset ours own_names",
        database="FORMAT MANIFEST interrupted_in take_back",
        days="day_name meets_span",
        folder="Folder NewFile",
        hive="DATE GROWING NO_DATE NO_QMGR QMGR Layout qmgr_name qmgr_value",
        manifest="EXACT GIVEN MEANINGS RECORDS SIGNED VIEWS Manifest NamedFile "
        "NamedRun called_otherwise has_fingerprints part_number "
        "read_files read_inputs read_runs smf_files "
        "wanted_in",
        objects="AnyFolder",
        parquet="Form TableWriter WritingThread joined parquet_options",
        plain="check_plain checksum plain_file",
        targets="PARTIAL check_file check_folder in_folder new_file replacing",
        views_sql="no_rows selected",
        writer="DamageKey News Writer only_writer",
    )
