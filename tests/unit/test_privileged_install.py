"""Root's own copy of the helper: installed below a directory in place of /, complete, and safe from other accounts."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from fswizard.privileged import install
from fswizard.privileged.install import INSTALLED, POLICIES, POLICY
from fswizard.privileged.protocol import Refusal

pytestmark = pytest.mark.root
ROOM = Path(install.__file__).parent


def below(root: Path, path: Path) -> Path:
    return root / path.relative_to("/")


def modes(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): stat.filemode(path.lstat().st_mode) for path in root.rglob("*")}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The helper as its user's account has it."""
    return Path(shutil.copytree(ROOM, tmp_path / "source", ignore=shutil.ignore_patterns("__pycache__")))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def test_everybody_can_read_what_root_alone_can_change(source: Path, root: Path) -> None:
    for path in source.iterdir():
        os.chown(path, 65534, 65534)
        path.chmod(0o666)
    before = os.umask(0o022)
    install.install(source, root)
    os.umask(before)
    copy = below(root, INSTALLED)
    assert install.files_in(copy) == install.files_in(ROOM)
    assert below(root, POLICIES / POLICY).read_bytes() == (ROOM / POLICY).read_bytes()
    seen = modes(root)
    programs = [seen.pop(str(path.relative_to(root))) for path in copy.glob("__main__.py")]
    assert programs == ["-rwxr-xr-x"]
    assert {*seen.values()} == {"drwxr-xr-x", "-rw-r--r--"}
    assert {path.lstat().st_uid for path in root.rglob("*")} == {0}
    assert {path.name for path in copy.iterdir()} == {path.name for path in ROOM.glob("*.py")}
    assert [path.name for path in copy.parent.iterdir()] == ["privileged"]


def test_a_newer_one_takes_the_place_of_all_that_was_there(source: Path, root: Path) -> None:
    install.install(source, root)
    (source / "jobs.py").unlink()
    (source / "protocol.py").write_text("# newer\n")
    for left in (".new", ".old"):  # of an installation that was killed
        below(root, INSTALLED.parent / left).mkdir()
        below(root, INSTALLED.parent / left / "file").touch()
    install.install(source, root)
    copy = below(root, INSTALLED)
    assert install.files_in(copy) == install.files_in(source)
    assert [path.name for path in copy.parent.iterdir()] == ["privileged"]


def test_removing_leaves_nothing_and_spares_what_is_not_ours(source: Path, root: Path) -> None:
    install.remove(root)
    assert modes(root) == {}
    others = below(root, POLICIES / "org.example.policy")
    others.parent.mkdir(parents=True)
    others.touch()
    before = modes(root)
    install.install(source, root)
    install.remove(root)
    assert modes(root) == before
    others.unlink()
    install.install(source, root)
    install.remove(root)
    assert modes(root) == {}


def leads_elsewhere(root: Path) -> None:
    (root / "elsewhere").mkdir()
    (root / "usr").mkdir()
    (root / "usr/libexec").symlink_to(root / "elsewhere")


def is_a_groups(root: Path) -> None:
    (root / "usr/libexec").mkdir(parents=True)
    (root / "usr/libexec").chmod(0o775)


def is_anothers(root: Path) -> None:
    (root / "usr").mkdir()
    os.chown(root / "usr", 65534, 0)


@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        (leads_elsewhere, "usr/libexec isn't a directory"),
        (is_a_groups, "other accounts can change .*usr/libexec"),
        (is_anothers, "other accounts can change .*usr"),
    ],
)
def test_where_somebody_else_could_change_it_nothing_is_written(
    prepare: Callable[[Path], None], words: str, source: Path, root: Path
) -> None:
    prepare(root)
    before = modes(root)
    with pytest.raises(Refusal, match=words):
        install.install(source, root)
    assert modes(root) == before


def test_a_link_among_the_files_is_not_followed_as_it_may_lead_to_what_root_alone_may_read(
    source: Path, root: Path
) -> None:
    (source / "secret.py").symlink_to("/etc/shadow")
    with pytest.raises(OSError, match="symbolic links"):
        install.install(source, root)
    (source / "secret.py").unlink()
    os.mkfifo(source / "secret.py")
    with pytest.raises(Refusal, match="isn't one of"):
        install.install(source, root)
    assert modes(root) == {}


def test_an_old_copy_that_is_a_link_is_replaced_and_what_it_leads_to_stays(source: Path, root: Path) -> None:
    (root / "precious").mkdir()
    (root / "precious/file").touch()
    place = below(root, INSTALLED)
    place.parent.mkdir(parents=True)
    place.symlink_to(root / "precious")
    install.install(source, root)
    assert not place.is_symlink()
    assert (root / "precious/file").exists()
