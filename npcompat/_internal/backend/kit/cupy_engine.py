"""Engine over CuPy: the rules of the kit on NVIDIA's GPUs, with CuPy's functions beyond the standard."""

from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from typing import Any

import numpy as onp

from npcompat._internal.backend.equations.program import Equation, Function, Program, Type
from npcompat._internal.backend.kit.array_api import ArrayAPIEngine
from npcompat._internal.backend.kit.devices import EngineDevice

_SPECIAL = {
    "erf": "erf",
    "erfinv": "erfinv",
    "lgamma": "gammaln",
    "digamma": "digamma",
    "zeta": "zeta",
    "i1e": "i1e",
}
"""Functions by their names in the kit, and in `cupyx.scipy.special`."""
_ADDED = (
    "int32", "int64", "uint32", "uint64", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
"""Dtypes that `cupyx.scatter_add` takes, `int64` by its bits."""


class CuPyEngine(ArrayAPIEngine):
    """Engine that executes programs by CuPy.

    What CuPy lacks (matrices that are solved or factorised in stacks) is computed by NumPy on
    copies; `from_numpy` counts that by primitive.
    """

    def __init__(self) -> None:
        super().__init__(import_module("array_api_compat.cupy"), "cupy", kind="gpu")
        self._cupy: Any = import_module("cupy")
        self._special: Any = import_module("cupyx.scipy.special")
        self._here = 0

    # --- arrays

    def devices(self) -> Sequence[EngineDevice]:
        """Return the GPUs."""
        count = self._cupy.cuda.runtime.getDeviceCount()
        return tuple([EngineDevice("gpu", i) for i in range(count)])

    def dtypes(self, device: EngineDevice) -> Collection[onp.dtype[Any]]:
        """Return the dtypes that are held exactly."""
        return frozenset([*super().dtypes(device), onp.dtype("float16")])

    def from_host(self, array: onp.ndarray[Any, Any], device: EngineDevice | None) -> Any:
        """Copy a NumPy array, of any strides."""
        with self._cupy.cuda.Device(self._here if device is None else device.index):
            return self._cupy.array(onp.asarray(array), order="C")

    def to_host(self, data: Any, dtype: onp.dtype[Any] | None) -> onp.ndarray[Any, Any]:
        """Copy to the host; waits for the computation."""
        return onp.array(self._cupy.asnumpy(data))

    def fresh(self, data: Any) -> Any:
        """Copy to a buffer of its own."""
        return self._cupy.array(data, order="C")

    def device_of(self, data: Any) -> EngineDevice:
        """Return the GPU of an array."""
        return EngineDevice("gpu", data.device.id)

    def move(self, data: Any, device: EngineDevice) -> Any:
        """Copy to a GPU."""
        with self._native(device):
            return self.fresh(data)

    def context(self, device: EngineDevice) -> Any:
        """Return the context in which programs run: their GPU is the current one."""
        return self._native(device)

    def _native(self, device: EngineDevice) -> Any:
        return self._cupy.cuda.Device(device.index)

    def program(self, program: Program, donate: Collection[int], device: EngineDevice) -> Function:
        """Build a program by the rules; constants are put on the device."""
        self._here = device.index
        try:
            return super().program(program, donate, device)
        finally:
            self._here = 0

    def wait_all(self) -> None:
        """Wait for what runs on the GPUs."""
        for device in self.devices():
            self._native(device).synchronize()

    def memory(self, device: EngineDevice) -> tuple[int, int]:
        """Return free and total bytes of a GPU."""
        free, total = self._native(device).mem_info
        return int(free), int(total)

    # --- functions beyond the standard

    def _own_or_numpys(self, name: str) -> Callable[..., Any]:
        function: Callable[..., Any] | None = getattr(self._special, _SPECIAL.get(name, ""), None)
        return super()._own_or_numpys(name) if function is None else function

    def function_complex(self, dtype: Any) -> Callable[..., Any]:
        """Return the function that puts real and imaginary parts together."""
        cupy, wide = self._cupy, onp.dtype(dtype).itemsize > 4

        def compute(real: Any, imag: Any) -> Any:
            real, imag = cupy.broadcast_arrays(real, imag)
            made = cupy.empty(real.shape, "complex128" if wide else "complex64")
            made.real, made.imag = real, imag
            return made

        return compute

    def bitcast(self, given: Type, wanted: Type) -> Callable[..., Any]:
        """Return the function that reads the bits as another dtype; a new last axis, if narrower."""
        cupy = self._cupy
        return lambda x: cupy.ravel(x).view(wanted.dtype).reshape(wanted.shape)

    def placement(self, kind: str, whole: Type, axis: int) -> Callable[..., Any]:
        """Return the function that puts parts along an axis at positions; of several for one
        position, the last one, where the GPU would keep any.
        """
        cupy, cupyx, before = self._cupy, import_module("cupyx"), (slice(None),) * axis
        turned = [-1 if i == axis else 1 for i in range(whole.ndim)]

        def put(x: Any, at: Any, new: Any) -> Any:
            if not at.size:
                return x.copy()
            last = cupy.full(x.shape[axis], -1, "int32")
            cupyx.scatter_max(last, at, cupy.arange(at.size, dtype="int32"))
            parts = cupy.take(new, cupy.maximum(last, 0), axis)
            return cupy.where((last >= 0).reshape(turned), parts, x)

        def add(x: Any, at: Any, new: Any) -> Any:
            made = x.copy()
            if whole.dtype == onp.int64:  # sums of unsigned integers have the same bits
                cupyx.scatter_add(made.view("uint64"), (*before, at), new.view("uint64"))
            else:
                cupyx.scatter_add(made, (*before, at), new)
            return made

        if kind == "set":
            return put
        if kind == "add" and whole.dtype.name in _ADDED:
            return add
        return super().placement(kind, whole, axis)

    # --- matrices

    def matrix_eigh(self, equation: Equation) -> Callable[..., Any]:
        """Return eigenvectors and eigenvalues of Hermitian matrices."""
        part, eigh = "L" if equation.attrs.get("lower", True) else "U", self._cupy.linalg.eigh
        return lambda a: list(reversed(eigh(a, UPLO=part)))


__all__ = ["CuPyEngine"]
