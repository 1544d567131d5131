"""Verbs in any order, with hostile arguments, to two real helpers at once: nothing but their own ever changes.

One works for nobody, as after sudo, the other for root. The model here knows what each handle may be asked for; after
every step the machine is looked at.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from fswizard.privileged import rights
from fswizard.privileged.commands import MOUNT_ROOT
from fswizard.privileged.memory_limit import LEAST_BYTES
from fswizard.privileged.mounts import Mount, parse
from fswizard.privileged.protocol import VERSION
from fswizard.privileged.scratch_image import MINIMUM_BYTES
from fswizard.privileged.volumes import ALLOWED, State
from tests.loop.channel import AS_NOBODY, BARE, ENCRYPTED, NOBODY, SET_UP, Answer, Channel, children, refused
from tests.loop.machine_state import lasting, loops_below, wait_until_gone

pytestmark = [pytest.mark.root, pytest.mark.loop]

ROOT, DAEMON = 0, 1
MINUTES = float(os.environ.get("FSWIZARD_FUZZ_MINUTES", "5"))
"""Of the long variant."""
FIRST_SEED = int(os.environ.get("FSWIZARD_FUZZ_SEED", "1"))
"""It counts on from there."""
SIZES_MIB = {"ext2": 64, "ext4": 64, "btrfs": 128, "xfs": 320}
"""The smallest image here that takes it."""
MOST = 5
"""Volumes of one helper, for the room that they take."""
UNKNOWN = 99

sides = st.integers(0, 1)
OFTEN = 9
"""Picks below it mean a volume that takes the order."""
picks = st.integers(0, OFTEN + 2)
nonsense = st.sampled_from([b"", b"{}", b"\0\xff", b'{"id":1}', b"[" * 9999, b'{"id":1,"verb":"exec"}'])
levels = st.sampled_from(["raid1", "raid1", "raid10", "raid5"])
build_arguments = st.sampled_from([["-q", "-f"], ["-f", "-n", "3"], ["-r", "/etc"]])
good = [("ext4", ["-q"], True), ("btrfs", ["-q", "-f"], True), ("ext2", ["-q"], True), ("xfs", ["-q", "-f"], True)]
bad = [("ext4", ["-b", "999"], False), ("ext4", ["-d", "/etc"], None), ("btrfs", ["-f", "/dev/loop0"], None),
       ("swap", [], None), ("../../bin/sh", [], None)]  # fmt: skip
filesystems = st.sampled_from([*good, *bad])
"""Name, arguments, and whether it can be made; None where it is refused."""
mount_options = st.sampled_from(
    [([], True), ([], True), ([], True), (["noatime"], True), (["suid"], False), (["errors=panic"], False)]
)
mount_types = st.sampled_from(["", "", "", "ext4", "tmpfs"])
"""Empty for what was made."""
names = st.sampled_from(["tank", "", "../loop0", "fswizard-0123456789abcdeg", "/dev/loop0", "-f"])
kinds = st.sampled_from(["own"] * 3 + ["foreign", "closed", "small", "file", "device", "pipe", "none", "proc"])
"""Of what is named as the directory of an image."""
programs = st.sampled_from(
    [
        ["sleep", "1000"], ["touch", "here"], ["chmod", "4777", "."], ["sh", "-c", "setsid sleep 1000 & exit 0"],
        ["sh", "-c", "ln -s /etc link; mv here there; rm -rf lost+found"], ["umount", "."], ["touch", "../victim/evil"],
    ]
)  # fmt: skip

limits = st.sampled_from([0, 0, 0, 1, 64 << 20, 256 << 20, (1 << 53) - 1])
"""Of memory, in bytes."""


@dataclass(eq=False)
class Volume:
    """What the model expects of a handle."""

    handle: int
    size_mib: int
    directory: str
    pool: str
    members: tuple[Volume, ...] = ()
    joined: bool = False
    state: State = "bare"
    made: str = ""
    content: object = None
    """Copies have the same."""
    staged: bool = False
    """The directory of its mounts was made."""
    disturbed: bool = False
    """A program that made or mounted it was killed, of which the kernel may have told as of an error."""
    programs: set[int] = field(default_factory=set)
    """Those that keep it mounted."""

    def after(self, verb: str, done: bool, filesystem: str = "ext4") -> None:
        """What an order leaves, whether it was carried out to its end or not."""
        if verb == "wipe":
            self.state, self.made = "bare", ""
        if verb == "mkfs":
            self.state, self.made = ("made", filesystem) if done else (self.state, "")
            self.content = object()
            self.disturbed = self.disturbed and not done
        if verb == "mount":
            self.state, self.staged = "mounted" if done else "made", True
        if verb == "umount":
            self.state = "made" if done else "mounted"


class Side(Channel):
    """One helper, and what is known of it."""

    def __init__(self, uid: int, place: Path) -> None:
        if uid == ROOT:
            super().__init__()
        else:
            super().__init__(before=AS_NOBODY, SUDO_UID=str(uid))
        self.uid = uid
        self.images, self.play = place / f"images-{uid}", place / f"play-{uid}"
        self.images.mkdir()
        os.chown(self.images, uid, uid)
        (self.play / "inner").mkdir(parents=True)
        for directory in (self.play, self.play / "inner"):
            os.chown(directory, uid, uid)
        self.volumes: dict[int, Volume] = {}
        self.running: set[int] = set()
        """Programs that stay."""


def succeeded(answer: Answer) -> bool:
    """Of a job."""
    assert "ended" in answer, f"refused: {answer}"
    return bool(answer["ended"]["exit_code"] == 0)


def mounts_of(pid: int | str) -> tuple[list[Mount], set[str]]:
    """All of a namespace, and the paths of those that were made there: what came from outside has a master."""
    lines = Path(f"/proc/{pid}/mountinfo").read_text("utf-8", "surrogateescape").splitlines()
    return [*parse(lines)], {mount.path for mount in parse(line for line in lines if " master:" not in line)}


class Sequences(RuleBasedStateMachine):
    steps = 0
    """Of all of them."""

    def __init__(self, place: Path) -> None:
        super().__init__()
        self.place = place

    @initialize(number=st.integers(0, 1 << 60))
    def begin(self, number: int) -> None:
        """The number makes each sequence one of a kind: what goes wrong by chance is not taken for a changed rule."""
        self.top = Path(tempfile.mkdtemp(dir=self.place))
        self.top.chmod(0o755)
        os.chown(self.top, DAEMON, DAEMON)
        self.victim, self.closed = make_victim(self.top), self.top / "closed"
        self.closed.mkdir(0o700)
        self.undo = contextlib.ExitStack()
        self.sides = [Side(uid, self.top) for uid in (NOBODY, ROOT)]
        for each in self.sides:
            self.undo.enter_context(each)
            each.ask("hello")
        self.pids = [each.helper_pid for each in self.sides]
        eraser = Channel(rights.ERASE_UNATTENDED, before=AS_NOBODY, SUDO_UID=str(NOBODY))
        self.eraser = self.undo.enter_context(eraser)
        """A third one, which may claim disks."""
        self.at_start = [mounts_of(pid) for pid in self.pids]
        self.own_mounts = mounts_of("self")[1]
        self.seen = digest(self.victim)
        for side in range(2):
            self.attach(side, "own", 128)
            self.attach(side, "own", 128)

    def teardown(self) -> None:
        self.undo.close()
        wait_until_gone(lambda: loops_below(self.top), "the helpers' loop devices are gone")
        assert digest(self.victim) == self.seen
        shutil.rmtree(self.top)

    def choose(self, side: Side, verb: str, pick: int) -> int:
        """A handle: mostly one that takes the order, else any, also one that there is not."""
        if pick < OFTEN and not self.fitting(side, verb):
            self.bring(side, verb, pick)
        fitting = self.fitting(side, verb)
        handles = fitting if fitting and pick < OFTEN else [*side.volumes, UNKNOWN]
        return handles[pick % len(handles)]

    def fitting(self, side: Side, verb: str) -> list[int]:
        """Handles that take the order."""
        found = (volume for handle in side.volumes if (volume := self.allowed(side, verb, handle)))
        if verb in ("build", "array", "encrypt", "join"):
            return [volume.handle for volume in found if bool(volume.members) == (verb != "join")]
        return [volume.handle for volume in found]

    def bring(self, side: Side, verb: str, pick: int) -> None:
        """Do what comes before the verb in a run, as far as that can be done."""
        number = self.sides.index(side)
        if verb in ("build", "array", "encrypt") and len(self.fitting(side, "join")) >= 2:
            self.join(number, [0, 1])
        elif "bare" in ALLOWED[verb]:
            self.attach(number, "own", 128)
        elif self.fitting(side, "mkfs"):
            self.mkfs(number, 0, good[pick % 2])
            if verb != "mount":
                self.mount(number, 0, "", ([], True))

    def allowed(self, side: Side, verb: str, handle: int) -> Volume | None:
        """The volume, where it takes the order."""
        volume = side.volumes.get(handle)
        if volume is None or volume.joined or volume.state not in ALLOWED[verb]:
            return None
        mounted = (other.content for other in side.volumes.values() if other.state == "mounted")
        return None if verb == "mount" and volume.content in mounted else volume

    def ordered(
        self, side: int, verb: str, pick: int, *, wrong: bool = False, **fields: Any
    ) -> tuple[Volume | None, Answer]:
        """What an order comes to; the volume, where it takes it and nothing is wrong with it, else it was refused."""
        at = self.sides[side]
        handle = self.choose(at, verb, pick)
        answer = at.ask(verb, handle=handle, **fields)
        volume = None if wrong else self.allowed(at, verb, handle)
        if volume is None:
            refused(answer)
        return volume, answer

    # ---------------------------------------------------------------- images

    @rule(side=sides, kind=kinds, size=st.sampled_from([64, 128, 128, 320]))
    def attach(self, side: int, kind: str, size: int) -> None:
        at = self.sides[side]
        if len(at.volumes) >= MOST:
            return
        size_bytes = MINIMUM_BYTES - 1 if kind == "small" else size << 20
        answer = at.ask("attach", given=self.named(at, kind), size_bytes=size_bytes)
        works = kind == "own" or (kind == "closed" and at.uid == ROOT)  # root, too, has no right over others' files
        if not works:
            refused(answer)
            return
        assert succeeded(answer), answer
        self.hold(at, answer["ended"]["attached"], size)
        assert not [*at.images.iterdir()], "an image has no name"

    def named(self, side: Side, kind: str) -> int | None:
        """What is named as the directory, as if its caller could open it."""
        if kind == "pipe":
            reader, writer = os.pipe()
            os.close(writer)
            return reader
        paths = {
            "own": side.images, "small": side.images, "foreign": self.victim, "closed": self.closed,
            "file": self.victim / "file", "device": Path("/dev/null"), "proc": Path("/proc"),
        }  # fmt: skip
        return None if kind == "none" else os.open(paths[kind], os.O_RDONLY)

    def hold(self, side: Side, ok: Answer, size: int, members: tuple[Volume, ...] = ()) -> None:
        assert ok["handle"] not in side.volumes
        side.volumes[ok["handle"]] = Volume(ok["handle"], size, ok["directory"], ok["pool"], members)

    @rule(side=sides, pick=picks)
    def detach(self, side: int, pick: int) -> None:
        at = self.sides[side]
        volume, answer = self.ordered(side, "detach", pick)
        if volume is None:
            return
        assert "ok" in answer, answer
        for member in volume.members:
            member.joined = False
        del at.volumes[volume.handle]

    @rule(side=sides, chosen=st.lists(picks, min_size=1, max_size=4, unique=True))
    def join(self, side: int, chosen: list[int]) -> None:
        at = self.sides[side]
        if len(at.volumes) > MOST:
            return
        handles = [self.choose(at, "join", pick) for pick in chosen]
        members = [volume for handle in handles if (volume := self.allowed(at, "join", handle))]
        answer = at.ask("join", handles=handles)
        distinct = len({*handles}) == len(handles) == len(members) >= 1
        if not distinct or any(member.members for member in members):
            refused(answer)
            return
        assert "ok" in answer, answer
        self.hold(at, answer["ok"], members[0].size_mib, tuple(members))
        for member in members:
            member.joined = True

    @rule(side=sides, extra=nonsense)
    def talk_nonsense(self, side: int, extra: bytes) -> None:
        self.sides[side].send(extra)
        refused(self.sides[side].next_answer(), code="invalid")

    @rule(side=sides, fields=st.just(SET_UP))
    def set_up(self, side: int, fields: dict[str, object]) -> None:
        """It takes a helper of its own."""
        refused(self.sides[side].ask("set_up", **fields), "is not allowed")

    # ------------------------------------------------------------ filesystems

    @rule(side=sides, pick=picks, what=filesystems)
    def mkfs(self, side: int, pick: int, what: tuple[str, list[str], bool | None]) -> None:
        filesystem, arguments, works = what
        fields = {"filesystem": filesystem, "arguments": arguments}
        volume, answer = self.ordered(side, "mkfs", pick, wrong=works is None, **fields)
        if volume is None:
            return
        fits = works and volume.size_mib >= SIZES_MIB[filesystem]
        assert succeeded(answer) == fits or volume.state == "stacked", (answer, volume)
        volume.after("mkfs", succeeded(answer), filesystem)

    @rule(side=sides, pick=picks, level=levels, missing=st.integers(0, 2), arguments=build_arguments)
    def build(self, side: int, pick: int, level: str, missing: int, arguments: list[str]) -> None:
        wrong = missing > 1 or level == "raid5" or "-r" in arguments
        fields = {"filesystem": "btrfs", "arguments": arguments, "level": level, "missing": missing}
        volume, answer = self.ordered(side, "build", pick, wrong=wrong, **fields)
        if volume is None or len(volume.members) < 2:
            refused(answer)
            return
        roomy = all(member.size_mib >= SIZES_MIB["btrfs"] for member in volume.members)
        if "-n" in arguments:
            assert not succeeded(answer)
        elif roomy and level == "raid1":
            assert succeeded(answer), answer
        volume.after("mkfs", succeeded(answer), "btrfs")

    @rule(side=sides, pick=picks, level=st.sampled_from(["1", "5", "0"]), missing=st.integers(0, 2))
    def array(self, side: int, pick: int, level: str, missing: int) -> None:
        fields = {"level": level, "chunk_kib": 64 if level == "5" else 0, "bitmap": "none", "missing": missing}
        volume, answer = self.ordered(side, "array", pick, wrong=missing > 1, **fields)
        enough = volume and len(volume.members) >= {"1": 2, "5": 3, "0": UNKNOWN}[level]
        if volume is None or not enough or "error" in answer:
            refused(answer)
            return
        if succeeded(answer):  # where the kernel has md
            volume.state = "stacked"

    @rule(side=sides, pick=picks, cipher=st.sampled_from(["aes-xts-plain64", "null"]), sector=st.sampled_from([512, 1]))
    def encrypt(self, side: int, pick: int, cipher: str, sector: int) -> None:
        fields = {**ENCRYPTED, "cipher": cipher, "sector_bytes": sector}
        volume, answer = self.ordered(side, "encrypt", pick, wrong=cipher == "null" or sector == 1, **fields)
        if volume is None or len(volume.members) != 1 or "error" in answer:
            refused(answer)
            return
        if succeeded(answer):  # where the kernel has the device mapper
            volume.state = "stacked"

    @rule(side=sides, pick=picks)
    def wipe(self, side: int, pick: int) -> None:
        volume, answer = self.ordered(side, "wipe", pick)
        if volume is not None:
            assert succeeded(answer), answer
            volume.after("wipe", True)

    @rule(side=sides, pick=picks, source=picks)
    def copy(self, side: int, pick: int, source: int) -> None:
        at = self.sides[side]
        handles = self.choose(at, "copy", pick), self.choose(at, "mount", source)
        volume, other = self.allowed(at, "copy", handles[0]), at.volumes.get(handles[1])
        if other and (other.joined or other.state != "made"):
            other = None
        answer = at.ask("copy", handle=handles[0], source=handles[1])
        alone = volume and other and len(volume.members) < 2 and len(other.members) < 2
        if not volume or not other or not alone or volume.size_mib != other.size_mib:
            refused(answer)
            return
        assert succeeded(answer), answer
        volume.after("mkfs", True, other.made)
        volume.content = other.content

    @rule(side=sides, pick=picks, kind=mount_types, options=mount_options)
    def mount(self, side: int, pick: int, kind: str, options: tuple[list[str], bool]) -> None:
        at = self.sides[side]
        handle = self.choose(at, "mount", pick)
        volume = self.allowed(at, "mount", handle)
        filesystem = kind or (volume.made if volume else "ext4")
        answer = at.ask("mount", handle=handle, filesystem=filesystem, options=options[0])
        if not volume or filesystem != volume.made or not options[1]:
            refused(answer)
            return
        assert succeeded(answer), answer
        volume.after("mount", True)

    @rule(side=sides, pick=picks)
    def umount(self, side: int, pick: int) -> None:
        volume, answer = self.ordered(side, "umount", pick)
        if volume is None:
            return
        assert succeeded(answer) == (not volume.programs), (answer, volume)
        volume.after("umount", not volume.programs)

    @rule(side=sides, pick=picks, verb=st.sampled_from(["sync", "inspect"]), reading=st.booleans())
    def look_after(self, side: int, pick: int, verb: str, reading: bool) -> None:
        volume, answer = self.ordered(side, verb, pick, **({"reading": reading} if verb == "inspect" else {}))
        assert volume is None or succeeded(answer), answer

    @rule(side=sides, pick=picks, kinds=st.sampled_from([["ext4-sysfs"], ["btrfs-sysfs"], [], ["../../etc"]]))
    def health(self, side: int, pick: int, kinds: list[str]) -> None:
        volume, answer = self.ordered(side, "health", pick, wrong=kinds == ["../../etc"], counted=kinds)
        assert volume is None or volume.disturbed or not any(answer["ok"]["counters"].values()), answer

    @rule(side=sides, pick=picks, rw=st.sampled_from(["write", "randread", "randwrite", "trim", "../x"]),
          size_mib=st.sampled_from([16, 1 << 10]), direct=st.booleans())  # fmt: skip
    def bare(self, side: int, pick: int, rw: str, size_mib: int, direct: bool) -> None:
        fields = {**BARE, "rw": rw, "size_bytes": size_mib << 20, "milliseconds": 100, "direct": direct}
        volume, answer = self.ordered(side, "bare", pick, wrong=rw in ("trim", "../x") or size_mib > 16, **fields)
        assert volume is None or succeeded(answer), answer

    # ---------------------------------------------------------- two at a time

    @rule(side=sides, pick=picks, first=st.sampled_from(["wipe", "inspect", "umount"]),
          second=st.sampled_from(["detach", "wipe", "mount", "join"]))  # fmt: skip
    def order_while_busy(self, side: int, pick: int, first: str, second: str) -> None:
        at = self.sides[side]
        handle = self.choose(at, first, pick)
        volume = self.allowed(at, first, handle)
        if not volume or volume.programs:
            return
        whole: dict[str, Answer] = {
            "inspect": {"handle": handle, "reading": False},
            "mount": {"handle": handle, "filesystem": "ext4", "options": []},
            "join": {"handles": [handle, handle]},
        }
        done, busy = at.order(*((verb, whole.get(verb, {"handle": handle})) for verb in (first, second)))
        refused(busy, code="busy")
        assert succeeded(done), done
        volume.after(first, True)

    @rule(side=sides, pick=picks, verb=st.sampled_from(["wipe", "mkfs", "mount", "umount"]))
    def kill_what_was_just_ordered(self, side: int, pick: int, verb: str) -> None:
        at = self.sides[side]
        handle = self.choose(at, verb, pick)
        volume = self.allowed(at, verb, handle)
        if not volume or volume.state == "stacked" or volume.programs:
            return
        fields: dict[str, Answer] = {
            "mkfs": {"filesystem": "ext4", "arguments": ["-q"]},
            "mount": {"filesystem": volume.made, "options": []},
        }
        order = {"handle": handle, **fields.get(verb, {})}
        done, _ = at.order((verb, order), ("kill", {"job": at.last_job + 1}))
        volume.after(verb, succeeded(done))
        volume.disturbed = True

    # --------------------------------------------------------------- programs

    @rule(side=sides, pick=picks, argv=programs, memory=limits)
    def run_on_a_volume(self, side: int, pick: int, argv: list[str], memory: int) -> None:
        at = self.sides[side]
        volume = at.volumes.get(self.choose(at, "umount", pick))
        mounted = volume is not None and volume.state == "mounted"
        staged = at.uid == ROOT and volume is not None and volume.staged  # root's own directory, below MOUNT_ROOT
        directory = volume.directory if volume else f"{MOUNT_ROOT}/{UNKNOWN}"
        job = self.run_program(at, argv, directory, mounted or staged, memory)
        if job and volume and mounted:
            volume.programs.add(job)

    @rule(side=sides, argv=programs, below=st.sampled_from(["", "/inner", "/..", "/inner/../.."]))
    def run_elsewhere(self, side: int, argv: list[str], below: str) -> None:
        at = self.sides[side]
        self.run_program(at, argv, f"{at.play}{below}", os.path.isdir(f"{at.play}{below}"))

    @rule(side=sides, argv=programs, below=st.sampled_from(["", "/inner", "/link", "/file"]))
    def run_at_the_victims(self, side: int, argv: list[str], below: str) -> None:
        """The user may enter the directory as anybody may, and change nothing there."""
        at = self.sides[side]
        if at.uid != ROOT:
            self.run_program(at, argv, f"{self.victim}{below}", below != "/file")

    def run_program(self, side: Side, argv: list[str], directory: str, works: bool, memory: int = 0) -> int:
        """The job, where it stays."""
        fields = {"argv": argv, "cwd": directory, "env": {}, "memory_bytes": memory}
        works = works and not 0 < memory < LEAST_BYTES
        answer = side.order(("run", fields), stays=works)[0]
        if not works:
            refused(answer)
            return 0
        assert "ok" in answer, answer
        job = int(answer["ok"]["job"])
        if argv[0] != "sleep":
            side.end(job)
            return 0
        side.running.add(job)
        return job

    @rule(side=sides, pick=picks)
    def kill(self, side: int, pick: int) -> None:
        at = self.sides[side]
        job = [*sorted(at.running), UNKNOWN << 20][pick % (len(at.running) + 1)]
        assert "ok" in at.ask("kill", job=job)
        if job in at.running:
            assert at.end(job)["exit_code"] == -9
            at.running.remove(job)
            for volume in at.volumes.values():
                volume.programs.discard(job)

    # ---------------------------------------------------- what the user swaps

    @rule(side=sides, how=st.sampled_from(["away", "link", "back"]))
    def swap_a_directory(self, side: int, how: str) -> None:
        """Renamed, or with a link to somebody else's in its place."""
        play = self.sides[side].play
        aside = play.with_name(f"{play.name}-aside")
        if play.is_symlink():
            play.unlink()
        elif play.exists():
            play.rename(aside)
        if how == "link":
            play.symlink_to(self.victim)
        if how == "back":
            aside.rename(play)

    @rule(side=sides)
    def rename_where_the_images_were(self, side: int) -> None:
        at = self.sides[side]
        at.images = at.images.rename(at.images.with_name(f"{at.images.name}-"))

    # ------------------------------------------------------- what is not ours

    @rule(side=sides, name=names, pick=picks)
    def reclaim(self, side: int, name: str, pick: int) -> None:
        at = self.sides[side]
        handle = self.choose(at, "detach", pick)
        refused(at.ask("reclaim", pool=name))
        volume = at.volumes.get(handle)
        if volume and volume.state != "stacked":
            answer = at.ask("reclaim", pool=volume.pool)
            assert "ok" in answer or answer["error"]["code"] == "busy", "there is nothing of that name, or it is held"

    @rule(side=sides, pick=picks, shown=st.sampled_from(["", "ext4"]))
    def claim(self, side: int, pick: int, shown: str) -> None:
        """A loop device of its own, or of the other helper."""
        loops = loops_below(self.top)
        block = Path("/sys/block", loops[pick % len(loops)].split()[0] if loops else "none")
        about = {name: (block / name).read_text().strip() if loops else "0" for name in ("dev", "diskseq", "size")}
        backing = (block / "loop/backing_file").read_text().strip() if loops else ""
        device = {"number": about["dev"], "diskseq": int(about["diskseq"]), "size_bytes": int(about["size"]) * 512}
        refused(self.sides[side].ask("claim", **device, serial=backing, shown=shown))
        refused(self.eraser.ask("claim", **device, serial=backing, shown=shown))

    # ------------------------------------------------------- after every step

    @invariant()
    def all_is_well(self) -> None:
        Sequences.steps += 1
        for side, pid in zip(self.sides, self.pids):
            ok = side.ask("hello")["ok"]
            assert (ok["protocol"], ok["uid"], side.helper_pid) == (VERSION, side.uid, pid)
        assert digest(self.victim) == self.seen, "what is another's is unchanged"
        self.nothing_is_mounted_but_on_the_stage()
        self.there_are_no_other_loop_devices()
        self.nothing_runs_but_the_programs_that_stay()

    def nothing_is_mounted_but_on_the_stage(self) -> None:
        everything, made_here = mounts_of("self")
        assert made_here == self.own_mounts
        for side, pid, (before, made_before) in zip(self.sides, self.pids, self.at_start):
            now, made = mounts_of(pid)
            assert all(path == MOUNT_ROOT or path.startswith(f"{MOUNT_ROOT}/") for path in made - made_before)
            lost = {mount.path for mount in before} - {mount.path for mount in now}
            assert not lost & {mount.path for mount in everything}
            mounted = sorted(volume.directory for volume in side.volumes.values() if volume.state == "mounted")
            assert sorted(path.path for path in now if path.path.startswith(f"{MOUNT_ROOT}/")) == mounted

    def there_are_no_other_loop_devices(self) -> None:
        expected = sum(not volume.members for side in self.sides for volume in side.volumes.values())
        assert len(loops_below(self.top)) >= expected
        wait_until_gone(lambda: loops_below(self.top)[expected:], "a detached loop device is gone")

    def nothing_runs_but_the_programs_that_stay(self) -> None:
        for side, pid in zip(self.sides, self.pids):
            count = len(side.running)
            wait_until_gone(lambda p=pid, n=count: [*map(str, children(p)[n:])], "what was run is gone")
            assert len(children(pid)) == count


def make_victim(top: Path) -> Path:
    """A tree of another user's, with a file of root's in it."""
    victim = top / "victim"
    (victim / "inner").mkdir(parents=True)
    (victim / "file").write_text("root's")
    (victim / "inner" / "file").write_text("daemon's")
    (victim / "link").symlink_to("inner")
    for path in (victim, victim / "inner", victim / "inner" / "file"):
        os.chown(path, DAEMON, DAEMON)
    (victim / "inner" / "file").chmod(0o600)
    return victim


def digest(tree: Path) -> dict[str, tuple[object, ...]]:
    found: dict[str, tuple[object, ...]] = {}
    for path in (tree, *sorted(tree.rglob("*"))):
        status = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path)] = (status.st_ino, status.st_mode, status.st_uid, status.st_gid, status.st_mtime_ns, content)
    return found


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that every user reaches."""
    with tempfile.TemporaryDirectory(prefix="fswizard-sequences-", dir="/var/tmp") as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)


def drive(machine: Any, number: int, examples: int, steps: int, *phases: Phase) -> None:
    wanted = settings(
        max_examples=examples, stateful_step_count=steps, deadline=None, database=None,
        suppress_health_check=[*HealthCheck], phases=phases,
    )  # fmt: skip
    run_state_machine_as_test(seed(number)(machine), settings=wanted)


@pytest.mark.xfs
@pytest.mark.btrfs
def test_no_order_of_verbs_reaches_anything_else(place: Path) -> None:
    drive(lambda: Sequences(place), 1, 3, 15, Phase.generate, Phase.shrink)


@pytest.mark.slow
@pytest.mark.xfs
@pytest.mark.btrfs
def test_no_order_of_verbs_reaches_anything_else_for_minutes(place: Path) -> None:
    lasts, number = lasting(MINUTES * 60), FIRST_SEED
    while lasts():
        drive(lambda: Sequences(place), number, 10, 50, Phase.generate)
        print(f"seed {number}, {Sequences.steps} steps so far", file=sys.stderr)
        number += 1
