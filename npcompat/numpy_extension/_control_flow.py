"""Control flow that is kept in compiled functions: `cond`, `while_loop`, `foreach`.

Eager calls use Python's own control flow.
"""

from collections.abc import Callable, Sequence
from typing import Any

from npcompat._internal.backend.jax import language
from npcompat._internal.compile import control_flow
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import handles
from npcompat.numpy._creation import asarray, copy_of
from npcompat.numpy._filled import zeros
from npcompat.numpy._joining import concatenate, stack


def cond(
    pred: Any,
    then_func: Callable[..., Any],
    else_func: Callable[..., Any],
    inputs: Any = None,
    name: str = "cond",
) -> Any:
    """Conditional: call one of two functions, chosen by a condition on values.

    Parameters
    ----------
    pred : array_like of bool, or callable
        The condition, of one element; a function is called with the inputs.
    then_func, else_func : callable
        Functions of the inputs (without arguments if there are none). In a compiled function both
        are traced, and both must return the same structure, shapes and dtypes.
    inputs : ndarray or sequence of ndarray, optional
        Their arguments.
    name : str
        Not used: the operator's name is `_npx_cond`.

    Returns
    -------
    ndarray or nested containers of ndarray
        The result of the chosen function.

    Examples
    --------
    >>> @npx.jit
    ... def relu(x):
    ...     return npx.cond(x.sum() > 0, lambda: x, lambda: 0 * x)
    >>> relu(np.array([-1.0, 3.0]))
    array([-1.,  3.])
    """
    operands = () if inputs is None else _tuple(inputs)
    condition = pred(*operands) if callable(pred) else pred
    if (
        modes.current().trace is not None
        and isinstance(condition, Handle)
        and language.is_tracer(handles.read(condition).payload)
    ):
        return control_flow.branch(
            condition, lambda: then_func(*operands), lambda: else_func(*operands)
        )
    return then_func(*operands) if bool(condition) else else_func(*operands)


def foreach(
    body: Callable[[Any, Any], tuple[Any, Any]],
    data: Any,
    init_states: Any,
    *,
    name: str = "foreach",
) -> tuple[Any, Any]:
    """Loop over the leading axis with carried states (a scan).

    Parameters
    ----------
    body : callable
        ``out, states = body(slice, states)``; states keep their shapes and dtypes.
    data : ndarray or list of ndarray
        Arrays whose leading axis is iterated.
    init_states : ndarray or nested containers of ndarray
        The initial states.
    name : str
        Not used: the operator's name is `_npx_foreach`.

    Returns
    -------
    outputs : ndarray or nested containers of ndarray
        The outputs of all steps, stacked.
    states : ndarray or nested containers of ndarray
        The last states.

    Examples
    --------
    >>> out, last = npx.foreach(lambda x, s: (x + s, x + s), np.arange(4), np.array(0))
    >>> out, last
    (array([0, 1, 3, 6]), np.int64(6))
    """
    single = not isinstance(data, list | tuple)
    pieces = [asarray(p) for p in ([data] if single else data)]
    leaves, tree = language.flatten(init_states)
    states = [asarray(s) for s in leaves]

    def step(piece: Sequence[Any], now: Sequence[Any]) -> tuple[Any, Any]:
        return body(piece[0] if single else list(piece), language.unflatten(tree, now))

    if modes.current().trace is not None:
        outs, out_tree, after, state_tree = control_flow.foreach(step, pieces, states)
        return language.unflatten(out_tree, outs), language.unflatten(state_tree, after)
    lengths = {len(p) for p in pieces}
    if len(lengths) != 1:
        raise ValueError(f"npx.foreach: data: expected arrays of one length, got {sorted(lengths)}")
    now = language.unflatten(tree, [copy_of(s) for s in states])
    if not lengths.pop():
        rows = [zeros(p.shape[1:], p.dtype) for p in pieces]
        types, out_tree = control_flow.outputs_of_none(
            "_npx_foreach", lambda begin: step(rows, begin), states
        )
        return language.unflatten(out_tree, [zeros((0, *s), dtype) for s, dtype in types]), now
    collected: list[list[Any]] = []
    for row in zip(*pieces, strict=True):  # copies, since the body may write into them
        out, now = step([r.copy() for r in row], language.flatten(now)[0])
        flat, out_tree = language.flatten(out)
        collected.append([asarray(x) for x in flat])
    return language.unflatten(
        out_tree, [stack(list(column)) for column in zip(*collected, strict=True)]
    ), now


def while_loop(
    cond: Callable[..., Any],
    func: Callable[..., Any],
    loop_vars: Any,
    max_iterations: int | None = None,
    *,
    name: str = "while_loop",
) -> tuple[Any, Any]:
    """Loop that runs while a condition on its variables holds.

    Parameters
    ----------
    cond : callable
        ``cond(*loop_vars)`` returns True to continue.
    func : callable
        ``step_output, new_loop_vars = func(*loop_vars)``; the output may be None.
    loop_vars : ndarray or sequence of ndarray
        The first variables; they keep their shapes and dtypes.
    max_iterations : int, optional
        Maximum number of steps. Required in a compiled function with outputs, or to differentiate.
    name : str
        Not used: the operator's name is `_npx_while_loop`.

    Returns
    -------
    outputs : ndarray or nested containers of ndarray
        The outputs of the steps, stacked, and padded with zeros up to `max_iterations` if it is
        given.
    loop_vars : list of ndarray
        The last variables.

    Examples
    --------
    >>> def step(i, s):
    ...     return s, [i + 1, s + i]
    >>> start = [np.array(0), np.array(0)]
    >>> out, (i, s) = npx.while_loop(lambda i, s: i < 4, step, start, 5)
    >>> out, s
    (array([0, 0, 1, 3, 0]), np.int64(6))
    """
    variables = [copy_of(asarray(v)) for v in _tuple(loop_vars)]
    if modes.current().trace is not None:
        outs, out_tree, after, _ = control_flow.while_loop(
            lambda now: cond(*now), lambda now: _listed(func(*now)), variables, max_iterations
        )
        return language.unflatten(out_tree, outs), after
    collected: list[list[Any]] = []
    out_tree = language.flatten(None)[1]
    while (max_iterations is None or len(collected) < max_iterations) and bool(cond(*variables)):
        out, variables = _listed(func(*variables))
        flat, out_tree = language.flatten(out)
        collected.append([asarray(x) for x in flat])
    if not collected:
        if max_iterations is None:
            return [], variables
        types, out_tree = control_flow.outputs_of_none(
            "_npx_while_loop", lambda now: _listed(func(*now)), variables
        )
        stacked = [zeros((0, *shape), dtype) for shape, dtype in types]
    else:
        stacked = [stack(list(column)) for column in zip(*collected, strict=True)]
    if max_iterations is not None and max_iterations > len(collected):
        missing = max_iterations - len(collected)
        stacked = [concatenate([s, zeros((missing, *s.shape[1:]), s.dtype)]) for s in stacked]
    return language.unflatten(out_tree, stacked), variables


def _listed(step: Any) -> tuple[Any, list[Any]]:
    out, variables = step
    return out, list(_tuple(variables))


def _tuple(arrays: Any) -> tuple[Any, ...]:
    return (
        (arrays,)
        if isinstance(arrays, Handle) or not isinstance(arrays, list | tuple)
        else tuple(arrays)
    )


__all__ = ["cond", "foreach", "while_loop"]
