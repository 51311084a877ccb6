"""NumPy's own `testing`; its assertions accept our arrays by NumPy's protocols."""

from typing import Any

import numpy as onp
from numpy import testing as _testing
from numpy.testing import *  # noqa: F403
from numpy.testing import __all__ as __all__

from npcompat._internal.core.handle import Handle


def assert_equal(  # type: ignore[no-redef]
    actual: Any, desired: Any, err_msg: str = "", verbose: bool = True, *, strict: bool = False
) -> None:
    """Check that two objects are equal: numbers, arrays, and lists, tuples and dicts of them.

    Raises AssertionError if they are not.

    Examples
    --------
    >>> np.testing.assert_equal([np.arange(3), 1], [np.arange(3), 1])
    """
    __tracebackhide__ = True
    _testing.assert_equal(_of_numpys(actual), _of_numpys(desired), err_msg, verbose, strict=strict)


def _of_numpys(x: Any) -> Any:
    """Return containers with NumPy's arrays in the place of ours."""
    if isinstance(x, Handle):
        return onp.asarray(x)[()]
    if isinstance(x, list | tuple):
        return [_of_numpys(v) for v in x] if isinstance(x, list) else tuple(map(_of_numpys, x))
    return {k: _of_numpys(v) for k, v in x.items()} if isinstance(x, dict) else x
