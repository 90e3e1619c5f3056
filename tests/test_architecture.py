"""The house stands as it is drawn: imports go down only, through faces, and rooms stay small."""

from __future__ import annotations

import ast
import fnmatch
import shlex
import statistics
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent

HOUSE = (
    "errors",
    "faces",
    "interrupts",
    "limits",
    "progress",
    "vectors",
    "places",
    "rendering",
    "planning",
    "layout",
    "schemas",
    "tables",
    "reading",
    "selecting",
    "decoding",
    "store",
    "inputs",
    "query",
    "writing",
    "mqsmfcsv",
    "calendar",
    "reports",
    "advice",
    "summarizing",
    "trending",
    "capacity",
    "comparing",
    "inspecting",
    "anonymising",
    "dashboard",
    "library",
    "synthetic",
    "simulating",
    "cli",
    "__main__",
)
"""Every package and every module at the top; one may import only those before it."""
PACKAGES = tuple(each for each in HOUSE if (PROJECT / "smfparse" / each).is_dir())
LINKS = ("schemas", "cli")
"""Packages that are folders at the top, with a link to them in `smfparse`."""
APART = {
    "synthetic": {
        "errors",
        "faces",
        "layout",
        "limits",
        "places",
        "progress",
        "reading",
        "schemas",
        "tables",
    },
    "simulating": {"errors", "faces", "layout", "rendering", "schemas", "synthetic"},
}
"""What stands apart: all that it may import."""
ROOF = "smfparse"
SLOW = {"duckdb", "numpy", "polars", "prompt_toolkit", "pyarrow"}
"""Libraries that take long to load."""
ONLY_IN = {
    "duckdb": {
        "query.bounded",
        "query.catalog",
        "query.connecting",
        "query.relations",
        "query.statements",
        "query.together",
        "writing.database",
    },
    "prompt_toolkit": {"query.prompt"},
    "resvg_py": {"rendering.pictures"},
    "xlsxwriter": {"rendering.xlsx"},
}
"""The only modules that import a library."""
MOST_LINES = {"module": 400, "class": 150, "function": 40, "median function": 5}


@dataclass(frozen=True)
class Import:
    """One imported module or name, with the names of `from x import y` put together."""

    name: str
    types_only: bool
    at_once: bool
    """Whether it happens when the module is loaded."""

    @property
    def library(self) -> str:
        return self.name.split(".")[0]


def module_name(path: Path) -> str:
    """Return `reading.chunks`, `schemas.qjst`, `cli` or, for the package itself, `smfparse`."""
    parts = path.relative_to(PROJECT).with_suffix("").parts
    parts = parts[1:] if parts[0] == ROOF else parts
    return ".".join(part for part in parts if part != "__init__") or ROOF


def python_files(*folders: str) -> list[Path]:
    """Return all Python files below folders; what a link leads to is there by its own name."""
    links = [PROJECT / ROOF / each for each in LINKS]
    return [
        path
        for folder in folders
        for path in sorted((PROJECT / folder).rglob("*.py"))
        if not any(path.is_relative_to(link) for link in links)
    ]


MODULES = {module_name(path): path for path in python_files(ROOF, *LINKS)}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}
every_module = pytest.mark.parametrize("module", MODULES)
every_package = pytest.mark.parametrize("package", PACKAGES)


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def imports_below(node: ast.AST, types_only: bool, at_once: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(each.name, types_only, at_once) for each in child.names)
        elif isinstance(child, ast.ImportFrom):
            start = "." * child.level + (child.module or "")
            yield from (Import(f"{start}.{each.name}", types_only, at_once) for each in child.names)
        elif isinstance(child, ast.If) and is_type_checking(child):
            for each in child.body:
                yield from imports_below(ast.Module([each], []), True, at_once)
            for each in child.orelse:
                yield from imports_below(ast.Module([each], []), types_only, at_once)
        else:
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from imports_below(child, types_only, at_once and not inside)


def imports(tree: ast.AST) -> list[Import]:
    return list(imports_below(tree, False, True))


def room(name: str) -> str:
    return name.split(".")[0]


def own_imports(module: str) -> Iterator[tuple[Import, str]]:
    """Yield the imports of a module that stay in the house, with what is imported."""
    for each in imports(TREES[module]):
        if each.library == ROOF and each.name != f"{ROOF}.__version__":
            yield each, each.name.removeprefix(f"{ROOF}.")


def test_every_room_has_a_place_in_the_order_and_every_place_a_room() -> None:
    assert {room(module) for module in MODULES} == {ROOF, *HOUSE}


def test_the_modules_of_all_levels_are_found() -> None:
    assert {"schemas.qjst", "cli.report", "reading.chunks", "errors", ROOF} <= MODULES.keys()


@every_module
def test_imports_go_down_only(module: str) -> None:
    here = room(module)
    below = HOUSE if here == ROOF else HOUSE[: HOUSE.index(here)]
    allowed = {here, *APART.get(here, below)}
    assert [name for _, name in own_imports(module) if room(name) not in allowed] == []


def reaches_inside(importing: str, imported: str) -> bool:
    """Whether a name is imported from inside a package, of which the importing room is no part."""
    package = room(imported)
    if package not in PACKAGES or package in {importing, imported}:
        return False
    return imported.count(".") > 1 or f"{package}.{imported.split('.')[1]}" in MODULES


@every_module
def test_from_outside_a_package_only_its_face_is_used(module: str) -> None:
    assert [name for _, name in own_imports(module) if reaches_inside(room(module), name)] == []


@pytest.mark.parametrize("folder", ["tools", "benchmarks", "fixtures"])
def test_what_is_beside_the_house_uses_faces_only(folder: str) -> None:
    inside = [
        (path.name, each.name)
        for path in python_files(folder)
        for each in imports(ast.parse(path.read_text(encoding="utf-8")))
        if each.library == ROOF and reaches_inside(folder, each.name.removeprefix(f"{ROOF}."))
    ]
    assert inside == []


@every_package
def test_modules_of_a_package_do_not_import_each_other_in_circles(package: str) -> None:
    inside = {
        module: {
            f"{package}.{name.split('.')[1]}"
            for each, name in own_imports(module)
            if room(name) == package
            and name.count(".") > 1
            and each.at_once
            and not each.types_only
        }
        for module in MODULES
        if room(module) == package and module != package
    }
    assert {*TopologicalSorter(inside).static_order()} >= inside.keys()


def declared_for_types(tree: ast.Module) -> set[str]:
    """Return the names that a face has for the type checker."""
    return {each.name.split(".")[-1] for each in imports(tree) if each.types_only}


@every_package
def test_a_face_shows_the_type_checker_what_it_shows_at_run_time(package: str) -> None:
    shown = import_module(f"{ROOF}.{package}")
    if package not in LINKS:
        assert declared_for_types(TREES[package]) == set(shown.__all__)
        assert sorted(shown.__all__) == dir(shown)
    for name in getattr(shown, "__all__", ()):
        assert getattr(shown, name) is not None


@every_package
def test_no_name_of_a_face_is_hidden_by_a_module_of_the_same_name(package: str) -> None:
    shown = getattr(import_module(f"{ROOF}.{package}"), "__all__", ())
    assert [name for name in shown if f"{package}.{name}" in MODULES] == []


@every_package
def test_a_face_says_what_its_package_is_for(package: str) -> None:
    said = ast.get_docstring(TREES[package])
    assert said is not None
    assert len(said.splitlines()) >= (1 if package in LINKS else 3)


def test_a_face_refuses_what_it_does_not_show() -> None:
    with pytest.raises(AttributeError, match=r"smfparse\.reading.* has no attribute 'nothing'"):
        _ = import_module("smfparse.reading").nothing


def test_nobody_imports_a_private_name_of_another_module() -> None:
    found = [
        (module, name)
        for module in MODULES
        for _, name in own_imports(module)
        if name.split(".")[-1].startswith("_")
    ]
    assert found == []


@every_module
def test_imports_name_the_package_in_full(module: str) -> None:
    assert [each.name for each in imports(TREES[module]) if each.name.startswith(".")] == []


@pytest.mark.parametrize(
    "folder", [ROOF, "schemas", "cli", "tests", "tools", "benchmarks", "fixtures"]
)
def test_nobody_imports_the_folders_schemas_and_cli_by_their_own_names(folder: str) -> None:
    wrong = [
        (path.name, each.name)
        for path in python_files(folder)
        for each in imports(ast.parse(path.read_text(encoding="utf-8")))
        if each.library in LINKS
    ]
    assert wrong == []


@pytest.mark.parametrize("library", ONLY_IN)
def test_a_library_is_imported_only_where_it_belongs(library: str) -> None:
    found = {
        module
        for module, tree in TREES.items()
        if any(each.library == library and not each.types_only for each in imports(tree))
    }
    assert found == ONLY_IN[library]


@pytest.mark.parametrize("module", [each for each in MODULES if room(each) == "schemas"])
def test_schemas_import_the_layout_and_each_other_only(module: str) -> None:
    outside = {each.library for each in imports(TREES[module])} - {ROOF}
    assert {room(name) for _, name in own_imports(module)} <= {"layout", "schemas"}
    assert outside <= {"construct", *sys.stdlib_module_names}


@pytest.mark.parametrize("module", [each for each in MODULES if room(each) == "schemas"])
def test_a_schema_does_not_import_the_registry(module: str) -> None:
    """`from smfparse.schemas import X` is the registry's, `.schemas.qjst import X` a block's."""
    names = [name for _, name in own_imports(module) if room(name) == "schemas"]
    assert [name for name in names if name.count(".") < 2] == []


@pytest.mark.parametrize("module", [each for each in MODULES if room(each) == "cli"])
def test_commands_load_slow_libraries_only_when_they_run(module: str) -> None:
    slow = [
        each.name
        for each in imports(TREES[module])
        if each.library in SLOW and each.at_once and not each.types_only
    ]
    assert slow == []


PRINTING = {"print", "echo", "secho", "echo_via_pager", "warn"}
"""Functions that print; `write` and `writelines` do where they are of a standard stream."""


def prints(tree: ast.AST) -> list[str]:
    """Return what a module prints by, or could: calls, and standard streams that it takes."""
    calls = [
        ast.unparse(node.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and (
            (isinstance(node.func, ast.Name) and node.func.id in PRINTING)
            or (isinstance(node.func, ast.Attribute) and node.func.attr in PRINTING)
        )
    ]
    streams = [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "sys"
        and node.attr in ("stdout", "stderr", "__stdout__", "__stderr__")
    ]
    names = [each.name for each in imports(tree) if each.library in ("logging", "warnings")]
    return [*calls, *streams, *names]


@every_module
def test_only_one_module_prints_and_it_makes_visible_what_it_prints(module: str) -> None:
    found = prints(TREES[module])
    if module == "cli":  # chooses the encoding, and closes a broken pipe
        found = [each for each in found if each not in ("sys.stdout", "sys.stderr")]
    if module == "cli.sql":  # asks whether it is a terminal
        found = [each for each in found if each != "sys.stdout"]
    if module == "cli.progress":  # writes lines that it overwrites
        found = [each for each in found if each != "sys.stderr"]
    if module == "query.results":  # silences a warning of DuckDB's
        found = [each for each in found if each != "warnings"]
    assert found == [] or module == "cli.output"


def test_what_prints_is_noticed() -> None:
    for text in ("print(1)", "click.echo(x)", "sys.stderr.write(x)", "import logging"):
        assert prints(ast.parse(text))
    assert prints(TREES["cli.output"])


def loaded_by(*arguments: str) -> set[str]:
    """Return the modules that are loaded when a command ended."""
    code = (
        "import sys\n"
        "from smfparse.cli import command_line\n"
        "try: command_line()\n"
        "finally: print('loaded:', *sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    assert "leaked" not in done.stderr  # as DuckDB says where objects of it are left
    _, loaded = done.stdout.split("loaded:")
    assert "click" in loaded.split()
    return set(loaded.split())


HEAVY = SLOW | {
    *("construct", "pandas", "pytz"),
    *("pyarrow.compute", "pyarrow.dataset", "pyarrow.parquet"),
}
"""What takes long enough to load to be watched, part by part."""
RARE = {
    *("concurrent.futures", "multiprocessing", "zipfile"),
    *("smfparse.inputs.copying", "smfparse.inputs.parallel", "smfparse.inputs.spilling"),
}
"""What is for several processes and standard input; duckdb and pyarrow.parquet load some of it."""
DECLARED = {"construct", "numpy"}
DECODED = {*DECLARED, "pyarrow"}
QUERIED = {*DECODED, "duckdb"}
LOADED = {
    "--help": set(),
    "--version": set(),
    "report --help": set(),
    "sql --help": set(),
    "report --list": DECODED,
    "report log --explain": DECODED,
    "describe qjst": DECLARED,
    "generate {folder}/a.smf --size 10KB": DECLARED,
    "info {smf}": DECODED,
    "dump {smf} --record 1": DECODED,
    "convert {smf} --to {folder}/a": {*DECODED, "pyarrow.parquet"},
    "convert {smf} --to {folder}/b.duckdb": {*DECODED, "duckdb"},
    "check {smf}": QUERIED,
    "summary {smf}": QUERIED,
    "trend {smf}": QUERIED,
    "dashboard {smf} --output {folder}/a.html": {*QUERIED, "pyarrow.compute"},
    "plot --list": DECODED,
    "plot log-busy {smf}": {*QUERIED, "pyarrow.compute"},
    "capacity --help": set(),
    "capacity log --help": set(),
    "capacity log": DECODED,
    "capacity log {smf}": QUERIED,
    "report log {smf}": {*QUERIED, "pytz"},
    "report log {smf} --format csv": {*QUERIED, "pytz"},
    "sql {smf} 'SELECT count(*) FROM wqst'": QUERIED,
    "sql {smf} 'SELECT count(*) FROM wqst' --format csv": {*QUERIED, "polars"},
}
"""Commands, and which of HEAVY each loads: that is most of the time that it takes to start."""


@pytest.mark.parametrize("arguments", LOADED)
def test_a_command_loads_only_what_it_needs(arguments: str, tmp_path: Path) -> None:
    smf = PROJECT / "fixtures" / "qm60.smf"
    loaded = loaded_by(*shlex.split(arguments.format(smf=smf, folder=tmp_path)))
    assert loaded & HEAVY == LOADED[arguments]
    if not LOADED[arguments] & {"duckdb", "pyarrow.parquet"}:
        assert loaded & RARE == set()


def test_a_report_of_sql_loads_no_rules_and_no_other_format() -> None:
    loaded = loaded_by("report", "log", str(PROJECT / "fixtures" / "qm60.smf"))
    rooms = {each for each in loaded if each.startswith("smfparse.advice.")}
    assert rooms == {"smfparse.advice.answering"}
    assert loaded.isdisjoint({"smfparse.reports.parts", "smfparse.reports.drawing"})


def test_decoding_in_python_loads_no_library_but_those_that_it_needs() -> None:
    code = (
        "import sys\n"
        "from smfparse.inputs import ReadOptions, open_inputs\n"
        "from smfparse.tables import table_names, wanted_tables\n"
        "opened = open_inputs(sys.argv[1:], ReadOptions(jobs=1))\n"
        "print(sum(batch.num_rows for _, batch in opened.batches(wanted_tables(table_names()))))\n"
        "print(*sys.modules)\n"
    )
    smf = str(PROJECT / "fixtures" / "qm60.smf")
    done = subprocess.run(
        [sys.executable, "-c", code, smf], capture_output=True, text=True, check=True
    )
    rows, loaded = done.stdout.splitlines()
    assert int(rows) > 0
    assert set(loaded.split()) & (HEAVY | RARE) == DECODED
    assert set(loaded.split()).isdisjoint({"json", "tomllib", "smfparse.store.manifest"})


def test_a_command_loads_no_other_command() -> None:
    found = {each for each in loaded_by("describe", "qjst") if each.startswith("smfparse.cli.")}
    assert found == {
        f"smfparse.cli.{name}"
        for name in ("describe", "options", "output", "paths", "progress", "wording", "words")
    }


def own_lines(node: ast.stmt) -> int:
    """Return how many lines of a function hold code: its docstring and empty lines do not."""
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    lines = {line for each in body for line in range(each.lineno, (each.end_lineno or 0) + 1)}
    return 1 + len(lines)


@every_module
def test_no_room_and_nothing_in_it_is_too_long_to_read(module: str) -> None:
    kinds = {ast.FunctionDef: "function", ast.AsyncFunctionDef: "function", ast.ClassDef: "class"}
    found = [(module, "module", len(MODULES[module].read_text(encoding="utf-8").splitlines()))]
    found += [
        (node.name, kinds[type(node)], (node.end_lineno or 0) - node.lineno + 1)
        for node in ast.walk(TREES[module])
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    assert [(name, size) for name, kind, size in found if size > MOST_LINES[kind]] == []


def test_most_functions_are_short() -> None:
    sizes = [
        own_lines(node)
        for tree in TREES.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert statistics.median(sizes) <= MOST_LINES["median function"]


SETTINGS = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]


def test_every_package_is_packed_into_the_wheel() -> None:
    packed = set(SETTINGS["setuptools"]["packages"])
    assert packed == {ROOF, *(f"{ROOF}.{each}" for each in PACKAGES)}


def test_every_file_that_is_read_at_run_time_is_packed_into_the_wheel() -> None:
    data = SETTINGS["setuptools"]["package-data"]
    left_out = [
        path.relative_to(PROJECT).as_posix()
        for package in PACKAGES
        if package not in LINKS
        for path in (PROJECT / ROOF / package).rglob("*")
        if path.suffix in {".sql", ".toml"}
        and not any(
            fnmatch.fnmatch(path.relative_to(PROJECT / ROOF / package).as_posix(), pattern)
            for pattern in data.get(f"{ROOF}.{package}", ())
        )
    ]
    assert left_out == []
