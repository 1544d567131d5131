"""Data types shared by all packages: frozen dataclasses, without I/O and without dependencies."""
