"""One error for damaged files, whatever the libraries raise that read them."""

from collections.abc import Iterator
from contextlib import contextmanager

from npcompat._internal.support.errors import DataFileError


@contextmanager
def reading(
    source: str, content: str, kind: type[Exception] = DataFileError, *passed: type[Exception]
) -> Iterator[None]:
    """Read a file's content inside the context: what fails there is the file's fault.

    Libraries raise many errors for damaged content (`zlib.error`, `TokenError`, `OverflowError`,
    `RecursionError` and others); the user gets `kind`, with the name of the file.

    Parameters
    ----------
    source : str
        Name of the file.
    content : str
        Description of the expected content, for the message.
    kind : type
        Class of the error.
    *passed : type
        Classes of errors that are not replaced.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, (kind, *passed, MemoryError, ImportError)):
            raise
        raise kind(f"{source}: not a {content} ({type(error).__name__}: {error})") from error


__all__ = ["reading"]
