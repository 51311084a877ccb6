"""Names of npcompat in pickles of dill, which follows what functions use."""

from typing import Any

from dill import _dill, detect

_globals_of = detect.globalvars
_is_builtin = _dill._is_builtin_module


def globals_of(func: Any, recurse: bool = True, builtin: bool = False) -> dict[str, Any] | None:
    """Return the globals that a function uses; none for one of npcompat's, which go by name.

    dill does not notice functions that call each other, and would not come to an end.
    """
    if _is_ours(getattr(func, "__module__", None)):
        return {}
    found: dict[str, Any] | None = _globals_of(func, recurse, builtin)
    return found


def goes_by_name(module: Any) -> bool:
    """Return True for a module that dill pickles by its name, wherever npcompat is installed."""
    return _is_ours(module.__name__) or _is_builtin(module)


def _is_ours(module: Any) -> bool:
    return str(module).partition(".")[0] == "npcompat"


detect.globalvars, _dill._is_builtin_module = globals_of, goes_by_name

__all__ = ["globals_of", "goes_by_name"]
