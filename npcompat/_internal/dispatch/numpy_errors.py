"""NumPy's own exceptions for calls that failed on a backend."""

from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import sharding
from npcompat._internal.backend.numpy import runtime as host
from npcompat._internal.core import dtypes
from npcompat._internal.core.op import Attrs, Op, short_name

CALL_ERRORS = (TypeError, ValueError, IndexError, ZeroDivisionError, AssertionError)


def explained(op: Op, payloads: Sequence[Any], attrs: Attrs, error: Exception) -> Exception:
    """Return NumPy's exception for a call that failed, by running the operator on stand-ins.

    Stand-ins are zeros on the host that take no memory. Errors of npcompat, and those with operands
    of objects or strings, which have no stand-in, are returned unchanged.
    """
    if type(error).__module__.startswith("npcompat") or isinstance(error, NotImplementedError):
        return error
    if sharding.are_apart(error):
        return ValueError(f"{short_name(op.name)}: {sharding.apart(payloads, op.layout)}")
    if any([hasattr(p, "dtype") and p.dtype.kind in "OSUT" for p in payloads]):
        return error
    stand_ins = [
        onp.broadcast_to(onp.zeros((), p.dtype), p.shape) if hasattr(p, "shape") else p
        for p in payloads
    ]
    try:
        with onp.errstate(all="ignore"):
            host.forward(op, attrs)(*stand_ins)
    except Exception as numpys:
        return numpys
    for a in attrs:
        if isinstance(a, onp.dtype) and not dtypes.on_devices(a):
            try:
                dtypes.check_dtype(a)
            except TypeError as refused:
                return refused
    return error
