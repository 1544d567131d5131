"""`fswizard plan` and `fswizard run`: the same choices, shown or carried out."""

from __future__ import annotations

import asyncio
import contextvars
import math
import os
import re
import shlex
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from plumbum import cli

from fswizard import results
from fswizard.cli.command import Command
from fswizard.cli.narration import EXIT_CODES, Narration, narrated, print_report
from fswizard.disks import rights
from fswizard.disks.choice import how_to_confirm, parse_target, require_confirmation
from fswizard.disks.way import why_root
from fswizard.errors import ExitCode, FswizardError, UsageError
from fswizard.filesystems import parse_candidates, parse_needs
from fswizard.language import N_, _, in_english, n_
from fswizard.model import plan as model
from fswizard.model.estimates import expected
from fswizard.model.events import Event, StepStarted
from fswizard.model.recipe import Recipe
from fswizard.model.run_state import RunState
from fswizard.model.text import safe
from fswizard.model.units import DECIMAL, duration_text, parse_duration, parse_size
from fswizard.recipes import find
from fswizard.report.plan import plan_document
from fswizard.report.text import paint
from fswizard.report.writes import budget_text
from fswizard.session import (
    Choices,
    FollowedRun,
    Resumption,
    Session,
    left_out_text,
    make_plan,
    start,
    take_up,
    why_not,
)
from fswizard.system.files import turn_away_from

T = TypeVar("T")
DEFAULT_RECIPE = "quick"
TARGETS = N_("image:SIZE@DIR, dir:PATH,PATH or device:PATH; for several disks images:4xSIZE@DIR or devices:PATH,PATH")
ADVANCED = _("Switches, advanced")
"""Last group of the help; plumbum sorts groups by name."""
NO_LIMIT = N_("Write a size, or none for no limit.")


class Choosing(Command):
    """Options of everything that measures, or says how it would."""

    target = cli.SwitchAttr("--target", str, argname="TARGET", help=_(TARGETS))
    candidates = cli.SwitchAttr("--candidates", str, argname="LIST", help=_('such as "ext4; xfs:noatime"'))
    baseline = cli.SwitchAttr(
        "--baseline", str, argname="NAME", help=_("candidate that others are compared with (ext4)")
    )
    need = cli.SwitchAttr("--need", str, argname="LIST", help=_("features it must have: checksums,snapshots,…"))
    time = cli.SwitchAttr("--time", str, argname="TIME", help=_("start no new round after this: 10m, 1h30m"))
    rounds = cli.SwitchAttr(
        "--rounds", str, argname="MIN..MAX", help=_("rounds; each measures every candidate once (2..12)")
    )
    budget = cli.SwitchAttr(
        "--write-budget", str, argname="SIZE", help=_("end the run before it writes more than this: 50G, or none")
    )
    seed = cli.SwitchAttr("--seed", str, argname="N", group=ADVANCED, help=_("repeat the order of an earlier run"))
    memory_limit = cli.SwitchAttr(
        "--memory-limit", str, argname="SIZE", group=ADVANCED,
        help=_("memory limit for measured programs, page cache included (a quarter of their data); or none"),
    )  # fmt: skip
    aged = cli.Flag("--aged", help=_("measure each candidate after years of use as well, and choose by that"))
    erase = cli.SwitchAttr(
        "--erase", str, list=True, argname="SERIAL",
        help=_(
            "serial number of a device that may be erased, or what `plan` names instead; separate several with commas"
        ),
    )  # fmt: skip

    def plan(self, recipe: Recipe) -> model.Plan:
        """The plan that the options describe."""
        return make_plan(
            Choices(
                recipe=recipe,
                candidates=parse_candidates(self.candidates) if self.candidates is not None else (),
                baseline=self.baseline or "",
                target=replace(
                    parse_target(self.target or "image:"), serial=",".join(self.erase) if self.erase else None
                ),
                needs=parse_needs(self.need or ""),
                time_limit_s=_option("time", self.time, parse_duration),
                write_budget_bytes=_option("write-budget", self.budget, _budget, NO_LIMIT),
                rounds=_rounds(self.rounds)
                if self.rounds is not None
                else (model.MINIMUM_ROUNDS, model.MAXIMUM_ROUNDS),
                seed=_seed(self.seed) if self.seed is not None else None,
                memory_limit_bytes=_option("memory-limit", self.memory_limit, _memory_limit, NO_LIMIT),
                aged=self.aged,
            ),
            results.all_results(),
        )


class Plan(Choosing):
    """Show what `run` would do: the exact commands, the time and the bytes written. Changes nothing."""

    def main(self, recipe: str = DEFAULT_RECIPE) -> int:
        plan = self.plan(find(recipe))
        print(plan_text(plan))
        return ExitCode.OK


class Run(Choosing):
    """Measure, and print a report. Progress goes to stderr."""

    output = cli.SwitchAttr("--output", str, argname="FILE", help=_("write the result to this file as the run goes"))

    resume = cli.SwitchAttr(
        "--resume", str, argname="RESULT", help=_("resume a run that ended before its answer was clear")
    )
    detach = cli.Flag("--detach", help=_("leave the run alone once it measures: `fswizard watch` shows it"))

    def main(self, recipe: str = "") -> int:
        if recipe and self.resume:
            raise UsageError(_("A resumed run keeps its recipe."), _("Leave the recipe out."))
        if self.resume:
            run = self._resumed()
            session = Session(run.plan, run.path, earlier=run.earlier)
        else:
            session = new_session(self.plan(find(recipe or DEFAULT_RECIPE)), self.output)
        plan = session.plan
        if plan.by_udisks:
            print(_("No password needed: udisks2 attaches and mounts the image."), file=sys.stderr)
        elif plan.needs_root:
            if plan.target.kind == "image" and os.geteuid() and (reason := why_root(plan.target, plan.measured)):
                print(_("This run needs root's rights: {reason}.", reason=reason), file=sys.stderr)
            print(_("Root's rights: {reason}.", reason=_(rights.REASONS[rights.authorise()])), file=sys.stderr)
        print(budget_text(plan, expected(plan, session.earlier)), file=sys.stderr)
        if plan.expected_s > plan.time_limit_s > 0:
            print(_too_short(plan), file=sys.stderr)
        if self.detach or plan.needs_root:
            return followed(session, detach=self.detach)
        return measure(session)

    def _resumed(self) -> Resumption:
        """The plan is the earlier run's; only the time and the write budget can be chosen."""
        chosen = ("target", "candidates", "baseline", "need", "rounds", "seed", "erase", "output")
        for name in (*chosen, "memory-limit", "aged"):
            if getattr(self, name.replace("-", "_")) not in (None, [], False):
                raise UsageError(
                    _("--{option} can't be combined with --resume: a resumed run keeps its plan.", option=name),
                    _("Leave it out."),
                )
        limit_s = _option("time", self.time, parse_duration)
        if limit_s is not None and limit_s <= 0:
            raise UsageError(_("--time 0 leaves no time to measure."), _("Give --time a duration such as 10m."))
        budget_bytes = _option("write-budget", self.budget, _budget, NO_LIMIT)
        return take_up(results.find(self.resume), time_limit_s=limit_s, write_budget_bytes=budget_bytes)


def new_session(plan: model.Plan, path: str | None) -> Session:
    """A run that writes to the file at `path`, or into the history; refused where a device was not confirmed."""
    require_confirmation(plan)
    return Session(plan, Path(path) if path else results.new_path(plan))


def followed(session: Session, *, detach: bool) -> int:
    """Carry out a run in a process of its own, which is followed to its end, or until it measures; the exit code.

    As long as it is followed, the first Ctrl-C or TERM ends it in good order.
    """
    plan, path, resumed = session.plan, session.path, session.earlier is not None
    before_bytes = path.stat().st_size if resumed else 0
    start(plan, path, resumed=resumed)
    run = FollowedRun(path, after_bytes=before_bytes)

    def measures(event: Event) -> bool:
        return detach and isinstance(event, StepStarted) and event.step.round > 0

    async def follow() -> RunState:
        _on_signals(lambda: run.order("cancel"))
        return await narrated(run.events(), RunState.of(plan, session.result), measures)

    state = asyncio.run(follow())
    if state.ended:
        return _ended(path, state, state.problem)
    words = _("The run goes on without this terminal: `fswizard watch` shows it. Its result is in {path}", path=path)
    Narration(sys.stderr).say(words)
    return ExitCode.OK


def measure(session: Session) -> int:
    """Carry out a run in this process, in English as in its log, and report it; the exit code."""
    readers = contextvars.copy_context()
    with in_english():
        state = asyncio.run(_carry_out(session, readers))
    return _ended(session.path, state, session.error)


def _ended(path: Path, state: RunState, error: FswizardError | None) -> int:
    """Report a run that ended; the exit code. A run that failed raises its `error`."""
    print(_("The result is in {path}.", path=safe(str(path))), file=sys.stderr)
    if not why_not(path):
        command = f"fswizard run --resume {shlex.quote(safe(str(path)))}"
        print(_("To resume it: {command}", command=command), file=sys.stderr)
    if error is None or any(sample.round for sample in state.result.samples if sample.primary):
        print_report(path)
    if error is not None:
        raise error
    return EXIT_CODES[state.outcome or "killed"]


async def _carry_out(session: Session, readers: contextvars.Context) -> RunState:
    """Watch `session` to its end; the first Ctrl-C or TERM ends it in good order. `readers` has the language."""
    _on_signals(lambda: session.stop("cancelled"))
    return await narrated(session.events(), RunState.of(session.plan, session.result), readers=readers)


def _on_signals(stop: Callable[[], None]) -> None:
    """Have Ctrl-C, TERM and the end of the terminal stop a run."""
    loop = asyncio.get_running_loop()
    terminals = [stream.fileno() for stream in (sys.stdout, sys.stderr) if stream.isatty()]

    def end(number: int) -> None:
        if number == signal.SIGHUP:
            turn_away_from(terminals)
        stop()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup leaves it
            loop.add_signal_handler(number, end, number)


def plan_text(plan: model.Plan) -> str:
    """The plan for a terminal."""
    document = plan_document(plan, left_out=left_out_text(plan) if plan.left_out else "")
    notes = []
    if plan.expected_s > plan.time_limit_s > 0:
        notes.append(_too_short(plan))
    if plan.target.kind == "device" and not plan.target.confirmed:
        notes.append(how_to_confirm(plan))
    return "\n".join([paint(document), *notes])


def _too_short(plan: model.Plan) -> str:
    limit, rounds = duration_text(plan.time_limit_s), plan.minimum_rounds
    if expected(plan).most_s < plan.expected_s:
        return n_(
            "{limit} is too short for a verdict, which takes {count} round: "
            "give --time {minutes}m, or choose fewer workloads or candidates.",
            "{limit} is too short for a verdict, which takes {count} rounds: "
            "give --time {minutes}m, or choose fewer workloads or candidates.",
            rounds, limit=limit, minutes=math.ceil(plan.expected_s / 60),
        )  # fmt: skip
    fitting = int((plan.time_limit_s - plan.preparation_s) / (plan.minimum_rounds * plan.seconds_per_trial))
    if fitting < 2:
        return _(
            "{limit} may be too short for the {rounds} rounds of a verdict: fewer workloads or more time would fit. "
            "fswizard finishes them anyway, up to twice the limit.",
            limit=limit, rounds=rounds,
        )  # fmt: skip
    return n_(
        "{limit} may be too short for the {rounds} rounds of a verdict: about {count} candidate would fit. "
        "fswizard finishes them anyway, up to twice the limit.",
        "{limit} may be too short for the {rounds} rounds of a verdict: about {count} candidates would fit. "
        "fswizard finishes them anyway, up to twice the limit.",
        fitting, limit=limit, rounds=rounds,
    )  # fmt: skip


def _seed(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise UsageError(
            _("The seed '{text}' isn't a whole number.", text=safe(text)), _("Write one, such as --seed 7.")
        ) from error


def _option(name: str, text: str | None, read: Callable[[str], T], hint: str = "") -> T | None:
    """The value of an option; None if it was not given."""
    try:
        return None if text is None else read(text)
    except ValueError as error:
        raise UsageError(_("In --{option}: {reason}.", option=name, reason=error), _(hint)) from error


def _memory_limit(text: str) -> int:
    return 0 if text.strip().lower() == "none" else parse_size(text)


def _budget(text: str) -> float:
    return math.inf if text.strip().lower() == "none" else parse_size(text, DECIMAL)


def _rounds(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,3})(?:\.\.(\d{1,3}))?", text.strip(), re.ASCII)
    if match is None:
        raise UsageError(
            _("'{text}' isn't a number of rounds.", text=text), _("Write MIN..MAX, such as --rounds 2..12.")
        )
    return int(match[1]), int(match[2] or match[1])
