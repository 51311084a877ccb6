"""Engines over namespaces that array-api-compat knows."""

from importlib import import_module

from npcompat._internal.backend.kit.array_api import ArrayAPIEngine


def array_api_strict() -> ArrayAPIEngine:
    """Return the engine over the strict namespace, which has the standard and no more."""
    return ArrayAPIEngine(import_module("array_api_strict"), "array_api_strict")


__all__ = ["array_api_strict"]
