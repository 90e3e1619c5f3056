"""Search for inputs by coverage, with atheris, which is to be installed besides the project.

Each input that reaches other lines of the reader or decoder is changed further, by the mutations of
the corrupter as well. Of such a file it is not known what is untouched, so less can be asked than
in tools/corrupt.py: no exception, sound files read as what they are, every byte accounted for, no
row that shows what is not there. The smallest input of each kind of finding is written beside the
inputs that are kept, and printed. The arguments are those of libFuzzer:

    tools/guided.py -max_total_time=3600 -max_len=8192 FOLDER
"""

from __future__ import annotations

import sys
import tempfile
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from random import Random

import atheris

_ROOMS = ("smfparse.reading", "smfparse.decoding")

with atheris.instrument_imports(include=_ROOMS):
    for each in map(import_module, _ROOMS):  # rooms load their modules when these are first used
        for module in iter_modules(each.__path__):
            import_module(f"{each.__name__}.{module.name}")
    from corruption.cases import Case, Manner
    from corruption.framings import FRAMINGS, Built, Placed, drawn
    from corruption.judging import Finding, Judge
    from corruption.mutations import MUTATIONS
    from corruption.reading import read
    from corruption.rope import Rope
    from corruption.samples import Sample, foreign, made, of_dump

_PACKED = (b"\x1f\x8b", b"PK", b"BZh", b"\xfd7zXZ", b"(\xb5/\xfd")
_SKIPPED = b"\x2a\x4d\x18"
"""In a frame of zstd that is skipped, behind its first byte."""
_SEEDS = 300
_PLACES = 12
"""Places of an input at which mutations take a record to start."""


class Guided:
    """Reads inputs; the first byte of each says how, the rest is the file.

    folder  where files are written to be read
    found   folder for what is found
    """

    def __init__(self, folder: Path, found: Path) -> None:
        self._folder, self._found = folder, found
        self._smallest: dict[str, int] = {}
        found.mkdir(parents=True, exist_ok=True)

    def __call__(self, data: bytes) -> None:
        """Read an input, and note what must not be."""
        if len(data) < 2:
            return
        framing = FRAMINGS[data[0] % len(FRAMINGS)]
        tables = "all" if data[0] & 0x40 else "none"
        manner = Manner(framing if data[0] & 0x80 else None, tables, small=bool(data[0] & 0x20))
        rope = Rope(data[1:])
        rope.origin[:] = -1
        case = Case(0, framing, b"", rope, [], file=data[1:])
        ((reading,), _) = read(self._folder, [case.file], manner)
        case.framing = reading.framing or framing
        is_packed = data[1:].startswith(_PACKED) or data[2:5] == _SKIPPED
        for each in Judge(case, manner, reading).findings():
            if reading.failed or not is_packed:
                self._note(f"{each.what} ({case.framing})", each, data)

    def _note(self, what: str, finding: Finding, data: bytes) -> None:
        if len(data) < self._smallest.get(what, sys.maxsize):
            self._smallest[what] = len(data)
            name = "".join(each if each.isalnum() else "-" for each in what)
            (self._found / name).write_bytes(data)
            print(f"{what}; {len(data)} bytes; {finding.detail}", flush=True)


def mutated(data: bytes, most: int, seed: int) -> bytes:
    """Change an input as the corrupter does, or as libFuzzer does."""
    draw = Random(seed)
    if len(data) < 2 or draw.random() < 0.3:
        return bytes(atheris.Mutate(data, most))
    rope = Rope(data[1:])
    starts = sorted(draw.randrange(len(rope)) for _ in range(_PLACES))
    borders = [Placed(Sample(b""), start, start + 14, (start, start + 14)) for start in starts]
    MUTATIONS[draw.choice([*MUTATIONS])](draw, rope, Built("", records=borders))
    return (data[:1] + bytes(rope.data))[:most]


def seeds(folder: Path) -> None:
    """Write sound files of every framing, from which the search starts."""
    draw = Random(1)
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(_SEEDS):
        framing = draw.randrange(len(FRAMINGS))
        samples = [draw.choice((made, made, foreign, of_dump))(draw) for _ in range(4)]
        manner = framing + 12 * draw.randrange(20)
        data = drawn(draw, FRAMINGS[framing], samples).data
        (folder / f"sound-{number}").write_bytes(bytes([manner % 256]) + data)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="guided-", dir="/dev/shm") as place:
        inputs = Path(sys.argv[-1])
        seeds(inputs)
        found = inputs.with_name(f"{inputs.name}-found")
        atheris.Setup(sys.argv, Guided(Path(place), found), custom_mutator=mutated)
        atheris.Fuzz()
