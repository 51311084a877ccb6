"""npcompat's arrays as arguments of pandas, which asks whether an array is NumPy's.

pandas takes any other array for a list or for a number: `series.iloc[mask]` would give other rows,
`series & integers` would be bools, and the numbers of `frame * np.array(2.0)` would be an array of
ours, which pandas' C code reads as NumPy's. It has no extension point for these, so that the
functions and methods which ask are replaced by ones that hand over NumPy's array over the same
memory.
"""

import functools
import importlib
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as onp

from npcompat._internal.core.handle import Handle

ASKING = (
    ("pandas._libs.lib", "item_from_zerodim"),  # operators, the flexible ones, too
    ("pandas.core.common", "is_bool_indexer"),
    ("pandas.core.ops.array_ops", "logical_op"),
    ("pandas.core.construction", "sanitize_array"),
    ("pandas.core.algorithms", "unique"),
    ("pandas.core.algorithms", "factorize"),
    ("pandas.core.tools.timedeltas", "to_timedelta"),
    ("pandas.core.generic", "NDFrame._where"),
    ("pandas.core.frame", "DataFrame.__init__"),
    ("pandas.core.frame", "DataFrame.__setitem__"),
    ("pandas.core.frame", "DataFrame.insert"),
    ("pandas.core.frame", "DataFrame.set_index"),
    ("pandas.core.frame", "DataFrame.groupby"),
    ("pandas.core.series", "Series.groupby"),
    ("pandas.core.frame", "DataFrame._flex_arith_method"),
    ("pandas.core.frame", "DataFrame._flex_cmp_method"),
)
"""Functions and methods of pandas that ask, by the module that defines them."""


def _with_numpys(function: Callable[..., Any]) -> Callable[..., Any]:
    """Call a function of pandas with our arrays as NumPy's over the same memory."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        args = tuple([_numpys(x) for x in args])
        return function(*args, **{name: _numpys(x) for name, x in kwargs.items()})

    return call


def _numpys(x: Any) -> Any:
    """Return NumPy's array for one of ours; of a list, too, as it gives the keys of a group."""
    if isinstance(x, Handle):
        return onp.asarray(x)
    if type(x) is list and any([isinstance(item, Handle) and item.shape for item in x]):
        return list(map(_numpys, x))
    return x


def _replace(module: str, path: str) -> None:
    """Replace a function of a module, wherever pandas has imported it, or a method of a class."""
    place: Any = importlib.import_module(module)
    *classes, name = path.split(".")
    for c in classes:
        place = getattr(place, c, None)
    function = getattr(place, name, None)
    if function is None:
        warnings.warn(
            f"{module} has no {path}: this version of pandas may take npcompat's arrays for lists; "
            "hand over numpy.asarray(a)",
            RuntimeWarning,
            stacklevel=1,
        )
        return
    replaced = _with_numpys(function)
    setattr(place, name, replaced)
    if not classes:
        for other in [m for n, m in sys.modules.items() if n.partition(".")[0] == "pandas"]:
            if vars(other).get(name) is function:
                setattr(other, name, replaced)


for _module, _path in ASKING:
    _replace(_module, _path)

__all__: list[str] = []
