"""Python functions called for each element: `vectorize` and `frompyfunc`.

They run on the host, because a Python function of a number can't be traced.
"""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as onp

from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import subclasses
from npcompat.numpy._host_arrays import as_numpys, given_back
from npcompat.numpy._protocols import foreign
from npcompat.numpy._typing import NoValue
from npcompat.numpy._ufunc_class import ufunc
from npcompat.numpy._unbound import Unbound, unbound


class vectorize(onp.vectorize):
    """Vectorize a Python function of scalars (or, with a signature, of small arrays).

    It is called once for each element, in Python. So it is no faster than a loop, and can be
    neither differentiated nor compiled.

    Parameters
    ----------
    pyfunc : callable, optional
        The function; if not given, the object is a decorator.
    otypes : str or list of dtype, optional
        Dtypes of the results; if not given, those of the first result, floats being the default
        float unless an argument is a 64-bit float.
    doc : str, optional
        The docstring; the function's if not given.
    excluded : set of str or int, optional
        Names and positions of arguments that are passed as they are.
    cache : bool
        If True, the call that finds the dtypes is not repeated for the first element.
    signature : str, optional
        Core dimensions of arguments and results, such as ``'(m,n),(n)->(m)'``.

    Raises
    ------
    TracedValueError
        In a compiled function.

    Examples
    --------
    >>> @np.vectorize
    ... def parity(n):
    ...     return "even" if n % 2 == 0 else "odd"
    >>> parity(np.array([1, 2])).tolist()
    ['odd', 'even']
    >>> np.vectorize(lambda x, y: max(x, y))([1, 5], 3)
    array([3, 5])
    """

    def __init__(
        self,
        pyfunc: Any = NoValue,
        otypes: Any = None,
        doc: str | None = None,
        excluded: Iterable[int | str] | None = None,
        cache: bool = False,
        signature: str | None = None,
    ) -> None:
        super().__init__(pyfunc, otypes, doc, excluded, cache, signature)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.pyfunc is NoValue:
            super().__call__(*args, **kwargs)
            return self
        hosts = [a if i in self.excluded else as_numpys(a) for i, a in enumerate(args)]
        named = {name: a if name in self.excluded else as_numpys(a) for name, a in kwargs.items()}
        found = super().__call__(*hosts, **named)
        carried = None
        if self.otypes is None:
            carried = [a.dtype for a in (*hosts, *named.values()) if hasattr(a, "dtype")]
        made = given_back(found, carried)
        if self.signature is not None:
            return made
        return _of_class_of([a for a in (*args, *kwargs.values()) if isinstance(a, Handle)], made)


def _of_class_of(operands: Sequence[Any], made: Any) -> Any:
    """Return results of a vectorized function as instances of the class that operands ask for."""
    source = subclasses.result_class_source(operands)
    if source is None:
        return made
    found = [
        subclasses.wrapped(source, x, None, operands, i, scalars=False)
        for i, x in enumerate(made if type(made) is tuple else (made,))
    ]
    return tuple(found) if type(made) is tuple else found[0]


class _PythonFunction(ufunc[..., Any]):
    """Ufunc made by `frompyfunc`, whose loop runs on the host."""

    def __new__(cls, numpys: onp.ufunc) -> "_PythonFunction":
        return Unbound.__new__(cls)

    def __init__(self, numpys: onp.ufunc) -> None:
        super().__init__(functools.partial(_called, numpys))
        self._numpys, self.__name__, self.__doc__ = numpys, numpys.__name__, numpys.__doc__
        self.__signature__ = inspect.signature(numpys)
        for method in ("reduce", "accumulate", "reduceat", "outer", "at"):
            self.__dict__[method] = functools.partial(_on_host, numpys, method)

    @property
    def types(self) -> list[str]:
        """Types of its loop: Python objects only."""
        return list(self._numpys.types)

    def resolve_dtypes(self, dtypes: Sequence[Any], **options: Any) -> tuple[onp.dtype[Any], ...]:
        """Return object dtypes, for any operands."""
        return self._numpys.resolve_dtypes(tuple(dtypes), **options)

    def __repr__(self) -> str:
        return repr(self._numpys)


def _called(numpys: onp.ufunc, *args: Any, **kwargs: Any) -> Any:
    """Call NumPy's ufunc."""
    if len(args) > numpys.nin:  # positional outputs
        args, kwargs = args[: numpys.nin], {**kwargs, "out": args[numpys.nin :]}
    return _on_host(numpys, "__call__", *args, **kwargs)


def _on_host(numpys: onp.ufunc, method: str, *args: Any, out: Any = None, **kwargs: Any) -> Any:
    """Call NumPy's ufunc or a method of it on host values; results for `out` are written there."""
    if out is not None:
        kwargs["out"] = out if isinstance(out, tuple) else (out,)
    return foreign(numpys, method, args, kwargs)


@unbound
def frompyfunc(
    func: Callable[..., Any], /, nin: int, nout: int, **kwargs: Any
) -> "_PythonFunction":
    """Make a ufunc of a Python function; it returns arrays of objects.

    Parameters
    ----------
    func : callable
        The function.
    nin, nout : int
        Number of arguments, and of results.
    identity : object, optional
        Identity element, with which reductions start.

    Examples
    --------
    >>> np.frompyfunc(lambda n: "odd" if n % 2 else "even", 1, 1)(np.array([1, 2])).tolist()
    ['odd', 'even']
    """
    return _PythonFunction(onp.frompyfunc(func, nin, nout, **kwargs))


__all__ = ["frompyfunc", "vectorize"]
