"""Options of reports: what they take, and what is said of what they do not."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

import smfparse
from smfparse.errors import RequestError
from smfparse.inputs.opening import open_inputs
from smfparse.query.catalog import Catalog
from smfparse.reports.declaration import is_report, report, report_names
from smfparse.reports.options import AS_STATIME, parsed, seconds
from smfparse.reports.running import run_report
from smfparse.reports.sections import TOTAL
from smfparse.simulating.reading_toml import load_estate
from smfparse.simulating.run import simulate
from tests.support.builders import Write
from tests.support.command import run
from tests.support.corpora import Corpora, Corpus, of_corpora
from tests.support.searching import of_many, some
from tests.support.traffic import put, using

DEFAULTS = {
    "by": "qmgr", "top": 0, "sort": "cpu", "acctime": "", "statime": "", "smf_interval": "",
    "stream": [], "maxinst": [],
}  # fmt: skip
BY = ["qmgr", "job", "connection-type"]
CHOICES = {"by": BY, "sort": ["cpu", "elapsed"]}


def values(**given: Any) -> dict[str, Any]:
    return parsed("some-report", DEFAULTS, CHOICES, given)


def test_what_is_not_told_is_as_declared() -> None:
    no_values = dict.fromkeys(("top", "acctime", "statime", "smf_interval"))
    expected = {"by": ["qmgr"], "sort": "cpu", "stream": [], "maxinst": [], **no_values}
    assert values() == expected
    assert values(by=None, top=None, sort=None, acctime=None, statime=None, stream=()) == expected
    assert parsed("log", {}, {}, {"by": None, "stream": ()}) == {}


MINUTES_AND_SECONDS = {
    "0.01": 1, "0.05": 5, "0.15": 15, "1.00": 60, "1.50": 110, "30": 1800, "0030": 1800,
    "30.00": 1800, "1440": 86400, "1440.00": 86400, " 5 ": 300,
}  # fmt: skip
INTERVALS = ("acctime", "statime", "smf_interval")


def test_values_are_taken_in_any_spelling() -> None:
    assert values(by=" Job , QMGR,JOB")["by"] == values(by=("job", "qmgr"))["by"] == ["job", "qmgr"]
    for spelling in ("connection-type", "connection_type", ["connection-type"]):
        assert values(by=spelling)["by"] == ["connection_type"]
    assert [values(top=each)["top"] for each in (1, "7", 0, "0")] == [1, 7, None, None]
    for text, length in MINUTES_AND_SECONDS.items():
        assert seconds(text) == length
        for name in INTERVALS:
            assert values(**{name: text}) == values() | {name: length}
    for name, zero in (("acctime", 0), ("acctime", " 0 "), ("statime", 0), ("statime", " 0 ")):
        found = values(**{name: zero, "smf_interval": "15"})
        assert (found[name], found["smf_interval"]) == (900, 900)
    assert values(acctime=-1) == values(acctime="-1") == values() | {"acctime": AS_STATIME}
    pairs = [{"base": "APP.IN", "stream": "APP.COPY"}, {"base": "Q", "stream": "S"}]
    assert values(stream=["app.in = app.copy", "Q=S"])["stream"] == pairs
    assert values(stream="Q=S")["stream"] == pairs[1:]
    limits = [{"channel": "A.SVRCONN", "maxinst": 20}, {"channel": "B", "maxinst": 1}]
    assert values(maxinst=["a.svrconn=30", "B = 1", "A.SVRCONN=20"])["maxinst"] == limits


NO_INTERVALS = ("0.00", "0.60", "1.99", "1440.01", "1441", "99999", "-2", "5m", ".15", "1.5")
WRONG_VALUES: Mapping[str, Mapping[str, Sequence[Any]]] = {
    "it takes qmgr, job, connection-type$": {
        "by": ("verb", "job,verb", "job,,qmgr", ",", ["verb"], "job;qmgr")
    },
    "^top=.*: expected a number of rows; give 1 or mor": {"top": (-1, "-1", "ten", "1.5", [3])},
    r"MMMM\.SS, minutes and seconds; give 0\.01 to 14": dict.fromkeys(INTERVALS, NO_INTERVALS),
    r"^acctime=-2: .*or 0 for the SMF interval, -1 for STATIME$": {"acctime": ["-2"]},
    r"^statime=-1: expected MMMM\.SS.*or 0 for the SMF interval$": {"statime": ["-1"]},
    r"^smf_interval=(-1|0): expected MMMM\.SS.*, 30$": {"smf_interval": ["-1", 0]},
    "expected BASE=STREAM; give a queue and its STREAMQ": {
        "stream": [["A=B", each] for each in ("Q", "=S", "Q=", "=", " = ")]
    },
    "expected CHANNEL=NUMBER; give a channel and its MAXINST": {
        "maxinst": ["A", "200", "A=", "=200", "A=0", "A=-1", "A=1.5", "A=\u0661"]
    },
}
"""What is said of values that options cannot have."""


def test_a_value_that_cannot_be_is_refused() -> None:
    for said, options in WRONG_VALUES.items():
        for option, several in options.items():
            for value in several:
                with pytest.raises(RequestError, match=said):
                    values(**{option: value})


def test_a_report_without_an_option_says_which_it_has() -> None:
    for name in DEFAULTS:
        told = rf"^the report log does not take {name}=; it takes onl"
        with pytest.raises(RequestError, match=told):
            parsed("log", {}, {}, {name: "1"})
    told = r"^the report r does not take stream=; it takes by=, top=$"
    with pytest.raises(RequestError, match=told):
        parsed("r", {"by": "qmgr", "top": 0}, {"by": BY}, {"stream": ["A=B"]})


REFUSED = {
    "api-cost --by job,verb": "--by verb: unknown name; it takes qmgr, system, connection-t",
    "api-cost --top 0": "0 is not in the range x>=1",
    "api-cost --top ten": "'ten' is not a valid integer range",
    "api-cost --sort calls": "--sort calls: unknown name; it takes cpu, elapsed",
    "api-cost --acctime 0.15": "api-cost does not take --acctime; it takes --by, --top, ",
    "api-cost --stream A=B": "api-cost does not take --stream; it takes --by, --top, ",
    "task --top 3": "the report task does not take --top; it takes only",
    "task --smf-interval 15": "the report task does not take --smf-interval; it takes only",
    "smf-volume --statime -1": "--statime -1: expected MMMM.SS, minutes and seconds; give 0.01",
}


def test_an_option_that_cannot_be_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    output = tmp_path / "out.txt"
    for command, said in REFUSED.items():
        name, *arguments = command.split()
        refused = run("report", name, tmp_path / "none.smf", *arguments, "--output", output)
        assert (refused.exit_code, refused.stdout) == (2, ""), command
        assert said in refused.stderr
        assert not output.exists()


# --top and --sort of reports of rows: the largest first, as many of each table as asked for ------

RANKED = {name: each.ranked for name in report_names() if (each := report(name)).is_rankable}
"""What `--top` ranks by; '': the order of the report."""
OWN = {"api-cost", "application"}
"""Reports whose SQL takes `top` itself, as it is about groups of rows."""
SECTIONS = {"class1": TOTAL}
"""What makes sections where those of the report have a row each."""
SCENARIOS = {"cluster": "cluster", "clients": "clients", "mft": "mft", "requests": "reqrep"}
"""The simulated days of reports that have too few rows of the small site."""
Rows = Sequence[Mapping[str, Any]]


def ranked(name: str, rows: Rows, figure: str, top: int | None) -> Rows:
    """The rows of each table by a figure, the largest first; what has none is last."""
    found: list[Mapping[str, Any]] = []
    line = "line" if report(name).kinds else ""
    for _, several in groupby(rows, lambda row: (str(row["section"]), row.get(line))):
        by_size = list(several)
        if figure:
            by_size.sort(key=lambda row: (row[figure] is None, -(row[figure] or 0)))
        found += by_size[:top]
    return found


def test_every_report_that_takes_top_is_ranked_in_one_way() -> None:
    taking = {name for name in report_names() if "top" in report(name).options}
    assert taking == RANKED.keys() | OWN


@pytest.mark.slow
@pytest.mark.sampled(3)
@of_many("name", some([*RANKED], 6))
def test_rows_are_ranked_by_any_figure_and_top_takes_the_largest(
    name: str, corpora: Corpora, tmp_path: Path
) -> None:
    which, sections = report(name), SECTIONS.get(name)
    catalog = corpora["site"].catalog
    if name in SCENARIOS:
        path = tmp_path / "day.smf"
        simulate(path, load_estate(SCENARIOS[name], interval=dt.timedelta(hours=12)))
        catalog = Catalog(open_inputs([path]))

    def made(**asked: Any) -> Rows:
        return list(run_report(which, catalog, sections, **asked))

    rows, choices = made(), which.choices["sort"]
    assert len(rows) > len({str(row["section"]) for row in rows})
    assert {*choices} <= rows[0].keys()
    numbers = [each for each in choices if not any(isinstance(row[each], str) for row in rows)]
    assert made(top=1) == ranked(name, rows, RANKED[name], 1)
    for figure in some(numbers, 2):
        assert made(sort=figure) == ranked(name, rows, figure, None), figure


@of_corpora("new")
def test_the_command_and_the_library_rank_alike(corpus: Corpus) -> None:
    (path,) = corpus.paths
    rows = smfparse.open(path).report("tasksum", top=2, sort="tasks")
    asked = ("--top", "2", "--sort", "tasks", "--format", "jsonl")
    shown = run("report", "tasksum", path, *asked).stdout.splitlines()
    assert [json.loads(line)["wtidccn"] for line in shown] == rows["wtidccn"].to_pylist()
    assert len(shown) == 2 * len({*rows["qmgr"].to_pylist()})


WRONG: dict[str, Mapping[str, Any]] = {
    r"sort=qqstdphh: unknown name; near: qqstdphi.*--explain names all \d+": {"sort": "qqstdphh"},
    r"sort=zzzzzzzz: unknown name; it takes qqstpsid, .*, qqstosfs": {"sort": "zzzzzzzz"},
    r"sort=qqstqnam: unknown name; near: ": {"sort": "qqstqnam"},
    r"top=-1: expected a number of rows; give 1 or more, 0 for all": {"top": -1},
}


def test_what_cannot_be_ranked_by_is_refused() -> None:
    for said, asked in WRONG.items():
        with pytest.raises(RequestError, match=said):
            report("qstat").values(asked)


WORDS = {
    "tasksum": {"cpu": "cpu_seconds", "CPU seconds": "cpu_seconds", "log mb": "log_mb"},
    "clients": {"open": "still_open", "At once": "most_at_once", "Bytes": "bytes"},
    "channels": {"longest": "net_longest", "Msgs/calls": "messages"},
    "api-cost": {"elapsed": "elapsed"},
}


def test_rows_are_ranked_by_a_heading_or_the_first_word_of_a_figure() -> None:
    for name, words in WORDS.items():
        which = report(name)
        for word, figure in words.items():
            assert which.values({"sort": word})["sort"] == figure, word
    for word in ("msgs", "other"):  # of no figure, of several
        with pytest.raises(RequestError, match=f"sort={word}: unknown name"):
            report("tasksum").values({"sort": word})


def test_jobs_are_in_the_order_of_their_cpu_time(write: Write) -> None:
    used = {"AJOB": 2, "BJOB": 3, "CJOB": 1}
    path = write(*(using(job, put("Q", 1, putct=1e6 * cpu)) for job, cpu in used.items()))
    assert smfparse.open(path).report("tasksum")["wtidccn"].to_pylist() == ["BJOB", "AJOB", "CJOB"]


ELSEWHERE = {
    "QCPU": "use the report api-cost with by=queue",
    "qcpucsv": "use the report api-cost with by=queue", "MQ1150": "log, buff, msgm",
    "MQ116S": "use the report task", "OFIELD": "is not available", "EOJ": "is not available",
}  # fmt: skip


def test_names_of_mp1b_that_are_no_reports_say_what_has_their_contents() -> None:
    for name, said in ELSEWHERE.items():
        with pytest.raises(RequestError, match=f"^{name}: .*{said}"):
            report(name)
        assert not is_report(name)
