"""The disks that a run measures on.

`disk.py` has the interface. `udisks.py` implements it for scratch images, without a password, where `way.py` finds
that possible. `root.py` implements it in a run that was started as root: `rights.py` starts such a run, and
`as_root.py` contains every use of root privileges.
"""
