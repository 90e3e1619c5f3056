"""Imports go down only, and name modules; commands load what they need; the wheel holds all."""

from __future__ import annotations

import ast
import fnmatch
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

import smfparse
from tests.support.paths import FIXTURES, PROJECT

ORDER = [
    *("errors", "declarations", "interrupts", "limits", "progress", "vectors", "rendering"),
    *("layout", "schemas", "reading", "decoding", "metrics", "store", "inputs", "query"),
    *("planning", "writing", "mqsmfcsv", "reports", "advice", "summarizing", "dashboard"),
    *("inspecting", "anonymising", "library", "simulating", "cli", "__main__"),
]
"""Every package and every module at the top; one may import only those before it."""
PACKAGES = [each for each in ORDER if (PROJECT / "smfparse" / each).is_dir()]
LINKS = ("schemas", "cli")
"""Packages that are folders at the top, with a link to them in `smfparse`."""
APART = {
    "simulating": ["errors", "layout", "progress", "rendering", "schemas"],
    "schemas": ["layout"],
}
"""Packages that may import less than all before them."""
ROOF = "smfparse"
ONLY_IN = {
    "duckdb": {
        *("query.catalog", "query.relations", "query.slices", "query.statements"),
        "writing.database",
    },
    "prompt_toolkit": {"query.prompt"},
    "resvg_py": {"rendering.formats"},
    "xlsxwriter": {"rendering.xlsx"},
}
"""The only modules that import a library."""
SLOW = {"duckdb", "numpy", "polars", "prompt_toolkit", "pyarrow"}
"""Libraries that take long to load."""


class Import(NamedTuple):
    """One imported module, or name of `from x import y` as x.y.

    at_once  whether it happens when the module is loaded, not in a function or for types only
    """

    name: str
    types_only: bool
    at_once: bool

    @property
    def library(self) -> str:
        return self.name.split(".")[0]

    @property
    def inside(self) -> str:
        """The name without the project's; '' for that of a library."""
        own = self.library == ROOF and self.name != f"{ROOF}.__version__"
        return self.name.removeprefix(f"{ROOF}.") if own else ""


def imports(node: ast.AST, types_only: bool = False, at_once: bool = True) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Import():
                yield from (Import(each.name, types_only, at_once) for each in child.names)
            case ast.ImportFrom():
                start = "." * child.level + (child.module or "")
                names = [f"{start}.{each.name}" for each in child.names]
                yield from (Import(each, types_only, at_once) for each in names)
            case ast.expr():
                pass  # no import is in it
            case ast.If() if ast.unparse(child.test) == "TYPE_CHECKING":
                yield from imports(ast.Module(child.body, []), True, False)
                yield from imports(ast.Module(child.orelse, []), types_only, at_once)
            case _:
                later = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
                yield from imports(child, types_only, at_once and not later)


def module_name(path: Path) -> str:
    """Return `reading.chunks`, `schemas.qjst`, `cli` or, for the package itself, `smfparse`."""
    parts = path.relative_to(PROJECT).with_suffix("").parts
    parts = parts[1:] if parts[0] == ROOF else parts
    return ".".join(part for part in parts if part != "__init__") or ROOF


def python_trees(*folders: str) -> Iterator[tuple[Path, ast.Module]]:
    """Yield the Python files below folders, parsed; a link's are found by their own names only."""
    links = [PROJECT / ROOF / each for each in LINKS]
    for folder in folders:
        for path in sorted((PROJECT / folder).rglob("*.py")):
            if not any(path.is_relative_to(link) for link in links):
                yield path, ast.parse(path.read_text(encoding="utf-8"))


@cache
def trees() -> dict[str, ast.Module]:
    """Return the syntax trees of the product by module."""
    return {module_name(path): each for path, each in python_trees(ROOF, *LINKS)}


@cache
def imports_of() -> dict[str, list[Import]]:
    """Return the imports of the product by module."""
    return {module: [*imports(each)] for module, each in trees().items()}


@cache
def imports_beside() -> dict[str, list[Import]]:
    """Return the imports of modules that are neither of the product nor tests."""
    beside = python_trees("tools", "benchmarks", "fixtures")
    return {path.relative_to(PROJECT).as_posix(): [*imports(each)] for path, each in beside}


def top(module: str) -> str:
    return module.split(".")[0]


def own_imports() -> Iterator[tuple[str, str]]:
    """Yield each module with a name of the project that it imports."""
    for module, found in imports_of().items():
        yield from ((module, each.inside) for each in found if each.inside)


def test_imports_go_down_only_by_whole_names_that_are_not_private() -> None:
    assert {top(module) for module in trees()} == {ROOF, *ORDER}
    assert {"schemas.qjst", "cli.report", "reading.chunks", "errors", ROOF} <= trees().keys()
    for module, imported in own_imports():
        here = top(module)
        below = ORDER if here == ROOF else APART.get(here, ORDER[: ORDER.index(here)])
        assert top(imported) in {here, *below}, module
        assert not imported.split(".")[-1].startswith("_"), module
    assert [each for found in imports_of().values() for each in found if each.name[0] == "."] == []


@pytest.mark.slow
def test_a_package_has_no_face_and_is_imported_by_its_name_in_smfparse() -> None:
    """`schemas` and `cli` are packages of smfparse, and have code of their own."""
    for package in set(PACKAGES) - {*LINKS}:
        assert [type(each) for each in trees()[package].body] == [ast.Expr], package
        assert len((ast.get_docstring(trees()[package]) or "").splitlines()) >= 3, package
    found = imports_beside() | imports_of()
    assert [name for name in found if {each.library for each in found[name]} & {*LINKS}] == []
    by_link = re.compile(rf"^\s*(?:from|import) (?:{'|'.join(LINKS)})\b", re.MULTILINE)
    tests = (PROJECT / "tests").rglob("*.py")
    assert [each for each in tests if by_link.search(each.read_text(encoding="utf-8"))] == []


def test_modules_of_a_package_do_not_import_each_other_in_circles() -> None:
    for package in PACKAGES:
        graph = {
            module: {
                f"{package}.{each.inside.split('.')[1]}"
                for each in found
                if each.at_once and top(each.inside) == package and each.inside.count(".") > 1
            }
            for module, found in imports_of().items()
            if top(module) == package != module
        }
        assert {*TopologicalSorter(graph).static_order()} >= graph.keys()


def test_the_root_declares_for_types_what_it_has_at_run_time() -> None:
    declared = {each.name.split(".")[-1] for each in imports_of()[ROOF] if each.types_only}
    assert declared == {*smfparse.__all__} - {"__version__"}
    assert sorted(smfparse.__all__) == dir(smfparse)
    assert all(getattr(smfparse, name) is not None for name in smfparse.__all__)
    with pytest.raises(AttributeError, match=r"smfparse.* has no attribute 'nothing'"):
        _ = smfparse.nothing


def test_a_library_is_imported_only_where_it_belongs() -> None:
    """Commands load slow ones when they run; `schemas` need layout, construct and blocks.

    `from smfparse.schemas import X` is the registry's, `.schemas.qjst import X` a block's.
    """
    for library, modules in ONLY_IN.items():
        found = {
            module
            for module, each in imports_of().items()
            if any(one.library == library and not one.types_only for one in each)
        }
        assert found == modules, library
    known = {ROOF, "construct", *sys.stdlib_module_names}
    for module, each in imports_of().items():
        if top(module) == "cli":
            assert [one for one in each if one.library in SLOW and one.at_once] == [], module
        if top(module) == "schemas":
            assert {one.library for one in each} <= known, module
            registry = [one.inside for one in each if top(one.inside) == "schemas"]
            assert [name for name in registry if name.count(".") < 2] == [], module


PRINTING = {"print", "echo", "secho", "echo_via_pager", "warn"}
MAY_PRINT = {
    "cli": {"sys.stdout", "sys.stderr"},  # chooses the encoding, and closes a broken pipe
    "cli.sql": {"sys.stdout"},  # asks whether it is a terminal
    "cli.progress": {"sys.stderr"},  # writes lines that it overwrites
    "query.results": {"warnings"},  # silences a warning of DuckDB's
}


def prints(module: ast.AST) -> set[str]:
    """Return the calls and streams by which a module prints, or could."""
    found = {each.library for each in imports(module)} & {"logging", "warnings"}
    for node in ast.walk(module):
        match node:
            case ast.Attribute(ast.Name("sys"), name) if name.strip("_") in ("stdout", "stderr"):
                found.add(f"sys.{name}")
            case ast.Call(ast.Name(name) | ast.Attribute(attr=name)) if name in PRINTING:
                found.add(name)
    return found


@pytest.mark.slow
def test_only_one_module_prints_and_it_escapes_what_it_prints() -> None:
    for text in ("print(1)", "click.echo(x)", "sys.stderr.write(x)", "import logging"):
        assert prints(ast.parse(text))
    found = {name: prints(each) - MAY_PRINT.get(name, set()) for name, each in trees().items()}
    assert {name for name, each in found.items() if each} == {"cli.output"}


HEAVY = SLOW | {"construct", "pandas", "pytz"}
HEAVY |= {"pyarrow.compute", "pyarrow.dataset", "pyarrow.parquet"}
"""What takes long enough to load to be watched, part by part."""
RARE = {
    *("concurrent.futures", "multiprocessing", "zipfile"),
    *("smfparse.inputs.parallel", "smfparse.inputs.temporary"),
}
"""What is for several processes and standard input; duckdb and pyarrow.parquet load some of it."""
DECLARED = {"construct", "numpy"}
DECODED = {*DECLARED, "pyarrow"}
QUERIED = {*DECODED, "duckdb"}
LOADED = {
    "--help": set(),
    "report --help": set(),
    "capacity log --help": set(),
    "report log --explain": DECODED,
    "describe qjst": DECLARED,
    "generate {folder}/a.smf --size 10KB": DECLARED,
    "info {smf}": QUERIED,
    "convert {smf} --to {folder}/a": {*DECODED, "pyarrow.parquet"},
    "convert {smf} --to {folder}/b.duckdb": {*DECODED, "duckdb"},
    "check {smf}": QUERIED,
    "report log {smf}": {*QUERIED, "pytz"},
    "report log {smf} --format csv": {*QUERIED, "pytz"},
    "trend {smf}": {*QUERIED, "pyarrow.compute"},
    "dashboard {smf} --output {folder}/a.html": {*QUERIED, "pyarrow.compute"},
    "plot log-busy {smf}": {*QUERIED, "pyarrow.compute"},
    "capacity log": DECODED,
    "capacity log {smf}": QUERIED,
    "summary {smf}": {*QUERIED, "pyarrow.compute"},
    "sql {smf} 'SELECT count(*) FROM wqst' --format csv": {*QUERIED, "polars"},
}
"""Commands, and which of HEAVY each loads: that is most of the time that it takes to start."""
OF_COMMAND = {
    "report log {smf}": ({"advice.answering"}, {"advice.", "reports.parts", "reports.drawing"}),
    "describe qjst": (
        {"cli.describe", "cli.options", "cli.output", "cli.progress", "cli.words"},
        {"cli."},
    ),
}
"""Of some commands: the modules that they load of those whose names begin so."""
RUN = (
    "import sys\n"
    "from smfparse.cli import command_line\n"
    "try: command_line()\n"
    "finally: print('loaded:', *sys.modules)\n"
)
DECODE = (
    "import sys\n"
    "from smfparse.inputs.opening import open_inputs\n"
    "from smfparse.inputs.options import ReadOptions\n"
    "from smfparse.decoding.arrow import wanted_tables\n"
    "from smfparse.decoding.dictionary import table_names\n"
    "opened = open_inputs(sys.argv[1:], ReadOptions(jobs=1))\n"
    "print(sum(batch.num_rows for _, batch in opened.batches(wanted_tables(table_names()))))\n"
    "print('loaded:', *sys.modules)\n"
)


def loaded_by(code: str, *arguments: str) -> set[str]:
    """Return the modules that are loaded when code ended."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    assert "leaked" not in done.stderr  # as DuckDB says where objects of it are left
    return set(done.stdout.split("loaded:")[1].split())


@pytest.mark.sampled(5)
@pytest.mark.slow
@pytest.mark.parametrize("command", LOADED)
def test_a_command_loads_only_what_it_needs(command: str, tmp_path: Path) -> None:
    smf = FIXTURES / "qm60.smf"
    loaded = loaded_by(RUN, *shlex.split(command.format(smf=smf, folder=tmp_path)))
    assert "click" in loaded
    assert loaded & HEAVY == LOADED[command]
    if not LOADED[command] & {"duckdb", "pyarrow.parquet"}:
        assert loaded & RARE == set()
    wanted, starts = OF_COMMAND.get(command, (set(), set()))
    own = {each.removeprefix(f"{ROOF}.") for each in loaded if each.startswith(f"{ROOF}.")}
    assert {each for each in own if each.startswith(tuple(starts))} == wanted


@pytest.mark.slow
def test_decoding_in_python_loads_no_library_but_those_that_it_needs() -> None:
    loaded = loaded_by(DECODE, str(FIXTURES / "qm60.smf"))
    assert loaded & (HEAVY | RARE) == DECODED
    assert loaded.isdisjoint({"json", "tomllib", "smfparse.store.manifest"})


def test_the_wheel_holds_every_package_and_every_file_that_is_read_at_run_time() -> None:
    settings = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    packed, data = settings["setuptools"]["packages"], settings["setuptools"]["package-data"]
    assert set(packed) == {ROOF, *(f"{ROOF}.{each}" for each in PACKAGES)}
    for package in set(PACKAGES) - {*LINKS}:
        folder, patterns = PROJECT / ROOF / package, data.get(f"{ROOF}.{package}", ())
        for path in folder.rglob("*"):
            name = path.relative_to(folder).as_posix()
            if path.suffix in {".sql", ".toml"}:
                assert any(fnmatch.fnmatch(name, each) for each in patterns), path
