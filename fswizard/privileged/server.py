"""The helper's loop: requests in, answers and the jobs' output out, never waiting for any of them."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import stat
import traceback
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from typing import Any

from fswizard.privileged import protocol
from fswizard.privileged.identity import User
from fswizard.privileged.inherited import Limits
from fswizard.privileged.jobs import Jobs
from fswizard.privileged.protocol import Refusal
from fswizard.privileged.verbs import Verbs

STDIN, STDOUT = 0, 1
MAXIMUM_UNSENT_BYTES = 8 << 20
"""A client that does not read is not listened to any more."""
CROWDED_S = 1.0
"""How often it is looked whether such a client is gone."""
END_LIMIT_S = 60
"""For undoing everything; the kernel undoes what is left."""
MAXIMUM_DESCRIPTORS = 4
"""At a time; more are closed by the kernel."""


class Server:
    def __init__(self, user: User, right: str, limits: Limits) -> None:
        self._pending = bytearray()
        self._unsent = bytearray()
        self._selector = DefaultSelector()
        self._crowded = DefaultSelector()
        self._jobs = Jobs(self._selector, self._send, limits)
        self._socket = socket.socket(fileno=STDIN) if stat.S_ISSOCK(os.fstat(STDIN).st_mode) else None
        """Without one, as where sudo records what is typed, no descriptor can come."""
        self._verbs = Verbs(user, self._jobs, right)

    def serve(self) -> None:
        """Until the client is gone; with the helper, PID 1, the kernel ends everything in the namespaces."""
        os.set_blocking(STDOUT, False)
        ended = _child_exits()
        for selector in (self._selector, self._crowded):
            selector.register(ended, EVENT_READ, lambda: self._reap(ended))
        try:
            self._selector.register(STDIN, EVENT_READ, self._listen)
        except PermissionError:  # /dev/null, as whoever only looks whether this can be started has it
            return
        self._crowded.register(STDOUT, EVENT_WRITE, self._flush)
        try:
            self._serve()
        finally:
            signal.signal(signal.SIGALRM, lambda number, frame: os._exit(1))
            signal.alarm(END_LIMIT_S)
            self._verbs.end()

    def _serve(self) -> None:
        while True:
            crowded = len(self._unsent) > MAXIMUM_UNSENT_BYTES
            if crowded:
                poll = select.poll()
                poll.register(STDIN, select.POLLRDHUP)
                if poll.poll(0):  # the client has closed its end, also with requests before that which were not read
                    raise SystemExit
            selector, limit_s = self._crowded if crowded else self._selector, self._jobs.next_limit_s()
            for key, _ in selector.select(CROWDED_S if crowded and limit_s is None else limit_s):
                if selector.get_map().get(key.fd) is key:  # an earlier one of this round may have closed it
                    key.data()
            self._jobs.give_up()
            self._flush()

    def _listen(self) -> None:
        if self._socket is None:
            data = os.read(STDIN, 65536)
        else:
            data, given, *_ = socket.recv_fds(self._socket, 65536, MAXIMUM_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC)
            self._verbs.take(given)
        if not data:
            raise SystemExit
        for line in protocol.lines(self._pending, data):
            self._answer(line)

    def _answer(self, line: bytes | None) -> None:
        number = None
        try:
            if line is None:
                raise Refusal("invalid", f"a line is longer than {protocol.MAXIMUM_LINE_BYTES} bytes")
            request = protocol.request(line)
            number = request.id
            self._send({"id": number, "ok": self._verbs.carry_out(request)})
        except Refusal as refusal:
            self._send(_error(refusal.request if number is None else number, refusal))
        except OSError as error:
            self._send({"id": number, "error": {"code": "failed", "text": f"{error.strerror or error}"}})
        except Exception as error:  # an error is an answer, and does not end the helper
            traceback.print_exc()
            self._send({"id": number, "error": {"code": "failed", "text": f"an unexpected error: {error!r:.200}"}})

    def _reap(self, ended: int) -> None:
        os.read(ended, 4096)
        self._jobs.reap()

    def _send(self, message: dict[str, Any]) -> None:
        self._unsent += json.dumps(message).encode() + b"\n"

    def _flush(self) -> None:
        """Send what the client takes; the rest waits until it reads on."""
        try:
            while self._unsent:
                del self._unsent[: os.write(STDOUT, self._unsent)]
        except BlockingIOError:
            self._watch_stdout(True)
        except BrokenPipeError:
            raise SystemExit from None
        else:
            self._watch_stdout(False)

    def _watch_stdout(self, wanted: bool) -> None:
        watched = STDOUT in self._selector.get_map()
        if wanted and not watched:
            self._selector.register(STDOUT, EVENT_WRITE, self._flush)
        if watched and not wanted:
            self._selector.unregister(STDOUT)


def refuse(refusal: Refusal) -> None:
    """Answer the first request with why none is carried out."""
    for line in protocol.lines(bytearray(), os.read(STDIN, protocol.MAXIMUM_LINE_BYTES)):
        number = None
        with contextlib.suppress(Refusal):
            number = protocol.request(line or b"").id
        os.write(STDOUT, json.dumps(_error(number, refusal)).encode() + b"\n")


def _error(number: int | None, refusal: Refusal) -> dict[str, Any]:
    return {"id": number, "error": {"code": refusal.code, "text": refusal.text}}


def _child_exits() -> int:
    """A descriptor that becomes readable when a child ended."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    return reader
