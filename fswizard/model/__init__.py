"""What everything else talks about: frozen dataclasses, without I/O and without dependencies."""
