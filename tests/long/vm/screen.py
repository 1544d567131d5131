"""A user who is logged in at the test machine's own screen and keyboard, tty1."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from fswizard.system.process import Finished
from tests.long.vm.machine import Machine, awaited
from tests.long.vm.runs import RECIPE, RUN_S

DROP_IN = "/run/systemd/system/getty@tty1.service.d"
LOGIN = """[Service]
ExecStart=
ExecStart=-/sbin/agetty --autologin {user} tty1 linux
"""
RESTART = "systemctl daemon-reload && systemctl restart getty@tty1"
TYPE = """import fcntl, sys
with open("/dev/tty1", "wb", buffering=0) as terminal:
    for byte in sys.argv[1].encode() + b"\\n":
        fcntl.ioctl(terminal, 0x5412, bytes([byte]))"""
"""TIOCSTI: as if it came from the keyboard."""
LEFT = """losetup --list; grep --no-filename --extended-regexp 'fswizard| /media/' /proc/[0-9]*/mountinfo
ls -A /media/$1; ls -A /home/$1 | grep fswizard-
grep --files-with-matches --text '[s]ession.process' /proc/[0-9]*/cmdline
grep --files-with-matches --line-regexp fio /proc/[0-9]*/comm; ls /dev/mapper | grep fswizard-"""


@dataclass
class Screen:
    """A user at tty1, who types and reads."""

    machine: Machine
    user: str

    @property
    def home(self) -> str:
        return f"/home/{self.user}"

    def type(self, line: str) -> None:
        self.machine.ok("python3", "-c", TYPE, line)

    def shows(self, words: str) -> None:
        def look() -> str:
            return self.machine.run("fold", "--width=80", "/dev/vcs1").stdout.decode(errors="replace")

        awaited(look, lambda text: words in text)

    def begin(self, name: str, command: str) -> None:
        """Start a command on an empty screen, where sudo asks; what the command says goes to files called `name`."""
        self.type(f"clear; {command} > {name}.said 2> {name}.complained; echo {name} $? > {name}.ended")

    def begin_run(self, name: str, target: str, candidates: str, *more: str) -> None:
        """A run with the recipe of these tests, whose result is called `name`, too."""
        options = f"--target {target} --candidates '{candidates}' --output {name}.jsonl {' '.join(more)}"
        self.begin(name, f"fswizard run {self.home}/short.toml {options}")

    def await_figure(self, name: str) -> None:
        """Until a run has a figure of its first candidate."""
        look = ("grep", "--quiet", '"primary":true', f"{self.home}/{name}.jsonl")
        awaited(lambda: self.machine.run(*look).exit_code, lambda code: code == 0, RUN_S)

    def ended(self, name: str) -> Finished:
        """How a command ended, once it has."""

        def read(kind: str) -> bytes:
            return self.machine.run("cat", f"{self.home}/{name}.{kind}").stdout

        text = awaited(lambda: read("ended"), bytes.strip, RUN_S)
        return Finished((name,), int(text.split()[1]), read("said"), read("complained"), 0.0)

    def ends_well(self, name: str) -> Finished:
        """And leaves nothing in the kernel, nor below the user's directory."""
        done = self.ended(name)
        assert done.exit_code == 0, done.output
        assert self.left() == ""
        return done

    def left(self) -> str:
        """Of all runs: devices, mounts, files and processes."""
        return self.machine.run("sh", "-c", LEFT, "sh", self.user).stdout.decode()


@contextmanager
def logged_in(machine: Machine, user: str, *options: str) -> Iterator[Screen]:
    """A new user, made with these options of useradd."""
    screen = Screen(machine, user)
    machine.ok("useradd", "--create-home", "--shell", "/bin/bash", *options, user)
    machine.write(f"{screen.home}/short.toml", RECIPE)
    machine.write(f"{screen.home}/.hushlogin", "")
    machine.ok("mkdir", DROP_IN)
    machine.write(f"{DROP_IN}/login.conf", LOGIN.format(user=user))
    machine.sh(RESTART)
    screen.shows(f"{user}@")
    yield screen
    machine.sh(f"rm -r {DROP_IN} && {RESTART}")
    machine.run("loginctl", "terminate-user", user)
