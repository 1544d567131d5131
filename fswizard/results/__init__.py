"""Result files: JSON Lines that are complete up to the last line, however the run ended.

The first line is a summary for listings, followed by the events of the run, one per line, as defined in
`model.events`.
"""

from fswizard.model.result_file import Header
from fswizard.results.history import (
    Entry,
    all_results,
    find,
    new_path,
    results_directory,
)
from fswizard.results.reading import event_in, load
from fswizard.results.writing import ResultWriter, is_being_written
from fswizard.system.files import state_directory

__all__ = [
    "Entry",
    "Header",
    "ResultWriter",
    "all_results",
    "event_in",
    "find",
    "is_being_written",
    "load",
    "new_path",
    "results_directory",
    "state_directory",
]
