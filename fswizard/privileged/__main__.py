#!/usr/bin/python3 -ISBXutf8
"""Starts the helper for one right, as `__main__.py images`; `__main__.py confirm 8:16` has the user confirm erasing.

`__main__.py install` and `__main__.py remove` put this program where only root can change it, and take it away.

The helper speaks the protocol on standard input and output, and lives as long as standard input is open. Everything
that it mounts or starts ends with it: it has namespaces of its own, killed with their first process. With propagation
`slave` the host sees none of its mounts, while it follows the host's: a stick that the user unmounts meanwhile is not
kept mounted here, unwritten.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from fswizard.privileged import identity, programs, rights, system_calls
from fswizard.privileged.protocol import Refusal

NAMESPACES = ("--mount", "--propagation", "slave", "--pid", "--fork", "--kill-child")
PYTHON = ("-I", "-S", "-B", "-X", "utf8")


def main(arguments: Sequence[str]) -> None:
    if os.geteuid() != 0:
        sys.exit("the privileged helper needs root")
    os.umask(0o077)
    os.chdir("/")
    right, *further = arguments or [""]
    if right == rights.CONFIRM:
        _confirm(further)
    elif right in (rights.INSTALL, rights.REMOVE) and not further:
        _install(right)
    elif right not in rights.VERBS or further:
        known = ", ".join(rights.VERBS)
        sys.exit(f"the privileged helper is started for one right ({known}), not for {' '.join(arguments)!r:.80}")
    elif os.getpid() != 1:
        _enter_namespaces(right)
    else:
        _serve(right)


def _confirm(numbers: Sequence[str]) -> None:
    """On standard output is why not, if so; the question itself is on the terminal."""
    from fswizard.privileged import consent

    signal.signal(signal.SIGTSTP, signal.SIG_IGN)  # whoever waits for the answer would be stopped, too
    signal.signal(signal.SIGTTIN, signal.SIG_DFL)  # sudo ignores it, and in the background reading would fail
    try:
        consent.confirm(numbers, identity.invoking_user(os.environ))
    except Refusal as refusal:
        reason = refusal.text
    except OSError as error:
        reason = f"{error.filename or consent.TERMINAL}: {error.strerror}"
    except KeyboardInterrupt:
        reason = "you interrupted it"
    else:
        return
    print(reason)
    sys.exit(1)


def _install(what: str) -> None:
    """On standard output is why not, if so."""
    from fswizard.privileged import install

    os.umask(0o022)
    try:
        (install.install if what == rights.INSTALL else install.remove)()
    except Refusal as refusal:
        reason = refusal.text
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}"
    else:
        return
    print(reason)
    sys.exit(1)


def _enter_namespaces(right: str) -> None:
    """Become `unshare`, which starts this file again as the first process of a PID namespace."""
    try:
        unshare = programs.find("unshare")
    except Refusal as refusal:
        sys.exit(refusal.text)
    said = {name: os.environ[name] for name in identity.READ_VARIABLES if name in os.environ}
    again = (sys.executable, *PYTHON, os.path.abspath(__file__), right)
    os.execve(unshare, (unshare, *NAMESPACES, "--", *again), {**programs.ROOT_ENVIRONMENT, **said})


def _serve(right: str) -> None:
    from fswizard.privileged import server

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP):
        signal.signal(number, signal.SIG_IGN)  # the terminal's signals are for the client, which decides
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    system_calls.keep_capabilities()
    programs.mounted_at_start()
    try:
        user = identity.invoking_user(os.environ)
    except Refusal as refusal:
        server.refuse(refusal)
    else:
        server.Server(user, right).serve()


if __name__ == "__main__":
    main(sys.argv[1:])
