"""Public functions that call an operator, found in their code."""

import inspect
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from types import CodeType, FunctionType, ModuleType
from typing import Any

from npcompat._internal.core.op import REGISTRY, Op
from npcompat._internal.indexing.lens import Lens

_NAMESPACES = {
    "np": "numpy",
    "np.linalg": "numpy.linalg",
    "np.fft": "numpy.fft",
    "np.random": "numpy.random",
    "np.lib.stride_tricks": "numpy.lib.stride_tricks",
    "npx": "numpy_extension",
    "npx.image": "numpy_extension.image",
    "npx.random": "numpy_extension.random",
    "gluon.utils": "gluon.utils",
}
INDEXING = tuple(
    [
        f"npcompat._internal.indexing.{name}"
        for name in ("advanced", "basic", "assigned_value", "host", "entry")
    ]
)
_READERS = (
    "npcompat._internal.dispatch.devices",
    "npcompat._internal.indexing.lens",
    "npcompat._internal.autograd.tape",
)
_FOLLOWED = (
    "npcompat.numpy",
    "npcompat.gluon.utils",
    *INDEXING,
    *[
        f"npcompat._internal.{name}"
        for name in ("dispatch.devices", "indexing.lens", "autograd.tape")
    ],
)


@dataclass(frozen=True, slots=True)
class Face:
    """Public name of a function, and the class of its `self`."""

    name: str
    owner: type | None = None


def faces() -> dict[FunctionType, Face]:
    """Return the public functions and methods, by function.

    Of several names, it is the function's own or the first.
    """
    found: dict[FunctionType, Face] = {}
    classes: dict[str, type] = {}
    for short, module_name in _NAMESPACES.items():
        module = import_module(f"npcompat.{module_name}")
        for exported in sorted(module.__all__):
            member = vars(module).get(exported)  # lazily imported members have no operators
            function = plain(member)
            if isinstance(member, type):
                classes[f"{short}.{exported}"] = member
            elif function is not None and (function not in found or exported == function.__name__):
                bound = getattr(member, "__self__", None)
                found[function] = Face(
                    f"{short}.{exported}", None if bound is None else type(bound)
                )
    for module_name in sorted({op.compute.__module__ for op in REGISTRY.values()}):
        if (
            not module_name.startswith("npcompat.") and module_name in sys.modules
        ):  # operators of other packages
            for name, member in vars(sys.modules[module_name]).items():
                if (
                    isinstance(member, FunctionType)
                    and member.__module__ == module_name
                    and not name.startswith("_")
                ):
                    found[member] = Face(f"{module_name}.{name}")
    classes = {"ndarray": classes.pop("np.ndarray"), **classes}
    for short, cls in classes.items():
        for base in cls.__mro__:
            for name, member in (
                vars(base).items() if base.__module__.startswith("npcompat.numpy.") else ()
            ):
                function = plain(member.fget if isinstance(member, property) else member)
                if function is not None and (not name.startswith("_") or name.startswith("__")):
                    found.setdefault(function, Face(f"{short}.{name}", cls))
    return found


def plain(found: Any) -> FunctionType | None:
    """Return the plain function of a function, method or wrapper."""
    found = inspect.unwrap(getattr(found, "__func__", found)) if callable(found) else None
    return found if isinstance(found, FunctionType) else None


def names_in(code: CodeType) -> set[str]:
    """Return the names of globals and attributes in a function's code and nested functions."""
    nested = [names_in(c) for c in code.co_consts if isinstance(c, CodeType)]
    return set(code.co_names).union(*nested)


def mentioned(function: FunctionType, owner: type | None) -> Iterator[Any]:
    """Iterate over the objects that a function's code names.

    These are globals, attributes of modules, closures, private methods, and their contents.
    """
    names = sorted(names_in(function.__code__))
    found = [function.__globals__.get(name) for name in names]
    for module in [
        m for m in found if isinstance(m, ModuleType) and m.__name__.startswith(_FOLLOWED)
    ]:
        found += [vars(module).get(name) for name in names]
    found += [getattr(owner, name, None) for name in names if name.startswith("_")]
    found += [cell.cell_contents for cell in function.__closure__ or ()]
    for one in found:
        if isinstance(one, Lens):
            yield from (one.get, one.put)
        elif isinstance(one, dict | list | tuple):
            yield from one.values() if isinstance(one, dict) else one
        else:
            yield one


def _operators(
    function: FunctionType,
    owner: type | None,
    public: Mapping[FunctionType, Face],
    seen: set[FunctionType],
) -> Iterator[tuple[Op, bool]]:
    """Iterate over the operators that a function calls, with True for direct calls.

    Other calls go through functions that are not public.
    """
    seen.add(function)
    for found in mentioned(function, owner):
        if isinstance(found, Op):
            yield found, True
            continue
        called = plain(found)
        if (
            called is not None
            and called not in public
            and called not in seen
            and called.__module__.startswith(_FOLLOWED)
        ):
            yield from [(op, False) for op, _ in _operators(called, owner, public, seen)]


@lru_cache(maxsize=1)
def _users(count: int) -> Mapping[str, list[tuple[str, FunctionType]]]:
    public = faces()
    found: dict[str, dict[str, tuple[bool, FunctionType]]] = {}
    for function, face in public.items():
        for op, direct in _operators(function, face.owner, public, set()):
            own = function.__module__.startswith(
                "npcompat."
            ) or not op.compute.__module__.startswith("npcompat.")
            if own and REGISTRY.get(op.name) is op:
                of_op = found.setdefault(op.name, {})
                of_op[face.name] = (direct or of_op.get(face.name, (False, function))[0], function)
    return {
        op: [
            (name, function)
            for name, (direct, function) in sorted(
                users.items(), key=lambda u: (not u[1][0], _is_method(u[0]), u[0])
            )
        ]
        for op, users in found.items()
    }


def _is_method(name: str) -> bool:
    return name.startswith("ndarray.")


def users(op: Op) -> list[tuple[str, FunctionType]]:
    """Return the public functions that call an operator, by name.

    Functions come before methods, and direct callers first.
    """
    return _users(len(REGISTRY)).get(op.name, [])


def public_face(op: Op) -> tuple[str, FunctionType] | None:
    """Return the public function of an operator's name: `np.random.beta` for `_npi_random_beta`."""
    short = op.name.split("_", 2)[2]
    for exact in (True, False):
        for name, function in users(op):
            path = [part for part in name.split(".")[1:] if not part[0].isupper()]
            if "_".join(path) == short or (not exact and path[-1:] == [short]):
                return name, function
    return None


__all__ = ["Face", "faces", "mentioned", "names_in", "plain", "public_face", "users"]
