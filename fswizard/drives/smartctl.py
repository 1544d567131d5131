"""Query disks with smartctl: SMR verdict, health, temperature, hours, wear. A hanging disk blocks no other one."""

from __future__ import annotations

import contextlib
import queue
import shlex
import threading
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from typing import Any

from fswizard.drives.identity import known_facts
from fswizard.drives.pastes import Output, count_at, outputs, rows_at, value_at
from fswizard.drives.smartctl_output import facts_of
from fswizard.drives.smr import KIND_OF, judge_smr
from fswizard.errors import FswizardError, RunFailed
from fswizard.language import N_, _, in_english, joined
from fswizard.model.drive import Drive
from fswizard.system import clock, programs
from fswizard.system.block_device import HERE, SECTOR_BYTES, Tree, path_of
from fswizard.system.commands import query

_BUSES = ("nvme", "sata", "sas", "scsi", "usb")
_BRIDGE_TYPES = ("", "sat", "sat,12", "sntasmedia", "sntjmicron", "sntrealtek")
"""Device types to try for USB bridges; empty for the default. None of them writes to the disk (smartctl(8), -d)."""
_ASKING = ("--info", "--health", "--attributes")
_NVME_UNIT_BYTES = 512_000
"""Unit of bytes written: thousands of 512 bytes (NVM Express Base Specification, SMART log)."""
_PERCENTAGE_USED, _SECTORS_WRITTEN = (7, 8), (1, 24)
"""Page and offset of values in the device statistics (ACS-4, 9.5)."""
_USED = (
    "nvme_smart_health_information_log.percentage_used",
    "endurance_used.current_percent",
    "scsi_percentage_used_endurance_indicator",
)
"""Keys of the percentage of life used."""


def details(drive: Drive, *, timeout_s: float = 10.0, wake: bool = False, tree: Tree = HERE) -> Drive:
    """Return the drive with data from smartctl; `pending` says why some are missing.

    A disk in standby stays asleep unless `wake`. May be called from any thread; returns within about `timeout_s`.
    """
    if drive.bus not in _BUSES:
        return drive
    known = known_facts(drive, tree)
    try:
        answer = _ask(drive, clock.monotonic() + timeout_s, wake)
    except FswizardError as error:
        return replace(drive, pending=joined((error.message, error.hint)) if error.hint else error.message)
    document, lines, by_smartctl = answer.document, answer.lines, facts_of(answer)
    answered = {name: value for name, value in asdict(by_smartctl).items() if value}
    # The kernel knows zones better.
    answered |= {"source": known.source, "zoned": known.zoned or by_smartctl.zoned}
    facts = replace(known, **answered)
    health = ""
    if isinstance(passed := value_at(document, "smart_status.passed"), bool):
        health = "good" if passed else "failing"
    life_used_percent, written_bytes = _wear(document)
    return replace(
        drive,
        model=facts.model,
        serial=lines.get("Serial Number") or drive.serial,
        firmware=lines.get("Firmware Version") or lines.get("Revision") or drive.firmware,
        kind=KIND_OF.get(facts.medium, drive.kind),
        rpm=by_smartctl.rpm or drive.rpm,
        rotational=facts.medium == "rotating",
        health=health,
        temperature_c=count_at(document, "temperature.current"),
        power_on_hours=count_at(document, "power_on_time.hours"),
        written_bytes=written_bytes,
        life_used_percent=life_used_percent,
        smr=judge_smr(facts),
    )


def details_each(drives: Iterable[Drive], *, timeout_s: float = 10.0, wake: bool = False) -> Iterator[Drive]:
    """Query all drives at once, and yield them with their details in the order of the answers."""
    answered: queue.SimpleQueue[Drive] = queue.SimpleQueue()

    def ask(drive: Drive) -> None:
        answered.put(details(drive, timeout_s=timeout_s, wake=wake))

    # A pool would wait at exit for a smartctl that hangs in the kernel.
    threads = [threading.Thread(target=ask, args=(drive,), daemon=True) for drive in drives]
    for thread in threads:
        thread.start()
    for __ in threads:
        yield answered.get()


def _ask(drive: Drive, deadline: float, wake: bool) -> Output:
    """Return the answer of smartctl, through a USB bridge too. Raises FswizardError without an answer."""
    for type_ in _BRIDGE_TYPES if drive.bridge else ("",):
        answer = _query(drive, _ASKING, type_, deadline, wake)
        facts = facts_of(answer)
        # SLEEP is ignored, as bridges without ATA commands report it, too.
        asleep = not facts.model and "STANDBY" in f"{answer.document.get('power_mode')} {facts.problem}".upper()
        if asleep:
            hint = N_("Try again when it is in use, or wake it with --wake.")
            raise RunFailed(N_("The disk is asleep and was not woken."), hint)
        if facts.model and facts.medium:
            break
    if "ermission denied" in facts.problem:
        command = f"{shlex.join(programs.as_root(('smartctl', '-x', f'/dev/{drive.name}')))} | fswizard smr -"
        hint = _("Query it as root: `{command}`.", command=command)
        raise RunFailed(N_("smartctl needs root to query the disk."), hint)
    if not facts.model:
        raise RunFailed(facts.problem, N_("`smartctl --scan-open` may show how to reach the disk."))
    log = ""
    if facts.medium == "solid-state":
        log = "devstat"
    elif facts.model.startswith("ST"):
        log = "farm"  # fails before smartctl 7.4
    if log:
        with contextlib.suppress(FswizardError):
            more = _query(drive, (*_ASKING, "--log", log), type_, deadline, wake)
            answer = more if facts_of(more).model else answer
    return answer


@in_english()
def _query(drive: Drive, asking: tuple[str, ...], type_: str, deadline: float, wake: bool) -> Output:
    """Run smartctl once. Raises FswizardError, in English, if there is no answer before the deadline."""
    left_s = deadline - clock.monotonic()
    if left_s <= 0:
        raise RunFailed(N_("smartctl did not answer in time."), N_("The disk may be busy or failing."))
    device = ("--device", type_) if type_ else ()
    power = () if wake else ("--nocheck", "standby")
    done = query(("smartctl", "--json", *asking, *power, *device, path_of(drive.name)), timeout_s=left_s)
    text = done.stdout.decode("utf-8", "replace")
    return next(outputs(text), Output(text=text))


def _wear(document: dict[str, Any]) -> tuple[int | None, int | None]:
    """Percentage of life used and bytes written, as the standards define them."""
    used = [count_at(document, key) for key in _USED]
    written_bytes = None
    units = count_at(document, "nvme_smart_health_information_log.data_units_written")
    if units is not None:
        written_bytes = units * _NVME_UNIT_BYTES
    for page in rows_at(document, "ata_device_statistics.pages"):
        for row in rows_at(page, "table"):
            statistic, value = (page.get("number"), row.get("offset")), count_at(row, "value")
            if value is None or value_at(row, "flags.valid") is not True:
                continue
            if statistic == _PERCENTAGE_USED:
                used.append(value)
            elif statistic == _SECTORS_WRITTEN:
                written_bytes = value * SECTOR_BYTES
    return next((percent for percent in used if percent is not None), None), written_bytes
