"""Result files: JSON Lines that are whole up to the last line, whatever ended the run.

The first line is a summary for listings; then come the events of the run, one a line, as `model.events` has them.
"""

from fswizard.model.result_file import Header
from fswizard.results.history import (
    Entry,
    all_results,
    by_disk,
    find,
    latest,
    new_path,
    remove,
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
    "by_disk",
    "event_in",
    "find",
    "is_being_written",
    "latest",
    "load",
    "new_path",
    "remove",
    "results_directory",
    "state_directory",
]
