"""A dataset that a thread writes while another decodes: the same files, and none of a failure."""

from __future__ import annotations

import errno
import threading
import time
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.errors import OutputError
from smfparse.inputs import Inputs, ReadOptions, open_inputs
from smfparse.limits import Limits
from smfparse.store import NewFile, WritingThread
from smfparse.writing import append_dataset, write_dataset
from tests.support.datasets import files_below
from tests.support.paths import SMF
from tests.support.searching import search

SMALL = Limits(least_unit=1, group_rows=7, held_bytes=20_000, epoch_bytes=20_000, chunk_bytes=4096)
"""Let a small file be worth a thread, and have several row groups."""


def opened(jobs: int, path: Path = SMF) -> Inputs:
    return open_inputs([path], ReadOptions(jobs=jobs, limits=SMALL, keep_duplicates=path != SMF))


def test_a_thread_writes_the_files_that_one_process_alone_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_dataset(opened(1), tmp_path / "1", partition=True)
    writing: set[str] = set()
    flush = NewFile.flush

    def watched(file: NewFile) -> None:
        writing.add(threading.current_thread().name)
        flush(file)

    monkeypatch.setattr(NewFile, "flush", watched)
    write_dataset(opened(2), tmp_path / "2", partition=True)
    one, two = (files_below(tmp_path / f"{jobs}") for jobs in (1, 2))
    assert one == two
    assert len(one) > 30
    assert any(each.startswith("writing") for each in writing)
    assert not [each for each in threading.enumerate() if each.name.startswith("writing")]


@pytest.mark.parametrize("flushes", [1, 20])
@pytest.mark.parametrize(
    "kind", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()]
)
def test_what_fails_in_the_thread_fails_the_command_and_leaves_nothing(
    kind: BaseException, flushes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flush, count = NewFile.flush, 0

    def failing(file: NewFile) -> None:
        nonlocal count
        count += 1
        if count >= flushes:
            raise kind
        flush(file)

    write_dataset(opened(1), tmp_path / "tables")
    before = files_below(tmp_path / "tables")
    other = tmp_path / "other.smf"
    other.write_bytes(SMF.read_bytes()[:-200])
    monkeypatch.setattr(NewFile, "flush", failing)
    with pytest.raises((OSError, OutputError, KeyboardInterrupt)):
        append_dataset(opened(2, other), tmp_path / "tables")
    assert files_below(tmp_path / "tables") == before


@given(sizes=st.lists(st.integers(0, 150), max_size=30))
@search(10)
def test_work_is_done_in_order_and_little_of_it_waits(sizes: list[int]) -> None:
    thread = WritingThread(100)
    done: list[int] = []

    def work(number: int) -> None:
        time.sleep(0.001)
        done.append(number)

    for number, size in enumerate(sizes):
        thread.do(partial(work, number), size)
        assert sum(sizes[len(done) : number + 1]) <= max(100, size)
    thread.wait()
    thread.stop()
    assert done == list(range(len(sizes)))
