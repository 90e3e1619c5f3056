"""The thread cross-reference of a task: its contents depend on the connection type.

CICS: thread number, transaction, task number; IMS: region and PSB. Other types: zeros or addresses.
IBM calls the task number an integer; CICS writes it as packed decimal.
"""

from smfparse.layout.columns import PartOf
from smfparse.layout.kinds import Packed, Text

_CICS = (1,)
_IMS = (3, 4)


def thread_parts(reference: str, connection_type: str) -> tuple[PartOf, ...]:
    """Return the parts of a thread cross-reference; arguments are names of fields."""
    return (
        PartOf("transaction", Text(4), reference, 4, connection_type, _CICS, "CICS transaction"),
        PartOf(
            "psb",
            Text(8),
            reference,
            4,
            connection_type,
            _IMS,
            "IMS program specification block (PSB)",
            unless="CONTROL",
        ),
        PartOf("cics_task", Packed(), reference, 8, connection_type, _CICS, "CICS task number"),
    )
