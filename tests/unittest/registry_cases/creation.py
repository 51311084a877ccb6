"""Cases of arrays made from nothing."""

import numpy as onp

from npcompat._internal.core.op import REGISTRY
from npcompat._internal.dispatch.apply import apply
from registry_cases.case import FEW, FEW_REAL, KEPT, case

case(
    "_npi_full",
    lambda xp: (
        xp.zeros((2, 3)),
        xp.ones((), "int8"),
        xp.zeros(0, complex),
        xp.ones_like(xp.zeros(2, "e")),
    ),
    value_dtype=True,
    policy=lambda d, a: {"f8": onp.dtype("f4"), "c16": onp.dtype("c8")}.get(d.str[1:], d),
)
case("_npi_full", lambda xp: xp.full((2, 2), 7, "float64"), policy=KEPT)
case("_npi_broadcast_fill", lambda xp, a: xp.full((2, 3), a), "3", dtypes=FEW)
case(
    "_npi_broadcast_fill",
    lambda xp, a: xp.full_like(xp.zeros((2, 3), "float64"), a),
    "2,1",
    dtypes="i f d",
    policy=KEPT,
)
case("_npi_eye", lambda xp: (xp.eye(3), xp.eye(2, 4, -1, "int32"), xp.identity(2)))
case("_npi_tri", lambda xp: (xp.tri(3), xp.tri(2, 4, 1, "int32")))
case(
    "_npi_arange",
    lambda xp: (
        xp.arange(5),
        xp.arange(2, 9, 3),
        xp.arange(3.0),
        xp.arange(0, 1, 0.25),
        xp.arange(5, 0, -2),
        xp.arange(3, dtype="int8"),
        xp.arange(0),
    ),
)
case(
    "_npi_linspace", lambda xp, a, b: xp.linspace(a, b, 4), "3", "2,1", dtypes=FEW_REAL, second=True
)
case(
    "_npi_linspace",
    lambda xp, a, b: xp.linspace(a, b, 3, endpoint=False, axis=-1),
    "2",
    "2",
    dtypes="f d F",
)
case(
    "_npi_linspace",
    lambda xp: (
        xp.linspace(0, 1, 5),
        xp.linspace(2, 8, 3, dtype="int64"),
        xp.linspace(0, 1, 0),
        xp.linspace(0, 1, 1),
    ),
)


def _const(a):
    """Two numbers, of the kind of an array."""
    return apply(REGISTRY["_np_const"], (a,), ((1.5, 2.0), onp.dtype("float64")))


case(
    "_np_const",
    lambda xp, a: _const(a),
    "2,3",
    oracle=lambda a: onp.array([1.5, 2.0]),
    dtypes="i f",
    policy=KEPT,
)
