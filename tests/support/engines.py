"""Executors of engines that are not ours, as docs/dataset.md shows them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

COUNTED = "CREATE VIEW counted"
SCALE = Path(__file__).parents[2] / "docs" / "dataset.md"


def recipe(name: str, most: int = 10) -> dict[str, Any]:
    """Run the block of Python in docs/dataset.md that defines `name`; return what it defines.

    It has fewer than `most` lines.
    """
    block = _block("python", rf"^(class|def) {name}\b")
    lines = [each for each in block.splitlines() if each]
    assert len(lines) < most, name
    found: dict[str, Any] = {"__name__": "recipe"}
    exec(block, found)
    return found


def snippet(words: str, **names: str) -> dict[str, Any]:
    """Run the block of Python in docs/dataset.md that has `words`; return what it defines.

    Its last line is an expression, whose value is `result`.

    names  what is in it to what takes its place, such as a path
    """
    block = _block("python", re.escape(words))
    for old, new in names.items():
        assert old in block
        block = block.replace(old, new)
    *lines, last = block.strip().splitlines()
    found: dict[str, Any] = {"__name__": "snippet"}
    exec("\n".join([*lines, f"result = {last}"]), found)
    return found


def statement(words: str) -> str:
    """Return the block of SQL in docs/dataset.md that has `words`."""
    return _block("sql", re.escape(words))


def _block(language: str, pattern: str) -> str:
    blocks: list[str] = re.findall(rf"```{language}\n(.*?)```", SCALE.read_text("utf-8"), re.S)
    (found,) = [each for each in blocks if re.search(pattern, each, re.M)]
    return found
