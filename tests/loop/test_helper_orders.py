"""Orders of verbs that once went wrong: each was found by reading or by `test_helper_sequences`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.loop.channel import Channel, make_image, nameless
from tests.loop.machine_state import loops_below
from tests.loop.test_helper_refusals import refused

pytestmark = [pytest.mark.root, pytest.mark.loop]


@pytest.fixture
def joined(tmp_path: Path) -> Iterator[tuple[Channel, int]]:
    """A helper, and the handle of two images that are one."""
    with Channel() as channel:
        images = [nameless(make_image(tmp_path, 128 << 20)) for _ in range(2)]
        handles = [channel.ask("attach", given=image)["ok"]["handle"] for image in images]
        yield channel, channel.ask("join", handles=handles)["ok"]["handle"]


def test_a_group_is_no_part_of_another_one(joined: tuple[Channel, int], tmp_path: Path) -> None:
    """Else its devices took orders again once the other one was detached."""
    channel, group = joined
    other = channel.ask("attach", given=nameless(make_image(tmp_path)))["ok"]["handle"]
    refused(channel.ask("join", handles=[group, other]), "no part of another")
    assert "ok" in channel.ask("detach", handle=group)


@pytest.mark.btrfs
def test_after_a_btrfs_that_failed_another_filesystem_is_made_and_mounted(joined: tuple[Channel, int]) -> None:
    """Without the options that say where a btrfs has its further devices."""
    channel, group = joined

    def exit_code(verb: str, **fields: Any) -> int:
        return int(channel.ask(verb, handle=group, **fields)["ended"]["exit_code"])

    assert exit_code("build", filesystem="btrfs", arguments=["-f", "-n", "3"], level="raid1", missing=1)
    assert exit_code("mkfs", filesystem="ext4", arguments=["-q"]) == 0
    assert exit_code("mount", filesystem="ext4", options=[]) == 0


def test_two_helpers_never_make_two_devices_of_one_image(tmp_path: Path) -> None:
    """Nor does one alone, of what root finds again."""
    image = make_image(tmp_path)
    kept = os.open(image, os.O_PATH)
    with Channel() as first, Channel() as second:
        assert "ok" in first.ask("attach", given=nameless(image))
        for channel in (first, second):
            again = os.open(f"/proc/self/fd/{kept}", os.O_RDWR)
            assert channel.ask("attach", given=again)["error"]["text"] == "the image is attached already"
        assert len(loops_below(tmp_path)) == 1
    os.close(kept)
