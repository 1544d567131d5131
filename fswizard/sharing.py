"""Reports for others, from a result reduced to numbers, choices of the catalogue, sentences of this program and names
of known forms.

Texts are not searched for secrets. Each field is built from the values that it may have, and anything else is dropped:
a label, a path or a host name has no field.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from typing import TypeVar

from fswizard.advice import conclude
from fswizard.disks.exact_commands import planned_commands
from fswizard.drives.models import shipped_table
from fswizard.engines import planned_age, programs
from fswizard.errors import UsageError
from fswizard.filesystems import catalogue, mounted_as, parse_candidate
from fswizard.language import Message, _, in_english, program_texts
from fswizard.model import metrics
from fswizard.model.drive import Drive
from fswizard.model.estimates import needed_bytes
from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.model.layout import DEGRADED, PROGRAMS
from fswizard.model.metrics import Metric
from fswizard.model.needs import NEEDS
from fswizard.model.plan import Member, Plan, Target
from fswizard.model.recipe import SHIPPED, Job, Recipe
from fswizard.model.result import Doubt, Environment, Failure, Result, Sample, ThroughputSeries
from fswizard.recipes import load, shipped_directory
from fswizard.report import find_format, render
from fswizard.system.pictures import png

Cell = TypeVar("Cell", Sample, ThroughputSeries, Failure)
Names = Mapping[str, str]
"""Texts of a run, its disk or its recipe to their replacements."""

PLACEHOLDER = "…"
"""Replacement for a part of a sentence that may not be shared."""
_HOSTS = ("tmpfs", "overlay", "nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "fuse", "fuseblk", "hostfs")
"""Filesystems outside the catalogue that a scratch image may lie on. Any program chooses NAME in `fuse.NAME`."""
_VALUE = re.compile(
    r"[±~]?\d{1,6}(?:,\d{3}){0,4}(?:\.\d{1,6})?(?: ?(?:%|×|[kMGTP]i?B|B|[mµn]?s|min|h|d)(?:/s)?)?|"
    r"[\s,;:–-]{1,3}|[a-z]{1,12}_worker"
)
"""A number with its unit, what stands between the items of a list, or a program of our own."""
_VERSION = re.compile(r"\d{1,8}(?:\.\d{1,8}){0,3}(?:-?(?:rc|dev|[a-z])?\d{0,4})")
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ)?")
_CODE = re.compile(r"E[A-Z0-9]{2,15}|[a-z0-9]{1,20}(?:[-:,=.+][a-z0-9.]{1,20}){0,8}")
"""What this program calls a doubt, a failure or a piece of evidence; the name of a candidate may be in it."""
_MAKERS = (
    "ADATA Apple Asustor Backup Biwin BUP Clover Corsair Crucial CSSD Dell Elements EMC Excelstor Expansion Ext "
    "External Force Foresee FreeAgent Fujitsu Gigabyte GoFlex HGST Hitachi HP HPE Hynix IBM InnoDisk Intel "
    "Intenso KingSpec Kingston KIOXIA LaCie Lenovo Lexar LiteOn LiteOnIT Maxtor Micron My Netac NetApp OCZ One "
    "Patriot Plextor PNY Portable QEMU Quantum Sabrent Samsun Samsung SanDisk Seagate Silicon SK SKHynix SPCC "
    "SSSTC STEC Synology T-Force Team Timetec Toshiba Transcend UDSS UMIS VBox Verbatim Virtual VMware WD WDC XPG "
    "YMTC Zhitai"
)
"""Makers, and what they sell as a case: the first words of models' names."""
_PRODUCT = (
    r"[A-Z]{1,6}\d[A-Z0-9]{2,15}(?:[- /][A-Z0-9]{1,12}){0,3}|"
    r"[CM]\d{1,3}-CT[A-Z0-9]{4,16}|Micron_\d{4}_MTFD[A-Z0-9]{4,12}"
)
"""A series and its number: `ST8000AS0002-1NA17Z`, `CT500MX500SSD1`."""
_SERIES = (
    "Active Archive Backup+ Barracuda BarraCuda Book Caviar Constellation Desk Desktop Disk Drive Duo Easystore Elite "
    "Essential Evo Exos Expansion External Extreme Flash FireCuda Force Fusion Game Gaming Green Hub IronWolf Laptop "
    "Legend Light Media Mobile Momentus Neo NVMe One Passport Plus Portable Premium Pro Purple Pulse Red Rocket Savvio "
    "SkyHawk Slim Solid State Super Technology Touch Ultra Ultrastar Vertex Black Blue Gold Gen Gb GB TB"
)
"""Words of models' names that are not in capitals alone."""
_FOLLOWS = rf"[ -]?[A-Z0-9][A-Z0-9.+()-]*| (?:{'|'.join(map(re.escape, _SERIES.split()))})"
_MODEL = re.compile(
    rf"(?=.{{1,40}}$)(?:\d{{1,3}} × |simulated )?"
    rf"(?:(?i:{'|'.join(_MAKERS.split())})(?:{_FOLLOWS}){{0,7}}|SSD|{_PRODUCT})"
)
_FIRMWARE = re.compile(r"[A-Z0-9][A-Z0-9._-]{1,11}")
_DISTRIBUTION = re.compile(
    r"AlmaLinux|Alpine|Arch|Artix|CachyOS|CentOS|Debian|Devuan|elementary|EndeavourOS|Enterprise|Fedora|Garuda|Gentoo|"
    r"GNU/Linux|Hat|KDE|Kali|Leap|Linux|LTS|Mageia|Manjaro|Mint|MX|neon|NixOS|Nobara|openSUSE|Oracle|OS|Pop!_OS|Proxmox|"
    r"Raspbian|Red|Rocky|Server|Slackware|Solus|SteamOS|Stream|SUSE|Tumbleweed|Ubuntu|VE|Void|Zorin|\d{1,8}|"
    r"\((?:bullseye|bookworm|trixie|forky|sid)\)"
)
"""Words in names of distributions; `_KERNEL` and `_PROCESSOR` are the same for their kind."""
_KERNEL = re.compile(
    r"\d{1,6}|x86|64|amd64|i[3-6]86|686|arm64|aarch64|armv\d\w?|riscv64|generic|default|desktop|cloud|rt|lts|zen|hardened|"
    r"arch\d*|cachyos|MANJARO|fc\d+|el\d+|pve|lowlatency|azure|aws|gcp|kvm|oem|hwe|raspi\d*|rpi|v8|microsoft|standard|WSL2|"
    r"xanmod\d*|liquorix|lqx|tkg|gentoo|nobara|bpo\d*|deb\d+\w*|rc\d+|virt",
    re.IGNORECASE,
)
_DISK = re.compile(r"(?:sd|hd|vd|xvd)[a-z]{1,3}|nvme\d{1,3}n\d{1,3}|mmcblk\d{1,3}|(?:loop|md|zram|dm-)\d{1,4}")
_PROCESSOR = re.compile(
    r"\d{1,2}|×|\d\dth|Gen|AMD|Ampere|Altra|Apple|ARM|Arm|Athlon|Atom|Bronze|Celeron|Common|Core|CPU|Cortex|EPYC|FX|"
    r"Genuine|Gold|Graphics|Intel|KVM|M\d|Max|Milan|Model|Neoverse|Opteron|Pentium|Phenom|Pi|Platinum|PRO|Pro|Processor|"
    r"QEMU|Quad|Dual|Six|Eight|Radeon|Raspberry|Rev|Rome|Ryzen|Silver|Threadripper|Turion|Ultra|UML|Vega|Virtual|Xeon|"
    r"processor|version|with|@|v\d|[A-Z]\d{1,4}[A-Z]?|i[3579]-\d{3,5}[A-Z]{0,3}\d?|[EW]\d?-\d{4}[A-Z]?|"
    r"\d{3,5}[A-Z]{0,2}\d?[A-Z]?|\d{1,3}-Core|\d\.\d\+?|\d\.\d{1,2}GHz|Cortex-[AX]\d{1,3}|Neoverse-[NV]\d"
)


def export(
    result: Result, format_name: str, *, identify: bool = False, english: bool = False, full: bool = False
) -> str | bytes:
    """A report in one of the formats: bytes where it is a picture. UsageError if there is no such format.

    It is made from what may be shared, and with `identify` from everything.
    """
    kind = find_format(format_name)
    with in_english() if kind.english or english else nullcontext():
        text = render(conclude(result if identify else shareable(result)), format_name, full=full)
    return png(text) if kind.drawn else text


def shareable(result: Result) -> Result:
    """The result without free text: nothing in it names the machine, its owner or a single disk."""
    plan = result.plan
    recipe, measured = _recipe(plan.recipe), _candidates(plan.candidates)
    candidates, tests = {"": ""}, {"": ""}
    names = {name: name for each in catalogue().values() for name in (each.name, each.title)}
    for old, new in zip(plan.candidates, measured):
        candidates[old.name] = new.name
        names[old.title] = new.title
    for workload, other in zip(plan.recipe.workloads, recipe.workloads):
        tests[workload.name] = other.name
        names[workload.title] = other.title
    names |= tests | candidates
    drive = plan.drive and _drive(plan.drive)
    if plan.drive and drive:
        names[plan.drive.model] = drive.model or PLACEHOLDER
        evidence = []
        for piece in plan.drive.smr.evidence:
            code, text = _coded(piece.code, piece.text, names)
            evidence.append(replace(piece, code=code, text=text))
        drive = replace(drive, smr=replace(drive.smr, evidence=tuple(evidence), advice=()))

    def cells(items: Iterable[Cell]) -> Iterable[Cell]:
        for item in items:
            if item.candidate in candidates and item.workload in tests:
                yield replace(item, candidate=candidates[item.candidate], workload=tests[item.workload])

    samples = []
    for sample in cells(result.samples):
        if metric := _metrics().get(sample.metric):
            by = candidates.get(sample.predecessor, "")
            samples.append(replace(sample, unit=metric.unit, predecessor=by))
    failures = []
    for failure in cells(result.failures):
        kind, text = _coded(failure.kind, failure.text, names)
        failures.append(replace(failure, kind=kind, text=text, details=""))
    return replace(
        result,
        environment=_environment(result.environment),
        plan=_plan(plan, recipe, measured, drive),
        samples=tuple(samples),
        failures=tuple(failures),
        doubts=tuple(Doubt(*_coded(doubt.code, doubt.text, names)) for doubt in result.doubts),
        survivors=result.survivors and tuple(candidates[name] for name in result.survivors if name in candidates),
        fault=result.fault and (_sentence(result.fault, names) or PLACEHOLDER),
        remedy=_sentence(result.remedy, names),
        throughput_series=tuple(cells(result.throughput_series)),
    )


def _plan(plan: Plan, recipe: Recipe, measured: tuple[Candidate, ...], drive: Drive | None) -> Plan:
    baselines = [new.name for old, new in zip(plan.candidates, measured) if old.name == plan.baseline]
    members = []
    for member in plan.target.members:
        below = member.host_filesystem
        members.append(Member("", member.size_bytes, below if mounted_as(below) or below in _HOSTS else ""))
    first, *others = members
    shared = replace(
        plan,
        recipe=recipe,
        candidates=measured,
        baseline=(*baselines, measured[0].name)[0],
        target=Target(plan.target.kind, "", first.size_bytes, first.host_filesystem, others=tuple(others)),
        drive=drive,
        needs=tuple(need for need in plan.needs if need in NEEDS),
        losses=(),
        left_out=(),
    )
    with in_english():
        age = planned_age(plan.churn_bytes, needed_bytes(recipe)) if plan.aged else None
        made = planned_commands(shared.target, measured, (), age, plan.by_udisks)
    # A file may hold others, which nobody should copy and run.
    commands = tuple(command for command in made if command.candidate and command in plan.commands)
    return replace(shared, commands=commands)


def _recipe(recipe: Recipe) -> Recipe:
    """The recipe with names and titles of shipped ones; those of a user's recipe are numbered."""
    path = shipped_directory() / f"{recipe.name}.toml"
    shipped = load(path) if re.fullmatch("[a-z0-9-]+", recipe.name) and path.is_file() else None
    titles = {workload.name: workload.title for workload in shipped.workloads} if shipped else {}
    workloads = []
    for number, workload in enumerate(recipe.workloads, 1):
        name = workload.name if workload.name in titles else f"workload-{number}"
        title = workload.title if workload.title in (*titles.values(), *program_texts()) else name
        metric = _metrics().get(workload.metric.name, workload.job.metrics[0])
        job = workload.job
        workloads.append(replace(workload, name=name, title=title, engine=job.engine, metric=metric, why=""))
    name = recipe.name if shipped else "recipe"
    known = recipe.title in program_texts() or (shipped and recipe.title == shipped.title)
    return replace(
        recipe,
        name=name,
        title=recipe.title if known else name,
        why="",
        workloads=tuple(workloads),
        candidates=(),
        array_candidates=(),
        source=SHIPPED if shipped and not recipe.from_user else name,
        mount_point=shipped.mount_point if shipped else "/mnt/data",
    )


def _candidates(measured: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Candidates parsed from their names by the catalogue; directories and unknown names are numbered."""
    shared: dict[str, Candidate] = {}
    other = Filesystem("other", "other", "", "")
    for number, candidate in enumerate(measured, 1):
        if candidate.directory:
            kind = candidate.filesystem.mount_type or candidate.filesystem.name
            filesystem = mounted_as(kind) or other
            name = f"DIRECTORY-{number}"
            made = Candidate(f"{name} ({filesystem.name})", filesystem, directory=name)
        else:
            try:
                made = parse_candidate(candidate.name.replace(f",{DEGRADED}", ""))
                made = made.on(candidate.array.members if candidate.array else 1)
            except UsageError:
                made = Candidate("", other)
            if made.array and candidate.array and candidate.array.degraded:
                array = replace(made.array, degraded=True)
                made = replace(made, name=made.name.replace(made.array.name, array.name, 1), array=array)
            if made.name in ("", *shared):
                name = f"candidate-{number}"
                made = Candidate(name, replace(made.filesystem, title=name))
        shared[made.name] = made
    return tuple(shared.values())


def _environment(environment: Environment) -> Environment:
    known = {*PROGRAMS.values(), *(program.name for program in programs())}
    known |= {filesystem.mkfs_program for filesystem in catalogue().values()}
    return Environment(
        environment.version if _VERSION.fullmatch(environment.version) else "",
        environment.started if _TIME.fullmatch(environment.started) else "",
        _beginning(environment.kernel, _KERNEL),
        _beginning(environment.distribution, _DISTRIBUTION),
        processor=_beginning(environment.processor, _PROCESSOR),
        memory_bytes=environment.memory_bytes,
        tools={name: text for name, text in environment.tools.items() if name in known and _VERSION.fullmatch(text)},
    )


def _beginning(text: str, known: re.Pattern[str]) -> str:
    """A name up to its first unknown word: `6.1.0-18-amd64`, but `6.1.0` for `6.1.0-annes`."""
    whole = ""
    for part in re.findall(r"[-+.~_ ]|[^-+.~_ ]+", text):
        if not known.fullmatch(re.sub(r"\((?:R|TM)\)", "", part)) and (part not in "-+.~_ " or whole.endswith(part)):
            break
        whole += part
    return whole.rstrip("-.~_ ")


def _drive(drive: Drive) -> Drive:
    secrets = [secret.lower() for secret in (drive.serial, drive.stable_name) if len(secret) > 2]
    model, firmware = (
        text if known.fullmatch(text) and not any(secret in text.lower() for secret in secrets) else ""
        for text, known in ((" ".join(drive.model.split()), _MODEL), (drive.firmware, _FIRMWARE))
    )
    bridge = re.search(r"\(([0-9a-f]{4}:[0-9a-f]{4})\)$", drive.bridge)
    return replace(
        drive,
        name=drive.name if _DISK.fullmatch(drive.name) else "",
        model="loop device" if drive.bus == "loop" else model,
        firmware=firmware,
        serial="",
        stable_name="",
        bridge=bridge[1] if bridge else "",
        health=drive.health if drive.health in ("good", "failing") else "",
        partitions=(),
        uses=(),
        pending="",
    )


def _coded(code: str, text: str, names: Names) -> tuple[str, str]:
    """A code and its sentence; what may not be shared of the sentence is replaced by the code."""
    code = code if _CODE.fullmatch(code) else PLACEHOLDER
    return code, _sentence(text, names) or code


def _sentence(text: str, names: Names) -> str:
    """A sentence of this program with the fields that may be shared; empty for any other text.

    Installed translations list every sentence of the program, so the template must be one of them. A checkout has none:
    there any `Message` will do, since its template is a literal in the code, and text from elsewhere is in its fields.
    The exception, titles of recipes that were translated, is in `names`.
    """
    if text in names:
        return names[text]
    if not isinstance(text, Message):
        return text if text in program_texts() else ""
    skeleton = re.sub(r"\{\w+\}", "", text.english)
    # a list, a number, or a sentence
    known = not skeleton or _VALUE.fullmatch(skeleton) or text.english in program_texts()
    if not known and (program_texts() or re.fullmatch(r"[\W\d]*\d[\W\d]*", skeleton)):
        return ""
    fields = {name: value if type(value) is int else _field(str(value), names) for name, value in text.fields.items()}
    return _(text, **fields)


def _field(text: str, names: Names) -> str:
    if isinstance(text, Message):
        return _sentence(text, names) or PLACEHOLDER
    known = text in _program_names() or _VALUE.fullmatch(text)
    return names.get(text, text if known else PLACEHOLDER)


@cache
def _program_names() -> frozenset[str]:
    """Names of programs, system errors, and sources on disk models as the program has them."""
    sources = (row.source for row in shipped_table().rows)
    return frozenset((*(one.name for one in programs()), *map(os.strerror, errno.errorcode), *sources))


@cache
def _metrics() -> Mapping[str, Metric]:
    every = [metric for metric in vars(metrics).values() if isinstance(metric, Metric)]
    for job in Job.kinds.values():
        every += job.metrics
    return {metric.name: metric for metric in every}
