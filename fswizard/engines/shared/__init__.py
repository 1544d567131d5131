"""Shared code of the engines, which are files in the parent directory."""
