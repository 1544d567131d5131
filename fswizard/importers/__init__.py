"""Published figures that come with the program, and published experiments that were run again."""
