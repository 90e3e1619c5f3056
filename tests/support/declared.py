"""The blocks that smfparse.schemas declares, by their names."""

from __future__ import annotations

import importlib
import pkgutil

import smfparse.schemas
from smfparse.layout.blocks import Block

BLOCKS = {
    each.name: each
    for module in pkgutil.iter_modules(smfparse.schemas.__path__)
    for each in vars(importlib.import_module(f"smfparse.schemas.{module.name}")).values()
    if isinstance(each, Block)
}
