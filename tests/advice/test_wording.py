"""Findings in words: numbers that are read at a glance, and no sentence with a hole."""

from __future__ import annotations

import pytest

from smfparse.advice import CheckDocument, Finding
from smfparse.advice.findings import Figure
from smfparse.advice.wording import evidence, finding_lines, in_short, shown
from smfparse.rendering import lines
from tests.support.advised import Rows, checked

WORDS = [
    ("copy 1 {} us", 1064.4, "rounded", "copy 1 1,064 us"),
    ("copy 1 {} us", 999.6, "rounded", "copy 1 1,000 us"),
    ("{} ms", 1272.67, "percent", "1,273 ms"),
    ("{} times full", 3051, "count", "3,051 times full"),
    ("{} times full", 1, "count", "1 time full"),
    ("{} times as much fits then", 1.0, "percent", "1 times as much fits then"),
    ("{} messages when it began", 1, "grouped", "1 message when it began"),
    ("at most {} entries", 1, "grouped", "at most 1 entry"),
    ("{} switches", 1, "count", "1 switch"),
    ("{} intervals are missing", 1.0, "rounded", "1 interval is missing"),
    ("{} us each", 1, "rounded", "1 us each"),
    ("{} % of gets", None, "percent", "- % of gets"),
]


@pytest.mark.parametrize(("text", "value", "style", "said"), WORDS)
def test_a_figure_in_its_words(text: str, value: float | None, style: str, said: str) -> None:
    assert shown(Figure(text, value, style)) == said


def opened() -> Finding:
    """Return a finding whose figure no interval has: no messages."""
    rows: Rows = {"wtid": [{"wtidccn": "JOBA"}], "wqst": [{"openn": 1000}]}
    (found,) = [each for each in checked(rows).findings if each.rule == "QUEUE-OPENS"]
    return found


def test_a_sentence_without_its_figure_has_no_hole() -> None:
    assert in_short(opened()).endswith(": the queue is opened for each message: once")
    assert ": ," not in "\n".join(lines(CheckDocument(checked({})), "text"))


def test_findings_of_a_rule_that_one_diagnosis_explains_are_one_sentence() -> None:
    usual, slow = ({"qestcsec": 10_000, "qestsstc": each} for each in (8e4, 8e5))
    rows = [
        {"interval_no": number, "qeststr": name} | (slow if number == 9 else usual)
        for number in range(10)
        for name in "AB"
    ]
    (found,) = [each for each in checked({"qest": rows}).findings if each.rule == "D14"]
    (sentence,) = [text for word, text in finding_lines(found, []) if word == "explains"]
    assert "CF-SLOW" in sentence
    assert " A, B: " in sentence
    assert {each.object for each in found.explains} == {"A", "B"}


def test_what_goes_on_stands_behind_a_comma() -> None:
    pool = {"qpstpool": 3, "qpstnbuf": 1000, "qpstcbsl": 500, "qpstsos": 1, "qpstrio": 601}
    (found, *_) = checked({"qpst": [pool]}).findings
    assert "; of " not in evidence(found)
