"""The file-server mix must measure the filesystem and not Python: it is held against the same loop in C on tmpfs."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fswizard.bench.workloads import fileserver_worker

FILES, MEAN_FILE, MEAN_APPEND, SECONDS, PAIRS = 100, 1_310_720, 16_384, 2, 5
LOOP = Path(__file__).with_name("fileserver_loop.c")


@pytest.fixture
def tmpfs(tmp_path: Path) -> Iterator[Path]:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1G", "fswizard-test", str(tmp_path)], check=True)
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)


def output(*argv: str) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def python(what: str, directory: Path) -> str:
    words = [what, str(directory), "1", str(FILES), str(MEAN_FILE), str(MEAN_APPEND), str(SECONDS), "1"]
    return output(sys.executable, "-I", "-S", str(fileserver_worker.__file__), *words)


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_mix_reaches_85_percent_of_a_c_loop_on_tmpfs(tmpfs: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    program = str(tmp_path_factory.mktemp("c") / "loop")
    output("cc", "-O2", "-o", program, str(LOOP), "-lm")
    ratios = []
    for number in range(PAIRS):
        directory = tmpfs / f"{number}"
        python("prepare", directory)
        in_c = float(output(program, str(directory), *map(str, (FILES, MEAN_FILE, MEAN_APPEND, SECONDS))))
        shutil.rmtree(directory)
        python("prepare", directory)
        told = json.loads(python("run", directory).splitlines()[-1])
        shutil.rmtree(directory)
        ratios.append(told["operations"] / told["elapsed_s"] / in_c)
    print("python over C:", *(f"{ratio:.2f}" for ratio in ratios))
    assert statistics.median(ratios) >= 0.85
