"""Files of arrays that lie on many devices, by orbax: written in pieces, in the background, whole or
not at all.
"""

import json
import logging
import os
import zlib
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp

from npcompat._internal.backend.jax.namespace import Array
from npcompat._internal.support.errors import DataFileError

_ARRAYS, _NOTES, _SUMS = "arrays", "notes", "sums"


def _orbax() -> Any:
    try:
        import orbax.checkpoint
    except ImportError as error:
        raise ImportError(
            "gluon.Checkpoint needs orbax-checkpoint: pip install npcompat[checkpoints]"
        ) from error
    logging.getLogger("absl").setLevel(logging.ERROR)
    return orbax.checkpoint


class Store:
    """Folder of numbered checkpoints, of which the last ones are kept."""

    def __init__(self, folder: str | os.PathLike[str], keep: int | None) -> None:
        self._orbax, self.folder = _orbax(), os.path.abspath(os.fspath(folder))
        if os.path.exists(self.folder) and not os.path.isdir(self.folder):
            raise NotADirectoryError(f"{self.folder}: a checkpoint needs a folder; this is a file")
        self._closed = False
        # Folders are made while `save` runs: orbax's threads wait minutes for one that can't be
        # made, and keep the process from ending.
        apart = self._orbax.AsyncOptions(create_directories_asynchronously=False)
        options = self._orbax.CheckpointManagerOptions(
            max_to_keep=keep, create=True, enable_async_checkpointing=True, async_options=apart
        )
        self._manager = self._orbax.CheckpointManager(
            self.folder,
            options=options,
            item_handlers={
                _ARRAYS: self._orbax.StandardCheckpointHandler(),
                _NOTES: self._orbax.JsonCheckpointHandler(),
            },
        )

    def begun(self) -> list[int]:
        """Numbers of the checkpoints that are whole or being written, in order."""
        return sorted(self._manager.all_steps())

    def steps(self) -> list[int]:
        """Numbers of the checkpoints that are whole, in order."""
        return [n for n in self.begun() if os.path.isdir(os.path.join(self.folder, str(n)))]

    def save(self, step: int, arrays: Mapping[str, Any], notes: Mapping[str, Any]) -> None:
        """Begin to write a checkpoint; values that change later do not reach it."""
        if self._closed:
            raise ValueError(f"the checkpoint of {self.folder} was closed: make another")
        with jax.enable_x64(True):
            kept = {name: _snapshot(array) for name, array in arrays.items()}
            sums = {name: _checksum(array) for name, array in kept.items()}
            args = self._orbax.args.Composite(
                arrays=self._orbax.args.StandardSave(kept),
                notes=self._orbax.args.JsonSave(_sealed({**notes, _SUMS: sums})),
            )
            self._manager.save(step, args=args, force=True)

    def wait(self) -> None:
        """Wait until what was begun is written; raises what went wrong."""
        self._manager.wait_until_finished()

    def types(self, step: int) -> dict[str, tuple[tuple[int, ...], onp.dtype[Any]]]:
        """Shapes and dtypes of the arrays of a checkpoint."""
        try:
            found = self._manager.item_metadata(step)[_ARRAYS]
            tree = getattr(found, "tree", found)
            return {n: (tuple(m.shape), onp.dtype(m.dtype)) for n, m in dict(tree).items()}
        except Exception as error:
            raise self._damaged(step, error) from error

    def notes(self, step: int) -> dict[str, Any]:
        """Notes of a checkpoint."""
        found = self._restored(step, notes=self._orbax.args.JsonRestore())[_NOTES]
        try:
            return _unsealed(found)
        except ValueError as error:
            raise self._damaged(step, error) from error

    def load(self, step: int, like: Mapping[str, Any], notes: Mapping[str, Any]) -> dict[str, Any]:
        """Arrays of a checkpoint, laid out as these are; their sums are those of its notes."""
        targets = {
            name: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=a.sharding)
            if type(a) is Array
            else onp.asarray(a)  # read by NumPy: without a place orbax takes that of the file
            for name, a in like.items()
        }
        with jax.enable_x64(True):
            found = self._restored(step, arrays=self._orbax.args.StandardRestore(targets))[_ARRAYS]
            sums = notes.get(_SUMS, {})  # steps of earlier versions have none
            changed = [n for n, wanted in sums.items() if _checksum(found[n]) != wanted]
        if changed:
            raise self._damaged(step, ValueError(f"{', '.join(changed)}: not what was written"))
        return {
            name: onp.asarray(array) if type(like[name]) is onp.ndarray else array
            for name, array in found.items()
        }

    def close(self) -> None:
        """Wait, and end the threads that write."""
        self._closed = True
        self._manager.close()

    def _restored(self, step: int, **items: Any) -> Any:
        try:
            return self._manager.restore(step, args=self._orbax.args.Composite(**items))
        except Exception as error:
            raise self._damaged(step, error) from error

    def _damaged(self, step: int, error: Exception) -> DataFileError:
        return DataFileError(
            f"checkpoint {os.path.join(self.folder, str(step))} can't be read, nothing was loaded; "
            f"it is damaged, or was written by something else: {type(error).__name__}: {error}"
        )


def _sealed(notes: Mapping[str, Any]) -> dict[str, Any]:
    """Return notes with a sum, by which damage is seen: one changed digit is JSON, too."""
    text = json.dumps(notes)
    return {"text": text, "crc32": zlib.crc32(text.encode())}


def _unsealed(found: Mapping[str, Any]) -> dict[str, Any]:
    if "random" in found:  # written by an earlier version, without a sum
        return dict(found)
    text = str(found.get("text"))
    if found.get("crc32") != zlib.crc32(text.encode()):
        raise ValueError("its notes are not what was written")
    return dict(json.loads(text))


def _checksum(array: Any) -> int:
    """Return the sum of hashes of an array's bits and their positions.

    It is the same however the array is cut, and every changed bit changes it. The files' own sums
    are of their tables only.
    """
    with jax.enable_x64(True):
        return int(_hashed(array))


@jax.jit
def _hashed(array: Any) -> Any:
    array = jnp.asarray(array)
    if jnp.iscomplexobj(array):
        return _hashed(array.real) + 3 * _hashed(array.imag)
    words = _words(array)
    place = jnp.zeros(words.shape, jnp.uint32)
    for axis, length in enumerate(words.shape):
        place = place * length + jax.lax.broadcasted_iota(jnp.uint32, words.shape, axis)
    mixed = words ^ (place * 0x9E3779B9)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):  # the steps of MurmurHash3's end
        mixed = (mixed ^ (mixed >> shift)) * factor
    return mixed.sum(dtype=jnp.uint32)


def _words(array: Any) -> Any:
    """Return the bits of an array as words of 32 bits."""
    size = min(array.dtype.itemsize, 4)  # of eight bytes it makes two words, along another axis
    if not jnp.issubdtype(array.dtype, jnp.floating) and array.dtype.itemsize <= 4:
        return array.astype(jnp.uint32)  # integers of four bits, too
    return jax.lax.bitcast_convert_type(array, f"uint{8 * size}").astype(jnp.uint32)


def _snapshot(array: Any) -> Any:
    """Return the values of an array for the writer.

    On the CPU that is a copy, since the next step may overwrite the memory while it is written.
    """
    if type(array) is not Array:
        return onp.array(array)
    if not array.is_fully_addressable:
        return jax.numpy.copy(array) if _on_cpu(array) else array
    if jax.process_count() > 1:
        return onp.array(array)
    return jax.numpy.copy(array) if _on_cpu(array) else array


def _on_cpu(array: Any) -> bool:
    return bool(next(iter(array.sharding.addressable_devices)).platform == "cpu")


__all__ = ["Store"]
