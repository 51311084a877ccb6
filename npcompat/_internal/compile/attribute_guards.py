"""Guards on attributes of objects and classes that code with given names may read."""

import sys
import threading
import types
from collections.abc import Iterator
from functools import partial
from typing import Any

from npcompat._internal.compile.snapshots import ATTRIBUTE, CHECK, ITEM, Guard
from npcompat._internal.core import changes
from npcompat._internal.support.errors import is_library

DYNAMIC = frozenset(
    (
        "__dict__",
        "vars",
        "dir",
        "getattr",
        "hasattr",
        "globals",
        "attrgetter",
        "astuple",
        "asdict",
    )
)
"""Names that read attributes by computed names; code with one gets guards on all attributes."""


def attributes(value: Any, names: set[str]) -> Iterator[str]:
    """Iterate over the attributes of an object that code with these names may read."""
    if isinstance(value, types.ModuleType):
        return iter(() if is_library_module(value) else sorted(names))
    if isinstance(value, type):
        return iter(_class_attributes(value, names))
    state = state_of(value)
    if isinstance(value, types.FunctionType):
        return iter(sorted(names & state.keys()) if state else ())
    if isinstance(value, types.MethodType) or is_library_class(type(value)):
        return iter(())
    if type(value).__name__ in names:  # a pattern of `match` may name its fields
        names = names.union(getattr(type(value), "__match_args__", ()))
    if names & DYNAMIC and state is not None:
        return iter([n for n in state if type(n) is str])
    return iter(sorted(names))


def _class_attributes(kind: type, names: set[str]) -> list[str]:
    """Return the attributes of a user's class that code with these names may read."""
    if is_of_library(kind):
        return []
    if not names & DYNAMIC:
        return sorted(names)
    found = {n for k in kind.__mro__ if not is_of_library(k) for n in vars(k)}
    return sorted([n for n in found if not n.startswith("__")])


def is_of_library(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in _STATELESS


_STATELESS = ("builtins", "npcompat", "jax", "jaxlib", "numpy", "optax", "ml_dtypes")


def state_of(value: Any) -> dict[str, Any] | None:
    """Return the dict of an object's attributes; None if it has none, or its class raises."""
    try:
        state = value.__dict__
    except Exception:  # of a user's class
        return None
    return state if type(state) is dict else None


def is_library_module(module: Any) -> bool:
    """Return True for modules of libraries and of Python; False for a user's, of a file or not."""
    state = vars(module)
    file = state.get("__file__")
    return is_library(file) if file else state.get("__loader__") is not None


def own_modules(names: set[str], package: str | None) -> dict[str, types.ModuleType]:
    """Return the user's modules that code with these names may import, if it is in a package, by
    their names among the imported ones.
    """
    named = names | ({f"{package}.{name}" for name in names} if package else set())
    found = {name: sys.modules[name] for name in named & sys.modules.keys()}
    return {name: module for name, module in found.items() if not is_library_module(module)}


def is_library_class(kind: type) -> bool:
    """Return True for classes of libraries below npcompat, whose instances hold no user's state."""
    return not changes.is_tracked_class(kind) and is_of_library(kind)


def lacks_nothing(value: Any) -> bool:
    """Return True for what belongs to a library: nothing is added to it while programs run."""
    if isinstance(value, types.ModuleType):
        return is_library_module(value)
    if isinstance(value, types.FunctionType):
        return is_library(value.__code__.co_filename)
    return is_library_class(type(value))


def attribute_guard(value: Any, name: str) -> Guard | None:
    """Return the guard on an attribute of an object, also one that its class has; None if it needs
    none.
    """
    if isinstance(value, type):
        return None
    if isinstance(value, types.ModuleType):
        return (ITEM, vars(value), name, vars(value)[name]) if name in vars(value) else None
    if isinstance(value, threading.local):  # each thread has attributes of its own
        return (ATTRIBUTE, value, name, getattr(value, name)) if hasattr(value, name) else None
    state = state_of(value)
    if state is not None and name in state:
        if changes.is_tracked(value) and name in value._untracked:
            return None
        return (ITEM, state, name, state[name])
    _, found = found_in_class(type(value), name)
    if isinstance(found, types.MemberDescriptorType):
        return (ATTRIBUTE, value, name, getattr(value, name, None))
    if found is MISSING or hasattr(type(found), "__get__"):
        return None  # methods and properties are functions, which are visited when called
    return (ATTRIBUTE, value, name, found)


MISSING: Any = object()


def found_in_class(kind: type, name: str) -> tuple[Any, Any]:
    """Return the class that has an attribute, and what stands there: a method is a function."""
    for klass in kind.__mro__:
        if name in klass.__dict__:
            return klass, klass.__dict__[name]
    return None, MISSING


def may_be_hidden(value: Any, name: str) -> bool:
    """Return True if an attribute comes from an object's class, and one of the object's own would
    be found before it: a method, another descriptor that can't be set, what `__getattr__` gives.
    """
    _, found = found_in_class(type(value), name)
    if found is MISSING:
        return hasattr(type(value), "__getattr__")
    return hasattr(type(found), "__get__") and not hasattr(type(found), "__set__")


_SAME_FROM_CLASS = (types.FunctionType, staticmethod, property)
"""Descriptors that give the same object whenever a class is asked for them."""


def _stands_in_class(kind: type, name: str, before: Any) -> bool:
    return found_in_class(kind, name)[1] is before


def class_guard(value: Any, name: str) -> Guard | None:
    """Return the guard on what a user's class has under a name: a value, a method or a property."""
    kind = value if isinstance(value, type) else type(value)
    klass, found = found_in_class(kind, name)
    if klass is None and isinstance(value, type) and type(value) is not type:
        return class_guard(type(value), name)
    if klass is None or is_of_library(klass) or isinstance(found, types.MemberDescriptorType):
        return None
    if hasattr(type(found), "__get__") and not isinstance(found, _SAME_FROM_CLASS):
        same = partial(_stands_in_class, kind, name, found)
        return (CHECK, same, f"attribute {name!r} of class {kind.__name__} was replaced", found)
    return (ATTRIBUTE, kind, name, getattr(kind, name))


__all__ = [
    "DYNAMIC",
    "MISSING",
    "attribute_guard",
    "attributes",
    "class_guard",
    "found_in_class",
    "is_library_class",
    "is_library_module",
    "is_of_library",
    "lacks_nothing",
    "may_be_hidden",
    "own_modules",
    "state_of",
]
