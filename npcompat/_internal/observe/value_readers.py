"""Functions that read the values of arrays, recognised on the Python stack by their code objects.

Names would not do: a user's function, or one of npcompat's that reads nothing, may also be named
`update` or `save`.
"""

import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType
from typing import Any


class CodeSet:
    """Code objects of functions that are given by module and qualified name.

    They are looked up once a module is imported: a function of a module that is not imported yet
    can't be on the stack. A method stands for those that override it as well.
    """

    def __init__(self, functions: Mapping[str, Iterable[str]]) -> None:
        self._functions = {module: tuple(names) for module, names in functions.items()}
        self._codes: set[CodeType] = set()
        self._waiting = set(self._functions)

    def __contains__(self, code: CodeType) -> bool:
        if self._waiting:
            self._look_up()
        return code in self._codes

    def holds_any(self, codes: Iterable[CodeType]) -> bool:
        """Return True if one of the code objects is in the set."""
        return any([code in self for code in codes])

    def missing(self) -> list[str]:
        """Return the names that their modules lack; all of these must be imported."""
        return [
            f"{module}.{name}"
            for module, names in self._functions.items()
            for name in names
            if not list(_codes(sys.modules[module], name))
        ]

    def _look_up(self) -> None:
        for module in [m for m in self._waiting if m in sys.modules]:
            try:
                found = [
                    code
                    for name in self._functions[module]
                    for code in _codes(sys.modules[module], name)
                ]
            except AttributeError:  # the module is being imported
                continue
            self._codes.update(found)
            self._waiting.discard(module)


def _codes(module: Any, name: str) -> Iterator[CodeType]:
    """Iterate over the code objects of a function, or of a method and those that override it."""
    owner, _, last = name.rpartition(".")
    if not owner:
        yield inspect.unwrap(getattr(module, last)).__code__
        return
    kinds = [getattr(module, owner)]
    getattr(kinds[0], last)
    for kind in kinds:
        kinds += kind.__subclasses__()
        function = inspect.unwrap(inspect.getattr_static(kind, last))
        if hasattr(function, "__code__"):
            yield function.__code__


EXPLICIT = CodeSet({
    "npcompat.numpy": (
        "array2string", "array_repr", "array_str", "save", "savetxt", "savez", "savez_compressed",
        "ndarray.__complex__", "ndarray.__float__", "ndarray.__format__", "ndarray.__int__",
        "ndarray.__repr__", "ndarray.__str__", "ndarray.asnumpy", "ndarray.asscalar",
        "ndarray.dump", "ndarray.dumps", "ndarray.item", "ndarray.tobytes", "ndarray.tofile",
        "ndarray.tolist", "ndarray.wait_to_read",
    ),
    "npcompat.numpy_extension": ("save", "savez", "waitall"),
    "npcompat.initializer": ("Initializer.dumps",),
    "npcompat.gluon": (
        "Block.save", "Block.save_parameters", "HybridBlock.export", "ParameterDict.save",
        "Trainer.save_states",
    ),
    "npcompat.gluon.metric": ("EvalMetric.update",),
    "npcompat.symbol": ("Symbol.save",),
})  # fmt: skip
"""Functions that users call to read values."""

IMPLICIT = CodeSet({
    "npcompat.numpy": (
        "ndarray.__array__", "ndarray.__bool__", "ndarray.__contains__", "ndarray.__index__",
        "ndarray.__iter__", "ndarray.__reduce__", "ndarray._elements",
    ),
    "npcompat.numpy._flags": ("Flat.__array__", "Flat.__iter__"),
    "npcompat.numpy._scalar": ("Scalar.__getattr__", "Scalar.__hash__"),
    "npcompat.numpy.random": ("Generator.__reduce__", "RandomState.__reduce__"),
    "npcompat._internal.dispatch.borrowed_buffers": ("export",),
    "npcompat._internal.dispatch.pending_errors": ("raise_pending",),
})  # fmt: skip
"""Functions with which Python and other libraries read values, without a call in the line."""

__all__ = ["EXPLICIT", "IMPLICIT", "CodeSet"]
