"""Interrupts by Ctrl-C (even in library calls that ignore signals), other signals and time limits.

All of them raise KeyboardInterrupt, so that no temporary file remains. `timed` converts
KeyboardInterrupt to SmfError.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from smfparse.errors import SmfError

WATCHER = "smfparse-interrupts"
"""Name of the thread that waits for signals. It has no lock, so processes can be forked."""
_END = b"\0"
ENDS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals by which the system, a service manager or a closed terminal ends a process."""
_STOPPED = threading.Event()
"""Set when `interrupting` calls `stop`. Other threads check it, because they get no signals."""
_STOPS = (signal.SIGINT, getattr(signal, "SIGALRM", signal.SIGINT), *ENDS)


@contextmanager
def interrupting(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` at once when SIGINT or a signal of ENDS arrives, or the time limit is reached.

    Python raises KeyboardInterrupt only between its own instructions, not in a library call.
    Outside the main thread nothing is done, because only the main thread can be interrupted.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _STOPPED.clear()
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
        if not sys.is_finalizing():  # while Python exits, the thread is frozen
            watcher.join()
        os.close(reader)
        os.close(writer)


def _watch(reader: int, stop: Callable[[], None]) -> None:
    """Read the number of each signal when it arrives, and call `stop`."""
    while (found := os.read(reader, 1)) != _END:
        if found[0] in _STOPS:
            _STOPPED.set()
            stop()


def check_interrupt() -> None:
    """Raise KeyboardInterrupt, outside the main thread, after `interrupting` has called `stop`."""
    if _STOPPED.is_set() and threading.current_thread() is not threading.main_thread():
        raise KeyboardInterrupt


class Asked:
    """Whether the process was asked to end, by a signal of ENDS.

    signal  number of the signal; None: the process was not asked
    """

    signal: int | None = None


ASKED = Asked()
"""The state of this process. After a signal of ENDS, the work does not continue."""


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt for the first signal of ENDS; ignore further signals of ENDS.

    ASKED contains the signal even if a library converts the exception to another error, as numpy
    does when it compares types. Signals that are already ignored, as with nohup, stay ignored.
    Outside the main thread nothing is done.
    """
    ASKED.signal = None
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _frame: object) -> None:
        ASKED.signal = number
        _handle(ENDS, signal.SIG_IGN)
        raise KeyboardInterrupt

    known = [each for each in ENDS if signal.getsignal(each) is signal.SIG_DFL]
    _handle(known, end)
    try:
        yield
    except Exception as error:
        if ASKED.signal is None:
            raise
        raise KeyboardInterrupt from error
    finally:
        if ASKED.signal is None:
            _handle(known, signal.SIG_DFL)


def _handle(signals: Iterable[signal.Signals], how: Any) -> None:
    for each in signals:
        signal.signal(each, how)


@contextmanager
def timed(seconds: int | None) -> Iterator[None]:
    """Raise SmfError if the `with` block takes more than `seconds`; None: no limit.

    The block is interrupted as by Ctrl-C. Must be called in the main thread.
    """
    if seconds is None:
        yield
        return
    is_up = False

    def end(*_: object) -> None:
        nonlocal is_up
        is_up = True
        raise KeyboardInterrupt

    try:
        with _alarm(seconds, end):
            yield
    except (Exception, KeyboardInterrupt) as error:
        if not is_up:
            raise
        raise SmfError(
            f"stopped before it was done: timeout={seconds}; allow more seconds", "timeout"
        ) from error


@contextmanager
def _alarm(seconds: int, ring: Callable[..., None]) -> Iterator[None]:
    """Call `ring` in the main thread after `seconds`, unless the `with` block ends earlier.

    `ring` is called even if SIGINT is ignored, as for background commands of a script.
    """
    number = getattr(signal, "SIGALRM", signal.SIGINT)
    before = signal.signal(number, ring)
    if hasattr(signal, "setitimer"):
        stop: Callable[[], object] = partial(signal.setitimer, signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_REAL, seconds)
    else:  # Windows
        timer = threading.Timer(seconds, signal.raise_signal, [number])
        stop = timer.cancel
        timer.start()
    try:
        yield
    finally:
        stop()
        signal.signal(number, before)
