"""Files for `by_hand.sh`: a video, trees drawn from published quantiles, packages, and SQLite's statements.

by_hand_files.py DIRECTORY SHAPES_TOML SCALE
"""

import os
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tomli

TREES = {"source": (8000, 132), "home": (4000, 128), "mail": (4000, 128)}
"""Number of files, and MiB in all."""
PACKAGES, PACKAGED, PROGRAMS_MIB, SCRIPTS_MIB = 6, 600, 36, 10
ROWS, GROWING, TIMED = 2000, 400, 1000
MIB = 1 << 20
dice = random.Random("by hand")


def evenly(quantiles: Sequence[float], count: int) -> list[float]:
    """Values at even steps between quantiles, in any order."""
    values = []
    for step in range(count):
        at = (step + 0.5) / count * (len(quantiles) - 1)
        low, high = quantiles[int(at)], quantiles[int(at) + 1]
        values.append((low + 1) ** (1 - at % 1) * (high + 1) ** (at % 1) - 1)
    dice.shuffle(values)
    return values


def content(size: int) -> bytes:
    """Every other 512 bytes repeat."""
    again = b"the same comes again, " * 24
    return b"".join(dice.randbytes(512) + again[:512] for _ in range(size // 1024 + 1))[:size]


def sizes_of(quantiles: Sequence[float], count: int, whole: int) -> list[int]:
    """Sizes that add up to about `whole`: the largest few take what is missing."""
    sizes = sorted(map(int, evenly(quantiles, count)))
    few = max(1, count // 32)
    factor = max(0.0, whole - sum(sizes[:-few])) / sum(sizes[-few:])
    sizes[-few:] = [int(size * factor) for size in sizes[-few:]]
    dice.shuffle(sizes)
    return sizes


def tree(place: Path, shape: dict[str, Any], count: int, whole: int) -> None:
    """Directories are hung below random ones, as deep as the quantiles say; the last takes what is left."""
    sizes = sizes_of(shape["sizes"], count, whole)
    directories = max(1, round(count / shape["files_per_directory"]))
    numbers = sizes_of(shape["files_in_directory"], directories, count)
    depths = sorted(map(round, evenly(shape["depths"], directories)))
    levels = {0: [place]}
    for depth, number in zip(depths, [*numbers[1:], count]):
        deep = min(max(1, depth), max(levels) + 1)
        where = dice.choice(levels[deep - 1]) / f"directory {sum(map(len, levels.values()))}"
        where.mkdir(parents=True)
        levels.setdefault(deep, []).append(where)
        for name in range(min(number, len(sizes))):
            (where / f"file {name}").write_bytes(content(sizes.pop()))


def programs(place: Path, count: int, whole: int) -> None:
    """Twelve files in a directory, a few of them large."""
    weights = [dice.lognormvariate(0, 2.2) for _ in range(count)]
    for name, weight in enumerate(weights):
        where = place / f"directory {name // 12}"
        where.mkdir(parents=True, exist_ok=True)
        (where / f"file {name}").write_bytes(content(int(weight / sum(weights) * whole)))


def packages(place: Path, kind: Path) -> None:
    """The files of a tree, in the order of their paths, moved into packages."""
    files = sorted(path for path in kind.rglob("*") if path.is_file())
    for number in range(PACKAGES):
        control = place / str(number) / "DEBIAN/control"
        control.parent.mkdir(parents=True)
        control.parent.chmod(0o755)
        fields = "Version: 1\nArchitecture: all\nMaintainer: nobody\nDescription: by hand\n"
        control.write_text(f"Package: {kind.name}{number}\n{fields}")
        for file in files[number * len(files) // PACKAGES : (number + 1) * len(files) // PACKAGES]:
            to = place / str(number) / "usr/share" / file.relative_to(kind.parent)
            to.parent.mkdir(parents=True, exist_ok=True)
            file.rename(to)


def transaction(number: int) -> str:
    insert = f"INSERT INTO visits VALUES ({number}, '{dice.randbytes(8).hex()}', '{dice.randbytes(100).hex()}');"
    update = f"UPDATE visits SET page = '{dice.randbytes(100).hex()}' WHERE id = {dice.randrange(number)};"
    return f"BEGIN; {insert} {update} COMMIT;"


def main() -> None:
    there, shapes, scale = Path(sys.argv[1]), tomli.loads(Path(sys.argv[2]).read_text()), int(sys.argv[3])
    (there / "video").write_bytes(os.urandom(512 * MIB // scale))
    for name, (count, mib) in TREES.items():
        tree(there / name, shapes[name], count // scale, mib * MIB // scale)
    programs(there / "programs", PACKAGED // scale, PROGRAMS_MIB * MIB // scale)
    tree(there / "scripts", shapes["source"], PACKAGED // scale, SCRIPTS_MIB * MIB // scale)
    for kind in ("programs", "scripts"):
        packages(there / "packages" / kind, there / kind)
    table = "CREATE TABLE visits (id INTEGER PRIMARY KEY, word TEXT, page TEXT); CREATE INDEX by_word ON visits (word);"
    rows = (f"INSERT INTO visits VALUES ({n}, '{dice.randbytes(8).hex()}', '{dice.randbytes(100).hex()}');"
            for n in range(ROWS))  # fmt: skip
    growing = (transaction(n) for n in range(ROWS, ROWS + GROWING))
    first = (".filectrl persist_wal 1", "PRAGMA journal_mode = wal;", table, "BEGIN;", *rows, "COMMIT;", *growing)
    (there / "first.sql").write_text("\n".join(("PRAGMA synchronous = FULL;", *first)))
    timed = (transaction(n) for n in range(ROWS + GROWING, ROWS + GROWING + TIMED // scale))
    (there / "then.sql").write_text("\n".join(("PRAGMA synchronous = FULL;", *timed)))


if __name__ == "__main__":
    main()
