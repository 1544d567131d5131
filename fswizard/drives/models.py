"""The table of models: whether they are shingled, with sources."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from fswizard.language import _, joined
from fswizard.model.drive import Confidence, Drive, SmrKind

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
_VOLUME = re.compile(
    r"LOGICAL|SERVERA|PERC |MEGARAID|MR9\d|SMART ARRAY|VIRTUAL|VMWARE|QEMU|VBOX|RAID|ISCSI|DISK ARRAY|MSFT",
    re.IGNORECASE,
)
_LINK = re.compile(r"(?:ATA|USB|SCSI|NVME)-(?:[SQ]?ATA_+)?", re.ASCII)
_CUT = re.compile(r"^(ST\d{2,5}[A-Z]{2}|WD\d{2,3}) (?=[A-Z0-9]{3,4}(?:-|$))", re.ASCII)
"""Where a USB bridge cuts a name: after eight letters, as SCSI has room for a vendor of eight."""
_SCSI_LETTERS = 16
"""Room for a model's name in SCSI; a longer one is cut."""
_SIZE = re.compile(r"\b(\d{1,2}) ?TB\b", re.IGNORECASE)
_NO_SERIES = re.compile(
    rf"{_MAKERS}|WESTERN|DIGITAL|HDD|SSD|NAS|USB|AND|THE|FOR|ARE|ITS|DISKS?|DRIVE|HARD|INTERNAL|EXTERNAL|PORTABLE|DESKTOP"
)


@dataclass(frozen=True, slots=True)
class Source:
    """An address that rows refer to, and its author."""

    url: str
    by: str
    """Author at the beginning of a sentence, such as `Western Digital`."""
    via: str = ""
    """Document or mediator, which follows in brackets: `data sheet`, `quoted by heise online`."""
    year: int = 0
    """Year, or 0 if unknown."""

    @property
    def where(self) -> str:
        """Document and year: `data sheet, 2019`."""
        year = str(self.year) if self.year else _("undated")
        return joined([_(self.via), year] if self.via else [year], ", ")


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One statement about a model or a family of models."""

    pattern: str
    """Regular expression for a whole model name in capitals: bare, without its variant, or complete."""
    kind: SmrKind
    source: str
    """Address where it can be checked."""
    strength: SourceStrength
    note: str = ""
    hybrid: bool = False
    """Whether it has flash beside its platters, so that TRIM says nothing about the platters."""
    may_trim: bool = False
    """Whether some conventional disks of the family offer TRIM, such as those for cameras, so that it is only a
    hint."""

    @property
    def disputed(self) -> bool:
        """Whether sources contradict each other."""
        return self.kind == "unknown" and not self.hybrid

    @property
    def confidence(self) -> Confidence:
        return "weak" if self.strength in ("hint", "community") else "strong"


def parse_table(text: str) -> ModelTable:
    """The table that a text in TOML holds."""
    import tomli

    table = tomli.loads(text)
    rows = (ModelRow(kind=row.pop("class"), **row) for row in table["model"])
    return ModelTable(rows, (Source(**source) for source in table["source"]), table["names"])


def bare(model: str) -> str:
    """A model name in capitals, without its maker: `WDC WD40EFAX-68JH4N1` becomes `WD40EFAX-68JH4N1`.

    `HGST` stays, as it distinguishes disks from 2012 on from older ones of Hitachi with the same names.
    """
    return _PREFIX.sub("", " ".join(model.upper().split()), count=1)


def stem(model: str) -> str:
    """A bare model name up to the variant that follows a dash or blank: `WD40EFAX`."""
    return re.split(r"[- ]", model, maxsplit=1)[0]


@cache
def spellings(model: str) -> tuple[str, ...]:
    """A bare model name, and as its maker spells it: without an OEM's or a series' name before it, with underscores as
    blanks, whole where a bridge cut it in two, out of a name in /dev/disk/by-id."""
    name = bare(model)
    plain = bare(_LINK.sub("", name).replace("_", " ")) if "_" in name or _LINK.match(name) else name
    words = plain.split()
    tails = (" ".join(words[first:]) for first in range(min(len(words), 6)))
    named = next((tail for tail in tails if _HARD_DISK.match(tail)), plain)
    return tuple(dict.fromkeys((name, _CUT.sub(r"\1", named))))


def names_a_hard_disk(model: str) -> bool:
    """Whether a model name looks like one that a maker of hard disks gives."""
    return "SSD" not in model.upper() and any(_HARD_DISK.match(name) for name in spellings(model))


def names_a_volume(model: str) -> bool:
    """Whether a model name is that of a RAID controller's volume or of an emulated disk."""
    return _VOLUME.search(model) is not None


def scsi_name(vendor: str, product: str, more: str = "") -> str:
    """A name from SCSI's fields, of which a bridge may have filled the vendor's eight letters with the model's."""
    apart = " ".join(filter(None, (vendor, product, more)))
    whole = f"{vendor}{product}"
    return whole if product and spellings(apart)[-1] == bare(whole) != bare(apart) else apart


class ModelTable:
    """Rows to look up names in."""

    def __init__(self, rows: Iterable[ModelRow], sources: Iterable[Source] = (), names: Iterable[str] = ()) -> None:
        self.rows = tuple(rows)
        self._patterns = [re.compile(row.pattern, re.ASCII) for row in self.rows]
        self.sources = {source.url: source for source in sources}
        self.names = sorted({*names, *(row.pattern for row in self.rows if row.pattern.isalnum())})
        """Names of models that have a row, for suggestions."""

    def find(self, model: str) -> list[ModelRow]:
        """Rows about a model: those that name it, then those whose pattern covers it."""
        names = spellings(model)
        if len(model) == _SCSI_LETTERS:
            names += tuple(f"{name}0" for name in names)
        for name in names:
            written = {stem(name), name, " ".join(model.upper().split())}
            rows = []
            for pattern, row in zip(self._patterns, self.rows, strict=True):
                if any(map(pattern.fullmatch, written)):
                    rows.append(row)
            if rows:
                return sorted(rows, key=lambda row: row.pattern not in written)
        return []

    def near(self, model: str) -> list[str]:
        """Up to three names that a misspelt or unfinished one may mean."""
        typed = stem(spellings(model)[-1])[:40]
        near = difflib.get_close_matches(typed, self.names, 3, 0.85) if len(typed) >= 6 else []
        if not near and len(typed) >= 4:
            near = [name for name in self.names if name.startswith(typed)][:3]
        return sorted(near)

    def meant(self, title: str) -> list[str]:
        """Up to six names that a series and a size may mean, as on a box: `Seagate BarraCuda 8TB`. Shingled ones come
        first."""
        size, series = _SIZE.search(title), _series(title)
        if not size or not series:
            return []
        begins = (f"ST{size[1]}000", f"WD{size[1]}0", f"WD{size[1]}1")
        shingled, others = list[str](), list[str]()
        for name in sorted(self.names, key=len):
            rows = self.find(name) if name.startswith(begins) else []
            if any(series <= _series(row.note) for row in rows):
                group = others if rows[0].kind in ("cmr", "unknown") else shingled
                group.append(name)
        return [*shingled[:3], *others[:3]]


def _series(text: str) -> set[str]:
    """The words of a text that may name a series: `RED`, `BARRACUDA`."""
    return {word for word in re.findall(r"[A-Z]{3,}", text.upper()) if not _NO_SERIES.fullmatch(word)}


@cache
def shipped_table() -> ModelTable:
    """The table that comes with the program."""
    return parse_table(resources.files(__package__).joinpath("smr_models.toml").read_text("utf-8"))


def persistent_cache_bytes(drive: Drive) -> int:
    """Size of a shingled disk's cache, as measured on disks of the Archive family; 0 for other disks."""
    return 20_000_000_000 if drive.smr.kind in ("drive-managed", "host-aware") else 0
