"""Unprivileged users of this machine, made for tests and taken away after them."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import pwd
import re
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, PackagePath, files, requires
from pathlib import Path

import pytest

import fswizard
from fswizard.errors import FswizardError
from fswizard.system import commands
from tests.recipe_texts import writing

USERS = pytest.mark.xdist_group("users")
"""Tests that share users, who are made once in one process."""
PASSWORD = "correct horse"
PROMPT = "[sudo] password for"
SYSTEM_PYTHON = "/usr/bin/python3"
"""The one of the tests may stand where nobody else can reach it."""


@dataclass
class User:
    """A user with a copy of the program, as after `git clone`, and of all it needs."""

    name: str
    uid: int
    gid: int
    home: Path

    def command(self, script: str, *arguments: str) -> list[str]:
        """Runs `script` as this user, with nothing of the tests' own rights and environment."""
        code = f"import sys; sys.path[:0] = {[str(self.home), str(self.home / 'packages')]!r}\n{script}"
        return [*self.become, SYSTEM_PYTHON, "-c", code, *arguments]

    @property
    def become(self) -> list[str]:
        """Before a command line, has it run as this user."""
        become = ["setpriv", f"--reuid={self.uid}", f"--regid={self.gid}", "--init-groups", "--inh-caps=-all"]
        clean = ["env", "-i", f"HOME={self.home}", f"USER={self.name}", "PATH=/usr/local/bin:/usr/bin:/bin"]
        return [*become, *clean]

    def run(self, script: str, *arguments: str) -> str:
        done = subprocess.run(
            self.command(script, *arguments), capture_output=True, text=True, check=False, cwd=self.home, timeout=60,
            start_new_session=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@contextmanager
def user(rule: str) -> Iterator[User]:
    """A new user; `rule` is what sudoers says, with `USER` for the name, or empty."""
    if commands.find("useradd") is None or commands.find("chpasswd") is None:
        pytest.skip("useradd and chpasswd are not installed")
    _check_python()
    name = f"fswiz{secrets.token_hex(3)}"
    sudoers = Path("/etc/sudoers.d") / name
    add = ["useradd", "--create-home", "--base-dir", "/var/tmp", "--shell", "/bin/sh", name]
    with _one_at_a_time():
        subprocess.run(add, check=True)
    try:
        with _one_at_a_time():
            subprocess.run(["chpasswd"], input=f"{name}:{PASSWORD}", text=True, check=True)
        entry = pwd.getpwnam(name)
        if rule:
            sudoers.write_text(rule.replace("USER", name) + "\n")
            sudoers.chmod(0o440)
        home = Path(entry.pw_dir)
        shutil.copytree(Path(fswizard.__file__).parent, home / "fswizard", ignore=shutil.ignore_patterns("__pycache__"))
        for path in (home, *(home / "fswizard").rglob("*"), home / "fswizard"):
            os.chown(path, entry.pw_uid, entry.pw_gid)
        (home / "packages").symlink_to(_packages())  # the tests' own may stand in root's home
        yield User(name, entry.pw_uid, entry.pw_gid, home)
    finally:
        with contextlib.suppress(FileNotFoundError):
            sudoers.unlink()
        with _one_at_a_time():
            subprocess.run(["userdel", "--remove", "--force", name], check=True, capture_output=True)


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Programs that change users give up after a while when another one does so, too."""
    directory = os.open("/etc", os.O_RDONLY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        yield
    finally:
        os.close(directory)


def with_packages(made: User) -> User:
    """The program with its recipes, and one that is over soon."""
    root = Path(fswizard.__file__).parent.parent
    shutil.copytree(root / "recipes", made.home / "recipes")
    (made.home / "tiny.toml").write_text(writing("64M", "8M", 0.1, candidates=("ext4", "ext4:noatime")))
    subprocess.run(["chown", "--recursive", "--no-dereference", f"{made.uid}:{made.gid}", str(made.home)], check=True)
    return made


@cache
def _packages() -> Path:
    """A copy of them that every user may read, until the tests end."""
    directory = Path(tempfile.mkdtemp(prefix="fswizard-packages-", dir="/var/tmp"))
    atexit.register(shutil.rmtree, directory)
    for file in set(_needed("fswizard")):
        source, target = Path(str(file.locate())), directory / file
        if source.is_file() and ".." not in file.parts:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    directory.chmod(0o755)
    return directory


def _needed(name: str) -> Iterator[PackagePath]:
    """Files of all that a distribution requires."""
    for requirement in requires(name) or ():
        if match := re.match(r"[\w.-]+(?=[^;]*$)", requirement):
            with contextlib.suppress(PackageNotFoundError):
                yield from files(match[0]) or ()
                yield from _needed(match[0])


def _check_python() -> None:
    check = [SYSTEM_PYTHON, "-c", "import sys; sys.exit(sys.version_info < (3, 10))"]
    try:
        good = commands.query(check).exit_code == 0
    except FswizardError:
        good = False
    if not good:
        pytest.skip(f"{SYSTEM_PYTHON} is absent or older than 3.10")
