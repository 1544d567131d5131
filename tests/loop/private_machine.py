"""A machine of a test's own as far as /etc and /mnt go, so that nothing enters the real /etc/fstab."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fswizard.filesystems import parse_candidate
from fswizard.privileged import rights
from tests.loop.channel import HELPER, about, called_directly
from tests.loop.devices import Bench

FSTAB = "# of the test\nproc  /proc  proc  defaults  0  0\nLABEL=backup  /srv/backup  ext4  noauto  0  2"
"""Without an end of its last line."""


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

    def run(self, *argv: str, given: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        environment = called_directly() | environment
        return subprocess.run(
            [*self.enter, *argv], input=given, capture_output=True, text=True, check=False, env=environment
        )

    def said(self, *argv: str) -> str:
        done = self.run(*argv)
        assert done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def set_up(self, request: Mapping[str, Any], before: Sequence[str] = ()) -> tuple[list[str], dict[str, Any]]:
        """The steps that the helper began, and how it ended."""
        done = self.run(*before, *HELPER, rights.SET_UP, given=json.dumps(request) + "\n")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        assert lines and not done.stderr, done.stderr
        return [line["step"] for line in lines[:-1]], lines[-1]


def copy_of_etc(bench: Bench, fstab: str = FSTAB) -> Path:
    """With that fstab. What tests beside this one take away meanwhile is not in it."""
    etc = bench.directory / "etc"
    subprocess.run(["cp", "--archive", "/etc", str(etc)], check=False, stderr=subprocess.DEVNULL)
    (etc / "fstab").write_text(fstab)
    return etc


def private_machine(bench: Bench, fstab: str = FSTAB, more: str = "true") -> PrivateMachine:
    """With that fstab; `more` is a shell command that is carried out in it first."""
    etc = copy_of_etc(bench, fstab)
    script = f'mount --bind "$0" /etc && mount -t tmpfs -o mode=0755 none /mnt && {more} && echo in && exec cat'
    process = bench.process("unshare", "--mount", "--propagation", "private", "sh", "-c", script, str(etc))
    return PrivateMachine(etc, ["nsenter", f"--target={process.pid}", "--mount", "--wd=/", "--"])


def request(device: str, candidate: str = "ext4", **changes: object) -> dict[str, Any]:
    """To set the device up as that candidate, with some fields changed."""
    chosen = parse_candidate(candidate)
    made = chosen.filesystem
    what = {
        "filesystem": made.name, "arguments": list(chosen.mkfs_arguments(scratch=False)),
        "mount_type": made.mount_type, "options": list(chosen.mount_options), "fsck_pass": made.fsck_pass,
        "partition": False, "label": "films", "mount_point": "/mnt/media/films", "owner": "daemon",
        "may_be_absent": True,
    }  # fmt: skip
    return {"id": 1, "verb": "set_up", **about(device), **what, **changes}
