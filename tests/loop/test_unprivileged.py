"""Somebody who is not root: with sudo, and without any."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, PackagePath, files, requires
from pathlib import Path

import pytest

import fswizard
from fswizard import results
from tests.loop.fault_table import fault
from tests.loop.machine_state import assert_nothing_lives, descendants, process_named
from tests.loop.people import Person, person
from tests.loop.tiny_run import RECIPE, Run

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.sudo, pytest.mark.fio]

CAPABILITIES = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")


def with_packages(made: Person) -> Person:
    """The program with all it needs, where the person can read it: the tests' own may stand in root's home."""
    packages = made.home / "packages"
    for file in set(_needed("fswizard")):
        source, target = Path(str(file.locate())), packages / file
        if source.is_file() and ".." not in file.parts:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    root = Path(fswizard.__file__).parent.parent
    shutil.copytree(root / "recipes", made.home / "recipes")
    (made.home / "tiny.toml").write_text(RECIPE)
    subprocess.run(["chown", "-R", f"{made.uid}:{made.gid}", str(made.home)], check=True)
    return made


def _needed(name: str) -> Iterator[PackagePath]:
    """Files of all that a distribution requires."""
    for requirement in requires(name) or ():
        if match := re.match(r"[\w.-]+(?=[^;]*$)", requirement):
            with contextlib.suppress(PackageNotFoundError):
                yield from files(match[0]) or ()
                yield from _needed(match[0])


@pytest.fixture(scope="module")
def trusted() -> Iterator[Person]:
    with person("USER ALL=(ALL) NOPASSWD: ALL") as made:
        yield with_packages(made)


@pytest.fixture(scope="module")
def nobody() -> Iterator[Person]:
    with person("") as made:
        yield with_packages(made)


def start(made: Person, *arguments: str) -> subprocess.Popen[str]:
    """`fswizard` as this person calls it."""
    script = f"sys.path.insert(1, {str(made.home / 'packages')!r})\nfrom fswizard.__main__ import main\nmain()"
    return subprocess.Popen(
        made.command(script, *arguments), cwd=made.home, text=True, start_new_session=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def run(made: Person, *arguments: str) -> subprocess.CompletedProcess[str]:
    process = start(made, *arguments)
    stdout, stderr = process.communicate(timeout=240)
    return subprocess.CompletedProcess(arguments, process.returncode, stdout, stderr)


def status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


@fault("rights", "no root, no sudo", "directories, by a user made for the test")
def test_directories_need_no_rights(nobody: Person) -> None:
    for name in ("first", "second"):
        (nobody.home / name).mkdir()
        shutil.chown(nobody.home / name, nobody.uid, nobody.gid)
    target = f"dir:{nobody.home / 'first'},{nobody.home / 'second'}"
    done = run(nobody, "run", "tiny.toml", "--target", target, "--rounds", "2..2", "--output", "result.jsonl")
    assert done.returncode == 0, done.stderr
    result = results.load(nobody.home / "result.jsonl")
    assert result.outcome == "finished"
    assert {sample.round for sample in result.samples if sample.primary} == {1, 2}
    assert list((nobody.home / "first").iterdir()) == []
    assert (nobody.home / "result.jsonl").stat().st_uid == nobody.uid


@fault("rights", "no root, no sudo", "an image, by a user made for the test")
def test_without_rights_an_image_explains_itself(nobody: Person) -> None:
    done = run(nobody, "run", "tiny.toml", "--target", f"image:128M@{nobody.home}", "--output", "image.jsonl")
    assert done.returncode == 4, done.stderr
    assert "needs root" in done.stderr
    assert "--target dir:" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(nobody.home.glob("fswizard-*"))


def holds_anything(device: str) -> bool:
    data = Path(device).read_bytes()
    return data.count(0) < len(data)


@contextlib.contextmanager
def readable_disk(directory: Path) -> Iterator[tuple[str, str]]:
    """An empty device that everybody may look at, and its identifier."""
    file = directory / "disk"
    file.touch()
    os.truncate(file, 128 << 20)
    command = ["losetup", "--find", "--show", str(file)]
    device = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    before = os.stat(device).st_mode
    try:
        os.chmod(device, 0o644)
        yield device, str(file)
    finally:
        os.chmod(device, before)
        subprocess.run(["losetup", "--detach", device], check=True)


@fault("rights", "no root, no sudo", "a probe of a device, by a user made for the test")
def test_without_rights_a_probe_of_a_device_explains_itself(nobody: Person, tmp_path: Path) -> None:
    with readable_disk(tmp_path) as (device, serial):
        done = run(nobody, "smr", "--probe", device, "--erase", serial, "--time", "2s")
        assert not holds_anything(device)
    assert done.returncode == 4, done.stderr
    assert "Writing to a device needs root" in done.stderr
    assert "directory on the disk" in done.stderr
    assert "Traceback" not in done.stderr


@fault("rights", "sudo, not root", "a probe of a device: the person's own process never opens it for writing")
def test_with_sudo_a_probe_of_a_device_is_roots_work(trusted: Person, tmp_path: Path) -> None:
    with readable_disk(tmp_path) as (device, serial):
        done = run(trusted, "smr", "--probe", device, "--erase", serial, "--time", "2s", "--json")
        assert holds_anything(device)
    assert done.returncode == 0, done.stderr
    assert "Writes up to" in done.stderr
    assert '"verdict"' in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [("drives",), ("drives", "--json"), ("recipes",), ("plan", "tiny.toml", "--target", "image:128M@."), ("doctor",),
     ("history",), ("clean",), ("published",)],
)  # fmt: skip
@fault("rights", "no root, no sudo", "all that only looks")
def test_what_only_looks_needs_no_rights(nobody: Person, arguments: tuple[str, ...]) -> None:
    done = run(nobody, *arguments)
    assert done.returncode in (0, 4), done.stderr  # doctor tells by 4 that something is missing
    assert "Traceback" not in done.stderr


@fault("rights", "a state directory that somebody else owns", "~/.local/state owned by root")
def test_a_state_directory_of_roots_is_one_clear_error(nobody: Person) -> None:
    state = nobody.home / ".local" / "state" / "fswizard"
    shutil.rmtree(state, ignore_errors=True)
    state.mkdir(parents=True)
    try:
        done = run(nobody, "run", "tiny.toml", "--target", f"dir:{nobody.home}", "--output", "denied.jsonl")
        assert done.returncode in (1, 2), done.stderr
        assert "XDG_STATE_HOME" in done.stderr
        assert "Traceback" not in done.stderr
        assert run(nobody, "clean").returncode == 0
    finally:
        shutil.rmtree(nobody.home / ".local")


@fault("rights", "sudo without a password", "an image; workloads' user and capabilities read from /proc")
def test_with_sudo_workloads_are_the_persons_and_have_no_capability(trusted: Person) -> None:
    process = start(
        trusted, "run", "tiny.toml", "--target", f"image:128M@{trusted.home}", "--rounds", "2..2",
        "--output", "result.jsonl",
    )  # fmt: skip
    Run(process, trusted.home, trusted.home / "result.jsonl").await_words("round 1, .*Random writes")
    told = status(process_named("fio", process.pid))
    assert told["Uid"].split() == [str(trusted.uid)] * 4
    assert told["Gid"].split() == [str(trusted.gid)] * 4
    assert {int(told[name], 16) for name in CAPABILITIES} == {0}
    assert told["NoNewPrivs"] == "1"
    assert status(process.pid)["Uid"].split() == [str(trusted.uid)] * 4
    stdout, stderr = process.communicate(timeout=240)
    assert process.returncode == 0, stderr
    assert re.search(r"ext4", stdout)
    assert results.load(trusted.home / "result.jsonl").outcome == "finished"
    assert not list(trusted.home.glob("fswizard-*"))
    assert {path.stat().st_uid for path in trusted.home.rglob("*")} == {trusted.uid}, "nothing is root's afterwards"


@fault("signals", "the run is killed", "SIGKILL of a run whose helper came by sudo")
def test_killed_with_sudo_in_between_all_goes_with_it(trusted: Person) -> None:
    process = start(trusted, "run", "tiny.toml", "--target", f"image:128M@{trusted.home}", "--output", "killed.jsonl")
    Run(process, trusted.home, trusted.home / "killed.jsonl").await_words("round 1, .*Random writes")
    process_named("fio", process.pid)
    below = descendants(process.pid)
    assert below
    process.kill()
    process.communicate()
    assert_nothing_lives(trusted.home, below)
    assert results.load(trusted.home / "killed.jsonl").outcome == "killed"
    time.sleep(0.1)
    cleaned = run(trusted, "clean")
    assert cleaned.returncode == 0, cleaned.stderr
    assert "removed" in cleaned.stdout
    assert not list(trusted.home.glob("fswizard-*"))
