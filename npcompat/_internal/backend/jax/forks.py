"""Forks of a process: XLA's threads stay with the parent, so that a child's programs would hang.

A child of a process in which XLA has not started may start it for itself.
"""

import os
from typing import Any

from npcompat._internal.backend.jaxpr.compat import private
from npcompat._internal.core import program_cache

_lost = [False]
_kept: list[Any] = []
"""Programs of the parent: the destructor of one might wait for XLA's threads."""


def _note_in_child() -> None:
    if private("jax._src.xla_bridge", "backends_are_initialized")():
        _lost[0] = True
        _kept.extend(program_cache.taken_away("jax"))  # the C part calls what it finds


def check_threads() -> None:
    """Raise RuntimeError in a process that was forked after XLA had started."""
    if _lost[0]:
        raise RuntimeError(
            "XLA does not work in this process, which was forked after XLA had started: its threads "
            "stay with the parent. Start processes by multiprocessing.get_context('spawn'), or let "
            "the parent draw random numbers, compute gradients and call compiled functions after "
            "the fork only"
        )


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_in_child)

__all__ = ["check_threads"]
