"""Files of arrays that lie on many devices, by orbax: written in pieces, in the background, whole or
not at all.
"""

import logging
import os
from collections.abc import Mapping
from typing import Any

import jax
import numpy as onp

from npcompat._internal.backend.jax.namespace import Array
from npcompat._internal.support.errors import DataFileError

_ARRAYS, _NOTES = "arrays", "notes"


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
        options = self._orbax.CheckpointManagerOptions(
            max_to_keep=keep, create=True, enable_async_checkpointing=True
        )
        self._manager = self._orbax.CheckpointManager(
            self.folder,
            options=options,
            item_handlers={
                _ARRAYS: self._orbax.StandardCheckpointHandler(),
                _NOTES: self._orbax.JsonCheckpointHandler(),
            },
        )

    def steps(self) -> list[int]:
        """Numbers of the checkpoints that are whole, in order."""
        return sorted(self._manager.all_steps())

    def save(self, step: int, arrays: Mapping[str, Any], notes: Mapping[str, Any]) -> None:
        """Begin to write a checkpoint; values that change later do not reach it."""
        with jax.enable_x64(True):
            kept = {name: _snapshot(array) for name, array in arrays.items()}
            args = self._orbax.args.Composite(
                arrays=self._orbax.args.StandardSave(kept),
                notes=self._orbax.args.JsonSave(dict(notes)),
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
        return dict(self._restored(step, notes=self._orbax.args.JsonRestore())[_NOTES])

    def load(self, step: int, like: Mapping[str, Any]) -> dict[str, Any]:
        """Arrays of a checkpoint, laid out as these are."""
        targets = {
            name: jax.ShapeDtypeStruct(
                a.shape, a.dtype, sharding=a.sharding if type(a) is Array else None
            )
            for name, a in like.items()
        }
        with jax.enable_x64(True):
            found = self._restored(step, arrays=self._orbax.args.StandardRestore(targets))
        return {
            name: onp.asarray(array) if type(like[name]) is onp.ndarray else array
            for name, array in found[_ARRAYS].items()
        }

    def close(self) -> None:
        """Wait, and end the threads that write."""
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
