"""`npx.compilation_cache`."""

import os

from npcompat._internal.backend.jax import compilation_cache as jax_cache


def compilation_cache(path: str | os.PathLike[str] | None) -> str | None:
    """Keep compiled programs in a folder, where this process and later ones find them, in place of
    compiling them again.

    For the whole process, other users of JAX included. The environment variable
    ``NPCOMPAT_CACHE_DIR`` does the same from the beginning. Functions are still traced, so compile
    logs look as before; what is spared is XLA's part.

    Parameters
    ----------
    path : path or None
        The folder, which is made if it is not there; None to keep no programs. Whoever may write
        there can have this process run any code.

    Returns
    -------
    str or None
        The folder before.

    Examples
    --------
    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> before = npx.compilation_cache(folder)
    >>> y = npx.jit(lambda x: x * 2.5 - 1)(np.ones(3))
    >>> len(os.listdir(folder)) > 0
    True
    >>> npx.compilation_cache(before) == folder
    True
    """
    before = jax_cache.kept_in()
    jax_cache.keep_in(path)
    return before


if os.environ.get("NPCOMPAT_CACHE_DIR"):
    compilation_cache(os.environ["NPCOMPAT_CACHE_DIR"])

__all__ = ["compilation_cache"]
