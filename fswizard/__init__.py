"""Which filesystem, with which mount options, for this disk and this use: measured on the disk itself."""

__version__ = "0.1.0"
