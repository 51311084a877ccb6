"""Engine over an array-API namespace: what the standard has is called, and the rest made of it.

Functions that the standard lacks, and nothing in it makes, are NumPy's on copies of their operands;
`from_numpy` counts them by primitive. An engine that has such a function itself overrides the method.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as onp

from npcompat._internal.backend.equations.program import (
    VOCABULARY,
    Equation,
    Function,
    Program,
    Type,
    UnsupportedError,
)
from npcompat._internal.backend.kit import control, elementwise, linear_algebra, structure
from npcompat._internal.backend.kit.build import Rule, build
from npcompat._internal.backend.kit.devices import EngineDevice
from npcompat._internal.backend.kit.host_functions import HOST_FUNCTIONS, scattered, solved

_STANDARD = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32",
    "float64", "complex64", "complex128",
)  # fmt: skip
_bool, _int8, _int64 = onp.dtype(bool), onp.dtype("int8"), onp.dtype("int64")


class ArrayAPIEngine:
    """Engine over a namespace of the array-API standard.

    Parameters
    ----------
    namespace : module
        Functions by the names of the standard, such as `array_api_compat.cupy`.
    name : str
        Name of the backend.
    kind : {"cpu", "gpu"}
        Kind of its device.
    missing : {"numpy", "error"}
        What becomes of functions that the standard lacks: NumPy's are called on copies on the host,
        or programs that need them are refused.

    Examples
    --------
    >>> import array_api_compat.numpy
    >>> from npcompat import backends
    >>> engine = backends.ArrayAPIEngine(array_api_compat.numpy, "by_numpy")
    >>> backends.register("by_numpy", lambda: engine)
    >>> with npx.backend("by_numpy"):
    ...     x = np.array([1.0, 2.0])
    >>> np.exp(x).sum()
    np.float32(10.107338)
    """

    vocabulary = VOCABULARY
    composites: frozenset[str] = frozenset(("top_k",))
    broadcasts = True
    rules: Mapping[str, Rule] = {
        **elementwise.RULES,
        **structure.RULES,
        **control.RULES,
        **linear_algebra.RULES,
    }

    def __init__(
        self, namespace: Any, name: str, kind: str = "cpu", missing: str = "numpy"
    ) -> None:
        if missing not in ("numpy", "error"):
            raise ValueError(f"missing: expected 'numpy' or 'error', got {missing!r}")
        self.xp, self.name, self._kind, self._missing = namespace, name, kind, missing
        self.from_numpy: Counter[str] = Counter()

    # --- arrays

    def devices(self) -> Sequence[EngineDevice]:
        """Return the devices; the first is the default."""
        return (EngineDevice(self._kind, 0, None),)

    def dtypes(self, device: EngineDevice) -> Collection[onp.dtype[Any]]:
        """Return the dtypes that are held exactly."""
        return frozenset([onp.dtype(n) for n in _STANDARD if hasattr(self.xp, n)])

    def from_host(self, array: onp.ndarray[Any, Any], device: EngineDevice | None) -> Any:
        """Copy a NumPy array, of any strides."""
        return self.xp.asarray(onp.array(array, order="C"), dtype=self.native(array.dtype))

    def to_host(self, data: Any, dtype: onp.dtype[Any] | None) -> onp.ndarray[Any, Any]:
        """Copy to the host; waits for the computation."""
        return onp.array(data)

    def fresh(self, data: Any) -> Any:
        """Copy to a buffer of its own."""
        return self.xp.asarray(data, copy=True)

    def device_of(self, data: Any) -> EngineDevice:
        """Return the device of an array."""
        return self.devices()[0]

    def move(self, data: Any, device: EngineDevice) -> Any:
        """Copy to a device."""
        return self.fresh(data)

    def program(self, program: Program, donate: Collection[int], device: EngineDevice) -> Function:
        """Build a program by the rules; where NumPy computes, it does not warn, as XLA does not."""
        silent = onp.errstate(all="ignore")
        with silent:  # what is known beforehand is computed while the program is built
            function = build(self, program, donate)
        made: Function = silent(function)
        return made

    # --- what rules ask for

    def native(self, dtype: Any) -> Any:
        """Return the namespace's word for a dtype."""
        return getattr(self.xp, "bool" if dtype == onp.bool_ else onp.dtype(dtype).name)

    def constant(self, value: Any) -> Any:
        """Return an array of a value, which is not written."""
        return self.from_host(onp.asarray(value), None)

    def number(self, value: Any, dtype: Any) -> Any:
        """Return an array without axes."""
        return self.constant(onp.asarray(value).astype(dtype))

    def integer(self, data: Any) -> int:
        """Read an integer or a truth value; waits for it."""
        return int(data)

    def finished(self, equation: Equation, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with what each result of its primitive needs: nothing here."""
        return function

    def by_numpy(self, primitive: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return NumPy's function as one of this engine's arrays; refused where that is asked."""
        if self._missing == "error":
            raise UnsupportedError(primitive)

        def compute(*arrays: Any) -> Any:
            self.from_numpy[primitive] += 1
            found = function(*[self.to_host(a, None) for a in arrays])
            if isinstance(found, tuple | list):
                return [self.constant(f) for f in found]
            return self.constant(found)

        return compute

    def caster(self, dtype: Any) -> Callable[[Any], Any]:
        """Return the function that casts to a dtype that holds the values."""
        wanted, astype = self.native(dtype), self.xp.astype
        return lambda x: astype(x, wanted)

    # --- elementwise

    def _own_or_numpys(self, name: str) -> Callable[..., Any]:
        own: Callable[..., Any] | None = getattr(self.xp, name, None)
        return own or self.by_numpy(name, HOST_FUNCTIONS[name])

    def function_erf(self, dtype: Any) -> Callable[..., Any]:
        """Return the error function."""
        return self._own_or_numpys("erf")

    def function_erfinv(self, dtype: Any) -> Callable[..., Any]:
        """Return the inverse of the error function."""
        return self._own_or_numpys("erfinv")

    def function_lgamma(self, dtype: Any) -> Callable[..., Any]:
        """Return the logarithm of the gamma function."""
        return self._own_or_numpys("lgamma")

    def function_digamma(self, dtype: Any) -> Callable[..., Any]:
        """Return the derivative of `lgamma`."""
        return self._own_or_numpys("digamma")

    def function_zeta(self, dtype: Any) -> Callable[..., Any]:
        """Return Hurwitz's zeta function."""
        return self._own_or_numpys("zeta")

    def function_i1e(self, dtype: Any) -> Callable[..., Any]:
        """Return the modified Bessel function of order one over exp(|x|)."""
        return self._own_or_numpys("i1e")

    def function_complex(self, dtype: Any) -> Callable[..., Any]:
        """Return the function that puts real and imaginary parts together."""
        return self._own_or_numpys("complex")

    def function_nextafter(self, dtype: Any) -> Callable[..., Any]:
        """Return the next float towards another."""
        return self._own_or_numpys("nextafter")

    def function_sign(self, dtype: Any) -> Callable[..., Any] | None:
        """Return the sign, with zeros of their own sign and nan kept."""
        if dtype.kind != "f":
            return None
        xp, zero = self.xp, self.number(0, dtype)
        return lambda x: xp.where(xp.isnan(x) | (x == zero), x, xp.sign(x))

    def function_abs(self, dtype: Any) -> Callable[..., Any] | None:
        """Return the absolute value; unsigned integers stay."""
        return (lambda x: x) if dtype.kind in "ub" else None

    def function_maximum(self, dtype: Any) -> Callable[..., Any] | None:
        """Return the larger of two; nan if one is."""
        return self._extreme("maximum", dtype)

    def function_minimum(self, dtype: Any) -> Callable[..., Any] | None:
        """Return the smaller of two; nan if one is."""
        return self._extreme("minimum", dtype)

    def _extreme(self, name: str, dtype: Any) -> Callable[..., Any] | None:
        xp: Any = self.xp
        if dtype == onp.bool_:
            return xp.logical_or if name == "maximum" else xp.logical_and  # type: ignore[no-any-return]
        if dtype.kind != "c":
            return None
        before = self.comparison("less" if name == "minimum" else "greater", dtype)

        def nan(x: Any) -> Any:
            return xp.isnan(xp.real(x)) | xp.isnan(xp.imag(x))

        return lambda a, b: xp.where(nan(a) | (before(a, b) & ~nan(b)), a, b)

    def comparison(self, name: str, dtype: Any) -> Callable[..., Any]:
        """Return a comparison by its name in the standard; complex numbers by their parts in turn."""
        xp: Any = self.xp
        compare: Callable[..., Any] = getattr(xp, name)
        if name in ("equal", "not_equal"):
            return compare
        if dtype == onp.bool_:
            cast = self.caster(_int8)
            return lambda a, b: compare(cast(a), cast(b))
        if dtype.kind == "c":
            strictly = getattr(xp, name.split("_")[0])
            return lambda a, b: (
                strictly(xp.real(a), xp.real(b))
                | ((xp.real(a) == xp.real(b)) & compare(xp.imag(a), xp.imag(b)))
            )
        return compare

    def integer_quotient(self, dtype: Any) -> Callable[..., Any]:
        """Return the quotient rounded towards zero; all bits set, if the divisor is zero."""
        xp, zero, one = self.xp, self.number(0, dtype), self.number(1, dtype)
        full = self.number(-1 if dtype.kind == "i" else onp.iinfo(dtype).max, dtype)

        def compute(a: Any, b: Any) -> Any:
            safe = xp.where(b == zero, one, b)
            quotient = xp.floor_divide(a, safe)
            if dtype.kind == "i":
                inexact = a - quotient * safe != zero
                quotient = xp.where(
                    inexact & ((a < zero) != (safe < zero)), quotient + one, quotient
                )
            return xp.where(b == zero, full, quotient)

        return compute

    def remainder(self, dtype: Any) -> Callable[..., Any]:
        """Return the remainder with the sign of the dividend; integers by zero are themselves."""
        xp, zero = self.xp, self.number(0, dtype)
        if dtype.kind in "iu":
            one, quotient = self.number(1, dtype), self.integer_quotient(dtype)

            def of_integers(a: Any, b: Any) -> Any:
                safe = xp.where(b == zero, one, b)
                return xp.where(b == zero, a, a - quotient(a, safe) * safe)

            return of_integers

        return self._own_or_numpys("fmod")

    def shift(self, name: str, dtype: Any) -> Callable[..., Any]:
        """Return a shift of bits; by more than there are, none are left, or copies of the sign."""
        xp: Any = self.xp
        width, zero = dtype.itemsize * 8, self.number(0, dtype)
        most, last = (
            self.number(min(width, onp.iinfo(dtype).max), dtype),
            self.number(width - 1, dtype),
        )
        keeps_sign = name == "shift_right_arithmetic" and dtype.kind == "i"
        move: Callable[..., Any]
        if name == "shift_left":
            move = xp.bitwise_left_shift
        elif keeps_sign or dtype.kind == "u":
            move = xp.bitwise_right_shift
        else:
            unsigned, back = self.caster(onp.dtype(f"u{dtype.name}")), self.caster(dtype)

            def move(a: Any, b: Any) -> Any:
                return back(xp.bitwise_right_shift(unsigned(a), unsigned(b)))

        def compute(a: Any, b: Any) -> Any:
            within = (b >= zero) & (b < most)
            moved = move(a, xp.where(within, b, zero))
            return xp.where(within, moved, move(a, last) if keeps_sign else zero)

        return compute

    def conversion(self, given: Any, wanted: Any) -> Callable[..., Any]:
        """Return the cast between dtypes; floats beyond the integers become the nearest of these."""
        xp, cast = self.xp, self.caster(wanted)
        if wanted == onp.bool_:
            zero = self.number(0, given)
            return lambda x: x != zero
        if given.kind == "c" and wanted.kind != "c":
            part = onp.dtype("float32" if given.itemsize == 8 else "float64")
            if part == wanted:
                return lambda x: xp.real(x)
            real = self.conversion(part, wanted)
            return lambda x: real(xp.real(x))
        if given.kind not in "biu" and wanted.kind in "iu":
            return self._saturating(given, wanted)
        return cast

    def _saturating(self, given: Any, wanted: Any) -> Callable[..., Any]:
        xp, cast, info = self.xp, self.caster(wanted), onp.iinfo(wanted)
        top, bottom = self.number(info.max, wanted), self.number(info.min, wanted)
        high, low = self.number(float(info.max), given), self.number(float(info.min), given)
        zero = self.number(0, given)

        def compute(x: Any) -> Any:
            over, under = x >= high, x <= low
            inside = xp.where(over | under | xp.isnan(x), zero, x)
            return xp.where(over, top, xp.where(under, bottom, cast(inside)))

        return compute

    def bitcast(self, given: Type, wanted: Type) -> Callable[..., Any]:
        """Return the function that reads the bits as another dtype; a new last axis, if narrower."""

        def compute(x: Any) -> Any:
            flat = onp.ascontiguousarray(x).astype(given.dtype, copy=False).reshape(-1)
            return flat.view(wanted.dtype).reshape(wanted.shape)

        return self.by_numpy("bitcast", compute)

    # --- positions

    def put_part(self, x: Any, key: tuple[Any, ...], new: Any) -> Any:
        """Write into a part of an array that nothing else looks into; returns the array."""
        x[key] = new
        return x

    def placement(self, kind: str, whole: Type, axis: int) -> Callable[..., Any]:
        """Return the function that puts parts along an axis at positions."""
        return self.by_numpy("put", lambda x, at, new: scattered(x, at, new, kind, axis))

    # --- reductions

    def reduction(self, name: str, kind: Type, axes: Sequence[int]) -> Callable[..., Any]:
        """Return `sum`, `prod`, `max`, `min`, `all` or `any` over axes."""
        dtype, axes = kind.dtype, tuple(axes)
        if dtype == onp.bool_:
            name = {"max": "any", "min": "all", "sum": "any", "prod": "all"}.get(name, name)
        function = getattr(self.xp, name)
        if name in ("sum", "prod"):
            native = self.native(dtype)
            return lambda x: function(x, axis=axes, dtype=native)
        if name in ("all", "any"):
            return lambda x: function(x, axis=axes)
        if 0 in [kind.shape[a] for a in axes]:
            limit = structure_limit(dtype, name == "max")
            shape = [n for i, n in enumerate(kind.shape) if i not in axes]
            empty = self.constant(onp.full(shape, limit, dtype))
            return lambda x: self.fresh(empty)
        if dtype.kind == "c":
            return self._complex_extreme(name, kind, axes)
        return lambda x: function(x, axis=axes)

    def _complex_extreme(self, name: str, kind: Type, axes: Sequence[int]) -> Callable[..., Any]:
        """The extreme of complex numbers, by halving the axes."""
        rest = [i for i in range(kind.ndim) if i not in axes]
        shape = [kind.shape[i] for i in rest]
        combine, xp = self._extreme(f"{name}imum", kind.dtype), self.xp
        assert combine is not None

        def compute(x: Any) -> Any:
            x = xp.reshape(xp.permute_dims(x, (*rest, *axes)), (*shape, -1))
            while (length := x.shape[-1]) > 1:
                half = length // 2
                made = combine(x[..., :half], x[..., half : 2 * half])
                x = made if length % 2 == 0 else xp.concat([made, x[..., -1:]], axis=-1)
            return xp.reshape(x, tuple(shape))

        return compute

    def first_position(self, name: str, dtype: Any, axis: int) -> Callable[..., Any]:
        """Return `argmax` or `argmin` along an axis: the first of equal elements."""
        function, cast = getattr(self.xp, name), self.caster(_int64)
        if dtype == onp.bool_:
            number = self.caster(_int8)
            return lambda x: cast(function(number(x), axis=axis))
        return lambda x: cast(function(x, axis=axis))

    def cumulative(self, name: str, dtype: Any, axis: int) -> Callable[..., Any]:
        """Return a running reduction along an axis; engines that name none but `cumsum` among their
        composites are asked for that one.
        """
        if name != "cumsum":
            raise UnsupportedError(name)
        native, function = self.native(dtype), self.xp.cumulative_sum
        return lambda x: function(x, axis=axis, dtype=native)

    # --- products

    def matmul(self, dtype: Any) -> Callable[..., Any]:
        """Return the product of stacked matrices."""
        return self.xp.matmul  # type: ignore[no-any-return]

    def convolution(self, equation: Equation) -> Callable[..., Any]:
        """Return the correlation of images with kernels, as a product with their windows."""
        xp, product = self.xp, self.matmul(equation.inputs[0].type.dtype)
        attrs, out = equation.attrs, equation.outputs[0].type.shape
        groups, sizes = attrs["groups"], equation.inputs[1].type.shape[2:]
        around, zero = attrs["padding"], self.number(0, equation.inputs[0].type.dtype)
        keys = [
            (
                ...,
                *[
                    slice(p * d, p * d + (n - 1) * s + 1, s)
                    for p, d, n, s in zip(
                        place, attrs["dilation"], out[2:], attrs["strides"], strict=True
                    )
                ],
            )
            for place in itertools.product(*map(range, sizes))
        ]
        inside = (
            ...,
            *[slice(p, n + p) for p, n in zip(around, equation.inputs[0].type.shape[2:])],
        )

        def padded(x: Any) -> Any:
            shape = [n + 2 * p for n, p in zip(x.shape[2:], around, strict=True)]
            whole = self.fresh(xp.broadcast_to(zero, (*x.shape[:2], *shape)))
            return self.put_part(whole, inside, x)

        def compute(x: Any, w: Any) -> Any:
            x = padded(x) if any(around) else x
            windows = xp.stack([x[key] for key in keys], axis=2)
            n, c, k = windows.shape[:3]
            windows = xp.reshape(windows, (n, groups, c // groups * k, math.prod(out[2:])))
            kernels = xp.reshape(w, (1, groups, w.shape[0] // groups, w.shape[1] * k))
            return xp.reshape(product(kernels, windows), out)

        return compute

    # --- order

    def sorted(self, dtype: Any, axis: int) -> Callable[..., Any]:
        """Return the sort of one array, nan last."""
        sort = self.xp.sort
        if dtype == onp.bool_:
            number, back = self.caster(_int8), self.caster(_bool)
            return lambda x: back(sort(number(x), axis=axis, stable=True))
        return lambda x: sort(x, axis=axis, stable=True)

    def sort_keys(self, dtype: Any) -> Callable[[Any], Sequence[Any]]:
        """Return the function to arrays by which elements of a dtype are sorted, first ones first."""
        xp = self.xp
        if dtype.kind == "c":
            return lambda x: (xp.real(x), xp.imag(x))
        if dtype == onp.bool_:
            number = self.caster(_int8)
            return lambda x: (number(x),)
        return lambda x: (x,)

    def argsort(self, axis: int, descending: bool = False) -> Callable[[Any], Any]:
        """Return the stable sort by which elements are placed."""
        function = self.xp.argsort
        return lambda x: function(x, axis=axis, descending=descending, stable=True)

    # --- matrices

    def matrix_cholesky(self, equation: Equation) -> Callable[..., Any]:
        """Return the lower factor; nan where a matrix is not positive definite."""
        return self.by_numpy("cholesky", HOST_FUNCTIONS["cholesky"])

    def matrix_eigh(self, equation: Equation) -> Callable[..., Any]:
        """Return eigenvectors and eigenvalues of Hermitian matrices."""
        eigh = self.xp.linalg.eigh
        return lambda a: list(reversed(eigh(a)))

    def matrix_eig(self, equation: Equation) -> Callable[..., Any]:
        """Return eigenvalues, and right eigenvectors if asked."""
        if equation.attrs["compute_left_eigenvectors"]:
            raise UnsupportedError("eig", "left eigenvectors")
        count, dtype = len(equation.outputs), equation.outputs[0].type.dtype

        def compute(a: Any) -> Any:
            found = [f.astype(dtype) for f in onp.linalg.eig(a)][:count]
            return found if count > 1 else found[0]

        return self.by_numpy("eig", compute)

    def matrix_svd(self, equation: Equation) -> Callable[..., Any]:
        """Return singular values, and vectors if asked."""
        linalg, full = self.xp.linalg, equation.attrs["full_matrices"]
        if not equation.attrs["compute_uv"]:
            return linalg.svdvals  # type: ignore[no-any-return]

        def compute(a: Any) -> Any:
            u, s, v = linalg.svd(a, full_matrices=full)
            return [s, u, v]

        return compute

    def matrix_qr(self, equation: Equation) -> Callable[..., Any]:
        """Return orthogonal and upper triangular factors."""
        if equation.attrs.get("pivoting"):
            raise UnsupportedError("qr", "with pivoting")
        mode, qr = "complete" if equation.attrs["full_matrices"] else "reduced", self.xp.linalg.qr
        return lambda a: list(qr(a, mode=mode))

    def matrix_triangular_solve(self, equation: Equation) -> Callable[..., Any]:
        """Return the solution with a triangular matrix."""
        attrs = equation.attrs
        return self.by_numpy("triangular_solve", lambda a, b: solved(a, b, attrs))

    def matrix_lu(self, equation: Equation) -> Callable[..., Any]:
        """Return both factors in one matrix, pivots, and the permutation."""
        return self.by_numpy("lu", HOST_FUNCTIONS["lu"])

    def matrix_fft(self, equation: Equation) -> Callable[..., Any]:
        """Return a Fourier transform over the last axes."""
        name, lengths = linear_algebra.transform(equation)
        function, cast = getattr(self.xp.fft, name), self.caster(equation.outputs[0].type.dtype)
        axes = tuple(range(-len(lengths), 0))
        if 0 in equation.inputs[0].type.shape:
            out = equation.outputs[0].type
            empty = self.constant(onp.zeros(out.shape, out.dtype))
            return lambda x: self.fresh(empty)
        return lambda x: cast(function(x, s=lengths, axes=axes))


def structure_limit(dtype: onp.dtype[Any], lowest: bool) -> Any:
    """The least or greatest value of a dtype: the maximum or minimum of no elements."""
    if dtype.kind in "iu":
        info = onp.iinfo(dtype)
        return info.min if lowest else info.max
    return -onp.inf if lowest else onp.inf


__all__ = ["ArrayAPIEngine", "structure_limit"]
