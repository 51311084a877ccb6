"""Hooks on blocks, and on the operators that they call."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from npcompat._internal.compile import custom_gradient
from npcompat._internal.core import modes, trace_notes
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.core.observer import Observer, Run
from npcompat._internal.core.op import Attrs, Op, short_name
from npcompat._internal.dispatch import handles
from npcompat.gluon.utils import HookHandle

Hook = Callable[..., object]
OpHook = Callable[[str, str, Any], object]


class Hooked:
    """Mixin of blocks with the methods that register hooks."""

    __slots__ = ()
    _forward_hooks: dict[Any, Hook]
    _forward_pre_hooks: dict[Any, Hook]
    _backward_hooks: dict[Any, Hook]
    _op_hooks: dict[Any, tuple[OpHook, bool]]

    def _note_hooks(self) -> None:
        """Let the program that is being made be used only while the hooks are the same."""
        for hooks in (
            self._forward_pre_hooks, self._op_hooks, self._forward_hooks, self._backward_hooks
        ):  # fmt: skip
            trace_notes.counted_items(hooks)

    def register_forward_pre_hook(self, hook: Hook) -> HookHandle:
        """Register `hook(block, inputs)`, called before each forward pass.

        The returned handle's `detach()` removes it. In a compiled block, hooks of child blocks are
        called once, while it is compiled, and again when hooks were added or removed.
        """
        return HookHandle(self._forward_pre_hooks, hook)

    def register_forward_hook(self, hook: Hook) -> HookHandle:
        """Register `hook(block, inputs, output)`, called after each forward pass.

        The returned handle's `detach()` removes it. In a compiled block, hooks of child blocks are
        called once, while it is compiled, and again when hooks were added or removed.
        """
        return HookHandle(self._forward_hooks, hook)

    def register_backward_hook(self, hook: Hook) -> HookHandle:
        """Register `hook(block, grad_inputs, grad_outputs)`, called when gradients come through.

        Both are tuples with an entry for each positional argument and each output; None for what
        has no gradient. A tuple that the hook returns replaces the gradients of the inputs.

        Raises
        ------
        NotImplementedError
            If the block is called while recording in a compiled function or block. A hybridized
            block can have such hooks itself.

        Examples
        --------
        >>> net = nn.Dense(1, in_units=2, use_bias=False, weight_initializer="ones")
        >>> net.initialize()
        >>> handle = net.register_backward_hook(lambda block, inputs, outputs: (inputs[0] * 10,))
        >>> x = np.ones((1, 2))
        >>> x.attach_grad()
        >>> with autograd.record():
        ...     y = net(x)
        >>> y.backward()
        >>> x.grad
        array([[10., 10.]])
        >>> handle.detach()
        """
        return HookHandle(self._backward_hooks, hook)

    def register_op_hook(self, callback: OpHook, monitor_all: bool = False) -> HookHandle:
        """Register `callback(name, operator, array)`, called for each output of each operator.

        With `monitor_all` it is called for inputs, too. While it is registered the block is not
        compiled; inside of another compiled function it is called once, with arrays that have no
        values.

        Examples
        --------
        >>> net = nn.Dense(2, activation="relu", in_units=3)
        >>> net.initialize()
        >>> def show(name, operator, array):
        ...     print(name, operator, array.shape)
        >>> handle = net.register_op_hook(show)
        >>> y = net(np.ones((4, 3)))
        fully_connected0_output _npx_fully_connected (4, 2)
        relu0_output _npx_relu (4, 2)
        >>> handle.detach()
        """
        return HookHandle(self._op_hooks, (callback, monitor_all))


class _GradientHooks:
    """Backward hooks during one call of a block: identities before and after it see gradients.

    Parameters
    ----------
    block : Block
        The block.
    hooks : sequence of callable
        Its hooks.
    """

    def __init__(self, block: Any, hooks: Sequence[Hook]) -> None:
        self._block, self._hooks = block, list(hooks)
        self._outputs: tuple[Any, ...] = ()
        self._count, self._places = 0, list[int]()

    def __call__(self, run: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call the block."""
        if modes.current().trace is not None:
            raise NotImplementedError(
                f"register_backward_hook: {type(self._block).__name__} is called in a compiled "
                "function or block, where gradients have no values when the hook is called; "
                "register it on the hybridized block itself, or don't compile"
            )
        found = list(args)
        self._count = len(args)
        self._places = [
            i
            for i, a in enumerate(args)
            if isinstance(a, Handle) and handles.read(a).node is not None
        ]
        if self._places:
            given = [args[i] for i in self._places]
            seen = custom_gradient.call("register_backward_hook", _same, self._entered, given)
            for i, array in zip(self._places, seen, strict=True):
                found[i] = array
        out = run(*found, **kwargs)
        single = isinstance(out, Handle)
        outs = [out] if single else out
        if not isinstance(outs, list | tuple) or not all(isinstance(o, Handle) for o in outs):
            raise TypeError(
                f"{type(self._block).__name__} has a backward hook, so it must return an array or "
                f"a list of arrays; got {type(out).__name__}"
            )
        passed = custom_gradient.call("register_backward_hook", _same, self._left, outs)
        return passed[0] if single else type(out)(passed)

    def _left(self, xs: Any, outs: Any, grads: Any) -> Any:
        """Gradients of the outputs have come; nothing comes back to inputs that are constants."""
        self._outputs = tuple(grads)
        if not self._places:
            self._call([])
        return grads

    def _entered(self, xs: Any, outs: Any, grads: Any) -> Any:
        """Gradients of the inputs have come."""
        return self._call(grads)

    def _call(self, grads: Sequence[Any]) -> Sequence[Any]:
        inputs: list[Any] = [None] * self._count
        for i, grad in zip(self._places, grads, strict=True):
            inputs[i] = grad
        for hook in self._hooks:
            returned: Any = hook(self._block, tuple(inputs), self._outputs)
            if returned is not None:
                inputs = list(returned) if isinstance(returned, list | tuple) else [returned]
                if len(inputs) != self._count:
                    raise ValueError(
                        f"backward hook of {type(self._block).__name__}: expected {self._count} "
                        f"gradients, one for each input, or None; got {len(inputs)}"
                    )
        return [inputs[i] for i in self._places]


def _same(*arrays: Any) -> tuple[Any, ...]:
    return arrays


def with_backward_hooks(
    block: Any, hooks: Sequence[Hook], run: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """Call a block whose backward hooks see the gradients of this call."""
    return _GradientHooks(block, hooks)(run, *args, **kwargs)


class _Hooks(Observer):
    """Observer that calls the operator hooks of a block during one of its calls.

    Parameters
    ----------
    hooks : sequence of (callable, bool)
        Each hook, and whether it sees inputs, too.
    outer : callable, optional
        The observer of the block around it, which sees the same operations.
    """

    needs_every_op = True

    def __init__(self, hooks: Sequence[tuple[OpHook, bool]], outer: Observer | None) -> None:
        super().__init__(outer)
        self._hooks = list(hooks)
        self._numbers: defaultdict[str, Any] = defaultdict(itertools.count)

    def operator(self, op: Op, operands: Sequence[Value], attrs: Attrs, run: Run) -> Any:
        """Run an operator, then call the hooks."""
        result = run()
        with modes.changed(observer=None):
            self._tell(op, operands, (result,) if op.outputs == 1 else result)
        return result

    def _tell(self, op: Op, operands: Sequence[Value], results: Sequence[Value]) -> None:
        short = short_name(op.name)
        node = f"{short}{next(self._numbers[short])}"
        inputs = [
            *op.inputs[: len(operands)],
            *[f"{op.inputs[-1]}{i}" for i in range(len(op.inputs), len(operands))],
        ]
        outputs = ["output"] if len(results) == 1 else [f"output{i}" for i in range(len(results))]
        for hook, with_inputs in self._hooks:
            for names, values in (
                ((inputs, operands), (outputs, results)) if with_inputs else ((outputs, results),)
            ):
                for name, value in zip(names, values, strict=True):
                    hook(
                        f"{node}_{name}",
                        op.name,
                        handles.wrap(value) if hasattr(value.payload, "shape") else value.payload,
                    )


def observed(
    hooks: Sequence[tuple[OpHook, bool]], run: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """Call a function, and the hooks for each operator that it runs."""
    with modes.changed(observer=_Hooks(hooks, modes.current().observer)):
        return run(*args, **kwargs)


__all__ = ["Hook", "Hooked", "OpHook", "observed", "with_backward_hooks"]
