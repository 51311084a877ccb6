"""Cases of order statistics without nan or with weights, convolution, windows and special functions, and Fourier transforms."""

from registry_cases.case import case

case("_npi_nanmedian", lambda xp, a: xp.nanmedian(a), "2,3 nan", dtypes="e f d", grad=())
case("_npi_nanmedian", lambda xp, a: xp.nanmedian(a, 1, keepdims=True), "2,4 distinct", dtypes="f d")
case("_npi_nanquantile", lambda xp, a: xp.nanquantile(a, 0.3, 0), "5,2 nan", dtypes="f d", grad=())
case("_npi_nanquantile", lambda xp, a, q: xp.nanquantile(a, q, axis=1), "2,4 distinct", "2 fraction", dtypes="f d")
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
    case("_npi_convolve", lambda xp, a, v, mode=mode: xp.convolve(a, v, mode), "3", "2", dtypes="? b B i l f d F", second=mode == "full")
    case("_npi_correlate", lambda xp, a, v, mode=mode: xp.correlate(a, v, mode), "3", "2", dtypes="? b B i l f d F", second=mode == "full")
    case("_npi_correlate", lambda xp, a, v, mode=mode: xp.correlate(a, v, mode), "2", "4", dtypes="i f d F")
