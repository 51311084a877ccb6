"""Cases of order statistics without nan or with weights, convolution, windows and special
functions, and Fourier transforms.
"""

import numpy as onp

from npcompat._internal.core.op import REGISTRY
from npcompat._internal.dispatch.apply import apply
from registry_cases.case import case


def divided(u, v):
    """Quotient, and remainder in the length of the dividend."""
    quotient, rest = onp.polydiv(u, v)
    return quotient, onp.concatenate([onp.zeros(u.size - rest.size, rest.dtype), rest])


case("_npi_nanmedian", lambda xp, a: xp.nanmedian(a), "2,3 nan", dtypes="e f d", grad=())
case(
    "_npi_nanmedian", lambda xp, a: xp.nanmedian(a, 1, keepdims=True), "2,4 distinct", dtypes="f d"
)
case("_npi_nanquantile", lambda xp, a: xp.nanquantile(a, 0.3, 0), "5,2 nan", dtypes="f d", grad=())
case(
    "_npi_nanquantile",
    lambda xp, a, q: xp.nanquantile(a, q, axis=1),
    "2,4 distinct",
    "2 fraction",
    dtypes="f d",
)
case(
    "_npi_weighted_quantile",
    lambda xp, a, w: xp.quantile(a, [0.2, 0.5], weights=w, method="inverted_cdf"),
    "2,3 distinct",
    "2,3 fraction",
    dtypes="i f d",
    grad=(0,),
)
case(
    "_npi_weighted_quantile",
    lambda xp, a, w: xp.nanquantile(a, 0.7, 1, weights=w, method="inverted_cdf"),
    "2,4 distinct",
    "2,4 fraction",
    dtypes="f d",
    grad=(0,),
)
for mode in ("full", "same", "valid"):
    case(
        "_npi_convolve",
        lambda xp, a, v, mode=mode: xp.convolve(a, v, mode),
        "3",
        "2",
        dtypes="? b B i l f d F",
        second=mode == "full",
    )
    case(
        "_npi_correlate",
        lambda xp, a, v, mode=mode: xp.correlate(a, v, mode),
        "3",
        "2",
        dtypes="? b B i l f d F",
        second=mode == "full",
    )
    case(
        "_npi_correlate",
        lambda xp, a, v, mode=mode: xp.correlate(a, v, mode),
        "2",
        "4",
        dtypes="i f d F",
    )

case("_npi_i0", lambda xp, a: xp.i0(a), "2,3", dtypes="i l f d", second=True, loose=4)
case("_npi_sinc", lambda xp, a: xp.sinc(a), "2,3", dtypes="? i l f d F D", second=True, loose=4)
case("_npi_kaiser", lambda xp, b: xp.kaiser(6, b), "() positive", dtypes="i f d", second=True)

for norm in ("backward", "ortho", "forward"):
    for name in ("fft", "ifft", "rfft", "irfft"):
        case(
            f"_npi_{name}",
            lambda xp, a, name=name, norm=norm: getattr(xp.fft, name)(a, norm=norm),
            "2,4",
            dtypes="? b i L e f d" if name == "rfft" else "? b i L e f d F D",
            second=norm == "ortho" and name == "irfft",
        )
for name in ("fft", "ifft", "rfft", "irfft"):
    for n in (3, 7):
        case(
            f"_npi_{name}",
            lambda xp, a, name=name, n=n: getattr(xp.fft, name)(a, n, axis=0),
            "5,2",
            dtypes="l f d" if name == "rfft" else "l f d F D",
        )

    for axes in (
        (0, 2),
        (2, 0),
    ):  # which are never empty: NumPy inverts such as it finds the memory
        case(
            f"_npi_{name}",
            lambda xp, a, name=name, axes=axes: getattr(xp.fft, name + "n")(
                a, (3, 4), axes, norm="ortho"
            ),
            "4,2,5",
            dtypes="l f d" if name == "rfft" else "l f d F D",
        )

case(
    "_npi_polyval",
    lambda xp, p, x: xp.polyval(p, x),
    "3",
    "2,3",
    dtypes="? b i l f d F",
    second=True,
    loose=4,
)
case(
    "_npi_polydiv",
    lambda xp, u, v: apply(REGISTRY["_npi_polydiv"], (u, v)),
    "4 nonzero",
    "2 nonzero",
    dtypes="i f d F",
    oracle=divided,
    layouts=("ordinary", "view"),
    loose=4,
)
