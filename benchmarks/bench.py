"""Time smfparse against md5sum of the same file: ratios, measured in one run.

Each round runs every job once, in turn, as a process of its own; the table gives medians. Ratios
hold on a shared machine where absolute times do not. docs/performance.md explains the measurements.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import inputs
import jobs
from inputs import Input
from measure import Run, interleaved, middle, run
from show import machine, table

_MOST_BYTES = 400e6
"""Of memory, for any command."""
_GROWTH = 1.1
"""How much more memory a file four times as large may take: it varies that much anyhow."""
_START = " (start)"
_NONE = "-"
_SIZES = ("input", "MB", "records", "gzip -6", "zstd -3 MB", "dataset MB", "no larger")
_TIMES = ("input", "job", "s", "start-up s", "x md5sum", "less start-up", "CPU x md5sum", "MB/s",
          "x mq-smf-csv", "peak MB", "all MB", "target", "met")  # fmt: skip
_NOTE = (
    "Targets are for 1 GB and two cores; those of the report and of sql are for the time less\n"
    "start-up, that of convert with one job for processor time. mq-smf-csv is measured if\n"
    "$MQSMFCSV names it, else taken as published."
)
_MEMORY = ("input", "job", "MB", "peak MB", "all MB", "met")

Row = tuple[str, ...]


@dataclass(frozen=True)
class Yard:
    """What the jobs of an input are compared with.

    kind, size         of the input; bytes
    md5                the yardstick
    peer, peer_query   seconds of mq-smf-csv, to CSV and to the answer of the query; None: not known
    """

    kind: str
    size: int
    md5: Run
    peer: float | None
    peer_query: float | None


def measure(given: Input, rounds: int, folder: Path) -> dict[str, Run]:
    """Run all jobs on an input that is in the page cache, and on its small one; return medians."""
    starts = jobs.commands(given.small, folder / f"{given.kind}-small")
    commands = jobs.references(given.smf, folder) | jobs.commands(given.smf, folder / given.kind)
    commands |= {name + _START: command for name, command in starts.items()}
    deque(inputs.blocks(given.smf), 0)
    runs = interleaved(commands, rounds)
    runs |= _extrapolated(runs.pop(jobs.SCALAR), given.size)
    return {name: middle(several) for name, several in runs.items()}


def _extrapolated(runs: Sequence[Run], size: int) -> dict[str, list[Run]]:
    """Turn the speeds that each run printed into runs over the whole file."""
    found: dict[str, list[Run]] = {}
    for each in runs:
        for name, speed in json.loads(each.output).items():
            found.setdefault(name, []).append(replace(each, wall=size / speed, cpu=size / speed))
    return found


def yard(given: Input, found: dict[str, Run]) -> Yard:
    """Return what the jobs of an input are compared with."""
    md5 = found[jobs.YARDSTICK]
    if jobs.PEER in found:
        peer, query = found[jobs.PEER].wall, found[jobs.PEER_QUERY].wall
        return Yard(given.kind, given.size, md5, peer, query)
    factor = jobs.PUBLISHED.get(given.kind)
    seconds = None if factor is None else factor * md5.cpu
    return Yard(given.kind, given.size, md5, seconds, seconds)


def time_rows(found: dict[str, Run], against: Yard) -> Iterator[Row]:
    """Yield one row per job."""
    for name, used in found.items():
        if not name.endswith(_START):
            start = found.get(name + _START)
            yield _time_row(name, used, None if start is None else start.wall, against)


def _time_row(name: str, used: Run, start: float | None, against: Yard) -> Row:
    md5 = against.md5
    ratio = used.wall / md5.wall
    less = None if start is None else (used.wall - start) / md5.wall
    peer = against.peer_query if name in jobs.ANSWERS else against.peer
    processor = used.cpu / md5.cpu
    target = jobs.TARGETS.get(name, {}).get(against.kind)
    judged = less if name.startswith(jobs.WITHOUT_START) else ratio
    if name == jobs.OF_PROCESSOR:
        judged = processor
    met = None if target is None or judged is None else judged <= target
    return (
        *(against.kind, name, f"{used.wall:.2f}", _number(start), f"{ratio:.2f}", _number(less)),
        *(f"{processor:.2f}", f"{against.size / used.wall / 1e6:.0f}"),
        *(_number(peer and peer / used.wall), _mb(used.peak), _mb(used.tree)),
        *(_number(target), _yes(met)),
    )


def size_row(given: Input, dataset: Path) -> Row:
    """Return the sizes of an input, and whether its dataset is no larger than zstd makes it."""
    zstd, parquet = inputs.zstd_size(given.smf), inputs.folder_size(dataset)
    facts = (_mb(given.size), f"{inputs.records(given.smf):,}", _gzip(given.smf))
    return (given.kind, *facts, _mb(zstd, 1), _mb(parquet, 1), _yes(parquet <= zstd))


def real_rows() -> Iterator[Row]:
    """Yield the sizes of the real files that are there."""
    for path in inputs.real_files():
        zstd = _mb(inputs.zstd_size(path), 3)
        facts = (_mb(path.stat().st_size, 3), f"{inputs.records(path):,}", _gzip(path))
        yield (path.name, *facts, zstd, _NONE, _NONE)


def memory_rows(given: Sequence[Input], folder: Path) -> Iterator[Row]:
    """Yield what convert and the report take of memory, for inputs of one kind, smallest first."""
    for job in (jobs.with_jobs(jobs.CONVERT, 2), jobs.with_jobs(jobs.REPORT, 2)):
        first = 0
        for each in given:
            used = run(jobs.commands(each.smf, folder / "dataset")[job])
            first = first or used.tree
            met = used.tree < _MOST_BYTES and used.tree <= first * _GROWTH
            peaks = (_mb(used.peak), _mb(used.tree))
            yield (each.kind, job, _mb(each.size), *peaks, _yes(met))


def _gzip(path: Path) -> str:
    return f"{inputs.gzip_ratio(path):.1f}"


def _mb(size: float, digits: int = 0) -> str:
    return f"{size / 1e6:,.{digits}f}"


def _number(value: float | None, digits: int = 2) -> str:
    return _NONE if value is None else f"{value:.{digits}f}"


def _yes(met: bool | None) -> str:
    return _NONE if met is None else ("yes" if met else "no")


def _times(options: argparse.Namespace, folder: Path) -> None:
    """Print the sizes and the times of all inputs."""
    size, scratch = inputs.parse_size(options.size), folder / "scratch"
    sizes: list[Row] = []
    times: list[Row] = []
    for kind in options.only:
        scratch.mkdir()
        given = inputs.make(kind, size, folder)
        found = measure(given, options.rounds, scratch)
        sizes.append(size_row(given, scratch / kind))
        times += time_rows(found, yard(given, found))
        shutil.rmtree(scratch)
    _print(_SIZES, [*sizes, *real_rows()], options.markdown)
    print(f"\nMedians of {options.rounds} interleaved rounds. {_NOTE}\n")
    _print(_TIMES, times, options.markdown)


def _memory(options: argparse.Namespace, folder: Path) -> None:
    """Print the memory that inputs of the full and of a quarter of the size take."""
    size, scratch = inputs.parse_size(options.memory), folder / "scratch"
    rows: list[Row] = []
    for kind in options.only:
        scratch.mkdir()
        given = [inputs.make(kind, each, folder) for each in (size // 4, size)]
        rows += memory_rows(given, scratch)
        shutil.rmtree(scratch)
    _print(_MEMORY, rows, options.markdown)


def _print(header: Sequence[str], rows: Sequence[Row], markdown: bool) -> None:
    print("\n".join(table(header, rows, markdown)), flush=True)


def _kinds(text: str) -> list[str]:
    found = text.split(",")
    if not set(found) <= inputs.KINDS.keys():
        raise argparse.ArgumentTypeError(f"of {', '.join(inputs.KINDS)}")
    return found


def _options() -> argparse.Namespace:
    parser = inputs.parser(__doc__, 5, "200MB")
    parser.add_argument("--only", type=_kinds, default=list(inputs.KINDS), metavar="KINDS",
                        help="class3,mix,versions,dense or some of them")  # fmt: skip
    parser.add_argument("--memory", metavar="SIZE",
                        help="show memory instead, of inputs of SIZE/4 and SIZE")  # fmt: skip
    return parser.parse_args()


def main() -> None:
    """Generate the inputs, run the jobs, print the tables."""
    options = _options()
    print(f"{machine()}\n", flush=True)
    with inputs.folder(options.keep) as name:
        shutil.rmtree(Path(name) / "scratch", ignore_errors=True)
        (_memory if options.memory else _times)(options, Path(name))


if __name__ == "__main__":
    main()
