"""Short names for directories: they differ, and tell nobody's name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fswizard.model.places import formerly, short_names


@pytest.mark.parametrize(
    ("directories", "names"),
    [
        (("/home", "/"), ("home", "system")),
        (("/mnt/archive", "/mnt/backup"), ("archive", "backup")),
        (("/mnt/a/test", "/mnt/b/test"), ("a", "b")),
        (("/home/anne", "/media/anne/stick"), ("home", "stick")),
        (("/home/anne/one", "/home/anne/one/two"), ("one", "two")),
        (("/home/anne", "/home/bert"), ("home 1", "home 2")),
        (("/run/media/anne/stick", "/root"), ("stick", "home")),
        (("/srv/x/data", "/var/x/data"), ("data 1", "data 2")),
        (("/var/tmp", "/srv"), ("tmp", "srv")),
    ],
)
def test_places_have_short_names_that_differ(directories: tuple[str, ...], names: tuple[str, ...]) -> None:
    assert short_names(directories) == names


def test_names_that_were_paths_become_short_and_others_stay() -> None:
    assert formerly(("ext4@/home/anne", "xfs:noatime", "xfs@/mnt/b")) == {
        "ext4@/home/anne": "home (ext4)", "xfs@/mnt/b": "b (xfs)",
    }  # fmt: skip


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map("/".join), min_size=1, max_size=6))
def test_no_two_places_have_the_same_name(paths: list[str]) -> None:
    directories = list(dict.fromkeys(f"/home/anne/{path}" for path in paths))
    names = short_names(directories)
    assert len(set(names)) == len(directories)
    assert "anne" not in "".join(names)
