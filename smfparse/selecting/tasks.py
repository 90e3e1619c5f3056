"""Which task rows are of, where datasets were written before they had the byte of its 116/1 record.

Rows of one source are of one task where that byte is the same. Its record_no does as well, negative
so that it is no byte.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

TASK_OFFSET = "task_record_offset"
TASK_NUMBER = "task_record_no"
TASK_SQL = f"-{TASK_NUMBER}"
"""What stands for `TASK_OFFSET`, in SQL."""


def task_offsets(batch: Any) -> Any:
    """Return what stands for the column TASK_OFFSET of rows that lack it, as an Arrow array."""
    number = batch.column(TASK_NUMBER)
    known = number.is_valid().to_numpy(zero_copy_only=False)
    return pa.array(-number.fill_null(0).to_numpy(), pa.int64(), mask=~known)
