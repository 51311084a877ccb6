"""Parameters: the arrays that a block learns, and their (deferred) initialization."""

import warnings
import weakref
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as onp

from npcompat import initializer, symbol
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import extra
from npcompat._internal.dispatch import handles, writes
from npcompat._internal.dispatch.devices import Device, as_device, current_device, device_of, moved
from npcompat._internal.dispatch.outside_traces import outside
from npcompat._internal.dispatch.placement import moved_to_default_device, new_value
from npcompat._internal.random import stream
from npcompat._internal.support.errors import DeferredInitializationError
from npcompat.gluon import _variables
from npcompat.numpy import random as np_random
from npcompat.numpy._creation import array, asarray
from npcompat.numpy._filled import zeros
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike, DTypeLike

Shape = tuple[int, ...] | None


def draw_seed() -> int:
    """Draw a seed for the initial values of parameters from the global random stream.

    One draw, no matter how many values are initialized with it.
    """
    return int(np_random.randint(0, 2**62, dtype="int64").item())


def single_device(device: Any, what: str) -> Device | None:
    """Return the device of an argument that is a device, or a list of one."""
    if isinstance(device, list | tuple):
        if len(set(map(as_device, device))) != 1:
            raise NotImplementedError(
                f"{what}: a parameter lives on one device; a list of {len(device)} of them is not "
                "supported"
            )
        device = device[0]
    return None if device is None else as_device(device)


def one_of(device: Any, ctx: Any, what: str) -> Any:
    """Return the device that was passed as either `device` or `ctx`."""
    if device is not None and ctx is not None:
        raise TypeError(f"{what}: device and ctx are the same argument; give one of them")
    return device if device is not None else ctx


def once(params: Mapping[str, "Parameter"]) -> dict[str, "Parameter"]:
    """Return the parameters without duplicates, each under its first name."""
    first: dict[int, str] = {}
    for name, parameter in params.items():
        first.setdefault(id(parameter), name)
    return {name: params[name] for name in first.values()}


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Arguments of a deferred initialization, kept until the shape is known."""

    init: Any
    device: Device | None
    default_init: Any
    seed: int
    description: str


class Parameter:
    """Parameter: an array that a block learns.

    Parameters
    ----------
    name : str
        Its name; in a block, the attribute's name comes first in `collect_params`.
    grad_req : {'write', 'add', 'null'}
        Whether each backward replaces the gradient, adds to it, or leaves the parameter out.
    shape : int or tuple of int, optional
        Its shape; axes of length 0 or -1 are not known yet.
    dtype : dtype
        Its dtype.
    lr_mult, wd_mult : float
        Factors of the optimizer's learning rate and weight decay.
    init : Initializer or str, optional
        Its own initializer; that of the block if not given.
    allow_deferred_init : bool
        Whether `initialize` may be called before the shape is known.
    differentiable : bool
        Whether it has a gradient; if False, `grad_req` is 'null'.
    stype, grad_stype : {'default'}
        Sparse storage is not supported: anything else raises NotImplementedError.

    Examples
    --------
    >>> weight = gluon.Parameter("weight", shape=(2, 3))
    >>> weight.initialize(init="ones")
    >>> weight.data()
    array([[1., 1., 1.],
           [1., 1., 1.]])
    """

    def __init__(
        self,
        name: str = "weight",
        grad_req: str = "write",
        shape: Any = None,
        dtype: DTypeLike = "float32",
        lr_mult: float = 1.0,
        wd_mult: float = 1.0,
        init: Any = None,
        allow_deferred_init: bool = False,
        differentiable: bool = True,
        stype: str = "default",
        grad_stype: str = "default",
    ) -> None:
        for argument, given in (("stype", stype), ("grad_stype", grad_stype)):
            if given != "default":
                raise NotImplementedError(
                    f"Parameter({argument}={given!r}): sparse storage is not supported"
                )
        self._name = name
        self._shape: Shape = None if shape is None else _as_shape(shape)
        self._dtype = dtypes.canonical(dtype)
        self._lr_mult, self._wd_mult = float(lr_mult), float(wd_mult)
        self.init = init
        self._allow_deferred_init = allow_deferred_init
        self._differentiable = differentiable
        self._data: Any = None
        self._waiting: _Waiting | None = None
        self._trainers: weakref.WeakSet[Any] = weakref.WeakSet()
        self._grad_req = "null"
        self.grad_req = grad_req

    # --- properties

    @property
    def name(self) -> str:
        """Name of the parameter."""
        return self._name

    @property
    def shape(self) -> Shape:
        """Shape, with -1 for unknown lengths; None if nothing is known."""
        return self._shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        found = _as_shape(shape)
        if not self._accepts(found):
            raise ValueError(
                f"Parameter '{self.name}' has shape {self._shape}; it can't become {found}"
            )
        self._shape = found

    def _accepts(self, shape: tuple[int, ...]) -> bool:
        """Return True if a shape agrees with the known lengths."""
        known = self._shape
        return known is None or (
            len(known) == len(shape)
            and all(k in (-1, n) for k, n in zip(known, shape, strict=True))
        )

    @property
    def shape_is_known(self) -> bool:
        """True if all lengths of the shape are known."""
        return self._shape is not None and -1 not in self._shape

    @property
    def dtype(self) -> onp.dtype[Any]:
        """Dtype; assigning to it casts the parameter."""
        return self._dtype

    @dtype.setter
    def dtype(self, dtype: DTypeLike) -> None:
        self.cast(dtype)

    @property
    def grad_req(self) -> str:
        """Gradient request: 'write', 'add' or 'null'."""
        return self._grad_req

    @grad_req.setter
    def grad_req(self, request: str) -> None:
        if request not in ("write", "add", "null"):
            raise ValueError(
                f"Parameter '{self.name}': grad_req must be 'write', 'add' or 'null', got "
                f"{request!r}"
            )
        if not self._differentiable:
            request = "null"
        if request != self._grad_req:
            self._grad_req = request
            if self._data is not None:
                self._attach()

    @property
    def lr_mult(self) -> float:
        """Factor of the optimizer's learning rate."""
        return self._lr_mult

    @lr_mult.setter
    def lr_mult(self, factor: float) -> None:
        self._lr_mult = float(factor)
        for trainer in self._trainers:
            trainer._multipliers_changed()

    @property
    def wd_mult(self) -> float:
        """Factor of the optimizer's weight decay."""
        return self._wd_mult

    @wd_mult.setter
    def wd_mult(self, factor: float) -> None:
        self._wd_mult = float(factor)
        for trainer in self._trainers:
            trainer._multipliers_changed()

    def __repr__(self) -> str:
        return f"{type(self).__name__} {self.name} (shape={self._shape}, dtype={self._dtype})"

    # --- values

    def initialize(
        self,
        init: Any = None,
        device: Any = None,
        default_init: Any = None,
        force_reinit: bool = False,
        *,
        ctx: Any = None,
    ) -> None:
        """Initialize the values; deferred until the shape is known.

        Parameters
        ----------
        init : Initializer or str, optional
            The initializer; that of the parameter if not given, and `default_init` if it has none.
        device, ctx : Device or str, optional
            Device of the parameter.
        default_init : Initializer or str, optional
            `Uniform()` if not given.
        force_reinit : bool
            Whether a parameter that has values gets new ones; else it is left alone, with a
            warning.

        Raises
        ------
        ValueError
            If its shape is not known, and deferred initialization is not allowed.
        """
        device = single_device(one_of(device, ctx, "initialize"), "initialize")
        self._initialize(init, device, default_init, force_reinit, None, self.name)

    def _initialize(
        self,
        init: Any,
        device: Device | None,
        default_init: Any,
        force_reinit: bool,
        seed: int | None,
        description: str,
    ) -> None:
        if self._data is not None and not force_reinit:
            warnings.warn(
                f"Parameter '{description}' is initialized already and is left as it is; pass "
                "force_reinit=True to change that",
                stacklevel=3,
            )
            return
        chosen = init if init is not None else self.init
        default = default_init if default_init is not None else initializer.Uniform()
        if device is None and modes.current().device is not None:
            device = current_device()
        waiting = _Waiting(
            default if chosen is None else chosen,
            device,
            default,
            draw_seed() if seed is None else seed,
            description,
        )
        if not self.shape_is_known:
            if not self._allow_deferred_init:
                raise ValueError(
                    f"Parameter '{description}' can't be initialized: its shape {self._shape} is "
                    "not known. Give it, or pass "
                    "allow_deferred_init=True and complete it in infer_shape"
                )
            self._waiting = waiting
            self._data = None
            return
        self._fill(waiting)

    def _fill(self, waiting: _Waiting) -> None:
        """Initialize the values, from a random stream of the parameter's own."""
        assert self._shape is not None
        with outside(), waiting.device or nullcontext(), stream.default.elsewhere(waiting.seed):
            values = zeros(self._shape, self._dtype)
            initializer.create(waiting.default_init)(
                initializer.InitDesc(waiting.description, {"__init__": waiting.init}), values
            )
            self._place(values)

    def _place(self, values: Any) -> None:
        """Store an array as the values; an existing handle stays the same object."""
        value = _on_xla(handles.read(values))
        if self._data is None:
            self._data = handles.wrap(value)
        else:
            _replace(self._data, value)
        self._waiting = None
        self._attach()

    def _attach(self) -> None:
        with outside():
            if self._grad_req == "null":
                self._data.drop_grad()
            else:
                self._data.attach_grad(self._grad_req)

    def _finish_deferred(self) -> None:
        """Run the deferred initialization, once the shape is known."""
        if self._waiting is None:
            return
        if not self.shape_is_known:
            raise DeferredInitializationError(
                f"Parameter '{self._waiting.description}' can't be initialized: its shape "
                f"{self._shape} is still not known after "
                "infer_shape; define infer_shape(self, *inputs) in its block so that it sets the "
                "shape of each parameter"
            )
        self._fill(self._waiting)

    def _check(self) -> None:
        if self._data is not None:
            return
        if self._waiting is not None and self.shape_is_known:  # the shape was set meanwhile
            self._fill(self._waiting)
            return
        if self._waiting is not None:
            raise DeferredInitializationError(
                f"Parameter '{self._waiting.description}' has no values yet, because its shape "
                f"{self._shape} is not known: it is completed "
                "at the block's first call. Call the block on a batch first, or give the number "
                "of inputs (in_units, in_channels)"
            )
        raise RuntimeError(
            f"Parameter '{self.name}' has not been initialized: call initialize() on it, or on "
            "the block that it belongs to, first"
        )

    def data(self, device: Any = None, *, ctx: Any = None) -> ndarray:
        """Return the array itself: writing into it changes the parameter.

        Parameters
        ----------
        device, ctx : Device or str, optional
            Checked against the device of the parameter.

        Raises
        ------
        DeferredInitializationError
            If its shape is not known yet.
        RuntimeError
            If it was not initialized, or is on another device.
        """
        variables = _variables.current()
        if variables is not None:
            return variables.of(self)
        if self._data is None:
            self._check()
        if device is not None or ctx is not None:
            self._check_device(one_of(device, ctx, "data"))
        return self._data

    def _check_device(self, device: Any) -> None:
        here = device_of(self._data)
        if as_device(device) != here:
            raise RuntimeError(
                f"Parameter '{self.name}' is on {here}, not on {as_device(device)}; move it with "
                "reset_device"
            )

    def list_data(self) -> list[ndarray]:
        """Return a list of the array on each device, of which there is one."""
        return [self.data()]

    def row_sparse_data(self, row_id: Any) -> NoReturn:
        """Raise RuntimeError: no parameter has sparse rows (MXNet raises it for dense ones)."""
        raise RuntimeError(
            f"Parameter '{self.name}' is dense and has no sparse rows; use data()[row_id]"
        )

    def list_row_sparse_data(self, row_id: Any) -> list[Any]:
        """Raise RuntimeError, as `row_sparse_data`."""
        return [self.row_sparse_data(row_id)]

    def grad(self, device: Any = None, *, ctx: Any = None) -> ndarray:
        """Return the gradient.

        Raises
        ------
        RuntimeError
            If it has none, as `grad_req` is 'null'.
        """
        self._check()
        if self._grad_req == "null":
            raise RuntimeError(f"Parameter '{self.name}' has no gradient: its grad_req is 'null'")
        if device is not None or ctx is not None:
            self._check_device(one_of(device, ctx, "grad"))
        return self._data.grad

    def list_grad(self) -> list[ndarray]:
        """Return a list of the gradient on each device, of which there is one."""
        return [self.grad()]

    def list_device(self) -> list[Device]:
        """Return the devices of the parameter, or those where it will be initialized."""
        if self._data is None and self._waiting is not None:
            return [self._waiting.device or current_device()]
        self._check()
        return [device_of(self._data)]

    list_ctx = list_device

    def set_data(self, data: ArrayLike) -> None:
        """Replace the values.

        Parameters
        ----------
        data : array_like
            New values, cast to the dtype of the parameter.

        Raises
        ------
        ValueError
            If the shape is another one.
        """
        new = asarray(data)
        self.shape = new.shape
        if self._data is None:
            if self._waiting is None:
                self._check()
            self._load(new, None)
            return
        with modes.changed(recording=False):
            self._data[...] = new

    def _load(self, values: Any, device: Device | None) -> None:
        """Store values that were computed elsewhere, whether initialized or not."""
        self.shape = values.shape
        wanted = device or (self._waiting.device if self._waiting is not None else None)
        with (
            outside(),
            wanted or (_beside(self._data) if self._data is not None else nullcontext()),
        ):
            self._place(array(values, dtype=self._dtype))

    def zero_grad(self) -> None:
        """Set the gradient to zero; does nothing if there is none."""
        if self._data is not None and self._data.grad is not None:
            with modes.changed(recording=False):
                self._data.grad[...] = 0

    def reset_device(self, device: Any) -> None:
        """Move the parameter to another device.

        Raises
        ------
        ValueError
            If it was not initialized.
        """
        target = single_device(device, "reset_device")
        if target is None:
            raise TypeError("reset_device: expected a device, got None")
        if self._data is not None:
            with outside():
                _replace(self._data, handles.read(moved(self._data, target)))
            self._attach()
        elif self._waiting is not None:
            w = self._waiting
            self._waiting = _Waiting(w.init, target, w.default_init, w.seed, w.description)
        else:
            raise ValueError(
                f"Parameter '{self.name}' has not been initialized, so there is nothing to move"
            )

    def reset_ctx(self, ctx: Any) -> None:
        """Move the parameter to another device; an alias of `reset_device`."""
        self.reset_device(ctx)

    def cast(self, dtype: DTypeLike) -> None:
        """Change the dtype of values and gradient."""
        self._dtype = dtypes.canonical(dtype)
        if self._data is not None and self._data.dtype != self._dtype:
            with outside(), _beside(self._data):
                _replace(self._data, handles.read(self._data.astype(self._dtype)))
            self._attach()

    def var(self) -> symbol.Symbol:
        """Return a symbolic variable for the parameter.

        Examples
        --------
        >>> gluon.Parameter("weight", shape=(2, 3)).var()
        <Symbol weight: (2, 3) float32>
        """
        return symbol.var(self.name, self._shape, self._dtype)

    # --- copies

    def __getstate__(self) -> dict[str, Any]:
        state = {k: v for k, v in self.__dict__.items() if k not in ("_trainers", "_data")}
        return {**state, "values": None if self._data is None else self._data.asnumpy()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        values = state.pop("values")
        self.__dict__.update(state)
        self._trainers = weakref.WeakSet()
        self._data = None
        if values is not None:
            self._place(array(values))


def _as_shape(shape: Any) -> tuple[int, ...]:
    lengths = shape if isinstance(shape, Sequence) else (shape,)
    return tuple(-1 if n is None or int(n) <= 0 else int(n) for n in lengths)


def _beside(handle: Any) -> AbstractContextManager[Any]:
    """Context manager that places new arrays on the device of an array."""
    here = device_of(handle)
    return nullcontext() if here == current_device() else here


def _on_xla(value: Any) -> Any:
    """Move a value to XLA if the backend is `auto`.

    Layers run on XLA on every device then, since compiled functions would move the value there
    anyway.
    """
    backend = modes.current().backend
    if not backend.startswith("auto"):
        return value
    with modes.changed(backend=backend.removeprefix(modes.AUTO) if backend != "auto" else "jax"):
        return moved_to_default_device(value)


def _replace(handle: Any, value: Any) -> None:
    """Replace the value of a handle; dtype and device may change."""
    with modes.changed(recording=False):
        writes.write(handle, new_value(value.payload))
    extra(handle).layout = None


class Constant(Parameter):
    """Constant: an array that a block needs, but does not learn.

    Parameters
    ----------
    value : array_like
        The values; kept by `initialize`, whatever the initializer.
    name : str
        Its name.

    Examples
    --------
    >>> two = gluon.Constant([2.0, 2.0])
    >>> two.initialize()
    >>> two.data()
    array([2., 2.])
    """

    def __init__(self, value: ArrayLike, *, name: str = "const") -> None:
        self.value = asarray(value)
        super().__init__(
            name,
            "null",
            self.value.shape,
            self.value.dtype,
            init=initializer.Constant(self.value.asnumpy()),
            differentiable=False,
        )
        self._shape = self.value.shape


__all__ = ["Constant", "Parameter", "draw_seed", "once", "one_of", "single_device"]
