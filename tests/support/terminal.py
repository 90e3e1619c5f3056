"""smfparse on a terminal: a process whose input and output are a pseudo-terminal."""

from __future__ import annotations

import os
import pty
import struct
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fcntl import ioctl
from select import select
from termios import TIOCSWINSZ
from typing import NamedTuple

from tests.support.command import COMMAND

_PATIENCE = 60
"""Seconds after which a command hangs."""


class Screen(NamedTuple):
    """What a terminal got, and the exit code."""

    text: str
    code: int


def on_terminal(
    *arguments: object,
    typed: Sequence[tuple[str, str | Callable[[], object]]] = (),
    size: tuple[int, int] = (24, 120),
    environment: Mapping[str, str] = {},
    piped: bool = False,
) -> Screen:
    """Run smfparse on a terminal.

    typed        texts that are waited for, and what is typed or called when one is there
    size         rows and columns
    environment  variables besides those of the tests
    piped        whether only stderr is the terminal
    """
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    left_out = {"LESS", "PAGER", "NO_COLOR", "COLUMNS", "LINES"}
    kept = {name: text for name, text in os.environ.items() if name not in left_out}
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)], stdin=theirs, stderr=theirs,
        stdout=subprocess.DEVNULL if piped else theirs, start_new_session=True,
        env=kept | {"TERM": "xterm-256color"} | dict(environment),
        preexec_fn=lambda: ioctl(theirs, _CONTROLLING, 0),
    )  # fmt: skip
    os.close(theirs)
    try:
        return Screen(_talk(ours, list(typed)), process.wait(_PATIENCE))
    finally:
        process.kill()
        os.close(ours)


_CONTROLLING = 0x540E
"""TIOCSCTTY of Linux: less reads keys from the controlling terminal."""


def _talk(ours: int, typed: list[tuple[str, str | Callable[[], object]]]) -> str:
    """Return what comes, until the end; type what is due."""
    found, seen, ends = b"", 0, time.monotonic() + _PATIENCE
    while time.monotonic() < ends:
        if not select([ours], [], [], 1)[0]:
            continue
        part = b""
        with suppress(OSError):  # how a terminal ends
            part = os.read(ours, 1 << 16)
        if not part:
            return found.decode(errors="replace")
        found += part
        if typed and (at := found.find(typed[0][0].encode(), seen)) >= 0:
            seen = at + len(typed[0][0])
            due = typed.pop(0)[1]
            os.write(ours, due.encode()) if isinstance(due, str) else due()
    raise AssertionError(f"waited in vain for {typed}: {found[-2000:]!r}")
