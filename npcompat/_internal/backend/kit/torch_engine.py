"""Engine over PyTorch: the rules of the kit, and torch's own functions where these are better.

torch computes little with unsigned integers of more than 8 bits. They are carried in `int64`, those
of 64 bits by their bits; results are cut to their width (`TorchEngine.finished`).
"""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as onp

from npcompat._internal.backend.equations.program import (
    Equation,
    Function,
    Program,
    Type,
    UnsupportedError,
)
from npcompat._internal.backend.kit.array_api import ArrayAPIEngine, structure_limit
from npcompat._internal.backend.kit.build import build
from npcompat._internal.backend.kit.devices import EngineDevice
from npcompat._internal.backend.kit.linear_algebra import transform
from npcompat._internal.backend.kit.torch_indexing import VIEWS, WRITES, permutation, placed
from npcompat._internal.backend.kit.torch_namespace import Namespace, torch
from npcompat._internal.backend.kit.torch_rules import COMPOSITES, FUSIONS, IN_PLACE, RULES
from npcompat._internal.backend.kit.torch_unsigned import SIGN, float_of_unsigned, unsigned_division

_NAMES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "float16", "bfloat16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip
_WIDE = ("uint16", "uint32", "uint64")
_MASK = {"uint16": 0xFFFF, "uint32": 0xFFFFFFFF}
_OVERFLOWING = frozenset((
    "add", "sub", "mul", "neg", "not", "pow", "reduce_sum", "reduce_prod", "cumsum", "cumprod",
    "matmul", "convolution", "shift_left", "put",
))  # fmt: skip
"""Primitives whose results may leave the width of their dtype."""


class TorchEngine(ArrayAPIEngine):
    """Engine that executes programs by PyTorch, on the CPU or what torch knows beside.

    Parameters
    ----------
    compiled : bool, optional
        Whether programs of `npx.jit` go to `torch.compile`; by default, the environment variable
        `NPCOMPAT_TORCH_COMPILE` says it. The first call takes seconds, later ones are fused.
    fuses : bool, optional
        Whether one function of torch's may compute several equations, and write into the buffer of
        an operand that nothing reads afterwards. `False` executes them one by one, for comparison.
    """

    composites = COMPOSITES

    def __init__(self, compiled: bool | None = None, fuses: bool = True) -> None:
        super().__init__(Namespace(), "torch", missing="error")
        self.compiles = _compile_wanted() if compiled is None else compiled
        self.rules = {**RULES, **IN_PLACE} if fuses else RULES
        self.fusions = FUSIONS if fuses else {}
        self._numbers: dict[Any, Any] = {}
        self._here: EngineDevice | None = None

    # --- arrays

    def devices(self) -> Sequence[EngineDevice]:
        """Return the CPU, then what else torch finds."""
        found = [EngineDevice("cpu", 0, torch.device("cpu"))]
        found += [
            EngineDevice("gpu", i, torch.device("cuda", i))
            for i in range(torch.cuda.device_count())
        ]
        if torch.backends.mps.is_available():
            found.append(EngineDevice("gpu", 0, torch.device("mps")))
        return tuple(found)

    def dtypes(self, device: EngineDevice) -> Collection[onp.dtype[Any]]:
        """Return the dtypes that are held exactly; Apple's GPUs have no 64-bit floats."""
        names = [*_NAMES, *_WIDE]
        if device.native.type == "mps":
            names = [n for n in names if n not in ("float64", "complex128", "complex64")]
        return frozenset([_dtype(n) for n in names])

    def from_host(self, array: onp.ndarray[Any, Any], device: EngineDevice | None) -> Any:
        """Copy a NumPy array, of any strides.

        No tensor requires a gradient, so that torch records nothing.
        """
        array = onp.array(array, order="C")
        name = array.dtype.name
        if name == "bfloat16":
            made = torch.from_numpy(array.view(onp.int16)).view(torch.bfloat16)
        elif name in _WIDE:
            made = torch.from_numpy(
                array.view(onp.int64) if name == "uint64" else array.astype(onp.int64)
            )
        elif name in _NAMES:
            made = torch.from_numpy(array)
        else:
            raise TypeError(f"torch has no dtype {array.dtype}")
        where = device or self._here
        return made if where is None or where.kind == "cpu" else made.to(where.native)

    def to_host(self, data: Any, dtype: onp.dtype[Any] | None) -> onp.ndarray[Any, Any]:
        """Copy to the host, in the dtype that the array stands for."""
        data = data.detach().cpu().resolve_conj().resolve_neg()
        if data.dtype == torch.bfloat16:
            bits: onp.ndarray[Any, Any] = data.contiguous().view(torch.int16).numpy()
            return onp.array(bits.view(ml_dtypes.bfloat16))
        found: onp.ndarray[Any, Any] = data.numpy()
        if dtype is None or found.dtype == dtype:
            return onp.array(found)
        return found.copy().view(dtype) if dtype.name == "uint64" else found.astype(dtype)

    def fresh(self, data: Any) -> Any:
        """Copy to a contiguous buffer of its own."""
        return data.clone(memory_format=torch.contiguous_format)

    def device_of(self, data: Any) -> EngineDevice:
        """Return the device of a tensor."""
        index = data.device.index or 0
        return EngineDevice("cpu" if data.device.type == "cpu" else "gpu", index, data.device)

    def move(self, data: Any, device: EngineDevice) -> Any:
        """Copy to a device."""
        return data.to(device.native, copy=True)

    def program(self, program: Program, donate: Collection[int], device: EngineDevice) -> Function:
        """Build a program by the rules; constants are put on the device."""
        self._here = device
        try:
            return build(self, program, donate)
        finally:
            self._here = None

    def compile(self, function: Function, program: Program) -> Function:
        """Return a program of `npx.jit` compiled by `torch.compile`, where that is asked for."""
        if not self.compiles:
            return function
        fast = torch.compile(function, dynamic=False)

        def call(*arrays: Any) -> Any:
            with torch.no_grad():
                return fast(*arrays)

        return call

    def wait_all(self) -> None:
        """Wait for what runs on GPUs."""
        if torch.cuda.is_available():
            torch.cuda.synchronize()

    def memory(self, device: EngineDevice) -> tuple[int, int]:
        """Return free and total bytes of a GPU."""
        if device.native.type != "cuda":
            raise NotImplementedError(f"memory: torch does not tell that of {device.native}")
        free, total = torch.cuda.mem_get_info(device.native)
        return int(free), int(total)

    def to_dlpack(self, data: Any, dtype: onp.dtype[Any]) -> Any:
        """Return what speaks DLPack over the same memory; refused for what is carried in int64."""
        if dtype.name in _WIDE:
            raise BufferError(f"torch holds {dtype} in int64: copy it to the host instead")
        return data

    # --- what rules ask for

    def native(self, dtype: Any) -> Any:
        """Return torch's dtype."""
        name = onp.dtype(dtype).name
        return torch.int64 if name in _WIDE else getattr(torch, name)

    def finished(self, equation: Equation, function: Callable[..., Any]) -> Callable[..., Any]:
        """Cut results of unsigned integers to their width."""
        if equation.name not in _OVERFLOWING:
            return function
        mask = _MASK.get(equation.outputs[0].type.dtype.name)
        if mask is None:
            return function
        return lambda *x: torch.bitwise_and(function(*x), mask)

    def caster(self, dtype: Any) -> Callable[[Any], Any]:
        """Return the cast to a dtype that holds the values."""
        wanted = self.native(dtype)
        return lambda x: x.to(wanted)

    def by_numpy(self, primitive: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Refuse what torch has not."""
        raise UnsupportedError(primitive)

    # --- elementwise

    def function_sign(self, dtype: Any) -> Callable[..., Any] | None:
        """Return the sign; that of complex numbers has their direction."""
        if dtype.kind == "c":
            return torch.sgn  # type: ignore[no-any-return]
        if dtype.kind == "u" or dtype == onp.bool_:
            cast = self.caster(dtype)
            return lambda x: cast(x != 0)
        if dtype.kind == "i":
            return torch.sign  # type: ignore[no-any-return]
        return lambda x: torch.where(torch.isnan(x) | (x == 0), x, torch.sign(x))

    def function_abs(self, dtype: Any) -> Callable[..., Any] | None:
        """Return the absolute value."""
        return (lambda x: x) if dtype.kind in "ub" else torch.abs

    def function_add(self, dtype: Any) -> Callable[..., Any] | None:
        """Return the sum; of truth values, whether one is true."""
        found: Callable[..., Any] = torch.logical_or if dtype == onp.bool_ else torch.add
        return found

    def function_multiply(self, dtype: Any) -> Callable[..., Any] | None:
        """Return the product; of truth values, whether both are true."""
        found: Callable[..., Any] = torch.logical_and if dtype == onp.bool_ else torch.mul
        return found

    def function_complex(self, dtype: Any) -> Callable[..., Any]:
        """Return the function that puts real and imaginary parts together."""
        return lambda a, b: torch.complex(*torch.broadcast_tensors(a, b))

    def function_zeta(self, dtype: Any) -> Callable[..., Any]:
        """Return Hurwitz's zeta function."""
        return torch.special.zeta  # type: ignore[no-any-return]

    def _extreme(self, name: str, dtype: Any) -> Callable[..., Any] | None:
        if dtype.name == "uint64":
            before = self.comparison("less" if name == "minimum" else "greater", dtype)
            return lambda a, b: torch.where(before(a, b), a, b)
        if dtype.kind == "c":
            return super()._extreme(name, dtype)
        return getattr(torch, name)  # type: ignore[no-any-return]

    def comparison(self, name: str, dtype: Any) -> Callable[..., Any]:
        """Return a comparison; of 64 unsigned bits, with the first one turned."""
        compare: Callable[..., Any] = getattr(self.xp, name)
        if dtype.name == "uint64" and name not in ("equal", "not_equal"):
            return lambda a, b: compare(a ^ SIGN, b ^ SIGN)
        return super().comparison(name, dtype) if dtype.kind == "c" else compare

    def integer_quotient(self, dtype: Any) -> Callable[..., Any]:
        """Return the quotient rounded towards zero; all bits set, if the divisor is zero."""
        if dtype.name == "uint64":
            return lambda a, b: unsigned_division(a, b)[0]
        full = onp.iinfo(dtype).max if dtype.kind == "u" else -1

        def compute(a: Any, b: Any) -> Any:
            zero = b == 0
            quotient = torch.div(a, torch.where(zero, 1, b), rounding_mode="trunc")
            return torch.where(zero, full, quotient)

        return compute

    def remainder(self, dtype: Any) -> Callable[..., Any]:
        """Return the remainder with the sign of the dividend; integers by zero are themselves."""
        if dtype.name == "uint64":
            return lambda a, b: unsigned_division(a, b)[1]
        if dtype.kind not in "iu":
            return torch.fmod  # type: ignore[no-any-return]

        def compute(a: Any, b: Any) -> Any:
            zero = b == 0
            return torch.where(zero, a, torch.fmod(a, torch.where(zero, 1, b)))

        return compute

    def shift(self, name: str, dtype: Any) -> Callable[..., Any]:
        """Return a shift of bits; by more than there are, none are left, or copies of the sign."""
        width = dtype.itemsize * 8
        within: Callable[[Any], Any] = lambda b: (b < width) & (b >= 0)  # noqa: E731
        if name == "shift_left":
            return lambda a, b: torch.where(
                within(b), torch.bitwise_left_shift(a, torch.where(within(b), b, 0)), 0
            )
        if name == "shift_right_arithmetic" and dtype.kind == "i":
            return lambda a, b: torch.bitwise_right_shift(a, torch.where(within(b), b, width - 1))
        if width == 64:

            def of_64_bits(a: Any, b: Any) -> Any:
                b_within = torch.where(within(b), b, 0)
                kept = torch.bitwise_right_shift(
                    torch.full_like(b_within, 2**63 - 1), torch.clamp(b_within - 1, min=0)
                )
                moved = torch.bitwise_right_shift(a, b_within) & kept
                return torch.where(within(b), torch.where(b_within == 0, a, moved), 0)

            return of_64_bits
        low = (1 << width) - 1

        def compute(a: Any, b: Any) -> Any:
            bits = a.to(torch.int64) & low
            moved = torch.bitwise_right_shift(bits, torch.where(within(b), b, 0).to(torch.int64))
            return torch.where(within(b), moved.to(a.dtype), 0)

        return compute

    def conversion(self, given: Any, wanted: Any) -> Callable[..., Any]:
        """Return the cast between dtypes; floats beyond the integers become the nearest of these."""
        cast = self.caster(wanted)
        if wanted == onp.bool_:
            return lambda x: x != 0
        if given.kind == "c" and wanted.kind != "c":
            return super().conversion(given, wanted)
        if given.kind in "iub" and wanted.kind in "iub":
            mask = _MASK.get(wanted.name)
            return cast if mask is None else lambda x: x.to(torch.int64) & mask
        if given.name == "uint64":
            return lambda x: cast(float_of_unsigned(x))
        if wanted.kind in "iu":
            return self._saturating(given, wanted)
        return cast

    def _saturating(self, given: Any, wanted: Any) -> Callable[..., Any]:
        native, info = self.native(wanted), onp.iinfo(wanted)
        high, low = float(info.max), float(info.min)
        if wanted.name == "uint64":

            def to_unsigned(x: Any) -> Any:
                x = x.to(torch.float64)
                below = torch.where((x >= 2.0**63) | torch.isnan(x) | (x <= 0), 0.0, x)
                above = torch.where((x >= 2.0**63) & (x < high), x - 2.0**63, 0.0)
                bits = torch.where(
                    x >= 2.0**63, above.to(torch.int64) ^ SIGN, below.to(torch.int64)
                )
                return torch.where(x >= high, -1, bits)

            return to_unsigned

        def compute(x: Any) -> Any:
            over, under = x >= high, x <= low
            inside = torch.where(over | under | torch.isnan(x), 0.0, x).to(native)
            return torch.where(over, info.max, torch.where(under, info.min, inside)).to(native)

        return compute

    def bitcast(self, given: Type, wanted: Type) -> Callable[..., Any]:
        """Return the function that reads the bits as another dtype; a new last axis, if narrower."""
        narrow = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
        source = narrow[given.dtype.itemsize] if given.dtype.name in _MASK else None
        mask = _MASK.get(wanted.dtype.name)
        target = self.native(wanted.dtype) if mask is None else narrow[wanted.dtype.itemsize]

        def compute(x: Any) -> Any:
            flat = (x if source is None else x.to(source)).contiguous().reshape(-1)
            found = flat.view(target).reshape(wanted.shape)
            return found if mask is None else found.to(torch.int64) & mask

        return compute

    # --- positions, reductions, order

    def placement(self, kind: str, whole: Type, axis: int) -> Callable[..., Any]:
        """Return the function that puts parts along an axis at positions."""
        if kind == "set":
            return lambda x, at, new: placed(x, axis, at, new)
        if kind == "add" and whole.dtype != onp.bool_:
            return lambda x, at, new: torch.index_add(x, axis, at, new)
        if whole.dtype == onp.bool_ or whole.dtype.kind == "c" or whole.dtype.name == "uint64":
            return self._one_by_one(kind, whole, axis)
        way = {"mul": "prod", "min": "amin", "max": "amax"}[kind]

        def compute(x: Any, at: Any, new: Any) -> Any:
            places = at.reshape([-1 if i == axis else 1 for i in range(x.ndim)]).expand(new.shape)
            return torch.scatter_reduce(x, axis, places, new, way)

        return compute

    def _one_by_one(self, kind: str, whole: Type, axis: int) -> Callable[..., Any]:
        """Combine parts in turn, where torch has no function for the dtype."""
        name = {"add": "add", "mul": "multiply", "min": "minimum", "max": "maximum"}[kind]
        combine = getattr(self, f"function_{name}")(whole.dtype) or getattr(torch, name)

        def compute(x: Any, at: Any, new: Any) -> Any:
            made = x.clone()
            for i, place in enumerate(at.tolist()):
                part = (*(slice(None),) * axis, place)
                made[part] = combine(made[part], new[(*(slice(None),) * axis, i)])
            return made

        return compute

    def reduction(self, name: str, kind: Type, axes: Sequence[int]) -> Callable[..., Any]:
        """Return `sum`, `prod`, `max`, `min`, `all` or `any` over axes."""
        dtype, axes = kind.dtype, tuple(axes)
        native = self.native(dtype)
        if name == "sum" and dtype != onp.bool_:
            return lambda x: torch.sum(x, dim=axes, dtype=native)
        if name == "prod" and dtype != onp.bool_:

            def product(x: Any) -> Any:
                for axis in sorted(axes, reverse=True):
                    x = torch.prod(x, dim=axis, dtype=native)
                return x

            return product
        if dtype == onp.bool_ or dtype.kind == "c" or 0 in [kind.shape[a] for a in axes]:
            if dtype.name == "uint64":
                shape = [n for i, n in enumerate(kind.shape) if i not in axes]
                limit = self.constant(onp.full(shape, structure_limit(dtype, name == "max"), dtype))
                return lambda x: self.fresh(limit)
            return super().reduction(name, kind, axes)
        extreme = torch.amax if name == "max" else torch.amin
        if dtype.name == "uint64":
            return lambda x: extreme(x ^ SIGN, dim=axes) ^ SIGN
        return lambda x: extreme(x, dim=axes)

    def first_position(self, name: str, dtype: Any, axis: int) -> Callable[..., Any]:
        """Return `argmax` or `argmin` along an axis: torch promises no order among equal ones."""
        extreme = torch.amax if name == "argmax" else torch.amin
        if dtype.kind == "c":
            raise UnsupportedError(name, "of complex numbers")

        def compute(x: Any) -> Any:
            x = x.to(torch.int8) if x.dtype == torch.bool else x
            x = x ^ SIGN if dtype.name == "uint64" else x
            best = x == extreme(x, dim=axis, keepdim=True)
            length = x.shape[axis]
            places = torch.arange(length, device=x.device)
            places = places.reshape([-1 if i == axis else 1 for i in range(x.ndim)])
            return torch.amin(torch.where(best, places, length - 1), dim=axis)

        return compute

    def cumulative(self, name: str, dtype: Any, axis: int) -> Callable[..., Any]:
        """Return a running reduction along an axis."""
        native = self.native(dtype)
        if name in ("cumsum", "cumprod"):
            function = getattr(torch, name)
            return lambda x: function(x, axis, dtype=native)
        if name == "cumlogsumexp":
            return lambda x: torch.logcumsumexp(x, axis)
        function = getattr(torch, name)
        if dtype.kind == "c":
            raise UnsupportedError(name, "of complex numbers")
        if dtype.name == "uint64":
            return lambda x: function(x ^ SIGN, axis)[0] ^ SIGN
        return lambda x: function(x, axis)[0]

    def matmul(self, dtype: Any) -> Callable[..., Any]:
        """Return the product of stacked matrices; CUDA has none of integers, whose products are
        added up there.
        """
        if dtype.kind not in "iub":
            return torch.matmul  # type: ignore[no-any-return]

        def compute(a: Any, b: Any) -> Any:
            if a.device.type == "cpu":
                return torch.matmul(a, b)
            return torch.sum(a[..., None] * b[..., None, :, :], dim=-2, dtype=a.dtype)

        return compute

    def convolution(self, equation: Equation) -> Callable[..., Any]:
        """Return torch's own of one to three axes, on floats."""
        attrs, kind = equation.attrs, equation.inputs[0].type
        space = kind.ndim - 2
        if space not in (1, 2, 3) or kind.dtype.kind in "iub":
            return super().convolution(equation)
        function = (torch.conv1d, torch.conv2d, torch.conv3d)[space - 1]
        strides, padding, dilation = attrs["strides"], attrs["padding"], attrs["dilation"]
        groups = attrs["groups"]
        return lambda x, w: function(x, w, None, strides, padding, dilation, groups)

    def sorted(self, dtype: Any, axis: int) -> Callable[..., Any]:
        """Return the sort of one array, nan last."""
        if dtype.name == "uint64":
            return lambda x: torch.sort(x ^ SIGN, dim=axis, stable=True)[0] ^ SIGN
        return lambda x: torch.sort(x, dim=axis, stable=True)[0]

    def sort_keys(self, dtype: Any) -> Callable[[Any], Sequence[Any]]:
        """Return the function to arrays by which elements of a dtype are sorted, first ones first."""
        if dtype.name == "uint64":
            return lambda x: (x ^ SIGN,)
        return super().sort_keys(dtype)

    def argsort(self, axis: int, descending: bool = False) -> Callable[[Any], Any]:
        """Return the stable sort by which elements are placed."""
        return lambda x: torch.sort(x, dim=axis, stable=True, descending=descending)[1]

    # --- matrices

    def matrix_cholesky(self, equation: Equation) -> Callable[..., Any]:
        """Return the lower factor; nan where a matrix is not positive definite."""

        def compute(a: Any) -> Any:
            factor, info = torch.linalg.cholesky_ex(a)
            return torch.where((info != 0)[..., None, None], float("nan"), factor)

        return compute

    def matrix_eigh(self, equation: Equation) -> Callable[..., Any]:
        """Return eigenvectors and eigenvalues of Hermitian matrices."""
        part = "L" if equation.attrs.get("lower", True) else "U"
        return lambda a: list(reversed(torch.linalg.eigh(a, UPLO=part)))

    def matrix_eig(self, equation: Equation) -> Callable[..., Any]:
        """Return eigenvalues, and right eigenvectors if asked."""
        if equation.attrs["compute_left_eigenvectors"]:
            raise UnsupportedError("eig", "left eigenvectors")
        if equation.attrs["compute_right_eigenvectors"]:
            return lambda a: list(torch.linalg.eig(a))
        return torch.linalg.eigvals  # type: ignore[no-any-return]

    def matrix_triangular_solve(self, equation: Equation) -> Callable[..., Any]:
        """Return the solution with a triangular matrix."""
        attrs = equation.attrs

        def compute(a: Any, b: Any) -> Any:
            a, upper = a.conj() if attrs["conjugate_a"] else a, not attrs["lower"]
            if attrs["transpose_a"]:
                a, upper = a.mT, not upper
            return torch.linalg.solve_triangular(
                a, b, upper=upper, left=attrs["left_side"], unitriangular=attrs["unit_diagonal"]
            )

        return compute

    def matrix_lu(self, equation: Equation) -> Callable[..., Any]:
        """Return both factors in one matrix, pivots, and the permutation."""
        types = [v.type for v in equation.outputs]

        def compute(a: Any) -> Any:
            if not a.numel():
                numbers = {"dtype": torch.int32, "device": a.device}
                order = torch.arange(a.shape[-2], **numbers).expand(types[2].shape).clone()
                return [a.clone(), torch.zeros(types[1].shape, **numbers), order]
            factors, pivots, _ = torch.linalg.lu_factor_ex(a)
            pivots = pivots - 1
            return [factors, pivots, permutation(pivots, a.shape[-2])]

        return compute

    def matrix_lu_pivots_to_permutation(self, equation: Equation) -> Callable[..., Any]:
        """Return the permutation that exchanges of rows amount to."""
        size = equation.attrs["permutation_size"]
        return lambda pivots: permutation(pivots, size)

    def matrix_householder_product(self, equation: Equation) -> Callable[..., Any]:
        """Return the orthogonal matrix of reflections."""
        return torch.linalg.householder_product  # type: ignore[no-any-return]

    def matrix_geqrf(self, equation: Equation) -> Callable[..., Any]:
        """Return reflections and their factors."""
        return lambda a: list(torch.geqrf(a))

    def matrix_fft(self, equation: Equation) -> Callable[..., Any]:
        """Return a Fourier transform over the last axes."""
        if 0 in equation.inputs[0].type.shape:
            return super().matrix_fft(equation)
        name, lengths = transform(equation)
        function, cast = getattr(torch.fft, name), self.caster(equation.outputs[0].type.dtype)
        axes = tuple(range(-len(lengths), 0))
        return lambda x: cast(function(x, s=lengths, dim=axes))

    # --- views and writes in place

    @property
    def views(self) -> Mapping[str, Callable[..., Any]]:
        """Operators whose result looks into the memory of their operand."""
        return VIEWS

    @property
    def writes(self) -> Mapping[str, Callable[..., Any]]:
        """Operators that write a part of their operand."""
        return WRITES


def _compile_wanted() -> bool:
    text = os.environ.get("NPCOMPAT_TORCH_COMPILE", "0")
    if text not in ("0", "1"):
        raise ValueError(f"NPCOMPAT_TORCH_COMPILE: expected 0 or 1, got {text!r}")
    return text == "1"


def _dtype(name: str) -> onp.dtype[Any]:
    return onp.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else onp.dtype(name)


__all__ = ["TorchEngine"]
