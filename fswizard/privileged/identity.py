"""Whom the helper works for, and opening files with that person's rights instead of root's."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from fswizard.privileged import system_calls
from fswizard.privileged.protocol import Refusal


@dataclass(frozen=True, slots=True)
class Person:
    """The invoking user: owner of the image and the mount point, and who workloads run as."""

    uid: int
    gid: int
    groups: tuple[int, ...]
    home: str


def invoking_person(environment: Mapping[str, str]) -> Person:
    """Who started this: as sudo tells, which sets SUDO_UID itself, else the real user."""
    uid = int(environment.get("SUDO_UID", os.getuid()))
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        gid = int(environment.get("SUDO_GID", os.getgid()))
        return Person(uid, gid, (gid,), "/")
    groups = os.getgrouplist(entry.pw_name, entry.pw_gid)
    return Person(uid, entry.pw_gid, tuple(sorted(set(groups))), entry.pw_dir)


@contextmanager
def acting_as(person: Person) -> Iterator[None]:
    """Look at files with the person's rights, so that root is no key to what the person cannot reach."""
    if person.uid == 0:
        yield
        return
    groups, gid = os.getgroups(), os.getegid()
    os.setgroups(person.groups)
    os.setegid(person.gid)
    os.seteuid(person.uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(gid)
        os.setgroups(groups)
        system_calls.die_with_parent()


def open_directory(path: str, person: Person) -> int:
    """Descriptor of a directory that is the person's own; Refusal where it is anything else."""
    descriptor = _open(path, os.O_RDONLY | os.O_DIRECTORY, person)
    owner = os.fstat(descriptor).st_uid
    if owner != person.uid:
        os.close(descriptor)
        raise Refusal("refused", f"{path} belongs to user {owner}")
    return descriptor


def _open(path: str, flags: int, person: Person) -> int:
    with acting_as(person):
        try:
            return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise Refusal("refused", f"{path}: {error.strerror}") from error
