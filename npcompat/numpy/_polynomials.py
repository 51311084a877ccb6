"""Polynomials by their coefficients, the highest power first."""


# mypy: disable-error-code="overload-overlap"
# A poly1d is an array-like, too: the first overload that matches counts.

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch import handles
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._calculus import convolve
from npcompat.numpy._checks import shaping
from npcompat.numpy._complex_parts import decided
from npcompat.numpy._creation import asarray
from npcompat.numpy._decompositions import eigenvalues
from npcompat.numpy._diagonals import diag
from npcompat.numpy._filled import ones, zeros
from npcompat.numpy._joining import concatenate
from npcompat.numpy._logic import isscalar
from npcompat.numpy._manipulation import atleast_1d
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._ranges import arange
from npcompat.numpy._sorting import sort
from npcompat.numpy._typing import ArrayLike

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_float64 = onp.dtype("float64")


def _coefficients(p: Any) -> "ndarray":
    """Return the coefficients of a poly1d or an array-like."""
    return p.coeffs if isinstance(p, poly1d) else asarray(p)


def _as_given(result: Any, *operands: Any) -> Any:
    """Return the result as a poly1d if an operand is one."""
    return poly1d(result) if any([isinstance(p, poly1d) for p in operands]) else result


def _trimmed(c: Any, what: str) -> Any:
    """Remove leading zeros; a zero polynomial keeps one."""
    present = onp.flatnonzero(shaping(c, what))
    if not present.size:
        return zeros(1, c.dtype)
    return c[int(present[0]) :] if present[0] else c


@defers_to_classes
def poly(seq_of_zeros: ArrayLike) -> "ndarray":
    """Compute the polynomial with given roots, or the characteristic polynomial of a matrix.

    Roots in conjugate pairs give real coefficients. In a compiled function, where values are
    not known, complex roots give complex coefficients.

    Parameters
    ----------
    seq_of_zeros : array_like
        Roots along one axis, or a square matrix.

    Examples
    --------
    >>> np.poly([1, 2])
    array([ 1., -3.,  2.])
    """
    found = atleast_1d(seq_of_zeros)
    if found.ndim == 2 and found.shape[0] == found.shape[1] != 0:
        found = eigenvalues(found, always_complex=False)
    elif found.ndim != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    elif found.dtype.char not in "fdFD":
        found = found.astype(float)
    if found.shape[0] == 0:
        return cast("Any", 1.0)
    one = ones(1, found.dtype)
    product = one
    for i in range(found.shape[0]):
        product = convolve(product, concatenate([one, -found[i : i + 1]]))
    if product.dtype.kind == "c" and decided((sort(found) == sort(found.conj())).all(), False):
        return product.real.copy()
    return product


def roots(p: ArrayLike) -> "ndarray":
    """Compute the roots of a polynomial as the eigenvalues of its companion matrix.

    Raises
    ------
    TracedValueError
        In a compiled function: their number depends on values.

    Examples
    --------
    >>> np.sort(np.roots([1.0, -3.0, 2.0]))
    array([1., 2.])
    """
    c = atleast_1d(_coefficients(p))
    if c.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    present = onp.flatnonzero(shaping(c, "roots"))
    none = zeros(0, dtypes.narrow(_float64, [c.dtype]))
    if not present.size:
        return none
    at_zero = c.shape[0] - int(present[-1]) - 1
    c = c[int(present[0]) : int(present[-1]) + 1]
    if not dtypes.is_inexact(c.dtype):
        c = c.astype(float)
    degree = c.shape[0] - 1
    if degree:
        shifted = diag(ones(degree - 1, c.dtype), -1)[1:]
        found = eigenvalues(concatenate([(-c[1:] / c[0])[None], shifted]), always_complex=False)
    else:
        found = none
    return concatenate([found, zeros(at_zero, found.dtype)])


# --- arithmetic -----------------------------------------------------------------------------------


@overload
def polyadd(a1: "poly1d", a2: ArrayLike) -> "poly1d": ...


@overload
def polyadd(a1: ArrayLike, a2: "poly1d") -> "poly1d": ...


@overload
def polyadd(a1: ArrayLike, a2: ArrayLike) -> "ndarray": ...


@defers_to_classes
def polyadd(a1: ArrayLike, a2: ArrayLike) -> "ndarray | poly1d":
    """Add two polynomials.

    Examples
    --------
    >>> np.polyadd([1, 2], [9, 5, 4])
    array([9, 6, 6])
    """
    first, second = _aligned(a1, a2)
    return _as_given(first + second, a1, a2)


@overload
def polysub(a1: "poly1d", a2: ArrayLike) -> "poly1d": ...


@overload
def polysub(a1: ArrayLike, a2: "poly1d") -> "poly1d": ...


@overload
def polysub(a1: ArrayLike, a2: ArrayLike) -> "ndarray": ...


@defers_to_classes
def polysub(a1: ArrayLike, a2: ArrayLike) -> "ndarray | poly1d":
    """Subtract the second polynomial from the first.

    Examples
    --------
    >>> np.polysub([2, 10, -2], [3, 10, -4])
    array([-1,  0,  2])
    """
    first, second = _aligned(a1, a2)
    return _as_given(first - second, a1, a2)


def _aligned(a1: Any, a2: Any) -> list[Any]:
    """Pad the coefficients of two polynomials with leading zeros to equal length."""
    both = [atleast_1d(_coefficients(a)) for a in (a1, a2)]
    length = max(c.shape[0] for c in both)
    return [
        c if c.shape[0] == length else concatenate([zeros(length - c.shape[0], c.dtype), c])
        for c in both
    ]


@overload
def polymul(a1: "poly1d", a2: ArrayLike) -> "poly1d": ...


@overload
def polymul(a1: ArrayLike, a2: "poly1d") -> "poly1d": ...


@overload
def polymul(a1: ArrayLike, a2: ArrayLike) -> "ndarray": ...


def polymul(a1: ArrayLike, a2: ArrayLike) -> "ndarray | poly1d":
    """Multiply two polynomials; leading zeros of the factors are dropped.

    Raises
    ------
    TracedValueError
        In a compiled function: the shape depends on values; `convolve` keeps leading zeros.

    Examples
    --------
    >>> np.polymul([1, 2], [1, 3])
    array([1, 5, 6])
    """
    return _as_given(convolve(poly1d(a1).coeffs, poly1d(a2).coeffs), a1, a2)


@operator("_npi_polydiv", rule=lambda types, attrs: _divided(types), outputs=2)
def _polydiv(xp: Any, u: Any, v: Any) -> Any:
    """Divide polynomials: quotient, and remainder with its leading zeros.

    Parameters
    ----------
    u : array
        Coefficients of the dividend.
    v : array
        Coefficients of the divisor.
    """
    steps = u.shape[0] - v.shape[0] + 1
    rest, quotient = u, [xp.zeros((), u.dtype)] if steps < 1 else []
    for k in range(steps):
        factor = (1.0 / v[0]) * rest[k]
        quotient.append(factor)
        at = slice(k, k + v.shape[0])
        rest = xp.set_static(rest, (at,), rest[at] - factor * v)
    return xp.stack(quotient), rest


def _divided(types: tuple[Type, ...]) -> Resolution:
    """Divide polynomials; non-floats become the default float before type promotion."""
    strong = [dtypes.strong(t) for t in types]
    common = onp.result_type(*[t if dtypes.is_inexact(t) else _float64 for t in strong])
    # At least float64, so that a step's remainder is nearly zero however XLA rounds.
    wide = onp.promote_types(common, _float64)
    dtype = dtypes.narrow(common, strong)
    return [wide, wide], (dtype, dtype)


@overload
def polydiv(u: "poly1d", v: ArrayLike) -> "tuple[poly1d, poly1d]": ...


@overload
def polydiv(u: ArrayLike, v: "poly1d") -> "tuple[poly1d, poly1d]": ...


@overload
def polydiv(u: ArrayLike, v: ArrayLike) -> "tuple[ndarray, ndarray]": ...


@defers_to_classes
def polydiv(u: ArrayLike, v: ArrayLike) -> tuple[Any, Any]:
    """Divide polynomials: quotient, and remainder without leading zeros.

    Examples
    --------
    >>> np.polydiv([3.0, 5.0, 2.0], [2.0, 1.0])
    (array([1.5 , 1.75]), array([0.25]))
    """
    quotient, rest = apply(_polydiv, (atleast_1d(_coefficients(u)), atleast_1d(_coefficients(v))))
    large = onp.flatnonzero(~(onp.abs(shaping(rest, "polydiv")) <= 1e-8))
    rest = rest[min(int(large[0]) if large.size else rest.shape[0], rest.shape[0] - 1) :]
    return _as_given(quotient, u, v), _as_given(rest, u, v)


# --- values, derivatives, integrals ---------------------------------------------------------------


@operator("_npi_polyval", order="K", rule=dtypes.promote, pattern="complex")
def _polyval(xp: Any, p: Any, x: Any) -> Any:
    """Evaluate a polynomial by Horner's scheme."""
    total = xp.zeros_like(x)
    for k in range(p.shape[0]):
        total = total * x + p[k]
    return total


@overload
def polyval(p: ArrayLike, x: "poly1d") -> "poly1d": ...


@overload
def polyval(p: ArrayLike, x: ArrayLike) -> "ndarray": ...


@defers_to_classes
def polyval(p: ArrayLike, x: ArrayLike) -> "ndarray | poly1d":
    """Evaluate a polynomial; for a poly1d `x`, compose both polynomials.

    Parameters
    ----------
    p : array_like or poly1d
        Coefficients, the highest power first.
    x : array_like or poly1d
        Points at which to evaluate.

    Examples
    --------
    >>> np.polyval([3, 0, 1], 5)
    np.int64(76)
    """
    p = _coefficients(p)
    if p.ndim == 0:
        raise TypeError("iteration over a 0-d array: expected coefficients along an axis")
    if not isinstance(x, poly1d):
        return apply(_polyval, (p, asarray(x)))
    total: Any = 0
    for k in range(p.shape[0]):
        total = total * x + p[k]
    return total


@overload
def polyder(p: "poly1d", m: int = 1) -> "poly1d": ...


@overload
def polyder(p: ArrayLike, m: int = 1) -> "ndarray": ...


def polyder(p: ArrayLike, m: int = 1) -> "ndarray | poly1d":
    """Compute the `m`-th derivative of a polynomial.

    Examples
    --------
    >>> np.polyder([1, 1, 1, 1])
    array([3, 2, 1])
    """
    m = int(m)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    c = _coefficients(p)
    for _ in range(m):
        degree = len(c) - 1
        c = c[:-1] * arange(degree, 0, -1)
    return _as_given(c, p)


@overload
def polyint(p: "poly1d", m: int = 1, k: ArrayLike | None = None) -> "poly1d": ...


@overload
def polyint(p: ArrayLike, m: int = 1, k: ArrayLike | None = None) -> "ndarray": ...


def polyint(p: ArrayLike, m: int = 1, k: ArrayLike | None = None) -> "ndarray | poly1d":
    """Compute the `m`-th integral of a polynomial.

    `k` holds the integration constants, zero if not given.

    Examples
    --------
    >>> np.polyint([6, 4], k=3)
    array([3., 4., 3.])
    """
    m = int(m)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = zeros(m) if k is None else atleast_1d(k)
    if len(constants) == 1 and m > 1:
        constants = constants[0] * ones(m)
    if len(constants) < m:
        raise ValueError(
            f"k must be a scalar or a rank-1 array of length 1 or >m, got length {len(constants)} "
            f"for m = {m}."
        )
    c = _coefficients(p)
    for i in range(m):
        c = concatenate([c / arange(len(c), 0, -1), constants[i : i + 1]])
    return _as_given(c, p)


# --- the class ------------------------------------------------------------------------------------


class poly1d:
    """One-dimensional polynomial with arithmetic.

    Parameters
    ----------
    c_or_r : array_like
        Coefficients, the highest power first; leading zeros are left out.  Or roots.
    r : bool
        If True, `c_or_r` holds roots.
    variable : str, optional
        Name of the variable when printed; 'x' if not given.

    Raises
    ------
    TracedValueError
        In a compiled function: the degree depends on values.

    Examples
    --------
    >>> p = np.poly1d([1, 2, 3])
    >>> print(p)
       2
    1 x + 2 x + 3
    >>> p(2)
    np.int64(11)
    >>> p * p
    poly1d([ 1,  4, 10, 12,  9])
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, c_or_r: Any, r: bool = False, variable: str | None = None) -> None:
        if isinstance(c_or_r, poly1d):
            self._coeffs: Any = c_or_r._coeffs
            self._variable: str = variable or c_or_r._variable
            return
        c = atleast_1d(poly(c_or_r) if r else c_or_r)
        if c.ndim > 1:
            raise ValueError("Polynomial must be 1d only.")
        self._coeffs, self._variable = _trimmed(c, "poly1d"), variable or "x"

    @property
    def coeffs(self) -> "ndarray":
        """Coefficients, the highest power first."""
        return self._coeffs

    @coeffs.setter
    def coeffs(self, value: Any) -> None:
        if value is not self._coeffs:
            raise AttributeError("Cannot set attribute")

    c = coef = coefficients = coeffs

    @property
    def variable(self) -> str:
        """Name of the variable."""
        return self._variable

    @property
    def order(self) -> int:
        """Degree of the polynomial."""
        return len(self._coeffs) - 1

    o = order

    @property
    def roots(self) -> "ndarray":
        """Roots of the polynomial."""
        return roots(self._coeffs)

    r = roots

    def __array__(self, t: Any = None, copy: bool | None = None) -> onp.ndarray[Any, Any]:
        found: onp.ndarray[Any, Any] = self._coeffs.__array__(t, copy)
        return found

    def __repr__(self) -> str:
        return f"poly1d({repr(self._coeffs)[6:-1]})"

    def __str__(self) -> str:
        return str(onp.poly1d(handles.to_host(self._coeffs), variable=self._variable))

    def __len__(self) -> int:
        return self.order

    def __iter__(self) -> Iterator[Any]:
        return iter(self._coeffs)

    def __getitem__(self, val: int) -> "ndarray":
        inside = 0 <= val <= self.order
        return self._coeffs[self.order - val] if inside else zeros(1, self._coeffs.dtype)[0]

    def __setitem__(self, key: int, val: Any) -> None:
        if key < 0:
            raise ValueError("Does not support negative powers.")
        if key > self.order:
            self._coeffs = concatenate([zeros(key - self.order, self._coeffs.dtype), self._coeffs])
        self._coeffs[self.order - key] = val

    def __call__(self, val: Any) -> Any:
        return polyval(self._coeffs, val)

    def __neg__(self) -> "poly1d":
        return poly1d(-self._coeffs)

    def __pos__(self) -> "poly1d":
        return self

    def __add__(self, other: Any) -> "poly1d":
        return poly1d(polyadd(self._coeffs, poly1d(other)._coeffs))

    __radd__ = __add__

    def __sub__(self, other: Any) -> "poly1d":
        return poly1d(polysub(self._coeffs, poly1d(other)._coeffs))

    def __rsub__(self, other: Any) -> "poly1d":
        return poly1d(polysub(poly1d(other)._coeffs, self._coeffs))

    def __mul__(self, other: Any) -> "poly1d":
        return poly1d(
            self._coeffs * other
            if _is_number(other)
            else polymul(self._coeffs, poly1d(other)._coeffs)
        )

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return poly1d(self._coeffs / other) if _is_number(other) else polydiv(self, poly1d(other))

    def __rtruediv__(self, other: Any) -> Any:
        return poly1d(other / self._coeffs) if _is_number(other) else polydiv(poly1d(other), self)

    def __pow__(self, val: Any) -> "poly1d":
        if not _is_number(val) or int(val) != val or val < 0:
            raise ValueError("Power to non-negative integers only.")
        product: Any = [1]
        for _ in range(int(val)):
            product = polymul(self._coeffs, product)
        return poly1d(product)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, poly1d):
            return NotImplemented
        return self._coeffs.shape == other._coeffs.shape and bool(
            (self._coeffs == other._coeffs).all()
        )

    def __ne__(self, other: object) -> bool:
        if not isinstance(other, poly1d):
            return NotImplemented
        return not self == other

    def integ(self, m: int = 1, k: Any = 0) -> "poly1d":
        """Compute the `m`-th integral; see `polyint`."""
        return poly1d(polyint(self._coeffs, m, k))

    def deriv(self, m: int = 1) -> "poly1d":
        """Compute the `m`-th derivative; see `polyder`."""
        return poly1d(polyder(self._coeffs, m))


def _is_number(x: Any) -> bool:
    return isscalar(x) or (isinstance(x, Handle) and x.ndim == 0)  # type: ignore[attr-defined]


__all__ = [
    "poly",
    "poly1d",
    "polyadd",
    "polyder",
    "polydiv",
    "polyint",
    "polymul",
    "polysub",
    "polyval",
    "roots",
]
