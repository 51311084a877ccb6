"""Ufunc class `np.ufunc`: `reduce`, `accumulate`, `reduceat`, `outer`, `at`, attributes.

A ufunc holds a plain function, whose signature and docstring it shows. A call has no overhead over
that function (`npcompat.numpy._unbound`). `document` makes a ufunc of a function.
"""

import inspect
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, cast

import numpy as onp

from npcompat._internal.backend.jax import language
from npcompat._internal.core import modes
from npcompat._internal.core.dtypes import narrow
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import REQUIRED, Op, as_attr, as_axis, normalized_axes, operator
from npcompat._internal.dispatch import array_like, execution, handles, late_bound
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.support.errors import OperatorError, user_location
from npcompat.numpy._accumulation import accumulated_in
from npcompat.numpy._creation import asanyarray
from npcompat.numpy._host_arrays import as_numpys
from npcompat.numpy._overrides import given, overridden
from npcompat.numpy._typing import ArrayLike, AxisLike, Casting, DTypeLike, NoValue, Out
from npcompat.numpy._ufunc import (
    SHARED_PARAMETERS,
    finish,
    name_of,
    store,
)
from npcompat.numpy._ufunc_methods import IDENTITY, _accumulate, _at, _reduce, _reduceat
from npcompat.numpy._unbound import P, R_co, Unbound

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


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
            accumulated_in(dtype, array, self._op, out),
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
        attrs = (name_of(self._op), as_axis(axis), accumulated_in(dtype, array, self._op, out))
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
        attrs = (name_of(self._op), checked, accumulated_in(dtype, array, self._op, out))
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
        one, other = asanyarray(first), asanyarray(second)
        return function(one.reshape(one.shape + (1,) * other.ndim), other, **kwargs)

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
        if isinstance(a, onp.ndarray):
            operands = (a, indices) if b is None else (a, indices, b)
            self._numpys.at(*map(as_numpys, operands))
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


@operator("_npi_not_a_start", pattern="reduction", scalars=False, differentiable=False)
def _not_a_start(xp: Any, indices: Any, *, size: int = REQUIRED) -> Any:
    """Return True if any index is outside `0 <= i < size`.

    Parameters
    ----------
    size : int
        End of the positions.
    """
    return xp.any((indices < 0) | (indices >= size))


def _check_starts(name: str, indices: Handle | onp.ndarray[Any, Any], size: int) -> None:
    trace = modes.current().trace
    if (
        trace is not None
        and isinstance(indices, Handle)
        and language.is_tracer((value := handles.read(indices)).payload)
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
