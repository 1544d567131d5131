"""The prepared target of a run, as used by the code that measures."""

from __future__ import annotations

from typing import TypeAlias

from fswizard.disks.directory import PreparedDirectories
from fswizard.disks.disk import CandidateFailed
from fswizard.disks.image import PreparedImage

__all__ = ["CandidateFailed", "PreparedTarget"]

PreparedTarget: TypeAlias = PreparedImage | PreparedDirectories
