"""One run at a time writes to a folder in object storage, for as long as it shows signs of life.

The lock is an object, which is put only where there is none, and put again every few seconds. A run
that finds it unchanged for long, by its own clock, takes it over: of several one wins, because it
is put only if it is still what was seen.
"""

from __future__ import annotations

import itertools
import json
import os
import platform
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from uuid import uuid4

from smfparse.errors import OutputError
from smfparse.limits import Limits
from smfparse.places import (
    NoConditionsError,
    Stamp,
    Tag,
    Url,
    Version,
    Versioned,
    can_be_conditional,
    stamp_of,
)
from smfparse.progress import PROGRESS, WAITING
from smfparse.store.manifest import MANIFEST
from smfparse.store.objects import Guard, UrlFolder

_RENEWALS = 6
"""How often a lock is put while others wait to take it over."""
_DOUBT = 1 / 3
"""Part of that time after which a run asks whether it still has the lock before it goes on."""
_LOOKS = 30
"""How often others look in that time."""


@contextmanager
def leased(folder: Url, lock: str, limits: Limits, wait: float) -> Iterator[UrlFolder]:
    """Give a folder to which nobody else writes meanwhile, where the storage can see to that.

    lock  the name of the object
    wait  seconds for which to wait for another run that shows signs of life

    Raises OutputError where that still writes then.
    """
    run = uuid4().hex
    if not can_be_conditional(folder):
        yield UrlFolder(folder, run, Watch(folder))
        return
    lease = Lease(folder, lock, run, limits)
    guard: Guard = lease
    try:
        try:
            lease.take(wait)
        except NoConditionsError as error:
            PROGRESS.say(f"{folder}: {error.strerror}; nothing keeps others from writing there")
            guard = Watch(folder)
        yield UrlFolder(folder, run, guard)
    finally:
        lease.release()


class Watch:
    """Looks whether another run wrote to a folder that cannot be locked."""

    def __init__(self, folder: Url) -> None:
        self._folder = folder
        self._before = self._now()

    def _now(self) -> Stamp | None:
        place = self._folder / MANIFEST
        return stamp_of(place) if place.exists() else None

    def confirm(self) -> None:
        """Do nothing: nobody can be kept from writing."""

    def check(self) -> None:
        if self._now() != self._before:
            raise _written(self._folder)

    def publish(self, data: bytes) -> bool:  # noqa: ARG002 - it can only be moved
        return False


class Lease:
    """The lock of one run."""

    def __init__(self, folder: Url, lock: str, run: str, limits: Limits) -> None:
        self._folder, self._run, self._seconds = folder, run, limits.lease_seconds
        self._lock, self._manifest = Versioned(folder / lock), Versioned(folder / MANIFEST)
        self._tag: Tag | None = None
        self._before: Tag | None = None
        self._since = _Clock()
        self._is_lost = False
        self._numbers = itertools.count()
        self._turn, self._ended = threading.Lock(), threading.Event()

    def take(self, wait: float) -> None:
        """Get the lock, and keep it by a thread; raise OutputError where another run has it."""
        seen: Version | None = None
        began = since = time.monotonic()
        while True:
            found, now = self._lock.read(), time.monotonic()
            is_same = found is not None and seen is not None and found.tag == seen.tag
            if found is None or (is_same and now - since >= self._seconds):
                if self._take(found.tag if found is not None else None):
                    return
                seen = None  # another run was faster
                continue
            if not is_same:
                if seen is not None and now - began >= wait:
                    raise OutputError(
                        f"{self._folder}: another smfparse is writing there{_who(found)}; run "
                        "again after it has ended"
                    )
                if seen is None and since == began:
                    self._say(found, wait)
                seen, since = found, now
            with PROGRESS.of(WAITING, 0):
                time.sleep(self._seconds / _LOOKS)

    def _say(self, found: Version, wait: float) -> None:
        """Say for whom the run waits, and how long."""
        ask = f"{self._seconds:g} seconds without a sign of life end its lock"
        verb = "waiting for it" if wait else "looking whether it still does"
        PROGRESS.say(
            f"{self._folder}: another smfparse is writing there{_who(found)}; {verb} ({ask})"
        )

    def _take(self, before: Tag | None) -> bool:
        """Put the lock in place of one that was left, or of none; return whether it is ours."""
        self._since = _Clock()
        self._tag = self._lock.put(self._said(), before)
        if self._tag is None:
            return False
        self._lock.prove(self._said())
        self._before = self._manifest.tag()
        threading.Thread(target=self._keep, name="smfparse-lease", daemon=True).start()
        return True

    def _said(self) -> bytes:
        """Return what is in the lock: never the same twice."""
        who = {"run": self._run, "host": platform.node(), "process": os.getpid()}
        return json.dumps(who | {"renewed": next(self._numbers)}).encode()

    def _keep(self) -> None:
        """Show that the run is alive."""
        while not self._ended.wait(self._seconds / _RENEWALS) and not self._is_lost:
            with suppress(OSError, OutputError):  # the next time; who needs the lock looks itself
                self.renew()

    def renew(self) -> None:
        """Put the lock again, if it is still ours; raise OutputError if it is not."""
        with self._turn:
            since = _Clock()
            tag = None if self._is_lost else self._lock.put(self._said(), self._tag)
            self._is_lost = tag is None
            if tag is None:
                raise OutputError(
                    f"{self._folder}: another smfparse took the lock over, because this one showed "
                    f"no sign of life for {self._seconds:g} seconds; run again"
                )
            self._tag, self._since = tag, since

    def confirm(self) -> None:
        if self._is_lost or self._since.seconds >= self._seconds * _DOUBT:
            self.renew()

    def check(self) -> None:
        self.renew()
        if self._manifest.tag() != self._before:
            raise _written(self._folder)

    def publish(self, data: bytes) -> bool:
        self.renew()
        tag = self._manifest.put(data, self._before)
        if tag is None:
            raise _written(self._folder)
        self._before = tag
        return True

    def release(self) -> None:
        """Let others write: remove the lock, if it is still ours."""
        self._ended.set()
        if self._tag is None:
            return
        with suppress(OSError, OutputError):  # others take it over
            self.renew()
            self._lock.remove()


class _Clock:
    """Counts seconds from when it is made."""

    def __init__(self) -> None:
        self._from = time.monotonic(), time.time()

    @property
    def seconds(self) -> float:
        """Seconds since then, those among them for which the machine slept: one clock has these."""
        before, at = self._from
        return max(time.monotonic() - before, time.time() - at)


def _written(folder: Url) -> OutputError:
    return OutputError(f"{folder}: another smfparse wrote there meanwhile; run again")


def _who(found: Version) -> str:
    """Return which process has a lock, as far as it says that."""
    try:
        said = json.loads(found.data)
        return f" (process {said['process']:d} of {said['host']})"
    except (ValueError, TypeError, KeyError):
        return ""
