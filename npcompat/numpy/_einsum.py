"""Einstein summation."""

import operator as python
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch import handles
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._checks import check_casting
from npcompat.numpy._creation import asarray
from npcompat.numpy._diagonals import writeable_diagonal
from npcompat.numpy._manipulation import transpose
from npcompat.numpy._memory_order import check_order, common_order, in_order
from npcompat.numpy._overrides import defers_to_classes
from npcompat.numpy._products import product_types
from npcompat.numpy._typing import Out
from npcompat.numpy._ufunc import finish

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray


@operator("_npi_einsum", order="K", keeps_class=False, rule=product_types, pattern="complex")
def _einsum(
    xp: Any, *operands: Any, subscripts: str, optimize: Any = False, dtype: Any = None
) -> Any:
    """Compute an Einstein summation.

    Parameters
    ----------
    *operands : array
        The arrays.
    subscripts : str
        Letters of the axes of each operand, and of the result.
    """
    return xp.einsum(subscripts, *operands, optimize=optimize)


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _labels(sublist: Any) -> str:
    """Convert a list of integers to subscripts."""
    labels = []
    for entry in sublist:
        if entry is Ellipsis:
            labels.append("...")
            continue
        number = python.index(entry)
        if not 0 <= number < len(_LETTERS):
            raise ValueError("subscript is not within the valid range [0, 52)")
        labels.append(_LETTERS[number])
    return "".join(labels)


def _subscripts(operands: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """Return subscripts and arrays from either form of call."""
    if not operands:
        raise ValueError(
            "must specify the einstein sum subscripts string and at least one operand, "
            "or at least one operand and its corresponding subscripts list"
        )
    if isinstance(operands[0], str):
        return operands[0].replace(" ", ""), list(operands[1:])
    pairs, result = operands[: len(operands) // 2 * 2], operands[len(operands) // 2 * 2 :]
    text = ",".join(_labels(sublist) for sublist in pairs[1::2])
    return text + (f"->{_labels(result[0])}" if result else ""), list(pairs[::2])


def _labelled(subscripts: str, ndim: int) -> tuple[str, str]:
    """Return one label for each axis of a single operand and of its result.

    The ellipsis and an implied result are written out.
    """
    source, arrow, target = subscripts.partition("->")
    if not arrow:
        target = "..." * ("..." in source) + "".join(
            sorted(c for c in set(source) if c.isalpha() and source.count(c) == 1)
        )
    spare = "".join(chr(0x4E00 + i) for i in range(ndim - len(source.replace("...", ""))))
    return source.replace("...", spare), target.replace("...", spare)


def _rearranged(subscripts: str, a: Any) -> Any:
    """Return the view that an einsum of one operand is, or None if it sums."""
    source, target = _labelled(subscripts, a.ndim)
    if (
        len(source) != a.ndim
        or len(set(target)) != len(target)
        or set(source) != set(target)
        or not (source + "a").isalpha()
    ):
        return None
    labels = list(source)
    while len(labels) > len(target):
        twice = next(c for c in labels if labels.count(c) > 1)
        first = labels.index(twice)
        second = labels.index(twice, first + 1)
        if a.shape[first] != a.shape[second]:
            return None
        a = writeable_diagonal(a, 0, first, second)
        labels = [c for i, c in enumerate(labels) if i not in (first, second)] + [twice]
    return transpose(a, [labels.index(c) for c in target])


@defers_to_classes
def einsum(*operands: Any, out: Out = None, optimize: Any = False, **kwargs: Any) -> "ndarray":
    """Compute an Einstein summation: products of elements, summed over the missing subscripts.

    Parameters
    ----------
    *operands
        Subscripts such as ``"ij,jk->ik"`` and the arrays; or each array followed by a list of
        integers, and a list for the result.
    out : ndarray, optional
        Array to write the result into.
    optimize : bool, str or path
        Contraction order of the operands.
    **kwargs
        `dtype` and `casting` (which casts to it are allowed; 'safe' if not given); `order` as for
        every ufunc.

    Returns
    -------
    ndarray
        A view that can be written if there is one operand and nothing is summed.

    Examples
    --------
    >>> np.einsum("ij,j->i", [[1, 2], [3, 4]], [1, 1])
    array([3, 7])
    >>> a = np.zeros((2, 2))
    >>> np.einsum("ii->i", a)[...] = 1
    >>> a
    array([[1., 0.],
           [0., 1.]])
    """
    unknown = kwargs.keys() - {"dtype", "casting", "order"}
    if unknown:
        raise TypeError(f"Did not understand the following kwargs: {sorted(unknown)}")
    order = check_order(kwargs.get("order", "K"))
    subscripts, arrays = _subscripts(operands)
    casting = kwargs.get("casting", "safe")
    check_casting(casting)
    dtype = None if kwargs.get("dtype") is None else dtypes.canonical(kwargs["dtype"])
    if dtype is not None:
        for a in map(asarray, arrays):
            if not onp.can_cast(a.dtype, dtype, casting):
                raise TypeError(
                    f"einsum: cannot cast operand from {a.dtype!r} to {dtype!r} according to the "
                    f"rule '{casting}'"
                )
    if len(arrays) == 1 and out is None:  # a view, whatever dtype and order are given
        found = _rearranged(subscripts, asarray(arrays[0]))
        if found is not None:
            return found
    path = (
        tuple(
            tuple(p) if isinstance(p, Sequence) and not isinstance(p, str) else p for p in optimize
        )
        if isinstance(optimize, list | tuple)
        else optimize
    )
    written: Any = getattr(out, "dtype", None)
    if dtype is None and written is not None:  # sums are of the dtype that all have in common
        arrays = [asarray(a) for a in arrays]
        dtype = dtypes.canonical(onp.result_type(written, *[a.dtype for a in arrays]))
    result: Any = apply(_einsum, arrays, (subscripts, path, dtype))
    if out is None:
        return (
            result
            if order == "K"
            else in_order(result, common_order(arrays) if order == "A" else order)
        )
    wanted = getattr(out, "dtype", result.dtype)
    if not onp.can_cast(result.dtype, wanted, casting):
        raise TypeError(
            f"einsum: cannot cast the result from {result.dtype!r} to the {wanted!r} of `out` "
            f"according to the rule '{casting}'"
        )
    return finish(result.astype(wanted), out, "einsum")


def einsum_path(
    *operands: Any, optimize: Any = "greedy", einsum_call: bool = False
) -> tuple[list[Any], str]:
    """Find the contraction order of `einsum`, with a text that reports its cost.

    Examples
    --------
    >>> a = np.ones((2, 2))
    >>> path, text = np.einsum_path("ij,jk,kl->il", a, a, a)
    >>> path[0]
    'einsum_path'
    """
    if einsum_call:
        raise NotImplementedError("einsum_path(einsum_call=True): it is internal to NumPy")
    subscripts, arrays = _subscripts(operands)
    return onp.einsum_path(
        subscripts, *[handles.layout(asarray(a)) for a in arrays], optimize=optimize
    )


__all__ = ["einsum", "einsum_path"]
