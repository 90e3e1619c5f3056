"""What is timed: the commands, and the most that each may take."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from inputs import PYTHON, SMFPARSE

_HERE = Path(__file__).resolve().parent
YARDSTICK = "md5sum"
CONVERT, REPORT, QUERY, DECODE = "convert", "report log", "sql aggregate", "decode all"
AFTER = "query after convert"
SCALAR = "construct"
PEER, PEER_QUERY = "mq-smf-csv", "mq-smf-csv, read_csv, aggregate"
AGGREGATE = "SELECT qmgr, sum(putct)/sum(putn) FROM wqst GROUP BY 1"
PUBLISHED = {"class3": 7.2, "mix": 9.4}
"""How many times md5sum's time mq-smf-csv took for input like this, where it is not measured."""
TARGETS = {
    f"{DECODE}, 1 job": {"class3": 0.85, "mix": 1.2, "dense": 2.0},
    f"{DECODE}, 2 jobs": {"class3": 0.55, "mix": 0.75, "dense": 1.2},
    f"{CONVERT}, 1 job": {"class3": 1.6, "mix": 2.1, "dense": 3.6},
    f"{CONVERT}, 2 jobs": {"class3": 0.85, "mix": 1.1, "dense": 2.1},
    f"{REPORT}, 2 jobs": {"class3": 0.12, "mix": 1.2, "dense": 0.5},
    f"{QUERY}, 2 jobs": {"class3": 0.20, "mix": 0.20, "dense": 0.20},
}
"""Most time, as a multiple of md5sum's of the same file; meant for 1 GB and two cores."""
WITHOUT_START = (REPORT, QUERY)
"""Jobs whose target is for the time without start-up."""
OF_PROCESSOR = f"{CONVERT}, 1 job"
"""The job whose target is for processor time, because it writes in a thread of its own."""
ANSWERS = (PEER_QUERY, f"{QUERY}, 1 job", f"{QUERY}, 2 jobs")
"""Jobs that go from the SMF file to the answer of the query."""
_READ = """
import sys
block = bytearray(1 << 20)
with open(sys.argv[1], "rb", buffering=0) as file:
    while file.readinto(block):
        pass
"""
_DECODE = """
import sys
from smfparse.decoding.dictionary import table_names
from smfparse.decoding.arrow import wanted_tables
from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
inputs = open_inputs([sys.argv[1]], ReadOptions(jobs=int(sys.argv[2])))
for _ in inputs.batches(wanted_tables(table_names())):
    pass
"""
_PROJECTED = """
import sys
from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
columns = frozenset({"qmgr", "basename", "putn", "putct", "getn", "getct"})
for _ in open_inputs([sys.argv[1]], ReadOptions(jobs=int(sys.argv[2]))).batches({"wqst": columns}):
    pass
"""


def with_jobs(name: str, jobs: int) -> str:
    """Return the name of a job that works with some jobs at once."""
    return f"{name}, {jobs} job{'s' * (jobs > 1)}"


def commands(smf: Path, dataset: Path) -> dict[str, list[str]]:
    """Return what smfparse does with a file, in the order it has to be done; and reading it."""
    found = {"read()": [PYTHON, "-P", "-c", _READ, str(smf)]}
    for jobs in (1, 2):
        for name, command in _parallel(smf, dataset, jobs):
            found[with_jobs(name, jobs)] = command
    found[AFTER] = [SMFPARSE, "sql", str(dataset), AGGREGATE]
    return found


def _parallel(smf: Path, dataset: Path, jobs: int) -> Iterator[tuple[str, list[str]]]:
    option = ["--jobs", str(jobs)]
    yield DECODE, [PYTHON, "-P", "-c", _DECODE, str(smf), str(jobs)]
    yield "decode 6 columns of wqst", [PYTHON, "-P", "-c", _PROJECTED, str(smf), str(jobs)]
    yield "info", [SMFPARSE, "info", str(smf), *option]
    yield REPORT, [SMFPARSE, "report", "log", str(smf), *option]
    yield QUERY, [SMFPARSE, "sql", str(smf), AGGREGATE, *option]
    yield CONVERT, [SMFPARSE, "convert", str(smf), "--to", str(dataset), "--force", *option]


def references(smf: Path, folder: Path) -> dict[str, list[str]]:
    """Return what is compared with: md5sum, construct, and mq-smf-csv where it is built."""
    found = {
        YARDSTICK: [YARDSTICK, str(smf)],
        SCALAR: [PYTHON, str(_HERE / "scalar.py"), str(smf)],
    }
    tool = os.environ.get("MQSMFCSV")
    if tool:
        found[PEER] = [tool, "-i", str(smf), "-o", str(folder)]
        found[PEER_QUERY] = [PYTHON, str(_HERE / "peer.py"), tool, str(smf), str(folder)]
    return found
