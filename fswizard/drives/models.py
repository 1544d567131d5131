"""The table of disk models: whether they are shingled, with sources."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from fswizard.language import _, joined
from fswizard.model.drive import Confidence, Drive, SmrKind

SourceStrength = Literal["vendor", "database", "paper", "press", "legal", "date", "outputs", "hint", "community"]
"""Kind of source: the maker, the smartmontools database, a published measurement, a review, a court document, the year
(before the first shingled disk), smartctl outputs that prove or hint at that age, or lists by users."""

_PREFIX = re.compile(
    r"(?:(?:ATA|WDC|WD|HITACHI|TOSHIBA|SEAGATE|SAMSUNG|MAXTOR|FUJITSU|IBM|QUANTUM|APPLE HDD|WESTERN DIGITAL)[ _]+)+",
    re.ASCII,
)
_HARD_DISK = re.compile(
    r"(?:HGST )?(?:ST\d{2,}|STM\d{3}|WD\d|WU[HS]\d{6}|[HW]SH\d{6}|H[UTDCM][A-Z]\d[\dC]\d{3}|H[US]H\d{6}|HUS\d{3}T|"
    r"HDW[A-Z]\w{3}|M[QKGNC]\d{2}|DT\d{2}|MD\d{2}|AL\d{2}S|H[DMNS]\d{3}|HN-M|WL\d{4}GSA|SP\d{4}|M[ABHP][A-Z]\d{4}|"
    r"\d[A-Z]\d{3}[A-Z]\d|"
    r"HM\d{3}|HE\d{3}|(?:IBM-)?D[A-Z]{3}-\d|DK\d{2}[A-Z]{2}-|EXCELSTOR|[DEFGMV][BFGHJM]\d{3,6}[A-Z]\w{4}$)",
    re.ASCII,
)
"""Model names of hard disk makers and Hewlett-Packard, unlike those of USB bridges and RAID controllers."""
_VOLUME = re.compile(
    r"LOGICAL|SERVERA|PERC |MEGARAID|MR9\d|SMART ARRAY|VIRTUAL|VMWARE|QEMU|VBOX|RAID|ISCSI|DISK ARRAY|MSFT|"
    r"LIO-ORG|IET |SYNOLOGY +STORAGE|FREENAS|TRUENAS|NBD|COMSTAR|FABRICS",
    re.IGNORECASE,
)
_LINK = re.compile(r"(?:ATA|USB|SCSI|NVME)-(?:[SQ]?ATA_+)?", re.ASCII)
_CUT = re.compile(r"^(ST\d{2,5}[A-Z]{2}|WD\d{2,3}) (?=[A-Z0-9]{3,4}(?:-|$))", re.ASCII)
"""A name that a USB bridge split after 8 letters, the length of the SCSI vendor field."""
_SCSI_LETTERS = 16
"""Length of the SCSI product field; longer names are truncated."""


@dataclass(frozen=True, slots=True)
class Source:
    """An address that rows refer to, and its author."""

    url: str
    by: str
    """Author, as the beginning of a sentence, such as `Western Digital`."""
    via: str = ""
    """Document or intermediary, shown in brackets: `data sheet`, `quoted by heise online`."""
    year: int = 0
    """Year, or 0 if unknown."""

    @property
    def where(self) -> str:
        """Document and year: `data sheet, 2019`."""
        year = str(self.year) if self.year else _("undated")
        return joined((_(self.via), year), ", ") if self.via else year


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One statement about a model or a family of models."""

    pattern: str
    """Regular expression that matches a whole model name in capitals: bare, without its variant, or complete."""
    kind: SmrKind
    source: str
    """URL of the source."""
    strength: SourceStrength
    note: str = ""
    hybrid: bool = False
    """Whether it also has flash, so that TRIM proves nothing about its platters."""
    may_trim: bool = False
    """Whether some conventional disks of the family offer TRIM, such as those for cameras; it is a weak hint then."""

    @property
    def disputed(self) -> bool:
        """Whether sources contradict each other."""
        return self.kind == "unknown" and not self.hybrid

    @property
    def confidence(self) -> Confidence:
        return "weak" if self.strength in ("hint", "community") else "strong"


def bare(model: str) -> str:
    """Model name in capitals, without its maker: `WDC WD40EFAX-68JH4N1` becomes `WD40EFAX-68JH4N1`.

    `HGST` stays, as it distinguishes disks from 2012 on from older ones of Hitachi with the same names.
    """
    return _PREFIX.sub("", " ".join(model.upper().split()), count=1)


def stem(model: str) -> str:
    """A bare model name up to the variant that follows a dash or blank: `WD40EFAX`."""
    return re.split(r"[- ]", model, maxsplit=1)[0]


@cache
def spellings(model: str) -> tuple[str, ...]:
    """A bare model name, and the maker's spelling of it if that differs.

    The latter has no name of an OEM or series in front, blanks for underscores, and no gap from a USB bridge. It is
    also extracted from a name in /dev/disk/by-id.
    """
    name = named = bare(model)
    if "_" in name or _LINK.match(name):
        named = bare(_LINK.sub("", name).replace("_", " "))
    words = named.split()
    for first in range(min(len(words), 6)):
        tail = " ".join(words[first:])
        if _HARD_DISK.match(tail):
            named = tail
            break
    return tuple(dict.fromkeys((name, _CUT.sub(r"\1", named))))


def names_a_hard_disk(model: str) -> bool:
    """Whether a model name looks like that of a hard disk."""
    return "SSD" not in model.upper() and any(_HARD_DISK.match(name) for name in spellings(model))


def names_a_volume(model: str) -> bool:
    """Whether a model name is that of a RAID controller's volume, or of a disk that is emulated or served."""
    return _VOLUME.search(model) is not None


def scsi_name(vendor: str, product: str, more: str = "") -> str:
    """Model name from SCSI fields. A bridge may have put the first 8 letters of the model into the vendor field."""
    spaced = " ".join(filter(None, (vendor, product, more)))
    whole = f"{vendor}{product}"
    if product and bare(whole) == spellings(spaced)[-1] and bare(whole) != bare(spaced):
        return whole
    return spaced


class ModelTable:
    """The table of models, with lookup by name."""

    def __init__(self, rows: Iterable[ModelRow], sources: Iterable[Source] = ()) -> None:
        self.rows = tuple(rows)
        self.sources = {source.url: source for source in sources}

    def find(self, model: str) -> list[ModelRow]:
        """Rows about a model: those with its exact name first, then those with a matching pattern."""
        names = spellings(model)
        if len(model) == _SCSI_LETTERS:
            names += tuple(f"{name}0" for name in names)
        for name in names:
            written = {stem(name), name, " ".join(model.upper().split())}
            rows = [row for row in self.rows if any(re.fullmatch(row.pattern, each, re.ASCII) for each in written)]
            if rows:
                return sorted(rows, key=lambda row: row.pattern not in written)
        return []


@cache
def shipped_table() -> ModelTable:
    """The table that comes with the program."""
    import tomli

    table = tomli.loads(resources.files(__package__).joinpath("smr_models.toml").read_text("utf-8"))
    rows = [ModelRow(kind=row.pop("class"), **row) for row in table["model"]]
    return ModelTable(rows, [Source(**source) for source in table["source"]])


def persistent_cache_bytes(drive: Drive) -> int:
    """Size of the persistent cache of a shingled disk, as measured on the Archive family; 0 for other disks."""
    return 20_000_000_000 if drive.smr.kind in ("drive-managed", "host-aware") else 0
