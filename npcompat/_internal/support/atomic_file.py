"""Files that are written whole or not at all."""

import os
import tempfile
from pathlib import Path


class Writer:
    """File that is written under a temporary name, and renamed when it is closed.

    The temporary file lies in the same folder.

    Parameters
    ----------
    path : path
        The file; an older one stays as it was until then.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._target = Path(path)
        handle, self._name = tempfile.mkstemp(
            prefix=f".{self._target.name}.", suffix=".part", dir=self._target.parent
        )
        self._file = os.fdopen(handle, "wb")

    def write(self, content: bytes) -> None:
        """Append bytes."""
        self._file.write(content)

    def tell(self) -> int:
        """Return the number of bytes written so far."""
        return self._file.tell()

    def close(self) -> None:
        """Rename the file to its own name."""
        try:
            with self._file:
                self._file.flush()
                os.fsync(self._file.fileno())
            os.chmod(self._name, 0o666 & ~_umask())
            os.replace(self._name, self._target)
        except BaseException:
            os.unlink(self._name)
            raise

    def discard(self) -> None:
        """Remove the temporary file; an older file stays as it was."""
        self._file.close()
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


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
