"""What intervals are widened by for looking after every round and at all pairs; see README."""

LAST_LOOK = 12
"""Rounds beyond which nobody looked when the constants were made."""
CRITICAL: dict[int, tuple[float, ...]] = {
    2: (11.57, 11.70, 6.28, 4.81, 4.33, 3.97, 3.65, 3.51, 3.41, 3.38, 3.37),
    3: (9.50, 7.28, 5.34, 4.64, 4.46, 4.26, 4.10, 4.01, 3.94, 3.91, 3.91),
    4: (8.03, 6.37, 5.18, 4.78, 4.65, 4.54, 4.40, 4.32, 4.22, 4.22, 4.28),
    5: (7.73, 6.02, 5.10, 4.89, 4.85, 4.70, 4.62, 4.62, 4.47, 4.48, 4.50),
    6: (7.49, 5.81, 5.29, 4.91, 4.93, 4.85, 4.74, 4.85, 4.67, 4.72, 4.76),
    7: (6.92, 5.83, 5.22, 5.03, 5.13, 5.08, 4.96, 4.99, 5.01, 4.96, 4.98),
    8: (6.73, 5.70, 5.31, 5.14, 5.10, 5.20, 5.06, 5.02, 4.98, 5.05, 5.03),
}
"""Candidates at the start to the constants for 2 to 12 rounds.

Made by `python -m tests.bench.derive_constants derive`.
"""
