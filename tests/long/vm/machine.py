"""A machine of our own in QEMU: Debian with its stock kernel, udev and systemd, and the disks that a test asks for.

The processor is emulated: slow, but the same everywhere, without root and without /dev/kvm.
"""

from __future__ import annotations

import base64
import compileall
import contextlib
import json
import os
import socket
import subprocess
import sysconfig
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from fswizard.system.process import Finished
from tests.long.vm.disks import Disk
from tests.long.vm.root import Kind, Root, build

CHECKOUT = Path(__file__).parents[3]
BOOT_S = 900.0
TIMEOUT_S = 600.0
"""Both are far more than anything takes, since other work may go on beside it."""
WITHOUT = (
    *("dev-hugepages.mount", "dev-mqueue.mount", "e2scrub_reap.service", "getty-static.service", "modprobe@.service"),
    *("proc-sys-fs-binfmt_misc.automount", "sys-kernel-config.mount", "sys-kernel-debug.mount"),
    *("sys-kernel-tracing.mount", "systemd-binfmt.service", "systemd-journal-flush.service"),
    *("systemd-random-seed.service", "systemd-sysusers.service", "systemd-update-utmp.service"),
    "systemd-update-utmp-runlevel.service",
)
"""Units of systemd that nothing here needs: nearly half of what it takes to boot after the kernel."""
KERNEL = " ".join((
    "root=/dev/vda rootfstype=ext4 rw console=ttyS0 quiet mitigations=off no_timer_check panic=-1 psi=0 audit=0",
    *(f"systemd.mask={unit}" for unit in WITHOUT),
))  # fmt: skip
"""It counts no pressure: an emulated processor is always busy, and each run would wait a minute for it to be quiet."""
PROCESSOR = "qemu64"
"""The plainest: five levels of page tables, and what else newer ones have, cost a quarter more to emulate."""
COUNTED = "shift=1,sleep=on"
"""An instruction takes 2 ns, and whoever waits for a disk waits in real time."""
_NOTHING: Mapping[str, Any] = {}
T = TypeVar("T")


def awaited(look: Callable[[], T], good: Callable[[T], object], limit_s: float = TIMEOUT_S, pause_s: float = 1.0) -> T:
    """What is there to be seen once it is as it has to be."""
    deadline = time.monotonic() + limit_s
    while not good(found := look()):
        assert time.monotonic() < deadline, found
        time.sleep(pause_s)
    return found


class Channel:
    """A conversation in QEMU's JSON, one object a line: with its monitor (QMP) or with the agent inside."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lines = connection.makefile("r", encoding="utf-8")
        self._events: list[dict[str, Any]] = []

    def ask(self, command: str, arguments: Mapping[str, Any] = _NOTHING) -> Any:
        """The answer to one command. Raises RuntimeError with QEMU's words where it is refused."""
        self._connection.sendall(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        while True:
            answer = self._next(TIMEOUT_S)
            if "error" in answer:
                raise RuntimeError(f"{command}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]
            self._events.append(answer)

    def await_event(self, name: str, timeout_s: float, **data: Any) -> None:
        """Waits for an event with these fields, among those that nobody waited for yet."""
        deadline = time.monotonic() + timeout_s
        while True:
            for event in self._events:
                if event.get("event") == name and data.items() <= event["data"].items():
                    self._events.remove(event)
                    return
            self._events.append(self._next(deadline - time.monotonic()))

    def close(self) -> None:
        self._lines.close()
        self._connection.close()

    def _next(self, timeout_s: float) -> Any:
        self._connection.settimeout(max(0.1, timeout_s))
        line = self._lines.readline()
        if not line:
            raise ConnectionError("QEMU has ended")
        return json.loads(line)


class Running:
    """A program that runs inside."""

    def __init__(self, agent: Channel, argv: tuple[str, ...], timeout_s: float) -> None:
        self._agent = agent
        self._argv = argv
        self._timeout_s = timeout_s
        self._started_s = time.monotonic()
        answer = agent.ask("guest-exec", {"path": argv[0], "arg": argv[1:], "capture-output": True})
        self._pid: int = answer["pid"]
        self._status: dict[str, Any] = {"exited": False}

    @property
    def alive(self) -> bool:
        if not self._status["exited"]:  # the agent tells of an end but once
            self._status = self._agent.ask("guest-exec-status", {"pid": self._pid})
        return not self._status["exited"]

    def kill(self) -> None:
        """As nothing can be caught; what it has started is left alone."""
        self._agent.ask("guest-exec", {"path": "sh", "arg": ["-c", f"kill -KILL {self._pid}"]})

    def wait(self) -> Finished:
        """Waits for its end. Raises TimeoutError when it takes too long, without ending it."""
        while self.alive:
            elapsed_s = time.monotonic() - self._started_s
            if elapsed_s > self._timeout_s:
                raise TimeoutError(f"{' '.join(self._argv)} still runs")
            time.sleep(min(2.0, max(0.2, elapsed_s / 10)))  # each question costs the machine some milliseconds
        code = self._status["exitcode"] if "exitcode" in self._status else -self._status["signal"]
        out, err = (base64.b64decode(self._status.get(name, "")) for name in ("out-data", "err-data"))
        return Finished(self._argv, code, out, err, time.monotonic() - self._started_s)


@dataclass
class Machine:
    """A machine with files of the host below `directory` as disks and console."""

    root: Root
    directory: Path
    disks: Sequence[Disk]
    keeps_root: bool
    counts_instructions: bool

    def boot(self) -> None:
        """Returns when everything that starts at boot has started. Raises RuntimeError when it does not come up."""
        (monitor, monitor_end), (agent, agent_end) = socket.socketpair(), socket.socketpair()
        argv = self._command(monitor_end.fileno(), agent_end.fileno())
        with monitor_end, agent_end, (self.directory / "qemu.log").open("wb") as log:
            ends = (monitor_end.fileno(), agent_end.fileno())
            self._qemu = subprocess.Popen(argv, pass_fds=ends, stderr=log)
        self._monitor, self._agent = Channel(monitor), Channel(agent)
        with contextlib.ExitStack() as undo:
            undo.callback(self.cut_power)
            try:
                self._monitor.ask("qmp_capabilities")
                self._monitor.await_event("VSERPORT_CHANGE", BOOT_S, id="agent", open=True)
                self.run("systemctl", "is-system-running", "--wait", timeout_s=BOOT_S)
                mounted = self.run("mount", "--all", timeout_s=BOOT_S)  # also what took too long for systemd
                if mounted.exit_code:
                    raise OSError(mounted.output)
            except OSError as error:
                words = "\n".join(log.read_text(errors="replace") for log in self.directory.glob("*.log"))
                raise RuntimeError(f"The machine did not come up: {error}\n{words}") from error
            undo.pop_all()

    def start(self, *argv: str, timeout_s: float = TIMEOUT_S) -> Running:
        return Running(self._agent, argv, timeout_s)

    def run(self, *argv: str, timeout_s: float = TIMEOUT_S) -> Finished:
        """Runs a program to its end, as root; `fswizard` is the checkout's."""
        return self.start(*argv, timeout_s=timeout_s).wait()

    def ok(self, *argv: str, timeout_s: float = TIMEOUT_S) -> str:
        """What a program says that has to end well."""
        done = self.run(*argv, timeout_s=timeout_s)
        assert done.exit_code == 0, (argv, done.output)
        return done.stdout.decode()

    def sh(self, script: str) -> str:
        return self.ok("sh", "-c", script)

    def write(self, path: str, text: str) -> None:
        """Makes a file inside."""
        self.ok("sh", "-c", 'printf %s "$2" > "$1"', "sh", path, text)

    def cut_power(self) -> None:
        """What was not written to a disk yet is lost. Boot it anew to see what is left."""
        self._qemu.kill()
        self._qemu.wait()
        self._monitor.close()
        self._agent.close()

    def plug(self, disk: Disk) -> None:
        limits, medium = _backing(disk, self.directory)
        if limits:
            self._monitor.ask("object-add", limits)
        self._monitor.ask("blockdev-add", medium)
        for device in disk.devices:
            self._monitor.ask("device_add", device)

    def pull(self, disk: Disk) -> None:
        """Takes the disk away as a hand would; returns when it is gone."""
        self._monitor.ask("device_del", {"id": disk.serial})
        self._monitor.await_event("DEVICE_DELETED", TIMEOUT_S, device=disk.serial)
        self._monitor.ask("blockdev-del", {"node-name": f"{disk.serial}-medium"})

    def _command(self, monitor: int, agent: int) -> list[str]:
        image, snapshot = self.root.image, "on"
        if self.keeps_root:
            image, snapshot = self.directory / "root.raw", "off"
        if self.keeps_root and not image.exists():
            subprocess.run(["cp", "--sparse=always", self.root.image, image], check=True)
            # With a journal, so that it can be written to again after a power failure.
            subprocess.run(["tune2fs", "-j", image], check=True, stdout=subprocess.DEVNULL)
        options = [
            *("-nodefaults", "-no-reboot", "-display none", "-machine q35,accel=tcg", "-smp 1", "-m 2G"),
            f"-cpu {PROCESSOR}",
            f"-kernel {self.root.kernel}",
            f"-initrd {self.root.initrd}",
            f"-append {KERNEL}",
            f"-serial file:{self.directory / 'console.log'}",
            *(f"-chardev socket,id=monitor,fd={monitor}", "-mon chardev=monitor,mode=control"),
            *(f"-chardev socket,id=agent,fd={agent}", "-device virtio-serial-pci"),
            "-device virtserialport,id=agent,chardev=agent,name=org.qemu.guest_agent.0",
            f"-drive if=none,id=root,file={image},format=raw,snapshot={snapshot},cache=unsafe",
            *("-device virtio-blk-pci,drive=root,serial=ROOT", "-device qemu-xhci,id=usb"),
        ]
        for tag, path in {"checkout": CHECKOUT, "packages": sysconfig.get_path("purelib")}.items():
            options.append(f"-virtfs local,path={path},mount_tag={tag},security_model=none,readonly=on,multidevs=remap")
        for disk in self.disks:
            limits, medium = _backing(disk, self.directory)
            if limits:
                options.append(f"-object {json.dumps(limits)}")
            options.append(f"-blockdev {json.dumps(medium)}")
            options += [f"-device {json.dumps(device)}" for device in disk.devices]
        if self.counts_instructions:
            options.append(f"-icount {COUNTED}")
        words = [word for option in options for word in option.split(" ", 1)]
        return ["setpriv", "--pdeathsig", "KILL", "qemu-system-x86_64", *words]


@contextlib.contextmanager
def booted(
    directory: Path,
    disks: Sequence[Disk],
    *,
    kind: Kind = "usual",
    keeps_root: bool = False,
    counts_instructions: bool = False,
) -> Iterator[Machine]:
    """A machine with these disks, their files and its console below `directory`; its power is cut at the end.

    What is written to its root is forgotten whenever its power is cut, unless it `keeps_root`, in `directory` as well.
    Where it `counts_instructions`, time passes in it while its processor waits or works, and not while the host has
    something else to do: then it can measure on a busy host, too.
    """
    compileall.compile_dir(CHECKOUT / "fswizard", quiet=1)  # the machine cannot write it down, and is slow at it
    machine = Machine(build(kind), directory, disks, keeps_root, counts_instructions)
    machine.boot()
    try:
        yield machine
    finally:
        machine.cut_power()


def _backing(disk: Disk, directory: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The limits of a disk's speed, if it has any, and the sparse file of its contents, made where there is none."""
    path = directory / f"{disk.serial}.raw"
    with path.open("ab") as file:
        os.truncate(file.fileno(), disk.size_bytes)
    cache = {"direct": False, "no-flush": True}
    limits: dict[str, Any] = {}
    below = {"driver": "file", "filename": str(path), "discard": "unmap", "cache": cache}
    if disk.bytes_per_s:
        name = f"{disk.serial}-limits"
        rates = {"bps-total": disk.bytes_per_s, "iops-total": disk.requests_per_s}
        limits = {"qom-type": "throttle-group", "id": name, "limits": rates}
        below = {"driver": "throttle", "throttle-group": name, "discard": "unmap", "file": below}
    return limits, {"node-name": f"{disk.serial}-medium", "driver": "raw", "discard": "unmap", "file": below}
