"""Persistent compilation cache, `npx.compilation_cache`."""

import os

from npcompat._internal.backend.jax import compilation_cache as jax_cache


def compilation_cache(path: str | os.PathLike[str] | None) -> str | None:
    """Enable a persistent cache of compiled programs in a folder.

    This process and later ones load programs from it instead of compiling them. It applies to the
    whole process, including other users of JAX. The environment variable ``NPCOMPAT_CACHE_DIR``
    enables it at import. Functions are still traced, so compile logs look as before; only XLA's
    part is saved.

    Parameters
    ----------
    path : path or None
        The folder, which is created if needed; None disables the cache. Anyone with write access
        to it can make this process run any code.

    Returns
    -------
    str or None
        The previous folder.

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
