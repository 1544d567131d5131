"""What the documents did with other programs than fswizard, in the simulated machine: copying images, remounting.

Each script tells its figures in lines of `FIGURE WORKLOAD CANDIDATE VALUE`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import fswizard
from fswizard.engines.tree import TreeJob
from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.model.metrics import DURATION, THROUGHPUT, Metric
from fswizard.model.plan import Plan, Target
from fswizard.model.recipe import Recipe, Workload
from fswizard.model.result import Environment, Result, Sample
from fswizard.system import clock
from tests.long.reproduce.experiments import SIMULATED
from tests.long.uml import kernel

ROUNDS = 3
NO_JOB = TreeJob("copy", "mixed", 1, 1)
"""Placeholder: no engine did the work."""
MKFS = "mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0"
FILL = """
fill() {
	python3 - $1 $2 $3 $4 <<'END'
import os, sys
files, file_bytes, directories = map(int, sys.argv[2:])
content = os.urandom(file_bytes)
for number in range(files):
    parent = f"{sys.argv[1]}/{number * directories // files}"
    os.makedirs(parent, exist_ok=True)
    with open(f"{parent}/{number}", "wb") as file:
        file.write(content)
END
}
now() { cut -d ' ' -f 1 /proc/uptime; }
calculated() { awk "BEGIN { print $1 }"; }
"""
"""`fill DIRECTORY FILES FILE_BYTES DIRECTORIES`."""
COPYING = f"""{FILL}
rsync_files() {{
	{MKFS} /dev/archive; mount -o noatime /dev/archive /mnt/a; mount -o ro /dev/other /mnt/b
	before=$(now); rsync --archive /mnt/b/ /mnt/a; umount /mnt/a; after=$(now)
	umount /mnt/b
}}
dd_image() {{
	before=$(now)
	dd if=/dev/other of=/dev/archive bs=32M count=32 conv=fsync status=none
	e2fsck -f -p /dev/archive > /dev/null; resize2fs /dev/archive > /dev/null 2>&1
	after=$(now)
}}
{MKFS} /dev/other 1G; mount -o noatime /dev/other /mnt/b; fill /mnt/b 12000 65536 600; umount /mnt/b
for round in $(seq {ROUNDS}); do
	for way in rsync_files dd_image; do
		$way
		echo FIGURE copying ${{way%_*}} $(calculated "$after - $before")
		sleep 600
	done
done
"""
"""A filesystem copied to the shingled disk: file by file, or its image in pieces of 32 MiB, which is grown then."""


WINDOW_S, BEFORE, AFTER = 8, 3, 5
REMOUNTING = f"""{FILL}
read_bytes() {{ awk '{{ printf "%.0f", $3 * 512 }}' /sys/block/archive/stat; }}
{MKFS} /dev/other; mount -o noatime /dev/other /mnt/b
{MKFS} /dev/archive; mount -o noatime /dev/archive /mnt/a
fill /mnt/a 25000 65536 2500; umount /mnt/a
for round in $(seq {ROUNDS}); do
	sleep 3600
	mount -o strictatime /dev/archive /mnt/a
	rsync --archive /mnt/a/ /mnt/b/copy &
	for window in $(seq {BEFORE + AFTER}); do
		[ $window = {BEFORE + 1} ] && mount -o remount,ro /mnt/a
		before=$(read_bytes); sleep {WINDOW_S}; after=$(read_bytes)
		rate=$(calculated "($after - $before) / {WINDOW_S}")
		if [ $window -le {BEFORE} ]; then
			for later in rsync $(seq {AFTER}); do echo FIGURE $later atime $rate; done
		else
			echo FIGURE rsync noatime $rate; echo FIGURE $((window - {BEFORE})) noatime $rate
		fi
	done
	kill $! || true; wait; umount /mnt/a; rm -r /mnt/b/copy
done
"""


@dataclass(frozen=True, slots=True)
class ByHand:
    """A script for the simulated machine, and what its figures are."""

    script: str
    metric: Metric
    titles: Mapping[str, str]
    """Of workloads."""

    def result(self, said: str) -> Result:
        """The figures as a result like any other, though nothing was measured in rounds; the first candidate is the
        baseline."""
        metric = self.metric
        counts = Counter[tuple[str, str]]()
        samples = []
        for line in said.splitlines():
            if line.startswith("FIGURE "):
                _, workload, candidate, value = line.split()
                counts[workload, candidate] += 1
                cell = (counts[workload, candidate], candidate, workload)
                samples.append(Sample(*cell, metric.name, float(value), metric.unit, metric.better, primary=True))
        names = list(dict.fromkeys(sample.candidate for sample in samples))
        workloads = tuple(Workload(name, self.titles[name], NO_JOB.engine, NO_JOB, metric) for name in self.titles)
        plan = Plan(
            Recipe("by-hand", "By hand", "", workloads, 64 << 20, 1.0),
            tuple(Candidate(name, Filesystem(name, name, "", "")) for name in names),
            names[0],
            Target("device", ""),
        )
        environment = Environment(
            fswizard.__version__, f"{clock.utc():%Y-%m-%d}", kernel=kernel.VERSION, processor=SIMULATED
        )
        return Result(environment, plan, tuple(samples), outcome="finished")


BY_HAND: Mapping[str, ByHand] = {
    "smr-image": ByHand(COPYING, DURATION, {"copying": "Copying a filesystem"}),
    "smr-remount": ByHand(
        REMOUNTING,
        THROUGHPUT,
        {
            "rsync": "Reading with rsync",
            **{str(n): f"{(n - 1) * WINDOW_S} to {n * WINDOW_S} s after it" for n in range(1, AFTER + 1)},
        },
    ),
}
"""By experiment."""
