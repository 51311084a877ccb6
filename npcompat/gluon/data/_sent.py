"""Pickles for the worker processes of a DataLoader: sent once, and again when they have changed.

Workers are sent a pickle when they start. Each epoch begins with a digest of what would be sent
now. If it is another one, a file gets the new pickle, under a number that each task carries, and
workers that have an older one read it.
"""

import hashlib
import io
import pickle
import shutil
import tempfile
import warnings
import weakref
from pathlib import Path
from typing import Any

from npcompat._internal.core import modes
from npcompat._internal.support import atomic_file
from npcompat.gluon._parameter import Parameter
from npcompat.gluon.data.batchify import is_recorded

_UNFIT = (pickle.PicklingError, AttributeError, TypeError)


class _Digest:
    """File that keeps nothing but a digest of what is written."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def write(self, content: Any) -> None:
        self._hash.update(content)

    def result(self) -> bytes:
        return self._hash.digest()


class _Constants(pickle.Pickler):
    """Pickler for calls that are recorded: raises for what would become a constant."""

    def reducer_override(self, value: Any) -> Any:
        if is_recorded(value) or (isinstance(value, Parameter) and value.grad_req != "null"):
            raise RuntimeError(
                "DataLoader: the dataset or batchify_fn holds arrays with gradients, and is read "
                "while recording; gradients do not come back from worker processes: use threads "
                "(thread_pool=True) or num_workers=0, or read the batch before autograd.record()"
            )
        return NotImplemented


def _dump(what: Any, file: Any) -> None:
    kind = _Constants if modes.current().recording else pickle.Pickler
    kind(file, pickle.HIGHEST_PROTOCOL).dump(what)


def _digest(what: Any) -> bytes:
    found = _Digest()
    _dump(what, found)
    return found.result()


class Sent:
    """Pickle that the workers of a loader have, with its number.

    `number` is that of the latest version, and `path` the file in which workers find it if they
    began with an older one.
    """

    def __init__(self) -> None:
        self.number, self.path = 0, ""
        self._digest = b""
        self._failed = False

    def first(self, what: Any) -> bytes:
        """Return the pickle for workers that are about to start.

        Raises
        ------
        TypeError
            If it can't be pickled.
        """
        file = io.BytesIO()
        try:
            _dump(what, file)
        except _UNFIT as error:
            raise TypeError(
                "DataLoader: the dataset or batchify_fn can't be sent to worker processes: "
                f"{error}. Functions must stand at the top level of a module; threads "
                "(thread_pool=True) take any"
            ) from error
        content = file.getvalue()
        self.number, self._digest = self.number + 1, hashlib.sha256(content).digest()
        return content

    def update(self, what: Any) -> None:
        """Compare what would be sent now with what the workers have, and write it if it differs."""
        try:
            now = _digest(what)
        except _UNFIT as error:
            if not self._failed:
                warnings.warn(
                    "DataLoader: the dataset or batchify_fn can't be sent to worker processes any "
                    f"more ({error}): they go on with what they have",
                    stacklevel=2,
                )
            self._failed = True
            return
        if now == self._digest:
            return
        if not self.path:
            folder = tempfile.mkdtemp(prefix="npcompat-loader-")
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            self.path = str(Path(folder) / "dataset")
        writer = atomic_file.Writer(self.path)
        try:
            _dump(self.number + 1, writer)
            _dump(what, writer)
        except BaseException:
            writer.discard()
            raise
        writer.close()
        self.number, self._digest = self.number + 1, now


__all__ = ["Sent"]
