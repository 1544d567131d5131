"""Errors that nobody thought of are answers, and so is what a channel that is no socket cannot carry."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from fswizard import privileged
from tests.loop.channel import HELPER, Channel, make_image, nameless

pytestmark = [pytest.mark.root, pytest.mark.loop]

FAULTS = {
    "self._jobs.kill(job)": "self._jobs.kill(job / 0)",
    "volume.made = filesystem": "volume.made = made_of_nothing",
}
"""In an answer, and at the end of a job."""


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    """The helper, with faults."""
    copy = tmp_path / "fswizard" / "privileged"
    shutil.copytree(Path(privileged.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    texts = {path: path.read_text() for path in copy.glob("*.py")}
    for right, wrong in FAULTS.items():
        (path,) = (path for path, text in texts.items() if right in text)
        path.write_text(path.read_text().replace(right, wrong))
    return copy / "__main__.py"


def test_an_error_that_nobody_thought_of_is_an_answer_and_not_the_end(faulty: Path, tmp_path: Path) -> None:
    with Channel(program=faulty) as channel:
        handle = channel.ask("attach", given=nameless(make_image(tmp_path)))["ok"]["handle"]
        pid = channel.helper_pid
        error = channel.ask("kill", job=1)["error"]
        assert error["code"] == "failed"
        assert "unexpected error: ZeroDivisionError" in error["text"]
        ended = channel.ask("mkfs", handle=handle, filesystem="ext4", arguments=["-q"])["ended"]
        assert ended["exit_code"] != 0
        assert "unexpected error: NameError" in ended["error"]
        assert channel.ask("mount", handle=handle, filesystem="ext4", options=[])["error"]["code"] == "refused"
        assert "ok" in channel.ask("detach", handle=handle)
        assert channel.helper_pid == pid


def test_without_a_socket_no_image_comes_and_that_is_said() -> None:
    """As where sudo records what is typed, and stands between with pipes."""
    orders = [{"id": 1, "verb": "attach"}, {"id": 2, "verb": "hello"}]
    lines = "".join(json.dumps(order) + "\n" for order in orders)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SUDO_")}
    done = subprocess.run([*HELPER, "images"], input=lines, capture_output=True, text=True, check=True, env=environment)
    attach, hello = map(json.loads, done.stdout.splitlines())
    assert attach["error"] == {"code": "invalid", "text": "attach: no descriptor came with it"}
    assert hello["ok"]["uid"] == 0
