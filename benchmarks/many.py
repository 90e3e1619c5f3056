"""Measure what many files, many queries and many intervals cost: ratios, in one run.

The many files hold the bytes of one file, and each round runs every command once, in turn. The
figures are the least processor time of all rounds, and the most memory.
"""

from __future__ import annotations

import argparse
import struct
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import inputs
import jobs
from measure import Run, interleaved, least
from show import machine, table

_FIRST, _MIDDLE = 1, 3
"""Codes of RDWs of records that go on in the next segment."""
_QUERIES = 10
_ONE_BY_ONE, _TOGETHER = "one by one", "together"
_ASK = """
import sys, smfparse
data, count = smfparse.open(sys.argv[1]), int(sys.argv[3])
queries = {str(n): f"SELECT qmgr, sum(putn + {n}) FROM wqst GROUP BY 1" for n in range(count)}
if sys.argv[2] == "together":
    data.sqls(queries)
else:
    for query in queries.values():
        data.sql(query)
"""
_FILES = ("command", "one file CPU s", "many CPU s", "ms a file")
_ASKED = ("queries", "CPU s", "x one query")
_INTERVALS = ("intervals of report log", "CPU s", "peak MB", "KB an interval")


def split(whole: Path, folder: Path, count: int) -> None:
    """Write about `count` files with the records of one, which has RDWs."""
    data = whole.read_bytes()
    least, start, at = len(data) // count, 0, 0
    while at < len(data):
        length, code = struct.unpack_from(">HB", data, at)
        at += length
        if code in (_FIRST, _MIDDLE) or (at - start < least and at < len(data)):
            continue
        (folder / f"{start:012}.smf").write_bytes(data[start:at])
        start = at


def commands(source: Path, dataset: Path) -> dict[str, list[str]]:
    """Return what is done with one file, or with a folder of many."""
    convert = ["convert", str(source), "--to", str(dataset), "--force", "--jobs", "1"]
    found = {"info": ["info", str(source)], "report log": ["report", "log", str(source)]}
    found[jobs.CONVERT] = convert
    return {name: [inputs.SMFPARSE, *each] for name, each in found.items()}


def file_rows(runs: Mapping[str, Sequence[Run]], count: int) -> Iterator[tuple[str, ...]]:
    """Yield one row per command; of each there is a run on one file, and one on many."""
    for name in commands(Path(), Path()):
        one, many = (least(runs[f"{name}, {kind}"]) for kind in ("one", "many"))
        yield name, f"{one:.2f}", f"{many:.2f}", f"{1000 * (many - one) / count:.1f}"


def asking(smf: Path) -> dict[str, list[str]]:
    """Return commands that ask one query, and several in each way."""
    python = [inputs.PYTHON, "-P", "-c", _ASK, str(smf)]
    ways = {"1": (_TOGETHER, "1")} | {
        f"{_QUERIES} {way}": (way, str(_QUERIES)) for way in (_ONE_BY_ONE, _TOGETHER)
    }
    return {name: [*python, *way] for name, way in ways.items()}


def asked_rows(runs: Mapping[str, Sequence[Run]]) -> Iterator[tuple[str, ...]]:
    """Yield one row per way to ask."""
    for name, found in runs.items():
        used = least(found)
        yield name, f"{used:.2f}", f"{used / least(runs['1']):.2f}"


def interval_rows(runs: Mapping[str, Sequence[Run]]) -> Iterator[tuple[str, ...]]:
    """Yield one row per count of intervals; what each needs more than the fewest need."""
    fewest, base = next((int(name), _peak(found)) for name, found in runs.items())
    for name, found in runs.items():
        more, peak = int(name) - fewest, _peak(found)
        each = f"{(peak - base) / more / 1024:.2f}" if more else "-"
        yield f"{int(name):,}", f"{least(found):.2f}", f"{peak / 1e6:.0f}", each


def _peak(runs: Sequence[Run]) -> int:
    return max(each.peak for each in runs)


def _intervals(count: int, folder: Path) -> Path:
    """Return a file of so many intervals of little else, made unless it is there."""
    path = folder / f"intervals-{count}.smf"
    if not path.exists():
        small = ["--interval", "60s", "--tasks", "1", "--queues", "1", "--force"]
        made = [inputs.SMFPARSE, "generate", str(path), "--count", str(count), *small]
        subprocess.run(made, check=True)
    return path


def _options() -> argparse.Namespace:
    parser = inputs.parser(__doc__, 3, "60MB")
    parser.add_argument("--files", type=int, default=300, help="that it is cut into (default: 300)")
    parser.add_argument("--intervals", type=int, default=5000,
                        help="of the shorter file; the longer has three times as many"
                        " (default: 5000)")  # fmt: skip
    return parser.parse_args()


def main() -> None:
    """Make the inputs, run the commands, print the tables."""
    options = _options()
    print(f"{machine()}\n", flush=True)
    with inputs.folder(options.keep) as name, tempfile.TemporaryDirectory() as scratch:
        smf = inputs.make("mix", inputs.parse_size(options.size), Path(name)).smf
        many = Path(scratch) / "many"
        many.mkdir()
        split(smf, many, options.files)
        count = sum(1 for _ in many.iterdir())
        each = {
            f"{command}, {kind}": found
            for kind, source in (("one", smf), ("many", many))
            for command, found in commands(source, Path(scratch) / kind / "dataset").items()
        }
        tables = [(_FILES, file_rows(interleaved(each, options.rounds), count))]
        tables.append((_ASKED, asked_rows(interleaved(asking(smf), options.rounds))))
        counts = (options.intervals, 3 * options.intervals)
        log = {
            str(few): [inputs.SMFPARSE, "report", "log", str(_intervals(few, Path(name)))]
            for few in counts
        }
        tables.append((_INTERVALS, interval_rows(interleaved(log, 1))))
        for header, rows in tables:
            print("\n".join(table(header, list(rows), options.markdown)), "\n")


if __name__ == "__main__":
    main()
