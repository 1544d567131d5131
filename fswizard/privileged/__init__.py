"""The only code that runs as root: a closed list of typed verbs, the standard library alone."""
