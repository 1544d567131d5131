"""What is known of a disk that bears on how it records, wherever it was learnt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Medium = Literal["", "rotating", "solid-state", "nvme"]
Zoned = Literal["", "host-aware", "drive-managed"]
Recording = Literal["", "SMR", "CMR"]


@dataclass(frozen=True, slots=True)
class SmrFacts:
    """Observations, not yet weighed. Empty and False mean that nothing was seen, never that it is not so."""

    source: Literal["name", "smartctl", "machine"]
    """A model name alone, output of smartctl, or the running machine."""
    model: str = ""
    family: str = ""
    """As smartctl's database names it."""
    firmware: str = ""
    standard: str = ""
    """Version of the ATA standard that the disk was made for, as smartctl words it."""
    medium: Medium = ""
    zone_model: str = ""
    """`host-managed` or `host-aware` by the kernel's word."""
    peripheral: str = ""
    """SCSI device type in words, such as `host managed zoned block device`."""
    zoned: Zoned = ""
    """The disk's own word on its zones."""
    zoned_where: str = ""
    """In which page or line the disk says so."""
    recording: Recording = ""
    """Recording type in Seagate's FARM log."""
    trim: bool = False
    trim_where: str = ""
    """In which page or line TRIM is offered."""
    trim_would_show: bool = False
    """The source is one that tells of TRIM where there is any: smartctl 7.2 and later, IDENTIFY DEVICE."""
    flash_attributes: bool = False
    """SMART attributes that only flash has, such as wear levelling."""
    bridge: str = ""
    """Name of the USB bridge in front."""
    volume: bool = False
    """A RAID volume or an emulated disk, not a disk of its own."""
    asleep: bool = False
    problem: str = ""
    """Why smartctl could not tell more, in words."""
