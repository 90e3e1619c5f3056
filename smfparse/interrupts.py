"""Ctrl-C while a library is at work that does not look at signals."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

WATCHER = "smfparse-interrupts"
"""Name of the thread that waits for an interrupt; it holds no lock, so processes may be forked."""
_END = b"\0"


@contextmanager
def interrupting(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` at once when SIGINT comes; Python raises KeyboardInterrupt only when it is asked.

    Does nothing outside of the main thread, which alone can be interrupted.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    watcher = threading.Thread(target=_watch, args=(reader, stop), name=WATCHER, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.write(writer, _END)
        watcher.join()
        os.close(reader)
        os.close(writer)


def _watch(reader: int, stop: Callable[[], None]) -> None:
    """Read the numbers of signals as they come."""
    while (found := os.read(reader, 1)) != _END:
        if found[0] == signal.SIGINT:
            stop()
