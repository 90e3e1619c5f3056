"""Records to Arrow.

In come chunks of records and what is wanted of them; out go (table, RecordBatch) pairs, and damage.
It never opens a file, and decodes no table or column that is not needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.decoding.areas import HeaderAreas as HeaderAreas
    from smfparse.decoding.areas import header_parts as header_parts
    from smfparse.decoding.decoder import Decoder as Decoder
    from smfparse.decoding.decoder import Gathered as Gathered
    from smfparse.decoding.duplicates import Duplicates as Duplicates
    from smfparse.decoding.duplicates import Turn as Turn
    from smfparse.decoding.fingerprinting import FINGERPRINT as FINGERPRINT
    from smfparse.decoding.fingerprinting import NO_RECORDS as NO_RECORDS
    from smfparse.decoding.fingerprinting import Days as Days
    from smfparse.decoding.fingerprinting import Fingerprints as Fingerprints
    from smfparse.decoding.fingerprinting import Identity as Identity
    from smfparse.decoding.fingerprinting import Known as Known
    from smfparse.decoding.fingerprinting import Recorder as Recorder
    from smfparse.decoding.fingerprinting import Seen as Seen
    from smfparse.decoding.fingerprinting import days_of as days_of
    from smfparse.decoding.fingerprinting import fingerprints as fingerprints
    from smfparse.decoding.fingerprinting import identity as identity
    from smfparse.decoding.fingerprinting import read_run as read_run
    from smfparse.decoding.index import BlockIndex as BlockIndex
    from smfparse.decoding.lookback import Before as Before
    from smfparse.decoding.lookback import tasks_in as tasks_in
    from smfparse.decoding.matching import queue_tasks as queue_tasks
    from smfparse.decoding.needs import Needs as Needs
    from smfparse.decoding.records import Blocks as Blocks
    from smfparse.decoding.records import Records as Records
    from smfparse.decoding.tasks import APART_US as APART_US
    from smfparse.decoding.tasks import NO_TASKS as NO_TASKS
    from smfparse.decoding.tasks import TASK_KINDS as TASK_KINDS
    from smfparse.decoding.tasks import Continued as Continued
    from smfparse.decoding.tasks import Tasks as Tasks
    from smfparse.decoding.tasks import in_source as in_source
    from smfparse.decoding.tasks import joined_tasks as joined_tasks
    from smfparse.decoding.tasks import latest_tasks as latest_tasks
    from smfparse.decoding.tasks import sources_in as sources_in
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        areas="HeaderAreas header_parts",
        decoder="Decoder Gathered",
        duplicates="Duplicates Turn",
        fingerprinting=(
            "FINGERPRINT NO_RECORDS Days Fingerprints Identity Known Recorder Seen days_of "
            "fingerprints identity read_run"
        ),
        index="BlockIndex",
        matching="queue_tasks",
        needs="Needs",
        records="Blocks Records",
        lookback="Before tasks_in",
        tasks=(
            "APART_US NO_TASKS TASK_KINDS Continued Tasks in_source joined_tasks latest_tasks "
            "sources_in"
        ),
    )
