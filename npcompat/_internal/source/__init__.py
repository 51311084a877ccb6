"""Functions as syntax trees: found, checked to be the function's own, and rewritten."""
