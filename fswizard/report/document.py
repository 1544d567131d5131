"""What a report is made of: blocks in order. Painters turn them into text, markup or a page, and add no words."""

from __future__ import annotations

from dataclasses import dataclass

from fswizard.model.analysis import Ratio, Sign, Verdict


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer that a report gives, and why."""

    sign: Sign
    verdict: str
    certainty: str = ""
    """How sure the verdict is; empty where it says that itself."""
    lines: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """`✓ Use XFS: 21 % faster than ext4 here, by at least 12 %`."""
        return f"{self.sign.glyph} {', '.join(filter(None, (self.verdict, self.certainty)))}"


@dataclass(frozen=True, slots=True)
class Words:
    """Paragraphs."""

    paragraphs: tuple[str, ...]
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """Labels and their texts."""

    rows: tuple[tuple[str, str], ...]
    title: str = ""
    """Heading where there is room for one."""


@dataclass(frozen=True, slots=True)
class RoundFigure:
    """A candidate's figure at a workload in one round."""

    round: int
    figure: str
    """Figure with its unit."""
    length: float
    """Length on the scale of the bars, above 1 if better than the best median."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A candidate's figure at a workload."""

    candidate: str
    title: str
    kind: str
    """Key of its colour, see `colours`."""
    figure: str
    """Median with its unit; empty for a failure."""
    length: float
    """Length from 0 to 1, the best one's; longer is better, also for durations."""
    remark: str
    """`3× slower`, if that is proven; the reason for a failure."""
    verdict: Verdict = "open"
    """Against the baseline; `alike` for the baseline itself. A bar is hatched or pale where it is `open`."""
    rounds: tuple[RoundFigure, ...] = ()
    """Figures of each round, of which `figure` is the median."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Bars of workloads, each with its own scale."""

    charts: tuple[tuple[str, tuple[Bar, ...]], ...]
    """Title of a workload and its bars, the best first."""
    title: str = ""
    """Heading where there is room for one."""
    note: str = ""
    """Explanation of what only a page shows."""
    caption: str = ""
    """What lengths and remarks mean, above the bars."""


@dataclass(frozen=True, slots=True)
class Ratios:
    """Ratios to one baseline as bars around 1, all on one axis."""

    groups: tuple[tuple[str, tuple[Ratio, ...]], ...]
    """Titles and ratios; the title of a single group is empty."""
    baseline: str
    note: str = ""
    title: str = ""
    """Heading where there is room for one."""
    folded: bool = False
    """Shown only where it can be folded away."""


@dataclass(frozen=True, slots=True)
class Table:
    """Cells in rows; the first column holds titles, the others figures."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    """Lines below the table."""
    fixed: int = 1
    """Number of columns that stay together where the table is too wide."""
    longest: int = 22
    """Width from which on a cell is wrapped."""


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list."""

    title: str
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Commands:
    """Shell commands."""

    title: str
    commands: tuple[str, ...]
    folded: bool = False
    """Folded away where that can be done."""
    prompts: bool = False
    """Each begins with the prompt # or $: to be read, not to be pasted."""


Block = Answer | Words | Facts | Figures | Ratios | Table | Bullets | Commands
Document = tuple[Block, ...]
