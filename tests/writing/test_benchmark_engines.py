"""The benchmark of engines and places compares all tables, row for row."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

import smfparse

_BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
_WAYS = ["S3, gzip"]
"""Other ways have tests of their own, which cost less."""


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(_BENCHMARKS))
    spec = importlib.util.spec_from_file_location("engines", _BENCHMARKS / "engines.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "engines", module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_every_way_gives_the_tables_of_one_process(
    engines: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_ENDPOINT_URL"):
        monkeypatch.setenv(name, "")  # what the benchmark sets goes with the test
    ways = [engines.ONE, *filter(engines.installed, _WAYS)]
    assert engines.run(2_000_000, ways) == {way: [] for way in ways}


def test_the_input_has_what_makes_it_hard_and_a_difference_is_named(
    engines: ModuleType, tmp_path: Path
) -> None:
    dump = engines.made(tmp_path, 1_000_000)
    one = smfparse.convert(dump, tmp_path / "one")
    data = smfparse.open(dump)
    records = data.arrow("record", ["system", "type", "subtype"])
    assert set(records["system"].to_pylist()) == {"SYS1", "SYS2"}
    kinds = {(each["type"], each["subtype"]) for each in records.to_pylist()}
    assert (116, 2) in kinds
    assert data.inputs.duplicates > 10
    assert one.damage
    smfparse.convert(dump, tmp_path / "other", selection=smfparse.Selection.of(system="SYS1"))
    assert "wqst" in engines.differences(tmp_path / "one", tmp_path / "other")
