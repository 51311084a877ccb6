"""Names of backends that other packages bring, and the engines behind them.

An engine is imported and made when its name is first asked for. Listing names imports nothing.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from npcompat._internal.backend.equations.program import VOCABULARY
from npcompat._internal.backend.plugin.backend import Plugin
from npcompat._internal.core import modes
from npcompat._internal.support.errors import BackendError

GROUP, FACTS_GROUP = "npcompat.backends", "npcompat.backend_facts"
"""Entry points of packages: engines by name, and cheap dictionaries of facts by name."""
_KIT = "npcompat._internal.backend.kit"
SHIPPED = {
    "array_api_strict": f"{_KIT}.namespaces:array_api_strict",
    "cupy": f"{_KIT}.cupy_engine:CuPyEngine",
    "torch": f"{_KIT}.torch_engine:TorchEngine",
}
"""Engines of npcompat's own, for libraries that need not be installed."""
_REQUIRED = (
    "devices", "dtypes", "from_host", "to_host", "fresh", "device_of", "move", "program",
)  # fmt: skip
_factories: dict[str, Callable[[], Any]] = {}
engines: dict[str, Plugin] = {}
"""Plug-ins that were asked for in this process, by name."""


def register(name: str, factory: Callable[[], Any]) -> None:
    """Make a backend known by name.

    Parameters
    ----------
    name : str
        Name for `npx.backend` and `NPCOMPAT_BACKEND`.
    factory : callable
        Function without arguments that makes the engine; called when the name is first asked for.

    Raises
    ------
    ValueError
        If the name is one of npcompat's own, in use already, or no identifier.

    Examples
    --------
    >>> from npcompat import backends
    >>> backends.register("jax", dict)
    Traceback (most recent call last):
    ...
    ValueError: register: 'jax' is a backend of npcompat's own; choose another name
    """
    if name in modes.BACKENDS or name in SHIPPED:
        raise ValueError(f"register: {name!r} is a backend of npcompat's own; choose another name")
    if not name.isidentifier():
        raise ValueError(f"register: expected a name that is an identifier, got {name!r}")
    if not callable(factory):
        raise TypeError(f"register: expected a factory that can be called, got {factory!r}")
    if name in engines:
        raise ValueError(
            f"register: {name!r} is in use, and arrays and programs are its: choose another name"
        )
    _factories[name] = factory


def _installed(group: str = GROUP) -> Mapping[str, EntryPoint]:
    return {e.name: e for e in entry_points(group=group)}


def names() -> list[str]:
    """Return the names of all backends, without importing any.

    Returns
    -------
    list of str
        Names of npcompat's own, of registered ones, and of those of installed packages. A name of
        npcompat's own whose library is not installed is among them.

    Examples
    --------
    >>> from npcompat import backends
    >>> {"auto", "jax", "numpy", "torch"} <= set(backends.names())
    True
    """
    return sorted({*modes.BACKENDS, *SHIPPED, *_factories, *_installed()})


def facts(name: str) -> Mapping[str, Any]:
    """Return what a package says about its backend, without importing the engine.

    Parameters
    ----------
    name : str
        Name of a backend.

    Returns
    -------
    mapping
        The dictionary behind the entry point of that name in the group `npcompat.backend_facts`;
        empty if there is none.

    Examples
    --------
    >>> from npcompat import backends
    >>> backends.facts("jax")
    {}
    """
    check(name)
    entry = _installed(FACTS_GROUP).get(name)
    found: Mapping[str, Any] = {} if entry is None else entry.load()
    return found


def engine_name(backend: str) -> str | None:
    """Name of the engine of a placement: that of `torch` and `auto:torch` is `torch`."""
    if backend in modes.BACKENDS:
        return None
    return backend.removeprefix(modes.AUTO)


def check(backend: str, argument: str = "backend") -> None:
    """Raise ValueError for a placement whose backend nobody brings."""
    name = engine_name(backend)
    if name is None or name in SHIPPED or name in _factories or name in _installed():
        return
    plugins = [n for n in names() if n not in modes.BACKENDS]
    raise ValueError(
        f"{argument}: expected one of {', '.join((*modes.BACKENDS, *plugins))}, or auto: and one "
        f"of the last {len(plugins)}, got {backend!r}"
    )


def _factory(name: str) -> Callable[[], Any]:
    if name in _factories:
        return _factories[name]
    if name in SHIPPED:
        module, _, attribute = SHIPPED[name].partition(":")
        found: Callable[[], Any] = getattr(import_module(module), attribute)
        return found
    check(name)
    made: Callable[[], Any] = _installed()[name].load()
    return made


def get(name: str) -> Plugin:
    """Return the plug-in of a name, imported and made when it is first asked for.

    Raises
    ------
    ValueError
        If nobody brings a backend of that name.
    BackendError
        If its engine can't be made, lacks a method, or was written for other equations.
    """
    found = engines.get(name)
    if found is not None:
        return found
    check(name)
    try:
        engine = _factory(name)()
    except Exception as error:
        raise BackendError(
            f"the backend {name!r} can't be used: its engine raised {type(error).__name__}: {error}"
        ) from error
    _check_engine(name, engine)
    return engines.setdefault(name, Plugin(name, engine))


def _check_engine(name: str, engine: Any) -> None:
    missing = [m for m in _REQUIRED if not callable(getattr(engine, m, None))]
    if missing:
        raise BackendError(
            f"the engine of the backend {name!r} lacks {', '.join(missing)}: see Engine in "
            "npcompat.backends for what each is given and returns"
        )
    version = getattr(engine, "vocabulary", None)
    if version != VOCABULARY:
        newer = isinstance(version, int) and version > VOCABULARY
        raise BackendError(
            f"the backend {name!r} was written for version {version} of the equations, and this "
            f"npcompat has version {VOCABULARY}: "
            + ("upgrade npcompat" if newer else f"upgrade the package that brings {name!r}")
        )
    if not engine.devices():
        raise BackendError(f"the backend {name!r} found no device")


def loaded() -> list[Plugin]:
    """The plug-ins that were asked for in this process."""
    return list(engines.values())


__all__ = ["check", "engine_name", "facts", "get", "loaded", "names", "register"]
