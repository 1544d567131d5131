"""Another machine: an sshd on this one, with directories of its own."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from fswizard.system import commands

DIRECTORIES = ("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR")
NAME = "nas"


@dataclass(frozen=True)
class OtherMachine:
    """What ssh reaches as `nas`, with the `ssh` of `programs` on PATH."""

    directory: Path
    port: int

    @property
    def config(self) -> Path:
        return self.directory / "ssh_config"

    @property
    def cache(self) -> Path:
        return self.directory / "xdg_cache_home" / "fswizard"

    @property
    def state(self) -> Path:
        return self.directory / "xdg_state_home" / "fswizard"

    def brought(self) -> list[Path]:
        return sorted(self.cache.glob("*.pyz"))

    def configure(self, *lines: str) -> None:
        """Further lines of the user's ssh configuration; the first one counts."""
        user = ("Port " + str(self.port), "HostName 127.0.0.1", f"IdentityFile {self.directory}/user", "User root",
                f"UserKnownHostsFile {self.directory}/known")  # fmt: skip
        self.config.write_text("\n".join((f"Host {NAME}", *lines, *user, "")))

    def trust(self, host_key: str) -> None:
        """Make `host_key` the one that ssh knows."""
        kind, key, *_ = host_key.split()
        (self.directory / "known").write_text(f"[127.0.0.1]:{self.port} {kind} {key}\n")

    def new_key(self, name: str) -> str:
        """A new key pair; the public one."""
        path = self.directory / name
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
        return path.with_suffix(".pub").read_text()

    def cut(self) -> None:
        """End every connection, as a network does that goes away; sshd stays."""
        sshd = int((self.directory / "pid").read_text())
        children = subprocess.run(["pgrep", "-P", str(sshd)], capture_output=True, text=True, check=False)
        for pid in children.stdout.split():
            subprocess.run(["kill", "-9", pid], check=False)


@contextmanager
def other_machine(directory: Path, environment: dict[str, str] | None = None) -> Iterator[OtherMachine]:
    """Serve it; `environment` is what programs find there beside directories of their own."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    machine = OtherMachine(directory, port)
    own = {name: str(directory / name.lower()) for name in DIRECTORIES}
    for path in own.values():
        Path(path).mkdir(mode=0o700)
    machine.trust(machine.new_key("host"))
    (directory / "authorized").write_text(machine.new_key("user"))
    machine.configure()
    there = {**own, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **(environment or {})}
    there_program = directory / "there"  # a login shell may read files of its own before it
    words = " ".join(f"{name}={shlex.quote(value)}" for name, value in there.items())
    there_program.write_text(f'#!/bin/sh\nexec env {words} sh -c "$SSH_ORIGINAL_COMMAND"\n')
    there_program.chmod(0o755)
    lines = (
        f"Port {port}", "ListenAddress 127.0.0.1", f"HostKey {directory}/host", "StrictModes no", "UsePAM no",
        f"AuthorizedKeysFile {directory}/authorized", f"PidFile {directory}/pid", "PermitRootLogin yes",
        f"ForceCommand {directory}/there", "",
    )  # fmt: skip
    (directory / "sshd_config").write_text("\n".join(lines))
    Path("/run/sshd").mkdir(exist_ok=True)
    server = subprocess.Popen(
        [commands.located("sshd"), "-D", "-f", directory / "sshd_config", "-E", directory / "log"]
    )
    try:
        while server.poll() is None and not _listens(port):
            pass
        yield machine
    finally:
        machine.cut()
        server.kill()
        server.wait()


def _listens(port: int) -> bool:
    with closing(socket.socket()) as trial:
        return trial.connect_ex(("127.0.0.1", port)) == 0


def programs(machine: OtherMachine) -> Path:
    """A directory for PATH, whose ssh is configured for that machine alone."""
    directory = machine.directory / "bin"
    directory.mkdir(exist_ok=True)
    ssh = directory / "ssh"
    ssh.write_text(f'#!/bin/sh\nexec {commands.located("ssh")} -F {machine.config} "$@"\n')
    ssh.chmod(0o755)
    return directory
