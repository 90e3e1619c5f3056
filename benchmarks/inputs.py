"""The inputs of the benchmark: files that `smfparse generate` makes, and their facts."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from smfparse.simulating.declaration import VERSIONS

PYTHON = sys.executable
SMFPARSE = str(Path(PYTHON).with_name("smfparse"))
PROJECT = Path(__file__).resolve().parent.parent
KINDS = {
    "class3": ("--interval", "1m", "--tasks", "5000"),
    "mix": ("--interval", "1m", "--tasks", "4"),
    "versions": ("--interval", "1m"),
    "dense": ("--interval", "1m", "--dense"),
}
"""Options of `smfparse generate`; `versions` is a file of each MQ version, one after the other.

In `mix` 116/1 records are 75 % of the bytes, as they are 76 % of those of the real files together:
four tasks give that, the 20 that are the default of `smfparse generate` would make it 94 %.
"""
SMALL_BYTES = 1_000_000
"""Size of the file on which a command shows how long it takes to start."""
_SMALL = {"class3": ("--interval", "1m", "--tasks", "80")}
_REAL = ("TEST115.dat", "TEST116.dat", "TESTCHL.dat")
_BYTES = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}
_ZSTD = """
import sys, pyarrow as pa
sink = pa.BufferOutputStream()
with pa.CompressedOutputStream(sink, pa.Codec("zstd", compression_level=3)) as out:
    with open(sys.argv[1], "rb") as file:
        while block := file.read(1 << 20):
            out.write(block)
print(sink.getvalue().size)
"""
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Input:
    """A file to measure on, and a small one of its kind."""

    kind: str
    smf: Path
    small: Path

    @property
    def size(self) -> int:
        """Bytes."""
        return self.smf.stat().st_size


def parser(
    description: str | None, rounds: int, size: str | None = None
) -> argparse.ArgumentParser:
    """Return what reads the options that benchmarks share; `rounds` and `size` are defaults.

    size  None: the inputs have no size that can be asked for
    """
    found = argparse.ArgumentParser(description=description)
    if size:
        found.add_argument("--size", default=size, help=f"of each input (default: {size})")
    found.add_argument("--rounds", type=int, default=rounds, help=f"default: {rounds}")
    found.add_argument("--keep", type=Path, metavar="DIR",
                       help="have the inputs in DIR, and use those that are there")  # fmt: skip
    found.add_argument("--markdown", action="store_true", help="print tables for the docs")
    return found


def folder(keep: Path | None) -> AbstractContextManager[str]:
    """Return a context that gives the folder of the inputs: `keep`, None: one that goes again."""
    if keep is None:
        return tempfile.TemporaryDirectory()
    keep.mkdir(parents=True, exist_ok=True)
    return nullcontext(str(keep))


def parse_size(text: str) -> int:
    """Return the bytes that "200MB" stands for."""
    found = re.fullmatch(r"(\d+)(KB|MB|GB|)", text.upper())
    if found is None:
        sys.exit(f"size {text}: like 200MB or 1GB")
    return int(found[1]) * _BYTES[found[2]]


def make(kind: str, size: int, folder: Path) -> Input:
    """Generate the files of a kind, unless they are in the folder already."""
    smf, small = folder / f"{kind}-{size}.smf", folder / f"{kind}-small.smf"
    _make(kind, size, smf, KINDS[kind])
    _make(kind, SMALL_BYTES, small, _SMALL.get(kind, KINDS[kind]))
    return Input(kind, smf, small)


def _make(kind: str, size: int, path: Path, options: Sequence[str]) -> None:
    if path.exists():
        return
    part = path.with_suffix(".part")
    if kind == "versions":
        _one_after_the_other(size, part, options)
    else:
        _generate(part, size, options)
    part.rename(path)


def _generate(path: Path, size: int, options: Sequence[str]) -> None:
    command = [SMFPARSE, "generate", str(path), "--size", str(size), "--force", *options]
    subprocess.run(command, check=True)


def _one_after_the_other(size: int, path: Path, options: Sequence[str]) -> None:
    piece = path.with_suffix(".piece")
    with path.open("wb") as whole:
        for seed, version in enumerate(VERSIONS):
            more = ["--mq-version", version, "--seed", str(seed)]
            _generate(piece, size // len(VERSIONS), [*options, *more])
            with piece.open("rb") as file:
                shutil.copyfileobj(file, whole, _BLOCK)
    piece.unlink()


def blocks(path: Path) -> Iterator[bytes]:
    """Yield a file in pieces; read to the end, it is in the page cache."""
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block


def records(path: Path) -> int:
    """Return how many logical records a file has."""
    command = [SMFPARSE, "info", str(path), "--format", "json"]
    found = subprocess.run(command, check=True, capture_output=True)
    return int(json.loads(found.stdout)["records"])


def gzip_ratio(path: Path) -> float:
    """Return how many times smaller gzip -6 makes a file."""
    squeeze = zlib.compressobj(6)
    size = sum(len(squeeze.compress(block)) for block in blocks(path)) + len(squeeze.flush())
    return path.stat().st_size / size


def zstd_size(path: Path) -> int:
    """Return the bytes that zstd -3 makes of a file."""
    if shutil.which("zstd") is None:
        found = subprocess.run([PYTHON, "-c", _ZSTD, str(path)], check=True, capture_output=True)
        return int(found.stdout)
    with tempfile.TemporaryFile(dir=path.parent) as out:
        subprocess.run(["zstd", "-3", "-q", "-c", str(path)], check=True, stdout=out)
        return os.fstat(out.fileno()).st_size


def folder_size(path: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())


def real_files() -> list[Path]:
    """Return the real SMF files that are there."""
    named = os.environ.get("SMFPARSE_REAL_DATA")
    folder = PROJECT.parent / "shared" / "data" if named is None else Path(named)
    return [folder / name for name in _REAL if named != "" and (folder / name).is_file()]
