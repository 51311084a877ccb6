"""Files that are either written whole or not at all."""

import os
import tempfile
from pathlib import Path


def write(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file through a temporary one in the same folder, so that an interruption leaves the old file as it was."""
    target = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
