"""What engines share; each engine is a file beside this directory."""
