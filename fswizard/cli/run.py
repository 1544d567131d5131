"""`fswizard run`: measures in a separate process, which it follows, or shows what it would do."""

from __future__ import annotations

import asyncio
import math
import os
import re
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from plumbum import cli

from fswizard import results
from fswizard.cli.command import Command
from fswizard.cli.narration import Narration, ended, narrated
from fswizard.disks import rights
from fswizard.disks.choice import how_to_confirm, parse_target, require_confirmation
from fswizard.disks.way import why_root
from fswizard.errors import ExitCode, UsageError
from fswizard.filesystems import parse_candidates, parse_needs
from fswizard.language import N_, _, n_
from fswizard.model.estimates import expected
from fswizard.model.events import Event, StepStarted
from fswizard.model.plan import MAXIMUM_ROUNDS, MINIMUM_ROUNDS, Plan
from fswizard.model.result import Result
from fswizard.model.run_state import RunState
from fswizard.model.units import DECIMAL, duration_text, parse_duration, parse_size
from fswizard.recipes import find
from fswizard.report.plan import plan_document
from fswizard.report.text import paint
from fswizard.report.writes import budget_text
from fswizard.session import Choices, FollowedRun, left_out_text, make_plan, start, take_up
from fswizard.system.files import redirect_to_null

T = TypeVar("T")
DEFAULT_RECIPE = "quick"
TARGETS = N_(
    "a directory for a scratch image, or a disk, such as /dev/sdb; in full image:SIZE@DIR, dir:PATH,PATH, device:PATH, "
    "and for several disks devices:PATH,PATH"
)
NO_LIMIT = N_("Write a size, or none for no limit.")


def _reads(parse: Callable[[str], T], hint: str = "") -> Callable[[str], T]:
    """`parse` as the type of an option, with ValueError converted to UsageError."""

    def read(text: str) -> T:
        try:
            return parse(text)
        except ValueError as error:
            raise UsageError(_("{finding}.", finding=error), _(hint)) from error

    read.__name__ = "str"  # as the help names the type
    return read


def _time(text: str) -> float:
    seconds = parse_duration(text)
    if seconds <= 0:
        raise UsageError(_("--time 0 leaves no time to measure."), _("Give --time a duration such as 10m."))
    return seconds


def _budget(text: str) -> float:
    return math.inf if text == "none" else parse_size(text, DECIMAL)


def _memory_limit(text: str) -> int:
    return 0 if text == "none" else parse_size(text)


def _rounds(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,3})(?:\.\.(\d{1,3}))?", text, re.ASCII)
    if match is None:
        raise UsageError(
            _("'{text}' isn't a number of rounds.", text=text), _("Write MIN..MAX, such as --rounds 2..12.")
        )
    return int(match[1]), int(match[2] or match[1])


def _seed(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise UsageError(
            _("The seed '{text}' isn't a whole number.", text=text), _("Write one, such as --seed 7.")
        ) from error


class Run(Command):
    """Measure, and print a report. Progress goes to stderr."""

    target = cli.SwitchAttr("--target", str, argname="TARGET", help=_(TARGETS))
    candidates = cli.SwitchAttr("--candidates", str, argname="LIST", help=_('such as "ext4; xfs:noatime"'))
    baseline = cli.SwitchAttr(
        "--baseline", str, argname="NAME", help=_("candidate that others are compared with (ext4)")
    )
    need = cli.SwitchAttr("--need", str, argname="LIST", help=_("features it must have: checksums,snapshots,…"))
    time = cli.SwitchAttr("--time", _reads(_time), argname="TIME", help=_("start no new round after this: 10m, 1h30m"))
    rounds = cli.SwitchAttr(
        "--rounds", _reads(_rounds), argname="MIN..MAX", help=_("rounds; each measures every candidate once (2..40)")
    )
    budget = cli.SwitchAttr(
        "--write-budget", _reads(_budget, NO_LIMIT), argname="SIZE",
        help=_("end the run before it writes more than this: 50G, or none"),
    )  # fmt: skip
    seed = cli.SwitchAttr("--seed", _reads(_seed), argname="N", help=_("repeat the order of an earlier run"))
    memory_limit = cli.SwitchAttr(
        "--memory-limit", _reads(_memory_limit, NO_LIMIT), argname="SIZE",
        help=_("memory limit for measured programs, page cache included (a quarter of their data); or none"),
    )  # fmt: skip
    aged = cli.Flag("--aged", help=_("measure each candidate after years of use"))
    erase = cli.SwitchAttr(
        "--erase", str, list=True, argname="SERIAL",
        help=_("serial number of a device that may be erased, or what --dry-run names instead; several with commas"),
    )  # fmt: skip
    output = cli.SwitchAttr("--output", str, argname="FILE", help=_("write the result to this file as the run goes"))
    resume = cli.SwitchAttr(
        "--resume", str, argname="RESULT",
        help=_("resume a run that ended before its answer was clear"),
        excludes=["--target", "--candidates", "--baseline", "--need", "--rounds", "--seed", "--memory-limit", "--aged",
                  "--erase", "--output", "--dry-run"],
    )  # fmt: skip
    detach = cli.Flag("--detach", help=_("leave the run alone once it measures: `fswizard watch` shows it"))
    dry_run = cli.Flag(
        "--dry-run",
        help=_("Show what `run` would do: the exact commands, the time and the bytes written. Changes nothing."),
    )

    def main(self, recipe: str = "") -> int:
        if recipe and self.resume:
            raise UsageError(_("A resumed run keeps its recipe."), _("Leave the recipe out."))
        if self.resume:
            resumed = take_up(results.find(self.resume), time_limit_s=self.time, write_budget_bytes=self.budget)
            return self._carry_out(resumed.plan, resumed.path, resumed.earlier)
        plan = self._plan(recipe or DEFAULT_RECIPE)
        if self.dry_run:
            print(plan_text(plan))
            return ExitCode.OK
        require_confirmation(plan)
        return self._carry_out(plan, Path(self.output) if self.output else results.new_path(plan))

    def _plan(self, recipe: str) -> Plan:
        target = parse_target(self.target or "image:")
        choices = Choices(
            recipe=find(recipe),
            candidates=parse_candidates(self.candidates) if self.candidates is not None else (),
            baseline=self.baseline or "",
            target=replace(target, serial=",".join(self.erase) if self.erase else None),
            needs=parse_needs(self.need or ""),
            time_limit_s=self.time,
            write_budget_bytes=self.budget,
            rounds=self.rounds or (MINIMUM_ROUNDS, MAXIMUM_ROUNDS),
            seed=self.seed,
            memory_limit_bytes=self.memory_limit,
            aged=self.aged,
        )
        return make_plan(choices)

    def _carry_out(self, plan: Plan, path: Path, earlier: Result | None = None) -> int:
        if plan.by_udisks:
            print(_("No password needed: udisks2 attaches and mounts the image."), file=sys.stderr)
        elif plan.needs_root:
            if plan.target.kind == "image" and os.geteuid() and (reason := why_root(plan.candidates)):
                print(_("This run needs root's rights: {reason}.", reason=reason), file=sys.stderr)
            print(_("Root's rights: {reason}.", reason=_(rights.REASONS[rights.authorise()])), file=sys.stderr)
        print(budget_text(plan, expected(plan, earlier)), file=sys.stderr)
        if plan.expected_s > plan.time_limit_s > 0:
            print(_too_short(plan), file=sys.stderr)
        before_bytes = path.stat().st_size if earlier else 0
        start(plan, path, resumed=earlier is not None)
        state = asyncio.run(self._follow(FollowedRun(path, after_bytes=before_bytes), RunState.of(plan, earlier)))
        if state.ended:
            return ended(path, state)
        Narration(sys.stderr).say(
            _("The run goes on without this terminal: `fswizard watch` shows it. Its result is in {path}", path=path)
        )
        return ExitCode.OK

    async def _follow(self, run: FollowedRun, state: RunState) -> RunState:
        """Follow a run to its end, or until it measures; the first Ctrl-C or TERM ends it in good order."""
        terminals = [stream.fileno() for stream in (sys.stdout, sys.stderr) if stream.isatty()]

        def cancel(number: int) -> None:
            if number == signal.SIGHUP:
                redirect_to_null(terminals)
            run.order("cancel")

        def measures(event: Event) -> bool:
            return bool(self.detach) and isinstance(event, StepStarted) and event.step.round > 0

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:  # as nohup leaves it
                asyncio.get_running_loop().add_signal_handler(number, cancel, number)
        return await narrated(run, state, measures)


def plan_text(plan: Plan) -> str:
    """The plan as text for a terminal."""
    notes = [paint(plan_document(plan, left_out=left_out_text(plan) if plan.left_out else ""))]
    if plan.expected_s > plan.time_limit_s > 0:
        notes.append(_too_short(plan))
    if plan.target.kind == "device" and not plan.target.confirmed:
        notes.append(how_to_confirm(plan))
    return "\n".join(notes)


def _too_short(plan: Plan) -> str:
    limit, rounds = duration_text(plan.time_limit_s), plan.minimum_rounds
    if expected(plan).most_s < plan.expected_s:
        return n_(
            "{limit} is too short for a verdict, which takes {count} round: "
            "give --time {minutes}m, or choose fewer workloads or candidates.",
            "{limit} is too short for a verdict, which takes {count} rounds: "
            "give --time {minutes}m, or choose fewer workloads or candidates.",
            rounds, limit=limit, minutes=math.ceil(plan.expected_s / 60),
        )  # fmt: skip
    return _(
        "{limit} may be too short for the {rounds} rounds of a verdict: fewer workloads or more time would fit. "
        "fswizard finishes them anyway, up to twice the limit.",
        limit=limit, rounds=rounds,
    )  # fmt: skip
