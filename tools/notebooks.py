"""Notebooks of docs/ whose cells run: what stands under a cell is its output now.

Each runs from its first cell to its last in a kernel and a folder of its own. Pictures are not
compared: how they are drawn differs between machines.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import nbformat
from nbclient import NotebookClient

_PICTURE = "image/png"
_KEPT = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def rerun(page: Path) -> str:
    """Return the text of a notebook with the output of its cells now. Raises where one fails."""
    notebook = nbformat.read(page, as_version=4)
    commands = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        sealed = {"PATH": commands, "IPYTHONDIR": folder, "JUPYTER_CONFIG_DIR": folder}
        place = {"metadata": {"path": folder}}
        client = NotebookClient(notebook, timeout=300, record_timing=False, resources=place)
        with patch.dict(os.environ, sealed):
            client.execute()
    notebook.metadata = nbformat.from_dict(_KEPT)
    for number, cell in enumerate(notebook.cells, 1):
        cell.id = f"cell-{number}"
    return f"{nbformat.writes(notebook)}\n"


def without_pictures(text: str) -> Any:
    """Return a notebook without what its pictures show."""
    notebook = nbformat.reads(text, as_version=4)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if _PICTURE in output.get("data", {}):
                output.data[_PICTURE] = ""
    return notebook
