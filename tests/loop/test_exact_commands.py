"""Planned commands, those logged during the run, and those that root executed are the same, word for word."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from fswizard.disks import as_root
from fswizard.disks.exact_commands import KEPT, LABEL, MOUNT
from fswizard.filesystems import commands, parse_candidates
from fswizard.model.events import CommandFinished, Event, RunEnded
from fswizard.model.plan import Plan
from fswizard.session.planning import Choices, TargetChoice, make_plan
from fswizard.system.commands import LocalProcess
from tests.loop.devices import Bench
from tests.loop.runs import WRITES, session_in, watch

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio, pytest.mark.btrfs]

Words = tuple[str, ...]
SHOWN = {"wipefs", "dd", "mdadm", "mkfs.ext4", "mkfs.btrfs", "mount", "umount"}
"""Programs whose commands stand in the plan and in the log."""


class Executed:
    """What root ran for a candidate, at the one place that starts its programs."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.commands: list[Words] = []
        real_start = as_root.start

        async def start(argv: Sequence[str], **how: Any) -> LocalProcess:
            if argv[0] in SHOWN and argv[-1] != commands.MOUNT_ROOT and not how.get("prefix"):
                self.commands.append(tuple(argv))
            return await real_start(argv, **how)

        patch.setattr(as_root, "start", start)

    @property
    def once(self) -> list[Words]:
        """Without unmounting and mounting again between two workloads, to empty the caches."""
        kinds = [command[0] for command in self.commands]
        again = [pair == ("umount", "mount") for pair in pairwise(kinds)]
        kept = zip(self.commands, [*again, False], [False, *again])
        return [command for command, with_next, with_last in kept if not with_next and not with_last]


def planned(plan: Plan, executed: Executed) -> list[Words]:
    """The plan's commands of root's, with the run's names in place of the stand-ins."""
    devices = [command[-1] for command in executed.commands if command[0] == "wipefs"][: len(plan.target.members)]
    names = {
        **dict(zip(plan.target.placeholders, devices)),
        MOUNT: next(command[-1] for command in executed.commands if command[0] == "umount"),
        LABEL: label_in(executed.commands),
        f"{KEPT}-1": kept_in(executed.commands),
    }

    def named(word: str) -> str:
        for stand_in, name in names.items():
            word = word.replace(stand_in, name)
        return word

    return [tuple(map(named, command.argv)) for command in plan.commands if command.as_root]


def label_in(executed: list[Words]) -> str:
    """The random name of what is spread over several devices, which its mkfs is given."""
    return next((command[command.index("-L") + 1] for command in executed if "-L" in command), "")


def kept_in(executed: list[Words]) -> str:
    """The device of the image that holds the aged candidate."""
    copied = (word for command in executed if command[0] == "dd" for word in command if word.startswith("of="))
    return next(copied, "").removeprefix("of=")


def told(events: list[Event]) -> list[Words]:
    ended = (event for event in events if isinstance(event, CommandFinished) and event.as_root)
    return [event.argv for event in ended]


@pytest.mark.parametrize(
    ("candidates", "disks"),
    [("ext4:noatime; btrfs", 0), ("ext4:aged; ext4:noatime", 0), ("btrfs:raid1; ext4", 2)],
)
async def test_what_is_planned_told_and_executed_is_the_same(
    candidates: str, disks: int, tmp_path: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole runs of 2 s, as the log is that of a run; with this seed in the order in which they are named."""
    target = TargetChoice("image", str(tmp_path), 128 << 20)
    if disks:
        files = [bench.file(f"disk-{number}", 128 << 20) for number in range(disks)]
        first, *others = map(bench.attach, files)
        target = TargetChoice("device", first, serial=",".join(map(str, files)), others=tuple(others))
    plan = make_plan(Choices(WRITES, parse_candidates(candidates), target=target, rounds=(1, 1), seed=1))
    executed = Executed(monkeypatch)
    events = await watch(session_in(tmp_path, plan))
    assert isinstance(events[-1], RunEnded) and events[-1].outcome == "finished", events[-1]
    left_wiped = [commands.wipe(member.path) for member in plan.target.members] if disks else []
    assert [*told(events), *left_wiped] == executed.once
    shown, rest = planned(plan, executed), iter(executed.once)
    assert all(command in rest for command in shown), "in this order"
    assert {command[0] for command in executed.once if command not in shown} <= {"dd", "umount"}
