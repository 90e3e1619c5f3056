"""The mutation tester, tools/mutate.py: its changes, and that none is equivalent."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from tests.support.paths import PROJECT
from tests.support.tools import tool

pytestmark = pytest.mark.slow

mutant, sql, python, rooms, equivalent = (
    tool(f"mutation.{name}") for name in ("mutant", "sql", "python", "rooms", "equivalent")
)
mutate = tool("mutate")
IN_SQL: dict[str, set[str]] = {
    "SELECT a > 0": {"SELECT a >= 0", "SELECT a < 0", "SELECT a > 1"},
    "SELECT count(*), t.* FROM t": {"SELECT max(1), t.* FROM t"},
    "SELECT count(DISTINCT x)": {"SELECT max(DISTINCT x)", "SELECT count(x)"},
    "SELECT a * b": {"SELECT a / b"},
    "a BETWEEN b AND c AND d": {"a BETWEEN b AND c OR d"},
    "a JOIN b USING (c)": {"a LEFT JOIN b USING (c)"},
    "a LEFT JOIN b USING (c)": {"a JOIN b USING (c)"},
    "x IS NOT NULL OR y IS NULL": {
        "x IS NULL OR y IS NULL",
        "x IS NOT NULL AND y IS NULL",
        "x IS NOT NULL OR y IS NOT NULL",
    },
    "a UNION ALL BY NAME b": {"a UNION BY NAME b"},
    "ORDER BY a, f(b, c) LIMIT n": {
        "ORDER BY a DESC, f(b, c) LIMIT n",
        "ORDER BY a, f(b, c) DESC LIMIT n",
    },
    "CASE a WHEN b THEN c END": set(),
    "CASE WHEN b THEN c END": {"CASE WHEN NOT b THEN c END"},
    "sum(a) FILTER (b)": {"max(a) FILTER (b)", "sum(a) FILTER (NOT b)"},
    "CREATE OR REPLACE MACRO f(a) AS a": set(),
    """'a > 0' || "b > 0" -- c > 0""": set(),
}
IN_PYTHON: dict[str, set[str]] = {
    "x = a < b": {"x = a <= b", "x = a > b"},
    "x = (a) not in (b)": {"x = (a) in (b)"},
    "x = a and b or c": {"x = a or b or c", "x = a and b and c"},
    "x = a  # + 1\nx += b": {"x = a  # + 1\nx -= b"},
    "x = -a | ~b": {"x = a | ~b", "x = -a | b", "x = -a & ~b"},
    "x = 7": {"x = 8"},
    "x = a[b:]": {"x = a[(b) + 1:]"},
    "x = np.minimum(a, b).max()": {"x = np.maximum(a, b).max()", "x = np.minimum(a, b).min()"},
    "x = a if b else c": {"x = a if (not (b)) else c"},
    "x = 'ü' + a + b": {"x = 'ü' + a - b"},
    "def f(a: list[3], b: int = 1) -> 4: ...": {"def f(a: list[3], b: int = 2) -> 4: ..."},
    "raise E(1 + a)": set(),
    "x = f'{a + 1}'": set(),
    "@f(1)\ndef g(): ...": set(),
    "x = zip(a, b, strict=True)": set(),
}


def mutants_of(path: str, source: str) -> list[Any]:
    data, in_sql = source.encode(), path.endswith(".sql")
    changes = sql.changes_of_sql(source) if in_sql else python.changes_of_python(data)
    return [*mutant.mutants_of(path, data, changes)]


def test_sources_are_changed_where_they_can_be_wrong() -> None:
    for path, cases in (("a.sql", IN_SQL), ("a.py", IN_PYTHON)):
        for source, expected in cases.items():
            changed = {each.applied(source.encode()).decode() for each in mutants_of(path, source)}
            assert changed == expected, source


def test_mutants_of_the_project_can_be_read_and_none_is_equivalent() -> None:
    house = mutate.House(PROJECT)
    listed = equivalent.equivalent(house.room_of)
    drawn = {name: house.drawn(name, (), (), seed=1) for name in ("sql", "python")}
    assert {*drawn["sql"], *drawn["python"]} == house.room_of.keys() - listed.keys()
    for each in [*drawn["sql"][:50], *drawn["python"][:50]]:
        source = (PROJECT / each.path).read_bytes()
        assert each.applied(source) != source
        if each.language == "sql":
            if b"{side}" not in source:  # a template
                duckdb.extract_statements(each.applied(source).decode())
        else:
            compile(each.applied(source), each.path, "exec")
    for name, room in rooms.ROOMS.items():
        assert rooms.files(PROJECT, name)
        assert all((PROJECT / each).exists() for each in room.tests)
