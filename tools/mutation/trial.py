"""Tests on a private copy of the project: unchanged once, then with one mutant at a time."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mutation.mutant import Mutant
from mutation.plugin import PLAN

_PYTEST = (
    *("-m", "pytest", "-x", "-m", "not long", "--tb=short", "-p", "mutation.plugin"),
    *("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:pytest_cov"),
)
_PATIENCE = 60.0
"""Seconds for a test, and before the first, besides ten times what it took unchanged."""
_NO_TESTS = 5
"""Exit code of pytest where no test was left."""
_NOT_BOUND = ("Parser Error", "Binder Error", "Catalog Error", "Conversion Error")
"""SQL that DuckDB refuses, whatever the tests are, is no mutant that they could miss."""


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant; `by` is the test that noticed, "" where none did.

    refused  whether DuckDB did not take its SQL, so that it says nothing about the tests
    """

    mutant: Mutant
    by: str = ""
    refused: bool = False
    seconds: float = 0


@dataclass
class Recording:
    """What tests ran when nothing was changed.

    seconds  that each took
    lines    by path and line, the tests that ran it
    sql      by unit, the tests that ran it: see `unit_of`
    failed   the messages of tests that fail unchanged; they judge nothing
    kills    how many mutants each test has noticed so far
    """

    seconds: dict[str, float]
    lines: Mapping[str, Mapping[str, Sequence[str]]]
    sql: Mapping[str, Sequence[str]]
    failed: Mapping[str, str]
    kills: Counter[str] = field(default_factory=Counter)

    def groups(self, mutant: Mutant, room: Sequence[str]) -> Iterator[list[str]]:
        """Yield the tests that run what is changed, then others of a room; likely killers first."""
        lines, (first, last) = self.lines.get(mutant.path, {}), mutant.change.lines
        runs = {test for line in range(first, last + 1) for test in lines.get(str(line), ())}
        if mutant.language == "sql":
            runs = set(self.sql.get(unit_of(mutant), ()))
        order = sorted(self.seconds, key=lambda each: (-self.kills[each], self.seconds[each]))
        groups = (
            [each for each in order if each in runs],
            [each for each in order if each not in runs and each.startswith(tuple(room))],
        )
        yield from filter(None, groups)


def unit_of(mutant: Mutant) -> str:
    """Return the name by which a recording has the SQL of a mutant: its file, or its macro."""
    return f"{mutant.path} {mutant.change.unit}".strip()


class FailedError(Exception):
    """All tests failed although nothing was changed."""


class Copy:
    """A private copy of the project, in which one mutant at a time is tried."""

    def __init__(self, project: Path, folder: Path) -> None:
        self.root = folder / "project"
        self._plan, self._running = folder / "plan.json", folder / "running.json"
        self._temporary = folder / "tmp"
        listing = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        listed = subprocess.check_output(listing, cwd=project)
        for name in filter(None, os.fsdecode(listed).split("\0")):
            if (project / name).exists():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(project / name, self.root / name, follow_symlinks=False)

    def record(self, tests: Sequence[str], mutants: Sequence[Mutant]) -> Recording:
        """Run tests with nothing changed. Raises FailedError where none passes."""
        made = self._plan.with_name("recording.json")
        units = {unit_of(each): each for each in mutants if each.language == "sql"}
        sql = {
            "texts": {
                name: (self.root / each.path).read_text("utf-8")
                for name, each in units.items()
                if not each.change.unit
            },
            "macros": {name: each.change.unit for name, each in units.items() if each.change.unit},
        }
        include = sorted({str(self.root / m.path) for m in mutants if m.language != "sql"})
        plan = {"record": str(made), "include": include, "sql": sql, "tests": None}
        self._pytest(tests, plan, None)
        found = Recording(**json.loads(made.read_text("utf-8")))
        if not found.seconds:
            raise FailedError("\n".join(["no test passes unchanged", *found.failed.values()]))
        return found

    def judge(self, mutant: Mutant, recording: Recording, room: Sequence[str]) -> Outcome:
        """Try a mutant with tests that run what is changed and those of a room, as in `groups`."""
        path = self.root / mutant.path
        source, stat = path.read_bytes(), path.stat()
        path.write_bytes(mutant.applied(source))
        later = stat.st_mtime + 3600  # so Python does not take the bytecode of the unchanged file
        os.utime(path, (later, later))
        began, by, refused = time.monotonic(), "", False
        try:
            for tests in recording.groups(mutant, room):
                plan = {"record": None, "tests": tests}
                names = list(dict.fromkeys(each.partition("::")[0] for each in tests))
                code, ended = self._pytest(names, plan, recording.seconds)
                if code not in (0, _NO_TESTS):
                    test, message = self._noted()
                    by = (test or "loading the tests") + " (time limit)" * ended
                    refused = not ended and any(each in message for each in _NOT_BOUND)
                    recording.kills[test or by] += not refused
                    break
            return Outcome(mutant, by, refused, time.monotonic() - began)
        finally:
            path.write_bytes(source)
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    def _noted(self) -> tuple[str, str]:
        """Return the test and the message that the plugin noted last."""
        if not self._running.exists():
            return "", ""
        test, message = json.loads(self._running.read_text("utf-8"))
        return test, message

    def _pytest(
        self, names: Sequence[str], plan: Mapping[str, Any], seconds: Mapping[str, float] | None
    ) -> tuple[int, bool]:
        """Run tests; return the exit code, and whether one took so long that it was ended."""
        self._running.unlink(missing_ok=True)
        shutil.rmtree(self._temporary, ignore_errors=True)
        self._temporary.mkdir()
        self._plan.write_text(json.dumps({**plan, "running": str(self._running)}), "utf-8")
        silent: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        process = subprocess.Popen(
            [sys.executable, *_PYTEST, *names], cwd=self.root, start_new_session=True,
            env=self._environment(keeps_bytecode=bool(plan["record"])), **silent,
        )  # fmt: skip
        try:
            return self._wait(process, seconds)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with all that it started
            process.wait()

    def _wait(
        self, process: subprocess.Popen[bytes], seconds: Mapping[str, float] | None
    ) -> tuple[int, bool]:
        """Wait for the end, or until a test takes far longer than its `seconds`; None: no limit."""
        test, began = "", time.monotonic()
        while True:
            try:
                return process.wait(0.1), False
            except subprocess.TimeoutExpired:
                running, _ = self._noted()
            if running != test:
                test, began = running, time.monotonic()
            elif seconds and time.monotonic() - began > _PATIENCE + 10 * seconds.get(test, 0):
                return 1, True

    def _environment(self, *, keeps_bytecode: bool) -> dict[str, str]:
        """Return an environment in which only what is in the copy counts."""
        alone = {name: value for name, value in os.environ.items() if name != "SMFPARSE_EXAMPLES"}
        return alone | {
            "PYTHONPATH": os.pathsep.join([str(self.root), str(self.root / "tools")]),
            "PYTHONDONTWRITEBYTECODE": "" if keeps_bytecode else "1",
            "SMFPARSE_REAL_DATA": "",
            "TMPDIR": str(self._temporary),
            PLAN: str(self._plan),
        }
