"""Starts the helper: `unshare --mount --propagation slave --pid --fork --kill-child python3 -I -S -B THIS`.

It speaks the protocol on standard input and output, and lives as long as standard input is open.
"""

from __future__ import annotations

import os
import signal
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from fswizard.privileged import identity, programs, server, system_calls
from fswizard.privileged.protocol import Refusal


def main() -> None:
    if os.geteuid() != 0:
        sys.exit("the privileged helper needs root")
    if os.getpid() != 1:
        sys.exit("the privileged helper runs as the first process of a PID namespace only")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP):
        signal.signal(number, signal.SIG_IGN)  # the terminal's signals are for the client, which decides
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.umask(0o077)
    os.chdir("/")
    system_calls.keep_capabilities()
    programs.mounted_at_start()
    try:
        person = identity.invoking_person(os.environ)
    except Refusal as refusal:
        server.refuse(refusal)
    else:
        server.Server(person).serve()


if __name__ == "__main__":
    main()
