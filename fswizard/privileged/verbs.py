"""What the helper does when asked: one method for each verb of the protocol."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

from fswizard.privileged import (
    claim,
    counters,
    grammar,
    identity,
    loop_device,
    mounts,
    pools,
    programs,
    protocol,
    volumes,
)
from fswizard.privileged.claim import ClaimedDevice
from fswizard.privileged.identity import Person
from fswizard.privileged.jobs import Body, Ending, Job, Jobs
from fswizard.privileged.loop_device import LoopDevice
from fswizard.privileged.protocol import Refusal, Request
from fswizard.privileged.volumes import Volume

MINIMUM_IMAGE_BYTES = 64 << 20
MAXIMUM_VOLUMES = 16
MAXIMUM_BLOCKS = 1024
MAXIMUM_PAUSE_US = 60_000_000

Answer = dict[str, Any]


class Verbs:
    def __init__(self, person: Person, running: Jobs) -> None:
        self._person = person
        self._jobs = running
        self._volumes: dict[int, Volume] = {}
        self._last_handle = 0
        self._nowhere = _nowhere()
        self._verbs: Mapping[str, Callable[..., Answer]] = {
            name: getattr(self, f"_{name}") for name in protocol.VERBS
        }  # fmt: skip

    def carry_out(self, request: Request) -> Answer:
        """The answer's `ok`; Refusal where nothing was done."""
        return self._verbs[request.verb](**request.fields)

    def _hello(self) -> Answer:
        return {"protocol": protocol.VERSION, "uid": self._person.uid, "gid": self._person.gid}

    def _attach(self, image: str) -> Answer:
        self._require_room()
        descriptor = identity.open_image(image, self._person, MINIMUM_IMAGE_BYTES)
        log = volumes.open_kernel_log()
        try:
            device = loop_device.attach(descriptor)
        except BaseException:
            os.close(descriptor)
            if log is not None:
                os.close(log)
            raise
        return self._take(device, descriptor, log)

    def _claim(self, number: str, diskseq: int, size_bytes: int, serial: str, shown: str) -> Answer:
        self._require_room()
        device = claim.claim(number, diskseq, size_bytes, serial, shown)
        return self._take(device, None, volumes.open_kernel_log())

    def _require_room(self) -> None:
        if len(self._volumes) >= MAXIMUM_VOLUMES:
            raise Refusal("busy", f"{MAXIMUM_VOLUMES} images are attached already")

    def _take(self, device: LoopDevice | ClaimedDevice, image: int | None, log: int | None) -> Answer:
        self._last_handle += 1
        pool = pools.new(device.descriptor)
        self._volumes[self._last_handle] = Volume(self._last_handle, device, image, log, pool)
        return {
            "handle": self._last_handle, "name": device.name, "path": device.path, "direct_io": device.direct_io,
            "pool": pool.name,
        }  # fmt: skip

    def _wipe(self, handle: int) -> Answer:
        volume = self._volume(handle, mounted=False)
        return self._work(volume, "wipe", volumes.wipe(volume))

    def _write(self, handle: int, blocks: list[int], pause_us: int) -> Answer:
        volume = self._volume(handle, mounted=False)
        if len(blocks) > MAXIMUM_BLOCKS or pause_us > MAXIMUM_PAUSE_US:
            raise Refusal("invalid", f"{MAXIMUM_BLOCKS} blocks at a time, and a minute between two, are the most")
        return self._work(volume, "write", volumes.write(volume, blocks, pause_us / 1e6))

    def _mkfs(self, handle: int, filesystem: str, arguments: list[str]) -> Answer:
        volume = self._volume(handle, mounted=False)
        command = grammar.mkfs_command(filesystem, arguments, zoned=volume.zoned)
        volume.is_pool = filesystem == grammar.ZFS
        if volume.is_pool:
            volume.pool.counted.clear()
            return self._work(volume, "mkfs", pools.create(volume.pool, command[1:]))
        return self._work(
            volume, "mkfs", volumes.mkfs(volume, command, self._nowhere), keep=(self._nowhere, *volume.locks)
        )

    def _mount(self, handle: int, filesystem: str, options: list[str], directory: str) -> Answer:
        volume = self._volume(handle, mounted=False)
        if volume.is_pool != (filesystem == grammar.ZFS):
            raise Refusal("refused", f"{filesystem!r:.40} is not what was made")
        allowed = grammar.mount_options(filesystem, options, self._person.uid, self._person.gid)
        target = volumes.open_mount_point(directory, self._person)
        known = mounts.mounts().keys()

        def finish(ending: Ending) -> None:
            volume.hold(volumes.new_mount(volume, known))
            if ending["exit_code"]:  # the kernel alone knows why it would not mount
                ending["error"] = "\n".join(volumes.new_kernel_errors(volume))

        try:
            body = volumes.mount(volume, filesystem, allowed, target, self._person)
            return self._work(volume, "mount", body, finish, keep=(target,))
        finally:
            os.close(target)

    def _umount(self, handle: int) -> Answer:
        volume = self._volume(handle, mounted=True)
        mounted = volume.mount
        assert mounted is not None
        if volume.is_pool:
            pools.note_errors(volume.pool)
        body = volumes.umount(volume, mounted)
        volume.let_go()

        def finish(ending: Ending) -> None:
            volume.hold(mounts.mounts().get(mounted.id))

        try:
            return self._work(volume, "umount", body, finish)
        except BaseException:
            volume.hold(mounted)
            raise

    def _detach(self, handle: int) -> Answer:
        self._volume(handle, mounted=False).close()
        del self._volumes[handle]
        return {}

    def _health(self, handle: int, counted: list[str]) -> Answer:
        volume = self._volume(handle, mounted=True)
        found = counters.read(volume, counted)
        volume.lines += volumes.new_kernel_errors(volume)
        return {"counters": {**found, "kernel_errors": len(volume.lines)}, "lines": volume.lines}

    def _sync(self, handle: int) -> Answer:
        volume = self._volume(handle, mounted=True)
        return self._work(volume, "sync", volumes.sync(volume), keep=(volume.root,))

    def _run(self, argv: list[str], cwd: str, env: dict[str, str]) -> Answer:
        environment = programs.workload_environment(self._person, env)
        command = (*programs.without_rights(self._person), *programs.resolved(argv))
        directory = identity.open_directory(cwd, self._person)

        def body() -> int:
            os.fchdir(directory)
            os.umask(0o022)
            os.execve(command[0], command, environment)

        try:
            return _told(self._jobs.start(body, contained=True, keep=(directory,)))
        finally:
            os.close(directory)

    def _reclaim(self, pool: str) -> Answer:
        pools.reclaim(pool)
        return {}

    def end(self) -> None:
        """Undo what the kernel would not when the helper is gone: pools of its own module, and their nodes."""
        left = [volume for volume in self._volumes.values() if volume.is_pool and not pools.has_daemon()]
        if left:
            os.kill(-1, signal.SIGKILL)  # whatever of this namespace still uses them
        for volume in left:
            volume.let_go()
            pools.end(volume.pool, volume.mount)
        for volume in self._volumes.values():
            pools.forget(volume.pool)

    def _kill(self, job: int) -> Answer:
        self._jobs.kill(job)
        return {}

    def _volume(self, handle: int, *, mounted: bool) -> Volume:
        if handle not in self._volumes:
            raise Refusal("invalid", f"no such handle: {handle}")
        volume = self._volumes[handle]
        volume.require(mounted=mounted)
        return volume

    def _work(
        self, volume: Volume, verb: str, body: Body, finish: Callable[[Ending], None] = lambda ending: None,
        keep: tuple[int, ...] = (),
    ) -> Answer:  # fmt: skip
        """Start a job on a volume, which takes no other order until it ended."""

        if volume.mount is None:
            volume.device.require_same(unused=True)

        def end(ending: Ending) -> None:
            volume.busy = ""
            finish(ending)
            try:
                volume.device.require_same(unused=False)
            except Refusal as refusal:
                raise OSError(refusal.text) from refusal

        job = self._jobs.start(body, contained=False, finish=end, keep=(volume.device.descriptor, *keep))
        volume.busy = verb
        return _told(job)


def _told(job: Job) -> Answer:
    return {"job": job.number, "pid": job.pid}


def _nowhere() -> int:
    """A working directory in which nothing is and nothing can be made: it is deleted already."""
    path = tempfile.mkdtemp(prefix="fswizard-")
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    os.rmdir(path)
    return descriptor
