"""Every table and column by name: its meaning, source and Arrow type.

in    the blocks of `schemas`; names that users ask for
out   tables and their columns; Arrow schemas; what is wanted, checked
never decodes a record nor runs a query; only Arrow schemas load pyarrow
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.tables.arrow import CODED as CODED
    from smfparse.tables.arrow import DECIMAL as DECIMAL
    from smfparse.tables.arrow import Batch as Batch
    from smfparse.tables.arrow import Wanted as Wanted
    from smfparse.tables.arrow import arrow_type as arrow_type
    from smfparse.tables.arrow import chosen as chosen
    from smfparse.tables.arrow import coded_schema as coded_schema
    from smfparse.tables.arrow import every_block as every_block
    from smfparse.tables.arrow import plain_schema as plain_schema
    from smfparse.tables.arrow import schema as schema
    from smfparse.tables.arrow import signed as signed
    from smfparse.tables.arrow import wanted_columns as wanted_columns
    from smfparse.tables.arrow import wanted_tables as wanted_tables
    from smfparse.tables.arrow import whole_schema as whole_schema
    from smfparse.tables.dictionary import DAMAGE as DAMAGE
    from smfparse.tables.dictionary import DAMAGE_COLUMNS as DAMAGE_COLUMNS
    from smfparse.tables.dictionary import IDENTITY_COLUMNS as IDENTITY_COLUMNS
    from smfparse.tables.dictionary import KEY_COLUMNS as KEY_COLUMNS
    from smfparse.tables.dictionary import RECORD as RECORD
    from smfparse.tables.dictionary import RECORD_BLOCKS as RECORD_BLOCKS
    from smfparse.tables.dictionary import RECORD_FIELDS as RECORD_FIELDS
    from smfparse.tables.dictionary import STATISTICS_KEYS as STATISTICS_KEYS
    from smfparse.tables.dictionary import TABLES as TABLES
    from smfparse.tables.dictionary import TASK_KEYS as TASK_KEYS
    from smfparse.tables.dictionary import TableColumn as TableColumn
    from smfparse.tables.dictionary import columns as columns
    from smfparse.tables.dictionary import columns_named as columns_named
    from smfparse.tables.dictionary import decoded_tables as decoded_tables
    from smfparse.tables.dictionary import fields_named as fields_named
    from smfparse.tables.dictionary import key_columns as key_columns
    from smfparse.tables.dictionary import local_columns as local_columns
    from smfparse.tables.dictionary import meaning as meaning
    from smfparse.tables.dictionary import near_names as near_names
    from smfparse.tables.dictionary import table_names as table_names
    from smfparse.tables.dictionary import title as title
    from smfparse.tables.dictionary import with_fingerprints as with_fingerprints
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        arrow=(
            "CODED DECIMAL Batch Wanted arrow_type chosen coded_schema every_block plain_schema "
            "schema signed wanted_columns wanted_tables whole_schema"
        ),
        dictionary=(
            "DAMAGE DAMAGE_COLUMNS IDENTITY_COLUMNS KEY_COLUMNS RECORD RECORD_BLOCKS RECORD_FIELDS "
            "STATISTICS_KEYS TABLES TASK_KEYS TableColumn columns columns_named "
            "decoded_tables fields_named key_columns local_columns meaning near_names "
            "table_names title with_fingerprints"
        ),
    )
