"""Model objects from JSON, in several threads."""

from __future__ import annotations

import subprocess
import sys

MANY_THREADS = """
from __future__ import annotations
import dataclasses, sys, threading
from fswizard.model.codec import from_json

data = 1
Level0 = int
for number in range(1, 100):
    exec(f"@dataclasses.dataclass\\nclass Level{number}:\\n    value: Level{number - 1}")
    data = {"value": data}
sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=from_json, args=(Level99, data)) for _ in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_types_that_several_threads_meet_for_the_first_time_at_once_are_converted() -> None:
    ran = subprocess.run([sys.executable, "-c", MANY_THREADS], check=False, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
