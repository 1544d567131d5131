"""Recipes that the user makes are files like any other: checked, listed as theirs, run by name, and removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from fswizard import recipes
from fswizard.errors import RunFailed, UsageError
from fswizard.model.recipe import Recipe
from fswizard.recipes import own, tree_profile
from tests.fakes.command_line import fswizard


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "fswizard" / "recipes"


def made(title: str) -> str:
    return own.like(tree_profile.look(Path(__file__).with_name("data")), title)


def shipped() -> list[Recipe]:
    return [recipe for recipe in recipes.available() if recipe.source == recipes.SHIPPED]


def test_a_recipe_is_kept_listed_as_ones_own_run_by_name_and_removed(directory: Path) -> None:
    saved = own.save(made("Evening “work”"))
    assert (saved.name, saved.title, saved.group) == ("evening-work", "Evening “work”", "yours")
    assert saved.source == str(directory / "evening-work.toml")
    assert recipes.find("evening-work") == saved
    listing = fswizard("recipes").stdout
    assert listing.index("\nYours\n-----\n\nevening-work: Evening “work”") > listing.index("From published comparisons")
    own.remove(saved)
    assert not list(directory.iterdir())
    assert recipes.available() == tuple(shipped())
    own.remove(saved)


def test_a_recipe_like_a_directory_gets_the_name_that_was_typed() -> None:
    saved = own.save(made('My "photos"'))
    assert (saved.name, saved.title) == ("my-photos", 'My "photos"')


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
            own.save(made(title))
        assert said in caught.value.message
        assert not directory.exists()
    else:
        assert Path(own.save(made(title)).source).parent == directory


def test_a_recipe_that_is_there_is_not_overwritten(directory: Path) -> None:
    directory.mkdir(parents=True)
    broken = directory / "mine.toml"
    broken.write_text("what somebody wrote")
    with pytest.raises(UsageError, match=r"mine\.toml exists already"):
        own.save(made("Mine"))
    assert broken.read_text() == "what somebody wrote"


def test_where_nothing_can_be_written_that_is_told(directory: Path) -> None:
    directory.parent.parent.mkdir()
    directory.parent.write_text("a file where a directory should be")
    with pytest.raises(RunFailed, match="cannot be written: Not a directory"):
        own.save(made("Mine"))


def test_a_disk_that_is_full_leaves_no_half_of_a_recipe(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory.mkdir(parents=True)
    opened = Path.open

    def full(path: Path, *arguments: str, **keywords: str):  # type: ignore[no-untyped-def]
        if path.parent == directory:
            path.touch()
            return opened(Path("/dev/full"), "w", encoding="utf-8")
        return opened(path, *arguments, **keywords)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(RunFailed, match="No space left"):
        own.save(made("Mine"))
    assert not list(directory.iterdir())


def test_only_ones_own_can_be_removed(directory: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Quick look is not a recipe of yours"):
        own.remove(recipes.find("quick"))
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_text(made("Elsewhere"))
    with pytest.raises(UsageError, match="not a recipe of yours"):
        own.remove(recipes.find(str(elsewhere)))
    assert elsewhere.exists()
    saved = own.save(made("Mine"))
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
