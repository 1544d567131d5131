"""Real runs whose right answer is known, recorded round by round and judged again whenever the analysis changes.

    python -m tests.bench.recordings same [--runs N]                 ext4 against itself on an image, 10 s for each run
    python -m tests.bench.recordings faster [--runs N] [--at-once N]  a simulated disk on which an option is 15 % faster
    python -m tests.bench.recordings report                          what comes out, in RECORDED.md

The first two want root and add to the file of that name in tests/bench/recorded. Simulated disks sleep most of the
time, so that several can be measured at once. No candidate is dropped while it is recorded; the analysis looks after
every round, as the program does, and stops where it would have stopped.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import math
import statistics
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fswizard.engines.fio import FioJob
from fswizard.model.analysis import Analysis, Ratio
from fswizard.model.result import Result
from fswizard.stats import Decision, analyse, decide
from tests.builders import make_plan, make_result, make_samples
from tests.loop.runs import COPY_TREE, RANDOM_WRITE, SHORT, short_session, watch
from tests.simulated.disks import SeekingDisk
from tests.simulated.runs import random_writes, run

HERE = Path(__file__).with_name("recorded")
SAME, FASTER = HERE / "same.jsonl", HERE / "faster.jsonl"
REPORT = Path(__file__).with_name("RECORDED.md")
ROUNDS = 4
"""Of the same against itself."""
FASTER_ROUNDS = 6
"""Of a difference, at most: the analysis stops as soon as it is proven."""
GAIN = 1.15
"""Of `nobarrier` on the simulated disk."""
SEEK_S = 0.020

LONGER = FioJob("randwrite", 4096, 8 << 20, seconds=0.3, depth=4)
TINY = replace(
    SHORT, workloads=(replace(RANDOM_WRITE, job=LONGER, seconds=0.7, writes_bytes=64 << 20), COPY_TREE), minutes=5.0
)
SYNCED = random_writes(1.0, fsync=1)
WORKLOADS = (*TINY.workloads, *SYNCED.workloads)


@dataclass(frozen=True, slots=True)
class Recording:
    """A run whose truth is known."""

    date: str
    truth: Mapping[str, float]
    """Candidate to its true speed, the slowest being 1."""
    figures: Mapping[str, Mapping[str, Sequence[float]]]
    """Workload to candidate to its figure in round 1, 2, …"""

    @property
    def candidates(self) -> tuple[str, ...]:
        return tuple(self.truth)

    @property
    def rounds(self) -> int:
        return min(len(values) for figures in self.figures.values() for values in figures.values())

    def result(self, rounds: int) -> Result:
        """What the program had measured after so many rounds."""
        workloads = [workload for workload in WORKLOADS if workload.name in self.figures]
        samples = [
            make_samples({name: values[:rounds] for name, values in figures.items()}, workload.name, workload.metric)
            for workload in workloads
            for figures in [self.figures[workload.name]]
        ]
        plan = make_plan(self.candidates, workloads, maximum_rounds=self.rounds)
        return make_result(plan=plan, samples=tuple(sample for some in samples for sample in some))

    def replay(self) -> Iterator[tuple[Analysis, Decision]]:
        """Look after every round as the program does, until it would have stopped."""
        for rounds in range(1, self.rounds + 1):
            result = self.result(rounds)
            analysis = analyse(result)
            decision = decide(analysis, result.plan)
            yield analysis, decision
            if decision.stop:
                return

    def ratio(self) -> Ratio:
        """What the program says of the second candidate in the end."""
        *_, (analysis, _) = self.replay()
        ratio = analysis.of(self.candidates[1])
        assert ratio is not None
        return ratio

    def holds(self, ratio: Ratio) -> bool:
        """The interval holds the truth."""
        assert ratio.low is not None and ratio.high is not None
        return ratio.low <= self.truth[ratio.candidate] / self.truth[ratio.baseline] <= ratio.high


def fixed(rounds: int) -> dict[str, Any]:
    """Fields of a plan that goes through so many rounds, whatever comes out."""
    return {"minimum_rounds": rounds, "maximum_rounds": rounds, "time_limit_s": 3600.0}


def load(path: Path) -> list[Recording]:
    return [Recording(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def same(directory: Path, seed: int) -> Recording:
    """`relatime` is the kernel's default, so that `ext4:relatime` is `ext4`."""
    session = short_session(directory, "ext4; ext4:relatime", TINY, seed=seed, **fixed(ROUNDS))
    asyncio.run(watch(session))
    if session.error is not None:
        raise session.error
    return recorded(session.result, {"ext4": 1.0, "ext4:relatime": 1.0})


def faster(directory: Path, seed: int) -> Recording:
    """A write and its fsync are a seek and two flushes, with `nobarrier` the seek alone."""
    disk = SeekingDisk(seek_s=SEEK_S, flush_costs_s=(GAIN - 1) / 2 * SEEK_S)
    result = run(disk, directory, SYNCED, "ext4; ext4:nobarrier", seed=seed, **fixed(FASTER_ROUNDS))
    return recorded(result, {"ext4": 1.0, "ext4:nobarrier": disk.nobarrier_gains})


def recorded(result: Result, truth: Mapping[str, float]) -> Recording:
    """The primary figures of a run of a fixed number of rounds."""
    figures: dict[str, dict[str, list[float]]] = {}
    for sample in result.samples:
        if sample.primary and sample.candidate:
            values = figures.setdefault(sample.workload, {}).setdefault(sample.candidate, [])
            values.append(float(f"{sample.value:.5g}"))
    counts = {len(values) for one in figures.values() for values in one.values()}
    if counts != {result.plan.maximum_rounds}:
        raise RuntimeError(f"the run ended early: {result.failures or result.doubts}")
    return Recording(datetime.date.today().isoformat(), truth, figures)


def add(recording: Recording, path: Path) -> None:
    line = {"date": recording.date, "truth": recording.truth, "figures": recording.figures}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def report(path: Path) -> str:
    """What comes out of the recordings in a file, in Markdown."""
    recordings = load(path)
    judged = [(recording, recording.ratio()) for recording in recordings]
    verdicts = Counter(ratio.verdict for _, ratio in judged)
    held = sum(recording.holds(ratio) for recording, ratio in judged)
    widths = statistics.median(math.log(ratio.high / ratio.low) / 2 for _, ratio in judged if ratio.low and ratio.high)
    by_mean = sum(ratio.ratio > 1 for _, ratio in judged)
    dates = sorted({recording.date for recording in recordings})
    lines = [
        f"{len(judged)} runs, recorded {' and '.join(dates)}, `{recordings[0].candidates[1]}` against "
        f"`{recordings[0].candidates[0]}`; the true ratio is {recordings[0].truth[recordings[0].candidates[1]]:g}.",
        "",
        "| faster | slower | tie | undecided | interval holds the truth | half the interval | ratio above 1 |",
        "| --: | --: | --: | --: | --: | --: | --: |",
        f"| {verdicts['faster']} | {verdicts['slower']} | {verdicts['tie']} | {verdicts['undecided']} "
        f"| {held / len(judged):.0%} | × {math.exp(widths):.2f} | {by_mean} |",
    ]
    return "\n".join(lines)


def write_report() -> None:
    note = Path(__file__).with_name("recordings_note.md").read_text(encoding="utf-8")
    REPORT.write_text(note.format(same=report(SAME), faster=report(FASTER)), encoding="utf-8")


RECORDED = {"same": (SAME, same), "faster": (FASTER, faster)}


def recording(what: str, seed: int) -> Recording:
    """A new one."""
    _, how = RECORDED[what]
    with tempfile.TemporaryDirectory(prefix="fswizard-recording-", dir="/var/tmp") as directory:
        return how(Path(directory), seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=(*RECORDED, "report"))
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--at-once", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.what == "report":
        return write_report()
    path, _ = RECORDED[arguments.what]
    begun = len(load(path)) if path.exists() else 0
    seeds = range(begun + 1, begun + arguments.runs + 1)
    with ProcessPoolExecutor(arguments.at_once) as pool:
        for made in pool.map(recording, [arguments.what] * len(seeds), seeds):
            add(made, path)
    return None


if __name__ == "__main__":
    main()
