"""Protocols of arrays: Python's numbers, NumPy's dispatch, DLPack, the array API namespace."""

import importlib
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as onp

from npcompat._internal.backend.jax import language
from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.core import modes
from npcompat._internal.core.dtypes import default_float
from npcompat._internal.core.handle import Handle, payload_now
from npcompat._internal.dispatch import borrowed_buffers, handles, late_bound, pending_errors
from npcompat._internal.dispatch.backends import engine_of
from npcompat._internal.dispatch.devices import Device, Place, as_device, current_device
from npcompat._internal.dispatch.placement import constant, new_value, on_host
from npcompat._internal.native import fast_path
from npcompat._internal.support.errors import AddressNotImplementedError
from npcompat.numpy._checks import is_recorded
from npcompat.numpy._creation import placed_on
from npcompat.numpy._host_arrays import as_numpys, by_numpy, by_numpy_in_place
from npcompat.numpy._memory_order import letter
from npcompat.numpy._other_classes import overrides
from npcompat.numpy._overrides import answered_by
from npcompat.numpy._typing import Order
from npcompat.numpy._unbound import special, unbound

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_NO_ADDRESS = (
    "a scalar, and an array that is recorded, traced or on XLA, has no address, since its memory "
    "moves when it is written, nor has one of a dtype that buffers can't describe; take that of `a.asnumpy()`"
)
API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


class Protocols(Handle):
    """Mixin of arrays and scalars for conversions: `float(ours)`, `numpy.from_dlpack(ours)`."""

    __slots__ = ()

    @special("convert", infix=bool)
    def __bool__(self) -> bool:
        return bool(handles.to_host(self))

    @special("convert", infix=int)
    def __int__(self) -> int:
        return int(handles.to_host(self))

    @special("convert", infix=float)
    def __float__(self) -> float:
        handles.check_reader(self)
        return float(handles.to_host(self))

    def __complex__(self) -> complex:
        handles.check_reader(self)
        return complex(handles.to_host(self))

    def __index__(self) -> int:
        payload = handles.read(self).payload
        if payload.shape or payload.dtype.kind not in "iu":
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(handles.to_host(self))

    def asnumpy(self) -> onp.ndarray[Any, Any]:
        """Return the values as a NumPy array that owns its memory."""
        return onp.array(handles.to_host(self))

    def item(self, *args: Any) -> Any:
        """Return one element as a Python scalar."""
        handles.check_reader(self)
        return handles.to_host(self).item(*args)

    def asscalar(self) -> Any:
        """Return the only element as a Python scalar."""
        return handles.to_host(self).item()

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python scalars."""
        return handles.to_host(self).tolist()

    def tobytes(self, order: Order = "C") -> bytes:
        """Return the bytes of the elements in C or Fortran order."""
        return handles.to_host(self).tobytes(letter(order, self))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> onp.ndarray[Any, Any]:
        if dtype is not None and self.dtype != dtype:
            if copy is False:
                raise ValueError("Unable to avoid copy while creating an array as requested.")
            return handles.to_host(self).astype(dtype)
        if copy or type(self) in late_bound.scalars:
            return onp.array(handles.to_host(self))
        found: onp.ndarray[Any, Any] = fast_path.export(self)
        return found

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """Description of the memory by NumPy's protocol.

        The end of an address's use is unknown, so the memory stays borrowed while the array lives.
        """
        # NumPy would ask for it before `__array__`
        if type(self) in late_bound.scalars or not fast_path.has_buffers:
            raise AddressNotImplementedError(_NO_ADDRESS)
        pending_errors.raise_pending()
        found = None if self.dtype.kind in "mMTV" else borrowed_buffers.pinned(self)
        if found is None:
            raise AddressNotImplementedError(_NO_ADDRESS)
        return found.__array_interface__

    @property
    def __array_struct__(self) -> NoReturn:
        # NumPy would read it before `__array__`, whose memory is returned after its last use
        raise AddressNotImplementedError("__array_struct__: use the buffer protocol")

    def __array_namespace__(self, /, api_version: str | None = None) -> types.ModuleType:
        """Return the namespace of the array API: `npcompat.array_api`."""
        if api_version is not None and api_version not in API_VERSIONS:
            raise ValueError(
                f"__array_namespace__(api_version={api_version!r}): expected one of "
                f"{', '.join(API_VERSIONS)}"
            )
        return importlib.import_module("npcompat.array_api")

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: Any = None,
        dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any:
        """Return a DLPack capsule of the memory.

        Each side sees the other's writes where `numpy.asarray` would give such memory. Else it is
        read-only, and consumers that do not know such memory get a copy.
        """
        pending_errors.raise_pending()
        plain = self._view is None and modes.current().trace is None
        payload = payload_now(self._value) if plain else handles.read(self).payload
        if language.is_tracer(payload):
            raise handles.traced_value_error()
        if not isinstance(payload, onp.ndarray):
            # XLA's unversioned capsule is readable by every version; XLA rejects old version
            # numbers
            try:
                return payload.__dlpack__(stream=stream, dl_device=dl_device, copy=copy)
            except RuntimeError as error:
                if dl_device is None:
                    raise
                raise BufferError(
                    f"__dlpack__(dl_device={dl_device}): the array can't go to this device: {error}"
                ) from error
        memory: Any = payload.copy() if self._immutable else fast_path.export(self)
        unversioned = max_version is None or tuple(max_version) < (1, 0)
        if unversioned and not memory.flags.writeable and copy is not False:
            memory = memory.copy()  # such capsules have no flag for memory that is read-only
        return memory.__dlpack__(
            stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the DLPack device: kind and number."""
        payload = handles.read(self).payload
        if language.is_tracer(payload):
            raise handles.traced_value_error()
        kind, number = payload.__dlpack_device__()
        return int(kind), int(number)


class LikeNumPys(Handle):
    """Base of arrays for libraries that ask whether a class or base of `numpy` is among theirs.

    SymPy does, and takes what has none for a number.
    """

    __slots__ = ()
    __module__ = "numpy"


@lru_cache(maxsize=1024)
def _ours_of(ufunc: onp.ufunc) -> Any:
    """Return our function for one of NumPy's ufuncs; None for other ufuncs."""
    if getattr(onp, ufunc.__name__, None) is not ufunc:
        return None
    ours = getattr(importlib.import_module("npcompat.numpy"), ufunc.__name__, None)
    return None if ours is ufunc else ours


class NumPyDispatch(LikeNumPys):
    """Mixin of `ndarray` for NumPy's functions: `numpy.add(ours, theirs)`, `numpy.sum(ours)`."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: onp.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Run our ufunc of the same name; a ufunc that we lack runs on the host.

        Results for NumPy arrays given as `out` are copied there. As NumPy's own method, it
        defers to operands of other classes that override.
        """
        if (
            not kwargs
            and method == "__call__"
            and type(ufunc) is onp.ufunc
            and (known := _ours_of(ufunc)) is not None
        ):
            return known(*inputs)
        if not hasattr(ufunc, "nin"):
            raise TypeError(f"__array_ufunc__: expected a ufunc, got {type(ufunc).__name__}")
        if ufunc in late_bound.ufuncs.values():  # called by one of our ufuncs: avoid recursion
            if any(map(overrides, (*inputs, *kwargs.get("out", ()), kwargs.get("where")))):
                return NotImplemented
            return (ufunc if method == "__call__" else getattr(ufunc, method))(*inputs, **kwargs)
        ours = getattr(importlib.import_module("npcompat.numpy"), ufunc.__name__, None)
        if ours is None or ours is ufunc or getattr(onp, ufunc.__name__, None) is not ufunc:
            if method == "__call__" and not isinstance(ufunc, onp.ufunc):
                inputs, kwargs = _as_numpy_passes(ufunc, inputs, kwargs)
            return foreign(ufunc, method, inputs, kwargs)
        call = ours if method == "__call__" else getattr(ours, method)
        outs = kwargs.get("out", ())
        if method == "reduce" and outs and _is_divided_in_place(sys._getframe(1), inputs):
            (target,) = outs
            return call(*inputs, **{**kwargs, "out": (_memory_to_divide(ufunc, target),)})
        if not any([isinstance(o, onp.ndarray) for o in outs]):
            return call(*inputs, **kwargs)
        return _into_numpys(
            ufunc, call, inputs, outs, {k: v for k, v in kwargs.items() if k != "out"}
        )

    def __array_function__(
        self, func: Callable[..., Any], types: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """Run our function of the same name, or NumPy's on the host if we have none.

        As NumPy's own method, it defers to arrays of other classes that override, and calls
        functions outside NumPy unchanged.
        """
        if not isinstance(args, tuple):
            raise TypeError("args must be a tuple.")
        if not isinstance(kwargs, dict):
            raise TypeError("kwargs must be a dict.")
        if not all([issubclass(kind, Handle | onp.ndarray) for kind in types]):
            return NotImplemented
        module = func.__module__ or ""
        if module.partition(".")[0] != "numpy":
            if module.startswith("npcompat.numpy"):
                return answered_by(func, args, kwargs)
            return getattr(func, "_implementation", func)(*args, **kwargs)
        try:
            ours = getattr(importlib.import_module(f"npcompat.{module}"), func.__name__)
        except (ImportError, AttributeError):
            return by_numpy_in_place(func, args, kwargs)
        if ours is func:
            return by_numpy_in_place(func, args, kwargs)
        if isinstance(out := kwargs.get("out"), onp.ndarray):
            made = as_numpys(ours(*args, **{k: v for k, v in kwargs.items() if k != "out"}))
            if onp.shape(made) != out.shape:
                raise ValueError(
                    f"{func.__name__}(out=): the result has shape {onp.shape(made)}, `out` has "
                    f"{out.shape}"
                )
            onp.copyto(out, made, casting=kwargs.get("casting", "same_kind"))
            return out
        return ours(*args, **kwargs)


def _is_divided_in_place(caller: types.FrameType, inputs: Sequence[Any]) -> bool:
    """Return True if `mean`, `var` or `std` of a NumPy array is computed into an array of ours.

    Its sum is divided in place if it is an array of NumPy's; else a new array is.
    """
    return caller.f_globals.get("__name__") == "numpy._core._methods" and (
        caller.f_code.co_name in ("_mean", "_var") and isinstance(inputs[0], onp.ndarray)
    )


def _memory_to_divide(ufunc: onp.ufunc, out: Any) -> onp.ndarray[Any, Any]:
    memory = onp.asarray(out)
    if not memory.flags.writeable:
        raise TypeError(
            f"{ufunc.__name__}.reduce(out=): NumPy's methods can't compute a mean into an array that "
            "is read-only, recorded or on XLA: call the function of npcompat.numpy"
        )
    return memory


def _as_numpy_passes(
    ufunc: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call with outputs by name, in a tuple.

    NumPy's ufuncs pass them so; numba's, which are no ufuncs, pass on what their caller gave.
    """
    outs = kwargs.get("out", inputs[ufunc.nin :] or None)
    if outs is not None:
        kwargs = {**kwargs, "out": outs if isinstance(outs, tuple) else (outs,)}
    return inputs[: ufunc.nin], kwargs


def foreign(ufunc: onp.ufunc, method: str, inputs: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Call a ufunc of NumPy or another library on the host values of our arrays.

    It gets NumPy arrays for `out`, whose results are copied back.
    """
    if method == "at":
        target, *others = inputs
        written = as_numpys(target)
        ufunc.at(written, *map(as_numpys, others))
        if written is not target:
            target[...] = written
        return None
    outs = kwargs.get("out", ())
    copies = tuple(map(as_numpys, outs))
    carried = [a.dtype for a in inputs if hasattr(a, "dtype")]
    found = by_numpy(
        getattr(ufunc, method), inputs, {**kwargs, "out": copies} if outs else kwargs, carried
    )
    for out, copy in zip(outs, copies, strict=True):
        if out is not copy:
            out[...] = copy
    results = found if isinstance(found, tuple) else (found,)
    results = tuple(
        [
            r if o is None else o
            for r, o in zip(results, outs or (None,) * len(results), strict=True)
        ]
    )
    return results if isinstance(found, tuple) else results[0]


def _into_numpys(
    ufunc: onp.ufunc, call: Any, inputs: Sequence[Any], outs: Sequence[Any], options: dict[str, Any]
) -> Any:
    """Call a ufunc that writes into NumPy arrays; some outputs may be ours."""
    if options.get("where", True) is not True:
        raise NotImplementedError(
            f"{ufunc.__name__}(out=, where=): with an `out` of NumPy's, where= is not supported; "
            "convert `out` first"
        )
    casting = options.get("casting", "same_kind")
    found = call(*inputs, **options)
    results = found if isinstance(found, tuple) else (found,)
    for result, out in zip(results, outs, strict=True):
        if out is not None and not onp.can_cast(result.dtype, out.dtype, casting):
            raise TypeError(
                f"Cannot cast ufunc '{ufunc.__name__}' output from {result.dtype!r} to "
                f"{out.dtype!r} with casting rule '{casting}'"
            )
        if (
            out is not None
            and result.shape != out.shape
            and onp.broadcast_shapes(result.shape, out.shape) != out.shape
        ):
            raise ValueError(
                f"non-broadcastable output operand with shape {out.shape} doesn't match the "
                f"broadcast shape {result.shape}"
            )
    written = []
    for result, out in zip(results, outs, strict=True):
        if out is not None:
            out[...] = as_numpys(result) if isinstance(out, onp.ndarray) else result
        written.append(result if out is None else out)
    return tuple(written) if isinstance(found, tuple) else written[0]


@unbound
def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> "ndarray":
    """Create an array from a DLPack object, without a copy if its memory fits.

    Parameters
    ----------
    x : object with ``__dlpack__`` and ``__dlpack_device__``
        An array of NumPy, torch, JAX or any library that speaks DLPack. Each side sees the
        other's writes if the new array is on the host and this one may be written. On XLA the new
        array is read-only, and this one must not be written while the new one is in use.
    device : Device or str, optional
        Device of the values.
    copy : bool, optional
        True: always copy.  None: copy where that is needed.

    Raises
    ------
    ValueError
        With ``copy=False``, if the values have to move: to another device, or to memory that is
        aligned as XLA wants it.
    TypeError
        If `x` does not speak DLPack.

    Examples
    --------
    >>> np.from_dlpack(onp.arange(3))
    array([0, 1, 2])
    """
    if not (hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__")):
        raise TypeError(
            f"from_dlpack: expected an array that speaks DLPack, got {type(x).__name__}"
        )
    with placed_on(device):
        mode = modes.current()
        if is_recorded(x):
            raise BufferError(
                "from_dlpack of an array that is being recorded: what is handed over has no "
                "gradient; use the array itself, or a.detach()"
            )
        if mode.trace is not None:
            raise NotImplementedError("from_dlpack in a compiled function: make the array outside")
        if on_host(mode):
            found = onp.from_dlpack(x, copy=copy)
            return handles.wrap(constant(found)) if copy else borrowed_buffers.over_memory(found)
        if (engine := engine_of(mode)) is not None:
            return handles.wrap(new_value(engine.from_dlpack(x, copy)))
        payload = xla.from_dlpack(x, copy)
        if mode.device is not None and xla.device_of(payload) != mode.device:
            if copy is False:
                raise ValueError(
                    f"from_dlpack(copy=False): the values are on {xla.device_of(payload)}, and "
                    f"have to move to {mode.device}"
                )
            payload = xla.moved(payload, mode.device)
        made: Any = handles.wrap(new_value(payload))
        if not copy:
            made.setflags(write=False)
        return made


def _check_device(device: Any) -> None:
    """Raise ValueError for a device that this process does not have."""
    if device is not None:
        try:
            found = as_device(device)
            known = found in NamespaceInfo().devices()
        except (TypeError, ValueError):
            known = False
        if not known:
            raise ValueError(
                f"Device not understood: {device!r}. Devices are "
                f"{', '.join(map(str, NamespaceInfo().devices()))}."
            )


class NamespaceInfo:
    """Inspection object of the array API: see `numpy.__array_namespace_info__`."""

    def capabilities(self) -> dict[str, Any]:
        """Return the capabilities; boolean indexing and dynamic shapes exist in eager code."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Place:
        """Return the device of new arrays."""
        return current_device()

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """Return the default dtypes, which are those of every device."""
        _check_device(device)
        real = default_float()
        return {
            "real floating": real,
            "complex floating": onp.result_type(real, onp.complex64),
            "integral": onp.dtype(onp.int64),
            "indexing": onp.dtype(onp.int64),
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """Return the standard's dtypes of a kind by name, which are those of every device."""
        _check_device(device)
        found: dict[str, Any] = onp.__array_namespace_info__().dtypes(kind=kind)
        return found

    def devices(self) -> list[Any]:
        """Return the devices of this process."""
        return [
            Device(kind, i) for kind in ("cpu", "gpu", "tpu") for i in range(len(xla.devices(kind)))
        ]


def __array_namespace_info__() -> NamespaceInfo:  # noqa: N807 (the standard names it so)
    """Return the inspection object of the array API.

    Examples
    --------
    >>> np.__array_namespace_info__().default_dtypes()["integral"]
    dtype('int64')
    """
    return NamespaceInfo()


__all__ = [
    "API_VERSIONS",
    "NamespaceInfo",
    "NumPyDispatch",
    "Protocols",
    "__array_namespace_info__",
    "foreign",
    "from_dlpack",
]
