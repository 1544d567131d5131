"""A user who is logged in at the test machine's own screen and keyboard, tty1."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.long.vm.machine import Machine

DROP_IN = "/run/systemd/system/getty@tty1.service.d"
LOGIN = """[Service]
ExecStart=
ExecStart=-/sbin/agetty --autologin {user} tty1 linux
"""
RESTART = "systemctl daemon-reload && systemctl restart getty@tty1"


@contextmanager
def logged_in(machine: Machine, user: str) -> Iterator[None]:
    machine.ok("mkdir", DROP_IN)
    machine.write(f"{DROP_IN}/login.conf", LOGIN.format(user=user))
    machine.sh(RESTART)
    yield
    machine.sh(f"rm -r {DROP_IN} && {RESTART}")
    machine.run("loginctl", "terminate-user", user)
