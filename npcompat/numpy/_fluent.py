"""Functions as methods of arrays: those that MXNet has beyond NumPy's, such as `x.exp()` and
`x.softmax(axis=1)`.
"""

import importlib
from types import MethodType
from typing import Any


class _Method:
    """A function of `np` or `npx` as a method: looked up when it is asked for, since those modules
    need arrays to begin with.

    The class gives the function itself, with its signature and documentation.
    """

    __slots__ = ("_module", "_name")

    def __init__(self, module: str) -> None:
        self._module = module

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, array: Any, owner: type | None = None) -> Any:
        function = getattr(importlib.import_module(self._module), self._name)
        return function if array is None else MethodType(function, array)


_NP, _NPX = "npcompat.numpy", "npcompat.numpy_extension"


class Fluent:
    """The functions of one array that can be called as its methods, by name; the other arguments
    are the functions'.
    """

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
    split = _Method(_NP)
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
    to_dlpack_for_read = _Method(_NPX)
    to_dlpack_for_write = _Method(_NPX)
    topk = _Method(_NPX)

    # --- there is one kind of array

    @property
    def stype(self) -> str:
        """MXNet's kind of storage: always dense, `default`."""
        return "default"

    def tostype(self, stype: str) -> Any:
        """The array in another kind of storage: itself, as there is only `default`."""
        if stype != "default":
            raise NotImplementedError(f"tostype({stype!r}): everything is dense")
        return self

    def as_np_ndarray(self) -> Any:
        """The array as one with NumPy's semantics, which it has: itself."""
        return self

    as_nd_ndarray = as_np_ndarray


__all__ = ["Fluent"]
