"""Pooled results of several machines as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fswizard.model.analysis import SIGNS, Card, Ratio
from fswizard.model.pool import Group, LeftOut, Pool, Setting, Split
from fswizard.model.text import safe
from fswizard.model.units import binary_text, machines_text, ratio_text
from fswizard.report.document import Answer, Block, Bullets, Facts, Table, Words
from fswizard.report.text import paint

MOST_SPLITS = 12
MOST_NAMES = 3
LONGEST = 36
"""Largest width of a workload's or a disk's name."""
TARGETS = {"image": "scratch images", "device": "disks of their own", "directory": "directories"}


def render(pool: Pool, cards: Sequence[Card]) -> str:
    """In at most 80 columns; `cards` are those of the groups, in order."""
    return paint(tuple(_blocks(pool, cards)))


def _blocks(pool: Pool, cards: Sequence[Card]) -> Iterator[Block]:
    for number, (group, card) in enumerate(zip(pool.groups, cards)):
        if number == 1:
            yield Words(("Kept apart", "These don't belong with the results above."))
        yield Answer(card.verdict, card.certainty, card.lines)
        yield Facts(tuple(_about(group)))
        if number:
            yield Bullets("", tuple(map(safe, differences(group.setting, pool.groups[0].setting))))
        yield from _tables(group)
    if pool.groups:
        yield Words(tuple(notes(pool)))
    yield Bullets("Not pooled", tuple(left_out_texts(pool.left_out)))


def _about(group: Group) -> Iterator[tuple[str, str]]:
    results = "1 result" if group.results == 1 else f"{group.results} results"
    yield "Pooled", f"{results} of {machines_text(group.machines)}"
    yield "Recipe", safe(f"{group.title} ({group.setting.recipe})")
    yield "Measured", _setting_text(group.setting)
    yield "Disks", group.setting.disk.title
    if group.unnamed > 1:
        yield "Note", f"{group.unnamed} results name no machine and count as one."


def _setting_text(setting: Setting) -> str:
    size = f" of {binary_text(setting.size_bytes)}" if setting.size_bytes else ""
    several = f", {setting.members} each" if setting.members > 1 else ""
    return f"in {TARGETS[setting.target]}{size}{several}, {_limit(setting)}"


def _limit(setting: Setting) -> str:
    limit = setting.memory_limit_bytes
    return f"memory limit {binary_text(limit)}" if limit else "no memory limit"


def differences(setting: Setting, first: Setting) -> Iterator[str]:
    """Why results are kept apart from those that come first."""
    if setting.digest != first.digest:
        if setting.recipe == first.recipe:
            yield f"Another version of {setting.recipe}, or other weights."
        else:
            yield f"Another recipe: {setting.recipe}."
    if (setting.target, setting.size_bytes, setting.members) != (first.target, first.size_bytes, first.members):
        yield f"Measured {_setting_text(setting).rpartition(', ')[0]}."
    if setting.memory_limit_bytes != first.memory_limit_bytes:
        text = _limit(setting)
        yield f"{text[0].upper()}{text[1:]}, not {_limit(first).removeprefix('memory limit ')}."
    if setting.disk != first.disk:
        yield f"Another kind of disk: {setting.disk.title}."
    one, other = setting.baseline, first.baseline
    if one.name != other.name:
        yield f"Compared with {one.title}, not with {other.title}."
        return
    if one.made != other.made:
        yield f"{one.title} was formatted or mounted differently."
    if one.direct != other.direct:
        how = "straight to the disk" if one.direct else "through the machine's memory"
        yield f"On these kernels, direct I/O (O_DIRECT) of {one.title} goes {how}."


def _tables(group: Group) -> Iterator[Table]:
    titles = group.titles
    ahead = {a.candidate: f"{a.ahead} of {a.machines}" for a in group.heterogeneity}
    compared = [ratio for ratio in group.analysis.overall if ratio.candidate != ratio.baseline]
    overall = tuple((safe(titles[ratio.candidate]), *_cells(ratio), ahead[ratio.candidate]) for ratio in compared)
    title = f"Compared with {safe(group.setting.baseline.title)}"
    yield Table(("over all workloads", "ratio", "interval", "", "ahead on"), overall, title)
    for candidate in dict.fromkeys(ratio.candidate for ratio in compared if len(group.workloads) > 1):
        by_name = {ratio.workload: ratio for ratio in group.analysis.by_workload if ratio.candidate == candidate}
        rows = ((safe(title), *_cells(by_name[name])) for name, title in group.workloads.items() if name in by_name)
        yield Table(("by workload", "ratio", "interval", ""), tuple(rows), safe(titles[candidate]), longest=LONGEST)
    if splits := group.by_model:
        shown = splits if len(splits) <= MOST_SPLITS else splits[: MOST_SPLITS - 1]
        hidden = len(splits) - len(shown)
        notes = (f"… and {hidden} more; --json lists all.",) if hidden else ()
        header = ("by model", "ratio", "interval", "", "machines")
        title = safe(titles[compared[0].candidate])
        yield Table(header, tuple(map(_split_row, shown)), title, notes, longest=LONGEST)


def _split_row(split: Split) -> tuple[str, ...]:
    return (safe(split.model or "model unknown"), *_cells(split.ratio), str(split.ratio.rounds))


def _cells(ratio: Ratio) -> tuple[str, str, str]:
    """The verdict only where there is an interval: one machine says nothing about others."""
    word = f"{SIGNS[ratio.verdict].glyph} {ratio.verdict}" if ratio.low else ""
    return ratio_text(ratio.ratio), ratio.interval(), word


def notes(pool: Pool) -> Iterator[str]:
    """Explanations of ratios and intervals."""
    yield (
        "Ratios above 1 are better. An interval covers the mean of all machines like these in 95 % of cases "
        "(random effects, Hartung-Knapp). All results of one machine count as one."
    )
    ratios = [ratio for group in pool.groups for ratio in group.analysis.overall]
    ratios += [split.ratio for group in pool.groups for split in group.by_model]
    if any(ratio.low is None for ratio in ratios):
        yield "One machine has no interval: it says nothing about others."


def left_out_texts(left_out: Sequence[LeftOut]) -> Iterator[str]:
    """Each reason once, with the results that it keeps out."""
    by_reason: dict[str, list[str]] = {}
    for item in left_out:
        by_reason.setdefault(item.reason, []).append(safe(item.name))
    for reason, names in by_reason.items():
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        yield f"{', '.join(names[:MOST_NAMES])}{more}: {reason}"
