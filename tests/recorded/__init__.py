"""Machines and program output as they were recorded, and how to read them back."""
