"""Temporary folders go with what needs them, or with a later run."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from smfparse.inputs.temporary import TemporaryFolder
from tests.support.command import COMMAND
from tests.support.paths import SMF
from tests.support.searching import of_many, some

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="signals, links and copies"),
]


def copying() -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    process = subprocess.Popen([*COMMAND, "info", "-"], stdin=pipe, stdout=pipe, stderr=pipe)
    assert process.stdin is not None
    process.stdin.write(SMF.read_bytes() * 5)  # more than is copied at once
    process.stdin.flush()
    return process


def wait_for_copies(temporary: Path, count: int) -> None:
    """Wait until so many have begun; a test that waits for ever is one that fails."""
    while sum(each.stat().st_size > 0 for each in temporary.glob("*/copy")) < count:
        pass


@of_many("kind, code", some([(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)], 1))
def test_the_copy_of_a_process_that_was_killed_goes_with_the_next_run(
    kind: signal.Signals, code: int, temporary: Path
) -> None:
    """That of one that is at work stays until a signal ends it."""
    killed = copying()
    wait_for_copies(temporary, 1)
    (left,) = temporary.iterdir()
    at_work = copying()
    wait_for_copies(temporary, 2)
    killed.kill()
    killed.communicate()
    with TemporaryFolder() as new:
        there = set(temporary.iterdir())
    assert left not in there
    assert new in there
    assert len(there) == 2
    at_work.send_signal(kind)
    _, errors = at_work.communicate()
    assert at_work.returncode == code, errors
    assert errors in (b"smfparse: interrupted\n", b"smfparse: terminated\n")
    assert not list(temporary.iterdir())


def test_what_is_of_others_stays(temporary: Path, tmp_path: Path) -> None:
    """A dataset with a name like that, a link, a folder with other files."""
    name, other = "smfparse-temporary-abcdefg", tmp_path / "other"
    for folder, file in (
        (temporary / f"{name}1", ".lock"),
        (temporary / "smfparse-tables", ".smfparse-owner"),
        (other, ".smfparse-owner"),
    ):
        folder.mkdir()
        (folder / file).touch()
    (temporary / f"{name}2").symlink_to(other)
    (temporary / f"{name}3").mkdir()
    before = set(temporary.iterdir())
    with TemporaryFolder():
        pass
    assert set(temporary.iterdir()) == before - {temporary / f"{name}3"}
    assert (other / ".smfparse-owner").exists()
