"""Time the main jobs against md5sum of the same file: ratios of CPU time, measured in one run.

Each round runs every job once, in turn, as a process of its own; the table gives medians. Ratios
hold on a shared machine where absolute times do not. `--size` is that of the generated input.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

_DECODE = """
import sys
from smfparse.decode import table_names, wanted_tables
from smfparse.tables import open_inputs
names = sys.argv[2:] or table_names()
for _ in open_inputs([sys.argv[1]]).batches(wanted_tables(names)):
    pass
"""
_PROJECTED = """
import sys
from smfparse.tables import open_inputs
columns = frozenset({"qmgr", "basename", "putn", "putct", "getn", "getct"})
for _ in open_inputs([sys.argv[1]]).batches({"wqst": columns}):
    pass
"""


def jobs(smf: Path, folder: Path) -> dict[str, list[str]]:
    """Return the commands to time; md5sum, the yardstick, first."""
    python, smfparse = sys.executable, str(Path(sys.executable).with_name("smfparse"))
    return {
        "md5sum": ["md5sum", str(smf)],
        "decode all": [python, "-c", _DECODE, str(smf)],
        "decode wqst": [python, "-c", _DECODE, str(smf), "wqst"],
        "decode 6 columns of wqst": [python, "-c", _PROJECTED, str(smf)],
        "info": [smfparse, "info", str(smf)],
        "report log": [smfparse, "report", "log", str(smf)],
        "convert": [smfparse, "convert", str(smf), "--to", str(folder / "dataset"), "--force"],
    }


def timed(command: list[str]) -> tuple[float, int]:
    """Run a command; return its CPU seconds and its peak memory in KB."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    message = process.stderr.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command[:3])}: exit {process.returncode}\n{message}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss


def main() -> None:
    """Generate the input, time the jobs, print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="200MB", help="size of the generated input")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        smf = folder / "bench.smf"
        smfparse = str(Path(sys.executable).with_name("smfparse"))
        generate = [smfparse, "generate", str(smf), "--size", options.size, "--tasks", "200"]
        subprocess.run(generate, check=True)
        commands = jobs(smf, folder)
        runs: dict[str, list[tuple[float, int]]] = {job: [] for job in commands}
        for _ in range(options.rounds):
            for job, command in commands.items():
                runs[job].append(timed(command))
        size = smf.stat().st_size
    print(f"{size / 1e6:.0f} MB, medians of {options.rounds} interleaved rounds, CPU time")
    print(f"{'job':28}{'x md5sum':>10}{'peak MB':>10}")
    yardstick = statistics.median(cpu for cpu, _ in runs["md5sum"])
    for job, found in runs.items():
        ratio = statistics.median(cpu for cpu, _ in found) / yardstick
        print(f"{job:28}{ratio:>10.2f}{max(peak for _, peak in found) / 1024:>10.0f}")


if __name__ == "__main__":
    main()
