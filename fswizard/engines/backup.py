"""Backups with borg: the first one of a tree, then one of a second, nearly identical copy."""

from __future__ import annotations

import errno
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from fswizard.engines.shared.engine import TIB, WorkloadFailed
from fswizard.engines.shared.timed import LaidOut, Timed
from fswizard.engines.shared.trees import LEFT_BY_COMPRESSION, TreeEngine
from fswizard.engines.shared.work import Work, reading
from fswizard.language import N_, _
from fswizard.model.keys import size, whole
from fswizard.model.recipe import Cost, Job, Program
from fswizard.system.process import Finished

CHANGED_EVERY = 20
"""One file in this many has different content in the second copy."""
START_S = 0.7


@dataclass(frozen=True, slots=True)
class BackupJob(TreeEngine):
    """An archive made with borg, of a source that lies outside the candidate and is read into memory beforehand."""

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
    files: Annotated[int, whole(1, 10_000_000)]
    total_bytes: Annotated[int, size(1, 16 * TIB)]

    @property
    def words(self) -> str:
        files = self.in_total
        if self.archive == "first":
            return _("borg create of a tree: {files}", files=files)
        return _("borg create of a second, nearly identical copy: {files}", files=files)

    @property
    def works_on(self) -> Job:
        return replace(self, archive="first")

    @property
    def cost(self) -> Cost:
        # borg cuts into pieces, hashes and compresses 6,000 files and 350 MB a second.
        archived_s = START_S + self.files / 6_000 + self.total_bytes / 350e6
        archive_bytes = int(self.total_bytes * LEFT_BY_COMPRESSION)
        if self.archive == "first":
            return Cost(START_S, archived_s, 0, archive_bytes, START_S)
        changed_bytes = archive_bytes // CHANGED_EVERY // 2  # large files change only at their beginning
        return Cost(START_S + archived_s, archived_s, archive_bytes, changed_bytes)

    @property
    def parts(self) -> Sequence[str]:
        return ("repository",)

    @property
    def brings(self) -> Sequence[tuple[object, int]]:
        copies = ("first",) if self.archive == "first" else ("first", "second")
        return [((self.engine, copy, self.files), self.tree_bytes) for copy in copies]

    def written_bytes(self, finished: Sequence[Finished]) -> int:
        """Bytes that borg says it has put into its repository."""
        try:
            return int(json.loads(finished[0].stdout)["archive"]["stats"]["deduplicated_size"])
        except (ValueError, KeyError, TypeError) as error:
            raise WorkloadFailed("program", _("borg did not report what it stored."), finished[0].output) from error

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        name = f"backup-{self.files}-{self.total_bytes}"
        repository, path = f"{directory}/{name}-repository", f"{scratch}/{name}-source"
        # borg's settings, cache and list of known repositories are those of the run.
        env = {"BORG_BASE_DIR": f"{scratch}/borg"}
        make = (
            Work(("rm", "-rf", f"{scratch}/borg"), _("forgetting earlier repositories")),
            Work(("borg", "init", "--encryption=none", repository), _("making a repository"), env=env),
        )

        def archiving(archive: str, source: LaidOut, text: str) -> Work:
            argv = ("borg", "create", "--json", f"{repository}::{archive}", source.path)
            return replace(reading(argv, text, self.total_bytes), env=env)

        source = self.source(path, scratch)
        first = archiving("first", source, _("backing up the source, {files}", files=self.counted))
        if self.archive == "first":
            return Timed((first,), (source, LaidOut(repository, make, anew=True)), self.into_memory(source.path))
        again = self.source(f"{path}-again", scratch, str(CHANGED_EVERY))
        second = archiving(
            "second-{now:%s%f}", again, _("backing up the second copy, {files}", files=self.counted)
        )  # fmt: skip
        lay_out = (source, LaidOut(repository, (*make, first)), again)
        return Timed((second,), lay_out, self.into_memory(again.path))
