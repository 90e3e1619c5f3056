"""IBM MQ for z/OS SMF 115 and 116 records: decode, query, report.

Open SMF files, or a Parquet archive of `smfparse convert`, then query it:

    import smfparse

    data = smfparse.open("DUMP.smf")
    data                       # a notebook shows the record counts
    data.check()               # findings: problem, time, recommended action
    data.show("log")           # MP1B's LOG report, as printed by the command
    data.report("task", frame="polars")    # the values of a report; or "pandas", "arrow"
    data.sql("SELECT job, sum(cpu) AS cpu FROM task GROUP BY job", frame="pandas")
    data.polars("wqst")        # a control block as a LazyFrame: only required columns are decoded

Select a period, queue managers, jobs or queues. All results then refer to this selection:

    some = smfparse.Selection.of(qmgr="QM01", since="2026-03-04 14:00", job="PAY*")
    smfparse.open("DUMP.smf", some).report("api-cost", by="job", top=10)

Compare two days, and keep many:

    smfparse.compare("before.smf", "after.smf")        # significant changes
    smfparse.convert("DUMP.smf", "dataset", append=True)
    smfparse.compact("dataset")                        # combine small files

`smfparse.commit` registers the files of an archive as Iceberg or Delta tables: docs/dataset.md.

Find names: `data.tables` lists IBM's control blocks in lower case (wtas, qjst); `smfparse describe`
and docs/columns.md explain each column; `smfparse report --list` lists all reports. All errors are
`SmfError`, with the correction in the message. More: `help(smfparse.SmfData)`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from smfparse.decoding.selection import Selection as Selection
    from smfparse.errors import SmfError as SmfError
    from smfparse.inputs.opening import decode_part as decode_part
    from smfparse.library import SmfData as SmfData
    from smfparse.library import commit as commit
    from smfparse.library import compact as compact
    from smfparse.library import compare as compare
    from smfparse.library import convert as convert
    from smfparse.library import open as open  # noqa: A004 - as in gzip.open
    from smfparse.reading.chunks import Part as Part
    from smfparse.reading.reader import plan as plan
else:
    _LIBRARY = ("SmfData", "commit", "compact", "compare", "convert", "open")
    _MODULES = dict.fromkeys(_LIBRARY, "library") | {
        "SmfError": "errors",
        "decode_part": "inputs.opening",
        "Part": "reading.chunks",
        "plan": "reading.reader",
        "Selection": "decoding.selection",
    }
    __all__ = ["__version__", *_MODULES]

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        return globals()[name]

    def __dir__() -> list[str]:
        return sorted(__all__)
