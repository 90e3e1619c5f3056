"""Progress of a command, as one line on a terminal. No other module prints progress."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from smfparse.progress import PROGRESS, SHOWER, WAITING

_AFTER, _EVERY = 1.0, 0.2
"""Seconds before the progress line appears, and seconds between two updates."""
_UNITS = ((10**9, "GB"), (10**6, "MB"), (10**3, "KB"))


class Bar:
    """The progress line of a command, which is removed when other text is printed."""

    def __init__(self) -> None:
        self._began: float | None = None
        self._shown = ""
        self._is_quiet = False
        self._lock = threading.Lock()

    @property
    def at_work(self) -> bool:
        """Whether work is in progress."""
        return self._began is not None

    @contextmanager
    def of_command(self) -> Iterator[None]:
        """Show the line during a long command, if stderr is a terminal."""
        self._is_quiet, ended = False, threading.Event()
        if not _is_terminal():
            yield
            return
        thread = threading.Thread(target=self._keep, args=(ended,), name=SHOWER, daemon=True)
        thread.start()
        PROGRESS.is_wanted = True
        try:
            with self.working():
                yield
        finally:
            PROGRESS.is_wanted = False
            ended.set()
            thread.join()

    @contextmanager
    def working(self) -> Iterator[None]:
        """Count the `with` block as work. The line appears after _AFTER seconds of work."""
        self._began = time.monotonic()
        try:
            yield
        finally:
            self.leave()

    def leave(self) -> None:
        """Remove the line until the next work begins."""
        self._began = None
        self.clear()

    def silence(self) -> None:
        """Show no progress line for this command."""
        self._is_quiet = True

    def clear(self) -> None:
        """Remove the line, because other text is printed in its place."""
        with self._lock:
            self._write("")

    def _keep(self, ended: threading.Event) -> None:
        while not ended.wait(_EVERY):
            with self._lock:
                began, now = self._began, time.monotonic()
                if began is not None and now - began >= _AFTER and not self._is_quiet:
                    self._write(progress_line(now - began, now, _width()))

    def _write(self, line: str) -> None:
        if line != self._shown:
            blank = " " * (len(self._shown) - len(line))
            text = f"\r{line}{blank}" if line else f"\r{blank}\r"
            self._shown = line
            with suppress(OSError, ValueError):
                os.write(sys.stderr.fileno(), text.encode())


BAR = Bar()
"""Progress line of this process."""


def progress_line(seconds: float, now: float, width: int) -> str:
    """Return the progress line: work, bytes, MB/s and the remaining time, as far as known.

    seconds  seconds since the work began
    now      current time, as in `Progress.began`
    width    maximum number of characters
    """
    done, total = PROGRESS.done, PROGRESS.total
    if PROGRESS.what and done and (done < total or not total):
        rate = done / max(now - PROGRESS.began, 1e-3)
        parts = [PROGRESS.what, _bytes(done, total), f"{rate / 1e6:.0f} MB/s"]
        if total:
            parts.append(f"{_time((total - done) / rate)} left")
    else:
        what = WAITING if PROGRESS.what == WAITING else "working"
        parts = [what, _time(seconds), *_percent()]
    return "   ".join(parts)[: max(width - 1, 0)]


def _percent() -> list[str]:
    share = -1.0
    with suppress(Exception):  # the connection may already be closed
        share = PROGRESS.share() if PROGRESS.share is not None else -1.0
    return [f"{share:.0f}%"] if share > 0 else []


def _bytes(done: int, total: int) -> str:
    size, unit = next((each for each in _UNITS if max(done, total) >= each[0]), (1, "bytes"))
    decimals = 2 if unit == "GB" else 0
    shown = f"{done / size:.{decimals}f}"
    if not total:
        return f"{shown} {unit}"
    return f"{shown} of {total / size:.{decimals}f} {unit}   {100 * min(done / total, 1):.0f}%"


def _time(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes}:{rest:02} min" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02} h"


def _is_terminal() -> bool:
    """Whether stderr is a terminal that can overwrite a line."""
    with suppress(AttributeError, OSError, ValueError):
        return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    return False


def _width() -> int:
    with suppress(OSError, ValueError):
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    return 80
