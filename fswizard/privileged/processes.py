"""Daemons that mounting starts: those of this PID namespace, so that nobody else's are ever touched."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

from fswizard.privileged import waiting


def find(name: str) -> list[int]:
    """Numbers, as this namespace counts, of its processes that are called `name`."""
    namespace = os.stat("/proc/self/ns/pid").st_ino
    return [number for entry in os.listdir("/proc") if entry.isdigit() for number in _numbers(entry, name, namespace)]


def end(name: str, limit_s: float, number: signal.Signals = signal.SIGTERM) -> None:
    """End them, and wait until they are gone; by force after `limit_s`."""
    for pid in find(name):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
    if not gone(name, limit_s) and number != signal.SIGKILL:
        end(name, limit_s, signal.SIGKILL)


def gone(name: str, limit_s: float) -> bool:
    """Wait until none of that name is left; False where one still is after `limit_s`."""
    return waiting.until(lambda: _reaped(name), lambda left: not left, limit_s) == []


def _reaped(name: str) -> list[int]:
    """Those of that name, the ended ones of which are gone the next time."""
    left = find(name)
    for pid in left:
        with contextlib.suppress(ChildProcessError):  # else the helper reaps it
            os.waitpid(pid, os.WNOHANG)
    return left


def _numbers(entry: str, name: str, namespace: int) -> list[int]:
    """None where it is another's, of another name, or ended while it was looked at."""
    try:
        inside = os.stat(f"/proc/{entry}/ns/pid").st_ino == namespace
        status = Path(f"/proc/{entry}/status").read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    fields = dict(line.split(":", 1) for line in status if ":" in line)
    called = fields["Name"].strip()
    return [int(fields["NSpid"].split()[-1])] if inside and called == name[:15] else []
