"""A recipe of one's own files makes a tree like them and gives nothing else away; it is kept, listed and removed."""

from __future__ import annotations

import json
import os
import random
import subprocess
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fswizard import recipes
from fswizard.engines.shared import tree_worker
from fswizard.engines.tree import TreeJob
from fswizard.errors import RunFailed, UsageError
from fswizard.model.codec import to_json
from fswizard.model.recipe import Recipe
from fswizard.recipes import own, tree_profile
from tests.fakes.command_line import fswizard

PLACES = ("/usr/share/doc", "/usr/lib/python3", "/etc", "/usr/share/perl", "/usr/include", "/usr/share/zoneinfo")
REAL = [place for place in PLACES if os.path.isdir(place)][:3]


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """Some hundred files of all sizes in directories of several depths, in place of a real directory."""
    dice, directory = random.Random(4), tmp_path / "collection"
    directories = [directory]
    for number in range(40):
        directories.append(dice.choice(directories) / f"d{number}")
    for path in directories:
        path.mkdir()
    for number in range(600):
        path = dice.choice(directories) / f"f{number}"
        path.write_bytes(dice.randbytes(int(dice.lognormvariate(7, 1.5))))
    return directory


def recipe_of(directory: str | Path) -> Recipe:
    return recipes.parse(tree_profile.recipe_text(tree_profile.look(Path(directory))), "mine.toml")


def job_of(recipe: Recipe) -> TreeJob:
    job = recipe.workloads[0].job
    assert isinstance(job, TreeJob)
    return job


def made(recipe: Recipe, directory: Path) -> Path:
    """The tree that a recipe generates."""
    tree_worker.Tree(*shape_of(job_of(recipe), directory)).make(str(directory / "made"))
    return directory / "made"


def shape_of(job: TreeJob, directory: Path) -> tuple[str, int, int]:
    """What the worker is told of a tree."""
    (directory / "shape.json").write_text(json.dumps(to_json(job.own)))
    return str(directory / "shape.json"), job.files, job.total_bytes


def files_in(tree: Path) -> dict[str, bytes]:
    return {str(path.relative_to(tree)): path.read_bytes() for path in tree.rglob("*") if path.is_file()}


class Census(NamedTuple):
    """A tree counted another way than the program does; all sorted."""

    sizes: list[int]
    files_in_directory: list[int]
    depths: list[int]


def census(directory: str | Path) -> Census:
    find = ("find", directory, "-xdev")
    files = subprocess.run((*find, "-type", "f", "-printf", "%s %h\\n"), capture_output=True, text=True, check=False)
    folders = subprocess.run((*find, "-type", "d", "-printf", "%d %p\\n"), capture_output=True, text=True, check=False)
    sized, deep = ([line.split(" ", 1) for line in done.stdout.splitlines()] for done in (files, folders))
    counts = Counter(parent for _, parent in sized)
    return Census(
        sorted(int(size) for size, _ in sized),
        sorted(counts[path] for _, path in deep),
        sorted(int(depth) for depth, _ in deep),
    )


def distance(one: Sequence[int], other: Sequence[int]) -> float:
    """Kolmogorov–Smirnov distance of two sorted samples."""
    return max(abs(bisect_right(one, x) / len(one) - bisect_right(other, x) / len(other)) for x in {*one, *other})


@pytest.mark.parametrize("real", ["", *(pytest.param(place, marks=pytest.mark.slow) for place in REAL)])
def test_a_generated_tree_is_like_its_original(real: str, collection: Path, tmp_path: Path) -> None:
    directory = real or collection
    original, recipe = census(directory), recipe_of(directory)
    generated = census(made(recipe, tmp_path))
    scale = round(len(original.sizes) / job_of(recipe).files)
    assert len(generated.sizes) == job_of(recipe).files == pytest.approx(len(original.sizes) / scale, rel=0.02)
    assert len(generated.depths) == pytest.approx(len(original.depths) / scale, rel=0.02)
    assert sum(generated.sizes) == pytest.approx(sum(original.sizes) / scale, rel=0.02)
    assert distance(generated.sizes, original.sizes) < 0.05
    assert distance(generated.files_in_directory, original.files_in_directory) < 0.05
    assert distance(generated.depths, original.depths) < 0.1


def test_a_large_collection_is_scaled_down_and_stays_alike(tmp_path: Path) -> None:
    dice = random.Random(1)
    sizes = [int(dice.lognormvariate(9, 2)) for _ in range(100_000)]
    directories = [(40_000, 0), *((12, 1) for _ in range(5_000))]
    seen = tree_profile.Look(sizes, directories, {size.bit_length(): [0.5] for size in sizes})
    text = tree_profile.recipe_text(seen)
    job = job_of(recipes.parse(text, "mine.toml"))
    scale = round(100_000 / job.files)
    assert job.files <= tree_profile.MOST_FILES
    assert job.total_bytes <= tree_profile.MOST_BYTES
    assert f"one in {scale}" in text
    assert job.total_bytes == pytest.approx(sum(sizes) / scale, rel=0.02)
    tree = tree_worker.Tree(*shape_of(job, tmp_path))
    generated = sorted(size for _, size, _ in tree.entries)
    assert distance(generated, sorted(sizes)) < 0.05
    assert len(tree.directories) == pytest.approx(5000 / scale, rel=0.02)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_generated_tree_compresses_as_the_original(share: float, tmp_path: Path) -> None:
    dice, original = random.Random(2), tmp_path / "original"
    original.mkdir()
    for number in range(50):
        noise = round(4096 * share)
        pages = (dice.randbytes(noise) + bytes(4096 - noise) for _ in range(20))
        (original / f"{number}").write_bytes(b"".join(pages))
    content = b"".join(files_in(made(recipe_of(original), tmp_path)).values())
    chunks = [content[at : at + tree_profile.CHUNK_BYTES] for at in range(0, len(content), tree_profile.CHUNK_BYTES)]
    left = sum(min(len(chunk), len(zlib.compress(chunk))) for chunk in chunks) / len(content)
    assert left == pytest.approx(share, abs=0.06)


def test_no_name_gets_into_the_recipe_and_no_link_is_followed(tmp_path: Path) -> None:
    outside, mine = tmp_path / "outside", tmp_path / "Liebesbriefe"
    (mine / "1998-Erika").mkdir(parents=True)
    outside.mkdir()
    (outside / "large").write_bytes(bytes(1_000_000))
    (mine / "1998-Erika" / "Steuer.odt").write_bytes(b"x" * 100)
    (mine / "elsewhere").symlink_to(outside)
    (mine / "large").symlink_to(outside / "large")
    os.mkfifo(mine / "pipe")
    text = tree_profile.recipe_text(tree_profile.look(mine))
    assert not any(name in text for name in ("Liebesbriefe", "1998", "Erika", "Steuer", "odt", "elsewhere", "outside"))
    job = job_of(recipes.parse(text, "mine.toml"))
    assert (job.files, job.total_bytes) == (1, 100)


def test_the_command_writes_a_recipe_that_the_program_reads_and_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 5000)
    os.utime(path, (1_000_000_000, 1_000_000_001))
    before = path.stat()
    tree_profile.look(tmp_path)
    assert path.stat() == before, "not even the access time"
    (tmp_path / "file").write_bytes(b"x" * 5000)
    output = tmp_path / "mine.toml"
    words = ("recipes", "--from", str(tmp_path), "--output", str(output))
    finished = fswizard(*words)
    assert f"fswizard run {output}" in finished.stderr
    assert [workload.name for workload in recipes.find(str(output)).workloads] == [
        "copy-onto", "delete-onto", "untar", "tar", "find", "read",
    ]  # fmt: skip
    again = fswizard(*words)
    assert again.returncode == 2
    assert "exists already" in again.stderr


@pytest.mark.root
def test_other_filesystems_are_not_entered(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "mount").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", tmp_path / "mount"], check=True)
    try:
        (tmp_path / "mount" / "other").write_bytes(b"xx")
        assert tree_profile.look(tmp_path).sizes == [1]
    finally:
        subprocess.run(["umount", tmp_path / "mount"], check=True)


@pytest.mark.parametrize("name", ["nowhere", "file", "empty"])
def test_what_cannot_be_looked_at_is_wrong_usage(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=name):
        tree_profile.look(tmp_path / name)


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
        ("sizes = [1, 5]", "sizes = [5, 1]", "the smallest first"),
        ("sizes = [1, 5]", "sizes = [-1, 5]", "whole numbers"),
        ("[2, 2]", "[2, 0]", "the smallest first"),
        ("[0, 0]", "[0, 0, 1]", "as many numbers as 'files_in_directory' has"),
        ("[0.5, 1]", "[0.5]", "as many numbers as 'sizes' has"),
        ("directories = 1", "directories = 2000000", "from 1 to 1000000"),
        ("0.5", "1.5", "'random_shares'"),
        ("[tree]", '[tree]\npath = "/home"', "'path' is not a known key"),
        (TREE, "", "a table \\[tree\\]"),
    ],
)
def test_what_is_wrong_with_the_table_is_told(old: str, new: str, words: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_bytes(b"x")
    text = tree_profile.recipe_text(tree_profile.look(tmp_path)).split("\n[tree]")[0] + TREE
    assert recipes.parse(text, "mine.toml")
    with pytest.raises(UsageError, match=words):
        recipes.parse(text.replace(old, new), "mine.toml")


# Recipes that the user makes


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "fswizard" / "recipes"


def text_titled(title: str) -> str:
    return own.like(tree_profile.look(Path(__file__).parents[1] / "recorded/smartctl"), title)


def shipped() -> list[Recipe]:
    return [recipe for recipe in recipes.available() if recipe.source == recipes.SHIPPED]


def test_a_recipe_is_kept_listed_as_ones_own_run_by_name_and_removed(directory: Path) -> None:
    saved = own.save(text_titled("Evening “work”"))
    assert (saved.name, saved.title, saved.group) == ("evening-work", "Evening “work”", "yours")
    assert saved.source == str(directory / "evening-work.toml")
    assert recipes.find("evening-work") == saved
    listing = fswizard("recipes").stdout
    assert listing.index("\nYours\n-----\n\nevening-work: Evening “work”") > listing.index("From published comparisons")
    own.remove(saved)
    assert not list(directory.iterdir())
    assert recipes.available() == tuple(shipped())
    own.remove(saved)
    another = own.save(text_titled('My "photos"'))
    assert (another.name, another.title) == ("my-photos", 'My "photos"')


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("", "'' can't be a recipe's name"),
        ("!?", "'!?' can't be a recipe's name"),
        ("日本", "can't be a recipe's name"),
        ("quick", "There is already a recipe called 'quick'"),
        ("Quick!", "There is already a recipe called 'quick'"),
        ("n" * 41, "'name' must be a short name"),
        ("a" + " " * 59 + "b", ""),
        ("../../etc/x", ""),
    ],
)
def test_a_bad_name_is_told_and_nothing_is_written_elsewhere(title: str, said: str, directory: Path) -> None:
    if said:
        with pytest.raises(UsageError) as caught:
            own.save(text_titled(title))
        assert said in caught.value.message
        assert not directory.exists()
    else:
        assert Path(own.save(text_titled(title)).source).parent == directory


def test_a_recipe_that_is_there_is_not_overwritten(directory: Path) -> None:
    directory.mkdir(parents=True)
    broken = directory / "mine.toml"
    broken.write_text("what somebody wrote")
    with pytest.raises(UsageError, match=r"mine\.toml exists already"):
        own.save(text_titled("Mine"))
    assert broken.read_text() == "what somebody wrote"


def test_where_nothing_can_be_written_that_is_told(directory: Path) -> None:
    directory.parent.parent.mkdir()
    directory.parent.write_text("a file where a directory should be")
    with pytest.raises(RunFailed, match="cannot be written: Not a directory"):
        own.save(text_titled("Mine"))


def test_a_disk_that_is_full_leaves_no_half_of_a_recipe(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory.mkdir(parents=True)
    opened = Path.open

    def full(path: Path, *arguments: Any, **keywords: Any) -> Any:
        if path.parent == directory:
            path.touch()
            return opened(Path("/dev/full"), "w", encoding="utf-8")
        return opened(path, *arguments, **keywords)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(RunFailed, match="No space left"):
        own.save(text_titled("Mine"))
    assert not list(directory.iterdir())


def test_only_ones_own_can_be_removed(directory: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Quick look is not a recipe of yours"):
        own.remove(recipes.find("quick"))
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_text(text_titled("Elsewhere"))
    with pytest.raises(UsageError, match="not a recipe of yours"):
        own.remove(recipes.find(str(elsewhere)))
    assert elsewhere.exists()
    saved = own.save(text_titled("Mine"))
    Path(saved.source).unlink()
    Path(saved.source).mkdir()
    with pytest.raises(RunFailed, match="cannot be deleted"):
        own.remove(saved)


def test_looking_through_a_directory_ends_when_nobody_waits_for_it(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"d{number}").mkdir()
        (tmp_path / f"d{number}" / "file").write_text("x")
    (tmp_path / "file").write_text("x")
    turns = iter([False, True])
    assert len(tree_profile.look(tmp_path, lambda: next(turns)).sizes) == 1
