"""Files that are written whole or not at all."""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import BinaryIO


class Writer:
    """File that is written under a temporary name, and renamed when it is closed.

    The temporary file lies in the same folder. Those that killed processes left there are removed
    first.

    Parameters
    ----------
    path : path
        The file; an older one stays as it was until then.

    Attributes
    ----------
    file : file object
        The temporary file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._target = Path(path)
        _remove_left(self._target)
        prefix = f".{self._target.name}.{_here()}-{os.getpid()}-"
        try:
            handle, self._name = tempfile.mkstemp(".part", prefix, self._target.parent)
        except OSError as error:  # which names the temporary file
            raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
        self.file = os.fdopen(handle, "wb")

    def write(self, content: bytes) -> None:
        """Append bytes."""
        self.file.write(content)

    def tell(self) -> int:
        """Return the number of bytes written so far."""
        return self.file.tell()

    def close(self) -> None:
        """Rename the file to its own name."""
        try:
            with self.file:
                self.file.flush()
                os.fsync(self.file.fileno())
            os.chmod(self._name, 0o666 & ~_umask())
            os.replace(self._name, self._target)
        except BaseException:
            os.unlink(self._name)
            raise

    def discard(self) -> None:
        """Remove the temporary file; an older file stays as it was."""
        self.file.close()
        os.unlink(self._name)


def write(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file atomically: an interruption leaves the old file as it was."""
    writer = Writer(path)
    try:
        writer.write(content)
    except BaseException:
        writer.discard()
        raise
    writer.close()


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing; an error leaves the old file as it was.

    A link stays one. A pipe or a device can't be replaced, and is written as it is.
    """
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        with open(target, "wb") as file:
            yield file
        return
    writer = Writer(target)
    try:
        yield writer.file
    except BaseException:
        writer.discard()
        raise
    writer.close()


@cache
def _here() -> str:
    """Return a short name of this machine: a folder may be shared, and so may numbers of
    processes.
    """
    node = os.uname().nodename if hasattr(os, "uname") else "host"
    return hashlib.sha256(node.encode()).hexdigest()[:8]


def _remove_left(target: Path) -> None:
    """Remove the temporary files of a target whose processes on this machine have ended."""
    begin = f".{target.name}.{_here()}-"
    try:
        names = [e.name for e in os.scandir(target.parent) if e.name.startswith(begin)]
    except OSError:
        return  # the write itself raises the error that names the file
    for name in names:
        process, _, rest = name.removeprefix(begin).partition("-")
        if process.isdecimal() and rest.endswith(".part") and not _runs(int(process)):
            with suppress(OSError):
                os.unlink(target.parent / name)


def _runs(process: int) -> bool:
    """Return True if a process of this machine runs."""
    if os.name != "posix":
        return True  # signal 0 is no question there
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
