"""Backups with borg: the first one of a tree, then one of a second, nearly identical copy."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Literal

from fswizard.engines.shared.context import TIB
from fswizard.engines.shared.engine import Files, Timed
from fswizard.engines.shared.programs import Done, Work
from fswizard.engines.shared.trees import LEFT_BY_COMPRESSION, TreeEngine
from fswizard.language import N_, _
from fswizard.model.frozen import frozen
from fswizard.model.keys import within
from fswizard.model.metrics import BYTES_WRITTEN
from fswizard.model.recipe import Program
from fswizard.progress.workload_events import Measured

CHANGED_EVERY = 20
"""In the second copy, one file in this many has different content."""
START_S = 0.7


@frozen
class BackupJob(TreeEngine):
    """A borg archive of a source tree that is outside the candidate and read into memory beforehand."""

    engine = "backup"
    programs = (
        Program(
            "borg",
            N_("backup workloads"),
            packages={"": "borgbackup", "arch": "borg"},
            messages={"Insufficient free space to complete transaction": errno.ENOSPC},
        ),
    )
    shape = "mixed"
    archive: Literal["first", "second"]
    files: Annotated[int, within(1, 10_000_000)]
    total_bytes: Annotated[int, within(1, 16 * TIB)]

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        name = f"backup-{self.files}-{self.total_bytes}"
        repository, path = f"{directory}/{name}-repository", f"{scratch}/{name}-source"
        # borg's settings, cache and list of known repositories are those of the run.
        env = {"BORG_BASE_DIR": f"{scratch}/borg"}
        make = (
            Work(("rm", "-rf", f"{scratch}/borg"), _("forgetting earlier repositories")),
            Work(("borg", "init", "--encryption=none", repository), _("making a repository"), START_S, env=env),
        )

        def archiving(archive: str, source: Files, share: float) -> Work:
            # borg cuts into pieces, hashes and compresses 6,000 files and 350 MB a second.
            work = self.work(
                ("borg", "create", "--json", f"{repository}::{archive}", source.path),
                _("backing up {files}", files=self.counted_files), "read_chars",
                files_per_s=6_000, bytes_per_s=350e6, env=env,
                written_bytes=int(self.total_bytes * LEFT_BY_COMPRESSION * share),
            )  # fmt: skip
            return replace(work, seconds=START_S + work.seconds)

        source = self.source(path, scratch)
        first = archiving("first", source, 1.0)
        if self.archive == "first":
            needs = Files(repository, self.tree_bytes, make, recreate=True)
            return Timed((first,), (source, needs), self.into_memory(path))
        again = self.source(f"{path}-again", scratch, str(CHANGED_EVERY))
        # Large files change only at their beginning.
        second = archiving("second-{now:%s%f}", again, 1 / CHANGED_EVERY / 2)
        needs = Files(repository, self.tree_bytes, (*make, first))
        return Timed((second,), (source, needs, again), self.into_memory(again.path))

    def figures(self, done: Sequence[Done]) -> Iterator[Measured]:
        """Figures in which the bytes written are those that borg reports as stored in its repository."""
        stored = json.loads(done[0].finished.stdout)["archive"]["stats"]["deduplicated_size"]
        for figure in TreeEngine.figures(self, done):
            yield Measured(BYTES_WRITTEN, stored) if figure.metric == BYTES_WRITTEN else figure

    @property
    def writes(self) -> bool:
        return True
