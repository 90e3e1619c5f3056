"""Every figure that two commands show is one number.

One input is asked once by each command; a figure is then taken from all of their answers, by queue
manager and object. Intervals of the input are regular, so that slots of `summary` and of the page
are intervals. Gaps and restarts are compared in test_agreement.py, on clocks that are not.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pytest

import smfparse
from smfparse.reports.sections import RECORDED, TOTAL
from tests.support.command import in_json
from tests.support.corpora import Corpus, opened_corpus
from tests.support.generated import generate_dump
from tests.support.pages import page_of, payload_in

Row = Mapping[str, Any]
Values = dict[tuple[str, str], float]
"""A figure by queue manager and object."""
DAY = dt.date(2026, 3, 5)
"""The last of the days of the input, a Thursday."""


class Answers:
    def __init__(self, corpus: Corpus, folder: Path) -> None:
        self._corpus, self._folder = corpus, folder
        (self._path,) = corpus.paths
        self.rows = cache(self._rows)

    def _rows(self, source: str) -> list[Row]:
        """Return the rows of `report NAME`, of all its time (`total NAME`), or of a view."""
        kind, name, *by = source.split()
        if kind == "view":
            return self._corpus.select(f"FROM {name}")
        asked = {"by": by} if by else {}
        return self._corpus.rows(name, TOTAL if kind == "total" else RECORDED, **asked)

    @cached_property
    def _summary(self) -> Any:
        return in_json("summary", self._path)["managers"]

    @cached_property
    def _pages(self) -> list[Any]:
        page = page_of(smfparse.open(self._path), self._folder)
        found: list[Any] = payload_in(page)["days"]
        return found

    def intervals(self, command: str) -> Values:
        own = command == "summary"
        managers = self._summary if own else in_json(command, self._path)["managers"]
        return {(each["qmgr"], ""): each["intervals"] for each in managers}

    @property
    def intervals_of_pages(self) -> Values:
        found: Values = defaultdict(float)
        for day in self._pages:
            found[day["qmgr"], ""] += len(day["start"])
        return found

    def summary(self, line: str) -> Values:
        return {key: each["highest"] for key, _, each in _lines_called(line, self._summary)}

    def summary_sum(self, line: str) -> Values:
        """Return a rate times seconds, over all of the time."""
        return {
            key: sum((value or 0) * manager["interval_seconds"] for value in each["over_time"])
            for key, manager, each in _lines_called(line, self._summary)
        }

    def page(self, panel: str, *objects: str) -> Values:
        """Return the highest value of lines of a panel; without objects, of all its lines."""
        lines = self._lines(panel, objects)
        return {key: max(value for _, value in values) for key, values in lines}

    def page_sum(self, panel: str, *objects: str) -> Values:
        found: Values = defaultdict(float)
        for key, values in self._lines(panel, objects):
            found[key] += sum(seconds * value for seconds, value in values)
        return found

    def _lines(
        self, panel: str, objects: tuple[str, ...]
    ) -> Iterator[tuple[tuple[str, str], list[tuple[float, float]]]]:
        together: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
        for day in self._pages:
            lengths = [end - start for start, end in zip(day["start"], day["end"], strict=True)]
            for line in day["charts"].get(panel, {"lines": ()})["lines"]:
                if line["name"] in objects or not objects:
                    name = "" if objects else line["name"]
                    pairs = zip(lengths, line["v"], strict=True)
                    kept = [(seconds, value) for seconds, value in pairs if value is not None]
                    together[day["qmgr"], name] += kept
        yield from together.items()

    def compare(self, rate: str) -> Values:
        """Return a rate times the seconds of the input, added over jobs and queues, by verb."""
        found: Values = defaultdict(float)
        for row in self._compared:
            if row["figure"] == rate and row["verb"]:
                found[row["qmgr"], row["verb"]] += row["before"] * row["before_seconds"]
        return found

    @cached_property
    def _compared(self) -> list[Row]:
        found: list[Row] = in_json("compare", self._path, self._path, "--top", 10_000)["rows"]
        return found

    def capacity(self, planner: str, figure: str) -> Values:
        answers = in_json("capacity", planner, self._path)["answers"]
        return {
            (each["qmgr"], ""): value["value"]
            for each in answers
            for value in each["figures"]
            if value["name"] == figure and not each["about"]
        }

    def trend(self, line: str) -> Values:
        managers = in_json("trend", self._path)["managers"]
        return {key: each["last"] for key, _, each in _lines_called(line, managers)}


def _lines_called(line: str, managers: Any) -> Iterator[tuple[tuple[str, str], Any, Any]]:
    for manager in managers:
        for each in manager["figures"]:
            if each["name"] == line:
                yield (manager["qmgr"], each["object"]), manager, each


Figure = str | Callable[[Row], Any]
"""A column of rows, or what is worked out from them."""
Takes = Mapping[str, Callable[[Answers], Values]]
"""How a figure is taken from answers, by command."""


def most(source: str, figure: Figure, name: str = "", **only: str) -> Takes:
    """Take the highest value of the rows of a source; name: as `summary` names their objects."""
    return {source: lambda answers: _folded(answers.rows(source), figure, name, only, max)}


def added(source: str, figure: Figure, name: str = "", **only: str) -> Takes:
    return {source: lambda answers: _folded(answers.rows(source), figure, name, only, sum)}


def _folded(
    rows: Iterable[Row],
    figure: Figure,
    name: str,
    only: Mapping[str, str],
    fold: Callable[..., Any],
) -> Values:
    found = defaultdict[tuple[str, str], list[Any]](list)
    for row in rows:
        value = row.get(figure) if isinstance(figure, str) else figure(row)
        if value is not None and only.items() <= row.items():
            found[row["qmgr"], name.format(**row)].append(value)
    return {key: fold(values) for key, values in found.items()}


def highest_of(line: str, *objects: str) -> Takes:
    """Take the highest value of a line of `summary`, and of the panel that has its name."""
    return {"summary": lambda answers: answers.summary(line)} | {
        "dashboard": lambda answers: answers.page(line, *objects)
    }


def sum_of(line: str, unit: float = 1) -> Takes:
    return {"summary": lambda answers: scaled(answers.summary_sum(line), unit)} | page_sum(
        line, unit=unit
    )


def page_sum(panel: str, *objects: str, unit: float = 1) -> Takes:
    return {"dashboard": lambda answers: scaled(answers.page_sum(panel, *objects), unit)}


def scaled(values: Values, unit: float) -> Values:
    return {key: value * unit for key, value in values.items()}


def cpu_seconds(row: Row) -> float:
    return (row["cpu"] or 0) / 1e6


def mb_a_second_of_last_day(row: Row) -> float:
    return row["mb_written"] / 86_400 if row["interval_start"].date() == DAY else 0.0


def of_structure(row: Row) -> float:
    return (row["calls_per_second"] or 0) * row["interval_seconds"]


def storage_used(row: Row) -> float | None:
    return None if row["extended_free"] is None else 100 - row["extended_free"]


PERCENT = 0.01
"""Seconds of CPU are percents of a CP times seconds."""
VERBS = "total api-cost qmgr"
FIGURES: Mapping[str, Takes] = {
    "logger busy, highest": most("report log", "task_busy")
    | most("view log_interval", "task_busy")
    | highest_of("log-busy", "logger"),
    "logger waits for I/O, highest": most("report log", "io_busy")
    | most("view log_interval", "io_busy")
    | {"dashboard": lambda answers: answers.page("log-busy", "I/O share")},
    "log written to a copy, highest": most("report log", "mb_per_second")
    | most("view log_interval", "mb_per_second")
    | highest_of("log-written", "Log written"),
    "log written to a copy, over all of the time": most("total log", "mb_per_second")
    | {"capacity log": lambda answers: answers.capacity("log", "mb_s")}
    | {"capacity whatif": lambda answers: answers.capacity("whatif", "log_mb_s")},
    "log written to a copy, on the last day": added("view log_interval", mb_a_second_of_last_day)
    | {"trend": lambda answers: answers.trend("log-written")},
    "waits for a log buffer": added("report log", "waits_for_buffers")
    | added("view log_interval", "waits_for_buffers")
    | page_sum("log-waits", "waits"),
    "buffer pool used, highest": most(
        "report buff", lambda row: 100 - row["low_percent"], "pool {qpstpool}"
    )
    | {"summary": lambda answers: answers.summary("buffer-pool")},
    "page set used, highest": most("report pset", "used_percent", "page set {qis1psno}")
    | highest_of("page-set"),
    "dispatcher busy, highest": most("report disp", "busy", "dispatcher {number}", line="task")
    | most("view chinit_task", "busy", "dispatcher {task}", kind="dispatcher")
    | highest_of("dispatcher"),
    "adapter busy, highest": most("report adap", "busy", "adapter {number}", line="task")
    | most("view chinit_task", "busy", "adapter {task}", kind="adapter")
    | highest_of("adapter"),
    "current channels of MAXCHL, highest": most(
        "report chinit", "current_percent", "of MAXCHL {qcctmxcc}"
    )
    | highest_of("current-channels"),
    "messages of a channel": added("report dchs", "messages", "{channel}")
    | added("view channel", "messages", "{channel}")
    | sum_of("channel-messages"),
    "requests to a structure": added("report cf", of_structure, "{qeststr}")
    | sum_of("structure-requests"),
    "queue depth, highest": most("report qstat", "qqstdphi", "{qqstqnam}")
    | most("view queue_depth", "highest_depth", "{queue}")
    | highest_of("depth"),
    "oldest message, highest": most("view queue_depth", "oldest_message_age", "{queue}")
    | highest_of("oldest"),
    "puts of statistics": added("report msgm", lambda row: row["qmstput"] + row["qmstput1"])
    | page_sum("messages", "puts"),
    "31-bit storage used, highest": most("report stg", storage_used)
    | highest_of("storage-31", "31-bit storage used"),
    "calls of a verb": added(VERBS, "calls", "{verb}", line="verb")
    | added("view api_cost", "calls", "{verb}")
    | sum_of("verb-calls")
    | {"compare": lambda answers: answers.compare("calls_per_second")},
    "CPU seconds of a verb": added(VERBS, "cpu_seconds", "{verb}", line="verb")
    | added("view api_cost", cpu_seconds, "{verb}")
    | sum_of("verb-cpu", PERCENT)
    | {"compare": lambda answers: scaled(answers.compare("cpu_per_second"), 1e-6)},
    "CPU seconds of a job": added(f"{VERBS} job", "cpu_seconds", "{job}", line="verb")
    | added("view task", cpu_seconds, "{job}")
    | sum_of("job-cpu", PERCENT),
    "CPU seconds of a queue": added(
        "total qall", lambda row: (row["queue_cpu"] or 0) / 1e6, "{base}"
    )
    | added("view queue_activity", cpu_seconds, "{queue}")
    | sum_of("queue-cpu", PERCENT),
    "intervals of statistics": added("report msgm", "intervals")
    | {"summary": lambda answers: answers.intervals("summary")}
    | {"check": lambda answers: answers.intervals("check")}
    | {"dashboard": lambda answers: answers.intervals_of_pages},
}
"""What two commands and more show, and how each says it."""


def differing(figure: str, answers: Answers) -> list[Any]:
    found = []
    (first, expected), *others = ((each, take(answers)) for each, take in FIGURES[figure].items())
    for command, values in others:
        common = expected.keys() & values.keys()
        assert common, (figure, first, [*expected][:3], command, [*values][:3])
        tolerance = 1e-3 if command == "dashboard" else 1e-9  # the page has four digits
        found += [
            (figure, key, (first, expected[key]), (command, values[key]))
            for key in common
            if values[key] != pytest.approx(expected[key], rel=tolerance, abs=1e-9)
        ]
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("one_rule")
def test_all_commands_that_show_a_figure_say_the_same(tmp_path: Path) -> None:
    """Of four days of two queue managers, which have no common queues."""
    path = generate_dump(
        tmp_path / "days.smf", qmgrs=["QM01", "QM02"], version="10.0.0",
        start=dt.datetime(2026, 3, 2), interval=dt.timedelta(hours=8), count=12, tasks=4,
    )  # fmt: skip
    with opened_corpus("days", path) as corpus:
        answers = Answers(corpus, tmp_path)
        assert [each for figure in FIGURES for each in differing(figure, answers)] == []
        assert answers.intervals("summary") == {("QM01", ""): 12, ("QM02", ""): 12}
