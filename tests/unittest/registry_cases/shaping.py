"""Cases of views and of writing through them, of indexing, joining, repeating, shifting and
padding.
"""

import numpy as onp

from npcompat import np, npx
from npcompat._internal.core.op import REGISTRY
from npcompat._internal.dispatch.apply import apply
from registry_cases.case import ALL, FEW, KEPT, case

SOME = "? b i l L e f d F D"
NOT_0D = ("ordinary", "empty", "view")


def written(read, *attributes):
    """A call that writes its second array through a view of its first."""

    def call(xp, a, b):
        a = a.copy()
        v = read(a, *attributes)
        v.flags.writeable = True
        v[...] = b
        return a

    return call


def windows(xp, a, *arguments, **options):
    return xp.lib.stride_tricks.sliding_window_view(a, *arguments, **options)


def write_windows(xp, a, b):
    a = a.copy()
    xp.lib.stride_tricks.as_strided(a, (3, 2, 2), (4 * a.itemsize, 2 * a.itemsize, a.itemsize))[
        :, :, ::-1
    ] = b
    return a


def writing(where):
    """A call that assigns its second array to a part of its first."""

    def call(xp, a, b, *positions):
        a = a.copy()
        a[where(*positions) if callable(where) else where] = b
        return a

    return call


# --- lenses ---------------------------------------------------------------------------------------

case(
    "_npi_index_get",
    lambda xp, a: a[1, ::-2],
    "3,4",
    dtypes=ALL,
    second=True,
    bad=(([1.0], 0),)[:0],
)
case(
    "_npi_index_get",
    lambda xp, a: (a[..., None, 1:] + 0, a[::2, -1] + 0, a[2:1] + 0),
    "3,4",
    dtypes="i l f d F",
)
case("_npi_index_put", writing((slice(None, None, 2), slice(3, 0, -2))), "3,4", "2,2", dtypes=SOME)
case("_npi_index_put", writing((1, slice(1, 3))), "3,4", "2", dtypes="i f d")
case("_npi_transpose", lambda xp, a: xp.transpose(a, (1, 2, 0)), "2,3,4", dtypes=ALL, second=True)
case(
    "_npi_transpose",
    lambda xp, a: a.T + a.T,
    "2,3",
    dtypes="i f d",
    layouts=("ordinary", "0-d", "empty", "view"),
)
case("_npi_transpose_put", written(lambda a: a.transpose(1, 2, 0)), "2,3,4", "3,4,2", dtypes=SOME)
case(
    "_npi_reshape",
    lambda xp, a: xp.reshape(a, (-1, 2)),
    "2,3",
    dtypes=ALL,
    second=True,
    bad=(([1.0, 2.0, 3.0],),),
)
case("_npi_reshape", lambda xp, a: a.T.ravel() + a.reshape(-1), "2,3", dtypes="i f d")
case(
    "_npi_reshape_put",
    written(lambda a: a.reshape(3, 4)),
    "2,6",
    "3,4",
    dtypes=SOME,
    layouts=("ordinary",),
)
case(
    "_npi_diagonal",
    lambda xp, a: xp.diagonal(a, 1),
    "3,4",
    dtypes=ALL,
    second=True,
    bad=(([1.0],),),
)
case("_npi_diagonal", lambda xp, a: xp.diagonal(a, -1, 0, 2) + 0, "3,2,4", dtypes="i f d")
case("_npi_diagonal_put", written(lambda a: a.diagonal(-1)), "3,4", "2", dtypes=SOME)
case(
    "_npi_diagonal_put",
    written(lambda a: a.diagonal(1, 0, 2)),
    "3,2,4",
    "2,3",
    dtypes="f d",
    layouts=("ordinary", "view"),
)
case(
    "_npi_as_strided",
    lambda xp, a: windows(xp, a, 2, 0) + 0,
    "3,4",
    dtypes="i l f d F",
    layouts=("ordinary", "view"),
)
case(
    "_npi_as_strided",
    lambda xp, a: windows(xp, a[1:, ::-1], (2, 3)) + 0,
    "3,4",
    dtypes="f d",
    layouts=("ordinary", "view"),
)
case(
    "_npi_as_strided_put",
    lambda xp, a, b: write_windows(xp, a, b),
    "3,4",
    "3,1,2",
    dtypes=SOME,
    layouts=("ordinary", "view"),
)
case("_npi_real", lambda xp, a: xp.real(a), "2,3", dtypes="f d F D")
case("_npi_real", lambda xp, a: a.real * 2, "2,3 any complex128")
case(
    "_npi_real_put",
    written(lambda a: a.real),
    "2,3 any complex128",
    "2,3 any float64",
    layouts=NOT_0D,
)
case("_npi_imag", lambda xp, a: xp.imag(a), "2,3", dtypes="i f d F D", grad=())
case("_npi_imag", lambda xp, a: a.imag * 2, "2,3 any complex128")
case(
    "_npi_imag_put",
    written(lambda a: a.imag),
    "2,3 any complex128",
    "2,3 any float64",
    layouts=NOT_0D,
)
case("_npi_view", lambda xp, a: a.view("int32"), "2,3", dtypes="i I f", grad=(), policy=KEPT)
case(
    "_npi_view",
    lambda xp, a: a.copy().view("uint8"),
    "2,3",
    dtypes="? b h l f d F D",
    grad=(),
    layouts=("ordinary", "empty"),
)
case(
    "_npi_view",
    lambda xp, a: a.view("complex64"),
    "3,4",
    dtypes="i f l d",
    grad=(),
    layouts=("ordinary",),
    policy=KEPT,
)
case(
    "_npi_view",
    lambda xp, a: a.view("float64"),
    "2,3 any complex128",
    layouts=("ordinary", "empty"),
)
case("_npi_view", lambda xp, a: a.view("complex128"), "3,2 any float64", layouts=("ordinary",))
case(
    "_npi_view_put",
    written(lambda a: a.view("float64")),
    "2,3 any complex128",
    "2,6 any float64",
    layouts=("ordinary", "view"),
)
case(
    "_npi_view_put",
    written(lambda a: a.view("uint16")),
    "2,3",
    "3 bits uint16",
    dtypes="e h",
    grad=(),
    layouts=("ordinary",),
)
case(
    "_npi_broadcast_to",
    lambda xp, a: xp.broadcast_to(a, (2, 4, 3)),
    "4,1",
    dtypes=ALL,
    second=True,
    bad=(([1.0, 2.0],),),
)

# --- assignment and advanced indexing -------------------------------------------------------------

case("_npi_fit", writing(...), "2,3", "1,1,3", dtypes=SOME)
case("_npi_fit", writing(slice(1, None)), "3,2", "()", dtypes="i f d")
case(
    "_npi_take_at",
    lambda xp, a, i, j: a[i, :, j],
    "3,2,4",
    "2,2 below3 int64",
    "2 below4 int32",
    dtypes=ALL,
    second=True,
)
case("_npi_take_at", lambda xp, a, i: a[i], "3,2", "4 below3 int64", dtypes="i f d")
case(
    "_npi_put_at",
    lambda xp, a, b: writing((onp.array([2, 0]), slice(1, 3)))(xp, a, b),
    "3,4",
    "2,2",
    dtypes=SOME,
)
case("_npi_put_at", writing(lambda i: i), "4", "()", "3 below4 int64", dtypes="i f d")
case(
    "_npi_put_selected",
    lambda xp, a, b, m, i: apply(REGISTRY["_npi_put_selected"], (a, b, m, i), ((True, False),)),
    "4,3",
    "5,3",
    "5 mask bool",
    "5 below4 int64",
    oracle=lambda a, b, m, i: writing(i[m])(onp, a, b[m]),
    dtypes=SOME,
)
case("_npi_put_mask", writing(lambda m: m), "2,3", "()", "2,3 mask bool", dtypes=SOME)
case(
    "_npi_put_mask", writing(lambda m: (slice(None), m)), "2,3,2", "2", "3 mask bool", dtypes="i f"
)
case(
    "_npi_spread_selected",
    lambda xp, a, m: apply(REGISTRY["_npi_spread_selected"], (a, m), (1,)),
    "2,3,2",
    "3 mask bool",
    dtypes=SOME,
    grad=(),
    oracle=lambda a, m: onp.where(m[:, None], a, a[:, [m.argmax()]]) if m.size else a,
)
case(
    "_npi_cycled",
    lambda xp, a, b: flattened(a, b),
    "2,4",
    "3",
    dtypes=SOME,
    layouts=("ordinary", "view"),
)
case(
    "_npi_out_of_bounds",
    lambda xp, i: apply(REGISTRY["_npi_out_of_bounds"], (i,), (3,)),
    "4 below4 int64",
    oracle=lambda i: onp.asarray(((i < -3) | (i >= 3)).any()),
)
case(
    "_npi_outside",
    lambda xp, i: apply(REGISTRY["_npi_outside"], (i,), (-1, 2)),
    "4 below4 int64",
    oracle=lambda i: ((i < -1) | (i >= 2)).any(),
)
case(
    "_npi_stop_gradient",
    lambda xp, a: np.array(0, dtype=a.dtype) + apply(REGISTRY["_npi_stop_gradient"], (a,)),
    "2,3",
    oracle=lambda a: a[()],
    dtypes=ALL,
)


def flattened(a, b):
    """Write the second array, again and again, to the elements of the first but one."""
    a = a.copy()
    a.flat[1:] = b
    return a


# --- joining --------------------------------------------------------------------------------------

case(
    "_npi_concatenate",
    lambda xp, a, b: xp.concatenate([a, b], axis=-1),
    "2,3",
    "2,1",
    dtypes=ALL,
    second=True,
    bad=(([1.0, 2.0], [[1.0]]),),
)
case(
    "_npi_concatenate",
    lambda xp, a, b: xp.concatenate([a, b, a], axis=None),
    "2,3",
    "2",
    dtypes="i f d",
)
case(
    "_npi_concatenate",
    lambda xp, a, b: xp.concatenate([a, b], dtype="float64"),
    "2,3",
    "1,3 any int32",
    dtypes="i l f d",
    policy=KEPT,
)
case(
    "_npi_concatenate",
    lambda xp, a, b: (xp.hstack([a, b]), xp.vstack([a, a]), xp.dstack([a, b])),
    "2,3",
    "2,3",
    dtypes="i f d",
)
case(
    "_npi_stack",
    lambda xp, a, b: xp.stack([a, b], axis=1),
    "2,3",
    "2,3",
    dtypes=ALL,
    second=True,
    bad=(([1.0, 2.0], [1.0]),),
)
case(
    "_npi_stack",
    lambda xp, a, b: xp.stack([a, b], axis=-1),
    "2,3",
    "2,3 any int64",
    dtypes="b i f d",
)
case(
    "_npi_stack_scalars",
    lambda xp, a, b: apply(REGISTRY["_npi_stack_scalars"], (a, b)),
    "2,3",
    "2,3",
    oracle=lambda a, b: onp.stack([a, b]),
    dtypes=FEW,
)

# --- repeating, shifting, padding -----------------------------------------------------------------

case(
    "_npi_repeat",
    lambda xp, a: xp.repeat(a, 2, axis=1),
    "2,3",
    dtypes=ALL,
    second=True,
    bad=(([1.0],),),
)
case("_npi_repeat", lambda xp, a: xp.repeat(a, 3), "2,3", dtypes="i f d")
case("_npi_tile", lambda xp, a: xp.tile(a, (2, 1, 2)), "2,3", dtypes=ALL, second=True)
case("_npi_resize", lambda xp, a: xp.resize(a, (2, 5)), "2,3", dtypes=ALL, second=True)
case("_npi_roll", lambda xp, a: xp.roll(a, 2), "2,3", dtypes=ALL, second=True)
case(
    "_npi_roll",
    lambda xp, a: xp.roll(a, (1, -4), axis=(0, 1)),
    "2,3",
    dtypes="i f d",
    bad=(([1.0],),),
)
case(
    "_npi_pad",
    lambda xp, a: xp.pad(a, ((1, 0), (2, 1))),
    "2,3",
    dtypes=ALL,
    second=True,
    bad=(([1.0],),),
)
for mode in ("edge", "reflect", "symmetric", "wrap", "linear_ramp", "maximum", "mean"):
    kinds = "f d" if mode in ("linear_ramp", "mean") else "i f d"
    case(
        "_npi_pad",
        lambda xp, a, mode=mode: xp.pad(a, 2, mode=mode),
        "3,4 distinct",
        dtypes=kinds,
        layouts=("ordinary", "view"),
    )
case("_npi_diag", lambda xp, a: xp.diag(a, -1), "3", dtypes=ALL, second=True)
case("_npi_diag", lambda xp, a: xp.diag(a, 1) + 0, "3,4", dtypes="i f d", bad=(([[[1.0]]],),))
case("_npi_tril", lambda xp, a: xp.tril(a, 1), "2,3,4", dtypes=ALL, second=True)
case("_npi_triu", lambda xp, a: xp.triu(a, -1), "3,2", dtypes=ALL, second=True)
case(
    "_npi_diff",
    lambda xp, a: xp.diff(a, n=2),
    "2,4",
    dtypes=ALL,
    second=True,
    bad=(([1.0], 2, 3),)[:0],
)
case("_npi_diff", lambda xp, a: xp.diff(a, axis=0, prepend=1), "3,2", dtypes="i l f d")
case("_npi_trace", lambda xp, a: xp.trace(a, 1), "3,4", dtypes=ALL, second=True, bad=(([1.0],),))
case("_npi_trace", lambda xp, a: xp.trace(a, -1, 1, 2), "2,3,3", dtypes="? b f d")


def _moved(xp, a):
    """Through the operator: the public function does nothing where the array is there already."""

    return apply(REGISTRY["_npi_to_device"], (a,), (npx.current_device(),))


case(
    "_npi_to_device",
    _moved,
    "2,3",
    oracle=lambda a: a,
    dtypes=SOME,
    layouts=("ordinary", "0-d", "empty"),
    on_host=False,
)
