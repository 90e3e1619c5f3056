"""How inputs are read: one object, which has every option once."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import smfparse
from smfparse.errors import RequestError
from smfparse.inputs import Options, ReadOptions, read_options
from tests.support.paths import SMF


def test_what_can_be_given_by_name_has_the_types_of_the_options() -> None:
    """But the selection, which `smfparse.open` takes by itself."""
    types = get_type_hints(ReadOptions)
    assert get_type_hints(Options) == {
        each.name: types[each.name] for each in fields(ReadOptions) if each.name != "selection"
    }


def test_options_are_taken_out_of_those_of_a_command() -> None:
    given: dict[str, Any] = {"qmgr": ("QM01",), "types": ("115",), "jobs": 2, "top": 10}
    assert read_options(given) == ReadOptions(
        smfparse.Selection.of(qmgr="QM01", type="115"), jobs=2
    )
    assert given == {"top": 10}


def test_an_option_that_is_not_there_is_refused(tmp_path: Path) -> None:
    wrong: dict[str, Any] = {"shards": 2}
    with pytest.raises(TypeError, match="shards"):
        smfparse.open(SMF, **wrong)
    with pytest.raises(RequestError, match="jobs=0"):
        smfparse.open(tmp_path / "none.smf", jobs=0)
