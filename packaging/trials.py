"""Tries each way to install fswizard on fresh Debian systems, as people would, and writes TRIALS.md beside this file.

    python3 packaging/trials.py [--missing] [WORD...]

With WORDs it tries only the rows that have them all, with --missing only those that TRIALS.md lacks, as after a call
that was interrupted; both show what was said. It fails where anything else comes of a trial than EXPECTED says. It
needs root, mmdebstrap, the packages in `dist`, and a network, which it reaches as this machine does. Each trial
has a system of its own: layers over a tree of Debian, dropped at the end, in namespaces whose mounts and programs end
with them.
"""

from __future__ import annotations

import fcntl
import hashlib
import itertools
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

HERE = Path(__file__).parent
ROOTS = HERE.parent / "build" / "roots"
DIST = HERE.parent / "dist"
TABLE = HERE / "TRIALS.md"
MISSING = "--missing"
VERBOSE = len(sys.argv) > 1
LIMIT_S = 1800.0
"""Only what hangs takes so long."""

SYSTEMS = {"Debian 12": "bookworm", "Debian 13": "trixie", "Debian unstable": "unstable"}
PACKAGES = ("ca-certificates", "e2fsprogs", "git", "make", "mount", "passwd", "python3", "sudo")
"""What README asks for, and what every installation has."""
OF_THE_HOST = ("etc/hosts", "etc/pip.conf", "etc/resolv.conf", "etc/ssl/certs/ca-certificates.crt")
"""How the network is reached."""
ENTER = """
cd "$2"
mount -t overlay -o "lowerdir=$1,upperdir=upper,workdir=work" overlay root
for place in home root tmp var/tmp; do mount --bind "disk/$place" "root/$place"; done
if [ "$3" = online ]; then mount --bind "$1.archives" root/var/cache/apt/archives; fi
mount --rbind /dev root/dev
mount -t sysfs sysfs root/sys
mount -t proc proc root/proc
shift 3
exec chroot root "$@"
"""
"""Images lie on the disk itself, as on most machines, not on layers. There are no cgroups: helpers know from a file in
/run whose are abandoned, and each system has its own."""


@dataclass(frozen=True)
class Way:
    """How fswizard comes to a machine."""

    files: str
    """What is downloaded, as in `dist`."""
    program: str
    install: str = ""
    """What needs root in it begins with `sudo`."""
    run: str = ""
    """Other than the program itself with a recipe that takes seconds."""
    before: str = ""
    """A package that root has installed."""


UNPACK = "tar xf fswizard-*.tar.gz && cd fswizard-*/"
WAYS = {
    "make": Way("*.tar.gz", "fswizard-*/.venv/bin/fswizard", UNPACK, "cd fswizard-*/ && make run"),
    "pipx": Way("*.tar.gz", ".local/bin/fswizard", f"{UNPACK} && pipx install .", before="pipx"),
    "deb": Way("*.deb", "fswizard", "sudo apt-get install --yes --quiet ./*.deb"),
    "zipapp": Way("*.pyz", "./fswizard-*.pyz"),
}
TINY = "run ./tiny.toml --rounds 1"
RECIPE = """
schema = 1
name = "tiny"
title = "Tiny"
why = "Over in seconds."
minutes = 0.2
image = "512M"
candidates = ["ext4", "xfs", "btrfs"]

[[workload]]
name = "write"
title = "Writes"
engine = "fio"
metric = "throughput"
rw = "write"
block = "1M"
size = "16M"
seconds = 0.2
"""


@dataclass(frozen=True)
class System:
    """A tree of Debian that nobody changes, and what one trial changes in it."""

    tree: Path
    layers: Path

    def run(self, user: str, command: str, *, online: bool = True) -> tuple[int, str]:
        """Exit code and output of `command`, typed by a user who has just logged in, but without a terminal."""
        unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child", *([] if online else ["--net"])]
        enter = ["sh", "-euc", ENTER, "sh", str(self.tree), str(self.layers), "online" if online else ""]
        done = subprocess.run(
            ["setpriv", "--pdeathsig", "KILL", *unshare, *enter, "runuser", "--login", user, "-c", command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=LIMIT_S,
        )  # fmt: skip
        said = done.stdout.decode("utf-8", "replace")
        if VERBOSE:
            print(f"--- {user}: {command} (exit code {done.returncode})\n{said}", flush=True)
        return done.returncode, said

    def do(self, command: str) -> None:
        """As root, what must not fail."""
        code, said = self.run("root", command)
        if code:
            raise RuntimeError(f"{command}\n{said}")

    def install(self, packages: str) -> None:
        """Without what these recommend, which is large."""
        self.do(f"apt-get update && apt-get install --yes --no-install-recommends {packages}")


Trial = tuple[str, str, str]
"""A system, a way and a situation."""
FREE, ASKS, NONE = "free", "asks", "none"
"""What sudo does: needs no password, wants one, or is not installed."""


@dataclass(frozen=True)
class Situation:
    sudo: str = FREE
    user: str = "ada"
    home: str = "/home/ada"
    offline: bool = False
    """Nothing but what was downloaded is there when the network goes."""
    later: bool = False
    """The network goes after fswizard has been used."""


SITUATIONS = {
    "a user with sudo": Situation(),
    "root": Situation(user="root", home="/root"),
    "sudo wants a password": Situation(ASKS),
    "no sudo": Situation(NONE),
    "offline after the download": Situation(offline=True),
    "offline after the first run": Situation(later=True),
    "a space in the path": Situation(home="/home/ada lovelace"),
}


class Ended(Exception):
    """Nothing that was said helps any further."""


@dataclass(frozen=True)
class Refusal:
    """What is said instead of a report, and what people do then."""

    words: str
    """All of it, but for what the package manager says before; `COMMAND` has root install `packages`."""
    then: Literal["", "online", "directories"] = ""
    """Connect the machine, or compare directories, which needs no root."""
    packages: str = ""

    def said(self, situation: Situation) -> str:
        """The words to whom is in that situation."""
        command = f"apt-get install {self.packages}"
        by_sudo = f"su - -c '{command}'" if situation.sudo == NONE else f"sudo {command}"
        return self.words.replace("COMMAND", command if situation.user == "root" else by_sudo)


HEAD = """# Trials

Made by `make test-roots`: each way to install fswizard, on a fresh Debian that has what every installation has, in each
situation, without a terminal. Whoever is refused follows the advice that comes with it; `pip` and `apt` stand for what
those programs say without a network. Seconds tell about the machine.

| system | way | situation | result | seconds |
| --- | --- | --- | --- | --: |
"""
REFUSED = """## What is said

"""
OF_OTHERS = {"pip": "Temporary failure in name resolution", "apt": "Temporary failure resolving"}
"""What these say by themselves without a network."""
OF_MAKE = ("make: ***", "Setting up .venv ...")
REFUSALS = {
    "venv": Refusal(
        "Missing: python3-venv. Installing takes a password, and there is no terminal to ask for it. Please run:\n"
        "  COMMAND",
        packages="python3-venv",
    ),
    "quick": Refusal(
        "fswizard: sqlite3 is not installed, and the recipe quick needs it.\n"
        "  Install what is missing: COMMAND, or run `fswizard doctor --install`.",
        packages="btrfs-progs sqlite3 xfsprogs",
    ),
    "programs": Refusal(
        "fswizard: fio is not installed, and the recipe tiny needs it.\n"
        "  Install what is missing: COMMAND, or run `fswizard doctor --install`.",
        packages="btrfs-progs fio xfsprogs",
    ),
    "fio": Refusal(
        "fswizard: fio is not installed, and the recipe tiny needs it.\n"
        "  Install it: COMMAND, or run `fswizard doctor --install`.",
        packages="fio",
    ),
    "password": Refusal(
        "fswizard: Making and mounting filesystems needs root, and there is no terminal where sudo could ask for your "
        "password.\n  Start fswizard in a terminal, or have root run `fswizard install-helper` and allow "
        "`/usr/libexec/fswizard/privileged/__main__.py images` in sudoers (NOPASSWD). Comparing directories on "
        "mounted filesystems needs no root: --target dir:PATH,PATH.",
        "directories",
    ),
    "allowed": Refusal(
        "fswizard: Making and mounting filesystems needs root, and there is no terminal where sudo could ask for your "
        "password.\n  Start fswizard in a terminal, or have root allow "
        "`/usr/libexec/fswizard/privileged/__main__.py images` in sudoers (NOPASSWD). Comparing directories on "
        "mounted filesystems needs no root: --target dir:PATH,PATH.",
        "directories",
    ),
    "no root": Refusal(
        "fswizard: Making and mounting filesystems needs root, and sudo is not installed.\n"
        "  Log in directly as root (su is not enough), or have sudo installed and your account allowed to use it. "
        "Comparing directories on mounted filesystems needs no root: --target dir:PATH,PATH.",
        "directories",
    ),
    "offline": Refusal(
        "Installing failed. If this machine is offline, connect it to the network and try again.", "online"
    ),
}
EXPECTED = {
    **{(way, situation): "report" for way in ("make", "deb") for situation in SITUATIONS},
    **{(way, situation): "programs, report" for way in ("pipx", "zipapp") for situation in SITUATIONS},
    ("make", "sudo wants a password"): "venv, quick, password, fio, report",
    ("make", "no sudo"): "venv, quick, no root, fio, report",
    ("make", "offline after the download"): "offline, report",
    ("make", "offline after the first run"): "report, report",
    ("pipx", "sudo wants a password"): "programs, password, report",
    ("pipx", "no sudo"): "programs, no root, report",
    ("pipx", "offline after the first run"): "programs, report, report",
    ("pipx", "offline after the download"): "pip, programs, report",
    ("deb", "sudo wants a password"): "allowed, report",
    ("deb", "no sudo"): "allowed, report",
    ("deb", "offline after the download"): "apt, report",
    ("deb", "offline after the first run"): "report, report",
    ("zipapp", "sudo wants a password"): "programs, password, report",
    ("zipapp", "no sudo"): "programs, no root, report",
    ("zipapp", "offline after the first run"): "programs, report, report",
}
"""What comes of each way in each situation: refusals by name, in order, and `report`."""


def attempts(system: System, way: Way, situation: Situation) -> Iterator[str]:
    """The name of each refusal that is met, whose advice is followed then, and of each report."""
    user, run, online = situation.user, way.run or f"{way.program} {TINY}", not situation.offline
    if way.install:
        sudo = situation.sudo == FREE and user != "root"
        by = user if sudo or "sudo " not in way.install else "root"
        install = way.install if sudo else way.install.replace("sudo ", "")
        yield from _until_done(
            system, by, f"cd {shlex.quote(situation.home)} && {install}", way, situation, online=online
        )
    yield from _until_done(system, user, run, way, situation, online=online)
    yield "report"
    if situation.later:
        yield from _until_done(system, user, run, way, situation, online=False)
        yield "report"


def _until_done(
    system: System, user: str, command: str, way: Way, situation: Situation, *, online: bool
) -> Iterator[str]:
    while True:
        code, said = system.run(user, command, online=online)
        if code == 0:
            return
        name, refusal = refused(said, situation)
        yield name
        if refusal.packages:
            system.install(refusal.packages)
        elif refusal.then == "online":
            online = True
        elif refusal.then == "directories":
            command = f"{way.program} {TINY} --target dir:one,two"
        else:
            raise Ended


def unpacked(suite: str, directory: Path) -> Path:
    """A tree of Debian from the archive that was made the first time."""
    option = os.environ.get("APT_OPTION")
    command = ["mmdebstrap", "--quiet", "--variant=apt", "--skip=cleanup/apt/lists", "--dpkgopt=force-unsafe-io"]
    command += [f"--include={','.join(PACKAGES)}"]
    command += [f"--aptopt={option}"] if option else []
    archive = ROOTS / f"{suite}-{hashlib.sha256(repr(command).encode()).hexdigest()[:8]}.tar"
    if not archive.exists():
        ROOTS.mkdir(parents=True, exist_ok=True)
        new = archive.with_suffix(".new.tar")
        subprocess.run([*command, suite, new], check=True)
        new.rename(archive)
    tree = directory / suite
    tree.mkdir()
    Path(f"{tree}.archives", "partial").mkdir(parents=True)
    subprocess.run(["tar", "--extract", "--file", archive, "--directory", tree], check=True)
    return tree


@contextmanager
def fresh(tree: Path, way: Way, situation: Situation) -> Iterator[System]:
    """A system with one user, whose home has what was downloaded."""
    with tempfile.TemporaryDirectory(prefix="trial-", dir=tree.parent) as name:
        layers = Path(name)
        for path in ("upper", "work", "root", "disk/home", "disk/root", "disk/tmp", "disk/var/tmp"):
            (layers / path).mkdir(parents=True)
        for shared in ("disk/tmp", "disk/var/tmp"):
            (layers / shared).chmod(0o1777)
        for path in OF_THE_HOST:
            if Path("/", path).exists():
                (layers / "upper" / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(Path("/", path), layers / "upper" / path)
        system, home = System(tree, layers), shlex.quote(situation.home)
        if situation.user != "root":
            groups = "" if situation.sudo == NONE else "sudo"
            system.do(f"useradd --create-home --home-dir {home} --shell /bin/bash --groups '{groups}' {situation.user}")
        if situation.sudo == FREE:
            system.do("echo '%sudo ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/free")
        if situation.sudo == NONE:
            system.do("SUDO_FORCE_REMOVE=yes apt-get purge --yes sudo")
        if way.before:
            system.install(way.before)
        deb = "*_all.deb" if tree.name == "unstable" else "*_amd64.deb"
        place = layers / "disk" / situation.home.removeprefix("/")
        for file in DIST.glob(deb if way.files == "*.deb" else way.files):
            shutil.copy(file, place)
        (place / "tiny.toml").write_text(RECIPE)
        (place / "one").mkdir()
        (place / "two").mkdir()
        system.do(f"chown --recursive {situation.user}: {home}")
        yield system


def refused(said: str, situation: Situation) -> tuple[str, Refusal]:
    """Which of the refusals it is."""
    said = "\n".join(line for line in said.splitlines() if not line.startswith(OF_MAKE)).strip()
    for name, refusal in REFUSALS.items():
        if said == refusal.said(situation) or (said.startswith("$ ") and said.endswith(refusal.words)):
            return name, refusal
    for name, words in OF_OTHERS.items():
        if words in said:
            return name, Refusal("", "online")
    return f"unexpected: {' '.join(said[-300:].split())}", Refusal("")


def row(tree: Path, trial: Trial) -> str:
    """The row of the table about it."""
    _, way, situation = trial
    began, came = time.monotonic(), list[str]()
    with fresh(tree, WAYS[way], SITUATIONS[situation]) as made, suppress(Ended):
        for each in attempts(made, WAYS[way], SITUATIONS[situation]):
            came.append(each)
    return f"| {' | '.join((*trial, ', '.join(came)))} | {time.monotonic() - began:.0f} |"


def main(words: Sequence[str]) -> int:
    """Exit code 1 where anything came that was not expected."""
    every: list[Trial] = list(itertools.product(SYSTEMS, WAYS, SITUATIONS))
    had = rows_kept() if MISSING in words else {}
    words = [word for word in words if word != MISSING]
    chosen = [trial for trial in every if trial not in had and all(word in " ".join(trial) for word in words)]

    def on(system: str) -> bool:
        good = True
        with tempfile.TemporaryDirectory(prefix="fswizard-trials-", dir="/var/tmp") as name:
            made = unpacked(SYSTEMS[system], Path(name))
            for trial in chosen:
                if trial[0] == system:
                    line = row(made, trial)
                    asked = line.split(" | ")[3] == EXPECTED.get(trial[1:])
                    print(line, "" if asked else f"expected {EXPECTED.get(trial[1:])}", flush=True)
                    good = good and asked
                    keep(line, every)
        return good

    with ThreadPoolExecutor(len(SYSTEMS)) as pool:
        return int(not all(pool.map(on, dict.fromkeys(system for system, *_ in chosen))))


def keep(line: str, order: Sequence[Trial]) -> None:
    """Put a row into the table, in the place of an earlier one."""
    with TABLE.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        rows = {**rows_kept(), **dict(rows_of(line))}
        TABLE.write_text(table([rows[trial] for trial in order if trial in rows]), "utf-8")


def rows_kept() -> dict[Trial, str]:
    return dict(rows_of(TABLE.read_text("utf-8"))) if TABLE.exists() else {}


def rows_of(text: str) -> Iterator[tuple[Trial, str]]:
    for line in text.splitlines():
        if line.startswith(tuple(f"| {system} |" for system in SYSTEMS)):
            system, way, situation, *_ = line.strip("| ").split(" | ")
            yield (system, way, situation), line


def table(rows: Sequence[str]) -> str:
    said = "\n".join(f"**{name}**\n\n```\n{each.said(Situation())}\n```\n" for name, each in REFUSALS.items())
    return f"{HEAD}{chr(10).join(rows)}\n\n{REFUSED}{said}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
