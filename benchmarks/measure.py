"""Run a command as a process of its own: wall and processor seconds, peak memory.

This process stays small on purpose: a child is charged at least the resident memory of the process
that started it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

_SAMPLE_SECONDS = 0.2


@dataclass(frozen=True)
class Run:
    """One run of a command.

    wall, cpu   seconds; `cpu` with that of its children
    peak, tree  bytes resident at most: of the biggest process, of all its processes together
    output      what it printed
    """

    wall: float
    cpu: float
    peak: int
    tree: int
    output: str


class _Tree(threading.Thread):
    """Adds up, again and again, the resident memory of a process and those below it."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._over = threading.Event()
        self.peak = 0

    def run(self) -> None:
        while not self._over.wait(_SAMPLE_SECONDS):
            self.peak = max(self.peak, sum(map(_resident, _family(self._pid))))

    def finish(self) -> int:
        """Stop; return the peak in bytes."""
        self._over.set()
        self.join()
        return self.peak


def _family(pid: int) -> Iterator[int]:
    yield pid
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _family(int(child))
    except OSError:
        return


def _resident(pid: int) -> int:
    """Return the resident bytes of a process, and of what it shares with others its share."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(each.split()[1]) * 1024 for each in lines if each.startswith("Pss:"))


def run(command: Sequence[str]) -> Run:
    """Run a command to its end; leave the program if it fails.

    Python keeps what it compiles, whatever this process was told, unless the command says so.
    """
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        before = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=err, env=own)
        tree = _Tree(process.pid)
        tree.start()
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - before
        process.returncode = os.waitstatus_to_exitcode(status)
        total = tree.finish()
        if process.returncode:
            err.seek(0)
            name = " ".join(Path(each).name for each in command[:3])
            sys.exit(f"{name}: exit {process.returncode}\n{err.read().decode()}")
        out.seek(0)
        peak = used.ru_maxrss * 1024
        cpu = used.ru_utime + used.ru_stime
        return Run(wall, cpu, peak, max(peak, total), out.read().decode(errors="replace"))


def interleaved(commands: Mapping[str, Sequence[str]], rounds: int) -> dict[str, list[Run]]:
    """Run all commands in turn, `rounds` times; return the runs of each."""
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            runs[name].append(run(command))
    return runs


def least(runs: Sequence[Run]) -> float:
    """Return the least processor time of some runs."""
    return min(each.cpu for each in runs)


def middle(runs: Sequence[Run]) -> Run:
    """Return medians of time, and the most memory, of runs of one command."""
    return Run(
        median(each.wall for each in runs),
        median(each.cpu for each in runs),
        max(each.peak for each in runs),
        max(each.tree for each in runs),
        runs[-1].output,
    )
