"""The house stands as it is drawn: imports go down only, and slow libraries stay where they are."""

from __future__ import annotations

import ast
import fnmatch
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent

ROOMS = (
    "errors",
    "fields",
    "layout",
    "schemas",
    "columns",
    "views",
    "arrays",
    "headers",
    "packing",
    "walks",
    "detection",
    "framing",
    "inputs",
    "criteria",
    "names",
    "selection",
    "records",
    "tasks",
    "keys",
    "matching",
    "buffers",
    "duplicates",
    "decode",
    "interrupts",
    "ranges",
    "manifest",
    "parquet",
    "tables",
    "lazy",
    "ddl",
    "dataset",
    "inventory",
    "forms",
    "frames",
    "outputs",
    "projection",
    "hints",
    "scans",
    "catalog",
    "console",
    "sections",
    "options",
    "reports",
    "printing",
    "listing",
    "significance",
    "comparison",
    "contrast",
    "library",
    "dump",
    "synthesis",
    "workload",
    "identity",
    "accounting",
    "statistics",
    "envelope",
    "intervals",
    "generate",
    "cli",
)
"""Every room of the house; one may import only those before it."""
PACKAGES = ("schemas", "cli")
"""Rooms of several modules, which may import each other."""
ROOF = "smfparse"
"""The package itself: its public names are looked up when asked for; its version is for all."""
TYPES_ONLY = {
    ("smfparse", "errors"),
    ("smfparse", "framing"),
    ("smfparse", "library"),
    ("smfparse", "selection"),
    ("smfparse", "tables"),
    ("listing", "catalog"),
    ("comparison", "tables"),
    ("reports", "catalog"),
    ("cli.compare", "comparison"),
    ("cli.compare", "tables"),
    ("cli.convert", "tables"),
    ("cli.describe", "columns"),
    ("cli.describe", "layout"),
    ("cli.info", "errors"),
    ("cli.info", "inventory"),
    ("cli.info", "tables"),
    ("cli.options", "selection"),
    ("cli.options", "tables"),
    ("cli.output", "tables"),
    ("cli.report", "reports"),
    ("cli.report", "sections"),
    ("cli.report", "tables"),
    ("cli.sql", "catalog"),
    ("cli.sql", "tables"),
}
"""(module, room): imports for the type checker, which are not there at run time."""
SLOW = {"duckdb", "numpy", "polars", "prompt_toolkit", "pyarrow"}
"""Libraries that take long to load."""


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
    """Return `fields`, `schemas.qjst`, `cli` or, for the package itself, `smfparse`."""
    parts = path.relative_to(PROJECT).with_suffix("").parts
    parts = parts[1:] if parts[0] == "smfparse" else parts
    return ".".join(part for part in parts if part != "__init__") or ROOF


MODULES = {
    module_name(path): path
    for folder in ("smfparse", *PACKAGES)
    for path in sorted((PROJECT / folder).glob("*.py"))
}
every_module = pytest.mark.parametrize("module", MODULES)


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def imports_below(node: ast.AST, types_only: bool, at_once: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(each.name, types_only, at_once) for each in child.names)
        elif isinstance(child, ast.ImportFrom):
            start = "." * child.level + (child.module or "")
            yield from (Import(f"{start}.{each.name}", types_only, at_once) for each in child.names)
        elif is_type_checking(child):
            yield from imports_below(child, True, at_once)
        else:
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from imports_below(child, types_only, at_once and not inside)


def imports(path: Path) -> list[Import]:
    return list(imports_below(ast.parse(path.read_text(encoding="utf-8")), False, True))


def room(module: str) -> str:
    return module.split(".")[0]


def own_imports(module: str) -> Iterator[tuple[Import, str]]:
    """Yield the imports of a module that stay in the house, with what is imported."""
    for each in imports(MODULES[module]):
        if each.library == ROOF and each.name != f"{ROOF}.__version__":
            yield each, each.name.removeprefix(f"{ROOF}.")


def test_every_module_has_a_place_in_the_order_and_every_place_a_module() -> None:
    assert {room(module) for module in MODULES} == {ROOF, *ROOMS}


def test_the_modules_of_a_package_are_found() -> None:
    assert {"schemas", "schemas.qjst", "cli", "cli.report", "fields", ROOF} <= MODULES.keys()


@every_module
def test_imports_go_down_only(module: str) -> None:
    here = room(module)
    below = ROOMS if here == ROOF else ROOMS[: ROOMS.index(here)]
    allowed = {*below, here} if here in PACKAGES else set(below)
    up = [
        name
        for each, name in own_imports(module)
        if not each.types_only and room(name) not in allowed
    ]
    assert up == []


def test_imports_for_the_type_checker_are_those_listed() -> None:
    found = {
        (module, room(name))
        for module in MODULES
        for each, name in own_imports(module)
        if each.types_only
    }
    assert found == TYPES_ONLY


@every_module
def test_imports_name_the_package_in_full(module: str) -> None:
    relative = [each.name for each in imports(MODULES[module]) if each.name.startswith(".")]
    assert relative == []


@pytest.mark.parametrize(
    "folder", ["smfparse", "schemas", "cli", "tests", "tools", "benchmarks", "fixtures"]
)
def test_nobody_imports_the_folders_schemas_and_cli_by_their_own_names(folder: str) -> None:
    wrong = [
        (path.name, each.name)
        for path in sorted((PROJECT / folder).glob("*.py"))
        for each in imports(path)
        if each.library in PACKAGES
    ]
    assert wrong == []


def test_only_the_catalog_imports_duckdb() -> None:
    found = {
        module
        for module, path in MODULES.items()
        if any(each.library == "duckdb" for each in imports(path))
    }
    assert found == {"catalog"}


@pytest.mark.parametrize("module", [each for each in MODULES if room(each) == "schemas"])
def test_schemas_import_fields_layout_and_each_other_only(module: str) -> None:
    inside = {room(name) for _, name in own_imports(module)}
    assert inside <= {"fields", "layout", "schemas"}
    outside = {each.library for each in imports(MODULES[module])} - {ROOF}
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
        for each in imports(MODULES[module])
        if each.library in SLOW and each.at_once and not each.types_only
    ]
    assert slow == []


@pytest.mark.parametrize("arguments", ["--help", "--version", "report --help", "sql --help"])
def test_help_loads_no_slow_library(arguments: str) -> None:
    code = (
        "import sys\n"
        "from smfparse.cli import main\n"
        "main(sys.argv[1:], standalone_mode=False)\n"
        "print('loaded:', *sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments.split()],
        capture_output=True,
        text=True,
        check=True,
    )
    shown, loaded = done.stdout.split("loaded:")
    assert shown.strip()
    assert "click" in loaded.split()
    assert SLOW & set(loaded.split()) == set()


def test_every_file_that_reports_are_read_from_is_packed_into_the_wheel() -> None:
    settings = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["setuptools"]["package-data"]["smfparse"]
    package = PROJECT / "smfparse"
    files = [
        path.relative_to(package).as_posix()
        for path in (package / "sql").rglob("*")
        if path.is_file()
    ]
    left_out = [file for file in files if not any(fnmatch.fnmatch(file, each) for each in patterns)]
    assert files
    assert left_out == []
