"""Disks that a run measures on, whoever carries out what is asked of them.

`disk.py` says what can be asked. `udisks.py` does it for scratch images without a password; `way.py` says when it can.
"""
