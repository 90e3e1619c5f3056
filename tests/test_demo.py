"""What `make demo` installs: the package, not the tools of its developers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.paths import PROJECT


def commands(target: str, venv: Path) -> str:
    asked = ["make", "--dry-run", "--always-make", target, f"VENV={venv}"]
    return subprocess.run(asked, cwd=PROJECT, capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_a_demo_installs_the_package_alone_and_tests_the_tools_besides(tmp_path: Path) -> None:
    demo, test = (commands(each, tmp_path / "venv") for each in ("demo", "test"))
    assert "--editable .\n" in demo
    assert "[dev]" not in demo
    assert test.count("pip install") == 1
    assert "--editable '.[dev]'" in test
