"""A disk that is plugged in or pulled is noticed: loop devices stand in for it."""

from __future__ import annotations

import threading

import pytest

from fswizard.drives import watch
from fswizard.model.drive import Drive
from tests.loop.devices import Bench, run
from tests.loop.machine_state import LIMIT_S, wait_until

pytestmark = pytest.mark.loop


def test_a_disk_that_comes_and_goes_is_noticed(bench: Bench) -> None:
    image = bench.file(size_bytes=16 << 20)
    seen: list[tuple[Drive, ...]] = []
    enough = threading.Event()
    watcher = threading.Thread(target=lambda: seen.extend(_until(enough, seen)), daemon=True)

    def names() -> set[str]:
        return {drive.model for drive in seen[-1]} if seen else set()

    def await_(present: bool) -> None:
        wait_until(lambda: (str(image) in names()) == present, LIMIT_S, "a disk is noticed")

    watcher.start()
    await_(False)
    device = bench.attach(image)
    await_(True)
    run("losetup", "--detach", device)
    await_(False)
    enough.set()
    watcher.join(LIMIT_S)
    assert not watcher.is_alive()


def _until(enough: threading.Event, seen: list[tuple[Drive, ...]]) -> list[tuple[Drive, ...]]:
    for drives in watch(enough.is_set):
        seen.append(drives)
    return []
