"""Pooled results of several machines as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fswizard.model.analysis import SIGNS, Card, Ratio
from fswizard.model.pool import Group, LeftOut, Pool, Setting, Split
from fswizard.model.text import safe
from fswizard.model.units import binary_text, machines_text, ratio_text
from fswizard.report import layout

MOST_SPLITS = 12
MOST_NAMES = 3
LONGEST = 36
"""Largest width of a workload's or a disk's name."""
TARGETS = {"image": "scratch images", "device": "disks of their own", "directory": "directories"}


def render(pool: Pool, cards: Sequence[Card]) -> str:
    """In at most 80 columns; `cards` are those of the groups, in order."""
    return "\n\n".join("\n".join(block) for block in _blocks(pool, cards) if block) + "\n"


def _blocks(pool: Pool, cards: Sequence[Card]) -> Iterator[list[str]]:
    first = pool.groups[0].setting if pool.groups else None
    for number, (group, card) in enumerate(zip(pool.groups, cards)):
        if number == 1:
            yield ["Kept apart", *layout.wrap("These don't belong with the results above.", layout.WIDTH)]
        yield layout.answer(card)
        yield list(_about(group))
        if first is not None and number:
            yield [line for text in differences(group.setting, first) for line in layout.bullet(safe(text))]
        yield from _tables(group)
    if pool.groups:
        yield [line for note in notes(pool) for line in layout.wrap(note, layout.WIDTH)]
    if pool.left_out:
        yield ["Not pooled", *(line for text in left_out_texts(pool.left_out) for line in layout.bullet(text))]


def _about(group: Group) -> Iterator[str]:
    results = "1 result" if group.results == 1 else f"{group.results} results"
    yield from layout.labelled("Pooled", f"{results} of {machines_text(group.machines)}")
    yield from layout.labelled("Recipe", safe(f"{group.title} ({group.setting.recipe})"))
    yield from layout.labelled("Measured", _setting_text(group.setting))
    if group.unnamed > 1:
        yield from layout.labelled("Note", f"{group.unnamed} results name no machine and count as one.")


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
    one, other = setting.baseline, first.baseline
    if one.name != other.name:
        yield f"Compared with {one.title}, not with {other.title}."
        return
    if one.made != other.made:
        yield f"{one.title} was formatted or mounted differently."
    if one.direct != other.direct:
        how = "straight to the disk" if one.direct else "through the machine's memory"
        yield f"On these kernels, direct I/O (O_DIRECT) of {one.title} goes {how}."


def _tables(group: Group) -> Iterator[list[str]]:
    baseline, titles = group.setting.baseline, group.titles
    ahead = {a.candidate: f"{a.ahead} of {a.machines}" for a in group.heterogeneity}
    compared = [ratio for ratio in group.analysis.overall if ratio.candidate != ratio.baseline]
    if compared:
        overall = [(safe(titles[ratio.candidate]), *_cells(ratio), ahead[ratio.candidate]) for ratio in compared]
        table = layout.table(("over all workloads", "ratio", "interval", "", "ahead on"), overall)
        yield [f"Compared with {safe(baseline.title)}", *table]
    for candidate in dict.fromkeys(ratio.candidate for ratio in compared if len(group.workloads) > 1):
        by_name = {ratio.workload: ratio for ratio in group.analysis.by_workload if ratio.candidate == candidate}
        rows = [(safe(title), *_cells(by_name[name])) for name, title in group.workloads.items() if name in by_name]
        table = layout.table(("by workload", "ratio", "interval", ""), rows, longest=LONGEST)
        yield [safe(titles[candidate]), *table]
    kinds = {"disk": group.by_class, "model": group.by_model}
    if len(group.by_model) <= len(group.by_class):  # each class has one model
        del kinds["disk"]
    for kind, splits in kinds.items():
        if splits:
            shown = splits if len(splits) <= MOST_SPLITS else splits[: MOST_SPLITS - 1]
            head = (f"by {kind}", "ratio", "interval", "", "machines")
            table = layout.table(head, map(_split_row, shown), longest=LONGEST)
            if len(shown) < len(splits):
                table.append(f"… and {len(splits) - len(shown)} more; --json lists all.")
            yield [safe(titles[compared[0].candidate]), *table]


def _split_row(split: Split) -> tuple[str, ...]:
    kind = split.disk.title
    name = kind if split.model is None else f"{split.model} ({kind})" if split.model else f"{kind}, model not told"
    return (safe(name), *_cells(split.ratio), str(split.ratio.rounds))


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
    ratios += [split.ratio for group in pool.groups for split in (*group.by_class, *group.by_model)]
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
