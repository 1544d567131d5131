"""A recipe of one's own files makes a tree like them and gives nothing else away."""

from __future__ import annotations

import os
import random
import subprocess
import zlib
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path

import pytest

from fswizard import recipes
from fswizard.engines.shared import tree_worker
from fswizard.engines.tree import TreeJob
from fswizard.errors import UsageError
from fswizard.recipes import tree_profile
from tests.fakes.command_line import fswizard


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """Some hundred files of all sizes in directories of several depths, in place of a real directory."""
    dice, directories = random.Random(4), [tmp_path / "collection"]
    for number in range(40):
        directories.append(dice.choice(directories) / f"d{number}")
    for path in directories:
        path.mkdir()
    for number in range(600):
        path = dice.choice(directories) / f"f{number}"
        path.write_bytes(dice.randbytes(int(dice.lognormvariate(7, 1.5))))
    return directories[0]


def job_in(text: str) -> TreeJob:
    """The first job of a recipe."""
    job = recipes.parse(text, "mine.toml").workloads[0].job
    assert isinstance(job, TreeJob)
    return job


def made(original: Path, directory: Path) -> Path:
    """The tree of a recipe that was made from another."""
    job = job_in(tree_profile.recipe_text(tree_profile.scan(original)))
    job.write_inputs(str(directory), 1)
    tree_worker.Tree(f"{directory}/{job.name}.json", job.files, job.total_bytes).make(str(directory / "made"))
    return directory / "made"


def census(top: Path) -> list[list[int]]:
    """Sizes of files, numbers of files in directories, and depths of these, counted another way than the program
    does; all sorted."""
    walked = list(os.walk(top))
    sizes = sorted(os.path.getsize(f"{path}/{name}") for path, _, names in walked for name in names)
    depths = [path.count("/") - str(top).count("/") for path, _, _ in walked]
    return [sizes, sorted(len(names) for _, _, names in walked), sorted(depths)]


def distance(one: Sequence[int], other: Sequence[int]) -> float:
    """Kolmogorov–Smirnov distance of two sorted samples."""
    return max(abs(bisect_right(one, x) / len(one) - bisect_right(other, x) / len(other)) for x in {*one, *other})


@pytest.mark.parametrize("most_files", [tree_profile.MOST_FILES, 100])
def test_a_generated_tree_is_like_its_original_and_as_small_as_it_must_be(
    most_files: int, collection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_profile, "MOST_FILES", most_files)
    before, after = census(collection), census(made(collection, tmp_path))
    scale = round(len(before[0]) / len(after[0]))
    assert len(after[0]) <= most_files
    assert sum(after[0]) == pytest.approx(sum(before[0]) / scale, rel=0.02)
    for one, other, most in zip(before, after, (0.05, 0.05, 0.1) if scale == 1 else (0.05, 0.2, 0.2)):
        assert len(other) == pytest.approx(len(one) / scale, rel=0.05)
        assert distance(one, other) < most


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_a_generated_tree_compresses_as_the_original(share: float, tmp_path: Path) -> None:
    dice, original, noise = random.Random(2), tmp_path / "original", round(4096 * share)
    original.mkdir()
    for number in range(50):
        pages = (dice.randbytes(noise) + bytes(4096 - noise) for _ in range(20))
        (original / f"{number}").write_bytes(b"".join(pages))
    content = b"".join(path.read_bytes() for path in made(original, tmp_path).rglob("*") if path.is_file())
    assert len(zlib.compress(content)) / len(content) == pytest.approx(share, abs=0.06)


def test_no_name_gets_into_the_recipe_no_link_is_followed_and_no_access_time_changed(tmp_path: Path) -> None:
    outside, mine = tmp_path / "outside", tmp_path / "Liebesbriefe"
    (mine / "1998-Erika").mkdir(parents=True)
    outside.mkdir()
    (outside / "large").write_bytes(bytes(1_000_000))
    (mine / "elsewhere").symlink_to(outside)
    (mine / "large").symlink_to(outside / "large")
    os.mkfifo(mine / "pipe")
    letter = mine / "1998-Erika" / "Steuer.odt"
    letter.write_bytes(b"x" * 100)
    os.utime(letter, (1_000_000_000, 1_000_000_001))
    before = letter.stat()
    text = tree_profile.recipe_text(tree_profile.scan(mine))
    assert letter.stat() == before
    assert not any(name in text for name in ("Liebesbriefe", "1998", "Steuer", "odt", "elsewhere", "outside"))
    assert (job_in(text).files, job_in(text).total_bytes) == (1, 100)


def test_the_command_writes_a_recipe_that_the_program_reads_and_overwrites_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 5000)
    command = ("recipes", "--from", str(tmp_path), "--output", f"{tmp_path}/mine.toml")
    assert [fswizard(*command).returncode for _ in range(2)] == [0, 2]
    names = [workload.name for workload in recipes.find(f"{tmp_path}/mine.toml").workloads]
    assert names == ["copy-onto", "delete-onto", "untar", "tar", "find", "read"]


@pytest.mark.root
def test_other_filesystems_are_not_entered(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "mount").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", tmp_path / "mount"], check=True)
    try:
        (tmp_path / "mount" / "other").write_bytes(b"xx")
        assert tree_profile.scan(tmp_path).sizes == [1]
    finally:
        subprocess.run(["umount", tmp_path / "mount"], check=True)


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_what_cannot_be_looked_at_is_wrong_usage(name: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=name):
        tree_profile.scan(tmp_path / name)


def text() -> str:
    return tree_profile.recipe_text(tree_profile.TreeProfile([1, 1], [(2, 0)], {1: 0.5}))


TREE = """
[tree]
sizes = [1, 5]
random_shares = [0.5, 1]
directories = 1
files_in_directory = [2, 2]
depths = [0, 0]
"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("0.5", "1.5", "tree: random_shares"),
        ("[tree]", '[tree]\npath = "/home"', "'path' is not a known key"),
        (TREE, "", "a table \\[tree\\]"),
    ],
)
def test_a_wrong_table_is_refused(old: str, new: str, words: str) -> None:
    right = text().split("\n[tree]")[0] + TREE
    assert recipes.parse(right, "mine.toml")
    with pytest.raises(UsageError, match=words):
        recipes.parse(right.replace(old, new), "mine.toml")
