#!/usr/bin/python3 -ISBXutf8
"""Starts the helper for one right, as `__main__.py images`; `__main__.py confirm 8:16` has the user confirm erasing.

`__main__.py install` and `__main__.py remove` put this program where only root can change it, and take it away.

The helper speaks the protocol on standard input and output, and lives as long as standard input is open. Everything
that it mounts or starts ends with it: it has namespaces of its own, killed with their first process. With propagation
`slave` the host sees none of its mounts, while it follows the host's: a stick that the user unmounts meanwhile is not
kept mounted here, unwritten.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Sequence

sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from fswizard.privileged import identity, inherited, programs, rights, system_calls
from fswizard.privileged.protocol import Refusal

TERMINAL_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP)
OUTSIDE = "fswizard-helper"
"""What the process outside of the namespaces is called."""
CLEARING_LIMIT_S = 5.0
"""For the kernel to clear the namespaces away, which is done in a moment."""


def main(arguments: Sequence[str]) -> None:
    if os.geteuid() != 0:
        sys.exit("the privileged helper needs root")
    said = {name: os.environ[name] for name in identity.READ_VARIABLES if name in os.environ}
    inherited.reset({**programs.ROOT_ENVIRONMENT, **said})
    right, *further = arguments or [""]
    if right == rights.CONFIRM or (right in (rights.INSTALL, rights.REMOVE) and not further):
        _do_once(right, further)
    elif right not in rights.VERBS or further:
        known = ", ".join(rights.VERBS)
        sys.exit(f"the privileged helper is started for one right ({known}), not for {' '.join(arguments)!r:.80}")
    elif right == rights.SET_UP:
        _set_up()
    else:
        _enter_namespaces()
        _serve(right)


def _do_once(what: str, numbers: Sequence[str]) -> None:
    """Confirm, install or remove. On standard output is why not, if so; a question is on the terminal."""
    from fswizard.privileged import consent, install

    try:
        if what == rights.CONFIRM:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGTSTP, signal.SIG_IGN)  # whoever waits for the answer would be stopped, too
            consent.confirm(numbers, identity.invoking_user(os.environ))
        else:
            os.umask(0o022)
            (install.install if what == rights.INSTALL else install.remove)()
    except Refusal as refusal:
        reason = refusal.text
    except OSError as error:
        place = consent.TERMINAL if what == rights.CONFIRM else install.INSTALLED
        reason = f"{error.filename or place}: {error.strerror}"
    except KeyboardInterrupt:
        reason = "you interrupted it"
    else:
        return
    print(reason)
    sys.exit(1)


def _enter_namespaces() -> None:
    """Return in the first process of new namespaces; this one stays outside and ends when that one does.

    It does not wait for the kernel to clear the namespaces away: a process in them may wait for ever for an answer
    from a filesystem of the user's.
    """
    alive, held = os.pipe()
    try:
        system_calls.unshare(system_calls.CLONE_NEWNS | system_calls.CLONE_NEWPID)
        system_calls.mount("none", "/", "", system_calls.MS_REC | system_calls.MS_SLAVE)
    except OSError as error:
        sys.exit(f"unshare: {error.strerror}")
    child = os.fork()
    if child == 0:
        system_calls.die_with_parent()
        os.close(alive)
        os.write(held, b".")  # fails where the parent ended before that; closed by the kernel at the end
        return
    for number in TERMINAL_SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # the one inside decides
    system_calls.set_name(OUTSIDE)
    os.close(held)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    while os.read(alive, 1):
        pass
    programs.poll(lambda: os.waitpid(child, os.WNOHANG)[0], bool, CLEARING_LIMIT_S)
    os._exit(0)


def _set_up() -> None:
    """In the namespaces of the machine, where what it mounts stays."""
    from fswizard.privileged import setting_up

    def begin() -> identity.User:
        inherited.set_limits()
        system_calls.keep_capabilities()
        programs.mounted_at_start()
        return identity.invoking_user(os.environ)

    with contextlib.suppress(PermissionError):  # it leads a group of its own already
        os.setsid()
    setting_up.serve(begin)


def _serve(right: str) -> None:
    from fswizard.privileged import server

    for number in TERMINAL_SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # the terminal's signals are for the client, which decides
    os.setsid()
    try:
        limits = inherited.set_limits()
        system_calls.keep_capabilities()
        programs.mounted_at_start()
        user = identity.invoking_user(os.environ)
    except Refusal as refusal:
        server.refuse(refusal)
    else:
        server.Server(user, right, limits).serve()


if __name__ == "__main__":
    main(sys.argv[1:])
