"""Measures: the same figure of an interval and of any time, by the rows and by polars alike."""

from __future__ import annotations

import re
import tomllib

import polars as pl
import pytest

from smfparse.declarations import Where, read_table
from smfparse.decoding.dictionary import TABLES
from smfparse.inspecting.described import uses_of
from smfparse.metrics.calendar import calendar_macros
from smfparse.metrics.figures import with_figures
from smfparse.metrics.measures import Measure, over_time, subjects, way_of
from smfparse.metrics.views import named_macros
from tests.support.command import run
from tests.support.corpora import Corpus, of_corpora
from tests.support.paths import PROJECT

GUIDE = (PROJECT / "docs" / "extending.md").read_text("utf-8")


def of(corpus: Corpus, query: str) -> pl.DataFrame:
    corpus.catalog.define(named_macros(query, calendar_macros()))
    frame = pl.from_arrow(corpus.catalog.arrow(query))
    assert isinstance(frame, pl.DataFrame)
    return frame


def together(name: str, measure: Measure) -> pl.Expr:
    """Return a measure over rows of one object; None: nothing is known."""
    own = pl.col(name)
    if measure.per:
        amount = pl.col(f"{name}_amount")
        per = pl.col(f"{name}_per").filter(amount.is_not_null()).sum()
        return pl.when(amount.count() > 0, per != 0).then(amount.sum() / per).alias(name)
    found = {"sum": own.sum(), "max": own.max(), "min": own.min()}[measure.combine]
    return pl.when(own.count() > 0).then(found).alias(name)


@of_corpora("site")
def test_a_measure_of_a_queue_manager_is_made_of_those_of_its_intervals(corpus: Corpus) -> None:
    tried = 0
    for subject in subjects().values():
        tables = ", ".join(f"'inputs.{each}'" for each in subject.tables)
        keys = ["system", "qmgr", *subject.keys]
        measures = {
            name: each
            for name, each in subject.measures.items()
            if each.combine in ("sum", "max", "min") and each.type != "string"
        }
        rows = of(corpus, f"FROM {subject.name}_rows({tables})")
        expected = rows.group_by(keys).agg(together(*each) for each in measures.items()).sort(keys)
        found = of(corpus, f"FROM {subject.name}_by_qmgr({tables})").sort(keys)
        assert found[keys].equals(expected[keys])
        for name, each in measures.items():
            values = expected[name].to_list()
            wanted = values if each.type.startswith("timestamp") else pytest.approx(values)
            assert found[name].to_list() == wanted, name
            tried += 1
    assert tried > 20


@of_corpora("new")
def test_queries_name_figures_by_the_names_of_views(corpus: Corpus) -> None:
    query = (
        "SELECT sum(checkpoints) AS a, sum(qjstllcp) AS b, max(mb_written) AS c FROM log_figures"
    )
    raw = """
        SELECT sum(qjstllcp) AS a, a AS b, max(mb_written) AS c
        FROM log_rows('inputs.qjst', 'inputs.qjst_io')
    """
    assert of(corpus, with_figures(query)).rows() == of(corpus, raw).rows()


def test_figures_are_those_that_a_query_names_and_facts_only_where_it_needs_them() -> None:
    plain = with_figures("SELECT checkpoints FROM log_figures")
    assert "FROM inputs.qjst)" in plain
    assert "qjstwtb" not in plain
    assert "log_facts(" in with_figures("SELECT task_busy FROM log_figures")
    assert "of_tasks('inputs.wtas')" in with_figures("SELECT commits, of_source FROM task_figures")
    assert with_figures("SELECT 1 AS one") == "SELECT 1 AS one"


def test_what_is_shown_over_time_is_a_measure_or_a_field() -> None:
    for subject in subjects().values():
        for name in (*subject.measures, *(each.name for each in TABLES[subject.tables[0]].columns)):
            assert way_of(f"{subject.name}.{name}") in ("average", "peak", "trough", "total")
            assert f"FROM {subject.rows('inputs')}" in over_time(f"{subject.name}.{name}")


def test_fields_of_verbs_are_those_of_their_table() -> None:
    for subject in subjects().values():
        there = {column.name for column in TABLES[subject.tables[0]].columns}
        for verb in subject.verbs.values():
            fields = [each for each in vars(verb).values() if each != "NULL"]
            assert there.issuperset(fields)
            assert len(fields) >= 2


@of_corpora("new")
def test_the_guide_adds_a_measure_that_works(corpus: Corpus) -> None:
    found = re.search(r"## Add a measure\n.*?```toml\n(.*?)```", GUIDE, re.DOTALL)
    assert found
    ((name, spec),) = tomllib.loads(found[1]).items()
    measure = Measure(name, **read_table(Measure, dict(spec), Where("guide")))
    tables = "'inputs.qjst', 'inputs.qjst_io'"
    (value,) = of(corpus, f"SELECT {measure.of_rows} AS v FROM log_facts({tables})")["v"]
    raw = of(corpus, "SELECT qjstwrf, qjstwrw FROM inputs.qjst").cast(pl.Int64).sum()
    forced, waited = raw.row(0)
    assert value == pytest.approx(100 * forced / (forced + waited))


def test_a_measure_is_explained_with_all_that_shows_it() -> None:
    text = " ".join(run("describe", "log.task_busy").stdout.split())
    assert "formula 100 x (1 - QJSTSLPTU / interval)" in text
    uses = uses_of("log.task_busy")
    assert uses == {
        "views": ["log_interval"],
        "reports": ["log"],
        "summary": ["log-busy"],
        "page": ["log-busy"],
        "rules": ["LOG-BUSY", "LOG-CEILING", "LOG-NEAR", "LOG-FREE", "LOG-IO-BOUND"],
    }
    for kind, names in uses.items():
        assert f"{kind} {', '.join(names)}" in text
    assert run("describe", "log.tusk_busy").exit_code == 2


NAMING_FIELDS = {"advice": 2, "reports": 7}
"""How many queries of each package name fields, all of WQST. A number only falls."""


def test_fields_are_named_in_measures_and_in_few_other_queries() -> None:
    """A query that works out a figure of fields belongs to the measures: none is added here."""
    fields = {column.name for table in TABLES.values() for column in table.columns}
    of_blocks = r"(q[a-z0-9]{2}|wta|wti)\w{3,}|(open|clos|get|put|put1|inq|set|valid|publ)\w+"
    named = {
        name
        for name in fields.difference(*(each.measures for each in subjects().values()))
        if re.fullmatch(of_blocks, name)
    }
    for part in ("planning", "dashboard", "summarizing", *NAMING_FIELDS):
        queries = (PROJECT / "smfparse" / part).rglob("*.sql")
        words = (re.findall(r"\w+", path.read_text("utf-8")) for path in queries)
        assert sum(not named.isdisjoint(each) for each in words) == NAMING_FIELDS.get(part, 0), part
