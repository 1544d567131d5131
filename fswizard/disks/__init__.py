"""The disks that a run measures on.

There are two kinds of disks, with `disk.py` in common. Those of `udisks.py` are scratch images, without a password,
where `way.py` finds that possible. Those of `root.py` are used in a run that was started as root: `rights.py` starts
such a run, and `as_root.py` contains every use of root privileges. `image.py` and `directory.py` prepare what is
measured on.
"""
