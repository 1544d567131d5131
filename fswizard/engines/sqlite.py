"""SQLite's commits: the real `sqlite3` carries out one transaction after the other."""

from __future__ import annotations

import os
import random
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, suppress
from pathlib import Path

from fswizard.engines import timed
from fswizard.engines.context import WorkloadContext
from fswizard.engines.timed import Timed, Work
from fswizard.model.metrics import BYTES_WRITTEN, CPU, DURATION, OPERATION_RATE
from fswizard.model.plan import PlannedCommand
from fswizard.model.recipe import SqliteJob
from fswizard.progress.workload_events import Measured, WorkloadEvent
from fswizard.system.process import Finished

ROWS = 2000
"""The table's first rows, of which each transaction changes one."""
PAYLOAD_BYTES = 200


async def run(job: SqliteJob, context: WorkloadContext, *, seed: int) -> AsyncGenerator[WorkloadEvent, None]:
    """Write the statements into a file, empty the caches, and let sqlite3 read them; the same seed gives the same."""
    Path(_script(job, context.scratch)).write_text("\n".join(_statements(job, seed)))

    def figures(finished: Sequence[Finished]) -> Iterator[Measured]:
        duration_s = timed.duration_s(finished)
        yield Measured(OPERATION_RATE, job.transactions / duration_s)
        yield Measured(DURATION, duration_s)
        # What is asked to be kept: what SQLite writes twice to keep it safe is amplification.
        yield Measured(BYTES_WRITTEN, (ROWS + 2 * job.transactions) * PAYLOAD_BYTES)
        yield Measured(CPU, timed.cpu_s(finished))

    async with aclosing(timed.run(_timed(job, context.directory, context.scratch), job, context, figures)) as told:
        async for what in told:
            yield what


def commands(job: SqliteJob) -> tuple[PlannedCommand, ...]:
    """The programs of a job."""
    return timed.commands(_timed(job, "MOUNT", "SCRATCH"))


def _timed(job: SqliteJob, directory: str, scratch: str) -> Timed:
    database = f"{directory}/sqlite-{job.journal}-{job.transactions}"
    script = _script(job, scratch).replace("\\", "\\\\").replace('"', '\\"')
    # In a directory of its own, for the journal stands beside the database and bears its name.
    inside = f"{database}/database"
    text = f"{job.transactions:,} transactions of SQLite"
    # The user's own settings stand in HOME.
    argv = ("sqlite3", "-batch", "-bail", inside, f'.read "{script}"')
    read = _share_read(_script(job, scratch))
    working = Work(argv, text, read, job.transactions, "1/s", {"HOME": scratch})
    making = Work(("mkdir", database), "a directory for the database")
    return Timed(text, (making, working), makes=database)


def _share_read(script: str) -> Callable[[int], float]:
    """How far a process is in reading the statements; what it reads of its own database does not count."""

    def share_done(pid: int) -> float:
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # closed meanwhile
                if os.readlink(link) == script:
                    position = Path(f"/proc/{pid}/fdinfo/{link.name}").read_text().split()[1]
                    return int(position) / os.path.getsize(script)
        return 0.0

    return share_done


def _script(job: SqliteJob, scratch: str) -> str:
    return f"{scratch}/sqlite-{job.journal}-{job.transactions}.sql"


def _statements(job: SqliteJob, seed: int) -> Iterator[str]:
    """Each transaction adds a row and changes another, as a browser's history or a mail program's index does."""
    dice = random.Random(seed)

    def payload() -> str:
        return dice.getrandbits(4 * PAYLOAD_BYTES).to_bytes(PAYLOAD_BYTES // 2, "little").hex()

    yield f"PRAGMA journal_mode = {job.journal};"
    yield "PRAGMA synchronous = FULL;"
    yield "CREATE TABLE entry (number INTEGER PRIMARY KEY, word TEXT, content TEXT);"
    yield "CREATE INDEX entry_word ON entry (word);"
    yield "BEGIN;"
    for number in range(ROWS):
        yield f"INSERT INTO entry VALUES ({number}, '{payload()[:16]}', '{payload()}');"
    yield "COMMIT;"
    for number in range(ROWS, ROWS + job.transactions):
        yield "BEGIN;"
        yield f"INSERT INTO entry VALUES ({number}, '{payload()[:16]}', '{payload()}');"
        yield f"UPDATE entry SET content = '{payload()}' WHERE number = {dice.randrange(number)};"
        yield "COMMIT;"
