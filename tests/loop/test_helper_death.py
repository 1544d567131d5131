"""Whatever is killed: at once no mount, no loop device, no process is left, and the host saw no mount."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from tests.loop.channel import Channel, children, make_image
from tests.loop.machine_state import loops_below, wait_until_gone

pytestmark = [pytest.mark.root, pytest.mark.loop]

ROOT = Path(__file__).parents[2]
STAGES = ("attached", "writing")

CLIENT = """
import asyncio, sys
from pathlib import Path
from fswizard.targets.helper import Helper
from tests.loop.channel import nameless

async def main(image, stage):
    async with Helper.start() as helper:
        attached = await helper.attach(nameless(Path(image)))
        if stage != "attached":
            await helper.mkfs(attached.handle, "ext4", ("-q", "-F"))
            await helper.mount(attached, "ext4", ())
            write = "setsid sleep 1000 & while :; do dd if=/dev/zero of=file bs=1M count=16 status=none; done"
            process = await helper.run(["sh", "-c", write], cwd=attached.directory)
            print(process.pid, flush=True)
            await process.wait()
            print("workload ended", flush=True)
        else:
            print(0, flush=True)
        await asyncio.sleep(1000)

asyncio.run(main(*sys.argv[1:]))
"""


@dataclass
class Run:
    client: subprocess.Popen[str]
    image: Path
    workload: int

    @property
    def namespaces(self) -> int:
        return children(self.client.pid)[0]

    @property
    def helper(self) -> int:
        return children(self.namespaces)[0]

    def everybody(self) -> set[int]:
        """The client and all that came of it."""
        found, new = set[int](), {self.client.pid}
        while new:
            found |= new
            new = {child for pid in new for child in children(pid)}
        return found


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], Run]]:
    runs: list[Run] = []

    def start(stage: str) -> Run:
        image = make_image(tmp_path)
        client = subprocess.Popen(
            [sys.executable, "-c", CLIENT, image, stage],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT,
        )  # fmt: skip
        assert client.stdout
        runs.append(Run(client, image, int(client.stdout.readline())))
        return runs[0]

    yield start
    for run in runs:
        run.client.kill()
        run.client.communicate()


def alive(pids: set[int]) -> list[str]:
    found = []
    for pid in pids:
        try:
            status = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            continue
        if status.rpartition(")")[2].split()[0] not in "ZX":
            found.append(status[:60])
    return found


def assert_nothing_is_left(run: Run, pids: set[int]) -> None:
    wait_until_gone(lambda: alive(pids) + loops_below(run.image.parent), "nothing of the helper is left")
    assert not list(run.image.parent.iterdir()), "not even the image"


def slow(*rows: tuple[object, ...]) -> list[object]:
    """What the kernel ends in the same way as the rows before."""
    return [pytest.param(*row, marks=pytest.mark.slow) for row in rows]


@pytest.mark.parametrize(
    ("stage", "number"),
    [
        ("attached", signal.SIGKILL), ("writing", signal.SIGKILL), ("writing", signal.SIGINT),
        *slow(("attached", signal.SIGINT), *product(STAGES, (signal.SIGTERM, signal.SIGHUP))),
    ],
)  # fmt: skip
def test_when_the_client_is_killed_all_goes_with_it(
    start: Callable[[str], Run], stage: str, number: signal.Signals
) -> None:
    run = start(stage)
    pids = run.everybody()
    assert "/run/fswizard" not in Path("/proc/mounts").read_text(), "the host sees the mount"
    assert os.getpgid(run.namespaces) != os.getpgid(run.client.pid), "the terminal's signals would reach the helper"
    run.client.send_signal(number)
    assert_nothing_is_left(run, pids)


@pytest.mark.parametrize(
    ("stage", "victim"),
    [("writing", "namespaces"), ("writing", "helper"), *slow(*product(["attached"], ["namespaces", "helper"]))],
)
def test_when_the_helper_is_killed_all_but_the_client_goes_with_it(
    start: Callable[[str], Run], stage: str, victim: str
) -> None:
    run = start(stage)
    pids = run.everybody() - {run.client.pid}
    os.kill(getattr(run, victim), signal.SIGKILL)
    assert_nothing_is_left(run, pids)


def test_when_a_workload_is_killed_the_helper_goes_on(start: Callable[[str], Run]) -> None:
    run = start("writing")
    os.kill(run.workload, signal.SIGKILL)
    assert run.client.stdout
    assert run.client.stdout.readline() == "workload ended\n"
    assert run.client.poll() is None
    assert children(run.helper) == []


def test_the_helper_leaves_it_to_the_client_what_a_signal_means(tmp_path: Path) -> None:
    with Channel() as channel:
        job = {"id": 1, "verb": "run", "argv": ["sleep", "1000"], "cwd": str(tmp_path), "env": {}}
        channel.send(json.dumps(job).encode())
        program = channel.receive()["ok"]["pid"]
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            os.kill(channel.helper_pid, number)
            assert "ok" in channel.ask("hello")
        assert len(alive({channel.helper_pid, program})) == 2
