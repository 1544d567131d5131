"""What the documents did with other programs than fswizard, in the test machine: copying images, remounting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fswizard.importers import table
from fswizard.model.result import Result
from fswizard.model.units import three_digits
from fswizard.system import clock
from tests.vm.machine import Machine

ROUNDS = 3
FILES, FILE_BYTES, DIRECTORIES = 12_000, 64 << 10, 600
MAKE = f"""
import os, sys
content = os.urandom({FILE_BYTES})
for number in range({FILES}):
    parent = f"{{sys.argv[1]}}/{{number % {DIRECTORIES}}}"
    os.makedirs(parent, exist_ok=True)
    with open(f"{{parent}}/{{number}}", "wb") as file:
        file.write(content)
"""
MKFS = "mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0"
FILL = f"{MKFS} $1 && mount -o noatime $1 /mnt && python3 -c '{MAKE}' /mnt && umount /mnt"
CLOCKED = 'before=$(date +%s.%N); {}; after=$(date +%s.%N); echo "$before $after"'
COPYING = {
    "rsync": (
        f"{MKFS} $2 && mount -o noatime $2 /srv && mount -o ro $1 /mnt",
        "rsync --archive /mnt/ /srv && umount /srv && umount /mnt",
    ),
    "dd": (
        ":",
        "dd if=$1 of=$2 bs=32M conv=fsync status=none; e2fsck -f -p $2 > /dev/null; resize2fs $2 > /dev/null 2>&1",
    ),
}
"""What is done before, and what is timed; after `dd` the filesystem grows to the size of the larger disk."""
RATE_S = 10
REMOUNT = f"""
mount -o strictatime $1 /mnt && rm -rf /srv/copy
count() {{ awk '{{ print $3 * 512 }}' /sys/class/block/$(basename $(readlink -f $1))/stat; }}
rsync --archive /mnt/ /srv/copy & sleep 2
a=$(count $1); sleep {RATE_S}; b=$(count $1)
mount -o remount,ro $1 /mnt
c=$(count $1); sleep {RATE_S}; d=$(count $1)
kill $!; wait; umount /mnt
echo $((b - a)) $((d - c))
"""
"""Bytes that rsync reads while access times are written, and after the source has become read-only."""


def copying(machine: Machine, archive: str, other: str) -> Result:
    """A filesystem copied to the shingled disk: file by file, or its image in pieces of 32 MiB."""
    _run(machine, FILL, other)
    figures: dict[str, list[float]] = {name: [] for name in COPYING}
    for number in range(ROUNDS):
        for name in [*COPYING][:: -1 if number % 2 else 1]:
            before, timed = COPYING[name]
            _run(machine, before, other, archive)
            began, ended = _run(machine, CLOCKED.format(timed), other, archive).split()
            figures[name].append(float(ended) - float(began))
    metric = 'metric = "duration"\nunit = "s"\nbetter = "lower"'
    return _result(machine, "smr-image", 'name = "copying"\ntitle = "Copying a filesystem"', metric, figures)


def remounting(machine: Machine, archive: str, other: str) -> Result:
    """The shingled disk is read with rsync, and remounted read-only in the middle of it."""
    _run(machine, FILL, archive)
    _run(machine, f"{MKFS} $1 && mount $1 /srv", other)
    pairs = [_run(machine, REMOUNT, archive).split() for _ in range(ROUNDS)]
    figures = dict(zip(("atime", "noatime"), ([int(n) / RATE_S for n in column] for column in zip(*pairs))))
    metric = 'metric = "throughput"\nunit = "B/s"\nbetter = "higher"'
    return _result(machine, "smr-remount", 'name = "rsync"\ntitle = "Reading with rsync"', metric, figures)


BY_HAND: Mapping[str, Callable[[Machine, str, str], Result]] = {"smr-image": copying, "smr-remount": remounting}
"""By experiment; each takes the shingled disk and another one."""


def _run(machine: Machine, script: str, *arguments: str) -> str:
    return machine.ok("sh", "-c", script, "sh", *arguments, timeout_s=3600)


def _result(machine: Machine, name: str, workload: str, metric: str, figures: Mapping[str, Sequence[float]]) -> Result:
    """The figures as a result like any other; its intervals are those of figures that were not taken in rounds."""
    told = ", ".join(f"{key} = [{', '.join(map(three_digits, values))}]" for key, values in figures.items())
    text = f"""
schema = 1
name = "{name}"
title = "By hand"
source = "commands in the test machine"
measured = "{clock.utc():%Y-%m-%d}"
kernel = "{machine.sh("uname -r").strip()}"
processor = "{machine.sh("sed -n 's/^model name.*: //p' /proc/cpuinfo").strip()}"
[[workload]]
{workload}
{metric}
figures = {{ {told} }}
"""
    return table.parse(text, name)
