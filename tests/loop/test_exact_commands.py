"""What is planned, what is told while it runs, and what the helper executed are the same, word for word."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from fswizard.targets.channel import Channel, HelperProcess

from fswizard.filesystems import parse_candidates
from fswizard.model.events import CommandFinished, Event, RunEnded
from fswizard.model.plan import Plan
from fswizard.session.planning import Choices, TargetChoice, make_plan
from fswizard.targets.exact_commands import LABEL, MOUNT
from tests.loop.runs import WRITES, session_in, watch

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.fio, pytest.mark.btrfs]

Words = tuple[str, ...]
SHOWN = ("wipe", "copy", "array", "build", "mkfs", "mount", "umount")
"""Orders whose commands stand in the plan and in the log."""


class Executed:
    """What the helper answered to a run's orders."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.orders: list[tuple[str, list[Words]]] = []
        self.name = ""
        real_ask = Channel.ask

        async def ask(channel: Channel, verb: str, /, **fields: Any) -> Any:
            answer = await real_ask(channel, verb, **fields)
            if verb == "join":
                self.name = answer["pool"]
            if verb in SHOWN:
                assert isinstance(answer, HelperProcess)
                self.orders.append((verb, [answer.argv, *answer.further]))
            return answer

        patch.setattr(Channel, "ask", ask)

    @property
    def commands(self) -> list[Words]:
        return [command for _, commands in self.orders for command in commands]

    @property
    def once(self) -> list[Words]:
        """Without unmounting and mounting again between two workloads, to empty the caches."""
        again = [(a, b) == ("umount", "mount") for (a, _), (b, _) in pairwise(self.orders)]
        kept = zip(self.orders, [*again, False], [False, *again])
        return [c for (_, commands), with_next, with_last in kept if not with_next and not with_last for c in commands]


def planned(plan: Plan, executed: Executed) -> list[Words]:
    """The plan's commands of the helper's, with the run's names in place of the stand-ins."""
    devices = [command[-1] for command in executed.commands if command[0] == "wipefs"][: len(plan.target.members)]
    kept = [command[2].removeprefix("of=") for command in executed.commands if command[0] == "dd"]
    names = {
        **dict(zip((*plan.target.stand_ins, "KEPT-1"), (*devices, *kept))),
        MOUNT: executed.commands[-1][-1],
        LABEL: executed.name,
    }

    def named(word: str) -> str:
        for stand_in, name in names.items():
            word = word.replace(stand_in, name)
        return word

    whole = [command.argv for command in plan.commands if command.as_root]
    return [tuple(map(named, argv)) for argv in whole if argv[0] != "losetup"]


def told(events: list[Event]) -> list[Words]:
    ended = (event for event in events if isinstance(event, CommandFinished) and event.as_root)
    return [event.argv for event in ended if event.argv[0] != "losetup"]


@pytest.mark.parametrize(
    ("candidates", "images"),
    [("ext4:noatime; btrfs", 1), ("ext4:aged; ext4:noatime", 1), ("btrfs:raid1; btrfs:raid1,degraded", 2)],
)
async def test_what_is_planned_told_and_executed_is_the_same(
    candidates: str, images: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two whole runs of 2 s, as the log is that of a run; with this seed in the order in which they are named."""
    target = TargetChoice("image", str(tmp_path), 128 << 20, others=(str(tmp_path),) * (images - 1))
    plan = make_plan(Choices(WRITES, parse_candidates(candidates), target=target, rounds=(1, 1), seed=1))
    executed = Executed(monkeypatch)
    events = await watch(session_in(tmp_path, plan))
    assert isinstance(events[-1], RunEnded) and events[-1].outcome == "finished", events[-1]
    assert told(events) == executed.once
    end = ("umount", executed.commands[-1][-1])
    between = [command for command in executed.once if command != end]
    *shown, last = planned(plan, executed)
    assert [command for command in shown if command != end] == between
    assert last == end, "the plan unmounts at the end, and what it has aged"
