"""The walks of all framings."""

from __future__ import annotations

from importlib import import_module

from smfparse.reading.framings import FRAMINGS
from smfparse.reading.segments import Walk


def _walk(home: str) -> Walk:
    module, name = home.split(":")
    found: Walk = getattr(import_module(f"smfparse.reading.{module}"), name)()
    return found


WALKS = {name: _walk(framed.walk) for name, framed in FRAMINGS.items()}
"""Walks by the name of their framing, in the order of FRAMINGS."""
