"""Whom the helper works for."""

from __future__ import annotations

import contextlib
import os
import pwd
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fswizard.privileged.protocol import Refusal

CALLER_VARIABLES = ("SUDO_UID", "PKEXEC_UID")
"""Variables in which sudo and pkexec say who called them."""
READ_VARIABLES = (*CALLER_VARIABLES, "DOAS_USER")
"""All that are read."""
ROOT = 0
NO_USER = -1
UNSET = (1 << 32) - 1
"""Of a login's user: nobody logged in (linux/audit.h)."""


@dataclass(frozen=True, slots=True)
class User:
    """The invoking user: owner of the image and the mount point, and who workloads run as."""

    uid: int
    gid: int
    groups: tuple[int, ...]
    home: str
    by_polkit: bool = False
    """polkit let them do it, by the action for this very command line."""

    @property
    def needs_no_consent(self) -> bool:
        """Root may erase anyway, and polkit asked before it let the user do so."""
        return self.uid == ROOT or self.by_polkit


def invoking_user(environment: Mapping[str, str], proc: Path = Path("/proc")) -> User:
    """Who started this, as sudo or pkexec says; root where nobody else is behind it. Refusal for anybody else.

    Other ways to root's rights may pass on those variables as their caller set them: so the kernel must say the same.
    """
    said = {name: environment[name] for name in CALLER_VARIABLES if name in environment}
    uid, behind = _caller(proc)
    if uid == NO_USER or {*said.values()} - {str(uid)} or not (said or uid == ROOT):
        words = " and ".join(f"{name} is {value!r:.20}" for name, value in said.items())
        instead = " instead of doas" if "DOAS_USER" in environment else ""
        raise Refusal(
            "refused", f"{words or 'neither sudo nor pkexec says who calls'}, and {behind}; use sudo or pkexec{instead}"
        )
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        raise Refusal("refused", f"user {uid} has no entry in the user database") from None
    groups = os.getgrouplist(entry.pw_name, entry.pw_gid)
    by_polkit = "PKEXEC_UID" in said and not {"SUDO_UID", "DOAS_USER"} & environment.keys()
    return User(uid, entry.pw_gid, tuple(sorted(set(groups))), entry.pw_dir, by_polkit)


def _caller(proc: Path) -> tuple[int, str]:
    """User of the nearest process behind this one that is not root's alone, else who logged in; and both in words."""
    try:
        pid = int(os.readlink(proc / "self"))  # the helper's own number is another in the namespace that /proc shows
        while pid:
            lines = (proc / str(pid) / "status").read_text("utf-8", "backslashreplace").splitlines()
            status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
            real, effective, saved, _ = map(int, status["Uid"].split())
            if (real, effective, saved) != (ROOT, ROOT, ROOT):
                return real or NO_USER, f"user {real} runs {status['Name']} (process {pid}), which started it"
            pid = int(status["PPid"])
    except OSError as error:
        return NO_USER, f"a process that started it is gone: {error.strerror}"
    with contextlib.suppress(OSError):  # a process whose parents ended is init's, and still of that login
        login = int((proc / "self" / "loginuid").read_text())
        if login not in (ROOT, UNSET):
            return login, f"user {login} logged in to start it"
    return ROOT, "nobody but root started it"
