"""Other libraries' arrays on XLA, copies, and nested containers of arrays."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from npcompat._internal.backend.jax.kernels import array_functions


def from_dlpack(array: Any, copy: bool | None) -> Any:
    """An XLA array over the memory of another library's array, where it fits.

    (XLA never writes into such memory.)
    """
    with jax.enable_x64(True):
        if not copy:
            return jax.dlpack.from_dlpack(array, copy=copy)
        return _copy(
            jax.dlpack.from_dlpack(array)
        ).block_until_ready()  # the caller may write that memory as soon as this returns


def copied(payload: Any) -> Any:
    """The value in a buffer of its own."""
    with jax.enable_x64(True):
        return _copy(payload)


_copy = jax.jit(jnp.copy)


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """The leaves of nested containers, and the structure that puts them together again."""
    return jax.tree.flatten(tree)


def flatten_with_paths(tree: Any) -> list[tuple[tuple[Any, ...], Any]]:
    """The leaves of nested containers, each with the keys that lead to it."""
    found: list[tuple[tuple[Any, ...], Any]] = jax.tree.leaves_with_path(tree)
    return found


def unflatten(structure: Any, leaves: Sequence[Any]) -> Any:
    """Nested containers from leaves."""
    return jax.tree.unflatten(structure, leaves)


def stop_gradient(outs: Any) -> Any:
    """Outputs that the derivative of the enclosing program does not pass."""
    return jax.tree.map(array_functions.stop_gradient, outs)
