"""Cases of what works element by element: one line each, families by arity."""

import numpy as onp

from registry_cases.case import ALL, FEW, HALVES, INTS, KEPT, REAL, case

EVERY = f"{ALL} {HALVES}"


def unary(names, domain="any", **options):
    """Functions of one array: NumPy's ufunc of the same name is the oracle."""
    for name in names.split():
        case(
            f"_npi_{name}",
            lambda xp, a, name=name: getattr(xp, name)(a),
            f"2,3 {domain}",
            **{"dtypes": EVERY, "special": True, "second": True, **options},
        )


def binary(names, left="any", right="any", **options):
    """Functions of two arrays, which are broadcast."""
    for name in names.split():
        case(
            f"_npi_{name}",
            lambda xp, a, b, name=name: getattr(xp, name)(a, b),
            f"2,3 {left}",
            f"3 {right}",
            **{
                "dtypes": EVERY,
                "special": True,
                "second": True,
                "bad": (([1.0, 2.0], [1.0, 2.0, 3.0]),),
                **options,
            },
        )


unary("sin cos tanh sinh cosh exp expm1 arctan arcsinh negative positive square conjugate")
unary("tan arcsin arctanh", "unit")
unary("arccos", "unit", dtypes="? b B h H i I l L e f d F D")
unary("exp2 degrees radians rad2deg deg2rad cbrt", "nonzero")
unary("log log2 log10 log1p sqrt", "positive")
unary("arccosh", "above1")
unary("reciprocal", "nonzero")
unary("absolute fabs", "nonzero", second=False)
unary("sign rint floor ceil trunc", "noninteger", second=False)
unary("isnan isinf isfinite signbit logical_not invert", second=False)
unary("frexp modf", "noninteger", second=False)
unary("spacing", second=False, dtypes="? e f d")
unary("bitwise_count", "bits", second=False, dtypes=f"? {INTS} f", special=False)

binary("add subtract multiply")
binary("divide", right="nonzero")
binary("hypot arctan2", "nonzero", "nonzero")
binary("logaddexp logaddexp2")
binary("maximum minimum fmax fmin", "distinct", "nonzero", second=False)
binary("copysign", "nonzero", "nonzero", second=False)
binary("nextafter", second=False, grad=())
binary("heaviside", "nonzero", second=False)
binary("power float_power", "positive", "any", special=False)
case("_npi_power", lambda xp, a, b: xp.power(a, b), "2,3", "3 bits", dtypes=FEW, grad=(0,))
case("_npi_power", lambda xp, a: a**2 + a**-1.5 + 2.0**a, "2,3 positive", dtypes="f d")
binary("floor_divide remainder fmod divmod", "noninteger", "nonzero", second=False, special=False)
case(
    "_npi_ldexp",
    lambda xp, a, b: xp.ldexp(a, b),
    "2,3",
    "3 bits int32",
    dtypes="e f d i b",
    grad=(0,),
)
binary("equal not_equal less less_equal greater greater_equal", "bits", "bits", second=False)
binary("logical_and logical_or logical_xor", "bits", "bits", second=False)
binary(
    "bitwise_and bitwise_or bitwise_xor left_shift right_shift gcd lcm",
    "bits",
    "bits",
    second=False,
    dtypes=f"{INTS} f",
    special=False,
)

case(
    "_npi_add",
    lambda xp, a, b: xp.add(a, b, out=xp.zeros((2, 3), "d"), where=b > 0),
    "2,3",
    "3",
    dtypes=REAL,
    layouts=("ordinary", "view"),
    policy=KEPT,
)
case("_npi_subtract", lambda xp, a: (3 - a) - 1.5, "2,3", dtypes="b i l L e f d F")
case(
    "_npi_multiply",
    lambda xp, a, b: xp.multiply(a, b, dtype="float64"),
    "2,3",
    "2,3",
    dtypes="i l f d",
    policy=KEPT,
)
case("_npi_isnan", lambda xp, a: xp.isnan(a), "2,3 nan", dtypes="e f d")
case(
    "_npi_harmless_where",
    lambda xp, a, m: xp.sqrt(a, where=m, out=a * 1),
    "2,3 positive",
    "2,3 mask bool",
    dtypes="f d",
    layouts=("ordinary", "empty", "view"),
)
case(
    "_npi_harmless_where",
    lambda xp, a, m: xp.multiply(a, a, where=m, out=a * 1),
    "2,3",
    "2,3 mask bool",
    dtypes="i l",
    layouts=("ordinary", "empty", "view"),
)
case(
    "_npi_select_where",
    lambda xp, a, b, m: xp.add(a, b, out=a * 1, where=m),
    "2,3",
    "3",
    "2,3 mask bool",
    dtypes="i l e f d F",
    layouts=("ordinary", "empty", "view"),
)
case(
    "_npi_zeros_for_where",
    lambda xp, a, m: xp.sin(a, where=m),
    "2,3",
    "3 mask bool",
    oracle=lambda a, m: onp.where(m, onp.sin(a), onp.zeros((), onp.sin(a).dtype))[()],
    dtypes="i e f d F",
)
case(
    "_npi_cast",
    lambda xp, a: (a.astype("float64"), a.astype("int64"), a.astype("bool"), a.astype("float16")),
    "2,3",
    dtypes="? b B i l e f d",
    grad=(),
    policy=KEPT,
)
case("_npi_cast", lambda xp, a: a.astype("float64") * 2, "2,3", dtypes="i f d", policy=KEPT)
case(
    "_npi_cast",
    lambda xp, a: xp.stack([a.astype("complex64").imag, a.astype("D").real]),
    "2,3",
    dtypes="? l f d F D",
    grad=(),
    policy=KEPT,
)
