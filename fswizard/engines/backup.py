"""Backups with borg: the first one of a tree, then one of a second, mostly equal copy."""

from __future__ import annotations

import errno
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from fswizard.engines.shared.engine import TIB, WorkloadFailed
from fswizard.engines.shared.timed import LaidOut, Timed, Work, reading
from fswizard.engines.shared.trees import LEFT_BY_COMPRESSION, TreeEngine
from fswizard.model.keys import size, whole
from fswizard.model.recipe import Cost, Job, Program
from fswizard.model.units import size_text
from fswizard.system.process import Finished

CHANGED_EVERY = 20
"""One file in this many has different content in the second copy."""
BACKED_UP_BYTES_PER_S = 350e6
"""borg cuts into pieces, hashes and compresses."""
FILES_BACKED_UP_PER_S = 6_000
START_S = 0.7


@dataclass(frozen=True, slots=True)
class BackupJob(TreeEngine):
    """An archive made with borg, of a source that lies on the candidate, too: what is read there counts as well."""

    engine = "backup"
    programs = (
        Program(
            "borg",
            "backup workloads",
            packages={"": "borgbackup", "arch": "borg"},
            messages={"Insufficient free space to complete transaction": errno.ENOSPC},
        ),
    )
    archive: Literal["first", "second"]
    files: Annotated[int, whole(1, 10_000_000)]
    total_bytes: Annotated[int, size(1, 16 * TIB)]

    @property
    def words(self) -> str:
        which = "a tree" if self.archive == "first" else "a second, mostly equal copy"
        return f"borg create of {which}: {self.files:,} files, {size_text(self.total_bytes)} together"

    @property
    def work(self) -> str:
        return f"backup {self.archive}"

    @property
    def works_on(self) -> Job:
        return replace(self, archive="first")

    @property
    def cost(self) -> Cost:
        made_s, tree_bytes = self.made_s, self.tree_bytes
        archived_s = START_S + self.files / FILES_BACKED_UP_PER_S + self.total_bytes / BACKED_UP_BYTES_PER_S
        archive_bytes = int(self.total_bytes * LEFT_BY_COMPRESSION)
        if self.archive == "first":
            return Cost(made_s + START_S, archived_s, tree_bytes, archive_bytes, START_S)
        before_s, before_bytes = 2 * made_s + START_S + archived_s, 2 * tree_bytes + archive_bytes
        return Cost(before_s, archived_s, before_bytes, archive_bytes // CHANGED_EVERY, made_s, tree_bytes)

    @property
    def parts(self) -> Sequence[str]:
        return ("source", "repository") if self.archive == "first" else ("source", "second copy", "repository")

    def written_bytes(self, finished: Sequence[Finished]) -> int:
        """What borg has put into its repository, by its own account."""
        try:
            return int(json.loads(finished[0].stdout)["archive"]["stats"]["deduplicated_size"])
        except (ValueError, KeyError, TypeError) as error:
            raise WorkloadFailed("program", "borg does not say what it has stored.", finished[0].output) from error

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        base = f"{directory}/backup-{self.files}-{self.total_bytes}"
        source, again, repository = f"{base}-source", f"{base}-source-again", f"{base}-repository"
        # borg's settings, cache and list of known repositories are the run's own.
        env = {"BORG_BASE_DIR": f"{scratch}/borg"}

        def archiving(name: str, which: str, path: str) -> Work:
            argv = ("borg", "create", "--json", f"{repository}::{name}", path)
            return reading(argv, f"backing up the {which}, {self.files:,} files", self.total_bytes, env)

        tree = LaidOut(source, (self.making("mixed", source, scratch, "making the source"),))
        make = (
            Work(("rm", "-rf", f"{scratch}/borg"), "forgetting earlier repositories"),
            Work(("borg", "init", "--encryption=none", repository), "making a repository", env=env),
        )
        first = archiving("first", "source", source)
        if self.archive == "first":
            return Timed(first.text, (first,), (tree, LaidOut(repository, make, anew=True)))
        copy = self.making("mixed", again, scratch, "making the second copy", str(CHANGED_EVERY))
        second = archiving("second-{now:%s%f}", "second copy", again)
        return Timed(second.text, (second,), (tree, LaidOut(repository, (*make, first)), LaidOut(again, (copy,))))
