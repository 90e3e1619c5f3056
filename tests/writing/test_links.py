"""Writing to a dataset from a stranger changes nothing outside of it, wherever it has links."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from smfparse.store import LOCK, MANIFEST, PARTIAL, RECORDS, VIEWS, Folder, NewFile
from smfparse.store import folder as folders
from tests.support.command import run
from tests.support.datasets import edit, files_below
from tests.support.paths import FIXTURES, SMF
from tests.support.searching import of_many, pairs

OTHER = FIXTURES / "qm80.smf"
PART = "part-00000.parquet"
STRANGE = f"wqst/{PART}.x"
PLACES = [PARTIAL, "wqst", RECORDS, f"wqst/{PART}", STRANGE, MANIFEST, VIEWS, LOCK]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")


@pytest.fixture
def folder(whole_dataset: Path, tmp_path: Path) -> Path:
    """A dataset from a stranger."""
    return Path(shutil.copytree(whole_dataset, tmp_path / "tables"))


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
def test_nothing_is_followed_where_a_dataset_is_written(
    place: str, how: str, folder: Path, other: Path
) -> None:
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


@pytest.mark.parametrize("place", [PARTIAL, "wqst"])
def test_nothing_is_followed_in_what_an_interrupted_run_left(
    place: str, tmp_path: Path, other: Path
) -> None:
    folder = tmp_path / "left"
    (folder / RECORDS).mkdir(parents=True)
    put(folder / place, "link", other)
    others = files_below(other)
    assert run("convert", OTHER, "--to", folder).exit_code == 8
    assert files_below(other) == others


def test_a_manifest_that_names_files_elsewhere_has_nothing_removed(
    folder: Path, other: Path
) -> None:
    edit(folder, lambda manifest: manifest["files"].update(wqst=[f"../other/wqst/{PART}"]))
    others = files_below(other)
    assert run("convert", OTHER, "--to", folder, "--append").exit_code == 8
    assert run("convert", OTHER, "--to", folder, "--force").exit_code == 0
    assert files_below(other) == others
    assert run("info", folder).exit_code == 0


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_link_where_a_table_is_written_is_not_followed(
    form: str, tmp_path: Path, other: Path
) -> None:
    """Neither under its temporary name nor under its own."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / f"wqst.{form}.partial").symlink_to(other / MANIFEST)
    (folder / f"record.{form}").symlink_to(other / VIEWS)
    others = files_below(other)
    done = run(
        "convert", SMF, "--to", folder, "--format", form, "--force", "--table", "wqst,record"
    )
    assert (done.exit_code, files_below(other)) == (0, others)
    assert not any(each.is_symlink() for each in folder.iterdir())


@pytest.mark.parametrize("by_handle", [True, False])
def test_a_folder_that_becomes_a_link_meanwhile_is_not_followed(
    by_handle: bool, tmp_path: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Systems that cannot open a path from an open folder look for links instead."""
    monkeypatch.setattr(folders, "_BY_HANDLE", by_handle)
    place = Folder(tmp_path / "new")
    place.path.mkdir()
    file = NewFile(place.create("a/b/c"))
    file.write(b"some")
    file.close()
    place.keep("a/b/c")
    place.keep_names("a/b")
    place.move("a/b/c", "a/d")
    assert (place.path / "a" / "d").read_bytes() == b"some"
    put(place.path / "a", "link", other)
    others = files_below(other)
    steps = [
        lambda: place.create("a/new"),
        lambda: place.make("a/new/folder"),
        lambda: place.move(f"a/{MANIFEST}", "mine"),
        lambda: place.remove(f"a/{MANIFEST}"),
        lambda: place.open_lock("a/lock"),
        lambda: place.keep(f"a/{MANIFEST}"),
    ]
    for step in steps:
        with pytest.raises(OSError):  # noqa: PT011 - which one depends on the system
            step()
    place.remove_empty("a/wqst")
    assert files_below(other) == others
    (place.path / "file").symlink_to(other / MANIFEST)
    if by_handle:
        for opened in (place.create, place.open_lock):
            with pytest.raises(OSError):  # noqa: PT011
                opened("file")
    place.remove("file")
    assert not os.path.lexists(place.path / "file")
    assert files_below(other) == others
