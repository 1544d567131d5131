"""Recipes are data from outside: usable, or refused with a clear error. Shipped ones are what they claim."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from random import Random
from typing import Any

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st

from fswizard import recipes
from fswizard.engines.fio import FioJob
from fswizard.engines.shared import fileserver_worker
from fswizard.errors import UsageError
from fswizard.model.codec import from_json, to_json
from fswizard.model.recipe import Recipe
from tests.fakes.command_line import fswizard

MIB = 1 << 20
SHIPPED = (
    "quick", "archive-disk", "backup", "build-tree", "cache-overflow", "container-layers", "databases",
    "desktop-programs", "desktop-ssd", "everyday", "fileserver", "fill", "four-jobs", "game-library", "kdiskmark",
    "mail-store", "photo-library", "randwrite-f2fs", "trees",
)  # fmt: skip
DIRECT = ("cache-overflow", "four-jobs", "kdiskmark", "randwrite-f2fs")
"""Those that go past the page cache, as the programs do that they stand for."""

HEAD: dict[str, Any] = {"schema": 1, "name": "mine", "title": "Mine", "why": "A test.", "minutes": 3, "image": "2G"}
HEAD["candidates"] = ["ext4", "xfs:noatime"]
FIO: dict[str, Any] = {"name": "write", "title": "Write", "engine": "fio", "metric": "iops"}
FIO.update(rw="randwrite", block="4K", size="256M", seconds=1.5, jobs=16, io_engine="psync", direct=False, fdatasync=8)
WORKLOADS: list[dict[str, Any]] = [
    workload
    for name in SHIPPED
    for workload in tomli.loads((recipes.shipped_directory() / f"{name}.toml").read_text("utf-8"))["workload"]
]
"""Those of the shipped recipes, of every engine."""


def toml(*workloads: dict[str, Any], **changes: Any) -> str:
    """A recipe's text; a change to None leaves the key out."""
    lines = _lines({**HEAD, **changes})
    for workload in workloads or (FIO,):
        lines += ["[[workload]]", *_lines(workload)]
    return "\n".join(lines)


def _lines(table: dict[str, Any]) -> list[str]:
    return [f"{json.dumps(key)} = {json.dumps(value)}" for key, value in table.items() if value is not None]


def test_a_recipe_says_what_is_measured() -> None:
    recipe = recipes.parse(toml(), "mine.toml")
    assert (recipe.name, recipe.minutes, recipe.image_bytes) == ("mine", 3.0, 2048 * MIB)
    assert recipe.candidates == ("ext4", "xfs:noatime")
    (workload,) = recipe.workloads
    options: dict[str, Any] = {"jobs": 16, "io_engine": "psync", "direct": False, "fdatasync": 8}
    assert workload.job == FioJob("randwrite", 4096, 256 * MIB, 1.5, **options)


def test_what_a_workload_before_made_is_not_made_again() -> None:
    reading = {**FIO, "name": "read", "rw": "randread"}
    first, second = recipes.parse(toml(reading, {**reading, "name": "again"}), "mine.toml").workloads
    assert (first.writes_bytes, second.writes_bytes) == (256 * MIB, 0)
    assert first.seconds > second.seconds
    fill = recipes.find("fill")
    empty, most, more = (fill.workloads[number].writes_bytes for number in (0, 2, 4))
    assert (most - empty, more - empty) == (fill.image_bytes * 80 // 100, fill.image_bytes * 10 // 100)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (toml({**FIO, "blok": "4K"}), "workload 1 (write): 'blok' is not a known key"),
        (toml({**FIO, "block": "4Q"}), "workload 1 (write): 'block': '4Q' is not a size"),
        (toml({**FIO, "size": None}), "workload 1 (write): Object missing required field `size`"),
        (toml({**FIO, "metric": "append_latency"}), "workload 1 (write): 'metric'"),
        (toml({**FIO, "engine": "filesever"}), "'engine'"),
        (toml({**FIO, "jobs": 100_000}), "jobs: Expected `int` <= 256"),
        (toml({**FIO, "name": "../x"}), ": name: Expected `str` matching"),
        (toml(FIO, FIO), "two workloads are called 'write'"),
        (toml(image="256M"), "'image'"),
        ("tree = {sizes = [3], directories = 'x'}\n" + toml(), ".toml: tree: "),
        ("a = " + "[" * 100_000, "not TOML"),
        (toml({**FIO, "metric": "x" * 99_999}), "'metric'"),
        (toml({**FIO, "metric": "sync_p99", "fdatasync": 0}), "write: 'metric' must be one of throughput, iops"),
    ],
)
def test_what_is_wrong_is_told_with_file_and_key(text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        recipes.parse(text, "mine.toml")
    assert caught.value.message.startswith("mine.toml: ") and words in caught.value.message
    assert len(f"{caught.value.message} {caught.value.hint}") < 500


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))


@given(st.sampled_from(WORKLOADS), st.data())
def test_any_value_of_any_key_is_a_recipe_or_a_complaint(workload: dict[str, Any], data: st.DataObject) -> None:
    table = data.draw(st.sampled_from([HEAD, workload]))
    key = data.draw(st.sampled_from(sorted(table)) | st.text(max_size=10))
    changed = {**table, key: data.draw(values)}
    try:
        text = toml(changed) if table is workload else toml(workload, **changed)
    except ValueError:
        return
    try:
        assert isinstance(recipes.parse(text, "x.toml"), Recipe)
    except UsageError as error:
        assert error.message.startswith("x.toml: ")


def test_the_shipped_recipes_can_all_be_used_and_a_misspelt_name_gets_their_names() -> None:
    assert recipes.available()[0].name == "quick"
    assert [*sorted(recipe.name for recipe in recipes.available())] == sorted(SHIPPED)
    assert recipes.broken() == ()
    with pytest.raises(UsageError) as caught:
        recipes.find("quikc")
    assert "archive-disk" in caught.value.hint


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_recipe_fits_into_its_own_time_and_survives_a_result_file(name: str) -> None:
    recipe = recipes.find(name)
    trial_s = sum(workload.seconds for workload in recipe.workloads) + 1.6
    assert 3 * len(recipe.candidates) * trial_s <= recipe.minutes * 60
    assert all(workload.why for workload in recipe.workloads)
    assert from_json(Recipe, json.loads(json.dumps(to_json(recipe)))) == recipe
    direct = [workload.title for workload in recipe.workloads if workload.job.direct]
    assert name in DIRECT or all("cache=none" in title for title in direct), "a program of that name does so"


def test_a_file_is_named_by_its_path_and_not_parsed_where_it_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xef\xbb\xbf" + toml().replace("\n", "\r\n").encode())
    assert recipes.find(str(path)).source == str(path)
    path.write_bytes(b"\xff" * 10_000_000)
    with pytest.raises(UsageError, match="over 1 MB"):
        recipes.load(path)
    with pytest.raises(UsageError):
        recipes.find("/nowhere/x.toml")


@pytest.fixture
def own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    directory = tmp_path / "fswizard" / "recipes"
    directory.mkdir(parents=True)
    return directory


def test_recipes_of_ones_own_are_listed_after_the_shipped_ones_or_in_their_place(own_directory: Path) -> None:
    (own_directory / "mine.toml").write_text(toml(group="desktop"))
    (own_directory / "fast.toml").write_text(toml(name="quick", title="My quick look"))
    assert recipes.find("quick").title == "My quick look"
    every = recipes.available()
    assert {recipe.name for recipe in every} == {*SHIPPED, "mine"}
    assert [(recipe.name, recipe.group) for recipe in every[-2:]] == [("quick", "yours"), ("mine", "yours")]


def test_a_broken_recipe_and_one_of_a_taken_name_hide_no_other_and_are_explained(own_directory: Path) -> None:
    (own_directory / "broken.toml").write_text(toml({**FIO, "block": "4Q"}))
    for name in ("mine", "theirs"):
        (own_directory / f"{name}.toml").write_text(toml())
    assert {recipe.name for recipe in recipes.available()} == {*SHIPPED, "mine"}
    assert recipes.find("mine").source.endswith("mine.toml")
    broken, taken = recipes.broken()
    assert "theirs.toml: 'name': " in taken.message and "mine.toml is called 'mine' too" in taken.message
    with pytest.raises(UsageError, match=r"broken\.toml: workload 1 \(write\): 'block'"):
        recipes.find("broken")
    done = fswizard("recipes")
    assert broken.message in done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_controls_in_a_recipe_are_escaped() -> None:
    assert recipes.parse(toml(title="a\u202eb\x1b]52;c"), "mine.toml").title == "a\\u202eb\\x1b]52;c"


def test_the_file_server_s_sizes_and_files_and_directories_are_distributed_as_filebench_s() -> None:
    options = fileserver_worker.Options("x", "50", "100000", "1310720", "16384", "60", "1")
    dice = Random(1)
    sizes = [options.size(dice) for _ in range(20_000)]
    assert statistics.mean(sizes) == pytest.approx(1_310_720, rel=0.03)
    assert statistics.pvariance(sizes) == pytest.approx(1_310_720**2 / 1.5, rel=0.1)
    assert sum(map(options.exists_at_first, range(100_000))) == 80_000
