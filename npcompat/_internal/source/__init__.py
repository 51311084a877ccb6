"""Functions as syntax trees: found in their files, verified, and rewritten."""
