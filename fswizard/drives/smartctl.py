"""Queries by smartctl: verdict, health, temperature, hours. A disk that hangs blocks no other."""

from __future__ import annotations

import contextlib
import queue
import shlex
import threading
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace

from fswizard.drives.identity import known_facts
from fswizard.drives.machine import HERE, Machine
from fswizard.drives.smartctl_output import Reading, parse
from fswizard.drives.smr import KIND_OF, SmrFacts, judge_smr
from fswizard.errors import FswizardError, Missing, RunFailed
from fswizard.language import N_, in_english
from fswizard.model.drive import Drive, Evidence
from fswizard.system import clock, programs
from fswizard.system.block_device import path_of
from fswizard.system.commands import query

_BUSES = ("nvme", "sata", "sas", "scsi", "ide", "usb")
_BRIDGE_TYPES = ("", "sat", "sat,12", "sntasmedia", "sntjmicron", "sntrealtek")
"""Device types for USB bridges, smartctl's own choice first; none of them writes to the disk (smartctl(8), -d)."""
_ASKING = ("--info", "--health", "--attributes")
_FARM_VERSION = (7, 4)


def details(drive: Drive, *, timeout_s: float = 10.0, wake: bool = False, machine: Machine = HERE) -> Drive:
    """The drive with data from smartctl; `pending` says why some are missing.

    A disk in standby stays asleep unless `wake`. May be called from any thread; returns within about `timeout_s`.
    """
    if drive.bus not in _BUSES:
        return drive
    known = known_facts(drive, machine)
    try:
        reading, type_ = _ask(drive, clock.monotonic() + timeout_s, wake)
    except FswizardError as error:
        return replace(_without(drive, known, error), temperature_c=_nvme_temperature_c(drive, machine))
    facts = _merged(known, reading.facts)
    verdict = judge_smr(facts)
    model = reading.facts.model
    if drive.bridge and model and model != drive.model:
        text = N_("The USB bridge calls it '{name}'; behind it is a {model}.")
        if type_:
            text = N_("The USB bridge calls it '{name}'; behind it is a {model} (smartctl -d {type}).")
        text = text.format(name=drive.model, model=model, type=type_)
        verdict = replace(verdict, evidence=(Evidence("behind-bridge", "unknown", "weak", text), *verdict.evidence))
    return replace(
        drive,
        model=facts.model,
        serial=reading.serial or drive.serial,
        firmware=reading.firmware or drive.firmware,
        kind=KIND_OF.get(facts.medium, drive.kind),
        rpm=reading.facts.rpm or drive.rpm,
        rotational=facts.medium == "rotating",
        health=reading.health,
        temperature_c=reading.temperature_c,
        power_on_hours=reading.power_on_hours,
        written_bytes=reading.written_bytes,
        life_used_percent=reading.life_used_percent,
        smr=verdict,
    )


def details_each(drives: Iterable[Drive], *, timeout_s: float = 10.0, wake: bool = False) -> Iterator[Drive]:
    """Drives with their details in the order of their answers, all queried at once."""
    answered: queue.SimpleQueue[Drive] = queue.SimpleQueue()

    def ask(drive: Drive) -> None:
        answered.put(details(drive, timeout_s=timeout_s, wake=wake))

    threads = [threading.Thread(target=ask, args=(drive,), daemon=True) for drive in drives]
    for thread in threads:
        thread.start()
    for _ in threads:
        yield answered.get()


def _ask(drive: Drive, deadline: float, wake: bool) -> tuple[Reading, str]:
    """smartctl's answer and the device type that it needed. Raises FswizardError if the disk says nothing."""
    for type_ in _BRIDGE_TYPES if drive.bridge else ("",):
        reading = _query(drive, _ASKING, type_, deadline, wake)
        facts = reading.facts
        if reading.asleep or (facts.model and facts.medium):
            break
    if reading.asleep:
        hint = N_("Try again when it is in use, or wake it with --wake.")
        raise RunFailed(N_("The disk is asleep and was not woken."), hint)
    if "ermission denied" in facts.problem:
        command = f"{shlex.join(programs.as_root(('smartctl', '-x', f'/dev/{drive.name}')))} | fswizard smr -"
        hint = N_("Query it as root: `{command}`.").format(command=command)
        raise RunFailed(N_("smartctl needs root to query the disk."), hint)
    if not facts.model:
        raise RunFailed(facts.problem, N_("`smartctl --scan-open` may show how to reach the disk."))
    log = "devstat" if facts.medium == "solid-state" else ""  # whose counts are preferred to its maker's attributes
    if reading.version >= _FARM_VERSION and facts.model.startswith("ST"):
        log = "farm"
    with contextlib.suppress(FswizardError):
        if log:
            more = _query(drive, (*_ASKING, "--log", log), type_, deadline, wake)
            reading = more if more.facts.model else reading
    return reading, type_


@in_english()
def _query(drive: Drive, asking: tuple[str, ...], type_: str, deadline: float, wake: bool) -> Reading:
    """One run of smartctl. Raises FswizardError, in English, if there is no answer until the deadline."""
    left_s = deadline - clock.monotonic()
    if left_s <= 0:
        raise RunFailed(N_("smartctl did not answer in time."), N_("The disk may be busy or failing."))
    device = ("--device", type_) if type_ else ()
    power = () if wake else ("--nocheck", "standby")
    try:
        answer = query(("smartctl", "--json", *asking, *power, *device, path_of(drive.name)), timeout_s=left_s)
    except Missing as error:
        raise Missing(error.message, N_("Install smartmontools; `fswizard doctor` says how.")) from error
    except FswizardError as error:
        raise RunFailed(error.message, N_("The disk may be busy or failing: try again later.")) from error
    return parse(answer.stdout)


def _merged(known: SmrFacts, answer: SmrFacts) -> SmrFacts:
    """The kernel's facts and smartctl's; the kernel's are preferred for zones and TRIM."""
    answered = {name: value for name, value in asdict(answer).items() if value}
    kernels = {name: getattr(known, name) for name in ("source", "zoned", "zoned_where", "trim")}
    return replace(known, **answered | {name: value for name, value in kernels.items() if value})


def _without(drive: Drive, known: SmrFacts, error: FswizardError) -> Drive:
    """The drive without smartctl's data, with the missing evidence and how to get it."""
    if drive.kind not in ("hdd", "unknown"):
        return replace(drive, pending=error.message)
    verdict = judge_smr(known)
    text = N_("TRIM, zones, recording type and smartctl's database are missing here: {reason}")
    evidence = Evidence("smartctl-missing", "unknown", "weak", text.format(reason=error.message))
    verdict = replace(verdict, evidence=(*verdict.evidence, evidence), advice=(*verdict.advice, error.hint))
    return replace(drive, smr=verdict, pending=error.message)


def _nvme_temperature_c(drive: Drive, machine: Machine) -> int | None:
    """Temperature of an NVMe disk by the kernel, without root; a query might wake other disks."""
    device = f"/sys/block/{drive.name}/device"
    for directory in (device, f"{device}/hwmon"):
        for name in machine.names(directory) if drive.bus == "nvme" else ():
            reading = machine.number(f"{directory}/{name}/temp1_input", -1)
            if name.startswith("hwmon") and reading > 0:
                return round(reading / 1000)
    return drive.temperature_c
