"""IBM MQ for z/OS SMF 115 and 116 records: decode, query, report.

data = smfparse.open("DUMP.smf")
data.arrow("wtas")  # pyarrow.Table, one row a task and interval
data.report("log")  # the figures of MP1B's LOG report
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from smfparse.errors import SmfError
    from smfparse.inputs.opening import decode_part
    from smfparse.library import SmfData, compare
    from smfparse.library import open_data as open  # noqa: A004 - as in gzip.open
    from smfparse.reading import Part, plan
    from smfparse.selecting import Selection

_HOMES = {
    "Part": ("smfparse.reading", "Part"),
    "Selection": ("smfparse.selecting", "Selection"),
    "SmfData": ("smfparse.library", "SmfData"),
    "SmfError": ("smfparse.errors", "SmfError"),
    "compare": ("smfparse.library", "compare"),
    "decode_part": ("smfparse.inputs.opening", "decode_part"),
    "open": ("smfparse.library", "open_data"),
    "plan": ("smfparse.reading", "plan"),
}

__all__ = [
    "Part",
    "Selection",
    "SmfData",
    "SmfError",
    "__version__",
    "compare",
    "decode_part",
    "open",
    "plan",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that the command line starts fast."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _HOMES[name]
    return getattr(import_module(module), attribute)
