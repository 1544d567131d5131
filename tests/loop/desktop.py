"""A desktop session as udisks2 sees it: the real udevd, D-Bus, polkitd and udisksd, and a user who may use them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.loop.people import User

SCRIPT = Path(__file__).with_name("desktop.sh")
ACTIVE = "loop-setup,filesystem-mount,modify-device,rescan"
"""What polkit lets the active user of a local session do, of what a run asks udisks2 for (its policy file)."""


@dataclass
class Desktop(User):
    """A user in a session of their own."""

    holder: int = 0
    """Process whose mount namespace the session has."""

    @property
    def become(self) -> list[str]:
        return ["nsenter", f"--target={self.holder}", "--mount", f"--wd={self.home}", "--", *super().become]

    def in_session(self, *argv: str) -> str:
        """What a program says that root runs in the session."""
        command = ["nsenter", f"--target={self.holder}", "--mount", "--", *argv]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@contextmanager
def desktop(user: User, automounter: str = "") -> Iterator[Desktop]:
    """A session of the user's; `automounter` is a program that runs in parallel."""
    command = ["unshare", "--mount", "--propagation", "private", "sh", str(SCRIPT), user.name, ACTIVE, automounter]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert holder.stdin is not None and holder.stdout is not None
    try:
        assert holder.stdout.readline() == "ready\n"
        yield Desktop(user.name, user.uid, user.gid, user.home, holder.pid)
    finally:
        holder.stdin.close()
        holder.wait()
