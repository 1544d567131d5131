"""Disks of another machine: OpenSSH brings this very program there, which runs there on this terminal."""

from fswizard.remote.host import Host

__all__ = ["Host"]
