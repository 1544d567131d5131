"""Anonymised texts for sharing, built from words of this program and names of known forms.

A word is shared if it occurs in this program's files or in the active translation, is a small number with its unit, or
is a name of a verified form. Every other word becomes `…`. So serial numbers, labels, mount points, host and user names
cannot leak, whatever field contains them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from importlib.abc import Traversable
from pathlib import Path

from fswizard import language

LEFT_OUT = "…"
"""Replacement for a word that may not be shared."""
UNITS = frozenset(
    {"B", "kB", "KB", "MB", "GB", "TB", "PB", "KiB", "MiB", "GiB", "TiB", "k", "K", "M", "G", "T", "d"}
    | {"s", "ms", "us", "µs", "ns", "min", "m", "h", "x", "th", "nd", "rd", "st"}
)
_KANJI = "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff"
_LETTER = rf"[^\W_{_KANJI}]"
_RUN = re.compile(rf"{_LETTER}+|[{_KANJI}]+")
"""A word or number; everything else is punctuation. Japanese puts no spaces around words."""
_EDGES = "`'\"“”’()[]{}<>,;:!?|*.…"
_NUMBER = re.compile(r"(?:v|rc)?(\d{1,6})([^\W\d_]{0,3})")
_TIME = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?)?")

_MAKERS = (
    "ADATA Apple Asustor Backup Biwin BUP Clover Corsair Crucial CSSD Dell Elements EMC Excelstor Expansion Ext "
    "External Force Foresee FreeAgent Fujitsu Gigabyte GoFlex HGST Hitachi HP HPE Hynix IBM InnoDisk Intel "
    "Intenso KingSpec Kingston KIOXIA LaCie Lenovo Lexar LiteOn LiteOnIT Maxtor Micron My Netac NetApp OCZ One "
    "Patriot Plextor PNY Portable QEMU Quantum Sabrent Samsun Samsung SanDisk Seagate Silicon SK SKHynix SPCC "
    "SSSTC STEC Synology T-Force Team Timetec Toshiba Transcend UDSS UMIS VBox Verbatim Virtual VMware WD WDC XPG "
    "YMTC Zhitai"
)
"""Makers of disks and enclosures: the first words of model names."""
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
"""Words of model names that are not all in capitals."""
_FOLLOWS = rf"[ -]?[A-Z0-9][A-Z0-9.+()-]*| (?:{'|'.join(map(re.escape, _SERIES.split()))})"
MODEL = re.compile(rf"(?i:{'|'.join(_MAKERS.split())})(?:{_FOLLOWS}){{0,7}}|{_PRODUCT}")
FIRMWARE = re.compile(r"[A-Z0-9][A-Z0-9._-]{1,11}")
_DISTRIBUTION = re.compile(
    r"(?:AlmaLinux|Alpine(?: Linux)?|Arch(?: Linux)?|Artix(?: Linux)?|CachyOS(?: Linux)?|CentOS(?: Linux| Stream)?|"
    r"Debian(?: GNU/Linux)?|Devuan(?: GNU/Linux)?|elementary OS|EndeavourOS|Fedora(?: Linux)?|Garuda(?: Linux)?|"
    r"Gentoo(?: Linux)?|KDE neon|Kali(?: GNU/Linux)?|Linux Mint|MX|Mageia|Manjaro(?: Linux)?|Nobara(?: Linux)?|NixOS|"
    r"openSUSE (?:Leap|Tumbleweed)|Oracle Linux(?: Server)?|Pop!_OS|Proxmox VE|Raspbian(?: GNU/Linux)?|"
    r"Red Hat Enterprise Linux|Rocky Linux|Slackware|Solus|SteamOS|SUSE Linux Enterprise|Ubuntu|Void(?: Linux)?|"
    r"Zorin OS)"
    r"(?: \d{1,8}(?:[.-]\d{1,4}){0,3})?(?: LTS)?"
    r"(?: \((?:bullseye|bookworm|trixie|forky|sid|Workstation Edition|Server Edition|KDE Plasma)\))?(?:/sid)?"
)
_FLAVOUR = re.compile(
    r"\d{1,6}|x86|64|amd64|i[3-6]86|686|arm64|aarch64|armv\d\w?|riscv64|generic|default|desktop|cloud|rt|lts|zen|hardened|"
    r"arch\d*|cachyos|MANJARO|fc\d+|el\d+|pve|lowlatency|azure|aws|gcp|kvm|oem|hwe|raspi\d*|rpi|v8|microsoft|standard|WSL2|"
    r"xanmod\d*|liquorix|lqx|tkg|gentoo|nobara|bpo\d*|deb\d+\w*|rc\d+|virt",
    re.IGNORECASE,
)
_KERNEL_NAME = re.compile(r"(?:sd|hd|vd|xvd)[a-z]{1,3}|nvme\d{1,3}n\d{1,3}|mmcblk\d{1,3}|(?:loop|md|zram|dm-)\d{1,4}")
_PROCESSOR = re.compile(
    r"\d{1,2}|×|\d\dth|Gen|AMD|Ampere|Altra|Apple|ARM|Arm|Athlon|Atom|Bronze|Celeron|Common|Core|CPU|Cortex|EPYC|FX|"
    r"Genuine|Gold|Graphics|Intel|KVM|M\d|Max|Milan|Model|Neoverse|Opteron|Pentium|Phenom|Pi|Platinum|PRO|Pro|Processor|"
    r"QEMU|Quad|Dual|Six|Eight|Radeon|Raspberry|Rev|Rome|Ryzen|Silver|Threadripper|Turion|Ultra|UML|Vega|Virtual|Xeon|"
    r"processor|version|with|@|v\d|[A-Z]\d{1,4}[A-Z]?|i[3579]-\d{3,5}[A-Z]{0,3}\d?|[EW]\d?-\d{4}[A-Z]?|"
    r"\d{3,5}[A-Z]{0,2}\d?[A-Z]?|\d{1,3}-Core|\d\.\d\+?|\d\.\d{1,2}GHz|Cortex-[AX]\d{1,3}|Neoverse-[NV]\d"
)


def sentence(text: str, names: Mapping[str, str] | None = None) -> str:
    """The text with `…` in place of every word that may not be shared.

    `names` are verified texts, such as candidates and the disk's model, with their replacement.
    """
    if not names:
        return _redacted(text)
    parts = _pattern(tuple(names)).split(text)  # every second one is a name
    return "".join(names[part] if number % 2 else _redacted(part) for number, part in enumerate(parts))


@cache
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(filter(None, names), key=len, reverse=True)
    return re.compile(rf"(?<!{_LETTER})({'|'.join(map(re.escape, longest_first)) or r'(?!)'})(?!{_LETTER})")


def _redacted(text: str) -> str:
    return "".join(
        part if part.isspace() or is_shareable(part) else _left_out(part) for part in re.split(r"(\s+)", text)
    )


def _left_out(chunk: str) -> str:
    """`…` with the punctuation around the word, so that a sentence still ends."""
    body = chunk.strip(_EDGES)
    before, _, after = chunk.partition(body)
    return f"{before}{LEFT_OUT}{after}"


def is_shareable(chunk: str) -> bool:
    """Whether a text without spaces has only words of this program and small numbers; a path must occur in it whole."""
    body = chunk.strip(_EDGES)
    if "/" in body and len(body) > 1:
        return re.sub(r"-\d{1,3}$", "", body) in _vocabulary(language.chosen())[1]  # DISK-2 of several
    return _TIME.fullmatch(body) is not None or all(_known(run) for run in _RUN.findall(body))


def _known(run: str) -> bool:
    number, words = _NUMBER.fullmatch(run), _vocabulary(language.chosen())[0]
    if run.lower() in words or (number is not None and (not number[2] or number[2] in UNITS)):
        return True
    return re.match(f"[{_KANJI}]", run) is not None and _made_of(run, words)


@cache
def _made_of(run: str, words: frozenset[str]) -> bool:
    """Whether a text without spaces is a concatenation of words of the program."""
    ends = {0}
    for end in range(1, len(run) + 1):
        if any(run[begin:end] in words for begin in ends):
            ends.add(end)
    return len(run) in ends


@cache
def _vocabulary(_spoken: str) -> tuple[frozenset[str], frozenset[str]]:
    """All words of the program's files and of the active language, in lower case, and all their texts with a slash."""
    words: set[str] = set()
    paths: set[str] = set()
    package = resources.files("fswizard")
    recipes = Path(str(package)).with_name("recipes").glob("*.toml")  # where they lie in a checkout
    for text in (*_texts(package), *(path.read_text("utf-8") for path in recipes), *language.translations()):
        words.update(run.lower() for run in _RUN.findall(text.replace("_", " ")))
        paths.update(chunk.strip(_EDGES) for chunk in text.split() if "/" in chunk)
    return frozenset(word for word in words if not word.isdigit()), frozenset(paths)


def _texts(folder: Traversable) -> Iterable[str]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _texts(entry)
        elif entry.name.endswith((".py", ".toml")):
            yield entry.read_text("utf-8")


def model_name(text: str, *secrets: str) -> str:
    """A model name; empty if it doesn't look like one or contains one of `secrets`."""
    name = text.strip()
    one = re.sub(r"^(\d{1,3} × |simulated )", "", " ".join(name.split()))
    known = len(name) <= 40 and (MODEL.fullmatch(one) or sentence(one) == one)
    return name if known and not _holds(name, secrets) else ""


def firmware_name(text: str, *secrets: str) -> str:
    """A firmware version; empty if it doesn't look like one or contains one of `secrets`."""
    name = text.strip()
    return name if FIRMWARE.fullmatch(name) and not _holds(name, secrets) else ""


def kernel_release(text: str) -> str:
    """A kernel version as named by distributions: `6.1.0-18-amd64`; empty if it doesn't look like one."""
    parts: list[str] = []
    for part in re.split(r"([-+.~_])", text.strip()):
        if (parts and parts[-1] not in "-+.~_" and part in "-+.~_") or _FLAVOUR.fullmatch(part):
            parts.append(part)
        else:
            break
    kernel = "".join(parts).rstrip("-+.~_")
    return kernel if re.match(r"\d+\.\d", kernel) else ""


def distribution_name(text: str) -> str:
    """The name of a distribution with its version; empty if it doesn't look like one."""
    return text if _DISTRIBUTION.fullmatch(text) else ""


def processor_name(text: str) -> str:
    """The name of a processor up to its first unknown word."""
    parts: list[str] = []
    for word in text.split():
        if not _PROCESSOR.fullmatch(re.sub(r"\((?:R|TM)\)", "", word)):
            break
        parts.append(word)
    return " ".join(parts)


def kernel_name(text: str) -> str:
    """The kernel name of a disk, such as `nvme0n1`; empty if it doesn't look like one."""
    return text if _KERNEL_NAME.fullmatch(text) else ""


def usb_identifier(text: str) -> str:
    """Vendor and product number at the end of a USB device's name, such as `152d:0578`; empty if there are none."""
    match = re.search(r"\(([0-9a-f]{4}:[0-9a-f]{4})\)$", text)
    return match[1] if match else ""


def _holds(name: str, secrets: Iterable[str]) -> bool:
    return any(len(secret) > 2 and secret.lower() in name.lower() for secret in secrets)
