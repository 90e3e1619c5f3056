"""Writing to a dataset from a stranger changes nothing outside of it, wherever it has links."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from smfparse.store import folder as folders
from smfparse.store.database import JOURNALS, MANIFEST
from smfparse.store.folder import Folder, NewFile
from smfparse.store.manifest import RECORDS, VIEWS
from smfparse.store.targets import PARTIAL
from tests.support.command import run
from tests.support.datasets import edit, files_below
from tests.support.paths import FIXTURES, SMF
from tests.support.searching import of_many, pairs

OTHER = FIXTURES / "qm80.smf"
PART = "part-00000.parquet"
STRANGE = f"wqst/{PART}.x"
PLACES = [PARTIAL, "wqst", RECORDS, f"wqst/{PART}", STRANGE, MANIFEST, VIEWS, *JOURNALS]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")


@pytest.fixture
def other(whole_dataset: Path, tmp_path: Path) -> Path:
    """A dataset of the user's, into which links lead."""
    return Path(shutil.copytree(whole_dataset, tmp_path / "other"))


def put(place: Path, how: str, target: Path) -> None:
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
    if how == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to(target if how == "link" else target.with_name("nothing"))


@of_many("place, how", pairs(PLACES, ["link", "link to nothing", "pipe"]))
def test_no_link_is_followed_by_a_dataset(place: str, how: str, folder: Path, other: Path) -> None:
    """A link leads to what does most harm in the other dataset."""
    worst = other / place if place != PARTIAL and (other / place).exists() else other
    put(folder / place, how, worst)
    others, own, names = files_below(other), files_below(folder), sorted(folder.parent.iterdir())
    for option in ("--force", "--append"):
        done = run("convert", OTHER, "--to", folder, option)
        assert files_below(other) == others
        assert os.path.lexists(folder / place)
        if place == STRANGE and option == "--append":  # which looks at no file of others
            assert done.exit_code == 0
            continue
        assert done.exit_code in ((2, 8) if place == MANIFEST else (8,)), done.stderr
        assert sorted(folder.parent.iterdir()) == names
        assert files_below(folder) == own
        if place != MANIFEST:
            assert str(folder / place) in done.stderr


def test_nothing_is_followed_in_what_an_interrupted_run_left(tmp_path: Path, other: Path) -> None:
    others = files_below(other)
    for place in (PARTIAL, "wqst"):
        (tmp_path / place / RECORDS).mkdir(parents=True)
        put(tmp_path / place / place, "link", other)
        run("convert", OTHER, "--to", tmp_path / place, code=8)
    assert files_below(other) == others


def test_a_manifest_of_files_elsewhere_has_nothing_removed(folder: Path, other: Path) -> None:
    edit(folder, "UPDATE file SET name = ? WHERE name LIKE 'wqst/%'", f"../other/wqst/{PART}")
    others = files_below(other)
    run("convert", OTHER, "--to", folder, "--append", code=8)
    run("convert", OTHER, "--to", folder, "--force", code=0)
    assert files_below(other) == others
    run("info", folder, code=0)


def test_a_link_where_a_table_is_written_is_not_followed(tmp_path: Path, other: Path) -> None:
    """Neither under its temporary name nor under its own."""
    folder, others = tmp_path / "out", files_below(other)
    folder.mkdir()
    (folder / "wqst.csv.partial").symlink_to(other / MANIFEST)
    (folder / "record.csv").symlink_to(other / VIEWS)
    some = ("--format", "csv", "--force", "--table", "wqst,record")
    run("convert", SMF, "--to", folder, *some, code=0)
    assert files_below(other) == others
    assert not any(each.is_symlink() for each in folder.iterdir())


@pytest.mark.parametrize("by_handle", [True, False])
def test_a_folder_that_becomes_a_link_meanwhile_is_not_followed(
    by_handle: bool, tmp_path: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Systems that cannot open a path from an open folder look for links instead."""
    monkeypatch.setattr(folders, "_BY_HANDLE", by_handle)
    place, others = Folder(tmp_path / "new"), files_below(other)
    place.path.mkdir()
    file = NewFile(place.create("a/b/c"))
    file.write(b"some")
    file.close()
    place.move("a/b/c", "a/d")
    assert (place.path / "a" / "d").read_bytes() == b"some"
    put(place.path / "a", "link", other)
    (place.path / "file").symlink_to(other / MANIFEST)
    for step, *names in (
        (place.create, "a/new"),
        (place.make, "a/new/folder"),
        (place.move, f"a/{MANIFEST}", "mine"),
        (place.remove, f"a/{MANIFEST}"),
        (place.open_lock, "a/lock"),
        (place.place, ["a/new"]),
        *([(place.create, "file"), (place.open_lock, "file")] if by_handle else []),
    ):
        with pytest.raises(OSError):  # noqa: PT011 - which one depends on the system
            step(*names)
    place.remove_emptied(["a/wqst"])
    place.remove("file")
    assert not os.path.lexists(place.path / "file")
    assert files_below(other) == others
