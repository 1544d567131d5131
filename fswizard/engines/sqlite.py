"""SQLite's commits: `sqlite3` carries out one transaction after another."""

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
from fswizard.language import N_, _, n_
from fswizard.model.filesystem import Strain
from fswizard.model.keys import whole
from fswizard.model.metrics import BYTES_WRITTEN, CPU, DURATION, OPERATION_RATE, WORST_STALL
from fswizard.model.recipe import Cost, Program
from fswizard.progress.workload_events import Measured
from fswizard.system.process import Finished

ROWS = 2000
"""Number of rows in the beginning."""
PAYLOAD_BYTES = 200
FIRST_TRANSACTIONS = {"wal": 400, "delete": 0}
"""Transactions before anything is timed: 320 bring SQLite's write-ahead log to its full length of 1,000 pages, and then
it is overwritten. Until then each commit makes the log longer, for which ext4 and XFS write more and Btrfs does not. A
program that has been open for a while is past that."""


@dataclass(frozen=True, slots=True)
class SqliteJob(TimedEngine):
    """Transactions of SQLite, each on the disk before the next one begins (`synchronous = FULL`)."""

    engine = "sqlite"
    programs = (
        Program(
            "sqlite3",
            N_("database workloads"),
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
        return n_(
            "sqlite3, {count} transaction, journal mode {mode}",
            "sqlite3, {count} transactions, journal mode {mode}",
            self.transactions,
            mode=self.journal.upper(),
        )

    @property
    def strain(self) -> Strain:
        return "sync"

    @property
    def counts(self) -> str:
        return N_("saves")

    @property
    def cost(self) -> Cost:
        # Bytes of a transaction are the mean of ext4, XFS and btrfs, of which btrfs writes most by far.
        per_s, each_bytes = {"wal": (1_200, 70_000), "delete": (500, 220_000)}[self.journal]
        seconds, written_bytes = self.transactions / per_s, self.transactions * each_bytes
        first = FIRST_TRANSACTIONS[self.journal] / self.transactions
        first_s, first_bytes = 0.1 + first * seconds, int(ROWS * PAYLOAD_BYTES + first * written_bytes)
        return Cost(first_s, seconds, first_bytes, written_bytes, always_s=first_s, always_bytes=first_bytes)

    @property
    def leaves(self) -> Iterable[tuple[object, int]]:
        return [(self, self.cost.prepare_bytes + self.cost.measure_bytes)]

    def bring(self, context: WorkloadContext, seed: int) -> None:
        dice = random.Random(seed)
        then = _transactions(range(self._begins, self._begins + self.transactions), dice)
        for part, statements in (("first", self._first(dice)), ("then", then)):
            Path(self._script(context.scratch, part)).write_text("\n".join(("PRAGMA synchronous = FULL;", *statements)))

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        database = f"{directory}/sqlite-{self.journal}-{self.transactions}"
        text = n_("{count} transaction of SQLite", "{count} transactions of SQLite", self.transactions)
        # It has its own directory, as the journal is beside it under a similar name.
        making = (Work(("mkdir", database), _("a directory for the database")),
                  self._read(database, scratch, "first", _("making the database")))  # fmt: skip
        working = replace(
            self._read(database, scratch, "then", text),
            share_done=share_read(self._script(scratch, "then")),
            whole=self.transactions,
            unit="1/s",
        )
        return Timed(text, (working,), (LaidOut(database, making, anew=True),))

    def _read(self, database: str, scratch: str, part: str, text: str) -> Work:
        """sqlite3 with the statements of a script, without the user's own settings in HOME."""
        script = self._script(scratch, part).replace("\\", "\\\\").replace('"', '\\"')
        argv = ("sqlite3", "-batch", "-bail", f"{database}/database", f'.read "{script}"')
        return Work(argv, text, env={"HOME": scratch})

    def figures(self, finished: Sequence[Finished]) -> Iterator[Measured]:
        yield Measured(OPERATION_RATE, self.transactions / duration_s(finished))
        yield Measured(DURATION, duration_s(finished))
        # Only content: what SQLite writes to its journal is amplification.
        yield Measured(BYTES_WRITTEN, 2 * self.transactions * PAYLOAD_BYTES)
        yield Measured(CPU, cpu_s(finished))

    def _script(self, scratch: str, part: str) -> str:
        return f"{scratch}/sqlite-{self.journal}-{self.transactions}-{part}.sql"

    def _first(self, dice: random.Random) -> Iterator[str]:
        """The database before the timed part; the log keeps its length when it is closed."""
        yield ".filectrl persist_wal 1"
        yield f"PRAGMA journal_mode = {self.journal};"
        yield "CREATE TABLE entry (number INTEGER PRIMARY KEY, word TEXT, content TEXT);"
        yield "CREATE INDEX entry_word ON entry (word);"
        yield "BEGIN;"
        yield from (_insert(number, dice) for number in range(ROWS))
        yield "COMMIT;"
        yield from _transactions(range(ROWS, self._begins), dice)

    @property
    def _begins(self) -> int:
        """Number of the first row that is timed."""
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
    """Progress of a process in reading its script; reads of its database do not count."""

    def share_done(pid: int) -> float:
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # closed meanwhile
                if os.readlink(link) == script:
                    position = Path(f"/proc/{pid}/fdinfo/{link.name}").read_text().split()[1]
                    return int(position) / os.path.getsize(script)
        return 0.0

    return share_done
