"""SQLite's commits: the real `sqlite3` carries out one transaction after the other."""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from fswizard.engines.shared.engine import WorkloadContext
from fswizard.engines.shared.timed import Timed, TimedEngine, Work, cpu_s, duration_s
from fswizard.model.filesystem import Strain
from fswizard.model.keys import whole
from fswizard.model.metrics import BYTES_WRITTEN, CPU, DURATION, OPERATION_RATE, WORST_STALL
from fswizard.model.recipe import Cost, Program
from fswizard.progress.workload_events import Measured
from fswizard.system.process import Finished

ROWS = 2000
"""The table's first rows, of which each transaction changes one."""
PAYLOAD_BYTES = 200
FIRST_BYTES = {"wal": 4 << 20, "delete": 0}
"""Stored in one transaction before the others: as much as makes SQLite begin its write-ahead log anew (1,000 pages).
Until then each commit makes the log longer, for which ext4 and XFS write more and Btrfs does not; a program that has
been open for a while is past that, and 1,000 transactions tell the same as 2,000."""
TRANSACTIONS_PER_S = {"wal": 1_200, "delete": 500}
TRANSACTION_BYTES = {"wal": 70_000, "delete": 220_000}
"""With SQLite's journal and the filesystem's: the mean of ext4, XFS and btrfs, of which btrfs writes most by far."""


@dataclass(frozen=True, slots=True)
class SqliteJob(TimedEngine):
    """Transactions of SQLite, each on the disk before the next one begins (`synchronous = FULL`)."""

    engine = "sqlite"
    programs = (
        Program(
            "sqlite3",
            "database workloads",
            required=True,
            packages={"fedora": "sqlite", "arch": "sqlite"},
            messages={
                "database or disk is full": errno.ENOSPC,
                "disk I/O error": errno.EIO,
                "attempt to write a readonly database": errno.EROFS,
            },
        ),
    )
    metrics = (OPERATION_RATE, DURATION, BYTES_WRITTEN, CPU, WORST_STALL)
    journal: Literal["wal", "delete"]
    transactions: Annotated[int, whole(1, 1_000_000)]

    @property
    def words(self) -> str:
        return f"sqlite3, {self.transactions:,} transactions, journal mode {self.journal.upper()}"

    @property
    def strain(self) -> Strain:
        return "sync"

    @property
    def cost(self) -> Cost:
        written_bytes = self.transactions * TRANSACTION_BYTES[self.journal]
        return Cost(0.0, self.transactions / TRANSACTIONS_PER_S[self.journal], 0, written_bytes)

    @property
    def leaves(self) -> Iterable[tuple[object, int]]:
        return [(self, self.cost.measure_bytes)]

    def bring(self, context: WorkloadContext, seed: int) -> None:
        Path(self._script(context.scratch)).write_text("\n".join(self._statements(seed)))

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        database = f"{directory}/sqlite-{self.journal}-{self.transactions}"
        script = self._script(scratch).replace("\\", "\\\\").replace('"', '\\"')
        # In a directory of its own, for the journal stands beside the database and bears its name.
        argv = ("sqlite3", "-batch", "-bail", f"{database}/database", f'.read "{script}"')
        text, read = f"{self.transactions:,} transactions of SQLite", share_read(self._script(scratch))
        # The user's own settings stand in HOME.
        working = Work(argv, text, read, self.transactions, "1/s", {"HOME": scratch})
        return Timed(text, (Work(("mkdir", database), "a directory for the database"), working), makes=database)

    def figures(self, finished: Sequence[Finished]) -> Iterator[Measured]:
        yield Measured(OPERATION_RATE, self.transactions / duration_s(finished))
        yield Measured(DURATION, duration_s(finished))
        # What is asked to be kept: what SQLite writes twice to keep it safe is amplification.
        written_bytes = FIRST_BYTES[self.journal] + (ROWS + 2 * self.transactions) * PAYLOAD_BYTES
        yield Measured(BYTES_WRITTEN, written_bytes)
        yield Measured(CPU, cpu_s(finished))

    def _script(self, scratch: str) -> str:
        return f"{scratch}/sqlite-{self.journal}-{self.transactions}.sql"

    def _statements(self, seed: int) -> Iterator[str]:
        """Each transaction adds a row and changes another, as a browser's history or a mail program's index does."""
        dice = random.Random(seed)

        def payload() -> str:
            return dice.getrandbits(4 * PAYLOAD_BYTES).to_bytes(PAYLOAD_BYTES // 2, "little").hex()

        def insert(number: int) -> str:
            return f"INSERT INTO entry VALUES ({number}, '{payload()[:16]}', '{payload()}');"

        yield f"PRAGMA journal_mode = {self.journal};"
        yield "PRAGMA synchronous = FULL;"
        yield "CREATE TABLE entry (number INTEGER PRIMARY KEY, word TEXT, content TEXT);"
        yield "CREATE INDEX entry_word ON entry (word);"
        yield "BEGIN;"
        yield from map(insert, range(ROWS))
        yield "COMMIT;"
        if first_bytes := FIRST_BYTES[self.journal]:
            yield "CREATE TABLE picture (content BLOB);"
            yield f"INSERT INTO picture VALUES (randomblob({first_bytes}));"
        for number in range(ROWS, ROWS + self.transactions):
            yield "BEGIN;"
            yield insert(number)
            yield f"UPDATE entry SET content = '{payload()}' WHERE number = {dice.randrange(number)};"
            yield "COMMIT;"


def share_read(script: str) -> Callable[[int], float]:
    """How far a process is in reading the statements; what it reads of its own database does not count."""

    def share_done(pid: int) -> float:
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # closed meanwhile
                if os.readlink(link) == script:
                    position = Path(f"/proc/{pid}/fdinfo/{link.name}").read_text().split()[1]
                    return int(position) / os.path.getsize(script)
        return 0.0

    return share_done
