"""Examples of npcompat; each is a program of its own."""
