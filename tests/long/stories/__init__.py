"""Where the stories of `fswizard --demo` come from."""
