"""Methods of arrays beyond NumPy's that MXNet has, such as `x.exp()` and `x.softmax(axis=1)`."""

import importlib
from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


class _Method:
    """Descriptor that makes a function of `np` or `npx` a method.

    The function is looked up on access, because those modules import the array class. Accessed
    on the class, it is the function itself, with its signature and docstring.
    """

    __slots__ = ("_module", "_name")

    def __init__(self, module: str) -> None:
        self._module = module

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, array: Any, owner: type | None = None) -> "Callable[..., ndarray]":
        function: Any = getattr(importlib.import_module(self._module), self._name)
        return function if array is None else MethodType(function, array)


class _MethodOfAnything(_Method):
    """Descriptor of a function that does not return one array."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __get__(self, array: Any, owner: type | None = None) -> Any:
            """Return the function as a method."""


_NP, _NPX = "npcompat.numpy", "npcompat.numpy_extension"


class Fluent:
    """Mixin of functions that are methods of arrays; the array is the first argument."""

    __slots__ = ()

    abs = _Method(_NP)
    arccos = _Method(_NP)
    arccosh = _Method(_NP)
    arcsin = _Method(_NP)
    arcsinh = _Method(_NP)
    arctan = _Method(_NP)
    arctanh = _Method(_NP)
    broadcast_to = _Method(_NP)
    cbrt = _Method(_NP)
    ceil = _Method(_NP)
    cos = _Method(_NP)
    cosh = _Method(_NP)
    degrees = _Method(_NP)
    diag = _Method(_NP)
    exp = _Method(_NP)
    expand_dims = _Method(_NP)
    expm1 = _Method(_NP)
    fix = _Method(_NP)
    flip = _Method(_NP)
    floor = _Method(_NP)
    log = _Method(_NP)
    log10 = _Method(_NP)
    log1p = _Method(_NP)
    log2 = _Method(_NP)
    nanprod = _Method(_NP)
    nansum = _Method(_NP)
    ones_like = _Method(_NP)
    pad = _Method(_NP)
    radians = _Method(_NP)
    reciprocal = _Method(_NP)
    rint = _Method(_NP)
    sign = _Method(_NP)
    sin = _Method(_NP)
    sinh = _Method(_NP)
    split = _MethodOfAnything(_NP)
    sqrt = _Method(_NP)
    square = _Method(_NP)
    tan = _Method(_NP)
    tanh = _Method(_NP)
    tile = _Method(_NP)
    trunc = _Method(_NP)
    zeros_like = _Method(_NP)

    broadcast_like = _Method(_NPX)
    log_sigmoid = _Method(_NPX)
    log_softmax = _Method(_NPX)
    mish = _Method(_NPX)
    norm = _Method(_NPX)
    one_hot = _Method(_NPX)
    pick = _Method(_NPX)
    relu = _Method(_NPX)
    reshape_like = _Method(_NPX)
    shape_array = _Method(_NPX)
    sigmoid = _Method(_NPX)
    size_array = _Method(_NPX)
    slice = _Method(_NPX)
    slice_axis = _Method(_NPX)
    slice_like = _Method(_NPX)
    softmax = _Method(_NPX)
    to_dlpack_for_read = _MethodOfAnything(_NPX)
    to_dlpack_for_write = _MethodOfAnything(_NPX)
    topk = _MethodOfAnything(_NPX)

    # --- there is one kind of array

    @property
    def stype(self) -> str:
        """MXNet's storage type: always 'default' (dense)."""
        return "default"

    def tostype(self, stype: str) -> "ndarray":
        """Convert to a storage type; returns the array, as 'default' is the only one."""
        if stype != "default":
            raise NotImplementedError(f"tostype({stype!r}): everything is dense")
        return cast("ndarray", self)

    def as_np_ndarray(self) -> "ndarray":
        """Return the array itself, which has NumPy's semantics."""
        return cast("ndarray", self)

    as_nd_ndarray = as_np_ndarray


__all__ = ["Fluent"]
