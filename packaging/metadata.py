"""What packages say of themselves, once pyproject.toml names a repository: the README's links are absolute then.

Where a package is looked at, such as on an index, nothing lies beside the README that a relative link could lead to.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

REPOSITORY = "Repository"
"""The key in `[project.urls]`; links are made as GitHub and GitLab understand them."""
LINK = re.compile(r"(?P<picture>!?)(?P<words>\[[^\]]*\])\((?![a-z]+:|#)(?P<path>[^)\s]+)\)")


def absolute(text: str, repository: str, version: str) -> str:
    """Markdown whose links to files beside it lead to those of that version in a repository."""

    def whole(match: re.Match[str]) -> str:
        kind = "raw" if match["picture"] else "blob"
        url = f"{repository.rstrip('/')}/{kind}/v{version}/{match['path']}"
        return f"{match['picture']}{match['words']}({url})"

    return LINK.sub(whole, text)


class CustomMetadataHook(MetadataHookInterface):
    """Gives packages the README."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text("utf-8")
        if repository := metadata.get("urls", {}).get(REPOSITORY, ""):
            text = absolute(text, repository, metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
