"""SQLite's commits: `sqlite3` runs one transaction after another."""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import psutil

from fswizard.engines.shared.engine import Engine, Files, Timed, duration_s
from fswizard.engines.shared.programs import Done, Work
from fswizard.language import N_, _, n_
from fswizard.model.frozen import frozen
from fswizard.model.keys import within
from fswizard.model.metrics import BYTES_WRITTEN, CPU, DURATION, OPERATION_RATE, WORST_STALL
from fswizard.model.recipe import Program
from fswizard.progress.workload_events import Measured

MESSAGES = {
    "database or disk is full": errno.ENOSPC,
    "disk I/O error": errno.EIO,
    "attempt to write a readonly database": errno.EROFS,
}
ROWS = 2000
"""Initial number of rows."""
PAYLOAD_BYTES = 200
FIRST_TRANSACTIONS = {"wal": 400, "delete": 0}
"""Transactions before the timed part: after 320, SQLite's write-ahead log has its full length of 1,000 pages, and is
overwritten from then on. Until then each commit extends the log, for which ext4 and XFS write more and Btrfs does not.
A program that has been open for a while is past that point."""
SPEED = {"wal": (1_200, 70_000), "delete": (500, 220_000)}
"""Transactions per second and bytes written by each: means of ext4, XFS and btrfs."""


@frozen
class SqliteJob(Engine):
    """Transactions of SQLite, each on the disk before the next one begins (`synchronous = FULL`)."""

    engine = "sqlite"
    programs = (Program("sqlite3", N_("database workloads"), True, {"fedora": "sqlite", "arch": "sqlite"}, MESSAGES),)
    metrics = (OPERATION_RATE, DURATION, BYTES_WRITTEN, CPU, WORST_STALL)
    strain = "sync"
    counts = N_("saves")
    journal: Literal["wal", "delete"]
    transactions: Annotated[int, within(1, 1_000_000)]

    @property
    def units(self) -> int:
        """Transactions."""
        return self.transactions

    def scaled(self, units: int) -> SqliteJob:
        return replace(self, transactions=min(units, self.transactions))

    def script(self, scratch: str, part: str) -> str:
        """Path of the script for one `part` of the work, `first` or `then`."""
        return f"{scratch}/sqlite-{self.journal}-{self.transactions}-{part}.sql"

    def write_inputs(self, scratch: str, seed: int) -> None:
        dice = random.Random(seed)

        def payload() -> str:
            return dice.getrandbits(4 * PAYLOAD_BYTES).to_bytes(PAYLOAD_BYTES // 2, "little").hex()

        def insert(number: int) -> str:
            return f"INSERT INTO entry VALUES ({number}, '{payload()[:16]}', '{payload()}');"

        def transaction(number: int) -> str:
            """Inserts a row and changes another, as in a browser's history or the index of a mail program."""
            inserted = insert(number)
            update = f"UPDATE entry SET content = '{payload()}' WHERE number = {dice.randrange(number)};"
            return f"BEGIN;\n{inserted}\n{update}\nCOMMIT;"

        timed_from = ROWS + FIRST_TRANSACTIONS[self.journal]
        first = [
            "PRAGMA synchronous = OFF;",  # nothing of it is timed, and a sync puts it on the disk
            ".filectrl persist_wal 1",  # the log keeps its length when it is closed
            f"PRAGMA journal_mode = {self.journal};",
            "CREATE TABLE entry (number INTEGER PRIMARY KEY, word TEXT, content TEXT);",
            "CREATE INDEX entry_word ON entry (word);",
            "BEGIN;",
            *map(insert, range(ROWS)),
            "COMMIT;",
            *map(transaction, range(ROWS, timed_from)),
        ]
        then = ["PRAGMA synchronous = FULL;", *map(transaction, range(timed_from, timed_from + self.transactions))]
        Path(self.script(scratch, "first")).write_text("\n".join(first))
        Path(self.script(scratch, "then")).write_text("\n".join(then))

    def timed(self, directory: str, scratch: str, seed: str) -> Timed:
        # The database has a directory, as its journal is there, too, under a similar name.
        database = f"{directory}/sqlite-{self.journal}-{self.transactions}"

        def carrying_out(part: str, text: str, **more: Any) -> Work:
            script = self.script(scratch, part).replace("\\", "\\\\").replace('"', '\\"')
            argv = ("sqlite3", "-batch", "-bail", f"{database}/database", f'.read "{script}"')
            return Work(argv, text, **more)

        def share_done(pid: int) -> float:
            """The share of the script that a process has read; reads of its database do not count."""
            script = self.script(scratch, "then")
            positions = [file.position for file in psutil.Process(pid).open_files() if file.path == script]
            return max(positions, default=0) / os.path.getsize(script)

        per_s, each_bytes = SPEED[self.journal]
        text = n_("{count} transaction of SQLite", "{count} transactions of SQLite", self.transactions)
        seconds, written_bytes = self.transactions / per_s, self.transactions * each_bytes
        work = carrying_out(
            "then", text, seconds=seconds, written_bytes=written_bytes,
            share_done=share_done, whole=self.transactions, unit="1/s",
        )  # fmt: skip
        first_bytes = ROWS * PAYLOAD_BYTES + (1_000 * 4_096 if self.journal == "wal" else 0)
        makes = (
            Work(("mkdir", database), _("a directory for the database")),
            carrying_out("first", _("making the database"), seconds=0.2, written_bytes=first_bytes),
        )
        return Timed((work,), (Files(database, first_bytes + written_bytes, makes, recreate=True),), reads=False)

    def figures(self, done: Sequence[Done]) -> Iterator[Measured]:
        yield Measured(OPERATION_RATE, self.transactions / duration_s(done))
        yield Measured(DURATION, duration_s(done))
        # Only content: what SQLite writes to its journal is amplification.
        yield Measured(BYTES_WRITTEN, 2 * self.transactions * PAYLOAD_BYTES)
