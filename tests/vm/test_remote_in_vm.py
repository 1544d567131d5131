"""Another machine over a slow line that loses packets: this takes netem, which not every kernel has."""

from __future__ import annotations

import pytest

from tests.vm.machine import Machine
from tests.vm.root import SHARES
from tests.vm.runs import RUN_S

pytestmark = [pytest.mark.vm, pytest.mark.slow]

TESTS = "tests/loop/test_remote.py"
THOSE = "cut_ends_the_screen or run_and_watch"


def test_nothing_is_lost_where_one_packet_in_a_hundred_is(machine: Machine) -> None:
    machine.sh("modprobe sch_netem && tc qdisc add dev lo root netem delay 75ms loss 1%")
    script = f"cd {SHARES['checkout']} && exec python3 -m pytest -q -rs -p no:cacheprovider -k '{THOSE}' {TESTS}"
    said = machine.ok("sh", "-c", script, timeout_s=RUN_S)
    dropped = machine.sh("tc -statistics qdisc show dev lo")
    machine.sh("tc qdisc del dev lo root")
    assert "2 passed" in said and "skipped" not in said, said
    assert "dropped 0," not in dropped, dropped
