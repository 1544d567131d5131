from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fswizard.drives.machine import mount_of
from fswizard.privileged.mounts import Mount, parse, unescape

LINE = r"41 22 179:1 /@home /media/holiday\040photos rw,nosuid shared:7 master:2 - btrfs /dev/sda1 rw,space_cache"


def test_a_line_of_mountinfo_with_optional_fields() -> None:
    (mount,) = parse([LINE])
    assert mount == Mount(41, "179:1", "/@home", "/media/holiday photos", "btrfs", "/dev/sda1")


@given(st.lists(st.text()))
def test_nonsense_is_passed_over(lines: list[str]) -> None:
    assert len(parse(lines)) <= len(lines)


@given(st.text(st.characters(codec="ascii"), min_size=1))
def test_what_the_kernel_escapes_comes_back(name: str) -> None:
    escaped = "".join(rf"\{ord(c):03o}" if c in " \t\n\\" else c for c in name)
    assert unescape(escaped) == name


def mounted(point: str, source: str) -> Mount:
    return Mount(1, "8:1", "/", point, "ext4", source)


def test_the_deepest_mount_counts_and_the_latest_of_equals() -> None:
    table = [mounted("/", "a"), mounted("/srv", "b"), mounted("/srv", "c"), mounted("/srv/data", "d")]
    found = {path: mount_of(path, table) for path in ("/srv/x", "/srv/data", "/srvx", "/srv/database")}
    assert {path: mount.source for path, mount in found.items() if mount} == {
        "/srv/x": "c",
        "/srv/data": "d",
        "/srvx": "a",
        "/srv/database": "c",
    }
