"""The Ansible role: its variables, and what it has a stand-in for fswizard do."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fswizard.targets import privilege

ANSIBLE = Path(__file__).parents[2] / "packaging" / "ansible"
ROLE = ANSIBLE / "roles" / "fswizard"

STAND_IN = """
import json, sys, time
from pathlib import Path
words = sys.argv[1:]
if words[0] == "doctor":
    rights = {"name": "root's rights", "found": True, "version": "as root, who started fswizard", "reason": ""}
    fio = {"name": "fio", "found": False, "version": "", "package": "fio-package", "reason": ""}
    print(json.dumps({"checked": [rights, fio], "command": ""}))
    sys.exit(4)
if words[0] == "drives":
    disk = {"name": "sda", "model": "Disk A", "serial": "SERIAL-1", "stable_name": "/dev/disk/by-id/a"}
    other = {"name": "sdb", "model": "Disk B", "serial": "SERIAL-12", "stable_name": "/dev/disk/by-id/b"}
    print(json.dumps([{**each, "partitions": []} for each in (disk, other)]))
if words[0] == "run":
    Path(words[words.index("--output") + 1]).write_text(json.dumps(words))
    if words[1] == "endless":
        time.sleep(600)
    if words[1] == "broken":
        sys.exit("It measures ...\\nfswizard: The disk is full.\\n  Free some space.")
"""


def test_the_page_has_every_variable_and_rights_that_take_a_password_are_told_by_their_words() -> None:
    defaults = re.findall(r"^(\w+):", (ROLE / "defaults/main.yml").read_text(), re.MULTILINE)
    table = re.findall(r"^\| `(\w+)` \|", (ANSIBLE / "README.md").read_text(), re.MULTILINE)
    assert sorted(defaults) == sorted(table)
    used = {name for path in ANSIBLE.rglob("*.yml") for name in re.findall(r"\bfswizard_\w+", path.read_text())}
    assert used - {"fswizard_results"} == {*defaults} - {"fswizard_results"}
    assert '"asks" not in' in (ROLE / "vars/main.yml").read_text().replace("'", '"')
    asking = {state for state, text in privilege.REASONS.items() if "asks" in text}
    assert asking == {"sudo-asks", "pkexec"}


def play(tmp_path: Path, hosts: dict[str, Any]) -> str:
    """On this machine, under several names; all that Ansible says."""
    (tmp_path / "stand-in.pyz").write_text(STAND_IN)
    variables = {
        "ansible_connection": "local", "ansible_python_interpreter": sys.executable, "fswizard_poll_seconds": 1,
        "fswizard_zipapp": str(tmp_path / "stand-in.pyz"), "fswizard_parent": str(tmp_path / "parent"),
        "fswizard_results": str(tmp_path / "results"),
    }  # fmt: skip
    (tmp_path / "parent").mkdir()
    inventory = tmp_path / "inventory.json"
    inventory.write_text(json.dumps({"all": {"hosts": hosts, "vars": variables}}))
    done = subprocess.run(
        ["ansible-playbook", "--inventory", str(inventory), str(ANSIBLE / "measure.yml")],
        env={**os.environ, "ANSIBLE_HOME": str(tmp_path), "ANSIBLE_NOCOLOR": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.ansible
def test_a_disk_is_erased_by_its_serial_number_alone_and_failures_are_sentences(tmp_path: Path) -> None:
    said = play(
        tmp_path,
        {
            "image": {"fswizard_write_budget": "5G", "fswizard_arguments": ["--rounds", "2..2"]},
            "erased": {"fswizard_erase": "SERIAL-1"},
            "prefix": {"fswizard_erase": "SERIAL"},
            "unlike": {"fswizard_erase": "SERIAL-1", "fswizard_disks": "B$"},
            "absent": {"fswizard_erase": "SERIAL-1", "fswizard_disks": "^Disk C"},
            "broken": {"fswizard_recipe": "broken"},
            "endless": {"fswizard_recipe": "endless", "fswizard_give_up_minutes": 0.05},
        },
    )
    argv = {path.stem: json.loads(path.read_text()) for path in (tmp_path / "results").iterdir()}
    assert set(argv) == {"image", "erased", "broken", "endless"}, said
    assert "--erase" not in argv["image"]
    assert argv["image"][:4] == ["run", "quick", "--target", "image:"]
    assert argv["image"][-6:] == ["--time", "30m", "--write-budget", "5G", "--rounds", "2..2"]
    assert argv["erased"][2:4] == ["--target", "device:/dev/disk/by-id/a"]
    assert argv["erased"][-2:] == ["--erase", "SERIAL-1"]
    assert set(re.findall(r"^fatal: \[(\w+)\]", said, re.MULTILINE)) == {"prefix", "unlike", "broken", "endless"}
    assert "prefix has 0 disks with the serial number 'SERIAL', so nothing was erased." in said
    assert "unlike has 0 disks with the serial number 'SERIAL-1' that match 'B$', so nothing was erased." in said
    assert "absent is skipped: none of its disks matches '^Disk C'." in said
    assert "broken: fswizard: The disk is full." in said
    assert "endless: the run was ended after 0.05 minutes" in said
    assert "image lacks fio (package fio-package)." in said
    assert not any((tmp_path / "parent").iterdir())
