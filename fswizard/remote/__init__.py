"""Disks of another machine: OpenSSH brings this very program there, and orders and events to and fro."""

from fswizard.remote.host import Host
from fswizard.remote.machine import RemoteMachine
from fswizard.remote.serving import relay, serve

__all__ = ["Host", "RemoteMachine", "relay", "serve"]
