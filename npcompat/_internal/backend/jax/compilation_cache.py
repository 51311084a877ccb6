"""Compiled programs in files, which other processes take in place of compiling."""

import importlib
import os
from pathlib import Path

import jax

_PATH = "jax_compilation_cache_dir"


def kept_in() -> str | None:
    """The folder where programs are kept; None if they are not."""
    found: str | None = getattr(jax.config, _PATH)
    return found


def keep_in(path: str | os.PathLike[str] | None) -> None:
    """Keep programs in a folder from now on, small ones too; None: keep them no longer."""
    found = None if path is None else str(Path(path).expanduser().absolute())
    if found is not None:
        os.makedirs(found, exist_ok=True)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    if found != kept_in():
        jax.config.update(_PATH, found)
        importlib.import_module(
            "jax.experimental.compilation_cache.compilation_cache"
        ).reset_cache()  # JAX looks once


__all__ = ["keep_in", "kept_in"]
