"""A machine of a test's own as far as /etc and /mnt go, so that nothing enters the real /etc/fstab."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fswizard import language
from fswizard.disks.choice import member_of
from fswizard.disks.rights import DONE
from fswizard.disks.setting_up import LOCK
from fswizard.drives.devices import find_device
from fswizard.model.codec import to_json
from tests.loop.devices import Bench

FSTAB = "# of the test\nproc  /proc  proc  defaults  0  0\nLABEL=backup  /srv/backup  ext4  noauto  0  2"
"""Without an end of its last line."""
IN_LINE = f"""\
import json, os, subprocess, sys
sys.path[:] = {sys.path!r}
from fswizard.disks import setting_up
real, commands = setting_up._run, []
def run(command, given=()):
    commands.append(command)
    # HERE
    return real(command, given)
setting_up._run = run
# INSTEAD
"""


def process(here: str = "pass", instead: str = "setting_up.main()") -> list[str]:
    """The process of root's that sets a disk up; `here` is carried out before each of its commands."""
    return [sys.executable, "-c", IN_LINE.replace("# HERE", here).replace("# INSTEAD", instead)]


@dataclass
class PrivateMachine:
    """A mount namespace in which /etc is a copy and /mnt empty; with its process it ends, and all mounts in it."""

    etc: Path
    enter: list[str]
    """Before a command line, has it run there."""

    @property
    def fstab(self) -> str:
        return (self.etc / "fstab").read_text()

    @property
    def beside(self) -> list[str]:
        """Names of copies of fstab, and of whatever was left of writing it."""
        return sorted(path.name for path in self.etc.iterdir() if "fstab" in path.name and path.name != "fstab")

    @property
    def mounts(self) -> str:
        return self.said("cat", "/proc/self/mountinfo")

    def run(self, *argv: str, given: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run([*self.enter, *argv], input=given, capture_output=True, text=True, check=False)

    def said(self, *argv: str) -> str:
        done = self.run(*argv)
        assert done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def set_up(self, order: object, here: str = "pass") -> tuple[list[str], str, Any]:
        """The steps that were begun, what kind of error ended it, empty for none, and what it said at last."""
        done = self.run(*process(here), given=json.dumps(order))
        lines = [language.from_json(json.loads(line)) for line in done.stdout.splitlines()]
        assert lines and not done.stderr, done.stderr
        if lines[-1][0] == DONE:
            lines.pop()
        return [line[1] for line in lines[:-1]], *lines[-1]


def private_machine(bench: Bench, fstab: str = FSTAB, more: str = "true") -> PrivateMachine:
    """With that fstab and a lock of its own; `more` is a shell command that is carried out in it first."""
    etc = bench.directory / "etc"
    # Files that parallel tests remove are not in it.
    subprocess.run(["cp", "--archive", "/etc", str(etc)], check=False, stderr=subprocess.DEVNULL)
    (etc / "fstab").write_text(fstab)
    for lock in (Path(LOCK), etc / "lock"):
        lock.touch(0o600)
    own = f'mount --bind "$0" /etc && mount --bind /etc/lock {LOCK} && mount -t tmpfs -o mode=0755 none /mnt'
    script = f"{own} && {more} && echo in && exec cat"
    process = bench.process("unshare", "--mount", "--propagation", "private", "sh", "-c", script, str(etc))
    return PrivateMachine(etc, ["nsenter", f"--target={process.pid}", "--mount", "--wd=/", "--"])


def order(device: str, candidate: str = "ext4", **changes: object) -> list[object]:
    """To set the device up as that candidate, with some fields of the order or its device changed."""
    target = find_device(device)
    member = {**to_json(member_of(target, target.identifier)), "diskseq": target.device.diskseq}
    whole = {"candidate": candidate, "mount_point": "/mnt/films", "member": member, "content_type": ""}
    for name, value in changes.items():
        (whole if name in whole else member)[name] = value
    return list(whole.values())
