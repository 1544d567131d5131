"""Contents of a disk or partition by libblkid: udev's entry, or the output of blkid if udev does not run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TypeVar

from fswizard.drives.machine import Machine, Properties
from fswizard.errors import FswizardError
from fswizard.language import N_
from fswizard.model.drive import DriveUse
from fswizard.model.text import safe
from fswizard.privileged.in_use import Probed, Usage, uses_of
from fswizard.system import clock
from fswizard.system.commands import query

Answer = TypeVar("Answer")
_ENCRYPTED = {
    "crypto_LUKS": N_("{name} holds an encrypted volume (LUKS)"),
    "BitLocker": N_("{name} holds an encrypted Windows volume (BitLocker)"),
}


def uses(name: str, udev: Properties, usage: Usage) -> tuple[DriveUse, ...]:
    """Users of the device `name`, and whether it holds a locked volume; in English."""
    users = [DriveUse(use.code, safe(use.text), safe(use.hint)) for use in uses_of(name, Probed(udev), usage)]
    if (kind := udev.get("ID_FS_TYPE")) in _ENCRYPTED and not usage.tree.names(f"/sys/class/block/{name}/holders"):
        hint = N_("Using it for something else destroys its contents.")
        users.append(DriveUse("encrypted", _ENCRYPTED[kind].format(name=safe(name)), hint))
    return tuple(users)


def udev_runs(machine: Machine) -> bool:
    return bool(machine.names("/run/udev/data"))


def probe(device: str) -> Properties | None:
    """Output of `blkid` as udev properties, or None if it failed. Needs root."""
    try:
        answer = query(("blkid", "-p", "-o", "udev", device), timeout_s=5)
    except FswizardError:
        return None
    if answer.exit_code not in (0, 2, 8) or answer.stderr:  # contents, none, ambivalent (blkid(8))
        return None
    lines = answer.stdout.decode("utf-8", "replace").splitlines()
    return dict(line.split("=", 1) for line in lines if line.startswith("ID_") and "=" in line)


def ask_all(questions: Mapping[str, Callable[[], Answer]], timeout_s: float) -> dict[str, Answer]:
    """The answers that came in time. A device that hangs blocks only its own thread."""
    answers: dict[str, Answer] = {}
    lock = threading.Lock()

    def ask(key: str, question: Callable[[], Answer]) -> None:
        answer = question()
        with lock:
            answers[key] = answer

    deadline = clock.monotonic() + timeout_s
    threads = [threading.Thread(target=ask, args=item, daemon=True) for item in questions.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        for seconds in clock.turns(deadline - clock.monotonic()):
            thread.join(seconds)
            if not thread.is_alive():
                break
    with lock:
        return dict(answers)
