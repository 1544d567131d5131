"""The programs that the helper starts: found where root's programs live, with next to no environment."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Mapping, Sequence

from fswizard.privileged.identity import Person
from fswizard.privileged.protocol import Refusal

ROOT_PATH = "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin:/run/current-system/sw/bin"
ROOT_ENVIRONMENT = {"PATH": ROOT_PATH, "LC_ALL": "C"}
WORKLOAD_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin:/run/current-system/sw/bin"
PASSED_ON = frozenset({"TMPDIR", "HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "BORG_BASE_DIR", "BORG_PASSPHRASE"})
"""Variables that a workload may be given. None of them means anything to the loader or to setpriv."""


def find(name: str) -> str:
    """Path of a program that nobody but root can change; Refusal where there is none."""
    path = shutil.which(name, path=ROOT_PATH)
    if path is None:
        raise Refusal("missing", f"{name} is not installed")
    status = os.stat(path)
    if status.st_uid != 0 or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Refusal("refused", f"{path} can be changed by others than root")
    return path


def without_rights(person: Person) -> tuple[str, ...]:
    """The command that gives up every right but the person's own, before the argument list of a workload.

    For uid 0 the secure bits keep the kernel from handing the rights back at the next exec (capabilities(7)).
    """
    return (
        find("setpriv"),
        f"--reuid={person.uid}",
        f"--regid={person.gid}",
        f"--groups={','.join(map(str, person.groups))}",
        "--no-new-privs",
        "--bounding-set=-all",
        "--inh-caps=-all",
        "--ambient-caps=-all",
        "--securebits=+noroot,+noroot_locked",
        "--",
    )


def workload_environment(person: Person, given: Mapping[str, str]) -> dict[str, str]:
    if refused := given.keys() - PASSED_ON:
        raise Refusal("refused", f"the variable {min(refused)!r:.40} is not passed on")
    return {"PATH": WORKLOAD_PATH, "HOME": person.home, "TMPDIR": "/tmp", "LC_ALL": "C.UTF-8", **given}


def resolved(argv: Sequence[str]) -> tuple[str, ...]:
    """`argv` with the program's full path, where workloads look for it; Refusal where it is absent."""
    path = shutil.which(argv[0], path=WORKLOAD_PATH)
    if path is None:
        raise Refusal("missing", f"{argv[0]} is not installed")
    return (path, *argv[1:])
