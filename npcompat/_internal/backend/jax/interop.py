"""Arrays of other libraries on XLA, copies, and nested containers of arrays."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp

from npcompat._internal.backend.jax.kernels import array_functions


def from_dlpack(array: Any, copy: bool | None) -> Any:
    """Return an XLA array over the memory of another library's array, or a copy if XLA needs one.

    XLA never writes into such memory.

    Raises
    ------
    BufferError
        If `copy` is False, and the memory is read-only or strided as XLA's is not.
    """
    with jax.enable_x64(True):
        try:
            shared = jax.dlpack.from_dlpack(array, copy=None if copy else copy)
        except (jax.errors.JaxRuntimeError, BufferError) as error:
            if not isinstance(error, BufferError) and "striding" not in str(error):
                raise
            if copy is False or array.__dlpack_device__()[0] != _IN_MEMORY_OF_HOST:
                raise BufferError(
                    "from_dlpack: XLA looks into memory that can be written and whose elements lie "
                    f"side by side, which this is not ({error}); give a copy of the array"
                ) from error
            elements = onp.array(onp.from_dlpack(array), order="C")
            return jax.device_put(elements, jax.devices("cpu")[0])
        if not copy:
            return shared
        return _copy(
            shared
        ).block_until_ready()  # the caller may write that memory as soon as this returns


_IN_MEMORY_OF_HOST = 1  # kDLCPU of DLPack


def copied(payload: Any) -> Any:
    """Return a copy of a payload."""
    with jax.enable_x64(True):
        return _copy(payload)


_copy = jax.jit(jnp.copy)


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """Return the leaves of nested containers, and their structure, for `unflatten`."""
    return jax.tree.flatten(tree)


def flatten_with_paths(tree: Any) -> list[tuple[tuple[Any, ...], Any]]:
    """Return the leaves of nested containers, each with its path of keys."""
    found: list[tuple[tuple[Any, ...], Any]] = jax.tree.leaves_with_path(tree)
    return found


def unflatten(structure: Any, leaves: Sequence[Any]) -> Any:
    """Rebuild nested containers from leaves."""
    return jax.tree.unflatten(structure, leaves)


def stop_gradient(outs: Any) -> Any:
    """Treat outputs as constants in derivatives of the enclosing program."""
    return jax.tree.map(array_functions.stop_gradient, outs)
