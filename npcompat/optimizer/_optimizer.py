"""Base class of optimizers: learning rates, update counts, states, and the step."""

import functools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import FunctionType, MethodType
from typing import Any, ClassVar, TypeVar

import numpy as onp

import npcompat.numpy as np
from npcompat._internal.backend.jax import language, sharding
from npcompat._internal.core import changes, dtypes, modes
from npcompat._internal.core.handle import Value
from npcompat._internal.dispatch import array_like, handles, late_bound, placement, writes
from npcompat._internal.dispatch.devices import device_of, moved
from npcompat._internal.dispatch.meshes import Sharding
from npcompat._internal.dispatch.outside_traces import (
    in_trace,
    outside,
    value_outside,
    versions_outside,
)
from npcompat._internal.dispatch.placement import constant
from npcompat._internal.support import argument_errors
from npcompat._internal.support.interrupts import uninterrupted
from npcompat.numpy._ndarray import ndarray
from npcompat.optimizer._parameter_groups import _Group, _replace, _shortest
from npcompat.optimizer._step import _step_op, master_of, run_in_place

_float64 = onp.dtype("float64")


class DefaultRate(float):
    """Default of a `learning_rate`; unlike a user's value, it keeps a scheduler's rate."""

    __slots__ = ()


# --- the registry ---------------------------------------------------------------------------------

_REGISTRY: dict[str, type["Optimizer"]] = {}
_Class = TypeVar("_Class", bound="type[Optimizer]")


def register(klass: _Class) -> _Class:
    """Register an optimizer under its class name, in lower case.

    Examples
    --------
    >>> @optimizer.register
    ... class Still(optimizer.Optimizer):
    ...     def step(self, indices, weights, grads, states):
    ...         pass
    >>> type(optimizer.create("still")).__name__
    'Still'
    """
    _REGISTRY[klass.__name__.lower()] = klass
    return klass


def create(name: Any, **kwargs: Any) -> "Optimizer":
    """Create an optimizer by name; optimizers are returned.

    Parameters
    ----------
    name : str or Optimizer
        A registered name.
    **kwargs
        Arguments of its class, if it is a name.

    Raises
    ------
    ValueError
        If there is none of that name.

    Examples
    --------
    >>> optimizer.create("sgd", learning_rate=0.5).learning_rate
    0.5
    """
    if isinstance(name, Optimizer):
        return name
    if not isinstance(name, str) or name.lower() not in _REGISTRY:
        raise ValueError(
            f"optimizer {name!r}: expected an Optimizer, or one of {', '.join(sorted(_REGISTRY))}"
        )
    return _REGISTRY[name.lower()](**kwargs)


# --- the base -------------------------------------------------------------------------------------


class Optimizer:
    """Base class of optimizers.

    A subclass defines `create_state(index, weight)` and `step(indices, weights, grads, states)`; in
    `step` it calls `_update_count(index)`, and gets rates with `_get_lr(index)` and
    `_get_wd(index)`.

    Parameters
    ----------
    rescale_grad : float
        Factor of the gradients.
    param_idx2name : dict of int to str, optional
        Names of parameters, for `set_lr_mult` and `set_wd_mult`.
    wd : float
        Weight decay.
    clip_gradient : float, optional
        Bound of the absolute value of each element of a gradient.
    learning_rate : float, optional
        The learning rate; that of the scheduler, or 0.01, if not given.
    lr_scheduler : LRScheduler or callable, optional
        Learning rate schedule: gives the learning rate of the number of an update.
    sym : None
        Symbols are not supported: anything else raises NotImplementedError.
    begin_num_update : int
        Number of earlier updates.
    multi_precision : bool
        Whether 16-bit parameters are updated in float32, in a master copy kept with the state.
    param_dict : dict of int to Parameter, optional
        The parameters, for their factors `lr_mult` and `wd_mult`.
    aggregate_num, use_fused_step
        Hints to MXNet's implementation, without effect: all parameters are updated in one program.
    """

    _untracked: ClassVar[frozenset[str]] = frozenset(
        # each step sets the first, and rates and decays are arrays of the groups
        ["rescale_grad", "begin_num_update", "num_update", "_lr", "_wd", "_usable"]
    )
    _registries: ClassVar[tuple[str, ...]] = ()
    rule: ClassVar[str | None] = None
    _decays: ClassVar[bool] = True
    opt_registry: ClassVar[dict[str, type["Optimizer"]]] = _REGISTRY
    register: ClassVar[Callable[..., Any]] = staticmethod(register)
    create_optimizer: ClassVar[Callable[..., "Optimizer"]] = staticmethod(create)

    def __init__(
        self,
        rescale_grad: float = 1.0,
        param_idx2name: Mapping[Any, str] | None = None,
        wd: float = 0.0,
        clip_gradient: float | None = None,
        learning_rate: float | None = None,
        lr_scheduler: Any = None,
        sym: None = None,
        begin_num_update: int = 0,
        multi_precision: bool = False,
        param_dict: Mapping[Any, Any] | None = None,
        aggregate_num: int | None = None,
        use_fused_step: bool | None = None,
        **unknown: Any,
    ) -> None:
        for name in unknown:
            raise argument_errors.unknown(
                type(self).__name__, name, argument_errors.of_constructors(type(self))
            )
        if sym is not None:
            raise NotImplementedError(
                "Optimizer(sym=...): multipliers come from the parameters: give param_dict"
            )
        self.rescale_grad: Any = rescale_grad
        self.lr_scheduler = lr_scheduler
        asked = learning_rate is not None and not isinstance(learning_rate, DefaultRate)
        if lr_scheduler is not None and asked:
            lr_scheduler.base_lr = learning_rate
        if lr_scheduler is not None:
            learning_rate = getattr(lr_scheduler, "base_lr", None)  # a function has none
        self.clip_gradient = clip_gradient
        self.begin_num_update = int(begin_num_update)
        self.multi_precision = bool(multi_precision)
        self.idx2name, self.param_dict = dict(param_idx2name or {}), dict(param_dict or {})
        self.lr_mult: dict[Any, float] = {}
        self.wd_mult: dict[Any, float] = {}
        self._wd = self._decay(wd)
        self._usable: Any = None  # bool array: gradients are finite; None if not checked
        self._groups: list[_Group] = []
        self._places: dict[Any, tuple[int, int]] = {}
        with outside():
            rate = (
                0.01
                if learning_rate is None
                else argument_errors.number(type(self).__name__, "learning_rate", learning_rate)
            )
            self._lr = np.array(rate, dtype=_float64)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        changes.note()  # compiled steps contain the values of hyperparameters

    @property
    def decides_itself(self) -> bool:
        """True if the step's own program skips unusable gradients.

        Other optimizers must not be called with unusable gradients.
        """
        return self.rule is not None

    # --- rates

    @property
    def learning_rate(self) -> float:
        """Learning rate, that of the scheduler if there is one."""
        if self.lr_scheduler is not None:
            return float(self.lr_scheduler(self.num_update))
        return float(self._lr)

    def set_learning_rate(self, lr: float) -> None:
        """Change the learning rate, without recompilation.

        Raises
        ------
        UserWarning
            If there is a scheduler.
        """
        if self.lr_scheduler is not None:
            raise UserWarning(
                "set_learning_rate: there is an lr_scheduler, which gives the learning rate"
            )
        self._lr[...] = lr

    lr = property(lambda self: self.learning_rate, set_learning_rate, doc="The learning rate.")

    @property
    def wd(self) -> float:
        """Weight decay."""
        return self._wd

    @wd.setter
    def wd(self, wd: float) -> None:
        self._wd = self._decay(wd)
        self._multipliers_changed()

    def _decay(self, wd: Any) -> float:
        """Return a weight decay as a float; raise where it is none, or the rule has none."""
        name = type(self).__name__
        found = argument_errors.number(name, "wd", wd)
        if found and not self._decays:
            raise NotImplementedError(f"{name}(wd={found}): it has no weight decay")
        return found

    def set_lr_mult(self, args_lr_mult: Mapping[Any, float]) -> None:
        """Set learning rate multipliers, by index or name of a parameter."""
        self.lr_mult = dict(args_lr_mult)
        self._multipliers_changed()

    def set_wd_mult(self, args_wd_mult: Mapping[Any, float]) -> None:
        """Set weight decay multipliers, by index or name of a parameter."""
        self.wd_mult = dict(args_wd_mult)
        self._multipliers_changed()

    def _factor(self, index: Any, attribute: str) -> float:
        if index in self.param_dict:
            return float(getattr(self.param_dict[index], attribute))
        given: dict[Any, float] = getattr(self, attribute)
        return float(given.get(index, given.get(self.idx2name.get(index), 1.0)))

    def _multipliers(
        self, indices: Sequence[Any]
    ) -> tuple[onp.ndarray[Any, Any], onp.ndarray[Any, Any]]:
        factors = _shortest([self._factor(i, "lr_mult") for i in indices], 1.0)
        return factors, _shortest([self._wd * self._factor(i, "wd_mult") for i in indices], 0.0)

    def _multipliers_changed(self) -> None:
        for group in self._groups:
            for array, new in zip(
                (group.factors, group.decays), self._multipliers(group.indices), strict=True
            ):
                with nullcontext() if in_trace(array) else outside():
                    _replace(array, constant(new))

    @property
    def num_update(self) -> int:
        """Number of updates."""
        return max([self.begin_num_update, *[int(g.counts.max()) for g in self._groups]])

    def _known(self, indices: Sequence[Any]) -> None:
        """Register parameters that are new."""
        new = [i for i in indices if i not in self._places]
        if not new:
            return
        with outside():
            counts = np.array(onp.int32(self.begin_num_update))
            factors, decays = map(np.array, self._multipliers(new))
        self._places.update({index: (len(self._groups), at) for at, index in enumerate(new)})
        self._groups.append(_Group(list(new), counts, factors, decays, []))
        self._groups[-1].set_unstepped()

    def _last_steps(self, indices: Iterable[Any]) -> dict[Any, int]:
        """Return the versions at which steps last counted parameters; 0 if none has."""
        versions = [
            0 if (version := versions_outside(group.counts)[0]) in group.unstepped else version
            for group in self._groups
        ]
        places = self._places
        return {i: versions[places[i][0]] if i in places else 0 for i in indices}

    # --- rates, for steps of users' subclasses

    def _place(self, index: Any) -> tuple[_Group, int]:
        self._known([index])
        which, at = self._places[index]
        return self._groups[which], at

    def _update_count(self, index: Any) -> None:
        """Count an update of a parameter."""
        group, at = self._place(index)
        if len(group.indices) == 1:
            group.counts[...] += 1
        else:
            group.separate()
            group.counts[at] += 1

    def _get_lr(self, index: Any) -> Any:
        """Return the learning rate of a parameter, an array."""
        group, at = self._place(index)
        lr = self._lr if self.lr_scheduler is None else np.asarray(self._rate_of(self._latest()))
        return (lr * group.at(group.factors, at, 1.0)).astype("float32")

    def _latest(self) -> Any:
        """Return the number of updates, an array."""
        return functools.reduce(np.maximum, [group.counts.max() for group in self._groups])

    def _get_wd(self, index: Any) -> Any:
        """Return the weight decay of a parameter, an array."""
        group, at = self._place(index)
        return group.at(group.decays, at, 0.0).astype("float32")

    # --- states

    def create_state(self, index: Any, weight: Any) -> "tuple[ndarray, ...] | None":
        """Create the optimizer state of a parameter: a tuple of arrays, or None."""
        if self.rule is None:
            return None
        memory = language.xp.optimizer_memory(self.rule, self._hyper(), weight.shape, weight.dtype)
        with laid_out_as(weight), outside():
            return tuple([np.zeros(shape, dtype=dtype) for shape, dtype in memory])

    def create_state_multi_precision(self, index: Any, weight: Any) -> tuple[Any, ...] | None:
        """Create the state of a parameter, preceded by a float32 master copy if it needs one.

        A 16-bit parameter needs one with `multi_precision`; that of an optimizer without a rule is
        a pair of the copy and what `create_state` gives.
        """
        if not self._keeps_master(weight.dtype):
            return self.create_state(index, weight)
        now = value_outside(weight)
        with outside():
            master = handles.wrap(now).astype("float32")
        own = self.create_state(index, master)
        return (master, own) if self.rule is None else (master, *(own or ()))

    def _keeps_master(self, dtype: onp.dtype[Any]) -> bool:
        """Return True if the states of parameters of a dtype begin with a master copy."""
        return self.multi_precision and is_narrow(dtype)

    def _hyper(self) -> tuple[tuple[str, Any], ...]:
        """Return the rule's hyperparameters, which are compile-time constants.

        A rule that has `clip` among them clips gradients itself.
        """
        return ()

    def _mark(self, index: Any) -> Hashable:
        """Return the rule's compile-time constant for a single parameter."""
        return None

    def _begin(self, indices: Sequence[Any], weights: Sequence[Any], states: Sequence[Any]) -> None:
        """Create the state that all parameters share, before the first step."""

    def _shared_memory(self) -> dict[str, Any]:
        """Return the state that all parameters share, by name."""
        return {}

    # --- steps

    def step(
        self,
        indices: Sequence[Any],
        weights: Sequence[Any],
        grads: Sequence[Any],
        states: Sequence[Any],
    ) -> None:
        """Update parameters in place.

        Parameters
        ----------
        indices : sequence
            Indices of the parameters.
        weights, grads : sequence of ndarray
            Parameters and their gradients.
        states : sequence
            Result of `create_state` for each.
        """
        if self.rule is None:
            raise NotImplementedError(
                f"{type(self).__name__} must define step(self, indices, weights, grads, states)"
            )
        self._apply_rule(indices, weights, grads, states)

    def fused_step(
        self,
        indices: Sequence[Any],
        weights: Sequence[Any],
        grads: Sequence[Any],
        states: Sequence[Any],
    ) -> None:
        """Update parameters in place, as `step`."""
        self.step(indices, weights, grads, states)

    def update(self, indices: Any, weights: Any, grads: Any, states: Any) -> None:
        """Update one parameter, or several.

        The arguments are those of `step`, or single entries instead of lists of one.
        """
        if not isinstance(indices, list | tuple):
            indices, weights, grads, states = [indices], [weights], [grads], [states]
        self._known(indices)
        with modes.recorded(False):
            self.step(indices, weights, grads, states)

    def update_multi_precision(self, indices: Any, weights: Any, grads: Any, states: Any) -> None:
        """Update parameters, with states of `create_state_multi_precision`."""
        if not isinstance(indices, list | tuple):
            indices, weights, grads, states = [indices], [weights], [grads], [states]
        if self.rule is not None or not self.multi_precision:
            self.update(indices, weights, grads, states)
            return
        for index, weight, grad, state in zip(indices, weights, grads, states, strict=True):
            if is_narrow(weight.dtype):
                master, own = state
                with modes.recorded(False):
                    master[...] = master_of(np, weight, master)
                self.update([index], [master], [grad.astype("float32")], [own])
                weight[...] = master
            else:
                self.update([index], [weight], [grad], [state])

    def _scheduled(self, indices: Sequence[Any]) -> Value:
        """Return the learning rate of an update of some parameters: that of the number of updates
        after it.
        """
        if self.lr_scheduler is None:
            return handles.read(self._lr)
        places = [self._places[i] for i in indices]
        numbers: list[Any] = []
        for which, group in enumerate(self._groups):
            stepped = [at for of, at in places if of == which]
            if len(stepped) < len(group.indices):
                numbers.append(group.counts.max())
            if stepped and len(stepped) < len(group.indices):
                numbers.append(group.at(group.counts, np.array(stepped), 0).max() + 1)
            elif stepped:
                numbers.append(group.counts.max() + 1)
        return array_like.as_value(self._rate_of(functools.reduce(np.maximum, numbers)))

    def _rate_of(self, update: Any) -> Any:
        """Return the scheduler's rate; in a trace its branches are parts of the program."""
        if modes.current().trace is None or not callable(self.lr_scheduler):
            return self.lr_scheduler(update)
        return late_bound.converted(_called(self.lr_scheduler))(update)

    def _given(self, indices: Sequence[Any]) -> list[Value]:
        """Return the first operands of a step of some parameters: learning rate, gradient scale, and
        usability flag.

        The flag is present only if usability is checked.
        """
        usable = [] if self._usable is None else [handles.read(self._usable)]
        return [self._scheduled(indices), array_like.as_value(self.rescale_grad), *usable]

    def _apply_rule(
        self,
        indices: Sequence[Any],
        weights: Sequence[Any],
        grads: Sequence[Any],
        states: Sequence[Any],
    ) -> None:
        """Update parameters by the rule, in one operator."""
        if not indices:
            return
        self._known(indices)
        kept, hyper = [tuple(s) if s is not None else () for s in states], self._hyper()
        masters = tuple([self._keeps_master(w.dtype) for w in weights])
        touched = [self._places[i][0] for i in indices]
        for which, group in enumerate(self._groups):
            if touched.count(which) not in (0, len(group.indices)):
                group.separate()
        counts, scalars = (
            [g.counts for g in self._groups],
            [*[g.factors for g in self._groups], *[g.decays for g in self._groups]],
        )
        flat = [a for state in kept for a in state]
        attrs = (
            tuple([self._places[i] for i in indices]),
            len(self._groups),
            tuple(map(len, kept)),
            self.rule,
            hyper,
            None if "clip" in dict(hyper) else self.clip_gradient,
            masters,
            tuple(map(self._mark, indices)),
            self._usable is not None,
        )
        written = [*weights, *flat, *counts]
        op = _step_op(len(written))
        values = self._given(indices)
        first_count = len(values)
        values += [handles.read(a) for a in (*counts, *scalars, *weights, *grads, *flat)]
        at = first_count + len(counts)
        rates = [values[0], *values[at : at + len(scalars)]]
        placement.keep_beside(type(values[at + len(scalars)].payload), rates, op.name)
        first = first_count + 3 * len(counts)
        states_at = first + 2 * len(weights)
        positions = (
            *range(first, first + len(weights)),
            *range(states_at, states_at + len(flat)),
            *range(first_count, first_count + len(counts)),
        )
        with uninterrupted:
            results = run_in_place(op, values, attrs, written, positions)
            found = results if op.outputs > 1 else (results,)
            for handle, value in zip(written, found, strict=True):
                writes.write(handle, value)


def _called(function: Any) -> Any:
    """Return the function or method that calling an object calls."""
    return function if isinstance(function, FunctionType | MethodType) else function.__call__


def laid_out_as(weight: Any) -> AbstractContextManager[None]:
    """Return a context that lays new arrays out as a parameter, if it lies on several devices."""
    place = sharding.spread(value_outside(weight).payload) if sharding.several[0] else None
    return nullcontext() if place is None else modes.changed(device=place)


def follow(array: Any, weight: Any) -> None:
    """Move an optimizer's state to the place of its parameter, if it is elsewhere."""
    with outside():
        place = device_of(weight)
        if isinstance(place, Sharding) and array.shape != weight.shape:
            place = place.mesh()
        if device_of(array) != place:
            writes.relocate(array, handles.read(moved(array, place)))


def is_narrow(dtype: onp.dtype[Any]) -> bool:
    return dtypes.is_float(dtype) and dtype.itemsize < 4


__all__ = ["Optimizer", "create", "register"]
