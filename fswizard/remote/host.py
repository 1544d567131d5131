"""Another machine by OpenSSH, as its user has set that up: this program is brought there once, and started."""

from __future__ import annotations

import base64
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
from pathlib import Path
from typing import Any

from fswizard import language
from fswizard.errors import FswizardError, Missing, Refused, RunFailed, UsageError
from fswizard.language import _
from fswizard.model.text import safe, safe_lines
from fswizard.remote.archive import archive
from fswizard.system import commands
from fswizard.system.files import EXPORTS, write_new
from fswizard.system.process import Finished
from fswizard.targets.privilege import CARRIED

CONNECT_S = 30
FIRST_LIMIT_S = 300.0
"""Seconds for the first connection: a password may have to be typed, and a slow line has to carry 5 MB."""
SSH_FAILED = 255
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


EXPORTED = """\
import base64, json, os, sys
files = {}
try:
    with open(sys.argv[1]) as names:
        for name in names.read().splitlines():
            with open(name, "rb") as file:
                files[name] = base64.b64encode(file.read()).decode()
    os.unlink(sys.argv[1])
except OSError:
    pass
print(json.dumps(files))
"""


class Host:
    """A machine that ssh reaches by `name`."""

    def __init__(self, name: str) -> None:
        """UsageError if that cannot be the name of a machine."""
        if not re.fullmatch(r"[\w.@:%\[\]+~-]+", name) or name.startswith("-"):
            raise UsageError(
                _("{name} is not the name of a machine.", name=repr(safe(name))),
                _("Write --on HOST or --on USER@HOST."),
            )
        self.name = name
        self._options = (*OPTIONS, "-o", f"ControlPath={_directory()}/fswizard-%C")

    @cached_property
    def _digest(self) -> str:
        return hashlib.sha256(archive()).hexdigest()

    @property
    def _program(self) -> str:
        """The program's path in quotes, for the shell there, where `d` is the cache."""
        return f'"$d/fswizard-{self._digest[:16]}.pyz"'

    def ssh(self, script: str, *, terminal: bool = False) -> tuple[str, ...]:
        """The command line that has its shell do `script`."""
        there = f"exec sh -c {shlex.quote(script)}"
        return (commands.located("ssh"), *self._options, *(("-t",) if terminal else ("-T",)), self.name, there)

    def prepare(self) -> None:
        """Bring this program there, where it is not yet. FswizardError where that cannot be, in words of what is wrong.

        ssh may ask for a password, or about an unknown machine, on the terminal.
        """
        look = self._run(self.ssh(f"{CACHE}; exec python3 -c {shlex.quote(LOOK)} {self._program} {self._digest}"))
        there = _object(look.stdout)
        if there is None:
            raise self._failed(look)
        version, machine = str(there.get("python")), str(there.get("machine"))
        if tuple(int(part) for part in version.split(".")[:2]) < (3, 10):
            raise Missing(
                _("{host} has Python {version}, and fswizard needs 3.10 or later.", host=self.name, version=version),
                _("Install it there."),
            )
        here = platform.machine(), ".".join(platform.python_version_tuple()[:2])
        if not zipfile.is_zipfile(sys.argv[0]) and (machine, ".".join(version.split(".")[:2])) != here:
            raise Missing(
                _(
                    "{host} has Python {version} on {machine}; the packages here are for {own} on {here}.",
                    host=self.name, version=version, machine=machine, own=here[1], here=here[0],
                ),
                _("Start fswizard here from its one-file package, which runs with Python 3.10 to 3.14 on x86-64."),
            )  # fmt: skip
        if not there.get("have"):
            bring = self.ssh(f"{CACHE}; exec python3 -c {shlex.quote(BRING)} {self._program} {self._digest}")
            if (brought := self._run(bring, archive())).exit_code:
                raise self._failed(brought)

    def attend(self, *words: str) -> int:
        """Run this program there on this terminal; its exit code. Files that it exported are brought here.

        RunFailed where the connection ends before it.
        """
        terminal = all(stream.isatty() for stream in (sys.stdin, sys.stdout))
        exports = f'"$d/exports-{os.getpid()}"'
        settings = f"export {CARRIED}=1 {EXPORTS}={exports} {language.VARIABLE}={language.chosen()}"
        script = f"{CACHE}; {settings}; exec python3 {self._program} {shlex.join(words)}"
        code = commands.attend(self.ssh(script, terminal=terminal), stdout=None)
        if code == SSH_FAILED:
            raise RunFailed(
                _("The connection to {host} was lost.", host=self.name),
                _("A run in progress there keeps going; the same command shows it again."),
            )
        if terminal or any(word.startswith("--output") for word in words):
            self._bring_exports(exports)
        return code

    def _bring_exports(self, exports: str) -> None:
        """Copy files that were exported there into the current directory here, and say so."""
        done = self._run(self.ssh(f"{CACHE}; exec python3 -c {shlex.quote(EXPORTED)} {exports}"))
        for name, content in (_object(done.stdout) or {}).items():
            path = Path(Path(str(name)).name)
            try:
                write_new(path, base64.b64decode(str(content)))
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or _("it was not sent whole")
                text = _(
                    "{file} stays on {host}: here it cannot be written ({reason}).",
                    file=safe(str(name)), host=self.name, reason=reason,
                )  # fmt: skip
                print(text, file=sys.stderr)
            else:
                print(_("Copied from {host}: {file}", host=self.name, file=safe(str(path))), file=sys.stderr)

    def _run(self, argv: tuple[str, ...], given: bytes = b"") -> Finished:
        return commands.query(argv, timeout_s=FIRST_LIMIT_S, given=given)

    def _failed(self, done: Finished) -> FswizardError:
        """Why it could not be reached, or not be used."""
        said = safe_lines(done.stderr.replace(b"\r", b"")).strip()
        last = (said.splitlines()[-1] if said else _("it said nothing")).rstrip(".")
        if "IDENTIFICATION HAS CHANGED" in said:
            return Refused(
                _("The key of {host} is not the one that ssh knows: it may be another machine.", host=self.name),
                _("Find out why. If it was reinstalled: ssh-keygen -R {host}", host=self.name),
                said,
            )
        if done.exit_code == SSH_FAILED:
            words = _("{host} cannot be reached: {reason}.", host=self.name, reason=last)
            hint = _("`ssh {host}` has to work first.", host=self.name)
            return RunFailed(words, hint, said if "\n" in said else "")
        if done.exit_code in (126, 127):
            return Missing(
                _("{host} has no python3.", host=self.name),
                _("Install it there: fswizard needs Python 3.10 or later."),
            )
        if "No space left" in said:
            return RunFailed(
                _("{host} has no room for fswizard in its cache.", host=self.name), _("Free some space there.")
            )
        return RunFailed(_("fswizard cannot be started on {host}: {reason}.", host=self.name, reason=last), "", said)


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
        data = json.loads(line.splitlines()[-1])
    except (ValueError, IndexError):
        return None
    return data if isinstance(data, dict) else None
