"""What the helper does when asked: one method for each verb of the protocol."""

from __future__ import annotations

import contextlib
import os
import signal
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from fswizard.privileged import (
    block_device,
    commands,
    consent,
    disk_errors,
    exclusive_claim,
    grammar,
    groups,
    loop_device,
    mapped,
    mounts,
    names,
    pools,
    programs,
    protocol,
    rights,
    scratch_image,
    volumes,
)
from fswizard.privileged.arc import Arc
from fswizard.privileged.groups import Group, Held
from fswizard.privileged.identity import User
from fswizard.privileged.jobs import Ending, Job, Jobs, Work
from fswizard.privileged.memory_limit import MemoryLimit
from fswizard.privileged.names import Names
from fswizard.privileged.protocol import Refusal, Request
from fswizard.privileged.scratch_image import Making
from fswizard.privileged.volumes import Volume

MAXIMUM_VOLUMES = 16
END_LIMIT_S = 5.0
"""For processes that were killed to be gone."""

Answer = dict[str, Any]


class Verbs:
    def __init__(self, user: User, running: Jobs, right: str) -> None:
        self._user = user
        self._right = right
        self._jobs = running
        self._volumes: dict[int, Volume] = {}
        self._last_handle = 0
        self._names = Names()
        self._memory = MemoryLimit(self._names)
        self._arc = Arc()
        self._empty_directory = _deleted_directory()
        self._given: deque[int] = deque()
        self._making = 0
        """Images that are not attached yet."""
        self._verbs: Mapping[str, Callable[..., Answer]] = {verb: getattr(self, f"_{verb}") for verb in rights.ALL}

    def carry_out(self, request: Request) -> Answer:
        """The answer's `ok`; Refusal where nothing was done."""
        rights.require(self._right, request.verb)
        return self._verbs[request.verb](**request.fields)

    def take(self, descriptors: Iterable[int]) -> None:
        """Descriptors that came with a request, which may still be on its way."""
        self._given.extend(descriptors)
        while len(self._given) > MAXIMUM_VOLUMES:
            os.close(self._given.pop())

    def _hello(self) -> Answer:
        limits_memory = "run" in rights.VERBS[self._right] and self._memory.make()
        return {
            "protocol": protocol.VERSION, "uid": self._user.uid, "gid": self._user.gid, "limits_memory": limits_memory,
        }  # fmt: skip

    def _attach(self, size_bytes: int) -> Answer:
        """Make an image below the directory that came with it; its end has the answer of `_hold` for the device."""
        if not self._given:
            raise Refusal("invalid", "attach: no descriptor came with it")
        making = Making(self._given.popleft(), size_bytes, self._user)

        def finish(ending: Ending) -> None:
            self._making -= 1
            try:
                if ending["exit_code"] == 0:
                    image = making.take()
                    try:
                        ending["attached"] = self._hold(loop_device.attach(image))
                    except BaseException:
                        image.close()
                        raise
            finally:
                making.close()

        try:
            self._require_room()
            if size_bytes < scratch_image.MINIMUM_BYTES:
                raise Refusal("refused", f"the image is smaller than {scratch_image.MINIMUM_BYTES >> 20} MiB")
            job = self._jobs.start_as_user(
                making.begin, self._user, contained=False, finish=finish, keep=making.descriptors
            )
        except BaseException:
            making.close()
            raise
        self._making += 1
        return _job_answer(job, making.commands)

    def _claim(self, number: str, diskseq: int, size_bytes: int, serial: str, shown: str) -> Answer:
        self._require_room()
        if self._right == rights.ERASE and not self._user.needs_no_consent:
            consent.take(self._user.uid, block_device.find(number), diskseq, size_bytes)
        return self._hold(exclusive_claim.claim(number, diskseq, size_bytes, serial, shown))

    def _require_room(self) -> None:
        if len(self._volumes) + self._making >= MAXIMUM_VOLUMES:
            raise Refusal("busy", f"{MAXIMUM_VOLUMES} images are attached already")

    def _join(self, handles: list[int]) -> Answer:
        self._require_room()
        volumes_of = [self._volume(handle, "join") for handle in handles]
        group = groups.join([volume.device for volume in volumes_of])
        for volume in volumes_of:
            volume.joined = True
        return self._hold(group)

    def _hold(self, device: Held | Group) -> Answer:
        self._last_handle += 1
        volume = Volume(self._last_handle, device, volumes.errors_of(device), pools.new(device.descriptor))
        if isinstance(device, Group):
            device.volume = volume.pool.name
        self._volumes[volume.handle] = volume
        return {
            "handle": volume.handle, "name": device.name, "path": device.path, "direct_io": device.direct_io,
            "pool": volume.pool.name, "directory": volume.directory,
        }  # fmt: skip

    def _wipe(self, handle: int) -> Answer:
        volume = self._volume(handle, "wipe")
        work = volumes.wipe(volume)
        volume.unmake()
        return self._work(volume, "wipe", work)

    def _copy(self, handle: int, source: int) -> Answer:
        """The filesystem that was made on `source` is then on both."""
        volume, other = self._volume(handle, "copy"), self._volume(source, "mount")
        work = volumes.copy(volume, other)
        other.device.require_same(unused=True)

        def finish(ending: Ending) -> None:
            other.busy = ""
            if ending["exit_code"] == 0:
                volume.made, volume.content = other.made, other.content

        answer = self._work(volume, "copy", work, finish, keep=other.parts[0].descriptors)
        other.busy = "copy"
        return answer

    def _inspect(self, handle: int, reading: bool) -> Answer:
        volume = self._volume(handle, "inspect")
        return self._work(volume, "inspect", volumes.inspect(volume, reading=reading))

    def _bare(self, handle: int, rw: str, io_engine: str, direct: bool, **numbers: int) -> Answer:
        volume = self._volume(handle, "bare")
        command = grammar.fio_command(volume.parts[0].path, rw, io_engine, numbers, direct=direct)
        work = volumes.bare(volume, command, numbers["size_bytes"], self._empty_directory)
        return self._work(volume, "bare", work, keep=(self._empty_directory,))

    def _mkfs(self, handle: int, filesystem: str, arguments: list[str]) -> Answer:
        volume = self._volume(handle, "mkfs")
        program = grammar.require_mkfs(filesystem, arguments)
        return self._make(volume, "mkfs", program, filesystem, arguments)

    def _array(self, handle: int, level: str, chunk_kib: int, bitmap: str, missing: int) -> Answer:
        volume, group = self._group(handle, "array", missing)
        if group.array:
            raise Refusal("refused", f"{group.name} is an array already")
        grammar.require_array(level, chunk_kib, bitmap, len(group.members))
        orders = commands.make(
            "array", volume.device_names, level=level, chunk_kib=chunk_kib, bitmap=bitmap, missing=missing
        )
        self._names.hold(volume.pool.name)
        work = volumes.make(volume, orders, self._empty_directory)
        return self._work(volume, "array", work, keep=(self._empty_directory,))

    def _encrypt(self, handle: int, cipher: str, key_bits: int, sector_bytes: int, **how: bool) -> Answer:
        volume, group = self._group(handle, "encrypt", 0)
        if len(group.members) > 1:
            raise Refusal("refused", "a volume lies on one device")
        self._names.hold(volume.pool.name)
        grammar.require_encryption(cipher, key_bits, sector_bytes)
        orders = commands.encrypt(
            volume.device_names, cipher=cipher, key_bits=key_bits, sector_bytes=sector_bytes, **how
        )
        return self._work(volume, "encrypt", mapped.encrypt(orders))

    def _build(self, handle: int, filesystem: str, arguments: list[str], level: str, missing: int) -> Answer:
        volume, group = self._group(handle, "build", missing)
        program = grammar.require_mkfs(filesystem, arguments)
        grammar.require_build(filesystem, level, len(group.members))
        if filesystem != grammar.ZFS:
            group.spread, group.missing = True, missing > 0
        return self._make(volume, "build", program, filesystem, arguments, level=level, missing=missing)

    def _make(
        self, volume: Volume, verb: str, program: str, filesystem: str, arguments: list[str], **words: Any
    ) -> Answer:  # fmt: skip
        """Start making a filesystem, which can be mounted once that went well."""
        pool, content = volume.pool, object()
        orders = commands.make(verb, volume.device_names, program, filesystem=filesystem, arguments=arguments, **words)
        if filesystem == grammar.ZFS:
            further = volume.parts[1:] if verb == "build" else ()
            pool.others = tuple(member.descriptor for member in further)
            work = pools.create(pool, orders)
            self._names.hold(pool.name)
            pool.counted.clear()
            volume.is_pool = True
        else:
            volume.is_pool = False
            work = volumes.make(volume, orders, self._empty_directory)

        def finish(ending: Ending) -> None:
            volume.made, volume.content = filesystem, content
            if ending["exit_code"]:
                volume.unmake()

        return self._work(volume, verb, work, finish, keep=(self._empty_directory, *volume.locks))

    def _mount(self, handle: int, filesystem: str, options: list[str]) -> Answer:
        volume = self._volume(handle, "mount")
        if filesystem not in grammar.mount_types(volume.made):
            raise Refusal("refused", f"{filesystem!r:.40} is not what was made: {volume.made}")
        grammar.require_mount(filesystem, options)
        others = (other for other in self._volumes.values() if other is not volume and other.content is volume.content)
        if any(other.mount or other.busy == "mount" for other in others):
            raise Refusal("refused", f"a copy of {volume.device.name} is mounted, which has the same UUID")
        mounts.prepare(volume.directory)
        known = mounts.current().keys()

        def finish(ending: Ending) -> None:
            mounted = volumes.new_mount(volume, known)
            if ending["exit_code"] and mounted:  # by a program that was killed before it was done
                mounts.unmount(mounted.path)
                mounted = mounts.current().get(mounted.id)
            volume.hold(mounted)

        return self._work(volume, "mount", volumes.mount(volume, filesystem, options, self._user), finish)

    def _umount(self, handle: int) -> Answer:
        volume = self._volume(handle, "umount")
        mounted = volume.mount
        assert mounted is not None
        if volume.is_pool:
            pools.keep_errors(volume.pool)
        work = volumes.umount(volume, mounted)
        volume.close_root()

        def finish(ending: Ending) -> None:
            volume.hold(mounts.current().get(mounted.id))
            if volume.mount is None and not volume.is_pool:
                ending["exit_code"] = 0  # whoever was killed had done it by then

        try:
            return self._work(volume, "umount", work, finish)
        except BaseException:
            volume.hold(mounted)
            raise

    def _detach(self, handle: int) -> Answer:
        volume = self._volume(handle, "detach")
        if isinstance(volume.device, Group):
            if volume.device.array:
                raise Refusal("refused", f"{volume.device.name} is still an array or volume")
            for other in self._volumes.values():
                other.joined = other.joined and other.device not in volume.parts
        volume.close()
        self._names.release(volume.pool.name)
        del self._volumes[handle]
        return {}

    def _health(self, handle: int, counted: list[str]) -> Answer:
        volume = self._volume(handle, "health")
        counters = disk_errors.read_counters(volume, counted)
        volume.errors.note(counters)
        return {"counters": counters, "disks": volume.errors.of_disks()}

    def _sync(self, handle: int) -> Answer:
        volume = self._volume(handle, "sync")
        return self._work(volume, "sync", volumes.sync(volume), keep=(volume.root,))

    def _run(self, argv: list[str], cwd: str, env: dict[str, str], memory_bytes: int) -> Answer:
        environment = programs.workload_environment(self._user, env)
        if memory_bytes:
            self._memory.set(memory_bytes)
        entrance, killed = (self._memory.entrance,) if memory_bytes else (), self._memory.killed()

        def begin() -> NoReturn:
            """Whatever is looked up or opened here, the user could look up and open."""
            os.umask(0o022)
            os.chdir(cwd)
            path = programs.workload(argv[0])
            os.execve(path, (path, *argv[1:]), environment)

        on_pool = bool(memory_bytes) and any(volume.is_pool and volume.mount for volume in self._volumes.values())

        def finish(ending: Ending) -> None:
            if on_pool:
                self._arc.release()
            if entrance and self._memory.killed() > killed:
                ending["over_memory"] = True

        job = self._jobs.start_as_user(begin, self._user, contained=True, finish=finish, entrance=entrance)
        if on_pool:
            self._arc.hold(memory_bytes)
        return _job_answer(job, (tuple(argv),))

    def _reclaim(self, pool: str) -> Answer:
        with self._names.reclaiming(pool):
            pools.reclaim(pool)
            groups.reclaim_array(pool)
            mapped.reclaim(pool)
        return {}

    def end(self) -> None:
        """Undo everything, whatever goes wrong: a process that the kernel does not let end would keep what is left."""
        with contextlib.suppress(ProcessLookupError):  # there may be none
            os.kill(-1, signal.SIGKILL)  # whatever of this namespace still uses it
        programs.poll(_reaped, bool, END_LIMIT_S)
        steps = [*(volume.end for volume in reversed(self._volumes.values())), self._memory.remove, self._arc.end]
        for step in steps:
            try:
                step()
            except Exception:
                traceback.print_exc()

    def _kill(self, job: int) -> Answer:
        self._jobs.kill(job)
        return {}

    def _volume(self, handle: int, verb: str) -> Volume:
        if handle not in self._volumes:
            raise Refusal("invalid", f"no such handle: {handle}")
        volume = self._volumes[handle]
        volume.require(verb)
        return volume

    def _group(self, handle: int, verb: str, missing: int) -> tuple[Volume, Group]:
        """The group, on which something is made that misses at most one device."""
        volume = self._volume(handle, verb)
        if not isinstance(volume.device, Group):
            raise Refusal("refused", f"{volume.device.name} is one device alone")
        if missing > 1:
            raise Refusal("refused", "more than one device missing would be no array")
        return volume, volume.device

    def _work(
        self, volume: Volume, verb: str, work: Work, finish: Callable[[Ending], None] = lambda ending: None,
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
                volume.made = ""
                raise OSError(refusal.text) from refusal

        held = (descriptor for part in volume.parts for descriptor in part.descriptors)
        job = self._jobs.start(work.body, contained=False, finish=end, keep=(*held, *keep))
        volume.busy = verb
        return _job_answer(job, work.commands)


def _reaped() -> bool:
    """Whether no child is left; those that have ended are gone afterwards."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return True
    return False


def _job_answer(job: Job, orders: commands.Commands) -> Answer:
    return {"job": job.number, "pid": job.pid, "commands": orders}


def _deleted_directory() -> int:
    """A working directory in which nothing is and nothing can be made: it is deleted already."""
    path = f"/run/{names.new()}"
    os.mkdir(path, 0o700)
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    os.rmdir(path)
    return descriptor
