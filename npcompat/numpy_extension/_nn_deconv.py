"""Transposed convolution over one to three spatial axes."""

from collections.abc import Mapping, Sequence
from typing import Any

from npcompat._internal.core import dtypes
from npcompat._internal.core.op import operator
from npcompat._internal.core.tensor_type import TensorType
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._creation import asarray
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike
from npcompat.numpy_extension._nn_conv import Sizes, _layout, _per_axis
from npcompat.numpy_extension._nn_types import length


def _filters(types: Sequence[TensorType], attrs: Mapping[str, Any]) -> list[TensorType]:
    """Complete partly known types: filters from the data, bias from the weight."""
    x, weight, *bias = types
    layout, groups = attrs["layout"], attrs["groups"]
    each = length(weight, layout.index("C"))
    filters = (length(x, layout.index("C")), *[None] * (len(layout) - 1))
    return [
        TensorType(),
        TensorType(filters),
        *[TensorType((None if each is None else each * groups,)) for _ in bias],
    ]


@operator(
    "_npx_deconvolution",
    rule=dtypes.floating,
    pattern="complex",
    prefers_xla=True,
    complete=_filters,
)
def _deconvolution(
    xp: Any,
    x: Any,
    weight: Any,
    *bias: Any,
    stride: Any,
    dilate: Any,
    pad: Any,
    adj: Any,
    groups: int,
    layout: str,
) -> Any:
    """Transposed convolution: the adjoint of a convolution in its data.

    Parameters
    ----------
    stride : tuple of int
        Step between the windows in the result, along each spatial axis.
    dilate : tuple of int
        Step between the elements of a window.
    pad : tuple of int
        Length removed at both ends of each spatial axis.
    adj : tuple of int
        Length added at the end of each spatial axis.
    groups : int
        Number of groups of channels, which are convolved separately.
    """
    channel = layout.index("C")
    if x.shape[channel] != weight.shape[0] or weight.shape[0] % groups:
        raise ValueError(
            f"deconvolution: data of shape {x.shape} has {x.shape[channel]} channels; weight of "
            f"shape {weight.shape} expects "
            f"{weight.shape[0]}, which {groups} groups must divide"
        )
    y = xp.conv_transpose_nd(
        x,
        weight,
        stride,
        [(p, p - a) for p, a in zip(pad, adj, strict=True)],
        dilate,
        groups,
        layout,
    )
    if not bias:
        return y
    filters = weight.shape[channel] * groups
    if bias[0].shape != (filters,):
        raise ValueError(
            f"deconvolution: bias must have shape ({filters},), one entry for each filter, got "
            f"{bias[0].shape}"
        )
    return y + xp.reshape(bias[0], tuple(-1 if letter == "C" else 1 for letter in layout))


def deconvolution(
    data: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    kernel: Sizes = None,
    stride: Sizes = None,
    dilate: Sizes = None,
    pad: Sizes = None,
    adj: Sizes = None,
    target_shape: Sizes = None,
    num_filter: int | None = None,
    num_group: int = 1,
    workspace: int = 1024,
    no_bias: bool = False,
    cudnn_tune: str | None = None,
    cudnn_off: bool = False,
    layout: str | None = None,
) -> ndarray:
    """Transposed convolution (deconvolution), which upsamples a batch (Zeiler et al., 2010).

    It is the gradient of `convolution`, with the same weight, stride, dilation and padding, in its
    data.

    Parameters
    ----------
    data : array_like, shape (N, C, ...) or (N, ..., C)
        Batch, with one to three spatial axes.
    weight : array_like, shape (C, num_filter / num_group, ...) or (C, ..., num_filter / num_group)
        Filters, in the layout of the data.
    bias : array_like, shape (num_filter,), optional
        Bias of each channel of the result.
    kernel, num_filter : optional
        Checked against the shape of `weight`, which determines them.
    stride, dilate : int or sequence of int, optional
        Step between the windows in the result, and between the elements of one; 1 if not given.
    pad : int or sequence of int, optional
        Length removed at both ends of each spatial axis.
    adj : int or sequence of int, optional
        Length added at the end of each spatial axis: several lengths have the same convolved
        length, and this selects one. Less than `stride` or `dilate`.
    target_shape : int or sequence of int, optional
        Lengths of the spatial axes of the result, instead of `pad` and `adj`.
    num_group : int
        Groups of channels that are convolved separately.
    no_bias : bool
        Must not be True if `bias` is given.
    layout : {'NCW', 'NCHW', 'NCDHW', 'NWC', 'NHWC', 'NDHWC'}, optional
        Order of the axes; channels come second if not given.
    workspace, cudnn_tune, cudnn_off
        Hints to MXNet's implementation, without effect: XLA chooses its algorithm itself.

    Returns
    -------
    ndarray
        The result, with spatial axes of length `stride (n - 1) + dilate (kernel - 1) + 1 - 2 pad +
        adj`.

    Raises
    ------
    ValueError
        If shapes do not fit.

    Examples
    --------
    >>> image = np.array([[1.0, 2.0], [3.0, 4.0]]).reshape(1, 1, 2, 2)
    >>> npx.deconvolution(image, np.ones((1, 1, 2, 2)), stride=2)
    array([[[[1., 1., 2., 2.],
             [1., 1., 2., 2.],
             [3., 3., 4., 4.],
             [3., 3., 4., 4.]]]])
    """
    data, weight = asarray(data), asarray(weight)
    spatial = data.ndim - 2
    layout = _layout("deconvolution", layout, spatial)
    if weight.ndim != data.ndim:
        raise ValueError(
            f"deconvolution: weight must have {data.ndim} axes, as data has, got shape "
            f"{weight.shape}"
        )
    sizes = tuple(n for n, letter in zip(weight.shape, layout, strict=True) if letter not in "NC")
    if kernel is not None and _per_axis("deconvolution", "kernel", kernel, spatial, 1) != sizes:
        raise ValueError(
            f"deconvolution: kernel={kernel}, but weight of shape {weight.shape} has kernel {sizes}"
        )
    filters = weight.shape[layout.index("C")] * int(num_group)
    if num_filter is not None and num_filter != filters:
        raise ValueError(
            f"deconvolution: num_filter={num_filter}, but weight of shape {weight.shape} and "
            f"{num_group} groups have {filters}"
        )
    if no_bias and bias is not None:
        raise ValueError("deconvolution: bias is given, but no_bias=True")
    steps = _per_axis("deconvolution", "stride", stride, spatial, 1)
    gaps = _per_axis("deconvolution", "dilate", dilate, spatial, 1)
    cut = _per_axis("deconvolution", "pad", pad, spatial, 0)
    added = _per_axis("deconvolution", "adj", adj, spatial, 0)
    lengths = tuple(n for n, letter in zip(data.shape, layout, strict=True) if letter not in "NC")
    whole = [
        s * (n - 1) + d * (k - 1) + 1
        for n, s, d, k in zip(lengths, steps, gaps, sizes, strict=True)
    ]
    if target_shape is not None and target_shape != ():
        if any(cut) or any(added):
            raise ValueError(
                f"deconvolution: pad={pad} and adj={adj} follow from target_shape={target_shape}; "
                "give one or the other"
            )
        wanted = _per_axis("deconvolution", "target_shape", target_shape, spatial, 1)
        cut, added = _to_reach(wanted, whole)
    if any(a and a >= max(s, d) for a, s, d in zip(added, steps, gaps, strict=True)):
        raise ValueError(
            f"deconvolution: adj must be less than stride {steps} or dilate {gaps}, got {adj}"
        )
    if any(n + a <= 2 * p for n, p, a in zip(whole, cut, added, strict=True)):
        raise ValueError(
            f"deconvolution: pad={cut} cuts off all of a result of {tuple(whole)} elements"
        )
    attrs = (steps, gaps, cut, added, int(num_group), layout)
    return apply(_deconvolution, (data, weight) if bias is None else (data, weight, bias), attrs)


def _to_reach(wanted: tuple[int, ...], whole: list[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return padding and adjustment that reduce the given lengths to the wanted ones."""
    if any(w > n for w, n in zip(wanted, whole, strict=True)):
        raise ValueError(
            f"deconvolution: target_shape {wanted} is larger than the {tuple(whole)} elements "
            "that stride and kernel give"
        )
    spare = [n - w for n, w in zip(whole, wanted, strict=True)]
    return tuple((n + 1) // 2 for n in spare), tuple(n % 2 for n in spare)


__all__ = ["deconvolution"]
