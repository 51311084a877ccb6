"""Backends that plug in: what an engine is, and how npcompat finds it.

`NPCOMPAT_BACKEND=torch`, or `with npx.backend("torch")`, runs a program on an engine.
docs/backends.md says how to write one.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as onp

from npcompat._internal.backend.equations.program import (
    VOCABULARY,
    Constant,
    Equation,
    Program,
    Type,
    UnsupportedError,
    Variable,
)
from npcompat._internal.backend.kit.array_api import ArrayAPIEngine
from npcompat._internal.backend.kit.build import build
from npcompat._internal.backend.kit.devices import EngineDevice
from npcompat._internal.backend.plugin.registry import facts, names, register


class Engine(Protocol):
    """Engine of a plug-in backend: required members. It holds arrays and executes programs of equations.

    `data` is an array of the engine's own. An engine may also have the attributes and methods of
    `OptionalEngine`. `ArrayAPIEngine` has all that is needed for a namespace of the array-API
    standard, and is made to be derived from.

    Attributes
    ----------
    name : str
        Name of the backend.
    vocabulary : int
        Version of the equations that the engine was written for: `VOCABULARY` of that time.

    Examples
    --------
    >>> from npcompat import backends
    >>> backends.VOCABULARY
    1
    """

    name: str
    vocabulary: int

    def devices(self) -> Sequence[EngineDevice]:
        """Return the devices of this process; the first is the default."""

    def dtypes(self, device: EngineDevice) -> Collection[onp.dtype[Any]]:
        """Return the dtypes whose values a device holds exactly; arrays of others are refused."""

    def from_host(self, array: onp.ndarray[Any, Any], device: EngineDevice) -> Any:
        """Copy a NumPy array, of any strides and of no elements, too, to a device.

        The caller may write its array as soon as this returns.
        """

    def to_host(self, data: Any, dtype: onp.dtype[Any]) -> onp.ndarray[Any, Any]:
        """Copy to an array of NumPy's with this dtype; waits, and raises what computing raised."""

    def fresh(self, data: Any) -> Any:
        """Return the same values in a buffer that nothing else looks into."""

    def device_of(self, data: Any) -> EngineDevice:
        """Return the device of an array; equal to one of `devices()`."""

    def move(self, data: Any, device: EngineDevice) -> Any:
        """Return a copy on another device."""

    def program(
        self, program: Program, donate: Collection[int], device: EngineDevice
    ) -> Callable[..., Sequence[Any]]:
        """Return the function of `data` that a program is; it returns a list of `data`.

        Its results look into the memory of neither its operands nor one another. It may write into
        the buffers of the operands in `donate`, by position.

        Raises
        ------
        UnsupportedError
            For an equation that the engine can't execute: here, and never when the function runs.
        """


class OptionalEngine(Engine, Protocol):
    """Optional members of an engine; each one may be left out.

    Attributes
    ----------
    composites : collection of str
        Primitives that are handed on whole, and not computed from simpler ones.
    views : mapping
        By the name of an operator, `f(data, *operands, **attributes)` whose result may look into
        the memory of `data`. Of the operators that views are made of; positions are ints.
    writes : mapping
        By the name of an operator, `f(data, new, *operands, **attributes)` that writes a part of
        `data` in place.
    known_differences : mapping
        By the name of an operator, what the backend does otherwise, for its manual.
    """

    composites: Collection[str]
    views: Mapping[str, Callable[..., Any]]
    writes: Mapping[str, Callable[..., Any]]
    known_differences: Mapping[str, str]

    def kernel(
        self, operator: str, attributes: Mapping[str, Any], types: Sequence[Type]
    ) -> Callable[..., Any] | None:
        """Return the engine's own function of an operator for operands of these types, or None.

        It has no say in the types of results, nor in gradients. Numbers come as arrays without
        axes. An operator with several results returns a sequence.
        """

    def compile(
        self, function: Callable[..., Sequence[Any]], program: Program
    ) -> Callable[..., Sequence[Any]]:
        """Return a faster form of a function that `program` made, of `npx.jit` or a block."""

    def wait(self, data: Any) -> None:
        """Wait until an array is computed, if the engine is asynchronous."""

    def wait_all(self) -> None:
        """Wait until everything that was started has run."""

    def context(self, device: EngineDevice) -> AbstractContextManager[Any] | None:
        """Return a context that is entered around the building and each run of a program, or None."""

    def to_dlpack(self, data: Any, dtype: onp.dtype[Any]) -> Any:
        """Return an object with `__dlpack__` over the memory of an array."""

    def from_dlpack(self, x: Any) -> tuple[Any, tuple[int, ...], onp.dtype[Any]]:
        """Return `data` over the memory of another library's array, its shape and its dtype."""

    def memory(self, device: EngineDevice) -> tuple[int, int]:
        """Return the free and all bytes of a device."""

    def heavy(self, operator: str, types: Sequence[Type]) -> bool:
        """Return True if placement `auto:` sends an operator on the host's arrays to the engine."""


__all__ = [
    "VOCABULARY", "ArrayAPIEngine", "Constant", "Engine", "EngineDevice", "Equation",
    "OptionalEngine", "Program", "Type", "UnsupportedError", "Variable", "build", "facts", "names",
    "register",
]  # fmt: skip
