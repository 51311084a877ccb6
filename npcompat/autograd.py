"""Automatic differentiation: `record`, `backward`, `grad`, and custom gradients.

Operations on arrays with an attached gradient are recorded, and differentiated by `backward`:

    x.attach_grad()
    with autograd.record():
        y = (x * x).sum()
    y.backward()
    x.grad
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from npcompat._internal.autograd import backward as walk
from npcompat._internal.autograd import tape
from npcompat._internal.compile import custom_gradient
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.dispatch import handles, late_bound
from npcompat._internal.indexing import lens
from npcompat._internal.support.errors import AutogradError
from npcompat._internal.support.lazy_import import LazyModule

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray
    from npcompat.symbol import Symbol

_symbols = LazyModule("npcompat.symbol._recorded")


def record(train_mode: bool = True) -> AbstractContextManager[None]:
    """Context manager that records operations, for `backward`.

    Parameters
    ----------
    train_mode : bool
        Whether layers such as dropout behave as in training.

    Examples
    --------
    >>> x = np.array([1.0, 2.0])
    >>> x.attach_grad()
    >>> with autograd.record():
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> x.grad
    array([2., 4.])
    """
    return modes.changed(recording=True, training=train_mode)


def pause(train_mode: bool = False) -> AbstractContextManager[None]:
    """Context manager in which nothing is recorded.

    Examples
    --------
    >>> with autograd.record():
    ...     with autograd.pause():
    ...         autograd.is_recording()
    False
    """
    return modes.changed(recording=False, training=train_mode)


def train_mode() -> AbstractContextManager[None]:
    """Context manager for training mode, independent of recording.

    Examples
    --------
    >>> with autograd.train_mode():
    ...     autograd.is_training()
    True
    """
    return modes.changed(training=True)


def predict_mode() -> AbstractContextManager[None]:
    """Context manager for prediction mode.

    Examples
    --------
    >>> with autograd.predict_mode():
    ...     autograd.is_training()
    False
    """
    return modes.changed(training=False)


def is_recording() -> bool:
    """Return True if operations are recorded.

    Examples
    --------
    >>> autograd.is_recording()
    False
    """
    return modes.current().recording


def is_training() -> bool:
    """Return True in training mode.

    Examples
    --------
    >>> autograd.is_training()
    False
    """
    return modes.current().training


def set_recording(is_recording: bool) -> bool:
    """Set recording in this context; returns the previous setting.

    Examples
    --------
    >>> autograd.set_recording(False)
    False
    """
    before = modes.current().recording
    modes.set_here(recording=bool(is_recording))
    return before


def set_training(train_mode: bool) -> bool:
    """Set training mode in this context; returns the previous setting.

    Examples
    --------
    >>> autograd.set_training(False)
    False
    """
    before = modes.current().training
    modes.set_here(training=bool(train_mode))
    return before


def mark_variables(
    variables: "ndarray | Sequence[ndarray]",
    gradients: "ndarray | Sequence[ndarray]",
    grad_reqs: str | Sequence[str] = "write",
) -> None:
    """Mark arrays as variables, with arrays for their gradients.

    Parameters
    ----------
    variables, gradients : ndarray or sequence of ndarray
        Variables, and their gradients' arrays, of the same shapes and dtypes.
    grad_reqs : str or sequence of str
        `write`, `add` or `null`, for all of them or for each.

    Examples
    --------
    >>> x, g = np.ones(2), np.zeros(2)
    >>> autograd.mark_variables(x, g)
    >>> with autograd.record():
    ...     y = 3 * x
    >>> y.backward()
    >>> g
    array([3., 3.])
    """
    listed, grads = _listed(variables), _listed(gradients)
    requests = [grad_reqs] * len(listed) if isinstance(grad_reqs, str) else list(grad_reqs)
    if not len(listed) == len(grads) == len(requests):
        raise ValueError(
            f"mark_variables: got {len(listed)} variables, {len(grads)} gradients and "
            f"{len(requests)} grad_reqs"
        )
    for variable, gradient in zip(listed, grads, strict=True):
        if variable.shape != gradient.shape:
            raise ValueError(
                f"gradients: expected shape {variable.shape}, as the variable has, got "
                f"{gradient.shape}"
            )
    for variable, gradient, request in zip(listed, grads, requests, strict=True):
        tape.attach_leaf(variable, gradient, request)


def backward(
    heads: "ndarray | Sequence[ndarray]",
    head_grads: "ndarray | Sequence[ndarray | None] | None" = None,
    retain_graph: bool = False,
    train_mode: bool = True,
    *,
    create_graph: bool = False,
) -> None:
    """Compute the gradients of the heads with respect to all marked variables.

    Parameters
    ----------
    heads : ndarray or sequence of ndarray
        Arrays to differentiate; the gradients of several heads are added.
    head_grads : ndarray or sequence of (ndarray or None), optional
        Gradients with respect to the heads; ones if not given.
    retain_graph : bool
        Whether the graph is kept for another backward pass.
    train_mode : bool
        Whether backward runs in training mode.
    create_graph : bool
        Whether the gradients are recorded, to be differentiated again.

    Raises
    ------
    AutogradError
        If a head was not recorded, or its graph was already used.

    Examples
    --------
    >>> x = np.array([3.0])
    >>> x.attach_grad()
    >>> with autograd.record():
    ...     y, z = x * x, 2 * x
    >>> autograd.backward([y, z])
    >>> x.grad
    array([8.])
    """
    listed = _listed(heads)
    with modes.changed(training=train_mode):
        walk.backward(
            listed, None if head_grads is None else _listed(head_grads), retain_graph, create_graph
        )


def grad(
    heads: "ndarray | Sequence[ndarray]",
    variables: "ndarray | Sequence[ndarray]",
    head_grads: "ndarray | Sequence[ndarray | None] | None" = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    train_mode: bool = True,
) -> "ndarray | list[ndarray]":
    """Return the gradients of the heads with respect to variables.

    The `grad` of the variables is not changed.

    Parameters
    ----------
    heads : ndarray or sequence of ndarray
        Arrays to differentiate.
    variables : ndarray or sequence of ndarray
        Arrays that have an attached gradient, or that were computed from such while recording.
    head_grads : ndarray or sequence of (ndarray or None), optional
        Gradients with respect to the heads; ones if not given.
    retain_graph : bool, optional
        Whether the graph is kept for another backward pass; as `create_graph` if not given.
    create_graph : bool
        Whether the gradients are recorded, to be differentiated again.
    train_mode : bool
        Whether backward runs in training mode.

    Returns
    -------
    ndarray or list of ndarray
        One gradient for each variable; zeros for one that the heads do not depend on.

    Examples
    --------
    >>> x = np.array([3.0])
    >>> x.attach_grad()
    >>> with autograd.record():
    ...     y = x ** 3
    ...     dy = autograd.grad(y, x, create_graph=True)
    >>> dy.backward()
    >>> dy, x.grad
    (array([27.]), array([18.]))
    """
    single = isinstance(variables, Handle)
    listed = _listed(variables)
    places = []
    for i, variable in enumerate(listed):
        leaf = None if variable._extra is None else variable._extra.leaf
        value = Value(None, leaf) if leaf is not None else handles.read(variable)
        if value.node is None:
            raise AutogradError(
                f"variables[{i}] is no variable, nor was it recorded: call attach_grad() on it "
                "before it is used under autograd.record()"
            )
        places.append((value.node, value.index))
    keep = create_graph if retain_graph is None else retain_graph
    with modes.changed(training=train_mode):
        values, grads = walk.head_values(
            _listed(heads), None if head_grads is None else _listed(head_grads)
        )
        found = walk.gradients_at(values, grads, places, keep or create_graph, create_graph)
    results = []
    for variable, reached in zip(listed, found, strict=True):
        results.append(handles.wrap(reached) if reached is not None else variable.detach() * 0)
    return results[0] if single else results


def get_symbol(x: "ndarray") -> "Symbol":
    """Return the recorded computation of an array as a symbol.

    Parameters
    ----------
    x : ndarray
        An array that was computed from variables while recording.

    Returns
    -------
    Symbol
        Its variables are named `var0`, `var1`, ... in the order of their use; all other operands
        are constants.

    Raises
    ------
    AutogradError
        If the array was not recorded, or backward has used its graph.
    NotImplementedError
        If a compiled function, or one with a gradient written in Python, was recorded.

    Examples
    --------
    >>> x = np.array([1.0, 2.0])
    >>> x.attach_grad()
    >>> with autograd.record():
    ...     y = np.exp(x) * x
    >>> graph = autograd.get_symbol(y)
    >>> graph.list_arguments()
    ['var0']
    >>> graph.eval(var0=np.zeros(2))
    [array([0., 0.])]
    """
    return _symbols.of_recorded(x)


class Function:
    """Custom differentiable function.

    Subclass it, define `forward(self, *inputs)` and `backward(self, *output_gradients)` (one
    gradient for each input), and call an instance. `save_for_backward` stores arrays, which
    `saved_tensors` returns.

    Examples
    --------
    >>> class Clipped(autograd.Function):
    ...     def forward(self, x):
    ...         self.save_for_backward(x)
    ...         return np.clip(x, 0, 1)
    ...     def backward(self, dy):
    ...         return dy  # straight through
    >>> x = np.array([-1.0, 0.5])
    >>> x.attach_grad()
    >>> with autograd.record():
    ...     y = Clipped()(x)
    >>> y.backward()
    >>> x.grad
    array([1., 1.])
    """

    def __init__(self) -> None:
        self._saved: tuple[Any, ...] = ()

    def save_for_backward(self, *args: Any) -> None:
        """Store arrays for `backward`, as they are now: later writes don't change them."""
        mode = modes.current()
        with modes.changed(recording=mode.recording or mode.paused):  # a view has its history, too
            self._saved = tuple([_as_now(a) for a in args])

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """Arrays stored by `save_for_backward`."""
        return self._saved

    def forward(self, *inputs: Any) -> Any:
        """Compute the result; overridden by the subclass."""
        raise NotImplementedError(f"{type(self).__name__} does not define forward")

    def backward(self, *output_grads: Any) -> Any:
        """Compute the gradients of the inputs; overridden by the subclass."""
        raise NotImplementedError(f"{type(self).__name__} does not define backward")

    def __call__(self, *inputs: Any) -> Any:
        for i, x in enumerate(inputs):
            if not isinstance(x, Handle):
                raise TypeError(
                    f"{type(self).__name__}: input {i}: expected an npcompat ndarray, got "
                    f"{type(x).__name__}"
                )
        return custom_gradient.call(
            type(self).__name__, self.forward, lambda xs, outs, grads: self.backward(*grads), inputs
        )


def _as_now(x: Any) -> Any:
    """Return an array with the value and the history that another has now."""
    if not isinstance(x, Handle) or type(x) in late_bound.scalars:
        return x
    return lens.inheriting(handles.wrap(handles.read(x)), x)


def _listed(arrays: Any) -> list[Any]:
    found = [arrays] if isinstance(arrays, Handle) else list(arrays)
    for x in found:
        if x is not None and not isinstance(x, Handle):
            raise TypeError(f"expected npcompat arrays, got {type(x).__name__}")
    return found


__all__ = [
    "Function", "backward", "get_symbol", "grad", "is_recording", "is_training", "mark_variables",
    "pause", "predict_mode", "record", "set_recording", "set_training", "train_mode",
]  # fmt: skip
