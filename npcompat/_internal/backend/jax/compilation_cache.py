"""Persistent compilation cache: files of compiled programs, which other processes load."""

import importlib
import os
from pathlib import Path

import jax

_PATH = "jax_compilation_cache_dir"


def kept_in() -> str | None:
    """Return the folder of the cache; None if programs are not kept."""
    found: str | None = getattr(jax.config, _PATH)
    return found


def keep_in(path: str | os.PathLike[str] | None) -> None:
    """Store compiled programs, small ones too, in a folder from now on; None ends that."""
    found = None if path is None else str(Path(path).expanduser().absolute())
    if found is not None:
        os.makedirs(found, exist_ok=True)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    if found != kept_in():
        jax.config.update(_PATH, found)
        # JAX reads the configuration once
        cache = importlib.import_module("jax.experimental.compilation_cache.compilation_cache")
        cache.reset_cache()


__all__ = ["keep_in", "kept_in"]
