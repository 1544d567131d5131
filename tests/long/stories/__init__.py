"""Where the stories of `fswizard --demo` come from: real runs, here or in the test machine."""
