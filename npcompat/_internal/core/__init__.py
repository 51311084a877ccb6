"""The words of the design: operators, modes, handles, values and dtype rules."""
