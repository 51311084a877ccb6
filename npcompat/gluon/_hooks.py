"""Hooks on blocks, and on the operators that they call."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from npcompat._internal.core import modes
from npcompat._internal.core.handle import Value
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
    _op_hooks: dict[Any, tuple[OpHook, bool]]

    def register_forward_pre_hook(self, hook: Hook) -> HookHandle:
        """Register `hook(block, inputs)`, called before each forward pass.

        The returned handle's `detach()` removes it. In a compiled block, hooks of child blocks are
        called once, while it is compiled.
        """
        return HookHandle(self._forward_pre_hooks, hook)

    def register_forward_hook(self, hook: Hook) -> HookHandle:
        """Register `hook(block, inputs, output)`, called after each forward pass.

        The returned handle's `detach()` removes it. In a compiled block, hooks of child blocks are
        called once, while it is compiled.
        """
        return HookHandle(self._forward_hooks, hook)

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


__all__ = ["Hook", "Hooked", "OpHook", "observed"]
