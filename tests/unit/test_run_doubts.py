"""Doubts that are known before anything is measured, each caused, and each with what can be done about it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fswizard.engines.fio import FioJob
from fswizard.engines.tree import TreeJob
from fswizard.filesystems import parse_candidates
from fswizard.model.metrics import DURATION
from fswizard.model.plan import Plan, Target
from fswizard.model.recipe import Workload
from fswizard.session import doubts
from tests.builders import make_drive, make_plan, make_workload
from tests.fakes.host import ModelHost, use

DIRECT = make_workload("write")
OVERFLOW = make_workload("overflow", job=FioJob("randwrite", 4096, 64 << 20, 60.0, depth=32, cliff=True))
BUFFERED = make_workload("copy", DURATION, engine="tree", job=TreeJob("copy", "mixed", 100, 1 << 20))
SYNCED = make_workload("log", job=FioJob("write", 4096, 64 << 20, fdatasync=1))
ON_DEVICE = Target("device", "/dev/disk/by-id/x", 64 << 30)


def codes(plan: Plan, **machine: Any) -> list[str]:
    """The codes of the doubts about a plan on a machine."""
    with use(ModelHost(memory=8 << 30, **machine)):
        return [doubt.code for doubt in doubts.before(plan)]


def plan(*workloads: Any, **fields: Any) -> Plan:
    made = make_plan(**{"workloads": workloads or (DIRECT,), "target": ON_DEVICE, **fields})
    return replace(made, candidates=parse_candidates("ext4; btrfs:noatime"))


def image(size: int = 64 << 30, filesystem: str = "ext4") -> Target:
    return Target("image", "/var/tmp", size, filesystem)


SHINGLED = {"drive": make_drive("drive-managed")}
VIRTUAL = make_drive(kind="virtual")


@pytest.mark.parametrize(
    ("plan_of", "machine", "code", "doubted"),
    [
        ({}, {}, "fresh-only", True),
        ({"target": Target("directory", "/home", 64 << 30, "ext4")}, {}, "fresh-only", False),
        ({}, {"battery": True}, "on-battery", True),
        ({}, {"slowed": True}, "governor", True),
        ({**SHINGLED, "writes_bytes_per_trial": 4 << 30}, {}, "cache-not-exceeded", True),
        ({**SHINGLED, "writes_bytes_per_trial": 500 << 30}, {}, "cache-not-exceeded", False),
        ({"drive": make_drive("cmr"), "writes_bytes_per_trial": 4 << 30}, {}, "cache-not-exceeded", False),
        ({"target": image(filesystem="btrfs")}, {}, "image-on-btrfs", True),
        ({"target": image(2 << 30), "workloads": (BUFFERED,)}, {}, "small-btrfs:noatime", True),
        ({"target": image(2 << 30)}, {}, "small-btrfs:noatime", False),
        ({"drive": VIRTUAL}, {}, "fits-in-host-memory", True),
        ({"target": image(filesystem="zfs")}, {}, "fits-in-host-memory", True),
        ({"drive": VIRTUAL, "workloads": (SYNCED,)}, {}, "fits-in-host-memory", False),
    ],
)
def test_a_doubt_stands_where_it_is_caused_and_nowhere_else(
    plan_of: dict[str, Any], machine: dict[str, Any], code: str, doubted: bool
) -> None:
    assert (code in codes(plan(**plan_of), **machine)) is doubted


@pytest.mark.parametrize(
    ("workload", "limit_bytes", "limited", "doubted"),
    [
        (BUFFERED, 256 << 20, False, True),
        (BUFFERED, 256 << 20, True, False),
        (BUFFERED, 0, True, True),  # what could be limited was not
        (OVERFLOW, 0, False, False),
        (SYNCED, 0, False, False),
    ],
)
def test_data_that_fit_into_memory_are_doubted(
    workload: Workload, limit_bytes: int, limited: bool, doubted: bool
) -> None:
    with use(ModelHost(memory=8 << 30)):
        found = [*doubts.fits_in_memory(plan(workload, memory_limit_bytes=limit_bytes), limited=limited)]
    assert bool(found) is doubted
