"""The benchmark of engines and places compares all tables, row for row."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

import smfparse
from tests.support.paths import PROJECT


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    place = PROJECT / "benchmarks"
    monkeypatch.syspath_prepend(str(place))
    spec = importlib.util.spec_from_file_location("engines", place / "engines.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "engines", module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.long
def test_a_way_gives_the_tables_of_one_process_and_a_difference_is_named(
    engines: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_ENDPOINT_URL"):
        monkeypatch.setenv(name, "")  # what the benchmark sets goes with the test
    ways = [engines.ONE, *filter(engines.installed, ["S3, gzip"])]
    assert engines.run(2_000_000, ways) == {way: [] for way in ways}
    dump = engines.made(tmp_path, 1_000_000)
    smfparse.convert(dump, tmp_path / "one")
    smfparse.convert(dump, tmp_path / "other", selection=smfparse.Selection.of(system="SYS1"))
    assert "wqst" in engines.differences(tmp_path / "one", tmp_path / "other")
