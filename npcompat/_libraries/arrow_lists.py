"""Lists of npcompat's arrays as nested lists of pyarrow, which reads NumPy's arrays only in them."""

import functools
import sys
from typing import Any

import pyarrow.lib

from npcompat._internal.core.handle import Handle
from npcompat._libraries.replacing import with_numpys

_array = pyarrow.lib.array


@functools.wraps(_array)
def array(obj: Any, *args: Any, **kwargs: Any) -> Any:
    """Make an array of pyarrow; of a list of arrays of ours as of NumPy's."""
    if type(obj) in (list, tuple) and any([issubclass(k, Handle) for k in set(map(type, obj))]):
        obj = with_numpys(obj)
    return _array(obj, *args, **kwargs)


for _module in [m for n, m in sys.modules.items() if n.partition(".")[0] == "pyarrow"]:
    if vars(_module).get("array") is _array:
        vars(_module)["array"] = array

__all__ = ["array"]
