"""Which lines of the kernel's log count as errors of the device that a candidate lies on."""

from __future__ import annotations

import socket

from fswizard.privileged import volumes
from fswizard.privileged.images import Image
from fswizard.privileged.loop_device import LoopDevice
from fswizard.privileged.pools import Pool
from fswizard.privileged.volumes import Volume


def told(*records: str) -> list[str]:
    """What is taken for an error of loop0, among these records of the kernel's log."""
    log, kernel = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    log.setblocking(False)
    with log, kernel:
        for record in records:
            kernel.send(record.encode())
        volume = Volume(1, LoopDevice(-1, "loop0", True, Image(-1, 0)), log.fileno(), Pool("fswizard-test", -1))
        return volumes.new_kernel_errors(volume)


def test_an_error_that_names_the_device_counts() -> None:
    text = "I/O error, dev loop0, sector 8 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2"
    assert told(f"3,100,5000,-;{text}\n SUBSYSTEM=block\n") == [text]


def test_of_another_device_or_less_grave_it_does_not() -> None:
    assert (
        told("3,100,5000,-;I/O error, dev loop01, sector 8\n", "6,101,5001,-;loop0: detected capacity change\n") == []
    )


def test_a_way_of_zeroing_that_the_device_has_not_is_no_fault() -> None:
    text = "operation not supported error, dev loop0, sector 17008 op 0x9:(WRITE_ZEROES) flags 0x8000800 phys_seg 0"
    assert told(f"3,100,5000,-;{text} prio class 2\n") == []
