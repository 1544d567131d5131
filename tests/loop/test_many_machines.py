"""The Ansible role on six machines: namespaces of this one, each with its own network, disk, home and sshd."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from fswizard import results
from fswizard.privileged import names
from fswizard.system import commands
from tests.loop.devices import Bench, run
from tests.loop.machine_state import descendants, wait_until
from tests.loop.people import SYSTEM_PYTHON, USERS, User
from tests.loop.tiny_run import fswizard
from tests.recipe_texts import writing

pytestmark = [
    pytest.mark.slow, pytest.mark.root, pytest.mark.loop, pytest.mark.fio, pytest.mark.sudo, pytest.mark.ansible,
    pytest.mark.sshd, pytest.mark.zipapp, USERS,
]  # fmt: skip

ROLE = Path(__file__).parents[2] / "packaging" / "ansible"
RECIPE = writing("64M", "4M", 0.1, candidates=("ext4", "ext4:noatime"))
DISK_BYTES = 3 << 30
LIMIT_S = 900.0
APART = ("unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child")
"""A machine of its own, which ends with all that runs on it."""
SWITCH = "ip link add lan type bridge && ip addr add 10.0.0.100/24 dev lan && ip link set lan up; echo up; exec cat"
BOOT = """
echo up; read -r plugged_in
ip link set lo up; ip addr add 10.0.0.NUMBER/24 dev eth0; ip link set eth0 up
mount --bind DISK /mnt; umount DISK
umask 077; : >> NAMES; : > /mnt/etc/names; mount --bind NAMES /mnt/etc/names
mount -t tmpfs none /run; mkdir -m 755 /run/sshd; : > NAMES; mount --bind /mnt/etc/names NAMES; umask 022
mount --bind /mnt/machine-id /etc/machine-id
mount --bind /mnt/root /root; mount --bind /mnt/tmp /tmp; mount --bind /mnt/var-tmp /var/tmp
exec SSHD -D -f /mnt/etc/sshd_config -E /mnt/etc/log
"""
"""Memory cgroups are the one kernel's, and so are the locks of their names."""
SSHD_CONFIG = """
HostKey /mnt/etc/host_key
AuthorizedKeysFile /mnt/etc/authorized_keys
StrictModes no
UsePAM no
PermitRootLogin yes
PidFile none
Subsystem sftp internal-sftp
"""


@dataclass
class Machine:
    """One that is booted again with the same disk after it died."""

    number: int
    disk: Path
    """Where its filesystem is mounted: its homes, its directories for temporary files."""
    user: User | None = None
    """Who logs in; root by default."""
    process: subprocess.Popen[str] | None = None

    @property
    def name(self) -> str:
        return f"m{self.number}"

    @property
    def results(self) -> list[Path]:
        return list((self.disk / "var-tmp").glob("fswizard-role.*/result.jsonl"))

    def kill(self) -> None:
        """As when its power is cut."""
        assert self.process is not None
        self.process.kill()
        self.process.communicate()

    def files(self) -> set[str]:
        """All on its disk but what sshd and Ansible keep: Ansible's directory for its own temporary files is empty."""
        every = (str(path.relative_to(self.disk)) for path in self.disk.rglob("*"))
        return {name for name in every if not re.search(r"^etc/(log|names)$|/\.ansible(/tmp)?$|^lost\+found", name)}


@dataclass
class Network:
    """Machines on one switch, and who measures on them."""

    directory: Path
    undo: ExitStack
    switch: int = 0
    machines: list[Machine] = field(default_factory=list)

    def start(self) -> None:
        process = _apart(SWITCH)
        self.undo.callback(process.communicate)
        self.undo.callback(process.kill)
        self.switch = _inside(process)
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.directory / "key"))

    def add(self, number: int, user: User | None = None, *options: str) -> Machine:
        directory = self.directory / str(number)
        directory.mkdir()
        bench = Bench(directory, self.undo)
        disk = bench.mount(bench.made("mkfs.ext4", "-Fq", size_bytes=DISK_BYTES).path, *options)
        for name, mode in {"etc": 0o755, "root": 0o700, "tmp": 0o1777, "var-tmp": 0o1777}.items():
            (disk / name).mkdir()
            (disk / name).chmod(mode)
        (disk / "machine-id").write_text(f"{number:032x}\n")
        (disk / "etc/sshd_config").write_text(SSHD_CONFIG)
        (disk / "etc/authorized_keys").write_text((self.directory / "key.pub").read_text())
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(disk / "etc/host_key"))
        if user is not None:
            home = disk / "var-tmp" / user.home.name
            for path in (home, home / "one", home / "two"):
                path.mkdir()
                os.chown(path, user.uid, user.gid)
        machine = Machine(number, disk, user)
        self.machines.append(machine)
        self.boot(machine)
        return machine

    def boot(self, machine: Machine) -> None:
        log = machine.disk / "etc/log"
        log.unlink(missing_ok=True)
        words = {
            "NUMBER": str(machine.number),
            "DISK": str(machine.disk),
            "SSHD": commands.located("sshd"),
            "NAMES": names.FILE,
        }
        process = _apart(re.sub("|".join(words), lambda match: words[match[0]], BOOT))
        machine.process = process
        self.undo.callback(process.communicate)
        self.undo.callback(process.kill)
        port = f"port{machine.number}"
        peer = ("peer", "name", "eth0", "netns", str(_inside(process)))
        at_switch = ("nsenter", f"--target={self.switch}", "--net")
        run(*at_switch, "ip", "link", "add", port, "type", "veth", *peer)
        run(*at_switch, "ip", "link", "set", port, "master", "lan", "up")
        assert process.stdin is not None
        process.stdin.write("plugged in\n")
        process.stdin.flush()
        wait_until(lambda: log.exists() and "listening" in log.read_text(), LIMIT_S, f"{machine.name} is up")

    def playbook(self, name: str, variables: dict[str, Any], *arguments: str) -> subprocess.Popen[str]:
        """Ansible at the switch; `variables` are those of machines, by their names."""
        inventory = self.directory / "inventory.json"
        inventory.write_text(json.dumps({"all": {"hosts": {
            machine.name: {
                "ansible_host": f"10.0.0.{machine.number}",
                "ansible_user": machine.user.name if machine.user else "root",
                "ansible_python_interpreter": SYSTEM_PYTHON,
                **variables.get(machine.name, {}),
            }
            for machine in self.machines
        }, "vars": variables["all"]}}))  # fmt: skip
        sockets = self.undo.enter_context(tempfile.TemporaryDirectory(prefix="fsw", dir="/tmp"))
        known = f"-o UserKnownHostsFile={self.directory}/known_hosts -o StrictHostKeyChecking=accept-new"
        env = {
            "ANSIBLE_HOME": str(self.directory / "ansible"),
            "ANSIBLE_SSH_CONTROL_PATH_DIR": sockets,
            "ANSIBLE_SSH_ARGS": f"-o ControlMaster=auto -o ControlPersist=5s -o IdentitiesOnly=yes {known}",
            "ANSIBLE_PRIVATE_KEY_FILE": str(self.directory / "key"),
            "ANSIBLE_TIMEOUT": "5",
            "ANSIBLE_NOCOLOR": "1",
        }
        at_switch = ("nsenter", f"--target={self.switch}", "--net", "--mount", "--pid")
        argv = [*at_switch, commands.located("ansible-playbook"), "--inventory", str(inventory), "--forks", "6"]
        return subprocess.Popen(
            [*argv, *arguments, str(ROLE / name)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, env={**os.environ, **env},
        )  # fmt: skip


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Network]:
    with ExitStack() as undo:
        network = Network(tmp_path, undo)
        network.start()
        yield network


def test_six_machines_of_which_one_dies_five_answers_and_one_clear_failure(
    network: Network, tmp_path: Path, nobody: User, trusted: User
) -> None:
    unprivileged, dying = network.add(2, nobody), network.add(3)
    network.add(1, None, "-o", "sync")
    with_sudo, *others = network.add(4, trusted), network.add(5), network.add(6)
    machines = network.machines
    before = {machine.name: machine.files() for machine in machines}
    (tmp_path / "tiny.toml").write_text(RECIPE)
    variables: dict[str, Any] = {
        "all": {
            "fswizard_recipe": str(tmp_path / "tiny.toml"), "fswizard_minutes": 1, "fswizard_give_up_minutes": 2,
            "fswizard_poll_seconds": 10, "fswizard_at_once": 3, "fswizard_write_budget": "5G",
            "fswizard_arguments": ["--rounds", "2..2"], "fswizard_results": str(tmp_path / "results"),
            "fswizard_place": "/var/tmp",
        },
        unprivileged.name: {"fswizard_directories": [str(nobody.home / name) for name in ("one", "two")]},
        dying.name: {"fswizard_arguments": ["--rounds", "12..12"]},
        others[0].name: {"fswizard_place": "/mnt/root", "fswizard_image_size": "64M"},
        others[1].name: {"fswizard_place": "", "fswizard_disks": f"{others[1].disk.parent}/disk$"},
    }  # fmt: skip

    playing = network.playbook("measure.yml", variables)
    wait_until(lambda: any('"sample":{"round":1' in path.read_text() for path in dying.results), LIMIT_S, "it measures")
    dying.kill()
    said, _ = playing.communicate(timeout=LIMIT_S)

    assert recap(said) == {machine.name: machine is not dying for machine in machines}, said
    assert re.findall(r"^fatal: \[(\w+)\]", said, re.MULTILINE) == [dying.name]
    assert f"{unprivileged.name} lacks root's rights (" in said
    healthy = [machine for machine in machines if machine is not dying]
    files = {machine.name: tmp_path / "results" / f"{machine.name}.jsonl" for machine in healthy}
    assert set((tmp_path / "results").iterdir()) == set(files.values())
    found = {name: results.load(path) for name, path in files.items()}
    assert {result.outcome for result in found.values()} == {"finished"}
    assert {name: result.plan.target.kind for name, result in found.items()} == {
        machine.name: "directory" if machine is unprivileged else "image" for machine in healthy
    }
    places = {name: result.plan.target.path for name, result in found.items()}
    assert (places[with_sudo.name], places[others[0].name], places[others[1].name]) == ("/var/tmp", "/mnt/root", "/mnt")
    for machine in healthy:
        assert machine.files() == before[machine.name]

    pooled = json.loads(fswizard("pool", "--json", *map(str, files.values()), code=0).stdout)
    (group,) = pooled["groups"]
    assert (group["machines"], group["results"]) == (4, 4)
    assert [item["name"] for item in pooled["left_out"]] == [str(files[unprivileged.name])], "no other has directories"

    assert dying.files() > before[dying.name], "it could not be reached any more"
    network.boot(dying)
    cleaned, _ = network.playbook("clean.yml", variables, "--limit", dying.name).communicate(timeout=LIMIT_S)
    assert recap(cleaned) == {dying.name: True}, cleaned
    assert dying.files() == before[dying.name]

    skipping, _ = network.playbook("measure.yml", {**variables, "all": variables["all"] | {
        "fswizard_disks": "no such disk", "fswizard_results": str(tmp_path / "nothing"),
    }}, "--limit", dying.name).communicate(timeout=LIMIT_S)  # fmt: skip
    assert recap(skipping) == {dying.name: True}, skipping
    assert f"{dying.name} is skipped: none of its disks matches 'no such disk'." in skipping
    assert not (tmp_path / "nothing").exists()
    assert dying.files() == before[dying.name]


def test_of_a_run_that_is_killed_the_figures_come_home_and_nothing_stays(network: Network, tmp_path: Path) -> None:
    machine = network.add(1)
    before = machine.files()
    (tmp_path / "tiny.toml").write_text(RECIPE)
    variables: dict[str, Any] = {"all": {
        "fswizard_recipe": str(tmp_path / "tiny.toml"), "fswizard_arguments": ["--rounds", "12..12"],
        "fswizard_place": "/var/tmp", "fswizard_poll_seconds": 1, "fswizard_results": str(tmp_path / "results"),
    }}  # fmt: skip

    playing = network.playbook("measure.yml", variables)
    wait_until(
        lambda: any('"sample":{"round":2' in path.read_text() for path in machine.results), LIMIT_S, "it measures"
    )
    assert machine.process is not None
    (killed,) = (each for each in descendants(machine.process.pid) if "--output" in each.cmdline() and _is_python(each))
    killed.kill()
    said, _ = playing.communicate(timeout=LIMIT_S)

    assert recap(said) == {machine.name: False}, said
    assert len(re.findall(r"^fatal: ", said, re.MULTILINE)) == 1
    assert f"{machine.name}: the run ended with code -9" in said
    result = results.load(tmp_path / "results" / f"{machine.name}.jsonl")
    assert (result.outcome, {sample.round for sample in result.samples if sample.primary} >= {1}) == ("killed", True)
    assert machine.files() == before


def _is_python(process: psutil.Process) -> bool:
    return process.name().startswith("python")


def recap(said: str) -> dict[str, bool]:
    """Of each machine, whether all went well."""
    lines = re.findall(r"^(m\d+) .*unreachable=(\d+) +failed=(\d+)", said, re.MULTILINE)
    return {name: unreachable == failed == "0" for name, unreachable, failed in lines}


def _apart(script: str) -> subprocess.Popen[str]:
    """A shell on a machine of its own, which has said a line."""
    process = subprocess.Popen([*APART, "sh", "-ec", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline(), "it did not start"
    return process


def _inside(process: subprocess.Popen[str]) -> int:
    """The first process of that machine."""
    (first,) = psutil.Process(process.pid).children()
    return first.pid
