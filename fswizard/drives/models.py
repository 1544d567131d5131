"""The table of models: whether they are shingled, with sources."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from importlib import resources
from typing import Annotated, Literal

from fswizard.errors import UsageError
from fswizard.language import N_, _
from fswizard.model.drive import Confidence, Drive, SmrKind
from fswizard.model.keys import UNWRITTEN, Expected, Keys

SourceStrength = Literal["vendor", "database", "paper", "press", "legal", "date", "outputs", "hint", "community"]
"""Kind of source: the maker, smartmontools' database, a published measurement, a review, a court paper, the year
(before the first shingled disk), outputs of smartctl with a mark of that time, or with a hint at it, or users'
lists."""

_MAKERS = r"ATA|WDC|WD|HITACHI|TOSHIBA|SEAGATE|SAMSUNG|MAXTOR|FUJITSU|IBM|QUANTUM|APPLE HDD|WESTERN DIGITAL"
_PREFIX = re.compile(rf"(?:(?:{_MAKERS})[ _]+)+", re.ASCII)
_HARD_DISK = re.compile(
    r"(?:HGST )?(?:ST\d{2,}|STM\d{3}|WD\d|WU[HS]\d{6}|[HW]SH\d{6}|H[UTDCM][A-Z]\d[\dC]\d{3}|H[US]H\d{6}|HUS\d{3}T|"
    r"HDW[A-Z]\w{3}|M[QKGNC]\d{2}|DT\d{2}|MD\d{2}|AL\d{2}S|H[DMNS]\d{3}|HN-M|SP\d{4}|M[ABHP][A-Z]\d{4}|\d[A-Z]\d{3}[A-Z]\d|"
    r"HM\d{3}|HE\d{3}|(?:IBM-)?D[A-Z]{3}-\d|DK\d{2}[A-Z]{2}-|EXCELSTOR|[DEFGMV][BFGHJM]\d{3,6}[A-Z]\w{4}$)",
    re.ASCII,
)
"""Model names of the makers of hard disks and of Hewlett-Packard; those of USB bridges or RAID controllers differ."""

_PATTERN = Expected("a regular expression", lambda text: bool(re.compile(text, re.ASCII)))
_SOURCE = Expected("an address that can be looked up", lambda text: bool(re.match(r"https?://\S+\.\S+", text)))


@dataclass(frozen=True, slots=True)
class Source:
    """An address that rows refer to, and its author."""

    url: Annotated[str, _SOURCE]
    by: str
    """Author at the beginning of a sentence, such as `Western Digital`."""
    via: str = ""
    """Document or mediator, which follows in brackets: `data sheet`, `quoted by heise online`."""
    year: int = 0
    """Year, or 0 if unknown."""

    @property
    def where(self) -> str:
        """Document and year: `data sheet, 2019`."""
        return ", ".join(filter(None, (self.via, str(self.year or N_("undated")))))


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One statement about a model or a family of models."""

    pattern: Annotated[str, _PATTERN]
    """Regular expression for a whole model name in capitals: bare, without its variant, or complete."""
    kind: Annotated[SmrKind, Expected(key="class")]
    source: Annotated[str, _SOURCE]
    """Address where it can be checked."""
    strength: SourceStrength
    note: str = ""
    hybrid: bool = False
    """Whether it has flash beside its platters, so that TRIM says nothing about the platters."""
    may_trim: bool = False
    """Whether some conventional disks of the family offer TRIM, such as those for cameras, so that it is only a
    hint."""
    cache_bytes: int = 0
    """Size of the persistent cache, or 0 if unknown."""
    said: Annotated[Source | None, UNWRITTEN] = None

    @property
    def disputed(self) -> bool:
        """Whether sources contradict each other."""
        return self.kind == "unknown" and not self.hybrid

    @property
    def confidence(self) -> Confidence:
        return "weak" if self.strength in ("hint", "community") else "strong"


def parse_table(text: str) -> tuple[ModelRow, ...]:
    """Rows of a table.

    Raises UsageError for a row with a wrong key, a bad pattern or no source, or that contradicts another one with the
    same pattern or with one that covers its model.
    """
    whole = Keys.parse(text, "table of models")
    sources = {source.url: source for source in (keys.read(Source) for keys in whole.each("source", "url"))}
    read = (keys.read(ModelRow) for keys in whole.each("model", "pattern"))
    rows = tuple(replace(row, said=sources.get(row.source)) for row in read)
    table = ModelTable(rows)
    for row in rows:
        same = [other for other in rows if other.pattern == row.pattern]
        for other in (*same, *(table.find(row.pattern) if row.pattern.isalnum() else ())):
            if other.kind != row.kind:
                raise UsageError(
                    _(
                        "'{pattern}' is {kind} in one row and {other} in another.",
                        pattern=row.pattern, kind=row.kind, other=other.kind,
                    )
                )  # fmt: skip
    return rows


def bare(model: str) -> str:
    """A model name in capitals, without its maker: `WDC WD40EFAX-68JH4N1` becomes `WD40EFAX-68JH4N1`.

    `HGST` stays, as it distinguishes disks from 2012 on from older ones of Hitachi with the same names.
    """
    return _PREFIX.sub("", " ".join(model.upper().split()), count=1) if model else ""


def stem(model: str) -> str:
    """A bare model name up to the variant that follows a dash or blank: `WD40EFAX`."""
    return re.split(r"[- ]", model, maxsplit=1)[0]


def names_a_hard_disk(model: str) -> bool:
    """Whether a model name looks like one that a maker of hard disks gives."""
    return "SSD" not in model.upper() and any(_HARD_DISK.match(name) for name in spellings(model))


_SIZE = re.compile(r"\b(\d{1,2}) ?TB\b", re.IGNORECASE)
_NO_SERIES = re.compile(r"HDD|SSD|NAS|USB|AND|THE|FOR|ARE|ITS|DISKS?|DRIVE|HARD|INTERNAL|EXTERNAL|PORTABLE|DESKTOP")
_LINK = re.compile(r"(?:ATA|USB|SCSI|NVME)-(?:[SQ]?ATA_+)?", re.ASCII)
_VOLUME = re.compile(
    r"LOGICAL|SERVERA|PERC |MEGARAID|MR9\d|SMART ARRAY|VIRTUAL|VMWARE|QEMU|VBOX|RAID|ISCSI|DISK ARRAY|MSFT",
    re.IGNORECASE,
)
_SCSI_LETTERS = 16
"""Room for a model's name in SCSI; a longer one is cut."""
_CUT = re.compile(r"^(ST\d{2,5}[A-Z]{2}|WD\d{2,3}) (?=[A-Z0-9]{3,4}(?:-|$))", re.ASCII)
"""Where a USB bridge cuts a name: after eight letters, as SCSI has room for a vendor of eight."""


def _series(text: str) -> set[str]:
    """The words of a text that may name a series: `RED`, `BARRACUDA`."""
    words = re.findall(r"[A-Z]{3,}", text.upper())
    return {word for word in words if not _NO_SERIES.fullmatch(word) and not re.fullmatch(_MAKERS, word)}


@lru_cache(maxsize=8192)
def spellings(model: str) -> tuple[str, ...]:
    """A bare model name as its maker spells it: without an OEM's or a series' name before it, with underscores as
    blanks, whole where a bridge cut it in two, out of a name in /dev/disk/by-id."""
    name = bare(model)
    plain = bare(_LINK.sub("", name).replace("_", " ")) if "_" in name or _LINK.match(name) else name
    words = plain.split()
    tails = (" ".join(words[first:]) for first in range(min(len(words), 6)))
    later = (next((tail for tail in tails if _HARD_DISK.match(tail)), plain),)
    return tuple(dict.fromkeys((name, *(_CUT.sub(r"\1", each) for each in later))))


def names_a_volume(model: str) -> bool:
    """Whether a model name is that of a RAID controller's volume or of an emulated disk."""
    return _VOLUME.search(model) is not None


def without_serial(name: str) -> str:
    """A model's name out of one in /dev/disk/by-id, which ends with the serial number; any other name as it is."""
    link = _LINK.match(name.upper())
    model, _, serial = name[link.end() if link else 0 :].rpartition("_")
    return model.replace("_", " ") if model and (link or len(serial) > 7) else name


def scsi_name(vendor: str, product: str, more: str = "") -> str:
    """A name from SCSI's fields, of which a bridge may have filled the vendor's eight letters with the model's."""
    apart = " ".join(filter(None, (vendor, product, more)))
    whole = f"{vendor}{product}"
    return whole if product and spellings(apart)[-1] == bare(whole) != bare(apart) else apart


_ANY = "…"
_QUANTIFIER = re.compile(r"[?*+]|\{(\d+)(,\d*)?\}")


def names(pattern: str) -> tuple[str, ...]:
    """The names that match a pattern of the table, with `#` for any digit and `…` for anything."""
    return tuple(re.sub(f"{_ANY}+", _ANY, name) for name in _alternatives(pattern, 0)[0])


def _alternatives(pattern: str, at: int) -> tuple[list[str], int]:
    """The names for a pattern from `at` to its end or to the end of the group, and the position there."""
    ended: list[str] = []
    begun = [""]
    while at < len(pattern) and pattern[at] != ")":
        if pattern[at] == "|":
            ended, begun, at = ended + begun, [""], at + 1
            continue
        options, at = _atom(pattern, at)
        if quantifier := _QUANTIFIER.match(pattern, at):
            at = quantifier.end()
            if quantifier[0] == "?":
                options = ["", *options]
            else:  # `{4}` is four of them, anything else any number
                options = (
                    [option * int(quantifier[1]) for option in options]
                    if quantifier[2] is None and quantifier[1]
                    else [_ANY]
                )
        begun = [start + option for start in begun for option in options]
    return ended + begun, at


def _atom(pattern: str, at: int) -> tuple[list[str], int]:
    """The texts for a character, a class or a group, empty for conditions such as `(?!…)`, and the next position."""
    if pattern.startswith("(?", at):
        return [""], pattern.index(")", at) + 1
    if pattern[at] == "(":
        options, at = _alternatives(pattern, at + 1)
        return options, at + 1
    if pattern[at] == "[":
        end = pattern.index("]", at)
        spelled = re.sub(
            "(.)-(.)", lambda match: "".join(map(chr, range(ord(match[1]), ord(match[2]) + 1))), pattern[at + 1 : end]
        )
        return [*spelled] if len(spelled) <= 10 else [_ANY], end + 1
    if pattern[at] == "\\":
        return [{"d": "#", "w": _ANY}.get(pattern[at + 1], pattern[at + 1])], at + 2
    return [_ANY if pattern[at] == "." else pattern[at]], at + 1


class ModelTable:
    """Rows with an index for looking up thousands of names."""

    def __init__(self, rows: Iterable[ModelRow]) -> None:
        self.rows = tuple(rows)
        self._exact: dict[str, list[ModelRow]] = {}
        self._patterns: list[tuple[re.Pattern[str], ModelRow]] = []
        for row in self.rows:
            if row.pattern.isalnum():
                self._exact.setdefault(row.pattern, []).append(row)
            else:
                self._patterns.append((re.compile(row.pattern, re.ASCII), row))
        self.find = lru_cache(maxsize=8192)(self._find)

    def _find(self, model: str) -> tuple[ModelRow, ...]:
        """Rows about a model: those that name it, then those whose pattern covers it."""
        cut = len(model) == _SCSI_LETTERS
        for name in (*spellings(model), *(f"{name}0" for name in spellings(model) if cut)):
            short = stem(name)
            written = tuple(dict.fromkeys((short, name, " ".join(model.upper().split()))))
            matching = (row for pattern, row in self._patterns if any(map(pattern.fullmatch, written)))
            if rows := (*self._exact.get(short, ()), *matching):
                return rows
        return ()

    def near(self, model: str) -> list[tuple[str, SmrKind]]:
        """Up to three models of the rows with the kind in their first row: those with one letter different, or else
        those that begin with `model`, if that has four letters or more."""
        typed = stem(bare(model))
        near = _one_letter_off(typed) & self._spelled_out
        if not near and len(typed) >= 4:
            near = {name for name in self._spelled_out if name.startswith(typed)}
        return [(name, self.find(name)[0].kind) for name in sorted(near)[:3]]

    def may_be_cut(self, model: str) -> bool:
        """Whether a name is the beginning of longer ones, which record in another way: `WD20SD` of `WD20SDZW`."""
        name = stem(spellings(model)[-1])
        kinds = {row.kind for row in self.find(name)}
        longer = (other for other in self._spelled_out if other.startswith(name) and other != name)
        return bool(kinds) and any(self.find(other)[0].kind not in kinds for other in longer)

    def meant(self, title: str) -> list[tuple[str, SmrKind]]:
        """Up to six models that a series and a size may mean, as on a box: `Seagate BarraCuda 8TB`. Shingled ones come
        first."""
        size, named = _SIZE.search(title), _series(title)
        if not size or not named:
            return []
        starts = {"SEAGATE": (f"ST{size[1]}000",), "WD": (f"WD{size[1]}0", f"WD{size[1]}1")}
        makers = [maker for maker in starts if maker in re.sub("WESTERN DIGITAL|WDC", "WD", title.upper()).split()]
        begin = tuple(start for maker in makers or starts for start in starts[maker])
        shared = [len(named & _series(row.note)) for row in self.rows]
        series = [row for row, count in zip(self.rows, shared, strict=True) if count and count == max(shared)]
        models: dict[str, SmrKind] = {}
        for row in series:
            for name in map(str, names(row.pattern)):
                whole = next((f"{it}{name[3:]}" for it in begin if name.startswith(f"{it[:2]}{_ANY}")), name)
                if whole.startswith(begin) and whole.rstrip(_ANY).isalnum():
                    models.setdefault(whole, (self.find(whole) or (row,))[0].kind)
        found = sorted(models.items(), key=lambda item: (len(item[0]), item[0]))
        conventional = [item for item in found if item[1] in ("cmr", "unknown")]
        shingled = [item for item in found if item not in conventional]
        return [*shingled[: max(3, 6 - len(conventional))], *conventional][:6]

    @cached_property
    def _spelled_out(self) -> frozenset[str]:
        every = (name.removesuffix(_ANY) for row in self.rows for name in names(row.pattern))
        return frozenset(name for name in every if name.isalnum() and self.find(name))


def _one_letter_off(name: str) -> set[str]:
    """Names with one letter wrong, missing, too many or swapped with the next; not for names of a few letters."""
    if not 6 <= len(name) <= 20:
        return set()
    cuts = [(name[:at], name[at:]) for at in range(len(name) + 1)]
    letters = string.ascii_uppercase + string.digits
    return {
        *(start + letter + end for start, end in cuts for letter in letters),
        *(start + letter + end[1:] for start, end in cuts if end for letter in letters),
        *(start + end[1:] for start, end in cuts if end),
        *(start + end[1] + end[0] + end[2:] for start, end in cuts if len(end) > 1),
    }


@cache
def shipped_table() -> ModelTable:
    """The table that comes with the program."""
    return ModelTable(parse_table(resources.files(__package__).joinpath("smr_models.toml").read_text("utf-8")))


def persistent_cache_bytes(drive: Drive) -> int:
    """Size of the cache for a shingled disk's random writes, or 0 for other disks.

    If it is unknown, it is assumed to be 20 GB, as measured on disks of the Archive family.
    """
    if drive.smr.kind not in ("drive-managed", "host-aware"):
        return 0
    known = (row.cache_bytes for row in shipped_table().find(drive.model) if row.cache_bytes)
    return next(known, 20_000_000_000)
