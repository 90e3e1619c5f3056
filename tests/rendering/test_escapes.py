r"""Whatever a text holds, no form of output has a raw control character: it is shown as `\x1b`."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import unicodedata
from collections.abc import Iterator

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smfparse.rendering.csv import of_frame
from smfparse.rendering.document import Column, Document, Facts, Section, Table
from smfparse.rendering.figures import HIDDEN, visible, visible_lines
from smfparse.rendering.formats import FORMATS, lines
from smfparse.rendering.json import json_lines
from smfparse.rendering.rows import RowsDocument
from tests.support.hostile import CLIPBOARD, HARM, HARMFUL, LINK, raw
from tests.support.searching import search

FORMULA = re.compile(r"\s*[=+\-@＝＋－＠](?![0-9.:]*(e[+-]?[0-9]+)?$)")  # noqa: RUF001


class Hostile(Document):
    """A result with one text everywhere: title, heading, note, caption, column, cell, name."""

    def __init__(self, text: str) -> None:
        self.title = text

    def sections(self) -> Iterator[Section]:
        text = self.title
        yield Section(text, [Table([Column(text), Column("n")], [(text, "1")], text)], [text])

    def facts(self) -> Iterator[Facts]:
        yield Facts({"a": self.title, self.title: 1}, [{"b": self.title}])
        yield Facts({"a": self.title}, indent=2)


def written(document: Document, form: str) -> str:
    return "".join(f"{line}\n" for line in lines(document, form))


def rows_of(*texts: str) -> pa.Table:
    names = [f"{text}{number}".replace("\0", "") for number, text in enumerate(texts)]  # as of SQL
    return pa.table([pa.array([text, None, "plain"]) for text in texts], names=names)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é \u00a0 漢", "plain é \u00a0 漢"),
        ("\x1b", r"\x1b"),
        ("\0\n\r\t\x7f\x9b\xad", r"\x00\x0a\x0d\x09\x7f\x9b\xad"),
        ("\u202e\u2028\ufeff", r"\u202e\u2028\ufeff"),
        ("\U000e0041", r"\U000e0041"),
        ("\udcff\ud800", r"\xff\ud800"),
        (r"\x1b", r"\x1b"),
        (LINK, r"\x1b]8;;http://evil.example\x1b\click\x1b]8;;\x1b" + "\\"),
        (CLIPBOARD, r"\x1b]52;c;cm0gLXJmIH4=\x07"),
    ],
)
def test_a_character_that_is_not_seen_is_shown_by_its_number(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(shown) == shown


def test_every_control_and_format_character_of_unicode_is_meant_and_letters_stay() -> None:
    pattern = re.compile(HIDDEN)
    kind, every = unicodedata.category, map(chr, range(sys.maxunicode + 1))
    found = {each for each in every if kind(each) in ("Cc", "Cf", "Zl", "Zp")}
    assert {each for each in found if not pattern.fullmatch(each)} == set()
    assert all(visible(each) != each for each in found)
    letters = [each for each in map(chr, range(0x2000)) if kind(each)[0] in "LNPSM"]
    changed = "".join(each for each in letters if visible(each) != each)
    assert changed == "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f"


def test_lines_of_a_message_stay_and_tabs_become_blanks() -> None:
    assert visible_lines("a\n\tb\x1b\rc") == "a\n    b\\x1b\\x0dc"


def test_no_form_has_a_raw_control_character_whatever_a_text_holds() -> None:
    @search(20)
    @given(HARMFUL, HARMFUL)
    def check(text: str, other: str) -> None:
        for form in FORMATS:
            assert raw(written(Hostile(text + other), form)) == []
            assert raw(written(RowsDocument([(text, [rows_of(text, other)])]), form)) == []

    for text in HARM:
        check = example(text, text)(check)
    check()


def test_forms_for_people_and_spreadsheets_show_the_number() -> None:
    for text, shown in (("q\x1b[31m", r"q\x1b[31m"), ("\u202e", r"\u202e")):
        for form in ("text", "csv", "md", "html"):
            for document in (Hostile(text), RowsDocument([("", [rows_of(text)])])):
                assert shown in written(document, form).replace("\\\\", "\\").replace("\\[", "[")


def test_json_has_the_values_and_shows_the_number() -> None:
    for text in ("\x1b", "\x7f", "\x85", "\u202e", "\u2028", "\U000e0041", "é"):
        rows = json_lines(pl.DataFrame({f"{text}0": [text]})).splitlines()
        document = RowsDocument([("", [rows_of(text)])])
        for found in (written(document, "json"), f"[{','.join(rows)}]"):
            assert json.loads(found)[0] == {f"{text}0": text}
            units = text.encode("utf-16-be").hex()
            number = "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
            assert (number in found) == (text != "é")


def test_a_text_is_shown_in_the_same_width_as_it_is_aligned() -> None:
    rows = [["a\x1b", "1"], ["abcdef", "2"]]
    document = Hostile("")
    document.sections = lambda: iter([Section("", [Table([Column("t"), Column("n")], rows)])])  # type: ignore[method-assign]
    assert written(document, "text").splitlines() == ["t       n", r"a\x1b   1", "abcdef  2"]


@search(30)
@given(
    st.lists(HARMFUL, min_size=1, max_size=4),
    st.sampled_from(["", "\t", "\r", "\n", " ", "  ", "\0", "\ufeff"]),
)
def test_a_row_of_csv_is_one_line_and_no_cell_or_heading_a_formula(texts: list[str], before: str):
    frame = pl.DataFrame({"a": texts, "b": texts[::-1]})
    found = of_frame(frame)
    assert len(found.split("\n")) == len(texts) + 2
    _, *rows = csv.reader(io.StringIO(found, newline=""))
    plain = [[cell.removeprefix("'") for cell in row] for row in rows]
    expected = [[visible(text).removeprefix("'") for text in row] for row in frame.rows()]
    assert plain == expected
    for start in "=+-@＝＋－＠":  # noqa: RUF001
        cell = f"{before}{start}{texts[0]}"
        frame = pl.DataFrame({cell: [cell]})
        for found in (of_frame(frame), written(Hostile(cell), "csv")):
            for row in csv.reader(io.StringIO(found, newline="")):
                assert [each for each in row if FORMULA.match(each)] == []


def test_columns_that_look_the_same_are_both_shown() -> None:
    rows = pa.table([["1"], ["2"]], names=["a\x1b", r"a\x1b"])
    assert written(RowsDocument([("", [rows])]), "text").splitlines()[0] == r"| a\x1b | a\x1b' |"
    assert written(RowsDocument([("", [rows])]), "csv").splitlines() == [r"a\x1b,a\x1b", "1,2"]
