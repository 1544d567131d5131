"""The line to the privileged helper: started, asked, listened to, ended; and the programs inside its namespaces."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import signal
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fswizard.disks.disk import DiskFailed
from fswizard.errors import FswizardError, Missing, OutOfMemory, Refused, RunFailed
from fswizard.language import _
from fswizard.model.text import safe, safe_lines
from fswizard.privileged import programs, protocol
from fswizard.system import clock, commands, timeouts
from fswizard.system.process import Finished
from fswizard.targets import helper_copy, privilege
from fswizard.targets.privilege import Purpose

if TYPE_CHECKING:
    from typing_extensions import Self

START_LIMIT_S = 60.0
QUESTION_LIMIT_S = 600.0
"""Where somebody may have to type a password first."""
END_LIMIT_S = 10.0
KILL_LIMIT_S = timeouts.KILL_S
WATCH_EVERY_S = 0.2
ANSWER_LIMIT_S = 60.0
"""A claim asks three programs about the disk, each of which may take 10 s."""
KEPT_ERROR_BYTES = 65536

ENVIRONMENT = {"PATH": programs.ROOT_PATH, "LC_ALL": "C.UTF-8"}
"""All that the helper's process gets."""
BY: Mapping[privilege.State, tuple[str, ...]] = {
    "root": (),
    "sudo": ("sudo", "-n", "--"),
    "pkexec": ("pkexec", "--disable-internal-agent"),
}
"""What the helper is started by."""


class HelperFailed(DiskFailed):
    """The helper carried out an order, and it failed; it takes further orders."""


class HelperProcess:
    """A program inside the helper's namespaces, as the user and without capabilities."""

    def __init__(self, channel: Channel, number: int, pid: int, commands: Sequence[Sequence[str]]) -> None:
        self._channel = channel
        self._number = number
        self.pid = pid
        self.argv, *further = (tuple(command) for command in commands)
        """What the helper runs, word for word; the user's program alone where it is one."""
        self.further = tuple(further)
        self._stdout: asyncio.Queue[bytes] = asyncio.Queue()
        self._stderr = bytearray()
        self._over = asyncio.Event()
        self._ended: Mapping[str, Any] | None = None

    @property
    def attached(self) -> Mapping[str, Any]:
        """Once it has ended well, of the device that it has made."""
        answer: Mapping[str, Any] = (self._ended or {})["attached"]
        return answer

    async def chunks(self) -> AsyncIterator[bytes]:
        while chunk := await self._stdout.get():
            yield chunk
        self._stdout.put_nowait(b"")  # whoever reads after the end finds the end again

    async def wait(self) -> Finished:
        """How it ended; Missing, Refused or HelperFailed where it could not begin.

        OutOfMemory where its limit was too small, RunFailed where the helper ended before it.
        """
        await self._over.wait()
        if self._ended is None:
            raise self._channel.gone()
        stdout = b""
        while not self._stdout.empty():
            stdout += self._stdout.get_nowait()
        self._stdout.put_nowait(b"")
        ended = self._ended
        if refused := ended.get("refused"):
            raise _error(refused)
        if ended.get("over_memory"):
            raise OutOfMemory(self.argv[0], safe_lines(bytes(self._stderr)).strip())
        stderr = bytes(self._stderr) + str(ended.get("error", "")).encode()
        return Finished(self.argv, ended["exit_code"], stdout, stderr, ended["wall_s"], ended["cpu_s"], self.further)

    async def kill(self) -> None:
        """End it and everything it started, also if cancelled; RunFailed where even that does not end it."""
        if not self._over.is_set():
            await timeouts.to_the_end(self._kill())

    async def _kill(self) -> None:
        with contextlib.suppress(FswizardError):
            await self._channel.ask("kill", job=self._number)
        try:
            await timeouts.within(KILL_LIMIT_S, self._over.wait())
        except asyncio.TimeoutError:
            self._channel.waits_for_disk = timeouts.no_answer(self.argv[0])
            raise self._channel.waits_for_disk from None

    def take(self, message: Mapping[str, Any]) -> None:
        """What the helper says of it."""
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


class Channel:
    """To the running helper. When that ends, whatever waits for it gets RunFailed."""

    def __init__(self, process: asyncio.subprocess.Process, line: socket.socket) -> None:
        self._process = process
        self._line = line
        self._last_id = 0
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._jobs: dict[int, HelperProcess] = {}
        self._over = False
        self.waits_for_disk: RunFailed | None = None
        """Set once a program could not be ended: whatever else were ordered would wait for the same disk."""
        self._stderr = bytearray()
        self._tasks = [
            asyncio.create_task(self._read()),
            asyncio.create_task(self._read_errors()),
            asyncio.create_task(self._watch()),
        ]
        self.uid = -1
        """Whom workloads run as."""
        self.limits_memory = False
        """Programs can be given a memory limit."""

    @classmethod
    @asynccontextmanager
    async def start(cls, needed: Purpose = privilege.IMAGES) -> AsyncIterator[Self]:
        """Start the helper for one purpose; leaving ends it, and with it every mount, loop device and program of its.

        Missing where root's rights, or those of namespaces, cannot be had without a question.
        """
        way = privilege.way()
        if way not in BY:
            raise privilege.missing(way, needed)
        command = await asyncio.to_thread(helper_copy.command, needed.right)
        ours, theirs = socket.socketpair()
        try:
            process = await commands.converse(
                (*BY[way], *command), line=theirs, env=ENVIRONMENT, own_session=way == "root"
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        channel = cls(process, ours)
        try:
            await channel._greet(needed, QUESTION_LIMIT_S if way == "pkexec" else START_LIMIT_S)
            yield channel
        finally:
            await channel._end()

    async def ask(
        self, verb: str, /, *, given: int | None = None, limit_s: float = ANSWER_LIMIT_S, **fields: Any
    ) -> Any:
        """The helper's answer; for a job, its process. Refused, Missing or HelperFailed as the helper says.

        `given` is a descriptor that the helper gets and that is closed here. A job whose caller is cancelled before the
        answer has ended when this does.
        """
        if self._over:
            raise self.gone()
        self._last_id += 1
        answer = self._asked[self._last_id] = asyncio.get_running_loop().create_future()
        message = json.dumps({"id": self._last_id, "verb": verb, **fields}).encode() + b"\n"
        try:  # the line is taken whole: the helper reads whatever else it does
            sent = 0 if given is None else socket.send_fds(self._line, [message], [given])
            self._line.sendall(message[sent:])
        except OSError:  # it has ended, which its reader reports
            pass
        finally:
            if given is not None:
                os.close(given)
        try:
            return await timeouts.within(limit_s, asyncio.shield(answer))
        except asyncio.TimeoutError:
            answer.cancel()
            raise RunFailed(
                _("The privileged helper did not answer ({verb}).", verb=verb), _("The disk may be failing.")
            ) from None
        except asyncio.CancelledError:
            if self.uid < 0:  # before the greeting nothing begins, and somebody may type a password
                answer.cancel()
            else:
                await timeouts.to_the_end(self._drop(answer))
            raise

    async def _drop(self, answer: asyncio.Future[Any]) -> None:
        with contextlib.suppress(FswizardError, asyncio.TimeoutError):
            begun = await timeouts.within(ANSWER_LIMIT_S, answer)
            if isinstance(begun, HelperProcess):
                await begun.kill()

    def gone(self) -> RunFailed:
        text = safe_lines(bytes(self._stderr)).strip()
        return RunFailed(_("The privileged helper ended."), _("Nothing stays mounted; start the run again."), text)

    async def _greet(self, needed: Purpose, limit_s: float) -> None:
        try:
            hello = await self.ask("hello", limit_s=limit_s)
        except Refused as refused:
            raise Missing(refused.message, privilege.instead()) from None
        except RunFailed:
            unreadable = helper_copy.UNREADABLE in self._stderr
            state = "unreadable-helper" if unreadable else await asyncio.to_thread(privilege.state, needed)
            if state not in privilege.READY:
                raise privilege.missing(state, needed) from None
            raise Missing(
                _("The privileged helper could not be started."),
                f"{_('It needs root with the right to mount, which a container may lack.')} {_(needed.otherwise)}",
                safe_lines(bytes(self._stderr)).strip(),
            ) from None
        if hello["protocol"] != protocol.VERSION:
            raise Missing(_("The privileged helper has a different version."), helper_copy.remedy())
        self.uid = hello["uid"]
        self.limits_memory = hello["limits_memory"]

    async def _end(self) -> None:
        """End of input is the end of the helper, and the kernel clears up behind it."""
        self._line.close()
        try:
            await timeouts.within(END_LIMIT_S, self._process.wait())
        except asyncio.TimeoutError:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self._process.pid, signal.SIGKILL)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
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
            self._jobs[message["job"]].take(message)
            if "ended" in message:
                del self._jobs[message["job"]]
            return
        answer = self._asked.pop(message["id"])
        result: Any = message.get("ok")
        if result is not None and "job" in result:
            number = result["job"]
            result = self._jobs[number] = HelperProcess(self, number, result["pid"], result["commands"])
        if answer.done():  # nobody waits any more
            if isinstance(result, HelperProcess):
                self._tasks.append(asyncio.create_task(result.kill()))
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
        while self._process.returncode is None:  # wait() would wait for the helper's pipes, too
            await clock.pause(WATCH_EVERY_S)
        self._line.close()

    def _fail_all(self) -> None:
        self._over = True
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(self.gone())
        for job in self._jobs.values():
            job.end(None)
        self._asked.clear()
        self._jobs.clear()


def _error(error: Mapping[str, str]) -> FswizardError:
    text = _("The privileged helper: {reason}.", reason=safe(error["text"]))
    if error["code"] == "refused":
        return Refused(text, _("Nothing was changed."))
    if error["code"] == "missing":
        return Missing(text, _("`fswizard doctor` says how to get it."))
    return HelperFailed(text)
