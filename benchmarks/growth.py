"""Show how processor time grows with the work: an exponent per command and dimension.

Each dimension of a simulated site becomes four times as large, twice; all others stay. The exponent
is the logarithm, to base 4, of the quotient of the two increases, so start-up does not count: 1 is
linear, 2 is quadratic. Each
round runs every command once, in turn; the figures are the least processor time of all rounds.
"""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import log, nan
from pathlib import Path

import inputs
from measure import Run, interleaved, least
from show import machine, table

_COMMANDS = {
    "check": ("check", "{}"),
    "summary": ("summary", "{}"),
    "dashboard": ("dashboard", "{}", "--output", "{}.html", "--force"),
    "compare": ("compare", "{}", "--split-at", "2026-03-04T12:00", "--format", "csv"),
    "capacity pages": ("capacity", "pages", "{}"),
    "report tasksum": ("report", "tasksum", "{}", "--format", "csv"),
    "report queues": ("report", "queues", "{}", "--format", "csv"),
    "report log": ("report", "log", "{}", "--format", "csv"),
}
"""By name, what is run; `{}` is the file."""
_TIMES = 4
_ENLARGED = {
    "queue managers": ("managers", 4),
    "jobs on a queue": ("jobs", 64),
    "queues, with two jobs each": ("queues", 64),
    "intervals": ("days", 4),
    "findings": ("backlogs", 24),
}
"""By dimension, the parameter of `site`, and its first value."""
_USUAL = {"managers": 1, "jobs": 2, "queues": 8, "days": 1, "backlogs": 0}
_SHARED = ("ALL", 0)
"""The queue that several jobs put to."""
_MOST = 1.1
"""The exponent that a command may have."""
_LEAST_SECONDS = 0.2
"""An increase below this says nothing."""
_HEADER = ("dimension", "command", "sizes", "CPU s", "exponent", "met")


def site(managers: int, jobs: int, queues: int, days: int, backlogs: int) -> str:
    """Return the declaration of a site.

    jobs      that put to one queue
    queues    of which each has a job that puts and one that gets
    backlogs  how many of their consumers stop for an hour
    """
    names = [f"QM{number:02}" for number in range(managers)]
    work = [(f"Q{number}", 1) for number in range(queues)]
    lines = ["[site]", 'story = "growth"', "start = 2026-03-04T00:00:00", f"days = {days}"]
    lines += ["[curves.flat]", "points = [[0, 1.0]]"]
    for number, name in enumerate(names):
        lines += [f"[queue_managers.{name}]", f'system = "S{number:03}"']
        lines += ["log = { io = 240.0, page = 11.0, load = 4000000, pages = 1000000 }"]
        lines += ["pools = { 0 = { buffers = 5000 }, 1 = { buffers = 900000 } }"]
        lines += [
            "page_sets = { 0 = { pool = 0, pages = 5000 }, 1 = { pool = 1, pages = 4000000 } }"
        ]
    lines += ["[queues]"]
    for name in names:
        own = f'queue_manager = "{name}"'
        lines += [f'"{name}.{queue}" = {{ {own}, page_set = 1 }}' for queue, _ in [*work, _SHARED]]
    lines += ["[applications]"]
    for name in names:
        for queue, count in [*work, (_SHARED[0], jobs)]:
            lines += _applications(name, f"{name}.{queue}", queue, count)
    for number in range(backlogs):
        lines += ["[[incidents]]", 'kind = "backlog"', f'target = "GQM00Q{number}"']
        lines += [f'at = "{number % 22:02}:00"', 'length = "60m"']
    return "\n".join(lines)


def _applications(manager: str, queue: str, name: str, count: int) -> Iterator[str]:
    """Yield the application that gets from a queue, and those that put to it."""
    own = f'queue_manager = "{manager}", kind = "batch", user = "BATCH", curve = "flat"'
    yield f'G{manager}{name} = {{ {own}, job = "G{name}", get = ["{queue}"], size = 1000 }}'
    for number in range(count):
        work = f'rate = 2.0, put = {{ "{queue}" = 1 }}, size = 1000'
        yield f'P{manager}{name}N{number} = {{ {own}, job = "P{name}{number}", {work} }}'


def made(text: str, path: Path) -> Path:
    """Simulate a site, unless it is there already."""
    if not path.exists():
        declared = path.with_suffix(".toml")
        declared.write_text(text, "utf-8")
        command = [inputs.SMFPARSE, "generate", path, "--scenario", declared, "--interval", "10m"]
        subprocess.run(list(map(str, command)), check=True)
    return path


def commands(path: Path) -> dict[str, Sequence[str]]:
    """Return what is timed on a file, by name."""
    return {
        name: [inputs.SMFPARSE, *(each.format(path) for each in parts), "--jobs", "1"]
        for name, parts in _COMMANDS.items()
    }


def rows(
    dimension: str, sizes: Sequence[int], runs: Sequence[dict[str, list[Run]]]
) -> Iterator[tuple[str, ...]]:
    """Yield one row per command.

    runs  by command, of each of the three sizes
    """
    for name in _COMMANDS:
        seconds = [least(each[name]) for each in runs]
        first, second = (late - early for early, late in pairwise(seconds))
        known = min(first, second) >= _LEAST_SECONDS
        exponent = log(second / first, _TIMES) if known else nan
        shown = (f"{exponent:.2f}", "yes" if exponent <= _MOST else "no") if known else ("-", "-")
        numbers = ", ".join(f"{each:.2f}" for each in seconds)
        yield (dimension, name, ", ".join(map(str, sizes)), numbers, *shown)


def _options() -> argparse.Namespace:
    parser = inputs.parser(__doc__, 3)
    parser.add_argument("--only", choices=[*_ENLARGED], help="measure one dimension")
    return parser.parse_args()


def main() -> None:
    """Simulate the sites, run the commands, print the table."""
    options = _options()
    print(machine(), flush=True)
    with inputs.folder(options.keep) as folder:
        for dimension, (name, first) in _ENLARGED.items():
            if options.only not in (None, dimension):
                continue
            sizes = [first * _TIMES**each for each in range(3)]
            usual = _USUAL | ({"queues": sizes[-1]} if name == "backlogs" else {})
            runs = []
            for size in sizes:
                path = made(site(**usual | {name: size}), Path(folder) / f"{name}-{size}.smf")
                runs.append(interleaved(commands(path), options.rounds))
            its_rows = [*rows(dimension, sizes, runs)]
            print("", *table(_HEADER, its_rows, options.markdown), sep="\n", flush=True)


if __name__ == "__main__":
    main()
