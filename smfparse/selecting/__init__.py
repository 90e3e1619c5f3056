"""Selection of records and rows: by system, queue manager, time, type, and names in blocks.

It also has the rules of time: when a record counts (`counting`), and what its local time is in a
zone that a user names (`zones`, `walls`).

in    what users write (`Selection.of(qmgr="QM*", since="0900")`); SMF headers; rows of a table
out   a `Selection`; masks over records and rows; an SQL condition: three ways to one result
never decodes a block: the names in blocks are matched by `decoding`
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.selecting.conditions import Lookup as Lookup
    from smfparse.selecting.conditions import sql_condition as sql_condition
    from smfparse.selecting.counting import COUNTED_AT as COUNTED_AT
    from smfparse.selecting.counting import counting_time as counting_time
    from smfparse.selecting.criteria import Value as Value
    from smfparse.selecting.criteria import is_time as is_time
    from smfparse.selecting.criteria import like as like
    from smfparse.selecting.criteria import parse_moment as parse_moment
    from smfparse.selecting.criteria import parse_patterns as parse_patterns
    from smfparse.selecting.criteria import texts as texts
    from smfparse.selecting.rows import KeysBySource as KeysBySource
    from smfparse.selecting.rows import SelectedDamage as SelectedDamage
    from smfparse.selecting.rows import counted_mask as counted_mask
    from smfparse.selecting.rows import keys_by_source as keys_by_source
    from smfparse.selecting.rows import needed_columns as needed_columns
    from smfparse.selecting.rows import record_mask as record_mask
    from smfparse.selecting.rows import row_mask as row_mask
    from smfparse.selecting.selection import ALL_RECORDS as ALL_RECORDS
    from smfparse.selecting.selection import BY_NAME as BY_NAME
    from smfparse.selecting.selection import Selection as Selection
    from smfparse.selecting.selection import queue_criteria as queue_criteria
    from smfparse.selecting.selection import time_is_derived as time_is_derived
    from smfparse.selecting.selection import without_names as without_names
    from smfparse.selecting.subjects import NAMED as NAMED
    from smfparse.selecting.subjects import JoinKey as JoinKey
    from smfparse.selecting.subjects import naming as naming
    from smfparse.selecting.subjects import tables_about as tables_about
    from smfparse.selecting.zones import Zone as Zone
    from smfparse.selecting.zones import fixed_zone as fixed_zone
    from smfparse.selecting.zones import local_columns as local_columns
    from smfparse.selecting.zones import parse_zone as parse_zone
    from smfparse.selecting.zones import read_for as read_for
    from smfparse.selecting.zones import shown_in_zone as shown_in_zone
    from smfparse.selecting.zones import shown_sql as shown_sql
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        conditions="Lookup sql_condition",
        counting="COUNTED_AT counting_time",
        criteria="Value is_time like parse_moment parse_patterns texts",
        rows="KeysBySource SelectedDamage counted_mask keys_by_source needed_columns record_mask "
        "row_mask",
        selection="ALL_RECORDS BY_NAME Selection queue_criteria time_is_derived without_names",
        subjects="NAMED JoinKey naming tables_about",
        zones="Zone fixed_zone local_columns parse_zone read_for shown_in_zone shown_sql",
    )
