"""npcompat's arrays beside arrays of `sparse`, whose functions know NumPy's class only.

They raise for any other dense array, give `NotImplemented` as a result of `elemwise`, or keep an
array of ours as the number of their empty places.
"""

import importlib

from npcompat._libraries.replacing import replace

ASKING = (
    "clip",
    "dot",
    "einsum",
    "elemwise",
    "full",
    "full_like",
    "kron",
    "matmul",
    "outer",
    "tensordot",
    "vecdot",
    "where",
    "COO.__init__",
    "COO.from_numpy",
    "GCXS.__init__",
    "GCXS.from_numpy",
    "DOK.from_numpy",
)
"""Functions and methods of `sparse` that ask."""

_library = importlib.import_module("sparse")
for _path in ASKING:
    _kind, _, _method = _path.rpartition(".")
    _place = getattr(_library, _kind).__module__ if _kind else getattr(_library, _path).__module__
    replace(_place, _path)

__all__: list[str] = []
