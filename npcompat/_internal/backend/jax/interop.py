"""Arrays of other libraries on XLA, copies, and nested containers of arrays."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp

from npcompat._internal.backend.jax.kernels import array_functions
from npcompat._internal.core.handle import Handle


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


class _Keys:
    """Keys of a dict with its class; equal to those of the same types, in the same order."""

    __slots__ = ("_kinds", "factory", "keys")

    def __init__(self, keys: tuple[Any, ...], factory: Any) -> None:
        self.keys, self.factory, self._kinds = keys, factory, (*map(type, keys),)

    def __eq__(self, other: object) -> bool:
        if type(other) is not _Keys:
            return False
        same = self._kinds == other._kinds and self.factory is other.factory
        return same and self.keys == other.keys

    def __hash__(self) -> int:
        return hash(self.keys)


class _InOrder(dict[Any, Any]):
    """Dict whose order is part of its structure: JAX sorts the keys of dicts."""

    __slots__ = ("factory",)
    factory: Any


def _parts(a: _InOrder) -> tuple[list[Any], _Keys]:
    return [*a.values()], _Keys((*a,), a.factory)


def _named_parts(a: _InOrder) -> tuple[list[tuple[Any, Any]], _Keys]:
    return [(jax.tree_util.DictKey(key), a[key]) for key in a], _Keys((*a,), a.factory)


def _dict_of(keys: _Keys, items: Iterable[Any]) -> Any:
    pairs = zip(keys.keys, items, strict=True)
    return dict(pairs) if keys.factory is dict else defaultdict(keys.factory, pairs)


jax.tree_util.register_pytree_with_keys(_InOrder, _named_parts, _dict_of, _parts)


def _in_order(tree: Any) -> Any:
    """Return nested containers with the order of dicts as a part of their structure."""
    kind = type(tree)
    if kind is dict and _is_sorted([*tree]):
        return {key: _in_order(part) for key, part in tree.items()}
    if kind is dict or kind is defaultdict:
        made = _InOrder({key: _in_order(part) for key, part in tree.items()})
        made.factory = dict if kind is dict else tree.default_factory
        return made
    if kind is tuple or kind is list:
        return kind([_in_order(part) for part in tree])
    if isinstance(tree, Handle):
        return tree
    return jax.tree.map(_in_order_if_dict, tree, is_leaf=_is_dict)


def _in_order_if_dict(tree: Any) -> Any:
    return _in_order(tree) if _is_dict(tree) else tree


def _is_dict(tree: Any) -> bool:
    return type(tree) in (dict, defaultdict)


def _is_sorted(keys: list[Any]) -> bool:
    return all([type(k) is str for k in keys]) and keys == sorted(keys)


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """Return the leaves of nested containers, and their structure, for `unflatten`."""
    try:
        found = jax.tree.flatten(tree)
    except ValueError:  # JAX can't sort keys of several types
        return jax.tree.flatten(_in_order(tree))
    return jax.tree.flatten(_in_order(tree)) if _has_dicts(found[1]) else found


@lru_cache(4096)
def _has_dicts(structure: Any) -> bool:
    """Return True if a dict with items is among the nodes of a structure."""
    kind, keys = structure.node_data() or (None, None)
    return bool(kind in (dict, defaultdict) and keys) or any(map(_has_dicts, structure.children()))


def flatten_with_paths(tree: Any) -> list[tuple[tuple[Any, ...], Any]]:
    """Return the leaves of nested containers, each with its path of keys."""
    found: list[tuple[tuple[Any, ...], Any]] = jax.tree.leaves_with_path(_in_order(tree))
    return found


def unflatten(structure: Any, leaves: Sequence[Any]) -> Any:
    """Rebuild nested containers from leaves."""
    return jax.tree.unflatten(structure, leaves)


def stop_gradient(outs: Any) -> Any:
    """Treat outputs as constants in derivatives of the enclosing program."""
    return jax.tree.map(array_functions.stop_gradient, outs)
