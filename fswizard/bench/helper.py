"""The client of the privileged helper: typed methods, and programs that run inside its namespaces."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fswizard.bench import patience, privilege
from fswizard.errors import FswizardError, Missing, Refused, RunFailed
from fswizard.model.layout import BITMAP, CHUNK, Array, chunk_kib
from fswizard.model.text import safe, safe_lines
from fswizard.privileged import protocol
from fswizard.system import commands
from fswizard.system.process import Finished

START_LIMIT_S = 60.0
END_LIMIT_S = 10.0
KILL_LIMIT_S = patience.KILL_S
WATCH_EVERY_S = 0.2
ANSWER_LIMIT_S = 60.0
"""A claim asks three programs about the disk, each of which may take 10 s."""
JOB_LIMIT_S = patience.LIMIT_S
"""For mkfs, mount, umount, wipe and sync: a slow disk may have gigabytes to write back."""
KEPT_ERROR_BYTES = 65536

ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin", "LC_ALL": "C.UTF-8"}
"""All that the helper's process gets. Without SUDO_UID: who is root already works with root's files."""


class HelperFailed(RunFailed):
    """The helper carried out an order, and it failed; it takes further orders."""


@dataclass(frozen=True, slots=True)
class Attached:
    """An image or a disk that the helper holds as a block device, or several as one."""

    handle: int
    direct_io: bool
    """As read back from the kernel: the image is not cached a second time."""
    pool: str
    """What a ZFS pool or an array of it is called, if one is made."""
    names: tuple[str, ...]
    """Kernel name of each device, such as `loop0`."""
    paths: tuple[str, ...]

    @property
    def name(self) -> str:
        """Kernel name of the device; of several, the first."""
        return self.names[0]

    @property
    def path(self) -> str:
        return self.paths[0]

    @property
    def array(self) -> str:
        """What an array of several is called."""
        return f"/dev/md/{self.pool}"


class HelperProcess:
    """A program inside the helper's namespaces, as the user and without capabilities."""

    def __init__(self, helper: Helper, argv: Sequence[str], number: int, pid: int) -> None:
        self._helper = helper
        self._argv = tuple(argv)
        self._number = number
        self._pid = pid
        self._stdout: asyncio.Queue[bytes] = asyncio.Queue()
        self._stderr = bytearray()
        self._over = asyncio.Event()
        self._ended: Mapping[str, Any] | None = None

    @property
    def pid(self) -> int:
        return self._pid

    async def chunks(self) -> AsyncIterator[bytes]:
        while chunk := await self._stdout.get():
            yield chunk
        self._stdout.put_nowait(b"")  # whoever reads after the end finds the end again

    async def wait(self) -> Finished:
        """RunFailed where the helper ended before the program did."""
        await self._over.wait()
        if self._ended is None:
            raise self._helper.gone()
        stdout = b""
        while not self._stdout.empty():
            stdout += self._stdout.get_nowait()
        self._stdout.put_nowait(b"")
        ended = self._ended
        stderr = bytes(self._stderr) + str(ended.get("error", "")).encode()
        return Finished(self._argv, ended["exit_code"], stdout, stderr, ended["wall_s"], ended["cpu_s"])

    async def kill(self) -> None:
        """End it and everything it started; RunFailed where even that does not end it."""
        if self._over.is_set():
            return
        with contextlib.suppress(FswizardError):
            await self._helper.ask("kill", job=self._number)
        try:
            await asyncio.wait_for(self._over.wait(), KILL_LIMIT_S)
        except asyncio.TimeoutError:
            self._helper.waits_for_disk = patience.no_answer(self._argv[0])
            raise self._helper.waits_for_disk from None

    def take(self, message: Mapping[str, Any]) -> None:
        """What the helper tells of it."""
        if "ended" in message:
            self.end(message["ended"])
        elif message["output"] == "stdout":
            self._stdout.put_nowait(base64.b64decode(message["data"]))
        else:
            self._stderr += base64.b64decode(message["data"])

    def end(self, ended: Mapping[str, Any] | None) -> None:
        self._ended = ended
        self._stdout.put_nowait(b"")
        self._over.set()


class Helper:
    """The running helper. When it ends, whatever waits for it gets RunFailed."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._last_id = 0
        self._asked: dict[int, tuple[asyncio.Future[Any], tuple[str, ...]]] = {}
        self._jobs: dict[int, HelperProcess] = {}
        self._over = False
        self.waits_for_disk: RunFailed | None = None
        """Set once a program could not be ended: whatever else were ordered would wait for the same disk."""
        self._stderr = bytearray()
        self._readers = [
            asyncio.create_task(self._read()),
            asyncio.create_task(self._read_errors()),
            asyncio.create_task(self._watch()),
        ]
        self.uid = -1
        """Whom workloads run as."""

    @classmethod
    @asynccontextmanager
    async def start(cls) -> AsyncIterator[Helper]:
        """Start the helper; leaving ends it, and with it every mount, loop device and program of its.

        Missing where root's rights, or those of namespaces, cannot be had without a question.
        """
        found = await asyncio.to_thread(privilege.state)
        if found not in ("root", "sudo"):
            raise privilege.missing(found)
        python = await asyncio.to_thread(privilege.python)
        program = privilege.privileged_path().path / "__main__.py"
        helper = cls(
            await commands.converse(_command(found, python, program), env=ENVIRONMENT, own_session=found == "root")
        )
        try:
            await helper._greet()
            yield helper
        finally:
            await helper._end()

    async def attach(self, image: str) -> Attached:
        """Make a loop device of `image`, a regular file of the user's."""
        return _attached(await self.ask("attach", image=image))

    async def claim(self, number: str, diskseq: int, size_bytes: int, serial: str, shown: str) -> Attached:
        """Have the block device `number` (`major:minor`) checked as root, and hold it; Refused with the reason.

        `shown` is the type of the filesystem that the person was told lies there, empty for none.
        """
        answer = await self.ask(
            "claim", number=number, diskseq=diskseq, size_bytes=size_bytes, serial=serial, shown=shown
        )
        return _attached(answer)

    async def joined(self, parts: Sequence[Attached]) -> Attached:
        """Several as one, which alone takes orders from then on; one alone stays what it is."""
        if len(parts) == 1:
            return parts[0]
        answer = await self.ask("join", handles=[part.handle for part in parts])
        return replace(
            _attached(answer),
            names=tuple(name for part in parts for name in part.names),
            paths=tuple(path for part in parts for path in part.paths),
        )

    async def detach(self, handle: int) -> None:
        await self.ask("detach", handle=handle)

    async def wipe(self, handle: int) -> Finished:
        """Take away every signature, and zero both ends; HelperFailed where that fails."""
        return _succeeded(await self._work(("wipefs", "--all"), "wipe", handle=handle))

    async def write(self, handle: int, blocks: Sequence[int], pause_s: float) -> HelperProcess:
        """Start writing noise to blocks of 1 MiB of a claimed, empty device; a line of output says what each one took.

        Refused where anything was found on the device when it was claimed.
        """
        fields = {"handle": handle, "blocks": list(blocks), "pause_us": round(pause_s * 1e6)}
        job: HelperProcess = await self.ask("write", ("write",), **fields)
        return job

    async def mkfs(
        self, handle: int, filesystem: str, arguments: Sequence[str], *, limit_s: float = JOB_LIMIT_S
    ) -> Finished:
        """Make `filesystem`; a failure is told by the exit code, as it is the candidate's."""
        argv = (f"mkfs.{filesystem}", *arguments)
        return await self._work(
            argv, "mkfs", limit_s, handle=handle, filesystem=filesystem, arguments=list(arguments)
        )  # fmt: skip

    async def array(self, handle: int, array: Array) -> Finished:
        """Make an array of joined devices, on which mkfs then works; a failure is told by the exit code."""
        chunk = array.option(CHUNK)
        level, bitmap, missing = array.layout.level, array.option(BITMAP), int(array.degraded)
        return await self._work(
            ("mdadm", "--create"), "array", handle=handle, level=level,
            chunk_kib=chunk_kib(chunk) if chunk else 0, bitmap=bitmap, missing=missing,
        )  # fmt: skip

    async def build(
        self, handle: int, filesystem: str, arguments: Sequence[str], array: Array, *, limit_s: float = JOB_LIMIT_S
    ) -> Finished:
        """Make `filesystem` on all joined devices, one of which is taken away where the array is to be degraded."""
        argv = (f"mkfs.{filesystem}", *arguments)
        fields = {"filesystem": filesystem, "arguments": list(arguments)}
        level, missing = array.layout.level, int(array.degraded)
        return await self._work(argv, "build", limit_s, handle=handle, level=level, missing=missing, **fields)

    async def mount(self, handle: int, mount_type: str, options: Sequence[str], directory: str) -> Finished:
        """Mount over an empty directory of the user's, who then owns the root of what is mounted.

        The host does not see it. A failure is told by the exit code.
        """
        chosen = ("-o", ",".join(options)) if options else ()
        argv = ("mount", "-t", mount_type, *chosen, directory)
        return await self._work(
            argv, "mount", handle=handle, filesystem=mount_type, options=list(options), directory=directory
        )

    async def umount(self, handle: int) -> Finished:
        """Never lazily: while something is open, the exit code is not 0 and the output names what it is."""
        return await self._work(("umount",), "umount", handle=handle)

    async def sync(self, handle: int) -> Finished:
        """Write everything back; HelperFailed with the reason where that, or an earlier write-back, failed.

        The output is the bytes in use on the filesystem, its own structures included.
        """
        return _succeeded(await self._work(("sync", "--file-system"), "sync", handle=handle))

    async def start_sync(self, handle: int) -> HelperProcess:
        """The same, as a program that is watched while it runs."""
        job: HelperProcess = await self.ask("sync", ("sync", "--file-system"), handle=handle)
        return job

    async def reclaim(self, pool: str) -> None:
        """Destroy a pool, or stop an array, that a killed run left behind; Refused where it may be another's."""
        await self.ask("reclaim", pool=pool)

    async def health(self, handle: int, counted: Sequence[str]) -> dict[str, int]:
        """Error counters above 0: those that the filesystem has, named by the catalogue, and the kernel's log.

        `kernel_errors` counts the log's lines; `kernel_log` has them.
        """
        answer = await self.ask("health", handle=handle, counted=list(counted))
        self.kernel_log = tuple(safe(line) for line in answer["lines"])
        return {str(name): int(count) for name, count in answer["counters"].items() if count}

    kernel_log: tuple[str, ...] = ()

    async def run(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str] | None = None) -> HelperProcess:
        """Start a program as the user, without capabilities, inside the namespaces."""
        job: HelperProcess = await self.ask("run", argv, argv=list(argv), cwd=cwd, env=dict(env or {}))
        return job

    async def ask(self, verb: str, argv: Sequence[str] = (), /, **fields: Any) -> Any:
        """The helper's answer; for a job, its process. Refused, Missing or HelperFailed as the helper says."""
        if self._over:
            raise self.gone()
        answer = self._write(verb, argv, **fields)
        try:
            return await asyncio.wait_for(answer, ANSWER_LIMIT_S)
        except asyncio.TimeoutError:
            raise RunFailed(f"The privileged helper did not answer ({verb}).", "The disk may be failing.") from None

    def _write(self, verb: str, argv: Sequence[str] = (), /, **fields: Any) -> asyncio.Future[Any]:
        self._last_id += 1
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._asked[self._last_id] = answer, tuple(argv)
        assert self._process.stdin is not None
        self._process.stdin.write(protocol.encode({"id": self._last_id, "verb": verb, **fields}))
        return answer

    def gone(self) -> RunFailed:
        text = safe_lines(bytes(self._stderr)).strip()
        return RunFailed("The privileged helper ended.", "Nothing stays mounted; start the run again.", text)

    async def _work(self, argv: tuple[str, ...], verb: str, limit_s: float = JOB_LIMIT_S, /, **fields: Any) -> Finished:
        """An order that takes time: whoever stops waiting for it ends it."""
        if self.waits_for_disk is not None:
            raise self.waits_for_disk
        job: HelperProcess = await self.ask(verb, argv, **fields)
        try:
            return await asyncio.wait_for(job.wait(), limit_s)
        except asyncio.TimeoutError:
            await job.kill()
            raise HelperFailed(f"{argv[0]} did not end within {limit_s:g} s.", "The disk may be failing.") from None
        except asyncio.CancelledError:
            await job.kill()
            raise

    async def _greet(self) -> None:
        try:
            hello = await asyncio.wait_for(self.ask("hello"), START_LIMIT_S)
        except (RunFailed, asyncio.TimeoutError):
            raise Missing(
                "The privileged helper could not be started.",
                "It needs root with the right to mount, which a container may lack. " + privilege.WITHOUT_ROOT,
                safe_lines(bytes(self._stderr)).strip(),
            ) from None
        if hello["protocol"] != protocol.VERSION:
            raise Missing(
                "The installed privileged helper is of another version.",
                f"Install it again, or remove {privilege.INSTALLED}.",
            )
        self.uid = hello["uid"]

    async def _end(self) -> None:
        """End of input is the end of the helper, and the kernel clears up behind it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), END_LIMIT_S)
        except asyncio.TimeoutError:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self._process.pid, signal.SIGKILL)
        finally:
            for reader in self._readers:
                reader.cancel()
            await asyncio.gather(*self._readers, return_exceptions=True)
            self._fail_all()

    async def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            while line := await self._process.stdout.readline():
                self._dispatch(json.loads(line))
        except (ValueError, KeyError, ConnectionError) as error:  # nothing but the helper writes there: no use to go on
            self._stderr += f"unreadable answer: {error}\n".encode()
        finally:
            self._fail_all()

    def _dispatch(self, message: dict[str, Any]) -> None:
        if "job" in message:
            number = message["job"]
            self._jobs[number].take(message)
            if "ended" in message:
                del self._jobs[number]
            return
        answer, argv = self._asked.pop(message["id"])
        result: Any = message.get("ok")
        if result is not None and "job" in result:
            number = result["job"]
            result = self._jobs[number] = HelperProcess(self, argv, number, result["pid"])
        if answer.done():  # nobody waits any more
            if isinstance(result, HelperProcess):
                self._write("kill", job=message["ok"]["job"])
            return
        if result is not None:
            answer.set_result(result)
        else:
            answer.set_exception(_error(message["error"]))

    async def _read_errors(self) -> None:
        assert self._process.stderr is not None
        while data := await self._process.stderr.read(4096):
            self._stderr += data
            del self._stderr[:-KEPT_ERROR_BYTES]

    async def _watch(self) -> None:
        """sudo may be killed alone, and the helper then waits for orders that nobody gives."""
        while self._process.returncode is None:  # noqa: ASYNC110 - wait() would wait for the helper's pipes, too
            await asyncio.sleep(WATCH_EVERY_S)
        assert self._process.stdin is not None
        self._process.stdin.close()

    def _fail_all(self) -> None:
        self._over = True
        for answer, _ in self._asked.values():
            if not answer.done():
                answer.set_exception(self.gone())
        for job in self._jobs.values():
            job.end(None)
        self._asked.clear()
        self._jobs.clear()


def _command(found: privilege.State, python: str, program: Path) -> tuple[str, ...]:
    """Everything that the helper mounts or starts ends with it: namespaces of its own, killed with their first process.

    With propagation `slave` the host sees none of the helper's mounts, while the helper follows the host's:
    a stick that the person unmounts meanwhile is not kept mounted here, unwritten.
    """
    sudo = ("sudo", "-n", "--") if found == "sudo" else ()
    namespaces = ("unshare", "--mount", "--propagation", "slave", "--pid", "--fork", "--kill-child")
    return (*sudo, *namespaces, "--", python, "-I", "-S", "-B", "-X", "utf8", str(program))


def _attached(answer: Mapping[str, Any]) -> Attached:
    names, paths = (answer["name"],), (answer["path"],)
    return Attached(answer["handle"], answer["direct_io"], answer["pool"], names, paths)


def _error(error: Mapping[str, str]) -> FswizardError:
    text = f"The privileged helper: {safe(error['text'])}."
    if error["code"] == "refused":
        return Refused(text, "Nothing was changed.")
    if error["code"] == "missing":
        return Missing(text, "`fswizard doctor` says how to get it.")
    return HelperFailed(text)


def _succeeded(finished: Finished) -> Finished:
    if finished.exit_code:
        raise HelperFailed(f"{finished.argv[0]} failed.", "The disk may be failing.", finished.output)
    return finished
