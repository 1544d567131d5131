"""The kernel of the simulated machine, built once from the distribution's sources and kept.

User-Mode Linux is a kernel that is a program of the host. With `time-travel=inf-cpu` its clock stands still while it
computes and jumps to what it waits for: https://docs.kernel.org/virt/uml/user_mode_linux_howto_v2.html. What a run says
is then about its disks alone.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.long.vm.root import CACHE

VERSION = "6.1"
"""Of the distribution that the tests run on; the documents had 3.16 to 4.19."""
SOURCES = Path(f"/usr/src/linux-source-{VERSION}.tar.xz")
PACKAGES = f"linux-source-{VERSION} gcc make flex bison bc libelf-dev"
HERE = Path(__file__).parent
DRIVER = HERE / "driver"
CONFIG = HERE / "kernel.config"
CHANGES = (
    ("arch/x86/um/user-offsets.c", "DEFINE_LONGS(HOST_FP_SIZE, 2696)", "DEFINE_LONGS(HOST_FP_SIZE, 12288)"),
    ("arch/um/include/linux/time-internal.h", "#define TIMER_MULTIPLIER 256", "#define TIMER_MULTIPLIER 1024"),
)
"""File, text and new text. Bytes for registers: what AVX-512 needs is too little where AMX is. Nanoseconds that a look
at the clock takes: fio looks until 64 ms have passed before it begins."""


def build() -> Path:
    """The kernel of these sources, from the cache where it is there; otherwise it takes five minutes and 4 GB.

    Raises FileNotFoundError without sources, CalledProcessError where something does not compile.
    """
    kernel = CACHE / f"linux-{_name()}"
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "kernel-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kernel.exists():
            for old in CACHE.glob("linux-*"):
                old.unlink()
            _make(kernel)
    return kernel


def _name() -> str:
    """Of all that it is made of."""
    parts = (CONFIG, *sorted(DRIVER.iterdir()))
    if not SOURCES.exists():
        raise FileNotFoundError(f"{SOURCES} isn't there: install {PACKAGES}")
    told = [
        f"{SOURCES.stat().st_size} {SOURCES.stat().st_mtime}".encode(),
        repr(CHANGES).encode(),
        *(path.read_bytes() for path in parts),
    ]
    return hashlib.sha256(b"\0".join(told)).hexdigest()[:16]


def _make(kernel: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        subprocess.run(["tar", "--extract", "--file", SOURCES, "--directory", directory, "--strip=1"], check=True)
        tree = Path(directory)
        for name, text, new_text in CHANGES:
            source = tree / name
            source.write_text(source.read_text().replace(text, new_text))
        shutil.copytree(DRIVER, tree / "drivers/block/simdisk")
        with (tree / "drivers/block/Makefile").open("a") as makefile:
            makefile.write("obj-y += simdisk/\n")
        for command in (
            ("make", "ARCH=um", "defconfig"),
            ("scripts/kconfig/merge_config.sh", "-m", ".config", str(CONFIG)),
            ("make", "ARCH=um", "olddefconfig"),
            ("sh", "-c", 'exec make ARCH=um -j"$(nproc)" linux'),
        ):
            subprocess.run(command, cwd=tree, check=True, stdout=subprocess.DEVNULL)
        shutil.copy(tree / "linux", built := kernel.with_suffix(".new"))
        built.rename(kernel)
