"""The tape and the backward walk."""
