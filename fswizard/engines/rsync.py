"""rsync of a tree onto the candidate, or from it, where reading may write access times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from fswizard.engines.shared.engine import GIB
from fswizard.engines.shared.timed import LaidOut, Timed, Work, writing
from fswizard.engines.shared.trees import FILES_COPIED_PER_S, ShapedEngine
from fswizard.language import N_, _
from fswizard.model.keys import size, whole
from fswizard.model.recipe import Cost, Program
from fswizard.system.process import Finished


@dataclass(frozen=True, slots=True)
class RsyncJob(ShapedEngine):
    """A generated tree that rsync copies onto the candidate, or from it.

    The other side is the scratch directory. A tree there is read into memory beforehand, and a copy there is not
    synced, so that its own disk hardly counts.
    """

    engine = "rsync"
    programs = (Program("rsync", N_("copy workloads")),)
    direction: Literal["onto", "from"]
    shape: Literal["small-files", "mixed", "source", "home", "mail"]
    files: Annotated[int, whole(1, 1_000_000)]
    total_bytes: Annotated[int, size(1, 16 * GIB)]

    @property
    def words(self) -> str:
        files = self.in_total
        if self.direction == "onto":
            return _("rsync onto the disk: {files}", files=files)
        return _("rsync from the disk: {files}", files=files)

    @property
    def activity(self) -> str:
        return f"rsync {self.direction}"

    @property
    def cost(self) -> Cost:
        made_s, tree_bytes = self.made_s, self.tree_bytes
        if self.direction == "from":
            access_times_bytes = self.files * 256  # an inode each, at least
            return Cost(made_s, self.copied_s, tree_bytes, access_times_bytes, made_s, tree_bytes)
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
        name, shape = f"rsync-{self.tree_name}", self.shape_argument(scratch)
        here, elsewhere = f"{directory}/{name}", f"{scratch}/{name}"
        if self.direction == "from":
            source, copy = f"{here}-source", f"{elsewhere}-copy"
            tree = LaidOut(source, (self.making(shape, source, scratch, _("making the source")),), anew=True)
            copying = self._copying(source, copy)
            return Timed(copying.text, (copying,), (tree,), removes=(copy,))
        tree, warm_up = self.source(shape, elsewhere, scratch)
        copying = self._copying(elsewhere, here)
        return Timed(copying.text, (copying,), (tree,), (warm_up,), makes=here, writes_bytes=self.total_bytes)

    def _copying(self, source: str, target: str) -> Work:
        onto, back = N_("rsync of {files} onto the candidate"), N_("rsync of {files} from the candidate")
        text = _(onto if self.direction == "onto" else back, files=self.counted)
        return writing(("rsync", "--archive", f"{source}/", target), text, self.total_bytes)
