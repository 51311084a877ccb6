"""The methods of ufuncs: `np.add.reduce`, `accumulate`, `reduceat`, `outer`, `at`; and `nin`, `nout`, `identity`, `types`.

A ufunc is a plain function, so that its signature and documentation are its own; `document` gives it the methods.
There is one operator for each method, whose attribute `ufunc` names the function.
"""

from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, Protocol, cast, runtime_checkable

import numpy as onp

from npcompat._internal import dispatch, dtypes, execution, modes
from npcompat._internal.backend import jax as xla
from npcompat._internal.dispatch import apply
from npcompat._internal.dtypes import Resolution, Type
from npcompat._internal.errors import OperatorError, user_location
from npcompat._internal.handle import Handle
from npcompat._internal.op import REGISTRY, REQUIRED, Op, as_axis, normalized_axes, operator
from npcompat.numpy._creation import asarray
from npcompat.numpy._typing import ArrayLike, AxisLike, DTypeLike, NoValue
from npcompat.numpy._ufunc import SHARED_PARAMETERS, finish, name_of, reduced_axis, store

P = ParamSpec("P")
IDENTITY = "identity"
"""The value of the attribute `initial` that means NumPy's default."""

_WHOLE = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all", "logical_or": "any"}
_RUNNING = {"add": "cumsum", "multiply": "cumprod"}
_ASSOCIATIVE = {"add", "multiply", "maximum", "minimum", "fmax", "fmin", "gcd", "hypot", "logaddexp", "logaddexp2"}
_ASSOCIATIVE |= {"logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor"}


@runtime_checkable
class ufunc(Protocol[P]):
    """What functions that work element by element are: callable, and with these methods."""

    __name__: str
    nin: int
    nout: int
    nargs: int
    ntypes: int
    types: list[str]
    identity: Any
    signature: None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Apply the function element by element."""

    def reduce(
        self,
        array: ArrayLike,
        /,
        axis: AxisLike = 0,
        dtype: DTypeLike = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = NoValue,
        where: ArrayLike = True,
    ) -> Any:
        """Apply the function to the elements along axes, from left to right, until one is left."""

    def accumulate(self, array: ArrayLike, /, axis: int = 0, dtype: DTypeLike = None, out: Any = None) -> Any:
        """What `reduce` has after the first element along the axis, after the second, and so on."""

    def reduceat(self, array: ArrayLike, /, indices: ArrayLike, axis: int = 0, dtype: DTypeLike = None, out: Any = None) -> Any:
        """Reduce the slices that begin at the indices, each up to the next one."""

    def outer(self, A: ArrayLike, B: ArrayLike, /, **kwargs: Any) -> Any:
        """Apply the function to all pairs of an element of `A` and an element of `B`."""

    def at(self, a: Any, indices: Any, b: ArrayLike = None, /) -> None:
        """Apply the function in place at the indices; an index that occurs twice is served twice."""


# --- operators ---------------------------------------------------------------------------------------------------


def _pairwise(xp: Any, name: str) -> Callable[..., Any]:
    compute = REGISTRY[f"_npi_{name}"].compute
    return lambda *arrays: compute(xp, *arrays)


def _folded(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """The loop that NumPy chooses: the elements are cast to what the function returns."""
    source = dtypes.strong(types[0])
    wanted: Any = {} if attrs["dtype"] is None else {"signature": (attrs["dtype"], None, None), "casting": "unsafe"}
    loop = getattr(onp, attrs["ufunc"]).resolve_dtypes((None, source, None), reduction=True, **wanted)
    dtype = loop[2] if attrs["dtype"] is not None else dtypes.narrow(loop[2], types)
    return [dtype, *[None] * (len(types) - 1)], dtype


def _host_reduce(xp: Any, a: Any, *where: Any, ufunc: str, axis: Any, dtype: Any, keepdims: bool, initial: Any) -> Any:
    options = {"where": where[0].astype(bool)} if where else {}
    if initial != IDENTITY:
        options["initial"] = initial
    return getattr(onp, ufunc).reduce(a, axis=axis, dtype=a.dtype, keepdims=keepdims, **options)


@operator("_npi_ufunc_reduce", rule=_folded, pattern="reduction", kernels={"numpy": _host_reduce})
def _reduce(
    xp: Any, a: Any, *where: Any, ufunc: str = REQUIRED, axis: Any = 0, dtype: Any = None, keepdims: bool = False, initial: Any = IDENTITY
) -> Any:
    """A fold over axes."""
    axes = normalized_axes(reduced_axis(a, axis), a.ndim)
    mask = xp.astype(where[0], onp.bool_) if where else None
    if ufunc in _WHOLE and (initial == IDENTITY or (initial is not None and not ufunc.startswith("logical"))):
        options = {} if mask is None else {"where": mask}
        if initial != IDENTITY:
            options["initial"] = initial
        return getattr(xp, _WHOLE[ufunc])(a, axis=axes, keepdims=keepdims, **options)
    identity = getattr(onp, ufunc).identity
    if len(axes) > 1 and ufunc not in _ASSOCIATIVE:
        raise ValueError(f"reduction operation '{ufunc}' is not reorderable, so at most one axis may be specified")
    start = None if initial == IDENTITY else initial
    total = xp.fold(_pairwise(xp, ufunc), a, axes, start, mask, None if initial is None else identity, ufunc in _ASSOCIATIVE)
    return xp.expand_dims(total, axes) if keepdims else total


@operator(
    "_npi_ufunc_accumulate",
    rule=_folded,
    kernels={"numpy": lambda xp, a, *, ufunc, axis, dtype: getattr(onp, ufunc).accumulate(a, axis, a.dtype)},
)
def _accumulate(xp: Any, a: Any, *, ufunc: str = REQUIRED, axis: int = 0, dtype: Any = None) -> Any:
    """Folds of growing parts of an axis."""
    (axis,) = normalized_axes(axis, a.ndim)
    if ufunc in _RUNNING:
        return getattr(xp, _RUNNING[ufunc])(a, axis=axis)
    return xp.running_fold(_pairwise(xp, ufunc), a, axis, ufunc in _ASSOCIATIVE)


def _host_reduceat(xp: Any, a: Any, indices: Any, *, ufunc: str, axis: int, dtype: Any) -> Any:
    return getattr(onp, ufunc).reduceat(a, indices, axis, a.dtype)


@operator("_npi_ufunc_reduceat", rule=_folded, kernels={"numpy": _host_reduceat})
def _reduceat(xp: Any, a: Any, indices: Any, *, ufunc: str = REQUIRED, axis: int = 0, dtype: Any = None) -> Any:
    """Folds of slices of an axis."""
    (axis,) = normalized_axes(axis, a.ndim)
    return xp.fold_between(_pairwise(xp, ufunc), a, xp.astype(indices, onp.int64), axis)


def _in_place(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """The result has the array's dtype; the values are cast as the function wants them."""
    target = dtypes.strong(types[0])
    casts, _ = REGISTRY[f"_npi_{attrs['ufunc']}"].rule((target, *types[2:]), {"dtype": None})
    return [None, None, *casts[1:]], target


def _host_at(xp: Any, a: Any, positions: Any, *values: Any, ufunc: str) -> Any:
    written = a.copy()
    getattr(onp, ufunc).at(written.reshape(-1), positions.reshape(-1), *[onp.broadcast_to(v, positions.shape).reshape(-1) for v in values])
    return written


@operator("_npi_ufunc_at", rule=_in_place, kernels={"numpy": _host_at})
def _at(xp: Any, a: Any, positions: Any, *values: Any, ufunc: str = REQUIRED) -> Any:
    """`a` with the function applied at positions of the flattened array."""
    value = xp.broadcast_to(values[0], positions.shape) if values else None
    casts, result = REGISTRY[f"_npi_{ufunc}"].rule((onp.dtype(a.dtype), *[onp.dtype(v.dtype) for v in values]), {"dtype": None})
    if ufunc in xp.SCATTERED and result == a.dtype and result != onp.bool_:
        return xp.scatter_at(ufunc, a, positions, value)
    function = _pairwise(xp, ufunc)
    return xp.apply_at(lambda x, *v: function(xp.astype(x, casts[0]), *v), a, positions, value)


@operator("_npi_not_a_start", differentiable=False)
def _not_a_start(xp: Any, indices: Any, *, size: int = REQUIRED) -> Any:
    """Whether any index is outside `0 <= i < size`."""
    return xp.any((indices < 0) | (indices >= size))


# --- methods -----------------------------------------------------------------------------------------------------


class _Methods:
    """The methods of one ufunc; their parameters are those of `ufunc`."""

    def __init__(self, op: Op, function: Callable[..., Any]) -> None:
        self._op, self._function, self._name = op, function, name_of(op)

    def _binary(self, method: str) -> None:
        if len(self._op.inputs) != 2 or self._op.outputs != 1:
            kind = "binary functions" if len(self._op.inputs) != 2 else "functions returning a single value"
            raise ValueError(f"{method} only supported for {kind}")

    def reduce(
        self,
        array: ArrayLike,
        /,
        axis: AxisLike = 0,
        dtype: DTypeLike = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = NoValue,
        where: ArrayLike = True,
    ) -> Any:
        """Apply the function to the elements along axes, from left to right, until one is left.

        Parameters
        ----------
        array : array_like
            The elements.
        axis : int, tuple of int or None
            Axes to reduce; None for all.
        dtype : dtype, optional
            Dtype in which to compute.
        out : ndarray, optional
            Where the result is written.
        keepdims : bool
            Whether reduced axes stay, with length 1.
        initial : scalar or None, optional
            What to begin with; None: the first element, also where there may be none.
        where : array_like of bool, optional
            Elements to include.

        Examples
        --------
        >>> np.subtract.reduce([10, 2, 3])
        np.int64(5)
        """
        self._binary("reduce")
        if isinstance(initial, Handle | onp.generic | onp.ndarray):
            initial = initial.item()  # type: ignore[union-attr]
        initial = IDENTITY if initial is NoValue else initial
        attrs = (self._name, as_axis(axis), None if dtype is None else dtypes.canonical(dtype), bool(keepdims), initial)
        return finish(apply(_reduce, (array,) if where is True else (array, where), attrs), out, f"{self._name}.reduce")

    def accumulate(self, array: ArrayLike, /, axis: int = 0, dtype: DTypeLike = None, out: Any = None) -> Any:
        """What `reduce` has after the first element along the axis, after the second, and so on.

        Examples
        --------
        >>> np.maximum.accumulate([1, 3, 2, 5])
        array([1, 3, 3, 5])
        """
        self._binary("accumulate")
        attrs = (self._name, as_axis(axis), None if dtype is None else dtypes.canonical(dtype))
        return finish(apply(_accumulate, (array,), attrs), out, f"{self._name}.accumulate")

    def reduceat(self, array: ArrayLike, /, indices: ArrayLike, axis: int = 0, dtype: DTypeLike = None, out: Any = None) -> Any:
        """Reduce the slices that begin at the indices, each up to the next one.

        Where the next index is not larger, the element at the index stands for the slice.

        Raises
        ------
        IndexError
            If an index is outside the axis.

        Examples
        --------
        >>> np.add.reduceat([1, 2, 3, 4], [0, 2])
        array([3, 7])
        """
        self._binary("reduceat")
        array = asarray(array)
        indices = asarray(indices, None if onp.size(indices) else onp.intp)
        (checked,) = normalized_axes(axis, array.ndim)
        self._check_starts(indices, array.shape[checked])
        attrs = (self._name, checked, None if dtype is None else dtypes.canonical(dtype))
        return finish(apply(_reduceat, (array, indices), attrs), out, f"{self._name}.reduceat")

    def _check_starts(self, indices: Handle, size: int) -> None:
        value = dispatch.read(indices)
        trace = modes.current().trace
        if trace is not None and xla.is_tracer(value.payload):
            message = f"index out-of-bounds in {self._name}.reduceat [0, {size}) (compiled at {user_location()})"
            trace.expect(execution.run(_not_a_start, [value], (size,)).payload, IndexError, message)
            return
        host = dispatch.to_host(indices)
        wrong = host[(host < 0) | (host >= size)]
        if wrong.size:
            raise IndexError(f"index {wrong.flat[0]} out-of-bounds in {self._name}.reduceat [0, {size})")

    def outer(self, A: ArrayLike, B: ArrayLike, /, **kwargs: Any) -> Any:
        """Apply the function to all pairs of an element of `A` and an element of `B`.

        Other arguments are those of the function.

        Examples
        --------
        >>> np.multiply.outer([1, 2], [3, 4, 5])
        array([[ 3,  4,  5],
               [ 6,  8, 10]])
        """
        if len(self._op.inputs) != 2:
            raise ValueError("outer product only supported for binary functions")
        return self._function(asarray(A).reshape(onp.shape(A) + (1,) * onp.ndim(B)), B, **kwargs)

    def at(self, a: Any, indices: Any, b: ArrayLike = None, /) -> None:
        """Apply the function in place at the indices; an index that occurs twice is served twice.

        Parameters
        ----------
        a : ndarray
            The array to change.
        indices : index
            Anything that `a[indices]` accepts.
        b : array_like, optional
            The second operands of a binary function, broadcast against ``a[indices]``.

        Examples
        --------
        >>> a = np.zeros(3)
        >>> np.add.at(a, [0, 0, 2], 1)
        >>> a
        array([2., 0., 1.])
        """
        if not isinstance(a, Handle):
            raise TypeError(f"first operand must be array: `a` must be an npcompat ndarray, got {type(a).__name__}")
        if len(self._op.inputs) != (1 if b is None else 2) or self._op.outputs != 1:
            raise ValueError(
                f"{self._name}.at: {'a' if b is not None else 'no'} second operand was given, but the function takes {len(self._op.inputs)}"
            )
        target: Any = a
        positions = dispatch.array_of(onp.arange(target.size).reshape(target.shape))[indices]
        if b is not None and onp.broadcast_shapes(onp.shape(b), positions.shape) != positions.shape:
            raise ValueError(
                f"array is not broadcastable to correct shape: the second operand of {self._name}.at has shape {onp.shape(b)}, "
                f"which does not broadcast to {positions.shape}, the shape of a[indices]"
            )
        store(target, dispatch.read(apply(_at, (target, positions) if b is None else (target, positions, b), (self._name,))))


def document(op: Op) -> Callable[[Callable[P, Any]], ufunc[P]]:
    """Make a public function a ufunc: complete its docstring with what all of them share, and give it the methods."""

    def complete(function: Callable[P, Any]) -> ufunc[P]:
        if function.__name__ != name_of(op):
            raise OperatorError(f"{function.__name__} wraps {op.name}")
        returns = "The result." if op.outputs == 1 else "One array for each output."
        head, _, rest = (function.__doc__ or "").partition("\n\n")
        function.__doc__ = f"{head}\n{SHARED_PARAMETERS.format(inputs=', '.join(op.inputs), returns=returns)}\n{rest}"
        methods, numpys = _Methods(op, function), getattr(onp, name_of(op))
        types = [loop for loop in numpys.types if not set(loop) & set("gGOmM")]
        function.__dict__.update(
            reduce=methods.reduce, accumulate=methods.accumulate, reduceat=methods.reduceat, outer=methods.outer, at=methods.at,
            nin=len(op.inputs), nout=op.outputs, nargs=len(op.inputs) + op.outputs, ntypes=len(types), types=types,
            identity=numpys.identity, signature=None,
        )  # fmt: skip
        return cast("ufunc[P]", function)

    return complete


__all__ = ["document", "ufunc"]
