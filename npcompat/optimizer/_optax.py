"""Adapter for optax transformations."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import npcompat.numpy as np
from npcompat._internal.backend.jax import language, sharding
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.op import Op
from npcompat._internal.dispatch import array_like, handles, writes
from npcompat._internal.dispatch.outside_traces import outside, value_outside
from npcompat._internal.support.interrupts import uninterrupted
from npcompat.optimizer._optimizer import DefaultRate, Optimizer, follow
from npcompat.optimizer._step import kept_unless, master_of, run_in_place, step_types


def _step(
    xp: Any,
    *arrays: Any,
    places: Any,
    groups: int,
    masters: Any,
    state: int,
    transformation: Any,
    names: Any,
    clip: float | None,
    guarded: bool,
) -> Any:
    """Optimizer step of an optax transformation, as an operator.

    Learning rate, gradient scale, counts, factors, weights, gradients, copies in float32, state ->
    weights, copies, state, counts.
    """
    rest = iter(arrays)
    lr, rescale = next(rest), next(rest)
    usable = next(rest) if guarded else None
    counts, factors = ([next(rest) for _ in range(groups)] for _ in range(2))
    weights, grads = ([next(rest) for _ in places] for _ in range(2))
    copies = [
        master_of(xp, weight, next(rest)) if master else None
        for weight, master in zip(weights, masters, strict=True)
    ]
    kept = [next(rest) for _ in range(state)]
    new = xp.optax_step(
        lr,
        rescale,
        counts,
        factors,
        weights,
        grads,
        copies,
        kept,
        places,
        transformation,
        names,
        clip,
    )
    return tuple(
        kept_unless(
            xp, usable, new, [*weights, *[c for c in copies if c is not None], *kept, *counts]
        )
    )


class Optax(Optimizer):
    """Optimizer that wraps an optax transformation.

    `Trainer` creates it for a transformation. It gets all parameters in one dict by name, so that
    transformations of all parameters (`clip_by_global_norm`) and of some by name
    (`multi_transform`) work as in optax.

    Parameters
    ----------
    transformation : optax.GradientTransformation
        The transformation, including a learning rate.
    learning_rate : float
        Additional factor of its updates.
    lr_scheduler : LRScheduler, optional
        Schedule of that factor.
    rescale_grad, clip_gradient, multi_precision, param_idx2name, begin_num_update, param_dict
        As for `Optimizer`.

    Examples
    --------
    >>> import optax
    >>> net = nn.Dense(1, in_units=1, use_bias=False, weight_initializer="ones")
    >>> net.initialize()
    >>> clipped = optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.5))
    >>> trainer = gluon.Trainer(net.collect_params(), clipped)
    >>> with autograd.record():
    ...     y = net(np.array([[8.0]]))
    >>> y.backward()
    >>> trainer.step(1)
    >>> net.weight.data()
    array([[0.5]])
    """

    def __init__(
        self,
        transformation: Any,
        learning_rate: float | None = DefaultRate(1.0),
        lr_scheduler: Any = None,
        rescale_grad: float = 1.0,
        clip_gradient: float | None = None,
        multi_precision: bool = False,
        param_idx2name: Mapping[Any, str] | None = None,
        begin_num_update: int = 0,
        param_dict: Mapping[Any, Any] | None = None,
    ) -> None:
        if not is_transformation(transformation):
            raise TypeError(
                "Optax: expected an optax transformation (init and update), got "
                f"{type(transformation).__name__}"
            )
        super().__init__(
            rescale_grad,
            param_idx2name,
            clip_gradient=clip_gradient,
            learning_rate=learning_rate,
            lr_scheduler=lr_scheduler,
            begin_num_update=begin_num_update,
            multi_precision=multi_precision,
            param_dict=param_dict,
        )
        whole = getattr(transformation, "gradient_transformation", None)  # of `MultiSteps`
        self.transformation = transformation if whole is None else whole()
        self._state: dict[str, Any] | None = None
        self._indices: tuple[Any, ...] = ()
        self._op: Op | None = None

    @property
    def decides_itself(self) -> bool:
        """True, as for optimizers with a rule."""
        return True

    @property
    def state(self) -> dict[str, Any]:
        """State of the transformation, by its path in optax's tree; empty before the first step."""
        return dict(self._state or {})

    @property
    def learning_rate(self) -> float:
        """Learning rate, of `optax.inject_hyperparams`: other transformations do not show theirs.

        Raises
        ------
        NotImplementedError
            If the transformation does not show its rate.
        """
        return float(self._rate()) * super().learning_rate

    @learning_rate.setter
    def learning_rate(self, lr: float) -> None:
        self.set_learning_rate(lr)

    def set_learning_rate(self, lr: float) -> None:
        """Set the learning rate of `optax.inject_hyperparams`.

        Raises
        ------
        NotImplementedError
            If the transformation does not show its rate.
        """
        if self.lr_scheduler is not None:
            super().set_learning_rate(lr)  # which raises
        self._rate()[...] = lr / super().learning_rate

    lr = learning_rate

    def _rate(self) -> Any:
        """Return the array of the state that is the learning rate."""
        if self._state is None:
            names = [i for i in self.param_dict if self.param_dict[i].grad_req != "null"]
            weights = [self.param_dict[i].data() for i in names]
            self._known(names)
            self._begin(
                names,
                weights,
                [
                    self.create_state_multi_precision(i, w)
                    for i, w in zip(names, weights, strict=True)
                ],
            )
        for path, array in (self._state or {}).items():
            if path.endswith("hyperparams['learning_rate']"):
                return array
        raise NotImplementedError(
            "learning_rate of an optax transformation: it is inside of the transformation, which "
            "does not show it; wrap it by optax.inject_hyperparams, or give a schedule to optax"
        )

    def _names(self) -> tuple[str, ...]:
        return tuple([self.idx2name.get(i, str(i)) for i in self._indices])

    def _begin(self, indices: Sequence[Any], weights: Sequence[Any], states: Sequence[Any]) -> None:
        if self._state is not None:
            return
        self._indices = tuple(indices)
        full = [
            s[0] if self._keeps_master(w.dtype) else w for w, s in zip(weights, states, strict=True)
        ]
        now = [value_outside(w).payload for w in full]
        with outside():
            paths, leaves = language.xp.optax_state(self.transformation, self._names(), now)
            self._state = {
                path: np.array(array_like.array_of(leaf))
                for path, leaf in zip(paths, leaves, strict=True)
            }
        self._follow(full)

    def _follow(self, weights: Sequence[Any]) -> None:
        """Lay the state out as the parameters that its paths name; what is of no parameter, such
        as counts of steps, gets a copy on each of their devices.
        """
        if not sharding.several[0]:
            return
        found = {n: value_outside(w) for n, w in zip(self._names(), weights, strict=True)}
        cut = (v for v in found.values() if sharding.spread(v.payload) is not None)
        other = next(cut, next(iter(found.values())))
        for path, array in (self._state or {}).items():
            mine = next((v for name, v in found.items() if f"'{name}'" in path), other)
            follow(array, handles.wrap(mine))

    def _shared_memory(self) -> dict[str, Any]:
        return {f"state{path}": array for path, array in (self._state or {}).items()}

    def create_state(self, index: Any, weight: Any) -> tuple[()]:
        """Return an empty tuple: the transformation's state is shared by all parameters."""
        return ()

    def update_multi_precision(self, indices: Any, weights: Any, grads: Any, states: Any) -> None:
        """Update parameters, with states of `create_state_multi_precision`."""
        self.update(indices, weights, grads, states)

    def step(
        self,
        indices: Sequence[Any],
        weights: Sequence[Any],
        grads: Sequence[Any],
        states: Sequence[Any],
    ) -> None:
        """Update parameters in place; the arguments are those of `Optimizer.step`.

        Raises
        ------
        ValueError
            If these are not all the parameters that are known.
        """
        self._known(indices)
        if list(indices) != list(self._places):
            raise ValueError(
                "an optax transformation updates all its parameters together: expected "
                f"{list(self._places)}, got {list(indices)}"
            )
        self._begin(indices, weights, states)
        memory = list((self._state or {}).values())
        masters = tuple([self._keeps_master(w.dtype) for w in weights])
        copies = [s[0] for s, master in zip(states, masters, strict=True) if master]
        counts, factors = [g.counts for g in self._groups], [g.factors for g in self._groups]
        places = tuple([self._places[i] for i in indices])
        attrs = (
            places,
            len(counts),
            masters,
            len(memory),
            self.transformation,
            self._names(),
            self.clip_gradient,
            self._usable is not None,
        )
        written: list[Handle] = [*weights, *copies, *memory, *counts]
        operands = [*counts, *factors, *weights, *grads, *copies, *memory]
        values = self._given(indices)
        at = {id(h): len(values) + i for i, h in enumerate(operands)}
        values += map(handles.read, operands)
        op = self._operator(len(written))
        positions = tuple([at[id(h)] for h in written])
        with uninterrupted:
            results = self._run(op, values, attrs, written, positions)
            for handle, value in zip(written, results, strict=True):
                writes.write(handle, value)

    def _run(
        self,
        op: Op,
        values: list[Any],
        attrs: Any,
        written: Sequence[Handle],
        positions: tuple[int, ...],
    ) -> Any:
        try:
            return run_in_place(op, values, attrs, written, positions)
        except TypeError as error:
            missing = re.search(r"missing \d+ required keyword-only arguments?: (.*)", str(error))
            if missing is None:
                raise
            raise NotImplementedError(
                f"optax: the transformation asks for {missing[1]} at each step (as lbfgs, "
                "polyak_sgd and reduce_on_plateau do), which a Trainer does not know: call its "
                "update() in a compiled function of your own"
            ) from error

    def _operator(self, outputs: int) -> Op:
        """Return the step operator, which this optimizer owns: its programs are freed with it.

        There are always a weight and a count.
        """
        if self._op is None or self._op.outputs != outputs:
            names = (
                "places",
                "groups",
                "masters",
                "state",
                "transformation",
                "names",
                "clip",
                "guarded",
            )
            self._op = Op(
                "_npx_optax_step",
                _step,
                ("arrays",),
                variadic=True,
                attrs=dict.fromkeys(names),
                rule=step_types,
                outputs=outputs,
                kernels={"jax": _step},
                differentiable=False,
            )
        return self._op


def is_transformation(candidate: Any) -> bool:
    """Return True for an optax transformation: a pair of functions `init` and `update`.

    Does not import optax.
    """
    return (
        not isinstance(candidate, Optimizer)
        and callable(getattr(candidate, "init", None))
        and callable(getattr(candidate, "update", None))
    )


__all__ = ["Optax"]
