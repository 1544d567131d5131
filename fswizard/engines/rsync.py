"""rsync of a tree onto the candidate, or from it, where reading may write access times."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from fswizard.engines.shared.context import GIB
from fswizard.engines.shared.engine import Files, Timed
from fswizard.engines.shared.trees import FILES_COPIED_PER_S, TreeEngine
from fswizard.language import N_, _
from fswizard.model.estimates import SEQUENTIAL_BYTES_PER_S
from fswizard.model.frozen import frozen
from fswizard.model.keys import within
from fswizard.model.recipe import Program

INODE_BYTES = 256
"""Minimum number of bytes written to update an access time."""


@frozen
class RsyncJob(TreeEngine):
    """A generated tree that rsync copies onto the candidate, or from it.

    The other side is the scratch directory. A tree there is read into memory beforehand, and a copy there is not
    synced, so that the disk of the scratch directory hardly matters.
    """

    engine = "rsync"
    programs = (Program("rsync", N_("copy workloads")),)
    direction: Literal["onto", "from"]
    shape: Literal["small-files", "mixed", "source", "home", "mail"]
    files: Annotated[int, within(1, 1_000_000)]
    total_bytes: Annotated[int, within(1, 16 * GIB)]

    @property
    def activity(self) -> str:
        return f"rsync {self.direction}"

    @property
    def writes(self) -> bool:
        return self.direction == "onto"

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        """The measured rsync is the first to read the tree, as later accesses do not update the access time by
        default."""
        here, elsewhere = f"{directory}/rsync-{self.tree_name}", f"{scratch}/rsync-{self.tree_name}"
        if self.writes:
            source, copy, needs = elsewhere, here, self.source(elsewhere, scratch)
            bytes_per_s, written_bytes = SEQUENTIAL_BYTES_PER_S, self.tree_bytes
        else:
            source, copy = f"{here}-source", f"{elsewhere}-copy"
            needs = replace(self.on_candidate(source, scratch), recreate=True)
            bytes_per_s, written_bytes = SEQUENTIAL_BYTES_PER_S / 2, self.files * INODE_BYTES
        work = self.work(
            ("rsync", "--archive", f"{source}/", copy), _("copying {files}", files=self.counted_files), "write_chars",
            files_per_s=FILES_COPIED_PER_S, bytes_per_s=bytes_per_s, written_bytes=written_bytes,
        )  # fmt: skip
        warm_up = self.into_memory(source) if self.writes else None
        return Timed((work,), (needs,), warm_up, Files(copy, self.tree_bytes))
