"""MXNet's custom operators: one class computes, another infers types.

    @operator.register("double")
    class DoubleProp(operator.CustomOpProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Double()

    operator.Custom(x, op_type="double")

New code is shorter with `npx.Custom`, on which these are built.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as onp

from npcompat._internal.compile import custom_gradient
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.dispatch import array_like, handles, late_bound, writes
from npcompat._internal.dispatch.placement import host_payload
from npcompat._internal.support.errors import OperatorError
from npcompat.numpy._creation import asarray
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy_extension import _custom

_P = TypeVar("_P", bound="type[CustomOpProp]")
_registered: dict[str, "type[CustomOpProp]"] = {}


class CustomOp:
    """Computation of a custom operator; methods are overridden by the subclass."""

    def forward(
        self,
        is_train: bool,
        req: list[str],
        in_data: list[Any],
        out_data: list[Any],
        aux: list[Any],
    ) -> None:
        """Compute the outputs, and `assign` them to `out_data`.

        Parameters
        ----------
        is_train : bool
            True in training mode.
        req : list of str
            Assignment mode of each output, for `assign`.
        in_data, out_data, aux : list of ndarray
            Inputs, outputs, and auxiliary states, which may be written.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define forward")

    def backward(
        self,
        req: list[str],
        out_grad: list[Any],
        in_data: list[Any],
        out_data: list[Any],
        in_grad: list[Any],
        aux: list[Any],
    ) -> None:
        """Compute the gradients of the inputs, and `assign` them to `in_grad`."""
        raise NotImplementedError(f"{type(self).__name__} does not define backward")

    def assign(self, dst: Any, req: str, src: Any) -> None:
        """Assign `src` to an array as `req` asks: 'null', 'write', 'inplace' or 'add'."""
        if req not in ("null", "write", "inplace", "add"):
            raise ValueError(f"req: expected 'null', 'write', 'inplace' or 'add', got {req!r}")
        if req == "add":
            dst[...] += src
        elif req != "null":
            dst[...] = src


class CustomOpProp:
    """Properties of a custom operator: names, types; overridden by the subclass.

    Parameters
    ----------
    need_top_grad : bool
        Whether `backward` uses the gradients of the outputs; a loss layer does not, and gets zeros.
    """

    def __init__(self, need_top_grad: bool = True) -> None:
        self.need_top_grad_ = need_top_grad

    def list_arguments(self) -> list[str]:
        """Return the names of the inputs."""
        return ["data"]

    def list_outputs(self) -> list[str]:
        """Return the names of the outputs."""
        return ["output"]

    def list_auxiliary_states(self) -> list[str]:
        """Return the names of the auxiliary states, which follow the inputs."""
        return []

    def infer_shape(self, in_shape: list[Any]) -> tuple[Any, ...]:
        """Infer the shapes of inputs, outputs and (optionally) states.

        By default all have the shape of the first input.
        """
        return (
            in_shape,
            [in_shape[0]] * len(self.list_outputs()),
            [in_shape[0]] * len(self.list_auxiliary_states()),
        )

    def infer_type(self, in_type: list[Any]) -> tuple[Any, ...]:
        """Infer the dtypes of inputs, outputs and (optionally) states.

        By default all have the dtype of the first input.
        """
        return (
            in_type,
            [in_type[0]] * len(self.list_outputs()),
            [in_type[0]] * len(self.list_auxiliary_states()),
        )

    def create_operator(self, ctx: Any, in_shapes: list[Any], in_dtypes: list[Any]) -> CustomOp:
        """Create the operator for inputs of these types."""
        raise NotImplementedError(f"{type(self).__name__} does not define create_operator")


def register(reg_name: str) -> Callable[[_P], _P]:
    """Register a subclass of `CustomOpProp` under a name; returns a decorator.

    Raises
    ------
    ValueError
        If another class has the name.
    """

    def add(prop: _P) -> _P:
        if not (isinstance(prop, type) and issubclass(prop, CustomOpProp)):
            raise TypeError(
                f"register({reg_name!r}): expected a subclass of CustomOpProp, got {prop!r}"
            )
        before = _registered.get(reg_name)
        if before is not None and (before.__module__, before.__qualname__) != (
            prop.__module__,
            prop.__qualname__,
        ):
            raise ValueError(
                f"register({reg_name!r}): {before.__module__}.{before.__qualname__} has the name "
                "already"
            )
        _registered[reg_name] = prop
        return prop

    return add


def get_all_registered_operators() -> list[str]:
    """Return the registered names."""
    return list(_registered)


def Custom(*args: Any, op_type: str, **kwargs: Any) -> ndarray | list[ndarray]:
    """Apply a registered operator.

    Parameters
    ----------
    *args : ndarray or Symbol
        The inputs, then the auxiliary states.
    op_type : str
        Its registered name.
    **kwargs
        Inputs by name; other arguments are passed to the registered class, as text.

    Returns
    -------
    ndarray or list of ndarray
        The outputs.

    Notes
    -----
    In a compiled function, and in a graph, the operator is called on the host, when the program
    runs, in the mode (training or prediction) in which the function was compiled or the graph was
    made.

    Examples
    --------
    >>> class Double(operator.CustomOp):
    ...     def forward(self, is_train, req, in_data, out_data, aux):
    ...         self.assign(out_data[0], req[0], 2 * in_data[0])
    ...     def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
    ...         self.assign(in_grad[0], req[0], 2 * out_grad[0])
    >>> @operator.register("double")
    ... class DoubleProp(operator.CustomOpProp):
    ...     def create_operator(self, ctx, in_shapes, in_dtypes):
    ...         return Double()
    >>> operator.Custom(np.array([1.0, 2.0]), op_type="double")
    array([2., 4.])
    """
    if op_type not in _registered:
        raise OperatorError(
            f"op_type: no operator {op_type!r} is registered; there is "
            f"{', '.join(_registered) or 'none'}"
        )
    prop: Any = _registered[op_type]
    arrays = {k: v for k, v in kwargs.items() if isinstance(v, Handle)}
    return _Call(op_type, prop(**{k: str(v) for k, v in kwargs.items() if k not in arrays})).apply(
        args, arrays
    )


class _Call:
    """Call of an operator: in Python, or as an operator of programs and graphs."""

    def __init__(self, name: str, prop: CustomOpProp) -> None:
        self.name, self.prop = name, prop
        self.arguments, self.states = (
            list(prop.list_arguments()),
            list(prop.list_auxiliary_states()),
        )
        self.outputs = len(prop.list_outputs())
        self.training = modes.current().training
        self.made: dict[Any, CustomOp] = {}

    def apply(self, args: Sequence[Any], by_name: dict[str, Any]) -> Any:
        names = [*self.arguments, *self.states]
        unknown = by_name.keys() - set(names[len(args) :])
        if unknown or len(args) + len(by_name) != len(names):
            received = f"{len(args)} by position" + (
                f" and {', '.join(by_name)} by name" if by_name else ""
            )
            raise OperatorError(
                f"{self.name}: expected the inputs {', '.join(names) or 'none'}, got {received}"
            )
        arrays = [
            a if isinstance(a, Handle) else asarray(a)
            for a in (*args, *[by_name[n] for n in names[len(args) :]])
        ]
        count = len(self.arguments)
        payloads = [handles.read(a).payload for a in arrays]
        symbolic = any([type(p) is late_bound.symbolic for p in payloads])
        if not symbolic:
            self._check(payloads)
        if symbolic or modes.current().trace is not None:
            outs = self._in_program(arrays)
            for state, after in zip(arrays[count:], outs[self.outputs :], strict=True):
                writes.write(state, handles.read(after.detach()))
        else:
            states = arrays[count:]
            made = custom_gradient.call(
                self.name,
                lambda *inputs: tuple(self.forward(list(inputs), states)),
                lambda xs, outs, grads: self.backward(list(grads), list(xs), list(outs), states),
                arrays[:count],
            )
            outs = list(made)
        return outs[0] if self.outputs == 1 else list(outs[: self.outputs])

    # --- the operator on arrays

    def forward(self, inputs: list[Any], states: list[Any]) -> list[Any]:
        outs = list(map(_blank, *self.types(inputs)[:2]))
        self.operator(inputs).forward(self.training, ["write"] * len(outs), inputs, outs, states)
        return outs

    def backward(
        self, grads: list[Any], inputs: list[Any], outs: list[Any], states: list[Any]
    ) -> list[Any]:
        found = [_blank(x.shape, x.dtype) for x in inputs]
        head_grads = (
            grads if self.prop.need_top_grad_ else [_blank(g.shape, g.dtype) for g in grads]
        )
        self.operator(inputs).backward(
            ["write"] * len(found), head_grads, inputs, outs, found, states
        )
        return found

    def operator(self, inputs: Sequence[Any]) -> CustomOp:
        """Return the operator for inputs of these types.

        Forward and backward share one instance, so that it may keep values.
        """
        key = tuple([(tuple(x.shape), dtypes.canonical(x.dtype)) for x in inputs])
        if key not in self.made:
            device = inputs[0].device if inputs else None
            self.made[key] = self.prop.create_operator(
                device, [list(s) for s, _ in key], [d for _, d in key]
            )
        return self.made[key]

    def types(self, inputs: Sequence[Any]) -> tuple[list[tuple[Any, ...]], list[Any]]:
        """Return shapes and dtypes of the outputs."""
        return self.shapes([x.shape for x in inputs]), self.kinds([x.dtype for x in inputs])

    def shapes(self, shapes: Sequence[Any]) -> list[tuple[Any, ...]]:
        found = [tuple(s) for s in self.prop.infer_shape([list(s) for s in shapes])[1]]
        return self._counted(found, "infer_shape")

    def kinds(self, kinds: Sequence[Any]) -> list[Any]:
        found = [dtypes.canonical(d) for d in self.prop.infer_type(list(kinds))[1]]
        return self._counted(found, "infer_type")

    def _counted(self, found: list[Any], what: str) -> list[Any]:
        if len(found) != self.outputs:
            raise ValueError(
                f"{self.name}: {what} tells of {len(found)} outputs, but list_outputs of "
                f"{self.outputs}"
            )
        return found

    def _check(self, payloads: Sequence[Any]) -> None:
        """Raise unless inputs and states have the shapes that `infer_shape` returns for them."""
        count = len(self.arguments)
        found = self.prop.infer_shape([list(p.shape) for p in payloads[:count]])
        wanted = [*found[0], *(found[2] if len(found) > 2 else [])]
        for name, shape, p in zip([*self.arguments, *self.states], wanted, payloads, strict=False):
            if tuple(shape) != tuple(p.shape):
                raise ValueError(
                    f"{self.name}: {name}: infer_shape wants shape {tuple(shape)}, got "
                    f"{tuple(p.shape)}"
                )

    # --- the operator in programs and graphs

    def _in_program(self, arrays: Sequence[Any]) -> list[Any]:
        """Return the outputs, and the states after the call."""
        count, states = len(self.arguments), len(self.states)

        def on_host(compute: Callable[[list[Any]], list[Any]]) -> Callable[..., Any]:
            def call(*given: Any) -> list[Any]:
                with modes.changed(
                    trace=None,
                    recording=False,
                    training=self.training,
                    backend="numpy",
                    device=None,
                ):
                    made = compute([handles.wrap(Value(onp.array(a))) for a in given])
                    return [host_payload(handles.read(m)) for m in made]

            return call

        def forward(given: list[Any]) -> list[Any]:
            return [*self.forward(given[:count], given[count:]), *given[count:]]

        def backward(given: list[Any]) -> list[Any]:
            a, b = count + states, count + states + self.outputs
            return self.backward(given[b:], given[:count], given[a:b], given[count:a])

        def bprop(*given: Any) -> tuple[Any, ...]:
            inputs, out, dout = given[:-2], given[-2], given[-1]
            outs, grads = ((out,), (dout,)) if self.outputs + states == 1 else (out, dout)
            found = pull(*inputs, *outs[: self.outputs], *grads[: self.outputs])
            return (*((found,) if count == 1 else found), *[None] * states)

        def nth(listed: Callable[..., Any], i: int) -> Callable[..., Any]:
            return lambda *types: listed(types)[i]

        def shapes(types: Sequence[Any]) -> list[Any]:
            return [*self.shapes(types[:count]), *types[count:]]

        def kinds(types: Sequence[Any]) -> list[Any]:
            return [*self.kinds(types[:count]), *types[count:]]

        ins, outs = range(count), range(self.outputs + states)
        pull = _custom.Custom(
            _named(on_host(backward), f"{self.name}_backward"),
            [nth(lambda t: t, i) for i in ins],
            [nth(lambda t: t, i) for i in ins],
            "pyfunc",
        )
        op = _custom.Custom(
            _named(on_host(forward), self.name),
            [nth(shapes, i) for i in outs],
            [nth(kinds, i) for i in outs],
            "pyfunc",
            bprop,
        )
        op.overwrites = tuple([(self.outputs + i, count + i) for i in range(states)])
        made = op(*arrays)
        return [made] if len(outs) == 1 else list(made)


def _named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    function.__name__ = name
    return function


def _blank(shape: Any, dtype: Any) -> Any:
    return array_like.array_of(onp.zeros(shape, dtype))


__all__ = ["Custom", "CustomOp", "CustomOpProp", "get_all_registered_operators", "register"]
