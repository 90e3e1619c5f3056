"""Time polars LazyFrames of an SMF file against `.arrow(table)`: ratios, measured in one run.

Each round runs every job once, in turn, as a process of its own; the table gives medians. What it
takes to start, as a file of 1 MB shows it, is left out of the ratios.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path

import inputs
from measure import Run, interleaved, middle
from show import machine, table

_WHOLE = "arrow"
_START = " (start)"
_HEADER = ("job", "s", "start-up s", "CPU s", "peak MB", "x arrow", "CPU x arrow")
_FIRST = """
import sys, datetime, smfparse, polars as pl
data = smfparse.open(sys.argv[1])
rows = data.polars("wqst")
"""
_JOBS = {
    _WHOLE: 'print(data.arrow("wqst").num_rows)',
    "limit(10)": "print(rows.limit(10).collect().height)",
    "qjst, limit(10)": 'print(data.polars("qjst").limit(10).collect().height)',
    "head(10) of a queue manager": """
print(rows.filter(pl.col("qmgr") == "QM01").head(10).collect().height)""",
    "putn by basename": """
print(rows.group_by("basename").agg(pl.col("putn").sum()).collect().height)""",
    "all columns of a minute": """
start = data.polars("record").select("smf_time").limit(1).collect().item()
minute = pl.col("smf_time").is_between(start, start + datetime.timedelta(minutes=1))
print(rows.filter(minute).collect().height)""",
    "all columns of a queue": """
name = rows.select("basename").limit(1).collect().item()
print(rows.filter(pl.col("basename") == name).collect().height)""",
    "all columns, putn > 100": 'print(rows.filter(pl.col("putn") > 100).collect().height)',
    "all": "print(rows.collect().height)",
}


def _command(job: str, path: Path) -> list[str]:
    return [inputs.PYTHON, "-P", "-c", _FIRST + _JOBS[job], str(path)]


def _rows(found: dict[str, Run]) -> Iterator[tuple[str, ...]]:
    """Yield one row per job."""
    whole, nothing = found[_WHOLE], found[_WHOLE + _START]
    for job in _JOBS:
        used, start = found[job], found[job + _START]
        wall = (used.wall - start.wall) / (whole.wall - nothing.wall)
        cpu = (used.cpu - start.cpu) / (whole.cpu - nothing.cpu)
        times = (f"{each:.2f}" for each in (used.wall, start.wall, used.cpu))
        yield (job, *times, f"{used.peak / 1e6:,.0f}", f"{wall:.2f}", f"{cpu:.2f}")


def main() -> None:
    """Generate the file, run the jobs, print the table."""
    options = inputs.parser(__doc__, 5, "200MB").parse_args()
    print(f"{machine()}\n", flush=True)
    with inputs.folder(options.keep) as name:
        given = inputs.make("class3", inputs.parse_size(options.size), Path(name))
        commands = {job: _command(job, given.smf) for job in _JOBS}
        commands |= {job + _START: _command(job, given.small) for job in _JOBS}
        deque(inputs.blocks(given.smf), 0)
        runs = interleaved(commands, options.rounds)
    found = {job: middle(several) for job, several in runs.items()}
    print("\n".join(table(_HEADER, list(_rows(found)), options.markdown)))


if __name__ == "__main__":
    main()
