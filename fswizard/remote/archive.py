"""This program as one file that another machine's Python can run."""

from __future__ import annotations

import contextlib
import io
import sys
import zipfile
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

import fswizard
from fswizard.recipes import shipped_directory

PACKAGES = (
    "msgspec", "plumbum", "psutil", "pyudev", "tomli", "typing_extensions", "textual", "rich", "markdown-it-py",
    "mdit-py-plugins", "mdurl", "platformdirs", "pygments", "linkify-it-py", "uc-micro-py",
)  # fmt: skip
"""Everything that measures and draws."""
LEFT_OUT = ("__pycache__", "recordings", "shipped_recipes", "tests")
BOOTSTRAP = """\
import os, sys, tempfile, zipfile
if sys.version_info < (3, 10):
    sys.exit("fswizard needs Python 3.10 or later; this is %d.%d." % sys.version_info[:2])
archive = os.path.dirname(os.path.abspath(__file__))
place = archive + ".unpacked"
if not os.path.isdir(place):
    new = tempfile.mkdtemp(dir=os.path.dirname(archive))
    with zipfile.ZipFile(archive) as file:
        file.extractall(new)
    try:
        os.rename(new, place)
    except OSError:
        pass
sys.path.insert(0, place)
from fswizard.__main__ import main
main()
"""


@cache
def archive() -> bytes:
    """The same bytes for the same program: the archive that it was started from, or one of what is installed."""
    started = Path(sys.argv[0])
    if started.is_file() and zipfile.is_zipfile(started):
        return started.read_bytes()
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(zipfile.ZipInfo("__main__.py"), BOOTSTRAP)
        for name, path in sorted(_files()):
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            file.writestr(entry, path.read_bytes())
    return written.getvalue()


def _files() -> Iterator[tuple[str, Path]]:
    """Names in the archive, and where each file lies here."""
    package = Path(fswizard.__file__).parent
    yield from _below(package)
    for path in shipped_directory().rglob("*.toml"):
        yield f"{package.name}/shipped_recipes/{path.relative_to(shipped_directory())}", path
    for name in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            yield from _of(metadata.distribution(name))


def _of(package: metadata.Distribution) -> Iterator[tuple[str, Path]]:
    """As it lists its files; where a distribution left that list out, all that lies in directories of its name."""
    if not package.files:
        yield from _below(Path(str(package.locate_file(package.name))))
    for file in package.files or ():
        if file.parts[0] != ".." and not any(part in LEFT_OUT for part in file.parts):
            yield str(file), Path(str(file.locate()))


def _below(package: Path) -> Iterator[tuple[str, Path]]:
    for path in package.rglob("*"):
        if path.is_file() and not any(part in LEFT_OUT for part in path.relative_to(package).parts):
            yield str(path.relative_to(package.parent)), path
