"""Parameters: the arrays that a block learns, and their (deferred) initialization."""

import warnings
import weakref
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import dataclass
from dataclasses import replace as with_changes
from typing import Any, NoReturn, Self

import numpy as onp

from npcompat import initializer, symbol
from npcompat._internal.core import changes, dtypes, modes
from npcompat._internal.dispatch import handles
from npcompat._internal.dispatch.devices import (
    Place,
    as_device,
    current_device,
    device_of,
    devices_of,
    moved,
)
from npcompat._internal.dispatch.meshes import Sharding
from npcompat._internal.dispatch.outside_traces import outside
from npcompat._internal.random import stream
from npcompat._internal.support.errors import DeferredInitializationError
from npcompat.gluon import _variables
from npcompat.gluon._placement import (
    Plan,
    continue_gradient,
    on_device_of,
    on_xla,
    one_of,
    place_of,
    placements,
    replace,
)
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
    device: Place | None
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
        self._plan: tuple[Plan, str] | None = None  # layout on a mesh, and the name in the block
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
                f"Parameter '{self.name}': grad_req must be 'write', 'add' or 'null', got {request!r}"
            )
        if not self._differentiable:
            request = "null"
        if request != self._grad_req:
            self._grad_req = request
            changes.note()
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
        device, ctx : Device, str, Mesh, Sharding or list of Device, optional
            Place of the parameter; of several devices each gets a copy, or the piece that a
            sharding says.
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
        device = place_of(one_of(device, ctx, "initialize"))
        self._initialize(init, device, default_init, force_reinit, None, self.name)

    def _initialize(
        self,
        init: Any,
        device: Place | None,
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
        if device is not None:
            self._plan = None
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
        place = self._planned() or waiting.device
        with outside(), place or nullcontext(), stream.default.elsewhere(waiting.seed):
            values = zeros(self._shape, self._dtype)
            initializer.create(waiting.default_init)(
                initializer.InitDesc(waiting.description, {"__init__": waiting.init}), values
            )
            self._place(values)

    def _planned(self) -> Sharding | None:
        """Return the layout on a mesh that `shard` asked for, if the shape is known."""
        if self._plan is None or self._shape is None or not self.shape_is_known:
            return None
        plan, name = self._plan
        return plan.place(name, self._shape)

    def _place(self, values: Any) -> None:
        """Store an array as the values; an existing handle stays the same object."""
        value = on_xla(handles.read(values))
        if self._data is None:
            self._data = handles.wrap(value)
        else:
            replace(self._data, value)
        self._waiting = None
        self._placed()

    def _placed(self) -> None:
        """Give the gradient, and what trainers keep, the place of the values."""
        placements.note(self, self._data)
        self._attach()
        for trainer in self._trainers:
            trainer._follow(self)

    def _shard(self, plan: Plan, name: str) -> Sharding | None:
        """Lay the parameter out on a mesh, now or when it gets values; returns the layout, None if
        the shape is not known yet.
        """
        before, self._plan = self._plan, (plan, name)
        try:
            place = self._planned()
        except ValueError:
            self._plan = before
            raise
        if self._data is not None and place is not None:
            self._move(place)
        return place

    def _move(self, place: Place) -> None:
        with outside():
            replace(self._data, handles.read(moved(self._data, place)))
        self._placed()

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
                f"{self._shape} is still not known after infer_shape; define infer_shape(self, "
                "*inputs) in its block so that it sets the shape of each parameter"
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
        here, asked = device_of(self._data), as_device(device)
        if asked != here and asked not in devices_of(here):
            raise RuntimeError(
                f"Parameter '{self.name}' is on {here}, not on {as_device(device)}; move it with "
                "reset_device"
            )

    def list_data(self) -> list[ndarray]:
        """Return a list of the array, which is one also where it lies on several devices."""
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

    @property
    def _grad(self) -> list[ndarray] | None:
        """List of the gradient, None without one: programs of MXNet's read it."""
        if self._data is None or self._grad_req == "null":
            return None
        return [self._data.grad]

    def list_grad(self) -> list[ndarray]:
        """Return a list of the gradient, which is one also where it lies on several devices."""
        return [self.grad()]

    def list_device(self) -> list[Place]:
        """Return the devices of the parameter, or those where it will be initialized."""
        if self._data is None and self._waiting is not None:
            return devices_of(self._waiting.device or current_device())
        self._check()
        return devices_of(device_of(self._data))

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

    def _load(self, values: Any, device: Place | None) -> None:
        """Store values that were computed elsewhere, whether initialized or not."""
        self.shape = values.shape
        if device is not None:
            self._plan = None
        waiting = self._waiting.device if self._waiting is not None else None
        wanted = device or self._planned() or waiting
        with (
            outside(),
            wanted or (on_device_of(self._data) if self._data is not None else nullcontext()),
        ):
            self._place(array(values, dtype=self._dtype))

    def zero_grad(self) -> None:
        """Set the gradient to zero; does nothing if there is none."""
        if self._data is not None:
            self._data.zero_grad()

    def reset_device(self, device: Any) -> None:
        """Move the parameter to another device, or to several, each of which gets a copy.

        Raises
        ------
        ValueError
            If it was not initialized.
        """
        target = place_of(device)
        if target is None:
            raise TypeError("reset_device: expected a device, got None")
        if self._data is not None:
            self._plan = None
            self._move(target)
        elif self._waiting is not None:
            self._plan, w = None, self._waiting
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
            here, before = device_of(self._data), self._data.grad
            with outside(), on_device_of(self._data):
                replace(self._data, handles.read(moved(self._data.astype(self._dtype), here)))
                self._attach()
                continue_gradient(before, self._data.grad)

    def var(self) -> symbol.Symbol:
        """Return a symbolic variable for the parameter.

        Examples
        --------
        >>> gluon.Parameter("weight", shape=(2, 3)).var()
        <Symbol weight: (2, 3) float32>
        """
        return symbol.var(self.name, self._shape, self._dtype)

    # --- copies

    def _settings(self) -> dict[str, Any]:
        """Return all attributes, but for the values, where they lie, and who trains them."""
        return {k: v for k, v in self.__dict__.items() if k not in ("_trainers", "_data", "_plan")}

    def __getstate__(self) -> dict[str, Any]:
        settings, waiting = self._settings(), self._waiting
        if waiting is not None and isinstance(waiting.device, Sharding):
            settings["_waiting"] = with_changes(waiting, device=None)
        return {
            **settings,
            "values": None if self._data is None else self._data.asnumpy(),
        }

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = memo[id(self)] = object.__new__(type(self))
        copied.__dict__.update(deepcopy(self._settings(), memo))
        copied._trainers, copied._plan, copied._data = weakref.WeakSet(), self._plan, None
        if self._data is not None:
            copied._place(self._data.copy())
        return copied

    def __setstate__(self, state: dict[str, Any]) -> None:
        values = state.pop("values")
        self.__dict__.update(state)
        self._trainers, self._plan = weakref.WeakSet(), None
        self._data = None
        if values is not None:
            self._place(array(values))


def _as_shape(shape: Any) -> tuple[int, ...]:
    lengths = shape if isinstance(shape, Sequence) else (shape,)
    return tuple(-1 if n is None or int(n) <= 0 else int(n) for n in lengths)


__all__ = ["Parameter", "draw_seed", "once"]
