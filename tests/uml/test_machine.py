"""The simulated machine: real filesystems and the program itself, on disks that take the time that a model says."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

import pytest

from fswizard import results
from tests.uml.machine import SimulatedDisk, run

pytestmark = [pytest.mark.uml, pytest.mark.root, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
CARD = SimulatedDisk("card", "card", "size_bytes=1G")
SSD = SimulatedDisk("solid", "ssd", "size_bytes=2G")
WRITING = """
for disk in card solid; do
	mkfs.ext4 -q -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 /dev/$disk && mount /dev/$disk /mnt/a || exit 1
	sync
	cut -d ' ' -f 1 /proc/uptime
	head -c 209715200 /dev/zero > /mnt/a/file && sync || exit 1
	cut -d ' ' -f 1 /proc/uptime
	umount /mnt/a
done
touch /var/lib/anything 2> /dev/null || echo refused
"""
RECIPE = """
schema = 1
name = "in-order"
title = "Writing in order"
why = "What the model says of it is known."
minutes = 5
image = "1G"

[[workload]]
name = "write"
title = "Writing in order"
engine = "fio"
metric = "throughput"
weight = 1
why = "fio write, 1 MiB, libaio, queue depth 8, uncached (O_DIRECT)."
rw = "write"
block = "1M"
size = "256M"
seconds = 3
cap_seconds = 3
depth = 8
"""


def test_time_is_that_of_the_disks_and_nothing_of_the_host_is_changed(tmp_path: Path) -> None:
    ended = run(WRITING, (CARD, SSD), into=tmp_path)

    assert ended.exit_code == 0, ended.said
    *clocks, refused = ended.said.split()
    card_from, card_to, solid_from, solid_to = map(float, clocks)
    assert card_to - card_from == pytest.approx(200 * 1.048576 / 12, rel=0.15)
    assert solid_to - solid_from == pytest.approx(200 * 1.048576 / 460, rel=0.25)
    assert refused == "refused"


def test_the_program_measures_what_the_model_says(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE)
    argv = f"{sys.executable} -m fswizard run ./recipe.toml --candidates ext4,xfs --target device:/dev/solid"
    setup = f"export PYTHONPATH={ROOT}"
    ended = run(f"{setup}\n{argv} --erase solid --rounds 3..3 --output result.jsonl", (SSD,), into=tmp_path)

    assert ended.exit_code == 0, ended.said
    result = results.load(tmp_path / "result.jsonl")
    for candidate in ("ext4", "xfs"):
        rates = [it.value for it in result.samples if it.candidate == candidate and it.primary]
        assert len(rates) == 3
        assert statistics.median(rates) == pytest.approx(460e6, rel=0.1)


def test_one_that_does_not_end_is_ended(tmp_path: Path) -> None:
    with pytest.raises(TimeoutError, match="still here"):
        run("echo still here; while :; do :; done", (), into=tmp_path, limit_s=10)
