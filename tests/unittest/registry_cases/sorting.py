"""Cases of sorting, searching, selecting, counting, statistics of order, and ufunc methods."""

import numpy as onp

from npcompat._internal.core.op import REGISTRY
from npcompat._internal.dispatch.apply import apply
from registry_cases.case import ALL, FEW, FEW_REAL, REAL, case

ORDERED = "b B h H i I l L e f d"

case(
    "_npi_sort",
    lambda xp, a: xp.sort(a),
    "2,3 distinct",
    dtypes=REAL,
    second=True,
    bad=(([1.0],),)[:0],
)
case("_npi_sort", lambda xp, a: xp.sort(a, axis=0), "3,2 nan", dtypes="f d", grad=())
case("_npi_sort", lambda xp, a: xp.sort(a, axis=None), "2,3 distinct", dtypes="l d F")
case(
    "_npi_sort",
    lambda xp, a: xp.sort(a, axis=0, descending=True),
    "3,2 distinct",
    oracle=lambda a: onp.sort(a, axis=0)[::-1].copy("K"),
    dtypes="? b l f d",
)
case(
    "_npi_argsort",
    lambda xp, a: xp.argsort(a, descending=True),
    "2,6 bits",
    oracle=lambda a: onp.argsort(-a.astype(float), kind="stable"),
    dtypes="? b l f",
)
case("_npi_argsort", lambda xp, a: xp.argsort(a, axis=0), "3,2 distinct", dtypes=ORDERED)
case("_npi_argsort", lambda xp, a: xp.argsort(a, kind="stable"), "2,6 bits", dtypes="? b l f")
case(
    "_npi_lexsort",
    lambda xp, a, b: xp.lexsort((a, b)),
    "6 distinct",
    "6 bits int64",
    dtypes=ORDERED,
)
case(
    "_npi_searchsorted",
    lambda xp, a, v: (xp.searchsorted(a, v), xp.searchsorted(a, v, side="right")),
    "4 sorted",
    "2,3 distinct",
    dtypes=ORDERED,
)
case("_npi_argmax", lambda xp, a: xp.argmax(a), "2,3 distinct", dtypes=REAL)
case(
    "_npi_argmax",
    lambda xp, a: xp.argmax(a, axis=1, keepdims=True),
    "2,3 bits",
    dtypes="? i f d",
    bad=(([1.0],),),
)
case("_npi_argmin", lambda xp, a: xp.argmin(a), "2,3 distinct", dtypes=REAL)
case("_npi_argmin", lambda xp, a: xp.argmin(a, axis=0), "2,3 nan", dtypes="f d")
case("_npi_nan_replaced", lambda xp, a: xp.nanargmax(a, axis=0), "2,3 nan", dtypes="e f d")
case(
    "_npi_all_nan",
    lambda xp, a: apply(REGISTRY["_npi_all_nan"], (a,), (0,)),
    "2,3 nan",
    oracle=lambda a: onp.isnan(a).all(0).sum(),
    dtypes="f d",
    layouts=("ordinary", "empty", "view"),
)
case("_npi_count_nonzero", lambda xp, a: xp.count_nonzero(a), "2,3 bits", dtypes=ALL)
case(
    "_npi_count_nonzero",
    lambda xp, a: xp.count_nonzero(a, axis=1, keepdims=True),
    "2,3 bits",
    dtypes="? i f",
    bad=(([1.0],),),
)

# --- selecting ------------------------------------------------------------------------------------

case(
    "_npi_where",
    lambda xp, m, a, b: xp.where(m, a, b),
    "2,3 mask bool",
    "3",
    "2,1",
    dtypes=ALL,
    second=True,
    bad=(([1.0, 2.0], [1.0, 2.0, 3.0], 1.0),),
)
case("_npi_where", lambda xp, m, a: xp.where(m > 0, a, 2.5), "2,3", "3", dtypes=FEW)
case(
    "_npi_take",
    lambda xp, a, i: xp.take(a, i, axis=0),
    "3,2",
    "2,2 below3 int64",
    dtypes=ALL,
    second=True,
)
case(
    "_npi_take",
    lambda xp, a, i: xp.take(a, i, mode="wrap") + xp.take(a, i, mode="clip"),
    "2,3",
    "4 below9 int32",
    dtypes="i f d",
    layouts=("ordinary", "0-d", "view"),
)
case(
    "_npi_take_along_axis",
    lambda xp, a, i: xp.take_along_axis(a, i, axis=1),
    "2,3",
    "2,4 below3 int64",
    dtypes=ALL,
    second=True,
)


def changed(xp, function, a, *rest, **options):
    """A copy of the array, after a function changed it."""
    a = a.copy()
    function(a, *rest, **options)
    return a


case(
    "_npi_put",
    lambda xp, a, v: changed(xp, xp.put, a, [1, -1], v),
    "2,3",
    "2",
    dtypes=FEW,
    layouts=("ordinary", "view"),
)
case(
    "_npi_put",
    lambda xp, a, v: changed(xp, xp.put, a, [1, 7, -9], v, mode="wrap"),
    "2,3",
    "2",
    dtypes="i d",
    layouts=("ordinary",),
)
case(
    "_npi_putmask",
    lambda xp, a, m, v: changed(xp, xp.putmask, a, m, v),
    "2,3",
    "2,3 mask bool",
    "2",
    dtypes=FEW,
)
case(
    "_npi_place",
    lambda xp, a, m, v: changed(xp, xp.place, a, m, v),
    "2,3",
    "2,3 mask bool",
    "2",
    dtypes=FEW,
    layouts=("ordinary", "view"),
)
case(
    "_npi_choose",
    lambda xp, i, a, b: xp.choose(i, [a, b]),
    "2,3 index2 int64",
    "2,3",
    "3",
    dtypes=FEW,
    second=True,
)
case(
    "_npi_isin",
    lambda xp, a, b: (xp.isin(a, b), xp.isin(a, b, invert=True)),
    "2,3 bits",
    "4 bits",
    dtypes=FEW_REAL,
)
case(
    "_npi_isclose",
    lambda xp, a, b: xp.isclose(a, b, rtol=0.5),
    "2,3 bits",
    "3 bits",
    dtypes="? i l f d F",
    special=True,
)
case(
    "_npi_nan_to_num",
    lambda xp, a: xp.nan_to_num(a, nan=3.0),
    "2,3",
    dtypes="? i e f d F",
    special=True,
    second=True,
)
case(
    "_npi_replaced",
    lambda xp, a: xp.nan_to_num(a, nan=[1.0, 2.0, 3.0], posinf=[[4.0], [5.0]]),
    "2,3",
    dtypes="e f d",
    special=True,
    layouts=("ordinary", "view"),
)
case("_npi_angle", lambda xp, a: xp.angle(a), "2,3 nonzero", dtypes="i f d F D", grad=())
case("_npi_angle", lambda xp, a: xp.angle(a, deg=True), "2,3 nonzero complex128")


def filled(found, size, fill_value):
    """A list made so long: cut, or filled up."""
    found = onp.asarray(found)[:size]
    return onp.concatenate(
        [found, onp.full((size - len(found), *found.shape[1:]), fill_value, found.dtype)]
    )


def distinct(a, size):
    """Results of `unique`, padded to a size with the least element, which counts once."""
    values, indices, inverse, counts = onp.unique(a, True, True, True)
    return (
        filled(values, size, values[0]),
        filled(indices, size, indices[0]),
        inverse,
        filled(counts, size, 0),
    )


FOUND = ("ordinary", "empty", "view")
case(
    "_npi_nonzero",
    lambda xp, a: xp.argwhere(a, size=4, fill_value=-1),
    "2,3 bits",
    oracle=lambda a: filled(onp.argwhere(a), 4, -1),
    dtypes=ALL,
)
case(
    "_npi_compress",
    lambda xp, m, a: xp.compress(m, a, axis=0, size=2, fill_value=5),
    "3 mask bool",
    "3,2",
    oracle=lambda m, a: filled(onp.compress(m, a, axis=0), 2, 5),
    dtypes=ALL,
    layouts=FOUND,
    second=True,
)
case(
    "_npi_unique",
    lambda xp, a: xp.unique(a, True, True, True, size=7),
    "2,3 bits",
    oracle=lambda a: distinct(a, 7),
    dtypes=ALL,
    layouts=("ordinary", "0-d", "view"),
    grad=(),
)
case(
    "_npi_unique",
    lambda xp, a: xp.unique(a, size=2),
    "2,3 distinct",
    oracle=lambda a: onp.unique(a)[:2],
    dtypes="f d",
    layouts=("ordinary", "view"),
)

# --- statistics of order, bins --------------------------------------------------------------------

case("_npi_median", lambda xp, a: xp.median(a), "2,3 distinct", dtypes=REAL.replace("? ", ""))
case(
    "_npi_median",
    lambda xp, a: xp.median(a, axis=(0, -1), keepdims=True),
    "2,3,4 distinct",
    dtypes="i e f d",
    layouts=("ordinary", "0-d", "view"),
)
case("_npi_median", lambda xp, a: xp.median(a, axis=0), "3,2 nan", dtypes="f d", grad=())
case(
    "_npi_quantile_places",
    lambda xp, q: apply(REGISTRY["_npi_quantile_places"], (q,), (5, "linear")),
    "2,3 fraction",
    oracle=lambda q: (onp.floor(4 * q), 4 * q % 1),
    dtypes="f d",
)
case(
    "_npi_quantile",
    lambda xp, a: xp.quantile(a, 0.3),
    "2,3 distinct",
    dtypes="i l f d",
    bad=(([],),)[:0],
)
case(
    "_npi_quantile",
    lambda xp, a, q: xp.quantile(a, q, axis=1),
    "2,4 distinct",
    "2 fraction",
    dtypes="f d",
)
for method in ("lower", "higher", "nearest", "midpoint", "median_unbiased"):
    case(
        "_npi_quantile",
        lambda xp, a, method=method: xp.percentile(a, [10, 55.5], axis=0, method=method),
        "4,2 distinct",
        dtypes="f d",
        layouts=("ordinary", "view"),
    )
case(
    "_npi_not_within",
    lambda xp, q: apply(REGISTRY["_npi_not_within"], (q,), (0, 1)),
    "3 any",
    oracle=lambda q: ~((q >= 0) & (q <= 1)).all(),
    dtypes="f d",
)
case(
    "_npi_interp",
    lambda xp, x, p, f: xp.interp(x, p, f),
    "2,3 wide",
    "4 sorted",
    "4",
    dtypes="i f d",
    grad=(0, 2),
    layouts=("ordinary", "0-d", "view"),
)
case(
    "_npi_interp",
    lambda xp, x, p, f: xp.interp(x, p, f, period=1.5),
    "5 any",
    "4 sorted",
    "4",
    dtypes="f d",
    grad=(2,),
    layouts=("ordinary",),
)
POSITIONS = onp.array([1, 3, 3, 0, 5])
case("_npi_bincount", lambda xp: xp.bincount(POSITIONS, minlength=7))
case(
    "_npi_bincount",
    lambda xp, w: xp.bincount(POSITIONS, weights=w),
    "5",
    dtypes=FEW_REAL,
    layouts=("ordinary", "view"),
)
case(
    "_npi_digitize",
    lambda xp, a, b: (xp.digitize(a, b), xp.digitize(a, b, right=True), xp.digitize(a, b[::-1])),
    "2,3 distinct",
    "4 sorted",
    dtypes=ORDERED,
)
case(
    "_npi_not_monotonic",
    lambda xp, a: apply(REGISTRY["_npi_not_monotonic"], (a,), (True,)),
    "4 distinct",
    oracle=lambda a: (a[1:] < a[:-1]).any() & (a[1:] > a[:-1]).any(),
    dtypes="i f",
    layouts=("ordinary", "view"),
)
case(
    "_npi_bin_edges",
    lambda xp, a: xp.histogram_bin_edges(a, 4),
    "2,3",
    dtypes="i f d",
    layouts=("ordinary", "view"),
)
case(
    "_npi_not_finite",
    lambda xp, a, b: apply(REGISTRY["_npi_not_finite"], (a, b)),
    "()",
    "()",
    oracle=lambda a, b: ~(onp.isfinite(a) & onp.isfinite(b)),
    dtypes="f d",
    special=True,
)
case(
    "_npi_histogram",
    lambda xp, a: xp.histogram(a, 5, range=(-2, 2)),
    "2,3",
    dtypes="i f d",
    grad=(),
)
case(
    "_npi_histogram",
    lambda xp, a, e, w: xp.histogram(a, e, weights=w)[0],
    "7 distinct",
    "4 sorted",
    "7",
    dtypes="f d",
    grad=(2,),  # samples lie on edges, where sums jump
    layouts=("ordinary", "view"),
)

# --- methods of ufuncs ----------------------------------------------------------------------------

for name in (
    "add",
    "multiply",
    "maximum",
    "subtract",
    "logical_and",
    "bitwise_or",
    "hypot",
    "logaddexp",
    "gcd",
):
    kinds = (
        "b i l"
        if name in ("bitwise_or", "gcd")
        else "i f d"
        if name != "add"
        else "? b i l e f d F"
    )
    case(
        "_npi_ufunc_reduce",
        lambda xp, a, name=name: getattr(xp, name).reduce(a, axis=1, keepdims=True),
        "2,3 distinct",
        dtypes=kinds,
        grad=() if name in ("logical_and", "bitwise_or", "gcd") else None,
        bad=(([1.0],),) if name == "add" else (),
    )
case(
    "_npi_ufunc_reduce",
    lambda xp, a, m: xp.maximum.reduce(a, axis=0, where=m, initial=-1),
    "2,3 distinct",
    "2,3 mask bool",
    dtypes="i f d",
)
case(
    "_npi_ufunc_reduce",
    lambda xp, a: xp.multiply.reduce(a, axis=(0, 2), initial=2),
    "2,3,2",
    dtypes="i f d",
    second=True,
)
for name in ("add", "multiply", "maximum", "subtract"):
    case(
        "_npi_ufunc_accumulate",
        lambda xp, a, name=name: getattr(xp, name).accumulate(a, axis=-1),
        "2,3 distinct",
        dtypes="i f d" if name != "add" else "? b i l e f d F",
    )
for name in ("add", "maximum", "multiply"):
    case(
        "_npi_ufunc_reduceat",
        lambda xp, a, name=name: getattr(xp, name).reduceat(a, [0, 3, 1], axis=1),
        "2,4 distinct",
        dtypes="i f d",
        layouts=("ordinary", "view"),
    )
for name in ("add", "subtract", "multiply", "maximum"):
    case(
        "_npi_ufunc_at",
        lambda xp, a, b, name=name: changed(xp, getattr(xp, name).at, a, [0, 1, 0], b),
        "3 distinct",
        "3 nonzero",
        dtypes="i f d",
        layouts=("ordinary", "view"),
    )
    case(
        "_npi_ufunc_at",
        lambda xp, a, b, name=name: changed(
            xp, getattr(xp, name).at, a, xp.asarray([1, -1, 1, 0]), b
        ),
        "3,2 distinct",
        "4,1 nonzero",
        dtypes="i f d",
        layouts=("ordinary", "view"),
    )
case(
    "_npi_ufunc_at",
    lambda xp, a, b: changed(xp, xp.arctan2.at, a, xp.asarray([[0], [2]]), b),
    "3,2",
    "2,1,2 nonzero",
    dtypes="f d",
)
case(
    "_npi_ufunc_at",
    lambda xp, a: changed(xp, xp.negative.at, a, [0, 2]),
    "3",
    dtypes="i f d",
    layouts=("ordinary", "view"),
)
case(
    "_npi_not_a_start",
    lambda xp, i: apply(REGISTRY["_npi_not_a_start"], (i,), (3,)),
    "4 below4 int64",
    oracle=lambda i: onp.asarray(((i < 0) | (i >= 3)).any()),
)
