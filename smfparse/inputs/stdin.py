"""Standard input: its name, and the substitute for its path."""

from __future__ import annotations

import os
from pathlib import Path

STDIN = "-"
NOWHERE = Path(os.devnull)
"""This object, and no other path, is the one of standard input."""
