"""Write tests/golden again (`make goldens`); read the difference before you keep it.

tests/golden/README.md says what must be true of a figure before it becomes a golden.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import click

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from tests.support import goldens  # noqa: E402
from tests.support.corpora import Corpora  # noqa: E402


@click.command()
@click.argument("parts", nargs=-1)
def main(parts: tuple[str, ...]) -> None:
    """Write the goldens whose paths have one of PARTS in them, or all."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as opened:
        folder = Path(name)
        for place, text in goldens.every_golden(Corpora(folder, opened), folder):
            if not parts or any(part in place.as_posix() for part in parts):
                place.parent.mkdir(exist_ok=True)
                place.write_text(text(), "utf-8")
                click.echo(place.relative_to(PROJECT))


if __name__ == "__main__":
    main()
