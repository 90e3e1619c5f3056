"""Local paths of output files: only datasets can be written to URLs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from smfparse.reading.places import is_url


class LocalPath(click.Path):
    """The path of an output file on this machine."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(path_type=Path, **settings)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if is_url(value):
            self.fail(
                f"{value}: only a dataset is written to a URL (convert --to); write to a file on "
                "this machine, and copy it there",
                param,
                ctx,
            )
        return super().convert(value, param, ctx)
