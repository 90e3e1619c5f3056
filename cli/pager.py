"""Long text on a terminal, screen by screen, with the program in PAGER, or `less`."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

from smfparse.interrupts import ASKED

_NONE = ("", "cat")
_LESS = "FRX"
"""Options for `less` if LESS is not set: quit if the text fits, show colours, keep the screen."""


def shown(lines: Iterable[str], encoding: str, show: Callable[[Iterable[str]], None]) -> None:
    """Show lines: in a pager if they do not fit on the terminal and a pager is available.

    encoding  encoding of the terminal
    show      function that shows lines without a pager
    """
    command = _command()
    if command is None:
        show(lines)
        return
    coming = iter(lines)
    first = list[str]()
    try:
        is_long = _fill(first, coming)
    except BaseException:
        show(first)
        raise
    if not is_long or not _page(command, chain(first, coming), encoding):
        show(chain(first, coming))


def _command() -> list[str] | None:
    """Return the command of the pager; None: not available, or PAGER disables it."""
    asked = os.environ.get("PAGER", "less").strip()
    if asked in _NONE:
        return None
    try:
        name, *options = shlex.split(asked, posix=os.name != "nt")
    except ValueError:
        return None
    found = shutil.which(name.strip('"'))
    if found is None:
        return None
    return [found, *(["-R"] if Path(found).stem == "less" else []), *options]


def _fill(first: list[str], lines: Iterator[str]) -> bool:
    """Move lines to `first` until they fill the terminal; return False if the lines end first."""
    columns, rows = shutil.get_terminal_size()
    used = 0
    for line in lines:
        first.append(line)
        used += sum(max(1, -(-len(part) // columns)) for part in line.split("\n"))
        if used >= rows:
            return True
    return False


def _page(command: list[str], lines: Iterable[str], encoding: str) -> bool:
    """Show lines in a pager until the user leaves it; return whether the pager was started."""
    environment = {"LESS": _LESS, **os.environ}
    try:
        pager = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)
    except OSError:
        return False
    assert pager.stdin is not None
    try:
        for line in lines:
            pager.stdin.write(f"{line}\n".encode(encoding, "backslashreplace"))
    except BrokenPipeError:  # the user has left the pager
        pass
    finally:
        with suppress(OSError):
            pager.stdin.close()
        _wait(pager)
    return True


def _wait(pager: subprocess.Popen[bytes]) -> None:
    """Wait until the user leaves the pager; until then, only the pager handles Ctrl-C."""
    while True:
        try:
            pager.wait()
        except KeyboardInterrupt:
            if ASKED.signal is not None:
                pager.terminate()
                raise
        else:
            return
