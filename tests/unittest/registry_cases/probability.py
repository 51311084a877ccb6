"""Cases of special functions that cumulative distributions are made of; SciPy is the oracle."""

import numpy as onp
from scipy import special

from npcompat import npx
from registry_cases.case import case


def in_own_dtype(function):
    """SciPy's function computed in 64 bits, in the dtype that npcompat gives: floats keep theirs,
    others become float64.
    """

    def oracle(*arrays):
        dtype = onp.result_type(*arrays)
        return onp.asarray(function(*[a.astype("float64") for a in arrays])).astype(
            dtype if dtype.kind == "f" else "float64"
        )

    return oracle


SMOOTH = {"dtypes": "i e f d", "loose": 10.0, "layouts": ("ordinary", "0-d")}
BINARY = {"dtypes": "f d", "loose": 10.0, "layouts": ("ordinary",)}

case(
    "_npx_erfc",
    lambda xp, x: npx.erfc(x),
    "2,3",
    oracle=in_own_dtype(special.erfc),
    second=True,
    **SMOOTH,
)
case(
    "_npx_ndtri",
    lambda xp, p: npx.ndtri(p),
    "2,3 fraction",
    oracle=in_own_dtype(special.ndtri),
    **{**SMOOTH, "dtypes": "e f d"},
)
for name in ("gammainc", "gammaincc"):
    function = getattr(npx, name)
    oracle = in_own_dtype(getattr(special, name))
    case(
        f"_npx_{name}",
        lambda xp, a, x, function=function: function(a, x),
        "2,3 positive",
        "3 positive",
        oracle=oracle,
        **BINARY,
    )
case(
    "_npx_betainc",
    lambda xp, a, b, x: npx.betainc(a, b, x),
    "2,3 positive",
    "3 positive",
    "2,3 fraction",
    oracle=in_own_dtype(special.betainc),
    grad=(2,),
    **BINARY,
)
