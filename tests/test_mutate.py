"""The mutation tester, tools/mutate.py: its changes, the order of mutants, and how it judges."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.support.paths import PROJECT
from tests.support.tools import tool

pytestmark = pytest.mark.slow

mutant, sql, python, rooms, trial, equivalent = (
    tool(f"mutation.{name}") for name in ("mutant", "sql", "python", "rooms", "trial", "equivalent")
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


@pytest.mark.long
def test_mutants_of_the_project_can_be_read_and_none_is_equivalent() -> None:
    house = mutate.House(PROJECT)
    listed = equivalent.equivalent(house.room_of)
    drawn = {name: house.drawn(name, (), (), seed=1) for name in ("sql", "python")}
    assert {*drawn["sql"], *drawn["python"]} == house.room_of.keys() - listed.keys()
    for each in [*drawn["sql"][:50], *drawn["python"][:50]]:
        source = (PROJECT / each.path).read_bytes()
        assert each.applied(source) != source
        if each.language == "sql":
            duckdb.extract_statements(each.applied(source).decode())
        else:
            compile(each.applied(source), each.path, "exec")
    for name, room in rooms.ROOMS.items():
        assert rooms.files(PROJECT, name)
        assert all((PROJECT / each).exists() for each in room.tests)


def test_a_seed_draws_the_same_and_an_edit_elsewhere_leaves_it_alone() -> None:
    def drawn(text: str, seed: int) -> list[str]:
        return [str(each.key) for each in mutant.shuffled(mutants_of("a.sql", text), seed)]

    text = "SELECT sum(a) > 0,\n max(b) + 1 FROM c\n WHERE d = 2 AND e < 3"
    assert drawn(text, 1) == drawn(text, 1)
    assert drawn(text, 1) != drawn(text, 2)
    longer = drawn("SELECT min(x) < 4,\n" + text, 1)
    assert [each for each in longer if each in drawn(text, 1)] == drawn(text, 1)


def test_tests_that_run_the_change_go_first_and_likely_killers_before_others() -> None:
    (change,) = mutants_of("a.sql", "SELECT 2")
    seconds = {"slow": 3.0, "fast": 1.0, "killer": 9.0, "other": 0.1}
    recording = trial.Recording(seconds, {}, {"a.sql": ["fast", "slow", "killer"]})
    recording.kills["killer"] = 1
    assert [*recording.groups(change)] == [["killer", "fast", "slow"], ["other"]]
    caught, survived = trial.Outcome(change, by="t"), trial.Outcome(change)
    assert mutate.enough("sql", [caught] * 19 + [survived], 0.95)
    assert not mutate.enough("sql", [caught] * 18 + [survived] * 2, 0.95)


SOURCE = """
def cut(values, most):
    at = 0
    while at < most:
        at += 1
    return values[:at]
"""
TEST = """
import duckdb, pytest
from pathlib import Path
from toy import cut

def test_cut():
    assert cut([1, 2, 3], 2) == [1, 2]

def test_sql():
    assert duckdb.sql(Path("toy.sql").read_text()).fetchall() == [(1,)]

@pytest.mark.long
def test_sweep():
    assert False
"""
QUERY = "SELECT 1 AS a ORDER BY a"


@pytest.mark.long
def test_mutants_are_judged_in_a_private_copy_by_tests_that_are_not_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused SQL and tests that fail unchanged say nothing about tests."""
    toy, test = tmp_path / "toy", tmp_path / "toy" / "tests" / "test_toy.py"
    test.parent.mkdir(parents=True)
    test.write_text(TEST)
    (toy / "toy.py").write_text(SOURCE)
    (toy / "toy.sql").write_text(QUERY)
    shutil.copytree(PROJECT / "tools" / "mutation", toy / "tools" / "mutation")
    subprocess.run(["git", "init", "--quiet", toy], check=True)
    monkeypatch.setattr(trial, "_PATIENCE", 3.0)
    changes = [mutant.Change(7, 8, "2"), mutant.Change(23, 24, "b")]
    of_sql = [*mutant.mutants_of("toy.sql", QUERY.encode(), changes)]
    of_python = mutants_of("toy.py", SOURCE)
    copy = trial.Copy(toy, tmp_path / "copy")
    recording = copy.record(["tests"], [*of_python, *of_sql])
    by_cut, by_sql = (f"tests/test_toy.py::test_{each}" for each in ("cut", "sql"))
    assert recording.lines["toy.py"]["5"] == [by_cut]
    found = {
        re.sub(r".*: ", "", str(each)): copy.judge(each, recording).by
        for each in of_python
        if each.line > 3 and each.change.after != ">"
    }
    assert found == {
        "< -> <=": by_cut,
        "+= -> -=": f"{by_cut} (time limit)",
        "1 -> 2": "",
        "at -> (at) + 1": by_cut,
    }
    wrong, refused = (copy.judge(each, recording) for each in of_sql)
    assert (wrong.by, wrong.refused, refused.refused) == (by_sql, False, True)
    assert (toy / "toy.py").read_text() == (copy.root / "toy.py").read_text() == SOURCE
    assert recording.kills[by_cut] == 3
    test.write_text("def test_cut():\n    assert False\n")
    with pytest.raises(trial.FailedError, match="test_cut fails unchanged"):
        trial.Copy(toy, tmp_path / "other").record(["tests"], [])
