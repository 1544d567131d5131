"""rsync of a tree onto the candidate, or from it, where reading may write access times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from fswizard.engines.shared.engine import GIB
from fswizard.engines.shared.timed import LaidOut, Timed
from fswizard.engines.shared.trees import FILES_COPIED_PER_S, TreeEngine
from fswizard.engines.shared.work import writing
from fswizard.language import N_, _
from fswizard.model.keys import size, whole
from fswizard.model.recipe import Cost, Program
from fswizard.system.process import Finished

INODE_BYTES = 256
"""Least that an access time writes."""


@dataclass(frozen=True, slots=True)
class RsyncJob(TreeEngine):
    """A generated tree that rsync copies onto the candidate, or from it.

    The other side is the scratch directory. A tree there is read into memory beforehand, and a copy there is not
    synced, so that its disk hardly counts.
    """

    engine = "rsync"
    programs = (Program("rsync", N_("copy workloads")),)
    direction: Literal["onto", "from"]
    shape: Literal["small-files", "mixed", "source", "home", "mail"]
    files: Annotated[int, whole(1, 1_000_000)]
    total_bytes: Annotated[int, size(1, 16 * GIB)]

    @property
    def words(self) -> str:
        if self.direction == "onto":
            return _("rsync onto the disk: {files}", files=self.in_total)
        return _("rsync from the disk: {files}", files=self.in_total)

    @property
    def activity(self) -> str:
        return f"rsync {self.direction}"

    @property
    def cost(self) -> Cost:
        made_s, tree_bytes = self.made_s, self.tree_bytes
        if self.direction == "from":
            return Cost(made_s, self.copied_s, tree_bytes, self.files * INODE_BYTES, made_s, tree_bytes)
        return Cost(made_s, self.files_s(FILES_COPIED_PER_S), 0, tree_bytes)  # the source is made once in a run

    @property
    def parts(self) -> Sequence[str]:
        return (f"{self.shape} {self.direction}",)

    @property
    def brings(self) -> Sequence[tuple[object, int]]:
        return [((self.engine, self.shape, self.files), self.tree_bytes)]

    def written_bytes(self, finished: Sequence[Finished]) -> int:
        return self.total_bytes if self.direction == "onto" else 0

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        """rsync is the first to read the tree on the candidate, as later accesses write no time by default."""
        here, elsewhere = f"{directory}/rsync-{self.tree_name}", f"{scratch}/rsync-{self.tree_name}"
        if self.direction == "onto":
            text = _("rsync of {files} onto the candidate", files=self.counted)
            work = writing(("rsync", "--archive", f"{elsewhere}/", here), text, self.total_bytes)
            return Timed((work,), (self.source(elsewhere, scratch),), self.into_memory(elsewhere), makes=here)
        source, copy = f"{here}-source", f"{elsewhere}-copy"
        tree = LaidOut(source, (self.making_source(source, scratch),), anew=True)
        text = _("rsync of {files} from the candidate", files=self.counted)
        work = writing(("rsync", "--archive", f"{source}/", copy), text, self.total_bytes)
        return Timed((work,), (tree,), makes=copy)
