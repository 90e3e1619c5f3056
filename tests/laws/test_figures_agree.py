"""Every figure that two commands show is one number.

One input is asked once by each command; a figure is then taken from all of their answers, by queue
manager and object. Intervals of the input are regular, so that slots of `summary` and of the page
are intervals. Gaps and restarts are compared in test_agreement.py, on clocks that are not.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

import smfparse
from smfparse.reports import RECORDED, TOTAL, Sections
from tests.laws.asking import written
from tests.support.corpora import Corpus, opened_corpus
from tests.support.generated import generate_dump
from tests.support.pages import page_of, payload_in

Row = Mapping[str, Any]
Values = dict[tuple[str, str], float]
"""A figure by queue manager and object."""
DAY = dt.date(2026, 3, 5)
"""The last of the days of the input, a Thursday."""


class Answers:
    """What each command says of one input."""

    def __init__(self, corpus: Corpus, folder: Path) -> None:
        self._corpus, self._folder = corpus, folder
        (self._path,) = corpus.paths

    def report(self, name: str, sections: Sections = RECORDED, **asked: Any) -> list[Row]:
        return self._corpus.rows(name, sections, **asked)

    def view(self, name: str) -> list[Row]:
        return self._corpus.select(f"FROM {name}")

    @cached_property
    def _summary(self) -> Any:
        return written("summary", self._path)["managers"]

    @cached_property
    def _pages(self) -> list[Any]:
        page = page_of(smfparse.open(self._path), self._folder)
        found: list[Any] = payload_in(page)["days"]
        return found

    @cached_property
    def intervals(self) -> dict[str, dict[str, int]]:
        """The number of intervals of statistics of each queue manager, by command."""
        by_manager = {
            "summary": self._summary,
            "check": written("check", self._path)["managers"],
        }
        found = {
            name: {each["qmgr"]: each["intervals"] for each in managers}
            for name, managers in by_manager.items()
        }
        counts: dict[str, dict[str, int]] = {"dashboard": defaultdict(int)}
        for day in self._pages:
            counts["dashboard"][day["qmgr"]] += len(day["start"])
        counts["report msgm"] = defaultdict(int)
        for row in self.report("msgm"):
            counts["report msgm"][row["qmgr"]] += row["intervals"]
        return found | counts

    def summary(self, line: str, figure: str = "highest") -> Values:
        return {
            (manager["qmgr"], each["object"]): each[figure]
            for manager in self._summary
            for each in manager["figures"]
            if each["name"] == line
        }

    def summary_sum(self, line: str) -> Values:
        """Return a rate times seconds, over all of the time."""
        return {
            (manager["qmgr"], each["object"]): sum(
                (value or 0) * manager["interval_seconds"] for value in each["over_time"]
            )
            for manager in self._summary
            for each in manager["figures"]
            if each["name"] == line
        }

    def page(self, panel: str, *objects: str) -> Values:
        """Return the highest value of lines of a panel; without objects, of all its lines."""
        return {
            key: max(value for _, value in values) for key, values in self._lines(panel, objects)
        }

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

    def compare(self, figure: str, *, times: str = "") -> Values:
        """Return a figure of the input, added over jobs and queues, by verb."""
        found: Values = defaultdict(float)
        for row in self._compared:
            if row["figure"] == figure and row["verb"]:
                found[row["qmgr"], row["verb"]] += row["before"] * (row[times] if times else 1)
        return found

    @cached_property
    def _compared(self) -> list[Row]:
        found: list[Row] = written("compare", self._path, self._path, "--top", 10_000)["rows"]
        return found

    def capacity(self, planner: str, figure: str) -> Values:
        answers = written("capacity", planner, self._path)["answers"]
        return {
            (each["qmgr"], ""): value["value"]
            for each in answers
            for value in each["figures"]
            if value["name"] == figure and not each["about"]
        }

    def trend(self, line: str) -> Values:
        """Return a figure over the last day."""
        managers = written("trend", self._path)["managers"]
        return {
            (manager["qmgr"], each["object"]): each["last"]
            for manager in managers
            for each in manager["figures"]
            if each["name"] == line
        }


def largest(
    rows: Iterable[Row], figure: Callable[[Row], Any], name: Callable[[Row], str]
) -> Values:
    found: Values = {}
    for row in rows:
        value, key = figure(row), (row["qmgr"], name(row))
        if value is not None:
            found[key] = max(found.get(key, value), value)
    return found


def added(rows: Iterable[Row], figure: Callable[[Row], Any], name: Callable[[Row], str]) -> Values:
    found: Values = defaultdict(float)
    for row in rows:
        found[row["qmgr"], name(row)] += figure(row) or 0
    return found


def of_all(row: Row) -> str:
    return ""


def of_verb(row: Row) -> str:
    return str(row["verb"])


def the(name: str) -> Callable[[Row], Any]:
    return lambda row: row.get(name)


def per_second(name: str) -> Callable[[Row], Any]:
    return lambda row: (row[name] or 0) / row["interval_seconds"]


def numbered(kind: str, name: str) -> Callable[[Row], str]:
    return lambda row: f"{kind} {row[name]}"


def only(rows: Iterable[Row], **values: Any) -> list[Row]:
    return [row for row in rows if all(row.get(name) == each for name, each in values.items())]


def on_last_day(rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if row["interval_start"].date() == DAY]


FIGURES: dict[str, dict[str, Callable[[Answers], Values]]] = {
    "logger busy, highest": {
        "report log": lambda a: largest(a.report("log"), the("task_busy"), of_all),
        "view log_interval": lambda a: largest(a.view("log_interval"), the("task_busy"), of_all),
        "summary": lambda a: a.summary("log-busy"),
        "dashboard": lambda a: a.page("log-busy", "logger"),
    },
    "logger waits for I/O, highest": {
        "report log": lambda a: largest(a.report("log"), the("io_busy"), of_all),
        "view log_interval": lambda a: largest(a.view("log_interval"), the("io_busy"), of_all),
        "dashboard": lambda a: a.page("log-busy", "I/O share"),
    },
    "log written to a copy, highest": {
        "report log": lambda a: largest(a.report("log"), the("mb_per_second"), of_all),
        "view log_interval": lambda a: largest(
            a.view("log_interval"), the("mb_per_second"), of_all
        ),
        "summary": lambda a: a.summary("log-written"),
        "dashboard": lambda a: a.page("log-written", "Log written"),
    },
    "log written to a copy, over all of the time": {
        "report log": lambda a: largest(a.report("log", TOTAL), the("mb_per_second"), of_all),
        "capacity log": lambda a: a.capacity("log", "mb_s"),
        "capacity streaming": lambda a: a.capacity("streaming", "log_mb_s"),
    },
    "log written to a copy, on the last day": {
        "view log_interval": lambda a: {
            key: value / 86_400
            for key, value in added(
                on_last_day(a.view("log_interval")), the("mb_written"), of_all
            ).items()
        },
        "trend": lambda a: a.trend("log-written"),
    },
    "waits for a log buffer": {
        "report log": lambda a: added(a.report("log"), the("waits_for_buffers"), of_all),
        "view log_interval": lambda a: added(
            a.view("log_interval"), the("waits_for_buffers"), of_all
        ),
        "dashboard": lambda a: a.page_sum("log-waits", "waits"),
    },
    "buffer pool used, highest": {
        "report buff": lambda a: largest(
            a.report("buff"), lambda row: 100 - row["low_percent"], numbered("pool", "qpstpool")
        ),
        "summary": lambda a: a.summary("buffer-pool"),
    },
    "page set used, highest": {
        "report pset": lambda a: largest(
            a.report("pset"), the("used_percent"), numbered("page set", "qis1psno")
        ),
        "summary": lambda a: a.summary("page-set"),
        "dashboard": lambda a: a.page("page-set"),
    },
    "dispatcher busy, highest": {
        "report disp": lambda a: largest(
            only(a.report("disp"), line="task"), the("busy"), numbered("dispatcher", "number")
        ),
        "view chinit_task": lambda a: largest(
            only(a.view("chinit_task"), kind="dispatcher"),
            the("busy"),
            numbered("dispatcher", "task"),
        ),
        "summary": lambda a: a.summary("dispatcher"),
        "dashboard": lambda a: a.page("dispatcher"),
    },
    "adapter busy, highest": {
        "report adap": lambda a: largest(
            only(a.report("adap"), line="task"), the("busy"), numbered("adapter", "number")
        ),
        "view chinit_task": lambda a: largest(
            only(a.view("chinit_task"), kind="adapter"), the("busy"), numbered("adapter", "task")
        ),
        "summary": lambda a: a.summary("adapter"),
        "dashboard": lambda a: a.page("adapter"),
    },
    "current channels of MAXCHL, highest": {
        "report chinit": lambda a: largest(
            a.report("chinit"), the("current_percent"), numbered("of MAXCHL", "qcctmxcc")
        ),
        "summary": lambda a: a.summary("current-channels"),
        "dashboard": lambda a: a.page("current-channels"),
    },
    "messages of a channel": {
        "report dchs": lambda a: added(a.report("dchs"), the("messages"), the("channel")),
        "view channel": lambda a: added(a.view("channel"), the("messages"), the("channel")),
        "summary": lambda a: a.summary_sum("channel-messages"),
        "dashboard": lambda a: a.page_sum("channel-messages"),
    },
    "requests to a structure": {
        "report cf": lambda a: added(
            a.report("cf"),
            lambda row: (row["calls_per_second"] or 0) * row["interval_seconds"],
            the("qeststr"),
        ),
        "summary": lambda a: a.summary_sum("structure-requests"),
        "dashboard": lambda a: a.page_sum("structure-requests"),
    },
    "queue depth, highest": {
        "report qstat": lambda a: largest(a.report("qstat"), the("qqstdphi"), the("qqstqnam")),
        "view queue_depth": lambda a: largest(
            a.view("queue_depth"), the("highest_depth"), the("queue")
        ),
        "summary": lambda a: a.summary("depth"),
        "dashboard": lambda a: a.page("depth"),
    },
    "oldest message, highest": {
        "view queue_depth": lambda a: largest(
            a.view("queue_depth"), the("oldest_message_age"), the("queue")
        ),
        "summary": lambda a: a.summary("oldest"),
        "dashboard": lambda a: a.page("oldest"),
    },
    "puts of statistics": {
        "report msgm": lambda a: added(
            a.report("msgm"), lambda row: row["qmstput"] + row["qmstput1"], of_all
        ),
        "dashboard": lambda a: a.page_sum("messages", "puts"),
    },
    "31-bit storage used, highest": {
        "report stg": lambda a: largest(
            [row for row in a.report("stg") if row["extended_free"] is not None],
            lambda row: 100 - row["extended_free"],
            of_all,
        ),
        "summary": lambda a: a.summary("storage-31"),
        "dashboard": lambda a: a.page("storage-31", "31-bit storage used"),
    },
    "calls of a verb": {
        "report api-cost": lambda a: added(verbs(a), the("calls"), of_verb),
        "view api_cost": lambda a: added(a.view("api_cost"), the("calls"), of_verb),
        "summary": lambda a: a.summary_sum("verb-calls"),
        "dashboard": lambda a: a.page_sum("verb-calls"),
        "compare": lambda a: a.compare("calls_per_second", times="before_seconds"),
    },
    "CPU seconds of a verb": {
        "report api-cost": lambda a: added(verbs(a), the("cpu_seconds"), of_verb),
        "view api_cost": lambda a: added(
            a.view("api_cost"), lambda row: (row["cpu"] or 0) / 1e6, of_verb
        ),
        "summary": lambda a: hundredth(a.summary_sum("verb-cpu")),
        "dashboard": lambda a: hundredth(a.page_sum("verb-cpu")),
        "compare": lambda a: {
            key: value / 1e6
            for key, value in a.compare("cpu_per_second", times="before_seconds").items()
        },
    },
    "CPU seconds of a job": {
        "report api-cost": lambda a: added(
            only(a.report("api-cost", TOTAL, by=["qmgr", "job"]), line="verb"),
            the("cpu_seconds"),
            the("job"),
        ),
        "view task": lambda a: added(a.view("task"), lambda row: row["cpu"] / 1e6, the("job")),
        "summary": lambda a: hundredth(a.summary_sum("job-cpu")),
        "dashboard": lambda a: hundredth(a.page_sum("job-cpu")),
    },
    "CPU seconds of a queue": {
        "report qall": lambda a: added(
            a.report("qall", TOTAL), lambda row: (row["queue_cpu"] or 0) / 1e6, the("base")
        ),
        "view queue_activity": lambda a: added(
            a.view("queue_activity"), lambda row: (row["cpu"] or 0) / 1e6, the("queue")
        ),
        "summary": lambda a: hundredth(a.summary_sum("queue-cpu")),
        "dashboard": lambda a: hundredth(a.page_sum("queue-cpu")),
    },
}
"""What two commands and more show, and how each says it."""


def verbs(answers: Answers) -> list[Row]:
    return only(answers.report("api-cost", TOTAL, by=["qmgr"]), line="verb")


def hundredth(values: Values) -> Values:
    """Return seconds of CPU from percents of a CP times seconds."""
    return {key: value / 100 for key, value in values.items()}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    """Answers about four days of two queue managers, which have no common queues."""
    folder = tmp_path_factory.mktemp("days")
    path = generate_dump(
        folder / "days.smf", qmgrs=["QM01", "QM02"], version="10.0.0",
        start=dt.datetime(2026, 3, 2), interval=dt.timedelta(hours=4), count=24, tasks=6,
    )  # fmt: skip
    with opened_corpus("days", path) as corpus:
        yield Answers(corpus, folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    "figure",
    FIGURES,
)
def test_all_commands_that_show_a_figure_say_the_same(figure: str, answers: Answers) -> None:
    said = {command: take(answers) for command, take in FIGURES[figure].items()}
    (first, expected), *others = said.items()
    for command, values in others:
        common = expected.keys() & values.keys()
        assert common, (first, [*expected][:3], command, [*values][:3])
        tolerance = 1e-3 if command == "dashboard" else 1e-9  # the page has four digits
        wrong = {
            key: (expected[key], values[key])
            for key in common
            if values[key] != pytest.approx(expected[key], rel=tolerance, abs=1e-9)
        }
        assert wrong == {}, (first, command)


@pytest.mark.slow
def test_all_commands_count_the_same_intervals(answers: Answers) -> None:
    counts = {name: dict(each) for name, each in answers.intervals.items()}
    assert counts == {command: {"QM01": 24, "QM02": 24} for command in counts}
