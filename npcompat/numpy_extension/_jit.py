"""Just-in-time compilation, `npx.jit`."""

from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as onp

from npcompat._internal.compile.jit import Compiled
from npcompat._internal.compile.shape_buckets import Axes, Bucketed, requested


@overload
def jit(
    function: Callable[..., Any],
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    bucket: int | Sequence[int] | None = None,
    bucket_axis: Axes | None = None,
    loops: str | None = None,
) -> Compiled | Bucketed: ...
@overload
def jit(
    function: None = None,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    bucket: int | Sequence[int] | None = None,
    bucket_axis: Axes | None = None,
    loops: str | None = None,
) -> Callable[[Callable[..., Any]], Compiled | Bucketed]: ...
def jit(
    function: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    bucket: int | Sequence[int] | None = None,
    bucket_axis: Axes | None = None,
    loops: str | None = None,
) -> Any:
    """Compile a function just in time: it runs as one XLA program with the same meaning.

    The function is traced once for each combination of argument types and shapes. Arrays that it
    reads outside (parameters, a moving mean, the random counter) become inputs of the program;
    those that it writes become outputs, also if they are arguments. So a whole training step can be
    compiled.

    Parameters
    ----------
    function : callable
        A function of arrays and nested containers of arrays. Other arguments are compile-time
        constants. Ints and floats (also NumPy's) become run-time inputs at the first call that
        differs from an earlier one in nothing else, unless the function needs their values.
    static_argnums, static_argnames : int, str, or sequences of them
        Hashable arguments that are compile-time constants as a whole.
    bucket : int or sequence of int, optional
        Lengths to which arrays are padded along one axis, so that calls of any length share few
        programs; an int stands for its multiples. Results are those of the unpadded rows:
        elementwise functions, matrix products, convolutions, attention and recurrences over other
        axes, reductions, normalization, losses and their gradients exclude padding; other operators
        are refused.
    bucket_axis : int, sequence or mapping, optional
        The axis to pad: for all arguments, by position, or by position and name; None for
        arguments of a fixed shape. The first axis if not given.

    Returns
    -------
    callable
        The compiled function, whose `clear()` discards its programs.

    Raises
    ------
    TracedValueError
        At the call, if Python asks for the value of an array, if a loop or branch that depends
        on data can't be a part of the program, or if with `bucket` rows are combined in a way that
        padding would change.
    ValueError
        If `loops` is none of its values; if `bucket` holds no lengths, or there is a `bucket_axis`
        without it; at the call, if the arrays to pad have several lengths, or one beyond the last
        of `bucket`.

    Examples
    --------
    >>> total = np.zeros(())
    >>> @npx.jit
    ... def add(x):
    ...     total[...] += x.sum()
    ...     return total * 2
    >>> add(np.arange(3.0)), add(np.arange(3.0)), total
    (np.float32(6.0), np.float32(12.0), array(6.))

    >>> @npx.jit(bucket=(8, 64))
    ... def centered(x):
    ...     return x - x.mean(axis=0)
    >>> centered(np.arange(3.0)), centered(np.arange(5.0))
    (array([-1.,  0.,  1.]), array([-2., -1.,  0.,  1.,  2.]))

    >>> @npx.jit
    ... def steps(x):
    ...     n = 0
    ...     while x > 1:
    ...         x = x / 2
    ...         n += 1
    ...     return n
    >>> steps(np.float32(1000))
    np.int64(10)
    """

    buckets = requested(bucket, bucket_axis)

    def compiled(f: Callable[..., Any]) -> Compiled | Bucketed:
        nums = (
            (static_argnums,)
            if isinstance(static_argnums, int | onp.integer)
            else tuple(static_argnums)
        )
        names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
        if buckets is not None:
            return Bucketed(f, buckets, None, nums, names, loops)
        return Compiled(f, None, nums, names, loops)

    return compiled if function is None else compiled(function)


__all__ = ["jit"]
