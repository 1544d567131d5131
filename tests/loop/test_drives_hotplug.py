"""A disk that is plugged in or pulled is noticed: loop devices stand in for it."""

from __future__ import annotations

import threading

import pytest

from fswizard.drives import watch
from tests.loop.devices import Bench, run
from tests.loop.machine_state import LIMIT_S, wait_until

pytestmark = pytest.mark.loop


def test_a_disk_that_comes_and_goes_is_noticed(bench: Bench) -> None:
    image = bench.file(size_bytes=16 << 20)
    over, seen = threading.Event(), list[set[str]]()

    def look() -> None:
        for drives in watch(over.is_set):
            seen.append({drive.model for drive in drives})

    def await_(present: bool) -> None:
        wait_until(lambda: seen and (str(image) in seen[-1]) == present, LIMIT_S, "a disk is noticed")

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    await_(False)
    device = bench.attach(image)
    await_(True)
    run("losetup", "--detach", device)
    await_(False)
    over.set()
    watcher.join(LIMIT_S)
    assert not watcher.is_alive()
