"""A dataset that a thread writes while another decodes: the same files, and none of a failure."""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.errors import OutputError
from smfparse.inputs import Inputs, ReadOptions, open_inputs
from smfparse.limits import LIMITS
from smfparse.store import NewFile, WritingThread
from smfparse.writing import append_dataset, write_dataset
from tests.support.paths import SMF
from tests.support.searching import search


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a small file be worth a thread, and have several row groups."""
    for name, value in {"least_unit": 1, "group_rows": 7, "held_bytes": 20_000}.items():
        monkeypatch.setitem(vars(LIMITS), name, value)
    monkeypatch.setitem(vars(LIMITS), "epoch_bytes", 20_000)
    monkeypatch.setitem(vars(LIMITS), "chunk_bytes", 4096)


def opened(jobs: int) -> Inputs:
    return open_inputs([SMF], ReadOptions(jobs=jobs))


def files(folder: Path) -> dict[str, bytes]:
    return {
        each.relative_to(folder).as_posix(): each.read_bytes()
        for each in folder.rglob("*")
        if each.is_file()
    }


@pytest.mark.parametrize("partition", [False, True], ids=["whole", "divided"])
def test_the_files_are_those_that_one_thread_writes(tmp_path: Path, partition: bool) -> None:
    for jobs in (1, 2):
        write_dataset(opened(jobs), tmp_path / f"{jobs}", partition=partition)
    one, two = (files(tmp_path / f"{jobs}") for jobs in (1, 2))
    assert one == two
    assert len(one) > 30


def test_it_is_a_thread_that_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writing: set[str] = set()
    flush = NewFile.flush

    def watched(file: NewFile) -> None:
        writing.add(threading.current_thread().name)
        flush(file)

    monkeypatch.setattr(NewFile, "flush", watched)
    write_dataset(opened(2), tmp_path / "tables")
    assert any(each.startswith("writing") for each in writing)
    assert not [each for each in threading.enumerate() if each.name.startswith("writing")]


@pytest.mark.parametrize("flushes", [1, 5, 20, 31])
def test_what_fails_in_the_thread_fails_the_command_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flushes: int
) -> None:
    flush, count = NewFile.flush, 0

    def full(file: NewFile) -> None:
        nonlocal count
        count += 1
        if count >= flushes:
            raise OSError(errno.ENOSPC, "No space left on device")
        flush(file)

    write_dataset(opened(1), tmp_path / "tables")
    before = files(tmp_path / "tables")
    other = tmp_path / "other.smf"
    other.write_bytes(SMF.read_bytes()[:-200])
    monkeypatch.setattr(NewFile, "flush", full)
    with pytest.raises((OSError, OutputError), match="No space left"):
        append_dataset(
            open_inputs([other], ReadOptions(jobs=2, keep_duplicates=True)), tmp_path / "tables"
        )
    assert files(tmp_path / "tables") == before


@pytest.mark.parametrize("taken", [0, 1, 10])
def test_an_interrupt_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: int
) -> None:
    batches = Inputs.batches

    def interrupted(inputs: Inputs, *how: Any) -> Iterator[Any]:
        for count, each in enumerate(batches(inputs, *how)):
            if count == taken:
                raise KeyboardInterrupt
            yield each

    monkeypatch.setattr(Inputs, "batches", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_dataset(opened(2), tmp_path / "tables")
    assert not (tmp_path / "tables").exists()


@given(sizes=st.lists(st.integers(0, 150), max_size=30))
@search(30)
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


def test_what_is_stopped_begins_nothing_more() -> None:
    thread, done, go_on = WritingThread(100), [], threading.Event()
    thread.do(lambda: done.append(go_on.wait()))
    for _ in range(5):
        thread.do(lambda: done.append(False))
    threading.Timer(0.05, go_on.set).start()
    thread.stop()
    assert done == [True]
