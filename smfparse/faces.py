"""How a package shows its face: the names that others may use, each imported when it is first used.

if TYPE_CHECKING:
    from smfparse.reading import Chunk as Chunk
else:
    __all__, __getattr__, __dir__ = face(__name__, chunks="Chunk")
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def face(
    package: str, **homes: str
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__all__`, `__getattr__` and `__dir__` of a package.

    homes  module of the package: the names in it that others may use, with blanks between

    What a library costs to load is paid by who uses a name that needs it, and by nobody else.
    """
    modules = {name: module for module, names in homes.items() for name in names.split()}
    names = sorted(modules)

    def look_up(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, found)
        return found

    return names, look_up, lambda: names
