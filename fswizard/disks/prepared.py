"""What a run measures on when it is prepared, as those who measure see it."""

from __future__ import annotations

from typing import TypeAlias

from fswizard.disks.directory import PreparedDirectories
from fswizard.disks.disk import CandidateFailed
from fswizard.disks.image import PreparedImage

__all__ = ["CandidateFailed", "PreparedTarget"]

PreparedTarget: TypeAlias = PreparedImage | PreparedDirectories
