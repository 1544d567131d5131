"""SQLite's commits: the real `sqlite3` carries out one transaction after the other."""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from fswizard.engines.shared.engine import WorkloadContext
from fswizard.engines.shared.timed import LaidOut, Timed, TimedEngine, Work, cpu_s, duration_s
from fswizard.model.filesystem import Strain
from fswizard.model.keys import whole
from fswizard.model.metrics import BYTES_WRITTEN, CPU, DURATION, OPERATION_RATE, WORST_STALL
from fswizard.model.recipe import Cost, Program
from fswizard.progress.workload_events import Measured
from fswizard.system.process import Finished

ROWS = 2000
"""The table's first rows, of which each transaction changes one."""
PAYLOAD_BYTES = 200
DURABLE = "PRAGMA synchronous = FULL;"
FIRST_TRANSACTIONS = {"wal": 400, "delete": 0}
"""Carried out before anything is timed: 320 bring SQLite's write-ahead log to its full length of 1,000 pages, and from
then on it is written over. Until then each commit makes the log longer, for which ext4 and XFS write more and Btrfs
does not. A program that has been open for a while is past that."""
FIRST_S = 0.1
"""For the database, without its transactions."""
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
        seconds = self.transactions / TRANSACTIONS_PER_S[self.journal]
        written_bytes = self.transactions * TRANSACTION_BYTES[self.journal]
        first = FIRST_TRANSACTIONS[self.journal] / self.transactions
        first_s, first_bytes = FIRST_S + first * seconds, int(ROWS * PAYLOAD_BYTES + first * written_bytes)
        return Cost(first_s, seconds, first_bytes, written_bytes, always_s=first_s, always_bytes=first_bytes)

    @property
    def leaves(self) -> Iterable[tuple[object, int]]:
        return [(self, self.cost.prepare_bytes + self.cost.measure_bytes)]

    def bring(self, context: WorkloadContext, seed: int) -> None:
        dice = random.Random(seed)
        for part, statements in (("first", self._first(dice)), ("then", self._then(dice))):
            Path(self._script(context.scratch, part)).write_text("\n".join((DURABLE, *statements)))

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        database = f"{directory}/sqlite-{self.journal}-{self.transactions}"
        text = f"{self.transactions:,} transactions of SQLite"
        # In a directory of its own, for the journal stands beside the database and bears its name.
        making = (Work(("mkdir", database), "a directory for the database"),
                  self._read(database, scratch, "first", "making the database"))  # fmt: skip
        working = replace(
            self._read(database, scratch, "then", text),
            share_done=share_read(self._script(scratch, "then")),
            whole=self.transactions,
            unit="1/s",
        )
        return Timed(text, (working,), (LaidOut(database, making, anew=True),))

    def _read(self, database: str, scratch: str, part: str, text: str) -> Work:
        """sqlite3 with the statements of a script, without the user's own settings, which stand in HOME."""
        script = self._script(scratch, part).replace("\\", "\\\\").replace('"', '\\"')
        argv = ("sqlite3", "-batch", "-bail", f"{database}/database", f'.read "{script}"')
        return Work(argv, text, env={"HOME": scratch})

    def figures(self, finished: Sequence[Finished]) -> Iterator[Measured]:
        yield Measured(OPERATION_RATE, self.transactions / duration_s(finished))
        yield Measured(DURATION, duration_s(finished))
        # What is asked to be kept: what SQLite writes twice to keep it safe is amplification.
        yield Measured(BYTES_WRITTEN, 2 * self.transactions * PAYLOAD_BYTES)
        yield Measured(CPU, cpu_s(finished))

    def _script(self, scratch: str, part: str) -> str:
        return f"{scratch}/sqlite-{self.journal}-{self.transactions}-{part}.sql"

    def _first(self, dice: random.Random) -> Iterator[str]:
        """The database as it is found. The log keeps its length when it is closed."""
        yield ".filectrl persist_wal 1"
        yield f"PRAGMA journal_mode = {self.journal};"
        yield "CREATE TABLE entry (number INTEGER PRIMARY KEY, word TEXT, content TEXT);"
        yield "CREATE INDEX entry_word ON entry (word);"
        yield "BEGIN;"
        yield from (_insert(number, dice) for number in range(ROWS))
        yield "COMMIT;"
        yield from _transactions(range(ROWS, self._begins), dice)

    def _then(self, dice: random.Random) -> Iterator[str]:
        return _transactions(range(self._begins, self._begins + self.transactions), dice)

    @property
    def _begins(self) -> int:
        """The first row of those that are timed."""
        return ROWS + FIRST_TRANSACTIONS[self.journal]


def _transactions(rows: range, dice: random.Random) -> Iterator[str]:
    """Each adds a row and changes another, as a browser's history or a mail program's index does."""
    for number in rows:
        yield "BEGIN;"
        yield _insert(number, dice)
        yield f"UPDATE entry SET content = '{_payload(dice)}' WHERE number = {dice.randrange(number)};"
        yield "COMMIT;"


def _insert(number: int, dice: random.Random) -> str:
    return f"INSERT INTO entry VALUES ({number}, '{_payload(dice)[:16]}', '{_payload(dice)}');"


def _payload(dice: random.Random) -> str:
    return dice.getrandbits(4 * PAYLOAD_BYTES).to_bytes(PAYLOAD_BYTES // 2, "little").hex()


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
