"""Trainer: applies an optimizer to the parameters of a block, after each backward pass."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as onp

from npcompat import optimizer as optimizers
from npcompat._internal.backend.jax import processes, sharding
from npcompat._internal.core import modes, trace_notes
from npcompat._internal.core.changes import Counted
from npcompat._internal.dispatch.meshes import Mesh, lies_on_all
from npcompat._internal.files import safetensors_file
from npcompat._internal.support.errors import ParameterFileError
from npcompat.gluon._parameter import Parameter, once
from npcompat.gluon._stale_gradients import StaleGradients
from npcompat.gluon.utils import all_finite
from npcompat.numpy_extension import cond
from npcompat.optimizer._optax import is_transformation
from npcompat.optimizer._optimizer import follow
from npcompat.optimizer._updater import state_leaves

_STORES = ("device", "local", "nccl")
_DISTRIBUTED = ("dist_sync", "dist_device_sync", "dist", "horovod")


class Trainer(Counted):
    """Trainer: updates parameters with an optimizer.

    Parameters
    ----------
    params : dict of str to Parameter, or sequence of Parameter
        The parameters to train, usually `net.collect_params()`.
    optimizer : str, Optimizer or optax.GradientTransformation
        An optimizer, its name, or an optax transformation, which `optimizer.Optax` wraps.
    optimizer_params : dict, optional
        Arguments of the optimizer, if it is a name or a transformation.
    kvstore : {'device', 'local', 'dist_sync', 'dist_device_sync', 'dist', 'horovod', None}
        Store in which MXNet sums gradients. XLA sums them here, so that names of one host mean the
        same; those of several lay the parameters out on the devices of all processes, with the
        values of process 0. Asynchronous stores raise NotImplementedError.
    compression_params : None
        Gradients are not compressed: anything else raises NotImplementedError.
    update_on_kvstore : {None, False}
        Parameters are updated where they are: True raises NotImplementedError.

    Examples
    --------
    >>> net = nn.Dense(1, in_units=1, weight_initializer="ones")
    >>> net.initialize()
    >>> trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    >>> with autograd.record():
    ...     loss = net(np.array([[2.0]]))
    >>> loss.backward()
    >>> trainer.step(batch_size=1)
    >>> net.weight.data()
    array([[0.8]])

    Gradients are clipped between backward and step; these are sums over the batch, so the limit is
    for the whole of it:

    >>> with autograd.record():
    ...     loss = net(np.array([[2.0], [4.0]]))
    >>> loss.backward()
    >>> grads = [p.grad() for p in net.collect_params().values()]
    >>> round(gluon.utils.clip_global_norm(grads, 1.0), 3)
    6.325
    >>> trainer.step(batch_size=2)

    Gradients of several batches are added up before one step:

    >>> net.setattr("grad_req", "add")
    >>> for x in (1.0, 2.0, 3.0):
    ...     with autograd.record():
    ...         loss = net(np.array([[x]]))
    ...     loss.backward()
    >>> net.weight.grad()
    array([[6.]])
    >>> trainer.step(batch_size=3)
    >>> net.zero_grad()
    """

    def __init__(
        self,
        params: Mapping[str, Parameter] | Sequence[Parameter],
        optimizer: Any,
        optimizer_params: Mapping[str, Any] | None = None,
        kvstore: str | None = "device",
        compression_params: Mapping[str, Any] | None = None,
        update_on_kvstore: bool | None = None,
    ) -> None:
        if kvstore not in (*_STORES, *_DISTRIBUTED, None):
            raise NotImplementedError(
                f"Trainer(kvstore={kvstore!r}): gradients are summed by XLA, in step with all; "
                f"expected {', '.join(map(repr, (*_STORES, *_DISTRIBUTED)))} or None"
            )
        if compression_params is not None:
            raise NotImplementedError(
                "Trainer(compression_params=...): gradients are not compressed"
            )
        if update_on_kvstore:
            raise NotImplementedError(
                "Trainer(update_on_kvstore=True): parameters are updated where they are"
            )
        if not isinstance(optimizer_params, Mapping | None):
            raise TypeError(
                f"Trainer: optimizer_params: expected a dict, got {type(optimizer_params).__name__}"
            )
        named = _checked(params)
        self._params = list(named.values())
        by_index = dict(enumerate(self._params))
        if isinstance(optimizer, optimizers.Optimizer):
            if optimizer_params:
                raise ValueError(
                    "Trainer: optimizer_params go with the name of an optimizer; an Optimizer has "
                    "its parameters already"
                )
            self._optimizer = optimizer
            optimizer.param_dict = by_index
        else:
            arguments = {
                "param_dict": by_index,
                "param_idx2name": dict(enumerate(named)),
                **dict(optimizer_params or {}),
            }
            make = optimizers.Optax if is_transformation(optimizer) else optimizers.create
            self._optimizer = make(optimizer, **arguments)
        self._updater = optimizers.Updater(self._optimizer)
        self._scale = self._optimizer.rescale_grad
        self._stale = StaleGradients(self._optimizer)
        self._scaler: Any = None  # that of `amp.init_trainer`
        self._optimizer._known([i for i, p in by_index.items() if p.grad_req != "null"])
        for parameter in self._params:
            parameter._trainers.add(self)
        if kvstore in _DISTRIBUTED and processes.count() > 1:
            self._share()

    def _share(self) -> None:
        """Lay parameters of this process alone out on the devices of all, with the values of
        process 0.
        """
        everywhere = Mesh()()
        for parameter in self._params:
            if parameter._data is None:
                parameter.reset_device(everywhere)
            elif not lies_on_all(parameter._data):
                parameter.set_data(processes.broadcast(parameter._data.asnumpy()))
                parameter.reset_device(everywhere)

    @property
    def optimizer(self) -> optimizers.Optimizer:
        """Optimizer of the trainer."""
        return self._optimizer

    @property
    def learning_rate(self) -> float:
        """Learning rate."""
        return self._optimizer.learning_rate

    def set_learning_rate(self, lr: float) -> None:
        """Change the learning rate, without recompilation.

        Raises
        ------
        UserWarning
            If the optimizer has a scheduler.
        """
        self._optimizer.set_learning_rate(lr)

    def _follow(self, parameter: Parameter) -> None:
        """Move the states of a parameter to where it lies now."""
        if not sharding.several[0]:
            return
        for i, p in enumerate(self._params):
            if p is parameter:
                for array in state_leaves(self._updater.states.get(i)):
                    follow(array, p._data)
        if isinstance(self._optimizer, optimizers.Optax) and self._optimizer._state is not None:
            trained = [p._data for p in self._params if p.grad_req != "null"]
            self._optimizer._follow(trained)

    def _multipliers_changed(self) -> None:
        self._optimizer._multipliers_changed()

    def step(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Update the parameters with their gradients, divided by the batch size.

        Parameters
        ----------
        batch_size : int
            Divisor of the gradients.
        ignore_stale_grad : bool
            Whether parameters whose gradient was not computed since the last step are left alone;
            else they raise.

        Raises
        ------
        UserWarning
            If a gradient is stale.
        """
        self.allreduce_grads()
        self.update(batch_size, ignore_stale_grad)

    def allreduce_grads(self) -> None:
        """Sum the gradients of several devices; a no-op: those of a loss over all are sums already."""

    def update(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Update the parameters, after `allreduce_grads`; the arguments are those of `step`."""
        if isinstance(batch_size, int | float | onp.number) and not batch_size > 0:
            raise ValueError(
                "Trainer: batch_size is what gradients are divided by, so it must be positive; "
                f"got {batch_size}"
            )
        if modes.current().trace is not None:
            for parameter in self._params:
                trace_notes.counted(parameter, "_grad_req")
            for name in ("_scale", "_scaler"):
                trace_notes.counted(self, name)
        trained = [i for i, p in enumerate(self._params) if p.grad_req != "null"]
        grads = {i: self._params[i].grad() for i in trained}
        stale = self._stale.find(grads)
        if stale and not ignore_stale_grad:
            names = ", ".join(f"{i} ({self._params[i].name})" for i in stale)
            raise UserWarning(
                f"the gradients of parameters {names} were not computed by backward since the "
                "last step. Were they part of what was "
                "recorded? Pass ignore_stale_grad=True to leave such parameters alone"
            )
        chosen = [i for i in trained if i not in stale]
        if chosen:
            self._apply(chosen, grads, self._scale / batch_size)
        self._stale.note(grads)

    def _apply(self, chosen: list[int], grads: Mapping[int, Any], scale: float) -> None:
        """Update parameters with gradients times a scale.

        With a loss scaler, does so only if all gradients are finite.
        """
        optimizer, scaler = self._optimizer, self._scaler
        optimizer.rescale_grad = scale
        arguments = chosen, [grads[i] for i in chosen], [self._params[i].data() for i in chosen]
        if scaler is None:
            self._updater(*arguments)
            return
        with modes.changed(recording=False):
            usable = all_finite(*arguments[1])
            optimizer.rescale_grad = scale / scaler._taken_off()
            optimizer._usable = usable
            try:
                if optimizer.decides_itself:
                    self._updater(*arguments)
                else:
                    cond(usable, lambda: self._updater(*arguments), lambda: None, ())
            finally:
                optimizer.rescale_grad, optimizer._usable = scale, None
            scaler._step(usable)

    # --- states

    def save_states(self, fname: str | os.PathLike[str]) -> None:
        """Write the optimizer states to a safetensors file.

        An interruption leaves an older file as it was. Before the first step, the initial states
        are written.
        """
        if all([p._data is not None for p in self._params if p.grad_req != "null"]):
            self._begin()
        safetensors_file.save(fname, self._states())

    def load_states(self, fname: str | os.PathLike[str]) -> None:
        """Load the states that `save_states` wrote; nothing is changed unless everything fits.

        Raises
        ------
        ParameterFileError
            If the file is damaged, or was written by another optimizer or for other parameters.
        """
        loaded = safetensors_file.load(fname)
        self._begin()
        here = self._states()
        differences = [f"{n}: missing there" for n in here if n not in loaded]
        differences += [
            f"{n}: not a state of this trainer" for n in sorted(loaded) if n not in here
        ]
        differences += [
            f"{n}: has shape {loaded[n].shape} and dtype {loaded[n].dtype} there, {a.shape} and "
            f"{a.dtype} here"
            for n, a in here.items()
            if n in loaded and (loaded[n].shape, loaded[n].dtype) != (a.shape, a.dtype)
        ]
        if differences:
            listed = "\n  ".join(differences)
            raise ParameterFileError(
                f"states of {os.fspath(fname)} do not fit the trainer; nothing was loaded:\n  "
                f"{listed}"
            )
        self._optimizer._lr[...] = onp.array(loaded["learning_rate"])
        for i, group in enumerate(self._optimizer._groups):
            group.set_counts(loaded[f"counts.{i}"])
        for name, array in self._memory().items():
            array[...] = onp.array(loaded[name])

    def _begin(self) -> None:
        """Create the optimizer states that no step has created yet."""
        trained = {i: p.data() for i, p in enumerate(self._params) if p.grad_req != "null"}
        states = self._updater.states
        self._updater.prepare(list(trained), list(trained.values()))
        self._optimizer._begin(list(trained), list(trained.values()), [states[i] for i in trained])

    def _states(self) -> dict[str, onp.ndarray[Any, Any]]:
        """Return the optimizer states on the host: learning rate, update counts, slot variables."""
        found = {"learning_rate": self._optimizer._lr.asnumpy()}
        for i, group in enumerate(self._optimizer._groups):
            found[f"counts.{i}"] = onp.broadcast_to(group.counts.asnumpy(), (len(group.indices),))
        return found | {name: array.asnumpy() for name, array in self._memory().items()}

    def _memory(self) -> dict[str, Any]:
        own = {
            f"{i}.{j}": array
            for i, state in self._updater.states.items()
            for j, array in enumerate(state_leaves(state))
        }
        return (
            own
            | self._optimizer._shared_memory()
            | ({} if self._scaler is None else self._scaler.state())
        )


def _checked(params: Any) -> dict[str, Parameter]:
    found = (
        dict(params)
        if isinstance(params, Mapping)
        else {str(i): p for i, p in enumerate(params)}
        if isinstance(params, list | tuple)
        else None
    )
    if found is None or not all(isinstance(p, Parameter) for p in found.values()):
        raise TypeError(
            "Trainer: params must be what collect_params() gives, or a list of Parameters; got "
            f"{type(params).__name__}"
        )
    return once(found)


__all__ = ["Trainer"]
