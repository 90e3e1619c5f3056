"""Inside pytest: record what each test runs, or run chosen tests in an order.

`PLAN` names a JSON file:

    record   where to write what each test ran, and how long it took; null: nowhere
    include  patterns of the Python files whose lines are recorded
    sql      text of each SQL file that is recorded, and of its macros by name: see `trial`
    tests    the only tests to run, in order; null: all
    running  a file that has the test that runs now, and of one that fails its message
"""

from __future__ import annotations

import json
import os
import re
import resource
import time
from collections import defaultdict
from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

PLAN = "SMFPARSE_MUTATION_PLAN"
MEMORY = 12 << 30
"""Bytes that a mutant may write to: one that never ends must not take them all."""


def pytest_configure(config: pytest.Config) -> None:
    """Limit the memory, and do what the plan says."""
    plan = json.loads(Path(os.environ[PLAN]).read_text("utf-8"))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))  # browsers reserve more
    config.pluginmanager.register(Chosen(plan["tests"], Path(plan["running"])))
    if plan["record"]:
        config.option.maxfail = 0
        config.pluginmanager.register(Recorder(plan))


class Chosen:
    """Runs the chosen tests in their order, and notes which runs and why it fails."""

    def __init__(self, tests: list[str] | None, running: Path) -> None:
        self._tests, self._running = tests, running

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self._tests is not None:
            found = {each.nodeid: each for each in items}
            items[:] = [found[each] for each in self._tests if each in found]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._note(nodeid, "")

    def pytest_runtest_logreport(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.failed:
            self._note(report.nodeid, report.longreprtext)

    pytest_collectreport = pytest_runtest_logreport

    def _note(self, test: str, message: str) -> None:
        """Write it in one step: it is read at any time."""
        partial = self._running.with_suffix(".partial")
        partial.write_text(json.dumps([test, message]), "utf-8")
        partial.replace(self._running)


class Recorder:
    """Records the lines and the SQL that each test runs, and how long it takes, if it passes."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self._path, self._include = Path(plan["record"]), plan["include"]
        texts, macros = plan["sql"]["texts"], plan["sql"]["macros"]
        self._texts = {name: text.strip() for name, text in texts.items()}
        self._macros = {name: re.compile(rf"\b{macro}\b") for name, macro in macros.items()}
        self._sql: dict[str, set[str]] = defaultdict(set)
        self._seconds: dict[str, float] = {}
        self._failed: dict[str, str] = {}
        self._known, self._test = cache(self._units_in), ""
        self._coverage: Any = None
        if self._include:
            from coverage import Coverage  # slow to load, and only the recording needs it

            options: dict[str, Any] = {"data_file": None, "config_file": False, "messages": False}
            self._coverage = Coverage(include=self._include, **options)
            self._coverage.start()
        self._listen()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        self._test = item.nodeid
        if self._coverage:
            self._coverage.switch_context(item.nodeid)
        began = time.monotonic()
        done = yield
        self._seconds[item.nodeid] = time.monotonic() - began
        return done

    def pytest_runtest_logreport(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.failed:
            self._failed[report.nodeid] = report.longreprtext

    pytest_collectreport = pytest_runtest_logreport

    def pytest_sessionfinish(self) -> None:
        lines = self._lines() if self._coverage else {}
        sql = {name: sorted(tests) for name, tests in self._sql.items()}
        seconds = {name: each for name, each in self._seconds.items() if name not in self._failed}
        found = {"seconds": seconds, "lines": lines, "sql": sql, "failed": self._failed}
        self._path.write_text(json.dumps(found), "utf-8")

    def _lines(self) -> dict[str, dict[int, list[str]]]:
        """Return the tests that ran each line of each file."""
        self._coverage.stop()
        data = self._coverage.get_data()
        return {
            Path(path).relative_to(Path.cwd()).as_posix(): {
                line: sorted(filter(None, tests))
                for line, tests in data.contexts_by_lineno(path).items()
            }
            for path in data.measured_files()
            if path in self._include
        }

    def _listen(self) -> None:
        """Hear of every statement that a catalog runs, and of the views that it makes."""
        from smfparse.metrics.views import View
        from smfparse.query.catalog import Catalog

        for name in ("define", "execute", "run", "arrow", "rows"):
            setattr(Catalog, name, self._heard(getattr(Catalog, name)))
        statements = View.statements

        def heard(view: Any) -> Any:
            for each in statements(view):
                self._hear(each)
                yield each

        View.statements = heard  # type: ignore[assignment,method-assign]

    def _heard(self, method: Any) -> Any:
        def heard(catalog: Any, statement: str, *more: Any, **named: Any) -> Any:
            self._hear(statement)
            return method(catalog, statement, *more, **named)

        return heard

    def _hear(self, statement: str) -> None:
        for each in self._known(statement):
            self._sql[each].add(self._test)

    def _units_in(self, statement: str) -> set[str]:
        """Return the files in a statement, and the macros that are named in it but not made."""
        found = {name for name, text in self._texts.items() if text in statement}
        if "CREATE OR REPLACE MACRO" not in statement:
            found |= {name for name, each in self._macros.items() if each.search(statement)}
        return found
