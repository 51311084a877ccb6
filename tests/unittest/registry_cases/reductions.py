"""Cases of sums, extremes, means and running sums: whole, along axes, with `keepdims`, `where`,
`initial` and `dtype`.
"""

import numpy as onp

from npcompat import np
from npcompat._internal.core.op import REGISTRY
from npcompat._internal.dispatch.apply import apply
from registry_cases.case import ALL, FEW, FEW_REAL, INEXACT, KEPT, REAL, case

BAD = (([[1.0, 2.0]], 2), ([[1.0, 2.0]], -3), ([[1.0, 2.0]], (0, 0)), ([[1.0]], 1.5))


def reduction(names, domain="any", dtypes=FEW, **options):
    """Reductions: over everything, one axis, several axes, and with their other arguments."""
    for name in names.split():

        def along(xp, a, axis=None, name=name):
            return getattr(xp, name)(a, axis)

        shape = f"2,3,2 {domain}"
        case(
            f"_npi_{name}",
            along,
            shape,
            dtypes=ALL if dtypes == FEW else dtypes,
            **{"bad": BAD, **options},
        )
        for axis in (1, (0, -1), *([] if name == "std" else [()])):
            case(
                f"_npi_{name}",
                lambda xp, a, along=along, axis=axis: along(xp, a, axis),
                shape,
                dtypes="i f d",
                **options,
            )
        case(
            f"_npi_{name}",
            lambda xp, a, name=name: getattr(xp, name)(a, axis=-2, keepdims=True),
            shape,
            dtypes="l f F" if "F" in dtypes else "l f",
            **options,
        )


def _negative(xp, a):
    return apply(REGISTRY["_npi_any_negative"], (a,)) if xp is not onp else (a < 0).any()


def masked(names, initial, domain="any", dtypes="l f d", **options):
    """The same with `where` and `initial`."""
    for name in names.split():
        arguments = {} if initial is None else {"initial": initial}
        case(
            f"_npi_{name}",
            lambda xp, a, m, name=name, arguments=arguments: getattr(xp, name)(
                a, axis=0, where=m, **arguments
            ),
            f"2,3 {domain}",
            "2,3 mask bool",
            dtypes=dtypes,
            **options,
        )


reduction("sum", second=True)
reduction("prod", second=True)
reduction("mean", second=True)
reduction("var", second=True)
reduction("std", second=True, smooth=False)
reduction("max min", "distinct", dtypes=ALL)
reduction("all any")
reduction("nansum nanprod", "nan", grad=())
reduction("nanmean", "nan", dtypes="? i l f d F", grad=())
reduction("nanmax nanmin", "nan", dtypes=REAL, grad=())
masked("sum prod nansum", 2)
masked("max min nanmax nanmin", 1, "distinct")
masked("all any", None)
masked("mean var", None, dtypes="f d", layouts=("ordinary", "view"))
case(
    "_npi_std",
    lambda xp, a, m: xp.std(a, where=m),
    "2,3",
    "2,3 mask bool",
    dtypes="f d",
    layouts=("ordinary", "view"),
)
case("_npi_sum", lambda xp, a: xp.sum(a, axis=1, dtype="float64"), "2,3", dtypes=REAL, policy=KEPT)
case("_npi_mean", lambda xp, a: xp.mean(a, dtype="float64"), "2,3", dtypes=FEW_REAL, policy=KEPT)
case("_npi_var", lambda xp, a: xp.var(a, axis=0, ddof=1), "3,2", dtypes="i f d F", loose=4)
case(
    "_npi_std",
    lambda xp, a: xp.std(a, axis=0, ddof=1, keepdims=True),
    "3,2",
    dtypes="i f d F",
    loose=4,
    smooth=False,
)
case("_npi_any_negative", lambda xp, a: _negative(xp, a), "2,3", dtypes=FEW_REAL)

for name in ("cumsum", "cumprod"):
    case(
        f"_npi_{name}",
        lambda xp, a, axis=None, name=name: getattr(xp, name)(a, axis),
        "2,3",
        dtypes=ALL,
        second=True,
        bad=BAD[:2],
    )
    for axis in (0, -1):
        case(
            f"_npi_{name}",
            lambda xp, a, axis=axis, name=name: getattr(xp, name)(a, axis=axis),
            "2,3,2",
            dtypes=FEW,
        )


def _running(name, axis, first):
    """The oracle of an exclusive running result: NumPy's, one step later."""

    def oracle(a):
        found = getattr(onp, name)(a, axis)
        before = onp.full_like(
            onp.take(found, [0] if found.shape[axis or 0] else [], axis or 0), first
        )
        return onp.concatenate(
            [before, onp.delete(found, -1, axis or 0)] if found.shape[axis or 0] else [found],
            axis or 0,
        )

    return oracle


for name, first in (("cumsum", 0), ("cumprod", 1)):
    for axis in (None, 0, -1):
        case(
            f"_npi_{name}",
            lambda xp, a, axis=axis, name=name: getattr(np, name)(a, axis, exclusive=True),
            "2,3",
            oracle=_running(name, axis, first),
            dtypes=FEW,
            second=True,
            layouts=("ordinary", "empty", "view"),
        )

case(
    "_npi_clip",
    lambda xp, a, b=-0.7, c=0.8: xp.clip(a, b, c),
    "2,3 distinct",
    dtypes=INEXACT.replace(" F D", ""),
    special=True,
)
case(
    "_npi_clip",
    lambda xp, a, b, c: xp.clip(a, b, c),
    "2,3 distinct",
    "3 any",
    "2,1 positive",
    dtypes=FEW_REAL,
)
case(
    "_npi_clip",
    lambda xp, a: (xp.clip(a, 1, None) if a.dtype.kind != "b" else a) + 0,
    "2,3 distinct",
    dtypes="b i l L f d",
)
case("_npi_clip", lambda xp, a: xp.clip(a, max=1), "2,3 distinct", dtypes="i l f d")
case("_npi_round", lambda xp, a: xp.round(a, 1), "2,3 wide", dtypes="e f d", special=True, loose=4)
case("_npi_round", lambda xp, a: xp.round(a), "2,3 noninteger", dtypes="i l f d F")
