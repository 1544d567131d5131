"""Recorded runs, replayed in the wizard's own screens: `fswizard --demo`.

Needs neither root nor disks nor fio, and touches nothing on this machine. A story is a table in `stories.toml` and the
log of its run in `recordings/`; `tests/long/stories` makes it.
"""

from fswizard.demo.stories import Story, stories

__all__ = ["Story", "stories"]
