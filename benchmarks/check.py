"""Time `check`, `summary` and `dashboard` of simulated days against md5sum of the same file.

CPU, in one run.

Each round runs every command once, in turn. The figures are the least processor time of all rounds,
and what a command takes for the same site with intervals of four hours is its start-up.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import inputs
import jobs
from measure import Run, interleaved, least
from show import machine, table

_DAYS = ("payments", "shared")
"""Scenarios: one queue manager with much accounting, and two of a queue-sharing group."""
_COMMANDS = ("check", "summary", "dashboard")
_START = " (start)"
_INTERVALS = {"": "1m", _START: "4h"}
_MOST = {"check": 5.0, "dashboard": 8.0}
"""Times the processor time of md5sum, less start-up, that a command may take."""
_HEADER = ("day", "MB", "command", "CPU s", "start-up s", "less start-up x md5sum", "target", "met")


def day(scenario: str, interval: str, folder: Path) -> Path:
    """Simulate the day of a scenario, unless it is in the folder already."""
    path = folder / f"{scenario}-{interval}.smf"
    if not path.exists():
        part = path.with_suffix(".part")
        options = ["--scenario", scenario, "--interval", interval, "--force"]
        subprocess.run([inputs.SMFPARSE, "generate", str(part), *options], check=True)
        part.rename(path)
    return path


def commands(scenario: str, folder: Path) -> dict[str, Sequence[str]]:
    """Return what is timed on the day of a scenario; the yardstick is first."""
    days = {name: str(day(scenario, each, folder)) for name, each in _INTERVALS.items()}
    found: dict[str, Sequence[str]] = {jobs.YARDSTICK: [jobs.YARDSTICK, days[""]]}
    for command in _COMMANDS:
        for name, path in days.items():
            run = ["env", "OPENBLAS_NUM_THREADS=1", inputs.SMFPARSE, command, path]
            found[command + name] = [*run, "--jobs", "1"]
    return found


def rows(scenario: str, size: int, runs: Mapping[str, Sequence[Run]]) -> Iterator[tuple[str, ...]]:
    """Yield one row per command."""
    md5 = least(runs[jobs.YARDSTICK])
    for command in _COMMANDS:
        used, start = least(runs[command]), least(runs[command + _START])
        ratio = (used - start) / md5
        most = _MOST.get(command)
        target = (f"{most:g}", "yes" if ratio <= most else "no") if most else ("-", "-")
        figures = (f"{used:.2f}", f"{start:.2f}", f"{ratio:.2f}")
        yield (scenario, f"{size / 1e6:.0f}", command, *figures, *target)


def main() -> None:
    """Simulate the days, run the commands, print the table."""
    options = inputs.parser(__doc__, 5).parse_args()
    print(f"{machine()}\n", flush=True)
    found: list[tuple[str, ...]] = []
    with inputs.folder(options.keep) as name:
        for scenario in _DAYS:
            runs = interleaved(commands(scenario, Path(name)), options.rounds)
            size = day(scenario, _INTERVALS[""], Path(name)).stat().st_size
            found += rows(scenario, size, runs)
    print("\n".join(table(_HEADER, found, options.markdown)))


if __name__ == "__main__":
    main()
