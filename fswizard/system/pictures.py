"""Convert pictures with librsvg."""

from __future__ import annotations

import tempfile

from fswizard.errors import RunFailed
from fswizard.language import _
from fswizard.system.commands import query


def png(svg: str) -> bytes:
    """Render an SVG as PNG in its own size. Raises Missing without the program, and RunFailed if that fails."""
    with tempfile.NamedTemporaryFile("w", suffix=".svg", encoding="utf-8") as file:
        file.write(svg)
        file.flush()
        done = query(["rsvg-convert", "--format=png", file.name], timeout_s=60.0)
    if done.exit_code or not done.stdout:
        raise RunFailed(_("rsvg-convert could not draw the picture."), _("Save it as SVG."), done.output)
    return done.stdout
