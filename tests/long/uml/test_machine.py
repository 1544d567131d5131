"""The simulated machine: real filesystems and the program itself, on disks that take the time that a model says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fswizard import results
from tests.long.uml.machine import SimulatedDisk, run

pytestmark = [pytest.mark.uml, pytest.mark.root, pytest.mark.slow]

ROOT = Path(__file__).parents[3]
CARD = SimulatedDisk("card", "card", "size_bytes=1G")
SHINGLED = SimulatedDisk("archive", "shingled", "size_bytes=8G,cache_bytes=400M")
SSD = SimulatedDisk("solid", "ssd", "size_bytes=2G")
WRITING = """
for disk in card solid; do
	cut -d ' ' -f 1 /proc/uptime
	dd if=/dev/zero of=/dev/$disk bs=1M count=200 oflag=direct status=none || exit 1
	cut -d ' ' -f 1 /proc/uptime
done
touch /var/lib/anything 2> /dev/null || echo refused
"""
RECIPE = """
schema = 1
name = "fifty"
title = "Fifty people at work"
why = "More than fits into the machine's memory."
minutes = 5
image = "4G"

[[workload]]
name = "operations"
title = "Everything together"
engine = "fileserver"
metric = "operation_rate"
weight = 1
why = "Operations per second, until everything is on the disk."
threads = 50
files = 1500
mean_file = "1280K"
mean_append = "8K"
seconds = 10
"""


def test_time_is_that_of_the_disks_and_nothing_of_the_host_is_changed(tmp_path: Path) -> None:
    ended = run(WRITING, (CARD, SSD), into=tmp_path)

    assert ended.returncode == 0, ended.stdout
    *clocks, refused = ended.stdout.split()
    card_from, card_to, solid_from, solid_to = map(float, clocks)
    assert card_to - card_from == pytest.approx(200 * 1.048576 / 12, rel=0.05)
    assert solid_to - solid_from == pytest.approx(200 * 1.048576 / 460, rel=0.1)
    assert refused == "refused"


def test_the_program_measures_a_shingled_disk_in_its_own_time(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE)
    argv = f"{sys.executable} -m fswizard run ./recipe.toml --candidates ext4 --target device:/dev/archive"
    script = f"export PYTHONPATH={ROOT}\n{argv} --erase archive --rounds 1..1 --output result.jsonl"
    ended = run(script, (SHINGLED,), into=tmp_path)

    assert ended.returncode == 0, ended.stdout
    result = results.load(tmp_path / "result.jsonl")
    assert result.outcome == "finished"
    (rate,) = (it.value for it in result.samples if it.metric == "operation_rate")
    assert 50 < rate < 1000  # in its memory alone it would have no bound
