"""The walk of every framing."""

from __future__ import annotations

from importlib import import_module

from smfparse.reading.framings import FRAMINGS
from smfparse.reading.segments import Walk


def _walk(home: str) -> Walk:
    module, name = home.split(":")
    found: Walk = getattr(import_module(f"smfparse.reading.{module}"), name)()
    return found


WALKS = {name: _walk(framed.walk) for name, framed in FRAMINGS.items()}
"""By name, in the order of FRAMINGS."""
