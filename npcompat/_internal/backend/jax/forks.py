"""Forks of a process: XLA's threads stay with the parent, so that a child's programs would hang.

A child of a process in which XLA has not started may start it for itself.
"""

import os

from npcompat._internal.backend.jaxpr.compat import private

_lost = [False]


def _note_in_child() -> None:
    _lost[0] = _lost[0] or bool(private("jax._src.xla_bridge", "backends_are_initialized")())


def check_threads() -> None:
    """Raise RuntimeError in a process that was forked after XLA had started."""
    if _lost[0]:
        raise RuntimeError(
            "XLA does not work in this process, which was forked after XLA had started: its threads "
            "stay with the parent. Start processes by multiprocessing.get_context('spawn'), or draw "
            "random numbers and call compiled functions in the parent after the fork only"
        )


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_in_child)

__all__ = ["check_threads"]
