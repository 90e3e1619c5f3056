"""Tables, as text or as markdown; and the machine that a run is of."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

_LIBRARIES = ("numpy", "pyarrow", "duckdb", "construct")


def machine() -> str:
    """Return the processor, its cores in use, memory, and the versions of what runs."""
    libraries = ", ".join(f"{name} {version(name)}" for name in _LIBRARIES)
    cores = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    system = f"{platform.system()} {platform.machine()}"
    return (
        f"{_processor()}, {cores} cores, {memory:.0f} GiB, {system}; "
        f"Python {platform.python_version()}, {libraries}"
    )


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.machine()


def table(header: Sequence[str], rows: Sequence[Sequence[str]], markdown: bool) -> Iterator[str]:
    """Yield the lines of a table; its first columns that hold words are to the left."""
    if markdown:
        sides = ["---" if _is_words(column) else "---:" for column in zip(*rows, strict=True)]
        for cells in (header, sides, *rows):
            yield f"| {' | '.join(cells)} |"
        return
    columns = list(zip(header, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    words = [_is_words(column[1:]) for column in columns]
    for cells in (header, *rows):
        padded = [
            cell.ljust(width) if left else cell.rjust(width)
            for cell, width, left in zip(cells, widths, words, strict=True)
        ]
        yield "  ".join(padded).rstrip()


def _is_words(cells: Sequence[str]) -> bool:
    return any(cell[:1].isalpha() for cell in cells)
