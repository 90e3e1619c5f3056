"""Options of reports: what they take, and what is said of what they do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from smfparse import reports
from smfparse.errors import RequestError
from smfparse.reports.options import AS_STATIME, parsed, seconds
from tests.support.command import run

DEFAULTS = {
    "by": "qmgr", "top": 0, "sort": "cpu", "acctime": "", "statime": "", "smf_interval": "",
    "stream": [],
}  # fmt: skip
BY = ["qmgr", "job", "connection-type"]
CHOICES = {"by": BY, "sort": ["cpu", "elapsed"]}


def values(**given: Any) -> dict[str, Any]:
    return parsed("some-report", DEFAULTS, CHOICES, given)


def test_what_is_not_told_is_as_declared() -> None:
    no_values = dict.fromkeys(("top", "acctime", "statime", "smf_interval"))
    expected = {"by": ["qmgr"], "sort": "cpu", "stream": [], **no_values}
    assert values() == expected
    assert values(by=None, top=None, sort=None, acctime=None, statime=None, stream=()) == expected
    assert parsed("log", {}, {}, {"by": None, "stream": ()}) == {}


def test_by_takes_names_in_any_spelling_and_each_once() -> None:
    assert values(by=" Job , QMGR,JOB")["by"] == values(by=("job", "qmgr"))["by"] == ["job", "qmgr"]
    for spelling in ("connection-type", "connection_type", ["connection-type"]):
        assert values(by=spelling)["by"] == ["connection_type"]


def test_by_says_which_names_it_takes() -> None:
    for given in ("verb", "job,verb", "job,,qmgr", ",", ["verb"], "job;qmgr"):
        with pytest.raises(RequestError, match=r"it takes qmgr, job, connection-type$"):
            values(by=given)


def test_top_is_a_number_of_rows_and_0_is_all() -> None:
    assert [values(top=each)["top"] for each in (1, "7", 0, "0")] == [1, 7, None, None]
    expected = r"^top=.*: expected a number of rows; give 1 or mor"
    for wrong in (-1, "-1", "ten", "1.5", [3]):
        with pytest.raises(RequestError, match=expected):
            values(top=wrong)


MINUTES_AND_SECONDS = {
    "0.01": 1, "0.05": 5, "0.15": 15, "1.00": 60, "1.50": 110, "30": 1800, "0030": 1800,
    "30.00": 1800, "1440": 86400, "1440.00": 86400, " 5 ": 300,
}  # fmt: skip


@pytest.mark.parametrize("name", ["acctime", "statime", "smf_interval"])
def test_intervals_are_minutes_and_seconds(name: str) -> None:
    for text, length in MINUTES_AND_SECONDS.items():
        assert seconds(text) == length
        assert values(**{name: text}) == values() | {name: length}
    for wrong in ("0.00", "0.60", "1.99", "1440.01", "1441", "99999", "-2", "5m", ".15", "1.5"):
        with pytest.raises(RequestError, match=r"MMMM\.SS, minutes and seconds; give 0\.01 to 14"):
            values(**{name: wrong})


def test_an_interval_can_be_that_of_smf_or_of_statistics() -> None:
    for name in ("acctime", "statime"):
        for zero in (0, " 0 "):
            found = values(**{name: zero, "smf_interval": "15"})
            assert (found[name], found["smf_interval"]) == (900, 900)
    assert values(acctime=-1) == values(acctime="-1") == values() | {"acctime": AS_STATIME}
    both, zero_alone = "or 0 for the SMF interval, -1 for STATIME$", "or 0 for the SMF interval$"
    for name, text, more in (
        ("acctime", "-2", both), ("statime", "-1", zero_alone), ("smf_interval", "-1", ", 30$"),
        ("smf_interval", 0, ", 30$"),
    ):  # fmt: skip
        with pytest.raises(RequestError, match=rf"^{name}={text}: expected MMMM\.SS.*{more}"):
            values(**{name: text})


def test_a_queue_and_its_stream_queue_stand_on_two_sides_of_an_equals_sign() -> None:
    pairs = [{"base": "APP.IN", "stream": "APP.COPY"}, {"base": "Q", "stream": "S"}]
    assert values(stream=["app.in = app.copy", "Q=S"])["stream"] == pairs
    assert values(stream="Q=S")["stream"] == pairs[1:]

    for text in ("Q", "=S", "Q=", "=", " = "):
        expected = "expected BASE=STREAM; give a queue and its STREAMQ"
        with pytest.raises(RequestError, match=expected):
            values(stream=["A=B", text])


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


def test_the_names_that_an_option_takes_are_those_of_its_declaration() -> None:
    which = reports.report("api-cost")
    every = [each.replace("-", "_") for each in which.choices["by"]]
    assert which.values({"by": ",".join(which.choices["by"])})["by"] == every
    for each in which.choices["sort"]:
        assert which.values({"sort": each})["sort"] == each
