"""IBM MQ for z/OS SMF 115 and 116 records: decode, query, report.

Open a dump in any form, or a dataset of `smfparse convert`; then ask it:

    import smfparse

    data = smfparse.open("DUMP.smf")
    data                       # a notebook shows what is in it
    data.check()               # what is wrong, since when, and what to do
    data.show("log")           # MP1B's LOG report, as the command prints it
    data.report("task", frame="polars")    # the figures of a report; or "pandas", "arrow"
    data.sql("SELECT job, sum(cpu) AS cpu FROM task GROUP BY job", frame="pandas")
    data.polars("wqst")        # a control block lazily: only what a query needs is decoded

Take a part of it: some time, queue managers, jobs, queues. All that is asked then is about that:

    some = smfparse.Selection.of(qmgr="QM01", since="2026-03-04 14:00", job="PAY*")
    smfparse.open("DUMP.smf", some).report("api-cost", by="job", top=10)

Compare two days, and keep many:

    smfparse.compare("before.smf", "after.smf")        # what changed by more than chance
    smfparse.convert("DUMP.smf", "dataset", append=True)
    smfparse.compact("dataset")                        # many small files become few

`smfparse.commit` gives the files of a dataset to Iceberg or Delta: docs/scale.md.

Find names: `data.tables` has IBM's control blocks in lower case (wtas, qjst); `smfparse describe`
and docs/columns.md say what each column means; `smfparse report --list` names all reports. All that
goes wrong is a `SmfError` whose message says what to do. More: `help(smfparse.SmfData)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smfparse.faces import face

__version__ = "0.1.0"

if TYPE_CHECKING:
    from smfparse.errors import SmfError as SmfError
    from smfparse.inputs import decode_part as decode_part
    from smfparse.library import SmfData as SmfData
    from smfparse.library import commit as commit
    from smfparse.library import compact as compact
    from smfparse.library import compare as compare
    from smfparse.library import convert as convert
    from smfparse.library import open as open  # noqa: A004 - as in gzip.open
    from smfparse.reading import Part as Part
    from smfparse.reading import plan as plan
    from smfparse.selecting import Selection as Selection
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        errors="SmfError",
        inputs="decode_part",
        library="SmfData commit compact compare convert open",
        reading="Part plan",
        selecting="Selection",
    )
    __all__ += ["__version__"]
