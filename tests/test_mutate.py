"""The mutation tester, tools/mutate.py: what it changes, what it draws, how it judges."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

from tests.support.paths import PROJECT

pytestmark = pytest.mark.slow

TOOLS = PROJECT / "tools"


@pytest.fixture(scope="module")
def tool() -> Iterator[SimpleNamespace]:
    """The modules of the tool, which stand in tools/ as scripts have theirs."""
    names = ("mutant", "sql", "python", "rooms", "equivalent", "trial")
    sys.path.insert(0, str(TOOLS))
    try:
        found = {name: importlib.import_module(f"mutation.{name}") for name in names}
        yield SimpleNamespace(**found, mutate=importlib.import_module("mutate"))
    finally:
        sys.path.remove(str(TOOLS))


@pytest.fixture(scope="module")
def house(tool: SimpleNamespace) -> Any:
    """All mutants of the project."""
    return tool.mutate.House(PROJECT)


def changed(tool: SimpleNamespace, path: str, source: str, **asked: bool) -> set[str]:
    """Return what changes make of a source."""
    if path.endswith(".sql"):
        changes = tool.sql.changes_of_sql(source)
    else:
        changes = tool.python.changes_of_python(source.encode(), **asked)
    mutants = tool.mutant.mutants_of(path, source.encode(), changes)
    return {each.applied(source.encode()).decode() for each in mutants}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("SELECT a > 0", {"SELECT a >= 0", "SELECT a < 0", "SELECT a > 1"}),
        ("SELECT sum(x)", {"SELECT max(x)"}),
        ("SELECT count(*), t.* FROM t", {"SELECT max(1), t.* FROM t"}),
        ("SELECT count(DISTINCT x)", {"SELECT max(DISTINCT x)", "SELECT count(x)"}),
        ("SELECT a * b", {"SELECT a / b"}),
        ("SELECT coalesce(a, f(b, c), d)", {"SELECT coalesce(f(b, c), a, d)"}),
        ("a BETWEEN b AND c AND d", {"a BETWEEN b AND c OR d"}),
        ("a JOIN b USING (c)", {"a LEFT JOIN b USING (c)"}),
        ("a LEFT JOIN b USING (c)", {"a JOIN b USING (c)"}),
        ("x IS NOT NULL OR y IS NULL", None),
        ("a UNION ALL BY NAME b", {"a UNION BY NAME b"}),
        ("a UNION b", {"a UNION ALL b"}),
        (
            "ORDER BY a, f(b, c) LIMIT n",
            {"ORDER BY a DESC, f(b, c) LIMIT n", "ORDER BY a, f(b, c) DESC LIMIT n"},
        ),
        ("ORDER BY a DESC", {"ORDER BY a ASC"}),
        ("CASE a WHEN b THEN c END", set()),
        ("CASE WHEN b THEN c END", {"CASE WHEN NOT b THEN c END"}),
        ("sum(a) FILTER (b)", {"max(a) FILTER (b)", "sum(a) FILTER (NOT b)"}),
        ("CREATE OR REPLACE MACRO f(a) AS a", set()),
        ("""'a > 0' || "b > 0" -- c > 0""", set()),
        (
            "/* ü */ 'ü' < 1e6",
            {"/* ü */ 'ü' <= 1e6", "/* ü */ 'ü' > 1e6", "/* ü */ 'ü' < 2000000.0"},
        ),
    ],
)
def test_sql_is_changed_where_it_can_be_wrong(
    tool: SimpleNamespace, source: str, expected: set[str] | None
) -> None:
    if expected is None:
        expected = {
            "x IS NULL OR y IS NULL",
            "x IS NOT NULL AND y IS NULL",
            "x IS NOT NULL OR y IS NOT NULL",
        }
    assert changed(tool, "a.sql", source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a < b", {"x = a <= b", "x = a > b"}),
        ("x = (a) not in (b)", {"x = (a) in (b)"}),
        ("x = a and b or c", {"x = a or b or c", "x = a and b and c"}),
        ("x = a  # + 1\nx += b", {"x = a  # + 1\nx -= b"}),
        ("x = not a", {"x = a"}),
        ("x = -a | ~b", {"x = a | ~b", "x = -a | b", "x = -a & ~b"}),
        ("x = 7", {"x = 8"}),
        ("x = 0.0", {"x = 1.0"}),
        ("x = True", {"x = False"}),
        ("x = a[b:]", {"x = a[(b) + 1:]"}),
        (
            "x = np.minimum(a, b).max()",
            {"x = np.maximum(a, b).max()", "x = np.minimum(a, b).min()"},
        ),
        ("x = find(a, side='left')", {"x = find(a, side='right')"}),
        ("x = a if b else c", {"x = a if (not (b)) else c"}),
        ("x = [a for a in b if a]", {"x = [a for a in b if (not (a))]"}),
        ("x = 'ü' + a + b", {"x = 'ü' + a - b"}),
        ('"""1 > 0"""', set()),
        ("def f(a: list[3], b: int = 1) -> 4: ...", {"def f(a: list[3], b: int = 2) -> 4: ..."}),
        ("raise E(1 + a)", set()),
        ("x = f'{a + 1}'", set()),
        ("assert a < 1", set()),
        ("__all__ = [1]", set()),
        ("@f(1)\ndef g(): ...", set()),
        ("if TYPE_CHECKING:\n    x = 1", set()),
        ("x = zip(a, b, strict=True)", set()),
        ("x = 'a > 0'", set()),
    ],
)
def test_python_is_changed_where_it_can_be_wrong(
    tool: SimpleNamespace, source: str, expected: set[str]
) -> None:
    assert changed(tool, "a.py", source) == expected


def test_the_sql_in_strings_is_changed_on_demand(tool: SimpleNamespace) -> None:
    source = textwrap.dedent(
        '''
        """min(a)"""
        X = "min({0})"
        Y = f"sum({x + 1}) AND {{'b': c}} = coalesce({y}, {{0}})"
        Z = re.compile(r"1-9")
        '''
    )
    found = changed(tool, "a.py", source, sql=True)
    assert found == {
        source.replace("min({0})", "max({0})"),
        source.replace("sum(", "max("),
        source.replace("AND", "OR"),
        source.replace(" = coalesce", " <> coalesce"),
        source.replace("({y}, {{0}})", "({{0}}, {y})"),
    }


def test_mutants_of_the_project_can_be_read(house: Any) -> None:
    for language in ("sql", "python"):
        for each in house.drawn(language, (), (), seed=1)[:100]:
            source = each.applied((PROJECT / each.path).read_bytes())
            assert source != (PROJECT / each.path).read_bytes()
            if language == "sql":
                duckdb.extract_statements(source.decode())
            else:
                compile(source, each.path, "exec")


def test_rooms_have_sources_of_both_languages_and_tests(tool: SimpleNamespace) -> None:
    for name, room in tool.rooms.ROOMS.items():
        assert tool.rooms.files(PROJECT, name)
        assert all((PROJECT / each).exists() for each in room.tests)
    assert all((PROJECT / each).exists() for each in tool.rooms.WITH_SQL)


def test_a_seed_draws_the_same_and_an_edit_elsewhere_leaves_it_alone(tool: SimpleNamespace) -> None:
    def drawn(text: str, seed: int) -> list[str]:
        mutants = tool.mutant.mutants_of("a.sql", text.encode(), tool.sql.changes_of_sql(text))
        return [str(each.key) for each in tool.mutant.shuffled(mutants, seed)]

    text = "SELECT sum(a) > 0,\n max(b) + 1 FROM c\n WHERE d = 2 AND e < 3"
    assert drawn(text, 1) == drawn(text, 1)
    assert drawn(text, 1) != drawn(text, 2)
    longer = drawn("SELECT min(x) < 4,\n" + text, 1)
    assert [each for each in longer if each in drawn(text, 1)] == drawn(text, 1)


def test_alike_changes_are_told_apart(tool: SimpleNamespace) -> None:
    text = "SELECT a + b + c"
    mutants = tool.mutant.mutants_of("a.sql", text.encode(), tool.sql.changes_of_sql(text))
    assert [each.key[-1] for each in mutants] == [1, 2]


def test_every_equivalent_mutant_is_there_and_is_not_drawn(
    tool: SimpleNamespace, house: Any
) -> None:
    listed = tool.equivalent.equivalent(house.room_of)
    drawn = {each for name in ("sql", "python") for each in house.drawn(name, (), (), seed=1)}
    assert drawn.isdisjoint(listed)
    assert len(drawn) + len(listed) == len(house.room_of)


@pytest.mark.parametrize(
    ("text", "reason", "message"),
    [("SELECT 1", "x", "no mutant"), ("SELECT 2", " ", "has no reason")],
)
def test_an_equivalent_mutant_needs_a_reason_and_has_to_be_there(
    tool: SimpleNamespace, tmp_path: Path, text: str, reason: str, message: str
) -> None:
    entry = f'[[mutant]]\npath = "a.sql"\ntext = "{text}"\nbefore = "2"\nafter = "3"\n'
    listed = tmp_path / "equivalent.toml"
    listed.write_text(f'{entry}reason = "{reason}"\n')
    source = "SELECT 2"
    changes = tool.sql.changes_of_sql(source)
    mutants = tool.mutant.mutants_of("a.sql", source.encode(), changes)
    with pytest.raises(tool.equivalent.OutdatedError, match=message):
        tool.equivalent.equivalent(mutants, listed)


def test_tests_that_run_what_is_changed_go_first_and_likely_killers_before_others(
    tool: SimpleNamespace,
) -> None:
    (mutant,) = tool.mutant.mutants_of("a.sql", b"SELECT 2", tool.sql.changes_of_sql("SELECT 2"))
    seconds = {"slow": 3.0, "fast": 1.0, "killer": 9.0, "other": 0.1}
    recording = tool.trial.Recording(seconds, {}, {"a.sql": ["fast", "slow", "killer"]})
    recording.kills["killer"] = 1
    assert [*recording.groups(mutant)] == [["killer", "fast", "slow"], ["other"]]


def test_in_a_quick_run_files_are_left_out_that_do_not_run_what_is_changed(
    tool: SimpleNamespace,
) -> None:
    (mutant,) = tool.mutant.mutants_of("a.sql", b"SELECT 2", tool.sql.changes_of_sql("SELECT 2"))
    seconds = {"a.py::runs": 1.0, "a.py::shares": 1.0, "b.py::other": 1.0}
    recording = tool.trial.Recording(seconds, {}, {"a.sql": ["a.py::runs"]})
    assert [*recording.groups(mutant, quick=True)] == [["a.py::runs"], ["a.py::shares"]]
    unknown = tool.trial.Recording(seconds, {}, {})
    assert [*unknown.groups(mutant, quick=True)] == [[*seconds]]


SOURCE = """
def cut(values, most):
    at = 0
    while at < most:
        at += 1
    return values[:at]
"""
TEST = """
from toy import cut

def test_cut():
    assert cut([1, 2, 3], 2) == [1, 2]
"""


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A project of one module and one test."""
    project = tmp_path / "toy"
    (project / "tests").mkdir(parents=True)
    (project / "toy.py").write_text(SOURCE)
    (project / "tests" / "test_toy.py").write_text(TEST)
    shutil.copytree(TOOLS / "mutation", project / "tools" / "mutation")
    subprocess.run(["git", "init", "--quiet", project], check=True)
    return project


def test_mutants_are_judged_in_a_private_copy(
    tool: SimpleNamespace, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool.trial, "_PATIENCE", 5.0)
    changes = tool.python.changes_of_python(SOURCE.encode())
    mutants = [*tool.mutant.mutants_of("toy.py", SOURCE.encode(), changes)]
    copy = tool.trial.Copy(toy, tmp_path / "copy")
    recording = copy.record(["tests"], mutants)
    assert recording.lines["toy.py"]["5"] == ["tests/test_toy.py::test_cut"]
    found = {
        re.sub(r".*: ", "", str(each)): copy.judge(each, recording).by
        for each in mutants
        if each.line > 3 and each.change.after != ">"
    }
    assert found == {
        "< -> <=": "tests/test_toy.py::test_cut",
        "+= -> -=": "tests/test_toy.py::test_cut (time limit)",
        "1 -> 2": "",
        "at -> (at) + 1": "tests/test_toy.py::test_cut",
    }
    assert (toy / "toy.py").read_text() == (copy.root / "toy.py").read_text() == SOURCE
    assert recording.kills["tests/test_toy.py::test_cut"] == 3


def test_sql_that_is_refused_says_nothing_about_tests(
    tool: SimpleNamespace, toy: Path, tmp_path: Path
) -> None:
    source = "SELECT 1 AS a ORDER BY a"
    (toy / "toy.sql").write_text(source)
    (toy / "tests" / "test_toy.py").write_text(
        "import duckdb\nfrom pathlib import Path\n\n"
        "def test_sql():\n"
        "    assert duckdb.sql(Path('toy.sql').read_text()).fetchall() == [(1,)]\n"
    )
    changes = [tool.mutant.Change(7, 8, "2"), tool.mutant.Change(23, 24, "b")]
    mutants = [*tool.mutant.mutants_of("toy.sql", source.encode(), changes)]
    copy = tool.trial.Copy(toy, tmp_path / "copy")
    wrong, refused = (copy.judge(each, copy.record(["tests"], mutants)) for each in mutants)
    assert (wrong.by, wrong.refused) == ("tests/test_toy.py::test_sql", False)
    assert refused.refused


def test_a_test_that_fails_unchanged_ends_the_run(
    tool: SimpleNamespace, toy: Path, tmp_path: Path
) -> None:
    (toy / "tests" / "test_toy.py").write_text(TEST.replace("== [1, 2]", "== [1]"))
    with pytest.raises(tool.trial.FailedError, match="test_cut fails unchanged"):
        tool.trial.Copy(toy, tmp_path / "copy").record(["tests"], [])


def test_the_exit_code_says_whether_enough_was_caught(tool: SimpleNamespace) -> None:
    (mutant,) = tool.mutant.mutants_of("a.sql", b"SELECT 2", tool.sql.changes_of_sql("SELECT 2"))
    caught, survived = tool.trial.Outcome(mutant, by="t"), tool.trial.Outcome(mutant)
    assert tool.mutate.enough("sql", [caught] * 19 + [survived], 0.95)
    assert not tool.mutate.enough("sql", [caught] * 18 + [survived] * 2, 0.95)
