"""Modules of tools/, which are no package, for the tests that use them."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from tests.support.paths import PROJECT

_FOLDER = str(PROJECT / "tools")


def tool(name: str) -> Any:
    """Import a module of tools/, which finds those beside it."""
    sys.path.insert(0, _FOLDER)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(_FOLDER)
