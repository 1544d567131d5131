"""Queries by smartctl: verdict, health, temperature, hours. A disk that hangs blocks no other."""

from __future__ import annotations

import queue
import shlex
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace

from fswizard.drives.identity import known_facts
from fswizard.drives.machine import HERE, Machine
from fswizard.drives.smartctl_output import Reading, parse
from fswizard.drives.smr import KIND_OF, SmrFacts, judge_smr
from fswizard.errors import FswizardError, Missing
from fswizard.language import N_, in_english
from fswizard.model.drive import Drive, Evidence
from fswizard.privileged.block_device import path_of
from fswizard.system import clock, programs
from fswizard.system.commands import query


@dataclass(frozen=True, slots=True)
class _Answer:
    """Answer to a query."""

    reading: Reading | None = None
    missing: str = ""
    """Why there is no answer; empty if there is one."""
    hint: str = ""
    through: str = ""
    """Device type that smartctl needed."""


def details(drive: Drive, *, timeout_s: float = 10.0, wake: bool = False, machine: Machine = HERE) -> Drive:
    """The drive with data from smartctl; `pending` says why some are missing.

    A disk in standby stays asleep unless `wake`. May be called from any thread; returns within about `timeout_s`.
    """
    if drive.bus not in ("nvme", "sata", "sas", "scsi", "ide", "usb"):
        return drive
    answer = _ask(drive, timeout_s, wake)
    known = known_facts(drive, machine)
    if answer.reading is None:
        return replace(_without(drive, known, answer), temperature_c=_nvme_temperature_c(drive, machine))
    reading = answer.reading
    facts = _merged(known, reading.facts)
    verdict = judge_smr(facts)
    if drive.bridge and reading.facts.model and reading.facts.model != drive.model:
        text = N_("The USB bridge calls it '{name}'; behind it is a {model}.")
        if answer.through:
            text = N_("The USB bridge calls it '{name}'; behind it is a {model} (smartctl -d {type}).")
        text = text.format(name=drive.model, model=reading.facts.model, type=answer.through)
        verdict = replace(verdict, evidence=(Evidence("behind-bridge", "unknown", "weak", text), *verdict.evidence))
    return replace(
        drive,
        model=facts.model,
        serial=reading.serial or drive.serial,
        firmware=reading.facts.firmware or drive.firmware,
        kind=KIND_OF.get(facts.medium, drive.kind),
        rpm=reading.rpm or drive.rpm,
        rotational=facts.medium == "rotating",
        health=reading.health,
        temperature_c=reading.temperature_c,
        power_on_hours=reading.power_on_hours,
        written_bytes=reading.wear.written_bytes,
        life_used_percent=reading.wear.life_used_percent,
        smr=verdict,
    )


def details_each(drives: Iterable[Drive], *, timeout_s: float = 10.0, wake: bool = False) -> Iterator[Drive]:
    """Drives with their details in the order of their answers, all queried at once."""
    answered: queue.SimpleQueue[Drive] = queue.SimpleQueue()
    waiting = list(drives)
    for drive in waiting:
        threading.Thread(
            target=lambda drive=drive: answered.put(details(drive, timeout_s=timeout_s, wake=wake)), daemon=True
        ).start()
    for _ in waiting:
        yield answered.get()


def _ask(drive: Drive, timeout_s: float, wake: bool) -> _Answer:
    deadline = clock.monotonic() + timeout_s
    # Ways through a USB bridge, smartctl's own choice first; none of them writes to the disk (smartctl(8), -d).
    ways = ("", "sat", "sat,12", "sntasmedia", "sntjmicron", "sntrealtek") if drive.bridge else ("",)
    answer = _Answer()
    for way in ways:
        answer = _query(drive, ("--info", "--health", "--attributes"), way, deadline, wake)
        if answer.reading is None or answer.reading.facts.asleep:
            return _explained(drive, answer)
        if answer.reading.facts.model and answer.reading.facts.medium:
            return _with_statistics(drive, _with_farm(drive, answer, deadline, wake), deadline, wake)
    return _explained(drive, answer)


def _query(drive: Drive, asking: tuple[str, ...], way: str, deadline: float, wake: bool) -> _Answer:
    """One run of smartctl, until the deadline."""
    left_s = deadline - clock.monotonic()
    type_ = ("--device", way) if way else ()
    power = () if wake else ("--nocheck", "standby")
    argv = ("smartctl", "--json", *asking, *power, *type_, path_of(drive.name))

    @in_english()
    def run() -> _Answer:
        try:
            return _Answer(parse(query(argv, timeout_s=left_s).stdout), through=way)
        except Missing as error:
            return _Answer(missing=error.message, hint=N_("Install smartmontools; `fswizard doctor` says how."))
        except FswizardError as error:
            return _Answer(missing=error.message, hint=N_("The disk may be busy or failing: try again later."))

    given_up = _Answer(missing=N_("smartctl did not answer in time."), hint=N_("The disk may be busy or failing."))
    return run() if left_s > 0 else given_up


def _with_farm(drive: Drive, answer: _Answer, deadline: float, wake: bool) -> _Answer:
    """The answer with the recording type from Seagate's log, which smartctl 7.4 can read."""
    reading = answer.reading
    if reading is None or reading.version < (7, 4) or not reading.facts.model.startswith("ST"):
        return answer
    farm = _query(drive, ("--log", "farm"), answer.through, deadline, wake).reading
    if farm is None or not farm.facts.recording:
        return answer
    return replace(answer, reading=replace(reading, facts=replace(reading.facts, recording=farm.facts.recording)))


def _with_statistics(drive: Drive, answer: _Answer, deadline: float, wake: bool) -> _Answer:
    """The answer with a SATA SSD's standard counts, which are preferred to its maker's own attributes."""
    reading = answer.reading
    if reading is None or reading.facts.medium != "solid-state":
        return answer
    if statistics := _query(drive, ("--log", "devstat"), answer.through, deadline, wake).reading:
        reading = replace(reading, wear=statistics.wear.or_else(reading.wear))
    return replace(answer, reading=reading)


def _explained(drive: Drive, answer: _Answer) -> _Answer:
    """The answer, or if it has no model name, the reason in words."""
    if answer.reading is None:
        return answer
    facts = answer.reading.facts
    if facts.asleep:
        return _Answer(
            missing=N_("The disk is asleep and was not woken."),
            hint=N_("Try again when it is in use, or wake it with --wake."),
        )
    if "ermission denied" in facts.problem:
        command = f"{shlex.join(programs.as_root(('smartctl', '-x', f'/dev/{drive.name}')))} | fswizard smr -"
        hint = N_("Query it as root: `{command}`.").format(command=command)
        return _Answer(missing=N_("smartctl needs root to query the disk."), hint=hint)
    if facts.model:
        return answer
    return _Answer(missing=facts.problem, hint=N_("`smartctl --scan-open` may show how to reach the disk."))


def _merged(known: SmrFacts, answer: SmrFacts) -> SmrFacts:
    """The kernel's facts and smartctl's; the kernel's are preferred for zones and TRIM."""
    kept = {"source", "bridge", "asleep", "problem"}
    kept |= {"zoned", "zoned_where"} if known.zoned else set()
    kept |= {"trim", "trim_where"} if known.trim else set()
    answered = {field.name: getattr(answer, field.name) for field in fields(answer) if field.name not in kept}
    return replace(known, **{name: value for name, value in answered.items() if value})


def _without(drive: Drive, known: SmrFacts, answer: _Answer) -> Drive:
    """The drive without smartctl's data, with the missing evidence and how to get it."""
    if drive.kind not in ("hdd", "unknown"):
        return replace(drive, pending=answer.missing)
    verdict = judge_smr(known)
    text = N_("TRIM, zones, recording type and smartctl's database are missing here: {reason}")
    text = text.format(reason=answer.missing)
    evidence = (*verdict.evidence, Evidence("smartctl-missing", "unknown", "weak", text))
    advice = (*verdict.advice, answer.hint) if answer.hint else verdict.advice
    return replace(drive, smr=replace(verdict, evidence=evidence, advice=advice), pending=answer.missing)


def _nvme_temperature_c(drive: Drive, machine: Machine) -> int | None:
    """Temperature of an NVMe disk by the kernel, without root; a query might wake other disks."""
    if drive.bus != "nvme":
        return drive.temperature_c
    device = f"/sys/block/{drive.name}/device"
    sensors = [name for name in machine.names(device) if name.startswith("hwmon") and name != "hwmon"]
    sensors += [f"hwmon/{name}" for name in machine.names(f"{device}/hwmon")]
    readings = (machine.number(f"{device}/{sensor}/temp1_input", -1) for sensor in sensors)
    return next((round(reading / 1000) for reading in readings if reading > 0), drive.temperature_c)
