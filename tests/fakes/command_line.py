"""The command line as people call it, without a terminal and without a process of its own."""

from __future__ import annotations

import io
import sys
from subprocess import CompletedProcess

import pytest

from fswizard.__main__ import main


def fswizard(*arguments: str, stdin: bytes = b"", encoding: str = "utf-8") -> CompletedProcess[str]:
    """What `fswizard ARGUMENTS` prints and with which code it ends."""
    argv = ["fswizard", *arguments]
    outputs = {name: io.TextIOWrapper(io.BytesIO(), encoding) for name in ("stdout", "stderr")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", argv)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        for name, stream in outputs.items():
            patch.setattr(sys, name, stream)
        with pytest.raises(SystemExit) as ended:
            main()
    said = []
    for stream in outputs.values():
        stream.seek(0)
        said.append(stream.read())
    return CompletedProcess(argv, int(ended.value.code or 0), *said)
