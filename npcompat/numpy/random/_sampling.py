"""Operators of distributions, and the path from a draw's arguments to its result."""

from collections.abc import Mapping
from typing import Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import Op, as_shape, operator
from npcompat._internal.core.tensor_type import dims, symbols_in
from npcompat._internal.dispatch import handles
from npcompat._internal.random.stream import Stream
from npcompat.numpy._creation import placed_on
from npcompat.numpy._ufunc import finish

int64, float64 = onp.dtype("int64"), onp.dtype("float64")


# --- operators ------------------------------------------------------------------------------------


def _sampled(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """Type rule of floats: parameters have the sample's dtype."""
    return [None, None, *[attrs["dtype"]] * (len(types) - 2)], (attrs["dtype"], int64)


def _counted(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    """Type rule of counts: samples are int64; 64-bit parameters keep counts exact."""
    return [
        None,
        None,
        *[float64 if dtypes.is_inexact(dtypes.strong(t)) else int64 for t in types[2:]],
    ], (int64, int64)


def float_op(
    name: str,
    element_axes: tuple[int, ...] = (),
    prefetchable: bool = False,
    rounding_independent_of_size: bool = False,
) -> Op:
    """Declare the operator of a continuous distribution, with kernel `random_<name>`.

    The last attributes of the kernel are size and dtype. Each element is made from its own bits, so
    that a sample is a prefix of each longer one. `element_axes` has, for each parameter, the number
    of axes that belong to one element; by default 0. `prefetchable` promises that a program of
    several draws returns the same numbers; `rounding_independent_of_size` promises that this holds
    bit for bit for a single number, too.
    """

    def compute(
        xp: Any, key: Any, counter: Any, *parameters: Any, size: Any = None, dtype: Any = None
    ) -> Any:
        """Draw a sample; also return the counter of the next draw."""
        return getattr(xp, f"random_{name}")(
            key, counter, *parameters, size, dtype
        ), xp.next_counter(counter)

    return operator(
        f"_npi_random_{name}",
        rule=_sampled,
        outputs=2,
        kernels={"jax": compute},
        element_axes=element_axes,
        prefetchable=prefetchable,
        rounding_independent_of_size=rounding_independent_of_size,
    )(compute)


def count_op(name: str, element_axes: tuple[int, ...] = ()) -> Op:
    """Declare the operator of a discrete distribution, with kernel `random_<name>`.

    The last attribute of the kernel is size; `element_axes` is that of `float_op`.
    """

    def compute(xp: Any, key: Any, counter: Any, *parameters: Any, size: Any = None) -> Any:
        """Draw a sample; also return the counter of the next draw."""
        return getattr(xp, f"random_{name}")(key, counter, *parameters, size), xp.next_counter(
            counter
        )

    return operator(
        f"_npi_random_{name}",
        rule=_counted,
        outputs=2,
        kernels={"jax": compute},
        differentiable=False,
        element_axes=element_axes,
    )(compute)


# --- arguments ------------------------------------------------------------------------------------


def size_of(size: Any, out: Any = None) -> tuple[int, ...] | None:
    """Return `size=` as a tuple; the shape of `out` if only that is given."""
    shape = None if size is None else as_shape(size)
    if shape is not None and any(n < 0 for n in shape):
        raise ValueError("negative dimensions are not allowed")
    if isinstance(out, Handle | onp.ndarray):
        if shape is not None and shape != out.shape:
            raise ValueError("size must match out.shape when used together")
        return out.shape
    return shape


def check_size(size: tuple[int, ...] | None, parameters: tuple[Any, ...]) -> None:
    """Raise NumPy's error if parameters don't broadcast to each other or to the size."""
    shapes = [getattr(p, "shape", ()) for p in parameters]
    if not any(shapes):
        return
    together = dims.broadcast_shapes if symbols_in((size, *shapes)) else onp.broadcast_shapes
    needed = together(*shapes)
    if size is not None and together(needed, size) != size:
        raise ValueError(
            f"Output size {size} is not compatible with broadcast dimensions of inputs {needed}."
        )


def float_dtype(dtype: Any, what: str) -> onp.dtype[Any]:
    """Return the dtype of a float sample: None and Python's `float` mean the default."""
    if dtype is None:
        return dtypes.default_float()
    wanted = dtypes.canonical(dtype)
    if not dtypes.is_float(wanted) or not wanted.isnative:
        raise TypeError(f"Unsupported dtype {wanted!r} for {what}")
    return wanted


def check_out(out: Any, order: str | None = None) -> None:
    """Raise NumPy's error for an `out` that is not contiguous, or not in C order."""
    if isinstance(out, Handle | onp.ndarray):
        flags: Any = out.flags  # type: ignore[union-attr]
        if not flags.writeable or not (
            flags.c_contiguous or (order is None and flags.f_contiguous)
        ):
            kind = "contiguous" if order is None else f"{order}-contiguous"
            raise ValueError(
                f"Supplied output array must be {kind}, writable, aligned, and in machine "
                "byte-order."
            )


class Sampler:
    """Base of random generators: draws from the stream of a bit generator."""

    _bit_generator: Any

    @property
    def _stream(self) -> Stream:
        stream: Stream = self._bit_generator.stream
        return stream

    def _draw(
        self,
        op: Op,
        operands: tuple[Any, ...],
        attrs: tuple[Any, ...],
        device: Any = None,
        scalar: bool = False,
    ) -> Any:
        """Draw by an operator; with `scalar` a single number is a scalar, not a 0-d array."""
        with placed_on(device):
            drawn = handles.wrap(self._stream.draw(op, operands, attrs))
            return handles.as_scalar(drawn) if scalar else drawn

    def _floats(
        self,
        op: Op,
        parameters: tuple[Any, ...],
        size: Any,
        dtype: Any = None,
        device: Any = None,
        ctx: Any = None,
        out: Any = None,
    ) -> Any:
        """Draw a sample of a continuous distribution."""
        what = op.name.removeprefix("_npi_random_")
        shape = size_of(size, out)
        check_size(shape, parameters)
        drawn = self._draw(
            op,
            parameters,
            (shape, float_dtype(dtype, what)),
            device if device is not None else ctx,
            size is None,
        )
        if (
            isinstance(out, Handle)
            and drawn.dtype != out.dtype
            and (dtype is not None or out.dtype.kind != "f")
        ):
            raise TypeError(
                f"Supplied output array has the wrong type. Expected {drawn.dtype}, got {out.dtype}"
            )
        return finish(drawn, out, what)

    def _counts(
        self,
        op: Op,
        parameters: tuple[Any, ...],
        size: Any,
        device: Any = None,
        ctx: Any = None,
        out: Any = None,
    ) -> Any:
        """Draw a sample of a discrete distribution."""
        shape = size_of(size, out)
        check_size(shape, parameters)
        drawn = self._draw(
            op, parameters, (shape,), device if device is not None else ctx, size is None
        )
        return finish(drawn, out, op.name.removeprefix("_npi_random_"))


__all__ = [
    "Sampler",
    "check_out",
    "check_size",
    "count_op",
    "float64",
    "float_dtype",
    "float_op",
    "int64",
    "size_of",
]
