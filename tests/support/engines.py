"""Executors of engines that are not ours, as docs/scale.md shows them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

SCALE = Path(__file__).parents[2] / "docs" / "scale.md"


def recipe(name: str, most: int = 10) -> dict[str, Any]:
    """Run the block of Python in docs/scale.md that defines `name`; return what it defines.

    It has fewer than `most` lines.
    """
    blocks = re.findall(r"```python\n(.*?)```", SCALE.read_text(encoding="utf-8"), re.DOTALL)
    (block,) = [each for each in blocks if re.search(rf"^(class|def) {name}\b", each, re.MULTILINE)]
    lines = [each for each in block.splitlines() if each]
    assert len(lines) < most, name
    found: dict[str, Any] = {"__name__": "recipe"}
    exec(block, found)
    return found
