"""Time what commands take to start, and what the text of a report takes: ratios, in one run.

Each round runs every command once, in turn, on a file of 1 MB. The yardstick is what numpy and
pyarrow take to load, which nearly every command needs. The figures are the least processor time of
all rounds: whatever else the machine does only adds to it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import inputs
import jobs
from measure import Run, interleaved, least
from show import machine, table

_YARDSTICK = "import numpy, pyarrow"
_ALONE = ("env", "OPENBLAS_NUM_THREADS=1")
"""No threads of numpy, which the commands do without as well."""
_PYTHON = (*_ALONE, inputs.PYTHON, "-P", "-c")
_TARGETS = {jobs.DECODE: 1.7, "info": 2.1, jobs.CONVERT: 2.3, jobs.REPORT: 2.5, jobs.QUERY: 2.5}
_NOT_COMPILED = ", modules not compiled"
"""Where nothing may be written beside the modules, as in a folder of another user."""
_HEADER = ("command", "CPU s", "x yardstick", "target", "met")
_PRINTING = ("report log", "lines", "CPU s", "text CPU s", "share", "us a line")
_TEXT = """
import json, sys, time
from smfparse.inputs.opening import open_inputs
from smfparse.query.catalog import Catalog
from smfparse.rendering.formats import lines
from smfparse.reports.declaration import report
from smfparse.reports.printing import ReportDocument
from smfparse.reports.running import run_report
which = report("log")
with Catalog(open_inputs([sys.argv[1]])) as catalog:
    rows = list(run_report(which, catalog))
before = time.process_time()
count = sum(1 for _ in lines(ReportDocument(which, iter(rows), {}), "text"))
print(json.dumps([count, time.process_time() - before]))
"""


def commands(smf: Path, folder: Path) -> dict[str, Sequence[str]]:
    """Return what is timed on a small file; the yardstick is first."""
    found: dict[str, Sequence[str]] = {_YARDSTICK: [*_PYTHON, _YARDSTICK]}
    found |= {name: [inputs.SMFPARSE, *name.split()] for name in ("--help", "report --list")}
    made = jobs.commands(smf, folder / "dataset")
    found |= {name: [*_ALONE, *made[jobs.with_jobs(name, 1)]] for name in _TARGETS}
    found[jobs.AFTER] = made[jobs.AFTER]
    cold = ("env", "PYTHONDONTWRITEBYTECODE=1", f"PYTHONPYCACHEPREFIX={folder / 'none'}")
    for name in (_YARDSTICK, jobs.REPORT):
        found[name + _NOT_COMPILED] = [*cold, *found[name]]
    return found


def start_rows(runs: Mapping[str, Sequence[Run]]) -> Iterator[tuple[str, ...]]:
    """Yield one row per command."""
    unit = least(runs[_YARDSTICK])
    for name, found in runs.items():
        used, target = least(found), _TARGETS.get(name)
        met = "-" if target is None else "yes" if used <= target * unit else "no"
        ratio = f"{used / unit:.2f}"
        yield (name, f"{used:.3f}", ratio, "-" if target is None else str(target), met)


def printing_row(name: str, runs: Sequence[Run]) -> tuple[str, ...]:
    """Return what the text of a report took of all that the report took."""
    best = min(runs, key=lambda each: each.cpu)
    count, _ = json.loads(best.output)
    text = min(json.loads(each.output)[1] for each in runs)
    share = f"{text / best.cpu:.0%}"
    return (
        name,
        f"{count:,}",
        f"{best.cpu:.2f}",
        f"{text:.2f}",
        share,
        f"{1e6 * text / count:.1f}",
    )


def main() -> None:
    """Generate the inputs, run the commands, print the tables."""
    options = inputs.parser(__doc__, 9, "60MB").parse_args()
    print(f"{machine()}\n", flush=True)
    with inputs.folder(options.keep) as name, tempfile.TemporaryDirectory() as scratch:
        size = inputs.parse_size(options.size)
        small = inputs.make("class3", inputs.SMALL_BYTES, Path(name)).small
        runs = interleaved(commands(small, Path(scratch)), options.rounds)
        print("\n".join(table(_HEADER, list(start_rows(runs)), options.markdown)), "\n")
        mix = inputs.make("mix", size, Path(name)).smf
        runs = interleaved({"mix": [*_PYTHON, _TEXT, str(mix)]}, min(options.rounds, 5))
        rows = [printing_row(kind, found) for kind, found in runs.items()]
        print("\n".join(table(_PRINTING, rows, options.markdown)))


if __name__ == "__main__":
    main()
