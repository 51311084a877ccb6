"""`npx.jit`."""

from collections.abc import Callable, Sequence
from typing import Any, overload

from npcompat._internal.jit import Compiled


@overload
def jit(
    function: Callable[..., Any], *, static_argnums: int | Sequence[int] = (), static_argnames: str | Sequence[str] = ()
) -> Compiled: ...
@overload
def jit(
    function: None = None, *, static_argnums: int | Sequence[int] = (), static_argnames: str | Sequence[str] = ()
) -> Callable[[Callable[..., Any]], Compiled]: ...
def jit(
    function: Callable[..., Any] | None = None, *, static_argnums: int | Sequence[int] = (), static_argnames: str | Sequence[str] = ()
) -> Any:
    """A function that runs as one compiled program and means the same.

    The function is run once on tracers for each kind of call.  Arrays that it reads outside (parameters, a moving
    mean, the random counter) become inputs of the program; those that it writes become outputs, also if they are
    arguments.  So a whole training step can be compiled.

    Parameters
    ----------
    function : callable
        Takes arrays and nested containers of arrays; everything else among its arguments is part of the program.
    static_argnums, static_argnames : int, str, or sequences of them
        Arguments that are hashable as a whole and part of the program.

    Returns
    -------
    callable
        With `clear()` to forget the programs.

    Raises
    ------
    TracedValueError
        At the call, if Python branches on the value of an array.

    Examples
    --------
    >>> total = np.zeros(())
    >>> @npx.jit
    ... def add(x):
    ...     total[...] += x.sum()
    ...     return total * 2
    >>> add(np.arange(3.0)), add(np.arange(3.0)), total
    (np.float32(6.0), np.float32(12.0), array(6.))
    """

    def compiled(f: Callable[..., Any]) -> Compiled:
        nums = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
        names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
        return Compiled(f, None, nums, names)

    return compiled if function is None else compiled(function)


__all__ = ["jit"]
