"""Disks that take the time of a real one: a plugin of nbdkit in C, nbdfuse and a loop device.

`disk_plugin.c` says what each model does. The way to the plugin and back takes 0.2 to 0.5 ms, on a busy machine more,
and adds to the time of the model: little for a hard disk, but an SSD answers single requests as slowly as an old one.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Literal

from tests.loop.devices import Bench, run
from tests.loop.failing_host import WITH_US, nbd_device, nbdkit

Model = Literal["hdd", "ssd"]
SOURCE = Path(__file__).with_name("disk_plugin.c")
HEADER = Path("/usr/include/nbdkit-plugin.h")
AT_ONCE = 32
"""Requests that a disk answers side by side."""


@contextmanager
def disk(model: Model, size_bytes: int, directory: Path) -> Iterator[str]:
    """A loop device that takes as long as the model; gone afterwards, with its content, which lies in memory."""
    plugin, socket = directory / "disk_plugin.so", directory / "disk.socket"
    run("cc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", str(plugin), str(SOURCE), "-lm")
    first = (*WITH_US, *_priority())
    with ExitStack() as undo:
        settings = (f"model={model}", f"size={size_bytes}")
        undo.enter_context(nbdkit(socket, first, f"--threads={AT_ONCE}", str(plugin), *settings))
        device, _ = undo.enter_context(nbd_device(directory / "disk", socket, first))
        # As Linux treats such a disk, where the kernel lets us; some of it would stay with the device's number.
        for name, value in {
            "scheduler": "mq-deadline",
            "rotational": f"{model == 'hdd':d}",
            "read_ahead_kb": "128",
        }.items():
            setting = Path("/sys/block", Path(device).name, "queue", name)
            before = re.sub(r".*\[(.+)\].*", r"\1", setting.read_text())
            with suppress(OSError):
                setting.write_text(value)
                undo.callback(setting.write_text, before)
        yield device


@contextmanager
def host(model: Model, size_bytes: int, directory: Path) -> Iterator[Path]:
    """The directory of an ext4 on such a disk, which does nothing in the background."""
    with ExitStack() as undo:
        device = undo.enter_context(disk(model, size_bytes, directory))
        run("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", device)
        yield Bench(directory, undo).mount(device, name="host")


def _priority() -> tuple[str, ...]:
    """A disk does not wait for a processor."""
    real_time = ("chrt", "--rr", "1")
    allowed = subprocess.run([*real_time, "true"], check=False, capture_output=True).returncode == 0
    return real_time if allowed else ("nice", "-n", "-20")
