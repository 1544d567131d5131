"""The memory limit with version 2 of cgroups, which the kernel of a container may not have: the tests of version 1."""

from __future__ import annotations

import pytest

from tests.long.vm.machine import Machine
from tests.long.vm.root import SHARES
from tests.long.vm.runs import RUN_S

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.xdist_group("machine")]

TESTS = "tests/loop/test_memory_limit.py"
THOSE = "page_cache or only_its_child or goes_with"


def test_the_limit_holds_ends_what_needs_more_and_leaves_no_cgroup(machine: Machine) -> None:
    assert "cgroup2 on /sys/fs/cgroup " in machine.ok("mount")
    script = f"cd {SHARES['checkout']} && exec python3 -m pytest -q -rs -p no:cacheprovider -k '{THOSE}' {TESTS}"
    said = machine.ok("sh", "-c", script, timeout_s=RUN_S)
    assert "3 passed" in said and "skipped" not in said, said
