"""Ufunc class `np.ufunc`: `reduce`, `accumulate`, `reduceat`, `outer`, `at`, attributes.

A ufunc holds a plain function, whose signature and docstring it shows. A call has no overhead over
that function (`npcompat.numpy._unbound`). `document` makes a ufunc of a function. Each method has
one operator, whose attribute `ufunc` names the function.
"""

import inspect
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, cast

import numpy as onp

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.dtypes import Resolution, Type, in_signature, narrow
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import (
    REGISTRY,
    REQUIRED,
    Kernel,
    Op,
    as_attr,
    as_axis,
    from_attr,
    normalized_axes,
    operator,
)
from npcompat._internal.dispatch import array_like, execution, handles, late_bound
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.indexing.checks import checked_scalar
from npcompat._internal.support.errors import OperatorError, user_location
from npcompat.numpy._creation import asanyarray
from npcompat.numpy._overrides import given, overridden
from npcompat.numpy._typing import ArrayLike, AxisLike, Casting, DTypeLike, NoValue, Out
from npcompat.numpy._ufunc import (
    SHARED_PARAMETERS,
    accumulated_in,
    finish,
    mask_of,
    name_of,
    reduced_axis,
    store,
)
from npcompat.numpy._unbound import P, R_co, Unbound

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

IDENTITY = "identity"
"""Value of the attribute `initial` for NumPy's default."""

_WHOLE = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
_RUNNING = {"add": "cumsum", "multiply": "cumprod"}
_ASSOCIATIVE = {
    "add",
    "multiply",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "gcd",
    "hypot",
    "logaddexp",
    "logaddexp2",
}
_ASSOCIATIVE |= {
    "logical_and",
    "logical_or",
    "logical_xor",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
}


# --- operators ------------------------------------------------------------------------------------


def _pairwise(xp: Any, name: str) -> Callable[..., Any]:
    compute = REGISTRY[f"_npi_{name}"].compute
    return lambda *arrays: compute(xp, *arrays)


def _folded(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """Type rule of reductions: NumPy's loop; elements are cast to the result's dtype."""
    source = dtypes.strong(types[0])
    wanted: Any = (
        {}
        if attrs["dtype"] is None
        else {"signature": (in_signature(attrs["dtype"]), None, None), "casting": "unsafe"}
    )
    loop = getattr(onp, attrs["ufunc"]).resolve_dtypes(
        (None, source, None), reduction=True, **wanted
    )
    dtype = loop[2] if attrs["dtype"] is not None else dtypes.narrow(loop[2], types)
    return [dtype, *[None] * (len(types) - 1)], dtype


def _host_reduce(
    xp: Any, a: Any, *where: Any, ufunc: str, axis: Any, dtype: Any, keepdims: bool, initial: Any
) -> Any:
    options = {"where": where[0].astype(bool)} if where else {}
    if initial != IDENTITY:
        options["initial"] = from_attr(initial)
    return getattr(onp, ufunc).reduce(a, axis=axis, dtype=_chosen(a), keepdims=keepdims, **options)


def _chosen(a: Any) -> Any:
    """Return the loop dtype for elements already cast; None for dates and other host dtypes."""
    return a.dtype if dtypes.on_devices(a.dtype) else None


@operator("_npi_ufunc_reduce", rule=_folded, pattern="reduction", kernels={"numpy": _host_reduce})
def _reduce(
    xp: Any,
    a: Any,
    *where: Any,
    ufunc: str = REQUIRED,
    axis: Any = 0,
    dtype: Any = None,
    keepdims: bool = False,
    initial: Any = IDENTITY,
) -> Any:
    """Reduce by a ufunc over axes (fold)."""
    axes, initial = normalized_axes(reduced_axis(a, axis), a.ndim), from_attr(initial)
    mask = mask_of(xp, a, where[0]) if where else None
    if ufunc in _WHOLE and (
        initial == IDENTITY or (initial is not None and not ufunc.startswith("logical"))
    ):
        options = {} if mask is None else {"where": mask}
        if initial != IDENTITY:
            options["initial"] = checked_scalar(initial, a.dtype)
        return getattr(xp, _WHOLE[ufunc])(a, axis=axes, keepdims=keepdims, **options)
    identity = getattr(onp, ufunc).identity
    if len(axes) > 1 and ufunc not in _ASSOCIATIVE:
        raise ValueError(
            f"reduction operation '{ufunc}' is not reorderable, so at most one axis may be "
            "specified"
        )
    start = None if initial == IDENTITY else initial
    total = xp.fold(
        _pairwise(xp, ufunc),
        a,
        axes,
        start,
        mask,
        None if initial is None else identity,
        ufunc in _ASSOCIATIVE,
    )
    return xp.expand_dims(total, axes) if keepdims else total


@operator(
    "_npi_ufunc_accumulate",
    order="K",
    rule=_folded,
    kernels={
        "numpy": lambda xp, a, *, ufunc, axis, dtype: getattr(onp, ufunc).accumulate(
            a, axis, _chosen(a)
        )
    },
)
def _accumulate(xp: Any, a: Any, *, ufunc: str = REQUIRED, axis: int = 0, dtype: Any = None) -> Any:
    """Accumulate by a ufunc along an axis (scan)."""
    (axis,) = normalized_axes(axis, a.ndim)
    if ufunc in _RUNNING:
        return getattr(xp, _RUNNING[ufunc])(a, axis=axis)
    return xp.running_fold(_pairwise(xp, ufunc), a, axis, ufunc in _ASSOCIATIVE)


def _host_reduceat(xp: Any, a: Any, indices: Any, *, ufunc: str, axis: int, dtype: Any) -> Any:
    return getattr(onp, ufunc).reduceat(a, indices, axis, _chosen(a))


@operator("_npi_ufunc_reduceat", rule=_folded, kernels={"numpy": _host_reduceat})
def _reduceat(
    xp: Any, a: Any, indices: Any, *, ufunc: str = REQUIRED, axis: int = 0, dtype: Any = None
) -> Any:
    """Reduce slices of an axis by a ufunc.

    Parameters
    ----------
    indices : array of int
        Start of each slice.
    """
    (axis,) = normalized_axes(axis, a.ndim)
    return xp.fold_between(_pairwise(xp, ufunc), a, xp.astype(indices, onp.int64), axis)


def _in_place(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """Type rule of `at`: the array keeps its dtype, values are cast to the ufunc's loop."""
    target = dtypes.strong(types[0])
    casts, _ = REGISTRY[f"_npi_{attrs['ufunc']}"].rule((target, *types[2:]), {"dtype": None})
    return [None, None, *casts[1:]], target


def _host_at(
    xp: Any, a: Any, positions: Any, *values: Any, ufunc: str, row: tuple[int, ...]
) -> Any:
    written = a.copy()
    rows = [
        onp.broadcast_to(v, (*positions.shape, *row)).reshape(positions.size, *row) for v in values
    ]
    getattr(onp, ufunc).at(written if row else written.reshape(-1), positions.reshape(-1), *rows)
    return written


def _at_once(
    xp: Any, a: Any, positions: Any, *values: Any, ufunc: str, row: tuple[int, ...]
) -> Any:
    return xp.scatter_at(
        ufunc, a, positions, xp.broadcast_to(values[0], (*positions.shape, *row)), row
    )


def _is_scatter(arrays: Sequence[Any], attrs: Mapping[str, Any]) -> bool:
    """Return True if XLA can scatter in one step, in the array's own dtype."""
    a, _, *values = [onp.dtype(x.dtype) for x in arrays]
    if (
        attrs["ufunc"] not in ("add", "subtract", "multiply", "maximum", "minimum")
        or a == onp.bool_
    ):
        return False
    if a.kind == "c" and attrs["ufunc"] in ("maximum", "minimum"):
        return False
    return bool(REGISTRY[f"_npi_{attrs['ufunc']}"].rule((a, *values), {"dtype": None})[1] == a)


@operator(
    "_npi_ufunc_at",
    rule=_in_place,
    kernels={"numpy": _host_at},
    strategy=(Kernel("jax", _at_once, condition=_is_scatter),),
)
def _at(xp: Any, a: Any, positions: Any, *values: Any, ufunc: str = REQUIRED, row: Any = ()) -> Any:
    """Apply a ufunc at positions of the flattened array, or of its rows.

    Parameters
    ----------
    positions : array of int
        Positions of elements, or of rows; equal ones count each.
    *values : array
        Second operand of a function of two.
    row : tuple of int
        Shape of each row; `()` for elements.
    """
    value = xp.broadcast_to(values[0], (*positions.shape, *row)) if values else None
    if row:
        length = math.prod(row)
        positions = xp.reshape(
            positions, (*positions.shape, *[1] * len(row))
        ) * length + xp.reshape(xp.arange(length), row)
    casts, _ = REGISTRY[f"_npi_{ufunc}"].rule(
        (onp.dtype(a.dtype), *[onp.dtype(v.dtype) for v in values]), {"dtype": None}
    )
    function = _pairwise(xp, ufunc)
    return xp.apply_at(lambda x, *v: function(xp.astype(x, casts[0]), *v), a, positions, value)


@operator("_npi_not_a_start", pattern="reduction", scalars=False, differentiable=False)
def _not_a_start(xp: Any, indices: Any, *, size: int = REQUIRED) -> Any:
    """Return True if any index is outside `0 <= i < size`.

    Parameters
    ----------
    size : int
        End of the positions.
    """
    return xp.any((indices < 0) | (indices >= size))


# --- methods --------------------------------------------------------------------------------------


class _Kind(type):
    """Metaclass of `ufunc`: ufuncs of NumPy and other libraries are instances, too."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return type.__instancecheck__(cls, instance) or (
            cls is ufunc and issubclass(type(instance), onp.ufunc)
        )


class ufunc(Unbound[P, R_co], Generic[P, R_co], metaclass=_Kind):
    """Universal function: works element by element on arrays, such as `np.add`.

    The arguments `out`, `where`, `casting`, `dtype` and `signature` are described with each
    function.

    Examples
    --------
    >>> isinstance(np.add, np.ufunc), isinstance(np.sum, np.ufunc)
    (True, False)
    >>> np.divmod.nin, np.divmod.nout, np.multiply.identity
    (2, 2, 1)
    """

    _op: Op
    _numpys: Any  # NumPy's ufunc of the same name
    __signature__ = inspect.Signature()  # signature of the class; each ufunc has its own

    def __new__(cls) -> "ufunc[P, R_co]":
        raise TypeError(
            "cannot create 'numpy.ufunc' instances: frompyfunc makes one from a function"
        )

    def __repr__(self) -> str:
        return f"<ufunc {self.__name__!r}>"

    @property
    def nin(self) -> int:
        """Number of operands."""
        return int(self._numpys.nin)

    @property
    def nout(self) -> int:
        """Number of results."""
        return int(self._numpys.nout)

    @property
    def nargs(self) -> int:
        """Number of operands and results."""
        return int(self._numpys.nargs)

    @property
    def types(self) -> list[str]:
        """Types of the loops as characters, operands before and results after the arrow."""
        return list(self._numpys.types)

    @property
    def ntypes(self) -> int:
        """Number of `types`."""
        return len(self.types)

    @property
    def identity(self) -> float | None:
        """Identity element of the ufunc, or None."""
        return self._numpys.identity

    @property
    def signature(self) -> str | None:
        """Signature of core dimensions such as ``'(n),(n)->()'``; None if elementwise."""
        return self._numpys.signature

    def reduce(
        self,
        array: ArrayLike,
        /,
        axis: AxisLike = 0,
        dtype: DTypeLike = None,
        out: Out = None,
        keepdims: bool = False,
        initial: Any = NoValue,
        where: ArrayLike = True,
    ) -> "ndarray":
        """Reduce along axes by the ufunc, from left to right.

        Parameters
        ----------
        array : array_like
            The elements.
        axis : int, tuple of int or None
            Axes to reduce; None for all.
        dtype : dtype, optional
            Dtype in which to compute.
        out : ndarray, optional
            Array to write the result into.
        keepdims : bool
            If True, reduced axes stay, with length 1.
        initial : scalar or None, optional
            Start of the reduction; None: the first element, even if there may be none.
        where : array_like of bool, optional
            Elements to include.

        Examples
        --------
        >>> np.subtract.reduce([10, 2, 3])
        np.int64(5)
        """
        options = given(
            out,
            axis=(axis, 0),
            dtype=(dtype, None),
            keepdims=(keepdims, False),
            initial=(initial, NoValue),
            where=(where, True),
        )
        made = overridden(self._op, "reduce", (array,), options)
        if made is not NotImplemented:
            return made
        _check_binary(self, "reduce")
        if isinstance(initial, Handle | onp.generic | onp.ndarray):
            initial = initial.item()  # type: ignore[union-attr]
        initial = IDENTITY if initial is NoValue else initial
        attrs = (
            name_of(self._op),
            as_axis(axis),
            accumulated_in(dtype, array),
            bool(keepdims),
            as_attr(initial),
        )
        return finish(
            apply(_reduce, (array,) if where is True else (array, where), attrs),
            out,
            f"{name_of(self._op)}.reduce",
            "unsafe",
        )

    def accumulate(
        self, array: ArrayLike, /, axis: int = 0, dtype: DTypeLike = None, out: Out = None
    ) -> "ndarray":
        """Accumulate along an axis: the results of `reduce` for growing prefixes.

        Examples
        --------
        >>> np.maximum.accumulate([1, 3, 2, 5])
        array([1, 3, 3, 5])
        """
        made = overridden(
            self._op, "accumulate", (array,), given(out, axis=(axis, 0), dtype=(dtype, None))
        )
        if made is not NotImplemented:
            return made
        _check_binary(self, "accumulate")
        attrs = (name_of(self._op), as_axis(axis), accumulated_in(dtype, array))
        return finish(
            apply(_accumulate, (array,), attrs), out, f"{name_of(self._op)}.accumulate", "unsafe"
        )

    def reduceat(
        self,
        array: ArrayLike,
        /,
        indices: ArrayLike,
        axis: int = 0,
        dtype: DTypeLike = None,
        out: Out = None,
    ) -> "ndarray":
        """Reduce the slices between successive indices.

        If the next index is not larger, the element at the index is the result.

        Raises
        ------
        IndexError
            If an index is outside the axis.

        Examples
        --------
        >>> np.add.reduceat([1, 2, 3, 4], [0, 2])
        array([3, 7])
        """
        made = overridden(
            self._op, "reduceat", (array, indices), given(out, axis=(axis, 0), dtype=(dtype, None))
        )
        if made is not NotImplemented:
            return made
        _check_binary(self, "reduceat")
        array = asanyarray(array)
        (checked,) = normalized_axes(axis, array.ndim)
        if not isinstance(indices, Handle):
            indices = (
                array_like.host_array(indices)
                if onp.size(cast("Any", indices))
                else onp.asarray(indices, onp.intp)
            )
        _check_starts(name_of(self._op), indices, array.shape[checked])
        attrs = (name_of(self._op), checked, accumulated_in(dtype, array))
        return finish(
            apply(_reduceat, (array, indices), attrs),
            out,
            f"{name_of(self._op)}.reduceat",
            "unsafe",
        )

    def outer(self, A: ArrayLike, B: ArrayLike, /, **kwargs: Any) -> "ndarray":
        """Apply the ufunc to all pairs of an element of `A` and an element of `B`.

        Other arguments are those of the function.

        Examples
        --------
        >>> np.multiply.outer([1, 2], [3, 4, 5])
        array([[ 3,  4,  5],
               [ 6,  8, 10]])
        """
        made = overridden(self._op, "outer", (A, B), {**kwargs, **given(kwargs.get("out"))})
        if made is not NotImplemented:
            return made
        if self._numpys.signature is not None:
            raise TypeError("method outer is not allowed in ufunc with non-trivial signature")
        if len(self._op.inputs) != 2:
            raise ValueError("outer product only supported for binary functions")
        first, second, function = cast("Any", A), cast("Any", B), cast("Any", self)
        one = asanyarray(first)
        aligned = one.reshape(one.shape + (1,) * len(array_like.shape_of(second)))
        return function(aligned, second, **kwargs)

    def at(self, a: Any, indices: Any, b: ArrayLike | None = None, /) -> None:
        """Apply the ufunc in place at indices; an index that occurs twice is applied twice.

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
        if (
            overridden(self._op, "at", (a, indices) if b is None else (a, indices, b), {})
            is not NotImplemented
        ):
            return
        if not isinstance(a, Handle):
            raise TypeError(
                "first operand must be array: `a` must be an npcompat ndarray, got "
                f"{type(a).__name__}"
            )
        name = name_of(self._op)
        if self._numpys.signature is not None:
            raise TypeError(
                f"{name}.at does not support ufunc with non-trivial signature: {name} has "
                f"signature {self._numpys.signature}."
            )
        if self._op.outputs != 1:
            raise ValueError(
                f"{name}.at: only single output ufuncs are supported, this one has "
                f"{self._op.outputs}"
            )
        if b is not None and len(self._op.inputs) == 1:
            raise ValueError(f"second operand provided when ufunc is unary: {name}")
        if b is None and len(self._op.inputs) == 2:
            raise ValueError(f"second operand needed for ufunc: {name}")
        target: Any = a
        second: Any = b
        row = target.shape[1:] if _are_positions(indices) else ()
        positions = array_like.array_of(
            onp.arange(len(target)) if row else onp.arange(target.size).reshape(target.shape)
        )[indices]
        shape = (*positions.shape, *row)
        second = array_like.joined(second) if isinstance(second, list | tuple) else second
        if second is not None and onp.broadcast_shapes(onp.shape(second), shape) != shape:
            raise ValueError(
                f"array is not broadcastable to correct shape: the second operand of {name}.at "
                f"has shape {onp.shape(second)}, "
                f"which does not broadcast to {shape}, the shape of a[indices]"
            )
        # NumPy casts this integer like an array, without a range check.
        if type(second) is bool or (type(second) is int and target.dtype.kind in "iu"):
            second = onp.asarray(second).astype(target.dtype if type(second) is int else bool)
        store(
            target,
            handles.read(
                apply(
                    _at,
                    (target, positions) if second is None else (target, positions, second),
                    (name, row),
                )
            ),
        )

    def resolve_dtypes(
        self,
        dtypes: Sequence[Any],
        *,
        signature: Any = None,
        casting: Casting | None = None,
        reduction: bool = False,
    ) -> tuple[onp.dtype[Any], ...]:
        """Return the loop dtypes: those of the operands after casting, and of results.

        Parameters
        ----------
        dtypes : tuple of dtype, type or None
            Of operands and results. `int`, `float` and `complex` stand for Python's numbers; None
            for a result that is not given.
        signature, casting
            As in a call; ``'same_kind'`` if not given.
        reduction : bool
            If True, resolve a reduction: the first dtype is that of the start, or None.

        Examples
        --------
        >>> np.add.resolve_dtypes((np.dtype("int32"), float, None))
        (dtype('float32'), dtype('float32'), dtype('float32'))
        """
        options = {
            name: given
            for name, given in (("casting", casting), ("signature", signature))
            if given is not None
        }
        found = self._numpys.resolve_dtypes(tuple(dtypes), reduction=reduction, **options)
        if signature is not None:
            return cast("tuple[onp.dtype[Any], ...]", found)
        return tuple(
            [narrow(dtype, [t for t in dtypes if isinstance(t, onp.dtype)]) for dtype in found]
        )


def _are_positions(indices: Any) -> bool:
    """Return True if an index is one integer array, along the first axis."""
    known: Any = indices if isinstance(indices, Handle | onp.ndarray) else onp.empty(())
    return known.dtype.kind in "iu" and len(known.shape) > 0


def _check_binary(function: ufunc[P, R_co], method: str) -> None:
    op = function._op
    if function._numpys.signature is not None:
        raise RuntimeError(f"Reduction not defined on ufunc with signature: {name_of(op)}.{method}")
    if len(op.inputs) != 2 or op.outputs != 1:
        kind = "binary functions" if len(op.inputs) != 2 else "functions returning a single value"
        raise ValueError(f"{method} only supported for {kind}")


def _check_starts(name: str, indices: Handle | onp.ndarray[Any, Any], size: int) -> None:
    trace = modes.current().trace
    if (
        trace is not None
        and isinstance(indices, Handle)
        and xla.is_tracer((value := handles.read(indices)).payload)
    ):
        message = (
            f"index out-of-bounds in {name}.reduceat [0, {size}) (compiled at {user_location()})"
        )
        trace.expect(execution.run(_not_a_start, [value], (size,)).payload, IndexError, message)
        return
    host = handles.to_host(indices) if isinstance(indices, Handle) else indices
    wrong = host[(host < 0) | (host >= size)]
    if wrong.size:
        raise IndexError(f"index {wrong.flat[0]} out-of-bounds in {name}.reduceat [0, {size})")


def instance(op: Op, only_on_host: bool = False) -> Callable[[Callable[P, R_co]], ufunc[P, R_co]]:
    """Make a ufunc of a public function that wraps the operator.

    A call with nothing but operands only applies the operator. With `only_on_host`, that holds on
    the host, where NumPy's own function makes the same checks.
    """

    def complete(function: Callable[P, R_co]) -> ufunc[P, R_co]:
        if function.__name__ != name_of(op):
            raise OperatorError(f"{function.__name__} wraps {op.name}")
        made: Any = Unbound.__new__(ufunc)
        made.__init__(function)
        made._op, made._numpys = op, getattr(onp, name_of(op))
        made._add_fast_path(op, only_on_host)
        shown = inspect.signature(function)
        if op.outputs > 1:  # positional outputs are hidden, as in NumPy
            shown = shown.replace(
                parameters=[p for p in shown.parameters.values() if p.name not in ("out1", "out2")]
            )
        made.__signature__ = function.__dict__["__signature__"] = shown
        late_bound.ufuncs[op.name] = made
        return cast("ufunc[P, R_co]", made)

    return complete


def document(op: Op, only_on_host: bool = False) -> Callable[[Callable[P, R_co]], ufunc[P, R_co]]:
    """Make a ufunc of a public function, and add the shared parameters to its docstring."""

    def complete(function: Callable[P, R_co]) -> ufunc[P, R_co]:
        returns = "The result." if op.outputs == 1 else "One array for each output."
        # Python 3.13 compiles docstrings without their indentation
        head, _, rest = inspect.cleandoc(function.__doc__ or "").partition("\n\n")
        shared = textwrap.dedent(SHARED_PARAMETERS).format(
            inputs=", ".join(op.inputs), returns=returns
        )
        function.__doc__ = f"{head}\n{shared}\n{rest}"
        return instance(op, only_on_host)(function)

    return complete


__all__ = ["document", "instance", "ufunc"]
