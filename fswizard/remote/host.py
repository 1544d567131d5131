"""Another machine by OpenSSH, as its user has set that up: this program is brought there once, and started."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import platform
import re
import shlex
import stat
import sys
import tempfile
import zipfile
from functools import cached_property
from typing import Any

from fswizard.errors import FswizardError, Missing, Refused, RunFailed, UsageError
from fswizard.model.text import safe, safe_lines
from fswizard.remote.archive import archive
from fswizard.system import commands
from fswizard.system.process import Finished
from fswizard.targets.privilege import CARRIED

CONNECT_S = 30
FIRST_LIMIT_S = 300.0
"""For the first connection: somebody may have to type a password, and a slow line has to carry 3 MB."""
SSH_FAILED = 255
LONGEST_LINE_BYTES = 16 << 20
OPTIONS = (
    "-o", f"ConnectTimeout={CONNECT_S}", "-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=3",
    "-o", "ControlMaster=auto", "-o", "ControlPersist=60",
)  # fmt: skip
"""One connection carries all that follows: a password is asked for once. A cut is noticed after half a minute."""
CACHE = 'd="${XDG_CACHE_HOME:-$HOME/.cache}/fswizard"'
LOOK = """\
import hashlib, json, platform, sys
try:
    have = hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest() == sys.argv[2]
except OSError:
    have = False
print(json.dumps({"python": platform.python_version(), "machine": platform.machine(), "have": have}))
"""
BRING = """\
import hashlib, os, shutil, sys
name, digest = sys.argv[1:]
os.makedirs(os.path.dirname(name), mode=0o700, exist_ok=True)
data = sys.stdin.buffer.read()
if hashlib.sha256(data).hexdigest() != digest:
    sys.exit("what came is not what was sent")
new = "%s.%d" % (name, os.getpid())
with open(new, "wb") as file:
    file.write(data)
os.rename(new, name)
"""


class Host:
    """A machine that ssh reaches by `name`."""

    def __init__(self, name: str) -> None:
        """UsageError where that is no name of a machine."""
        if not re.fullmatch(r"[\w.@:%\[\]+~-]+", name) or name.startswith("-"):
            raise UsageError(f"{safe(name)!r} is not the name of a machine.", "Write --on HOST or --on USER@HOST.")
        self.name = name
        self._options = (*OPTIONS, "-o", f"ControlPath={_directory()}/fswizard-%C")

    @cached_property
    def _digest(self) -> str:
        return hashlib.sha256(archive()).hexdigest()

    @property
    def _program(self) -> str:
        """For its shell, where `d` is the cache."""
        return f'"$d/fswizard-{self._digest[:16]}.pyz"'

    def ssh(self, script: str, *, terminal: bool = False, asks: bool = True) -> tuple[str, ...]:
        """The command line that has its shell do `script`; `asks` where ssh may ask something on the terminal."""
        quiet = () if asks else ("-o", "BatchMode=yes")
        there = f"exec sh -c {shlex.quote(script)}"
        return (commands.located("ssh"), *self._options, *quiet, *(("-t",) if terminal else ("-T",)), self.name, there)

    def program(self, *words: str, terminal: bool = False, asks: bool = True) -> tuple[str, ...]:
        """The command line that runs this program there; `prepare` comes first."""
        return self.ssh(
            f"{CACHE}; export {CARRIED}=1; exec python3 {self._program} {shlex.join(words)}",
            terminal=terminal,
            asks=asks,
        )

    def prepare(self) -> None:
        """Bring this program there, where it is not yet. FswizardError where that cannot be, in words of what is wrong.

        ssh may ask for a password, or about an unknown machine, on the terminal.
        """
        look = self._run(self.ssh(f"{CACHE}; exec python3 -c {shlex.quote(LOOK)} {self._program} {self._digest}"))
        found = _object(look.stdout)
        if found is None:
            raise self._failed(look)
        version, machine = str(found.get("python")), str(found.get("machine"))
        if tuple(int(part) for part in version.split(".")[:2]) < (3, 10):
            raise Missing(f"{self.name} has Python {version}, and fswizard needs 3.10 or later.", "Install it there.")
        here = platform.machine(), ".".join(platform.python_version_tuple()[:2])
        if not zipfile.is_zipfile(sys.argv[0]) and (machine, ".".join(version.split(".")[:2])) != here:
            raise Missing(
                f"{self.name} has Python {version} on {machine}; the packages here are for {here[1]} on {here[0]}.",
                "Start fswizard here from its one-file package, which runs with Python 3.10 to 3.14 on x86-64.",
            )
        if not found.get("have"):
            bring = self.ssh(f"{CACHE}; exec python3 -c {shlex.quote(BRING)} {self._program} {self._digest}")
            if (brought := self._run(bring, archive())).exit_code:
                raise self._failed(brought)

    def attend(self, *words: str) -> int:
        """Run this program there on this terminal; its exit code. RunFailed where the connection ends before it."""
        terminal = all(stream.isatty() for stream in (sys.stdin, sys.stdout))
        code = commands.attend_wholly(self.program(*words, terminal=terminal))
        if code == SSH_FAILED:
            raise RunFailed(f"The connection to {self.name} was lost.", "A run in progress there keeps going.")
        return code

    def open_line(self) -> commands.Line:
        """The program there, which answers what is written to it; nothing is asked on the terminal."""
        return commands.open_line(self.program("serve", asks=False))

    async def talk(self, *words: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Run this program there, with its standard input and output as a line of talk; nothing is asked."""
        return await commands.talk(self.program(*words, asks=False), limit=LONGEST_LINE_BYTES)

    def _run(self, argv: tuple[str, ...], given: bytes = b"") -> Finished:
        return commands.query(argv, timeout_s=FIRST_LIMIT_S, given=given)

    def _failed(self, done: Finished) -> FswizardError:
        """Why it could not be reached, or not be used."""
        said = safe_lines(done.stderr.replace(b"\r", b"")).strip()
        last = said.splitlines()[-1] if said else "it said nothing"
        if "IDENTIFICATION HAS CHANGED" in said:
            return Refused(
                f"The key of {self.name} is not the one that ssh knows: it may be another machine.",
                f"Find out why. If it was reinstalled: ssh-keygen -R {self.name}",
                said,
            )
        if done.exit_code == SSH_FAILED:
            words = f"{self.name} cannot be reached: {last.rstrip('.')}."
            return RunFailed(words, f"`ssh {self.name}` has to work first.", said if "\n" in said else "")
        if done.exit_code in (126, 127):
            return Missing(f"{self.name} has no python3.", "Install it there: fswizard needs Python 3.10 or later.")
        if "No space left" in said:
            return RunFailed(f"{self.name} has no room for fswizard in its cache.", "Free some space there.")
        return RunFailed(f"fswizard cannot be started on {self.name}: {last.rstrip('.')}.", "", said)


def _directory() -> str:
    """For the sockets of connections: nobody else's, and with a name that is short enough for the kernel."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isdir(runtime):
        return runtime
    own = f"{tempfile.gettempdir()}/fswizard-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        os.mkdir(own, 0o700)
    status = os.lstat(own)
    private = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077
    return own if private else tempfile.mkdtemp(prefix="fswizard-")


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line.splitlines()[-1])
    except (ValueError, IndexError):
        return None
    return found if isinstance(found, dict) else None
