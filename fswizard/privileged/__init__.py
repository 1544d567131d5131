"""What is looked at and what is run where root is needed, and what may not be erased."""
