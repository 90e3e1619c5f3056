"""Declarations in TOML: a wrong one is refused with its file, its key and the way out."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smfparse import summarizing
from smfparse.declarations import declared_keys
from smfparse.errors import RequestError
from smfparse.reports import declaration
from smfparse.reports.declaration import Figure, Report, TextTable, is_report, load, report
from smfparse.reports.listing import reports_listed
from smfparse.summarizing.compare_figures import load_measures

DEFINITIONS = Path(declaration.__file__).parent / "definitions"
MEASURES = Path(summarizing.__file__).parent / "definitions"
Wrong = tuple[str, str, str]
"""A text of a declaration, what stands there instead, and the key and message that follow."""


def check_refused(file: Path, text: str, wrong: Wrong, read: Callable[[], Any]) -> None:
    """Fail unless a changed declaration is refused with its file, its key and the way out."""
    old, new, said = wrong
    assert old in text, wrong
    file.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(RequestError) as caught:
        read()
    assert str(caught.value).startswith(f"{file}: {said}"), wrong
    assert ";" in str(caught.value)


WRONG_REPORTS: dict[str, list[Wrong]] = {
    "buff": [
        ("title = ", "#title = ", "title: missing; add the key"),
        ("record = ", "like = 'bufff'\nrecord = ", "like: unknown report 'bufff'; did you mean"),
        ("record = ", "like = 7\nrecord = ", "like: expected the name of a report, found 7"),
        ("[figures]", "[choices]", "figures: missing"),
        ("title =", "titles =", "titles: unknown key 'titles'; did you mean title"),
        ("title =", "title = 7 #", "title: expected a string, found 7"),
        ("record = ", "tables = 7\nrecord = ", "tables: expected a list of strings"),
        ("record = ", "header = 'no'\nrecord = ", "header: expected true or false"),
        ("record = ", "section = 'hour'\nrecord = ", "section: unknown section 'hour'"),
        ("record = ", "tables = ['qpts']\nrecord = ", "tables: unknown table 'qpts'; did you mean"),
        ('subject = "pool"', 'subject = "pol"', "subject: unknown subject 'pol'"),
        ('ranked = "used', 'ranked = "location" # ', "ranked: unknown figure that is a number"),
        ("{ MVS =", "{ MVS = 7, X =", "csv_keys.MVS: expected a string"),
        ('{ MVS = "system"', '{ MVS = "sys"', "csv_keys.MVS: unknown key of a section 'sys'"),
        ("csv_keys = {", "csv_keys = 7 # {", "csv_keys: expected a table of strings"),
        ("text =", "text = 7\ntop =", "text.: expected a string, found 7"),
        ("text =", "top =", "text: missing; add text or blocks"),
        ('qpststl = "STL"', "qpststl = 7", "figures.qpststl: expected a string or a table"),
        ("qpststl =", "qpststx =", "figures.qpststx: unknown measure or field of qpst"),
        ("qpststl =", "qmgr =", "figures.qmgr: "),
        ('csv = "DMC"', "csv = 7", "figures.qpstdmc.csv: expected a string"),
        ('csv = "DMC"', 'cvs = "DMC"', "figures.qpstdmc.cvs: unknown key 'cvs'; did you mean csv"),
        ('csv = "DMC", ', "", "figures.qpstdmc.csv: missing"),
        ('"tenths"', '"tenth"', "figures.pages_per_write.style: unknown style 'tenth'"),
        ('"published"', '"guessed"', "figures.low_percent.evidence: unknown evidence 'guessed'"),
        *(
            ("{qpststl:>9}", part, "text: ")
            for part in ("{nowhere}", "{nowhere:>8}", "{system:>x}", "{", "}", "{}", "{0}")
        ),
        ("> {qpstpool", "{?nowhere}> {qpstpool", "text: unknown figure 'nowhere'"),
        ('text = """', 'text = """\n{?sos..x}{label} {value}', "text: unknown figure 'sos'"),
        ('qpststl = "STL"', '"openn..x" = "task"', "figures.openn..x: unknown figure 'x'"),
        (
            'qpststl = "STL"',
            '"openn..closen" = "tusk"',
            "figures.openn..closen: unknown report 'tusk'",
        ),
        ('qpststl = "STL"', '"{verb}n" = "N"', "figures.{verb}n: unknown name of `each` 'verb'"),
    ],
    "streaming": [
        ("tables = ", "#tables = ", "tables: missing; add the key"),
        ('main = ["wtas"', 'main = ["wtsa"', "main: unknown table of `tables` 'wtsa'"),
        ("stream = []", "steam = []", "options.steam: unknown option 'steam'"),
        ("stream = []", "top = -1", "options: top=-1"),
        ("options = {", "choices = {", "choices.stream: unknown option of `options` 'stream'"),
        ("options = {", "required = ['by']\noptions = {", "required: unknown option of `options`"),
        ("options = {", "findings = ['x']\noptions = {", "findings: unknown figure 'x'"),
        ("options = {", "csv_lines = ['x']\noptions = {", "csv_lines: unknown kind of line 'x'"),
        ("options = {", "text_only = ['x']\noptions = {", "text_only: unknown kind of line 'x'"),
        ("[blocks.queue]", "[grouped]\nwtax = []\n[blocks.queue]", "grouped: unknown table"),
        ("[blocks.queue]", "[grouped]\nwtas = ['x']\n[blocks.queue]", "grouped.wtas: unknown col"),
        ("[blocks.cost]\ntitle =", "[blocks.cost]\ntitel =", "blocks.cost.titel: unknown key"),
        ("[blocks.cost]\ntitle =", "[blocks.cost]\n#", "blocks.cost.title: missing"),
        ('["note", "", "<8"]', '["note"]', "blocks.queue.columns: expected a list of 3"),
        ('"kind", "puts"', '"kind", "putz"', "blocks.queue.columns: unknown figure 'putz'"),
        ('"", "<8"', '"", "<x"', "blocks.queue.columns: format '<x'"),
        ("[planned.plan]", "[planned.plans]", "planned: unknown kind of line 'plans'"),
        ('planner = "streaming"', 'planner = "steaming"', "planned.plan.planner: unknown planner"),
    ],
}


@pytest.mark.parametrize("name", WRONG_REPORTS)
def test_a_wrong_declaration_is_refused_with_its_file_and_key(name: str, tmp_path: Path) -> None:
    text, file = (DEFINITIONS / f"{name}.toml").read_text("utf-8"), tmp_path / f"{name}.toml"
    for sql in DEFINITIONS.glob(f"{name}.sql"):
        shutil.copy(sql, tmp_path)
    for wrong in WRONG_REPORTS[name]:
        check_refused(file, text, wrong, lambda: load(name, tmp_path))
    file.write_text(text, "utf-8")
    assert load(name, tmp_path).figures == report(name).figures


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    file, sql = tmp_path / "qsum.toml", tmp_path / "qsum.sql"
    for text, said in (("title = ", "invalid TOML"), ("\xff", "invalid TOML"), ("", "title: miss")):
        file.write_bytes(text.encode("latin-1"))
        with pytest.raises(RequestError, match=said) as caught:
            load("qsum", tmp_path)
        assert str(file) in str(caught.value)
    for missing in (sql, file):
        shutil.copy(DEFINITIONS / "qsum.toml", tmp_path)
        shutil.copy(DEFINITIONS / "qsum.sql", tmp_path)
        missing.unlink()
        with pytest.raises(RequestError, match=missing.name):
            load("qsum", tmp_path)


def test_sql_that_names_no_measure_is_refused_with_the_near_one(tmp_path: Path) -> None:
    shutil.copy(DEFINITIONS / "class1.toml", tmp_path)
    sql = (DEFINITIONS / "class1.sql").read_text("utf-8")
    for right, wrong, near in (
        ("connection.puts", "connection.putts", "puts"),
        ("connection.puts", "conection.puts", "connection"),
        ("measures_of_connection_use", "measures_of_conection", "connection"),
        ("measures_of_connection_use", "figures_of_qwca", "qwac"),
    ):
        (tmp_path / "class1.sql").write_text(sql.replace(right, wrong), "utf-8")
        with pytest.raises(RequestError, match=f"class1.sql.*did you mean {near}"):
            load("class1", tmp_path)


def test_a_wrong_declaration_breaks_neither_the_list_nor_other_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("lock", "log"):
        shutil.copy(DEFINITIONS / f"{name}.toml", tmp_path)
    (tmp_path / "aaa.toml").write_text("title = 7", "utf-8")
    monkeypatch.setattr(declaration, "_FOLDER", tmp_path)
    declaration.report.cache_clear()
    declaration.report_names.cache_clear()
    try:
        listed = {each.name: each.title for each in reports_listed()}
        assert listed.keys() == {"aaa", "lock", "log"}
        assert "aaa.toml: title: expected a string" in listed["aaa"]
        assert report("LOGCSV").name == "log"
        assert is_report("LOCK")
        with pytest.raises(RequestError, match=r"aaa\.toml: title"):
            report("aaa")
        with pytest.raises(RequestError, match="unknown report 'lag'; did you mean log"):
            report("lag")
    finally:
        declaration.report.cache_clear()
        monkeypatch.undo()
        declaration.report_names.cache_clear()


WRONG_MEASURES = [
    ("[calls.cpu_per_second]", "[call.cpu_per_second]", "unknown kind 'call'"),
    ('amount = "cpu"', 'amount = "cqu"', "calls.cpu_per_second.amount"),
    ('per = "cpu_of"', 'per = "minutes"', "calls.cpu_per_call.per"),
    ('unit = "us per second"', "unit = 7", "calls.cpu_per_second.unit"),
    ('unit = "us per second"', 'units = "us"', "calls.cpu_per_second.units"),
    ("[calls.cpu_per_second]", "[calls.cpu_a_second]", "unknown figure 'cpu_per_second'"),
    ("[calls.cpu_per_second]", "[calls.cpu_per_second", "invalid TOML"),
]


def test_a_wrong_measure_is_refused_with_its_key(tmp_path: Path) -> None:
    file = tmp_path / "compare.toml"
    text = (MEASURES / file.name).read_text("utf-8")
    for wrong in WRONG_MEASURES:
        check_refused(file, text, wrong, lambda: load_measures(tmp_path))


def test_every_key_has_a_meaning_that_the_guide_can_show() -> None:
    for cls in (Report, Figure, TextTable):
        for each in declared_keys(cls):
            assert each.key.meaning
            assert each.type
