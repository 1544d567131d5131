"""The catalogue of filesystems, their options and layouts, their availability here, and suggestions for a drive."""

from fswizard.filesystems.availability import Availability, availability, layout_availability
from fswizard.filesystems.candidates import aged, parse_candidate, parse_candidates, title_of
from fswizard.filesystems.layouts import layouts, require_members
from fswizard.filesystems.loader import ORDINARY, catalogue, mounted_as
from fswizard.filesystems.needs import parse_needs
from fswizard.filesystems.suggestions import layout_candidates, suggestions

__all__ = [
    "ORDINARY",
    "Availability",
    "aged",
    "availability",
    "catalogue",
    "layout_availability",
    "layout_candidates",
    "layouts",
    "mounted_as",
    "parse_candidate",
    "parse_candidates",
    "parse_needs",
    "require_members",
    "suggestions",
    "title_of",
]
