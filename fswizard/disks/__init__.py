"""Disks that a run measures on, whoever carries out what is asked of them.

`disk.py` says what can be asked. `udisks.py` does it for scratch images without a password; `way.py` says when it can.
`root.py` does it as root, in a run that was started as root: `rights.py` starts one, and `as_root.py` says for what
alone it uses root's rights.
"""
