"""How often the program's rule errs and how soon it decides, on simulated machines; about fifteen minutes.

    python -m tests.bench.error_rates [--runs N] [--write]

`--write` puts the tables into fswizard/stats/README.md.
"""

from __future__ import annotations

import argparse
import math
import os
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

import numpy as np

import fswizard.stats
from fswizard.model.analysis import Ratio
from tests.bench.many import (
    TIED,
    Noise,
    Outcome,
    bimodal,
    heavy_tailed,
    in_time,
    lognormal,
    normal,
    one_noisy,
    play,
    sticky,
    unequal,
)  # fmt: skip

README = Path(fswizard.stats.__file__).with_name("README.md")
SIZES = (2, 3, 6, 10)
CHUNK = 2500
EQUAL, UNEQUAL = 0.05, 0.07
NOISES: Mapping[str, tuple[Noise, float]] = {
    "normal, 1 %": (normal(0.01), EQUAL),
    "normal, 3 %": (normal(0.03), EQUAL),
    "normal, 8 %": (normal(0.08), EQUAL),
    "normal, 30 %": (normal(0.30), EQUAL),
    "normal, 3 %; rounds differ by as much": (normal(0.03, shared=1.0), EQUAL),
    "normal, 3 %; rounds differ by 3 times as much": (normal(0.03, shared=3.0), EQUAL),
    "delays lognormal, 3 %": (lognormal(0.03), EQUAL),
    "Student's t, 2 degrees, 3 %": (heavy_tailed(0.03, 2), EQUAL),
    "bimodal: a tenth of the cells twice as slow, 3 %": (bimodal(0.03), EQUAL),
    "one candidate 3 × as noisy": (one_noisy(0.03, 3.0), UNEQUAL),
    "one candidate 5 × as noisy": (one_noisy(0.03, 5.0), UNEQUAL),
    "one candidate 10 × as noisy": (one_noisy(0.03, 10.0), UNEQUAL),
    "one candidate 10 × as noisy; rounds differ by 3 times as much": (one_noisy(0.03, 10.0, shared=3.0), UNEQUAL),
    "each candidate another noise, 1 to 10 %": (unequal(0.01, 0.10), UNEQUAL),
    "the machine's noise keeps 0.8 to the next cell, 3 %": (in_time(0.03, echo=0.8), EQUAL),
    "warm-up: the first cell 20 % slower, 3 %": (in_time(0.03, warm_up=0.2), EQUAL),
    "drift of 1 % for each cell, 3 %": (in_time(0.03, drift=-0.01), EQUAL),
    "noise that sticks to a candidate (0.8), 3 %": (sticky(0.03, 0.8), EQUAL),
}
"""Of each kind, the share of runs that may err."""
PARTLY: Mapping[str, tuple[float, ...]] = {
    "two of three, the other 30 % slower": (1, 1, 0.7),
    "two of six, the others 30 % slower": (1, 1, 0.7, 0.7, 0.7, 0.7),
    "three of six, the others 30 % slower": (1, 1, 1, 0.7, 0.7, 0.7),
    "five of six, the other 30 % slower": (1, 1, 1, 1, 1, 0.7),
    "two of six, the others 10 % slower": (1, 1, 0.9, 0.9, 0.9, 0.9),
    "two of ten, the others 30 % slower": (1, 1, *(0.7,) * 8),
    "none of six, 10 % apart each": tuple(1.1**-n for n in range(6)),
}
"""Truths of which only some are the same, so that others leave early."""
RACES: tuple[tuple[str, tuple[float, ...], Noise, float, float], ...] = (
    ("two, 15 % apart, 3 % noise", (1, 1.15), normal(0.03), 8.6, 7.4),
    ("three, one 15 % ahead, 3 % noise", (1, 1, 1.15), normal(0.03), 11.6, 10.5),
    ("six, one 15 % ahead, 3 % noise", (1,) * 5 + (1.15,), normal(0.03), 22.1, 20),
    ("six, 10 % apart each, 3 % noise", tuple(1.1**n for n in range(6)), normal(0.03), 21.9, 18),
    ("six, 10 % apart each, half of 3 % noise shared", tuple(1.1**n for n in range(6)),
     normal(0.03 / math.sqrt(2), shared=1.0), 19.3, 18),
    ("three, 30 % apart each, bimodal noise", (1, 1.3, 0.7), bimodal(0.03), 20.1, 0),
    ("two that are the same, 3 % noise", (1, 1), normal(0.03), 19.5, 0),
)  # fmt: skip
"""Comparison, truth, noise, cells with intervals within rounds from round 3 on, and the most there should be."""


def many(
    truth: tuple[float, ...], noise: Noise, runs: int, *, to_the_end: bool = False, widened: bool = True
) -> Outcome:
    """This number of runs, in chunks that fit into memory."""
    chunks = [
        play(truth, noise, min(CHUNK, runs - n), n, to_the_end=to_the_end, widened=widened)
        for n in range(0, runs, CHUNK)
    ]
    return Outcome(*(np.concatenate([getattr(chunk, field.name) for chunk in chunks]) for field in fields(Outcome)))


def errors(candidates: int, noise: Noise, runs: int) -> tuple[float, float]:
    """Share of runs with a wrong interval, and with a winner, where nobody differs."""
    outcome = many((1.0,) * candidates, noise, runs, to_the_end=True)
    return float(outcome.missed.mean()), float((outcome.answer >= 0).mean())


def error_table(runs: int) -> str:
    lines = [
        f"| nothing differs, {runs:,} runs, all looks | {' | '.join(map(str, SIZES))} | |",
        f"| --- | {' | '.join('--:' for _ in SIZES)} | --- |",
    ]
    for name, (noise, most) in NOISES.items():
        found = [errors(candidates, noise, runs) for candidates in SIZES]
        worst = max(missed for missed, _ in found)
        word = "holds" if worst <= most else f"misses by {worst - most:.1%}"
        lines.append(f"| {name} | {' | '.join(f'{m:.1%} ({w:.1%})' for m, w in found)} | ≤ {most:.0%}: {word} |")
        print(lines[-1], flush=True)
    return percent("\n".join(lines))


def partly(truth: tuple[float, ...], times: float, runs: int) -> float:
    """Share of runs with a wrong interval where the first candidate is noisier than the others by this factor."""
    return float(many(truth, one_noisy(0.03, times), runs, to_the_end=True).missed.mean())


def partly_table(runs: int) -> str:
    several = (1.0, 3.0, 5.0, 10.0)
    lines = [
        f"| the same are, {runs:,} runs | equal noise | {' | '.join(f'the first {n:g} ×' for n in several[1:])} | |",
        f"| --- | {' | '.join('--:' for _ in several)} | --- |",
    ]
    for name, truth in PARTLY.items():
        found = [partly(truth, times, runs) for times in several]
        word = "holds" if found[0] <= EQUAL and max(found) <= UNEQUAL else "misses"
        lines.append(f"| {name} | {' | '.join(f'{m:.1%}' for m in found)} | ≤ {EQUAL:.0%} and {UNEQUAL:.0%}: {word} |")
        print(lines[-1], flush=True)
    return percent("\n".join(lines))


def sticky_table(runs: int) -> str:
    """With intervals that are widened where noise sticks, and without that."""
    kept = (0.0, 0.5, 0.8, 0.95)
    lines = [
        f"| candidates, workloads; {runs:,} runs | {' | '.join(f'keeps {share:g}' for share in kept)} |",
        f"| --- | {' | '.join('---' for _ in kept)} |",
    ]
    for candidates in SIZES:
        for workloads in (1, 6):
            cells = []
            for share in kept:
                noise = sticky(0.03, share, workloads)
                before, after = (
                    many((1.0,) * candidates, noise, runs, to_the_end=True, widened=widened)
                    for widened in (False, True)
                )
                won = [f"{(outcome.answer >= 0).mean():.1%}" for outcome in (before, after)]
                missed = [f"{outcome.missed.mean():.1%}" for outcome in (before, after)]
                cells.append(f"{' → '.join(missed)} ({' → '.join(won)}), {after.doubted.mean():.0%}")
            lines.append(f"| {candidates}, {workloads} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    return percent("\n".join(lines))


def race_table(runs: int) -> str:
    lines = [
        f"| comparison, {runs:,} runs | right | wrong | cells | before | |",
        "| --- | --: | --: | --: | --: | --- |",
    ]
    for name, truth, noise, before, most in RACES:
        outcome = many(truth, noise, runs)
        best = int(np.argmax(truth)) if len(set(truth)) > 1 else TIED
        right = float((outcome.answer == best).mean())
        wrong = float(((outcome.answer >= TIED) & (outcome.answer != best)).mean())
        cells = float(outcome.cells.mean())
        word = ("holds" if cells <= most else f"misses by {cells - most:.1f}") if most else ""
        bound = f"≤ {most:g}: {word}" if most else ""
        lines.append(f"| {name} | {right:.1%} | {wrong:.1%} | {cells:.1f} | {before:.1f} | {bound} |")
        print(lines[-1], flush=True)
    return percent("\n".join(lines))


def bias(truth: tuple[float, ...], noise: Noise, runs: int) -> tuple[float, float, float]:
    """Share of runs that the best one wins, and by how much the median of its ratio to the next best errs: as
    measured, and as the headline tells it.
    """
    outcome = many(truth, noise, runs)
    won = outcome.answer == int(np.argmax(truth))
    second, best = sorted(truth)[-2:]
    figures = zip(*(values[won].tolist() for values in (outcome.told, outcome.half_width, outcome.rounds)))
    ratios = [
        Ratio("", "", "", math.exp(m), math.exp(m - half), math.exp(m + half), rounds, "faster")
        for m, half, rounds in figures
    ]
    measured, told = (
        float(np.median(values)) / (best / second) - 1
        for values in ([ratio.ratio for ratio in ratios], [ratio.shrunk().ratio for ratio in ratios])
    )
    return float(won.mean()), measured, told


def bias_table(runs: int) -> str:
    lines = [f"| winner's ratio, {runs:,} runs | found | measured | told | |", "| --- | --: | --: | --: | --- |"]
    for candidates in (2, 3, 6):
        for ratio, deviation in ((1.1, 0.03), (1.1, 0.05), (1.1, 0.08), (1.2, 0.08), (1.5, 0.08)):
            found, measured, told = bias((1.0,) * (candidates - 1) + (ratio,), normal(deviation), runs)
            word = "holds" if abs(told) <= 0.01 else f"misses by {abs(told) - 0.01:.1%}"
            name = f"{candidates}, one {ratio:.2f} × the others, {deviation:.0%} noise"
            lines.append(f"| {name} | {found:.0%} | {measured:+.1%} | {told:+.1%} | ± 1%: {word} |")
            print(lines[-1], flush=True)
    return percent("\n".join(lines))


def percent(text: str) -> str:
    return re.sub(r"(\d)%", r"\1 %", text)


def replaced(page: str, made: str) -> str:
    """The page with the table put in the place of the one whose first heading begins in the same way."""
    head = made.split("\n", 1)[0].split("runs", maxsplit=1)[0].rstrip("0123456789, ")
    return re.sub(rf"{re.escape(head)}.*\n(\|.*\n)+", lambda _: f"{made}\n", page)


if __name__ == "__main__":
    os.nice(19)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000, help="simulated runs for each figure")
    parser.add_argument("--write", action="store_true", help="put the tables into the README of the statistics")
    arguments = parser.parse_args()
    for table in (race_table, bias_table, error_table, partly_table, sticky_table):
        made = table(arguments.runs)
        if arguments.write:
            README.write_text(replaced(README.read_text("utf-8"), made), "utf-8")
