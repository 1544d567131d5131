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
from tests.fakes.host import ROOMY
from tests.loop.tiny_run import MAIN
from tests.recipe_texts import writing

ROOT = Path(fswizard.__file__).parent.parent
USERS = pytest.mark.xdist_group("users")
"""Tests that share users, who are made once in one process."""
PASSWORD = "correct horse"
PROMPT = "[sudo] password for"
SYSTEM_PYTHON = "/usr/bin/python3"
"""The one of the tests may stand where nobody else can reach it."""


@dataclass
class User:
    """A user with a copy of the program, as after `git clone`, of all it needs, and a recipe that is over soon."""

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

    def start(self, *arguments: str, script: str = MAIN) -> subprocess.Popen[str]:
        """`fswizard`, or other Python, on a machine that says it has room."""
        return subprocess.Popen(
            self.command(f"{ROOMY}\n{script}", *arguments), cwd=self.home, text=True, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, *arguments: str, script: str = MAIN, code: int = 0) -> subprocess.CompletedProcess[str]:
        """To its end, with that exit code and no traceback."""
        process = self.start(*arguments, script=script)
        stdout, stderr = process.communicate(timeout=600)
        assert process.returncode == code, stdout + stderr
        assert "Traceback" not in stderr
        return subprocess.CompletedProcess(process.args, code, stdout, stderr)


@contextmanager
def user(rule: str) -> Iterator[User]:
    """A new user; `rule` is what sudoers says, with `USER` for the name, or empty."""
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
        for package in ("fswizard", "recipes"):
            shutil.copytree(ROOT / package, home / package, ignore=shutil.ignore_patterns("__pycache__"))
        (home / "packages").symlink_to(_packages())  # the tests' own may stand in root's home
        (home / "tiny.toml").write_text(writing("64M", "8M", 0.1, candidates=("ext4", "ext4:noatime")))
        subprocess.run(["chown", "--recursive", "--no-dereference", f"{name}:", str(home)], check=True)
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
