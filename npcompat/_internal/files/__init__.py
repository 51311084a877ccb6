"""Files of named arrays."""
