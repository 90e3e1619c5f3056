"""Figures of subjects, in SQL and in phrases.

A query can read `<subject>_figures`: `pool_figures` has a row per buffer pool and interval. Its
rows have only columns that the query names: keys, fields and measures of the subject. A field
or measure can also be named as in the view. With all columns, DuckDB would take longer to plan the
query than to run it.

A phrase has one figure in braces: `{100 * backouts per commits + backouts}% back out`. The SQL in
the braces is over a row of a subject. Its form defines the figure of several rows:

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
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Any, NamedTuple

from smfparse.declarations import Where, expected
from smfparse.decoding.dictionary import KEY_COLUMNS, columns
from smfparse.metrics.measures import SCHEMA, metric_subject, with_overall
from smfparse.metrics.views import own_macros, shown_in, words_in
from smfparse.rendering.figures import STYLES

_FIGURES = re.compile(r"\b(\w+)_figures\b")
_OF_TASKS = {"of_source", "task_record"}
_KEYS = ("input_no", *(each.name for each in KEY_COLUMNS), *_OF_TASKS)


@cache
def figures(name: str) -> Mapping[str, tuple[str, str]]:
    """Return {column: (SQL over a row of facts, Arrow type)} for all columns of a subject.

    The columns are fields and measures, with `_amount` and `_per` of measures with a divisor. A
    field or measure can also be named as in the view of the subject.
    """
    subject = metric_subject(name)
    known = subject.columns()
    if not subject.view:
        return known
    return known | {
        column + part: known[source + part]
        for column, source in shown_in(subject.view, subject)
        for part in ("", "_amount", "_per")
        if source + part in known
    }


@cache
def aggregates(name: str) -> Mapping[str, str]:
    """Return {name: SQL aggregate over rows of facts} for fields and measures of a subject.

    A name means a measure, otherwise a column of the view, otherwise a field.
    """
    subject = metric_subject(name)
    known = subject.over_rows()
    if not subject.view:
        return known
    shown = shown_in(subject.view, subject)
    named = {column: known[source] for column, source in shown if source in known}
    return known | named | {each: known[each] for each in subject.measures}


def with_figures(query: str, macros: str = "") -> str:
    """Return a query that also defines each `<subject>_figures` that the query names.

    macros  SQL that creates macros; macros in the query may also name columns of these rows
    """
    named = words_in(query + own_macros(query, macros))
    made = ", ".join(
        f"{name}_figures AS ({selected(name, _keys_of(name, named), named)})"
        for name in dict.fromkeys(_FIGURES.findall(query))
    )
    return f"WITH {made} SELECT * FROM ({query})" if made else query


def _keys_of(name: str, named: AbstractSet[str]) -> Mapping[str, str]:
    """Return {key: SQL} for the keys in `named`; only rows of tasks have keys of a task."""
    there = {each.name for each in columns(metric_subject(name).tables[0])}
    of_rows = _KEYS if "task_source" in there else [each for each in _KEYS if each not in _OF_TASKS]
    return {each: each for each in of_rows if each in named}


def selected(name: str, keys: Mapping[str, str], named: AbstractSet[str]) -> str:
    """Return the query for rows of a subject: object name, keys, and named fields and measures.

    keys   SQL of the keys by name
    named  words of the query, among them names of fields and measures
    """
    subject = metric_subject(name)
    keys = {"object": subject.object, **keys}
    known = {each: sql for each, sql in figures(name).items() if each in named - keys.keys()}
    shown = [f"{sql} AS {each}" for each, sql in keys.items()]
    shown += (_wide(each, *sql) for each, sql in known.items())
    words = words_in(" ".join(shown))
    source = subject.facts_of(SCHEMA, words)
    if source == f"{SCHEMA}.{subject.tables[0]}" and _OF_TASKS & words:
        source = f"of_tasks('{source}')"
    return f"SELECT {', '.join(shown)} FROM {source}"


def _wide(column: str, sql: str, arrow: str) -> str:
    """Return the SQL of a column; a cast avoids overflow in sums and products of damaged data."""
    wide = f"::{'DOUBLE' if '64' in arrow else 'BIGINT'}" if "int" in arrow else ""
    return f"({sql}){wide} AS {column}"


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
