"""Phrases: words with one figure in braces: `{100 * backouts per commits + backouts}% back out`.

The SQL in the braces is over a row of a subject. Its form defines the figure of several rows:

    backouts per commits   the sum of backouts, divided by the sum of commits
    sum(backouts)          the sum of backouts; in evidence, `backouts` alone means the same
    overall(task_busy)     a measure, computed over all rows
    max(depth)             another aggregate: min, median, count, any_value, arg_max, arg_min

The word after a colon is the style: `{force_us per forces:rounded} us`. The default style of shares
and quotients is `percent`, of other figures `grouped`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from smfparse.declarations import Where, expected
from smfparse.metrics.measures import with_overall
from smfparse.rendering.figures import STYLES

_BRACES = re.compile(r"\{((?:[^{}]|\{\w+\})+?)(?:(?<!:):(\w+))?\}")
_TERM = r"((?:[^(),]|\((?:[^()]|\([^()]*\))*\))+)"
_PER = re.compile(rf"{_TERM} per {_TERM}")
_WHOLE = re.compile(r"(?:sum|overall)\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))+)\)")
_AGGREGATE = re.compile(r"\b(?:sum|overall|max|min|median|count|any_value|arg_max|arg_min)\(")


class Phrase(NamedTuple):
    """A text with `{}` in place of a figure, the SQL of the figure, and the style of the figure."""

    text: str
    sql: str
    style: str

    @property
    def of_row(self) -> str:
        """The SQL of the figure of one row."""
        whole = _WHOLE.fullmatch(self.sql)
        return whole[1] if whole else _PER.sub(r"(\1) / nullif(\2, 0)", self.sql)

    @property
    def of_rows(self) -> str:
        """The SQL aggregate for the figure of several rows; '': the form defines no aggregate."""
        if _PER.search(self.sql):
            return _PER.sub(r"sum(\1) / nullif(sum(\2), 0)", self.sql)
        return with_overall(self.sql) if _AGGREGATE.search(self.sql) else ""

    @property
    def of_evidence(self) -> str:
        """The SQL of the figure in evidence: a figure without an aggregate is summed."""
        return self.of_rows or f"sum({self.sql})"

    def crossing(self, limit: str, *, lowest: bool) -> str:
        """Return the SQL condition, without a division, that a row's figure is beyond a limit."""
        sign = "<" if lowest else ">"
        if divided := _PER.fullmatch(self.sql):
            amount, per = divided.groups()
            return f"{amount} {sign} {limit} * {f'({per})' if ' ' in per else per}"
        return f"{self.of_row} {sign} {limit}"


def phrase(value: Any, where: Where, _before: Mapping[str, Any]) -> Phrase:
    """Return a declared phrase. Raises RequestError unless it has exactly one figure."""
    text: str = expected(str, value, "a string", where)
    found = _BRACES.findall(text)
    if len(found) != 1:
        raise where.wrong(f"expected one figure in braces, found {len(found)}; write {{sql}}")
    ((sql, style),) = found
    text = _BRACES.sub("{}", text)
    is_quotient = "{}%" in text or _PER.search(sql) or "overall(" in sql
    style = style or ("percent" if is_quotient else "grouped")
    where.check("style", style, STYLES)
    return Phrase(text, sql, style)


def phrases(value: Any, where: Where, before: Mapping[str, Any]) -> tuple[Phrase, ...]:
    """Return a declared list of phrases."""
    several = expected(list, value, "a list of strings", where)
    return tuple(phrase(each, where.at(number), before) for number, each in enumerate(several))
