"""Declarations in TOML: a wrong one is refused with its file, its key and the way out."""

from __future__ import annotations

import copy
import shutil
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse import comparing, reports
from smfparse.comparing import load_measures
from smfparse.declarations import declared_keys
from smfparse.errors import RequestError
from smfparse.reports import Figure, Report, TextTable, declaration
from smfparse.reports.declaration import load
from tests.support.searching import search

DEFINITIONS = Path(declaration.__file__).parent / "definitions"
MEASURES = Path(comparing.__file__).parent / "measures.toml"
SPECS = {each.stem: tomllib.loads(each.read_text("utf-8")) for each in DEFINITIONS.glob("*.toml")}
WRONG = {str: 7, bool: "yes", int: "7", float: "7", list: "a text", dict: ["a list"]}
"""For each type of TOML a value that is not of it."""


def written(value: Any) -> str:
    """Return a value as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{written(k)} = {written(v)}' for k, v in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    return repr(value)


def declare(folder: Path, spec: Any, name: str = "report") -> Path:
    """Write a declaration, with its SQL; return its file."""
    file = folder / f"{name}.toml"
    text = [f"{written(key)} = {written(value)}" for key, value in spec.items()]
    file.write_text("\n".join(text), "utf-8")
    (folder / f"{name}.sql").write_text("SELECT 1", "utf-8")
    return file


def places(spec: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value in a declaration, tables and lists too."""
    for key, value in spec.items() if isinstance(spec, dict) else enumerate(spec):
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


def at(spec: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        spec = spec[key]
    return spec


def keyed(path: tuple[Any, ...]) -> str:
    """Return the key of a path as messages have it: elements of lists are not counted."""
    return ".".join(str(each) for each in path if isinstance(each, str))


Draw = Callable[..., Any]


def drop(spec: Any, draw: Draw) -> str:
    """Leave out a key that is required."""
    required = [(each.name,) for each in declared_keys(Report) if each.required]
    for name, figure in spec["figures"].items():
        if isinstance(figure, dict):
            keys = ["csv", *(["style"] if "formula" in figure else [])]
            required += [("figures", name, key) for key in keys]
    lines = spec.get("blocks", {})
    required += [("blocks", line, key) for line in lines for key in ("title", "columns")]
    path = draw(st.sampled_from(required))
    del at(spec, path[:-1])[path[-1]]
    return keyed(path)


def mistype(spec: Any, draw: Draw) -> str:
    """Give a key a value of another type."""
    path = draw(st.sampled_from([each for each in places(spec) if each[0] != "options"]))
    wrong = WRONG[type(at(spec, path))]
    if path == ("text",) or (path[0] == "figures" and len(path) == 2):
        wrong = 7
    at(spec, path[:-1])[path[-1]] = wrong
    return keyed(path)


def names(path: tuple[Any, ...]) -> bool:
    """Whether a value has to be a name that is known."""
    match path[0]:
        case "figures":
            return path[-1] in ("style", "evidence")
        case "blocks":
            return len(path) == 5 and path[-1] == 0
        case top:
            return top in (
                "tables",
                "main",
                "text_only",
                "csv_lines",
                "csv_keys",
                "grouped",
                "section",
            )


def misname(spec: Any, draw: Draw) -> str:
    """Use a name that is nowhere."""
    found = [path for path in places(spec) if names(path) and isinstance(at(spec, path), str)]
    path = draw(st.sampled_from(found))
    at(spec, path[:-1])[path[-1]] = "nowhere"
    return keyed(path)


def misspell(spec: Any, draw: Draw) -> str:
    """Call a key otherwise, or add one."""
    figures = spec["figures"].items()
    tables: list[tuple[Any, ...]] = [()]
    tables += [
        ("figures", name) for name, each in figures if isinstance(each, dict) and "csv" in each
    ]
    tables += [("blocks", line) for line in spec.get("blocks", {})]
    path = draw(st.sampled_from(tables))
    table = at(spec, path)
    name = draw(st.sampled_from([*table, "title"])) + draw(st.sampled_from(["s", "x", "_"]))
    table[name] = "a text"
    return keyed((*path, name))


WRONG_PARTS = ("{nowhere}", "{nowhere:>8}", "{?nowhere}x", "{system:>x}", "{", "}", "{}", "{0}")


def misuse(spec: Any, draw: Draw) -> str:
    """Have a template show what is no figure, or in a format that is none."""
    spec["text"] = {"a": "fine", "b": f"fine\n{draw(st.sampled_from(WRONG_PARTS))}\n"}
    for key in ("text_only", "csv_lines"):
        spec.pop(key, None)
    return "text.b"


@search(80)
@given(data=st.data())
def test_a_wrong_declaration_is_refused_with_its_file_and_key(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(SPECS)))
    spec = copy.deepcopy(SPECS[name])
    fault = data.draw(st.sampled_from([drop, mistype, misname, misspell, misuse]))
    key = fault(spec, data.draw)
    folder = tmp_path_factory.mktemp("wrong")
    file = declare(folder, spec)
    with pytest.raises(RequestError) as caught:
        load("report", folder)
    message = str(caught.value)
    assert message.startswith(f"{file}: {key}"), (fault, message)
    assert ";" in message
    shutil.rmtree(folder)


def test_every_declaration_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    for name, spec in SPECS.items():
        declare(tmp_path, spec)
        assert load("report", tmp_path).figures == reports.report(name).figures


def test_near_names_are_offered_and_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    file = declare(tmp_path, SPECS["qsum"] | {"tables": ["qlsd"]})
    with pytest.raises(RequestError, match=r"tables: unknown table 'qlsd'; did you mean .*qlst"):
        load("report", tmp_path)
    for text, said in {
        "title = ": "invalid TOML",
        "title = 'a'\ntitle = 'b'": "invalid TOML",
        "\xff": "invalid TOML",
        "": "title: missing",
    }.items():
        file.write_bytes(text.encode("latin-1"))
        with pytest.raises(RequestError, match=said) as caught:
            load("report", tmp_path)
        assert str(file) in str(caught.value)
    for missing in ("report.toml", "report.sql"):
        declare(tmp_path, SPECS["qsum"])
        (tmp_path / missing).unlink()
        with pytest.raises(RequestError, match=missing):
            load("report", tmp_path)


def test_a_wrong_declaration_breaks_neither_the_list_nor_other_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("lock", "log"):
        shutil.copy(DEFINITIONS / f"{name}.toml", tmp_path)
    declare(tmp_path, {"title": 7}, "aaa")
    monkeypatch.setattr(declaration, "_FOLDER", tmp_path)
    declaration.report.cache_clear()
    declaration.report_names.cache_clear()
    try:
        listed = {each.name: each.title for each in reports.reports_listed()}
        assert listed.keys() == {"aaa", "lock", "log"}
        assert "aaa.toml: title: expected a string" in listed["aaa"]
        assert reports.report("LOGCSV").name == "log"
        assert reports.is_report("LOCK")
        with pytest.raises(RequestError, match=r"aaa\.toml: title"):
            reports.report("aaa")
        with pytest.raises(RequestError, match="unknown report 'lag'; did you mean log"):
            reports.report("lag")
    finally:
        declaration.report.cache_clear()
        monkeypatch.undo()
        declaration.report_names.cache_clear()


WRONG_MEASURES = [
    ("[calls.cpu_per_second]", "[call.cpu_per_second]", "unknown kind 'call'"),
    ('amount = "cpu"', 'amount = "cqu"', "calls.cpu_per_second.amount"),
    ('per = "cpu_of"', 'per = "minutes"', "calls.cpu_per_call.per"),
    ('unit = "us a second"', "unit = 7", "calls.cpu_per_second.unit"),
    ('unit = "us a second"', 'units = "us"', "calls.cpu_per_second.units"),
    ("[calls.cpu_per_second]", "[calls.cpu_a_second]", "unknown figure 'cpu_per_second'"),
    ("[calls.cpu_per_second]", "[calls.cpu_per_second", "invalid TOML"),
]


def test_a_wrong_measure_is_refused_with_its_key(tmp_path: Path) -> None:
    text, file = MEASURES.read_text("utf-8"), tmp_path / "measures.toml"
    for old, new, key in WRONG_MEASURES:
        assert old in text
        file.write_text(text.replace(old, new, 1), "utf-8")
        with pytest.raises(RequestError) as caught:
            load_measures(tmp_path)
        assert str(caught.value).startswith(f"{file}: {key}")


def test_every_key_has_a_meaning_that_the_guide_can_show() -> None:
    for cls in (Report, Figure, TextTable):
        for each in declared_keys(cls):
            assert each.key.meaning
            assert each.type
